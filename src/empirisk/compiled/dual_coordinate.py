"""Dual coordinate descent for the hinge loss (Hsieh, Chang, Lin, Keerthi & Sundararajan 2008)."""

import numpy as np

from empirisk.compiled.decorator import compiled
from empirisk.compiled.streams import below


@compiled
def dual_sweep(X, sign, upper, square, kappa, alpha, b, active, m, high, low, seed, first):
    """One sweep over the rows active[:m], in random order, in place; returns (m, highest, lowest).

    Each row's multiplier alpha_i in [0, upper_i] is set to its best value when the others stay;
    b = sum_i alpha_i y_i x_i is kept up to date, followed by the intercept. Kappa is what the
    latter moves by for each unit of sum_i alpha_i y_i.

    Rows at a bound that pull outwards by more than `high` or `low` allow are moved behind the
    active ones (shrinking). The highest and the lowest pull of the others are returned: how far
    the optimum is. `first` is the number of random draws made before.
    """
    p = X.shape[1]
    highest, lowest = -np.inf, np.inf
    k = 0
    while k < m:
        j = k + below(seed, first + k, m - k)
        i = active[j]
        active[j] = active[k]
        active[k] = i
        score = b[p]
        for c in range(p):
            score += X[i, c] * b[c]
        pull = sign[i] * score - 1.0
        inward = pull
        if alpha[i] <= 0.0:
            if pull > high:
                m -= 1
                active[k] = active[m]
                active[m] = i
                continue
            inward = min(pull, 0.0)
        elif alpha[i] >= upper[i]:
            if pull < low:
                m -= 1
                active[k] = active[m]
                active[m] = i
                continue
            inward = max(pull, 0.0)
        highest, lowest = max(highest, inward), min(lowest, inward)
        if inward != 0.0:
            new = upper[i]  # of zeros, without an intercept: no b brings them to the margin
            if square[i] > 0.0:
                new = min(max(alpha[i] - pull / square[i], 0.0), upper[i])
            move = (new - alpha[i]) * sign[i]
            alpha[i] = new
            for c in range(p):
                b[c] += move * X[i, c]
            b[p] += kappa * move
        k += 1
    return m, highest, lowest
