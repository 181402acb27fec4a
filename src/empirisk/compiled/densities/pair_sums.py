"""Sums of kernels at many bandwidths from one pass: each distance is found once.

For a target the squared distances of all rows are found, and the bandwidths gone through from the
largest to the smallest; rows that are out of reach of one are out of reach of all that follow. The
kernels of a Gaussian and of an exponential are taken relative to that of the nearest row, so that
sums never vanish.
"""

import numpy as np

from empirisk.compiled.decorator import compiled
from empirisk.compiled.densities.kernels import (
    EXPONENTIAL,
    GAUSSIAN,
    GAUSSIAN4,
    GAUSSIAN4_2,
    add_kernels,
)


@compiled
def pair_sums(T, group, X, groups, weight, rates, kind, shape, reach, sums, nearest):
    """sums[q, v] of w k(rate_v |t_q - x|^2) over the rows of other groups than that of t_q.

    `rates` increase. Of GAUSSIAN and EXPONENTIAL the kernel is divided by that of the nearest row,
    whose squared distance is nearest[q], and rows whose exponent is above `reach` are left out.
    """
    n = X.shape[0]
    d2, values, chosen, scaled = np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    rows = np.empty(n, np.int64)
    columns, ones = np.ascontiguousarray(X.T), np.ones(X.shape[1])
    for q in range(T.shape[0]):
        distances(T[q], columns, ones, d2)
        count, near = others(d2, group[q], groups, rows)
        nearest[q] = near
        for v in range(rates.size):
            count = within_reach(kind, rates[v], near, reach, count, rows, d2)
            into = values[:count]
            kernels_of(
                kind, shape, rates[v], near, rows, d2, weight, chosen[:count], scaled[:count], into
            )
            sums[q, v] = total(into)


@compiled(inner=True)
def distances(t, columns, factors, d2):
    """Squared distances of all rows, which are given by columns, from t, each column scaled."""
    for j in range(t.size):
        x, here, factor = columns[j], t[j], factors[j]
        if j == 0:
            for i in range(d2.size):
                a = (here - x[i]) * factor
                d2[i] = a * a
        else:
            for i in range(d2.size):
                a = (here - x[i]) * factor
                d2[i] += a * a


@compiled(inner=True)
def others(d2, group, groups, rows):
    """(how many rows are of other groups, the least of their squared distances); lists them."""
    count, near = 0, np.inf
    for i in range(d2.size):
        rows[count] = i
        if groups[i] != group:
            count += 1
            near = min(near, d2[i])
    return count, near


@compiled(inner=True)
def within_reach(kind, rate, near, reach, count, rows, d2):
    """Keep the rows whose kernel is not 0, or not as good as 0; returns how many are left."""
    if kind == GAUSSIAN:
        most = near + 2.0 * reach / rate
    elif kind == EXPONENTIAL:
        root = np.sqrt(near) + reach / np.sqrt(rate)
        most = root * root
    elif kind in (GAUSSIAN4, GAUSSIAN4_2):
        most = 2.0 * (reach + 20.0) / rate
    else:
        most = 1.0 / rate
    left = 0
    for i in range(count):
        rows[left] = rows[i]
        left += 1 if d2[rows[i]] <= most else 0
    return left


@compiled(inner=True)
def kernels_of(kind, shape, rate, near, rows, d2, weight, chosen, scaled, into):
    """w k(.) of the listed rows."""
    if kind == GAUSSIAN:
        for i in range(into.size):
            scaled[i] = 0.5 * rate * (d2[rows[i]] - near)
    elif kind == EXPONENTIAL:
        root, here = np.sqrt(rate), np.sqrt(rate) * np.sqrt(near)
        for i in range(into.size):
            scaled[i] = root * np.sqrt(d2[rows[i]]) - here
    else:
        for i in range(into.size):
            scaled[i] = rate * d2[rows[i]]
    for i in range(into.size):
        chosen[i] = weight[rows[i]]
        into[i] = 0.0
    add_kernels(kind, shape, chosen, scaled, into)


@compiled(inner=True)
def total(values):
    """The sum, in four parts, which are vectorised."""
    a = b = c = d = 0.0
    n = values.size - values.size % 4
    for i in range(0, n, 4):
        a += values[i]
        b += values[i + 1]
        c += values[i + 2]
        d += values[i + 3]
    for i in range(n, values.size):
        a += values[i]
    return (a + b) + (c + d)
