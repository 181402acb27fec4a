"""Stochastic k-means: one row after the other pulls its nearest centre towards itself."""

import numpy as np

from empirisk.compiled.decorator import compiled

CONSTANT, COUNT, DECAYING = 0, 1, 2


@compiled
def pull_centres(X, unit, shift, weight, order, kind, size, power, columns, count, steps):
    """c_k += alpha (z_i - c_k) for rows i in this order, k the nearest centre of z_i; in place.

    Centres are the columns of `columns`; count[k] is the weight that centre k has received, and
    steps[0] all weight so far. A row of weight w pulls as w copies of it one after the other:
    1 - alpha to the power of w is left of the distance.
    """
    p, K = columns.shape
    z, distance = np.empty(p), np.empty(K)
    for i in order:
        for k in range(K):
            distance[k] = 0.0
        for j in range(p):
            z[j] = X[i, j] * unit - shift[j]
            for k in range(K):
                gap = z[j] - columns[j, k]
                distance[k] += gap * gap
        nearest = 0
        for k in range(1, K):
            if distance[k] < distance[nearest]:
                nearest = k
        w = weight[i]
        count[nearest] += w
        if kind == COUNT:
            alpha = w / count[nearest]
        else:
            alpha = size if kind == CONSTANT else size / (1.0 + steps[0]) ** power
            alpha = alpha if w == 1.0 else 1.0 - (1.0 - alpha) ** w
        steps[0] += w
        for j in range(p):
            columns[j, nearest] += alpha * (z[j] - columns[j, nearest])
