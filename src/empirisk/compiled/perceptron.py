"""Rosenblatt's rule."""

from empirisk.compiled.decorator import compiled


@compiled
def perceptron_pass(X, sign, share, order, intercept, b):
    """One pass over the rows: b += v y x where y (x'b + b0) <= 0, with b0 the last entry of b.

    `share` are the weights v of the rows; `intercept` is 1 or 0. Returns the weight of the rows
    that were added: with weights 1 the number of mistakes.
    """
    n, p = X.shape
    mistakes = 0.0
    for k in range(n):
        i = order[k]
        score = intercept * b[p]
        for j in range(p):
            score += X[i, j] * b[j]
        if sign[i] * score <= 0.0:
            pull = share[i] * sign[i]
            mistakes += share[i]
            for j in range(p):
                b[j] += pull * X[i, j]
            b[p] += intercept * pull
    return mistakes
