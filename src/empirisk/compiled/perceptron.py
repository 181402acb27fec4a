"""Rosenblatt's rule."""

import numpy as np

from empirisk.compiled.decorator import compiled


@compiled
def perceptron_pass(X, sign, copies, order, intercept, b):
    """One pass over the rows: b += y x where y (x'b + b0) <= 0, with b0 the last entry of b.

    A row of so many copies is shown as often in a row, as long as it is wrong: of a fraction of a
    copy the fraction is added. `intercept` is 1 or 0. Returns the sum of what was added: the
    number of mistakes.
    """
    n, p = X.shape
    mistakes = 0.0
    for k in range(n):
        i = order[k]
        score, square = intercept * b[p], intercept
        for j in range(p):
            score += X[i, j] * b[j]
            square += X[i, j] * X[i, j]
        margin = sign[i] * score
        if margin <= 0.0:
            times = copies[i]
            if square > 0.0:
                times = min(times, np.floor(-margin / square) + 1.0)
            mistakes += times
            for j in range(p):
                b[j] += times * sign[i] * X[i, j]
            b[p] += intercept * times * sign[i]
    return mistakes
