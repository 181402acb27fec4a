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
    kernels_of,
    others,
    total,
    within_reach,
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
    l_i^2, leverages[q, v] is l of a row at t itself; they are not found where `norms` has no rows.
    Where no row is in reach, l is 1 over their weight for the nearest rows, ties included.
    """
    n, p = X.shape
    d2, values, chosen, scaled = np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    rows, nearest = np.empty(n, np.int64), np.empty(n, np.int64)
    columns = np.ascontiguousarray(X.T)
    mean, slope, place = np.empty(p), np.zeros(p), np.empty(p)
    covariance = np.empty((p, p))
    for q in range(T.shape[0]):
        scale = factors[group[q]]
        distances(T[q], columns, scale, d2)
        count, near = others(d2, group[q], groups, rows)
        for v in range(rates.size):
            count = within_reach(kind, rates[v], near, reach, count, rows, d2)
            used, m = rows, count
            kernels_of(
                kind, 0.0, rates[v], near, rows, d2, weight, chosen[:m], scaled[:m], values[:m]
            )
            s = total(values[:m])
            line = degree == 1
            if not s > 0.0:
                used, line = nearest, False
                m = nearest_rows(d2, group[q], groups, near, nearest)
                for i in range(m):
                    values[i] = weight[nearest[i]]
                s = total(values[:m])
            whole = s
            s = brought_to_one(values[:m], s)
            slope[:] = 0.0
            if line:
                moments(T[q], columns, scale, used[:m], values[:m], s, mean, covariance, place)
                solve(covariance, place, slope)
                tilt(columns, scale, used[:m], values[:m], mean, slope)
            for k in range(Y.shape[1]):
                fits[q, v, k] = product(values[:m], used, Y, k) / s
            if norms.shape[0] == 0:
                continue
            square = 0.0
            for i in range(m):
                square += values[i] / s * (values[i] / s) / weight[used[i]]
            norms[q, v] = square
            leverages[q, v] = 1.0 / whole
            if line:
                for j in range(p):
                    leverages[q, v] += slope[j] * place[j] / whole


@compiled
def local_weights(T, X, factors, weight, rate, kind, reach, out):
    """out[q, i] = w_i l_i of local means at one bandwidth."""
    n = X.shape[0]
    d2, values, chosen, scaled = np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    rows, groups = np.empty(n, np.int64), np.full(n, -1)
    nobody = groups[0] + 1  # the group of targets, of which no row is
    columns = np.ascontiguousarray(X.T)
    for q in range(T.shape[0]):
        distances(T[q], columns, factors, d2)
        count, near = others(d2, nobody, groups, rows)
        m = within_reach(kind, rate, near, reach, count, rows, d2)
        kernels_of(kind, 0.0, rate, near, rows, d2, weight, chosen[:m], scaled[:m], values[:m])
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
def brought_to_one(values, s):
    """Values and their sum s, in place, over the power of two next above s: no digit changes.

    So products with large targets stay finite, and equal sums of kernels remain equal.
    """
    unit = math.ldexp(1.0, -math.frexp(s)[1])
    for i in range(values.size):
        values[i] *= unit
    return s * unit


@compiled(inner=True)
def product(values, rows, Y, k):
    """The sum of values times a column of Y, in four parts, which do not wait for each other."""
    a = b = c = d = 0.0
    n = values.size - values.size % 4
    for i in range(0, n, 4):
        a += values[i] * Y[rows[i], k]
        b += values[i + 1] * Y[rows[i + 1], k]
        c += values[i + 2] * Y[rows[i + 2], k]
        d += values[i + 3] * Y[rows[i + 3], k]
    for i in range(n, values.size):
        a += values[i] * Y[rows[i], k]
    return (a + b) + (c + d)


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
def moments(t, columns, scale, rows, values, s, mean, covariance, place):
    """Weighted mean and covariance of the rows, as seen from t, and t - mean."""
    p = mean.size
    for j in range(p):
        x = columns[j]
        total_ = 0.0
        for i in range(rows.size):
            total_ += values[i] * ((x[rows[i]] - t[j]) * scale[j])
        mean[j] = total_ / s
        place[j] = -mean[j]
    for j in range(p):
        for k in range(j + 1):
            x, z = columns[j], columns[k]
            total_ = 0.0
            for i in range(rows.size):
                a = (x[rows[i]] - t[j]) * scale[j] - mean[j]
                b = (z[rows[i]] - t[k]) * scale[k] - mean[k]
                total_ += values[i] * (a * b)
            covariance[j, k] = covariance[k, j] = total_ / s
    for j in range(p):
        mean[j] = t[j] + mean[j] / scale[j]


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
def tilt(columns, scale, rows, values, mean, slope):
    """From w k to s w l of a line, in place."""
    for i in range(rows.size):
        factor = 1.0
        for j in range(mean.size):
            factor += slope[j] * ((columns[j, rows[i]] - mean[j]) * scale[j])
        values[i] *= factor
