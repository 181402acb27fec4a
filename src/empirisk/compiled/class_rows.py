"""Rows sorted by class and centred on the means of their classes, in two passes over a block."""

import numpy as np

from empirisk.compiled.decorator import compiled


@compiled
def centre_by_class(X, y, weight, root, total, begin, mean, Z):
    """The class means, and in Z the rows root[i] * (X[i] - mean[y[i]]), those of a class together.

    `total` is the weight of each class, `begin` where its rows begin in Z. Sums are taken about
    the first row of a class: a column that is constant within it becomes exactly 0.
    """
    n, p = X.shape
    K = len(begin)
    first = np.full(K, -1)
    shift = np.zeros((K, p))
    for i in range(n):
        k = y[i]
        if first[k] < 0:
            first[k] = i
        row, about, sums, w = X[i], X[first[k]], shift[k], weight[i]
        for j in range(p):
            sums[j] += w * (row[j] - about[j])
    for k in range(K):
        if first[k] >= 0:
            for j in range(p):
                shift[k, j] /= total[k]
                mean[k, j] = X[first[k], j] + shift[k, j]
    place = begin.copy()
    for i in range(n):
        k = y[i]
        row, about, off, out, r = X[i], X[first[k]], shift[k], Z[place[k]], root[i]
        place[k] += 1
        for j in range(p):
            out[j] = ((row[j] - about[j]) - off[j]) * r
