"""Local means and local lines of targets y, weighted by kernels, at many bandwidths from one pass.

At t, with kernels k_i of the rows and s = sum_i w_i k_i, a local mean is sum_i w_i l_i y_i with
l_i = k_i / s; a local line, fitted by least squares with these weights and read off at t, has

    l_i = k_i / s (1 + g' (x_i - m)),    C g = t - m,

m and C the weighted mean and covariance of the rows. Directions in which the rows near t do not
spread, so that C is singular or as good as that, are left out of g.
"""

import math

import numpy as np

from empirisk.compiled.decorator import compiled
from empirisk.compiled.densities.pair_sums import (
    distances,
    drop,
    farthest,
    kernels_of,
    mostly_out_of_reach,
    others,
    take_up,
    total,
    within,
)

TIE = 1e-12
"""Squared distances that differ by less, relative to their size, are equal."""

SINGULAR = 1e-4
"""A pivot of the covariance below which a direction is left out, relative to the variance of its
column and to the squared distance of t from the mean in it, so that no units matter: no line is
drawn out for a hundred times the spread of its rows."""

TINY = 1e-300


@compiled
def local_fits(
    T, group, X, groups, factors, weight, Y, rates, kind, reach, degree, fits, norms, leverages
):
    """fits[q, v, k] = sum_i w_i l_i y_ik over the rows of other groups than that of t_q.

    Columns are multiplied by factors[group of t_q]; `rates` increase. norms[q, v] is sum_i w_i
    l_i^2, leverages[q, v] is l of a row that stands at t, where one does; they are not found where
    `norms` has no rows. Where no row is in reach, l is 1 over their weight for the nearest rows,
    ties included.
    """
    n, p = X.shape
    K, lines = Y.shape[1], degree == 1
    d2, values, scaled = np.empty(n), np.empty(n), np.empty(n)
    rows = np.empty(n, np.int64)
    at_hand = np.empty((2 + K + p if lines else 2 + K, n))
    targets, gaps = at_hand[2 : 2 + K], at_hand[2 + K :]
    columns = np.ascontiguousarray(X.T)
    place, slope = np.zeros(p), np.empty(p)
    covariance = np.empty((p, p))
    for q in range(T.shape[0]):
        scale = factors[group[q]]
        distances(T[q], columns, scale, d2)
        count, near = others(d2, group[q], groups, rows)
        count = within(farthest(kind, rates[0], near, reach), rows[:count], d2)
        take_up(rows[:count], d2, weight, at_hand)
        take_up_columns(rows[:count], Y, targets)
        if lines:
            take_up_gaps(rows[:count], T[q], columns, scale, gaps)
        alone, whole = False, 0.0
        for v in range(rates.size):
            if not alone:
                most = farthest(kind, rates[v], near, reach)
                if mostly_out_of_reach(most, at_hand[0][:count]):
                    count = drop(most, count, rows, at_hand)
                kernels_of(
                    kind, 0.0, rates[v], near, at_hand[0], at_hand[1], scaled, values[:count]
                )
                whole = total(values[:count])
                alone = not whole > 0.0  # and so at all smaller bandwidths
                if alone:
                    count = nearest_rows(d2, group[q], groups, near, rows)
                    take_up(rows[:count], d2, weight, at_hand)
                    take_up_columns(rows[:count], Y, targets)
            used = values[:count]
            if alone:
                for i in range(count):  # from array to array would compile what to say of shapes
                    used[i] = at_hand[1, i]
                whole = total(used)
            s = brought_to_one(used, whole)
            slope[:] = 0.0
            if lines and not alone:
                moments(gaps, used, s, place, covariance, scaled)
                solve(covariance, place, slope)
                tilt(gaps, used, place, slope, scaled)
            for k in range(K):
                fits[q, v, k] = product(used, targets[k]) / s
            if norms.shape[0] > 0:
                norms[q, v] = norm_of(used, s, at_hand[1])
                leverages[q, v] = 1.0 / whole
                for j in range(p):
                    leverages[q, v] += slope[j] * place[j] / whole


@compiled
def local_weights(T, X, factors, weight, rate, kind, reach, out):
    """out[q, i] = w_i l_i of local means at one bandwidth."""
    n = X.shape[0]
    d2, values, scaled, at_hand = np.empty(n), np.empty(n), np.empty(n), np.empty((2, n))
    rows, groups = np.empty(n, np.int64), np.full(n, -1)
    nobody = groups[0] + 1  # the group of targets, of which no row is
    columns = np.ascontiguousarray(X.T)
    for q in range(T.shape[0]):
        distances(T[q], columns, factors, d2)
        count, near = others(d2, nobody, groups, rows)
        m = within(farthest(kind, rate, near, reach), rows[:count], d2)
        take_up(rows[:m], d2, weight, at_hand)
        kernels_of(kind, 0.0, rate, near, at_hand[0], at_hand[1], scaled, values[:m])
        s = total(values[:m])
        if not s > 0.0:
            m = nearest_rows(d2, nobody, groups, near, rows)
            for i in range(m):
                values[i] = weight[rows[i]]
            s = total(values[:m])
        out[q] = 0.0
        for i in range(m):
            out[q, rows[i]] = values[i] / s


@compiled(inner=True)
def take_up_columns(rows, Y, out):
    """out[k, i]: the k-th column of Y at the i-th of the listed rows."""
    for i in range(rows.size):
        for k in range(out.shape[0]):
            out[k, i] = Y[rows[i], k]


@compiled(inner=True)
def take_up_gaps(rows, t, columns, scale, out):
    """out[j, i]: the j-th column of the i-th of the listed rows, as seen from t, scaled."""
    for j in range(out.shape[0]):
        for i in range(rows.size):
            out[j, i] = (columns[j, rows[i]] - t[j]) * scale[j]


@compiled(inner=True)
def brought_to_one(values, s):
    """Values and their sum s, in place, over the power of two next above s: no digit changes.

    So products with large targets stay finite, and equal sums of kernels remain equal.
    """
    unit = math.ldexp(1.0, -math.frexp(s)[1])
    for i in range(values.size):
        values[i] *= unit
    return s * unit


@compiled(inner=True)
def product(values, y):
    """The sum of values times y, in eight parts, which do not wait for each other."""
    a = b = c = d = e = f = g = h = 0.0
    n = values.size - values.size % 8
    for i in range(0, n, 8):
        a += values[i] * y[i]
        b += values[i + 1] * y[i + 1]
        c += values[i + 2] * y[i + 2]
        d += values[i + 3] * y[i + 3]
        e += values[i + 4] * y[i + 4]
        f += values[i + 5] * y[i + 5]
        g += values[i + 6] * y[i + 6]
        h += values[i + 7] * y[i + 7]
    for i in range(n, values.size):
        a += values[i] * y[i]
    return ((a + b) + (c + d)) + ((e + f) + (g + h))


@compiled(inner=True)
def norm_of(values, s, weight):
    """sum_i w_i l_i^2 of values s w_i l_i."""
    square = 0.0
    for i in range(values.size):
        square += values[i] / s * (values[i] / s) / weight[i]
    return square


@compiled(inner=True)
def nearest_rows(d2, group, groups, near, rows):
    """List the nearest rows of other groups; returns how many there are."""
    count = 0
    for i in range(d2.size):
        if groups[i] != group and d2[i] <= near * (1.0 + TIE):
            rows[count] = i
            count += 1
    return count


@compiled(inner=True)
def moments(gaps, values, s, place, covariance, scaled):
    """t - m and the weighted covariance of the rows, from what they are as seen from t."""
    p = place.size
    for j in range(p):
        place[j] = -product(values, gaps[j]) / s
    for j in range(p):
        x, from_mean = gaps[j], place[j]
        for i in range(values.size):
            scaled[i] = values[i] * (x[i] + from_mean)
        rest = total(scaled[: values.size])
        for k in range(j + 1):
            found = product(scaled[: values.size], gaps[k]) + rest * place[k]
            covariance[j, k] = covariance[k, j] = found / s


@compiled(inner=True, makes_arrays=True)
def solve(C, b, x):
    """C x = b for a covariance C, by elimination with pivots; directions without spread get 0.

    C is overwritten.
    """
    p = b.size
    right, whole = b.copy(), np.empty(p)
    order, rank = np.arange(p), 0
    for j in range(p):
        whole[j] = max(max(C[j, j], b[j] * b[j]), TINY)
    for step in range(p):
        best = step
        for j in range(step + 1, p):
            a, c = order[j], order[best]
            if C[a, a] / whole[a] > C[c, c] / whole[c]:
                best = j
        order[step], order[best] = order[best], order[step]
        a = order[step]
        if not C[a, a] > SINGULAR * whole[a]:
            break
        rank += 1
        for j in range(step + 1, p):
            r = order[j]
            ratio = C[r, a] / C[a, a]
            right[r] -= ratio * right[a]
            for k in range(step + 1, p):
                C[r, order[k]] -= ratio * C[a, order[k]]
    x[:] = 0.0
    for step in range(rank - 1, -1, -1):
        a = order[step]
        value = right[a]
        for k in range(step + 1, rank):
            value -= C[a, order[k]] * x[order[k]]
        x[a] = value / C[a, a]


@compiled(inner=True)
def tilt(gaps, values, place, slope, factor):
    """From w k to s w l of a line, in place."""
    factor[: values.size] = 1.0
    for j in range(place.size):
        x, g, from_mean = gaps[j], slope[j], place[j]
        for i in range(values.size):
            factor[i] += g * (x[i] + from_mean)
    for i in range(values.size):
        values[i] *= factor[i]
