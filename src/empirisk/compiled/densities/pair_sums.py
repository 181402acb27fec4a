"""Sums of kernels at many bandwidths from one pass: each distance is found once.

For a target the squared distances of all rows are found, and the bandwidths gone through from the
largest to the smallest; rows that are out of reach of one are out of reach of all that follow, and
are dropped when they are more than an eighth of those at hand, which lie side by side. The
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
from empirisk.compiled.exponential import exponential

FAR = 1400.0
"""The square of a distance, in bandwidths, from which on a kernel is 0 or below 1e-300."""


@compiled
def pair_sums(T, group, X, groups, weight, rates, kind, shape, reach, sums, nearest):
    """sums[q, v] of w k(rate_v |t_q - x|^2) over the rows of other groups than that of t_q.

    `rates` increase. Of GAUSSIAN and EXPONENTIAL the kernel is divided by that of the nearest row,
    whose squared distance is nearest[q], and rows whose exponent is above `reach` may be left out.
    """
    n = X.shape[0]
    d2, values, scaled = np.empty(n), np.empty(n), np.empty(n)
    rows = np.empty(n, np.int64)
    at_hand = np.empty((2, n))  # squared distances and weights
    columns, ones = np.ascontiguousarray(X.T), np.ones(X.shape[1])
    for q in range(T.shape[0]):
        distances(T[q], columns, ones, d2)
        count, near = others(d2, group[q], groups, rows)
        nearest[q] = near
        count = within(farthest(kind, rates[0], near, reach), rows[:count], d2)
        take_up(rows[:count], d2, weight, at_hand)
        for v in range(rates.size):
            most = farthest(kind, rates[v], near, reach)
            if mostly_out_of_reach(most, at_hand[0][:count]):
                count = drop(most, count, rows, at_hand)
            into = values[:count]
            kernels_of(kind, shape, rates[v], near, at_hand[0], at_hand[1], scaled, into)
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
def within(most, rows, d2):
    """Keep the listed rows up to a squared distance; returns how many are left."""
    left = 0
    for i in range(rows.size):
        rows[left] = rows[i]
        left += 1 if d2[rows[i]] <= most else 0
    return left


@compiled(inner=True)
def take_up(rows, d2, weight, at_hand):
    """Squared distances and weights of the listed rows, side by side."""
    for i in range(rows.size):
        at_hand[0, i] = d2[rows[i]]
        at_hand[1, i] = weight[rows[i]]


@compiled(inner=True)
def farthest(kind, rate, near, reach):
    """The squared distance beyond which a kernel is 0, or as good as 0."""
    if kind == GAUSSIAN:
        return near + 2.0 * reach / rate
    if kind == EXPONENTIAL:
        root = np.sqrt(near) + reach / np.sqrt(rate)
        return root * root
    if kind in (GAUSSIAN4, GAUSSIAN4_2):
        return 2.0 * (reach + 20.0) / rate
    return 1.0 / rate


@compiled(inner=True)
def mostly_out_of_reach(most, d2):
    """Whether more than an eighth of the rows at hand are farther than that."""
    out = 0
    for i in range(d2.size):
        out += d2[i] > most
    return 8 * out > d2.size


@compiled(inner=True)
def drop(most, count, rows, at_hand):
    """Keep the rows up to a squared distance, with all that is at hand of them; how many."""
    left = 0
    for i in range(count):
        rows[left] = rows[i]
        kept = at_hand[0, i] <= most
        for j in range(at_hand.shape[0]):
            at_hand[j, left] = at_hand[j, i]
        left += 1 if kept else 0
    return left


@compiled(inner=True)
def kernels_of(kind, shape, rate, near, d2, weight, scaled, into):
    """w k(.) of the rows at hand."""
    if kind == GAUSSIAN:
        half = 0.5 * rate
        for i in range(into.size):
            into[i] = weight[i] * exponential(half * (near - d2[i]))
        return
    if kind == EXPONENTIAL:
        root, here = np.sqrt(rate), np.sqrt(rate) * np.sqrt(near)
        for i in range(into.size):
            scaled[i] = root * np.sqrt(d2[i]) - here
    else:
        for i in range(into.size):
            scaled[i] = min(rate * d2[i], FAR)
    into[:] = 0.0
    add_kernels(kind, shape, weight, scaled[: into.size], into)


@compiled(inner=True)
def total(values):
    """The sum, in eight parts, which are vectorised."""
    a = b = c = d = e = f = g = h = 0.0
    n = values.size - values.size % 8
    for i in range(0, n, 8):
        a += values[i]
        b += values[i + 1]
        c += values[i + 2]
        d += values[i + 3]
        e += values[i + 4]
        f += values[i + 5]
        g += values[i + 6]
        h += values[i + 7]
    for i in range(n, values.size):
        a += values[i]
    return ((a + b) + (c + d)) + ((e + f) + (g + h))
