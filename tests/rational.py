"""Least squares in exact rational arithmetic: slow, obvious, and right to the last digit."""

from fractions import Fraction

import numpy as np


def rationals(array):
    return [[Fraction(v) for v in row] for row in np.asarray(array, dtype=float).tolist()]


def product(A, B):
    return [
        [sum(a * b for a, b in zip(row, column, strict=True)) for column in zip(*B, strict=True)]
        for row in A
    ]


def solution(A, b):
    """A solution x of Ax = b by Gauss-Jordan elimination; free unknowns are 0."""
    table = [[*row, value] for row, value in zip(A, b, strict=True)]
    pivots = []
    for j in range(len(A[0])):
        i = next((i for i in range(len(pivots), len(table)) if table[i][j]), None)
        if i is None:
            continue
        k = len(pivots)
        table[k], table[i] = table[i], table[k]
        table[k] = [v / table[k][j] for v in table[k]]
        for i in range(len(table)):
            if i != k and table[i][j]:
                table[i] = [u - table[i][j] * v for u, v in zip(table[i], table[k], strict=True)]
        pivots.append(j)
    x = [Fraction(0)] * len(A[0])
    for k, j in enumerate(pivots):
        x[j] = table[k][-1]
    return x


def least_squares(X, y, weight=None, *, penalty=0.0, intercept=True):
    """Coefficients and intercept (0 without one) by the normal equations."""
    rows, target, w = _data(X, y, weight)
    if intercept:
        rows = [[*row, Fraction(1)] for row in rows]
    weighted = [[v * wi for v in row] for row, wi in zip(rows, w, strict=True)]
    gram = product(list(zip(*weighted, strict=True)), rows)
    for j in range(len(gram) - intercept):
        gram[j][j] += Fraction(penalty)
    right = [
        sum(c * t for c, t in zip(column, target, strict=True))
        for column in zip(*weighted, strict=True)
    ]
    x = np.array([float(v) for v in solution(gram, right)])
    return (x[:-1], x[-1]) if intercept else (x, 0.0)


def least_norm(X, y, weight=None, *, intercept=True):
    """Of all minimisers that of least norm: b = Z'a with Z'WZZ'a = Z'Wy, Z the centred columns."""
    rows, target, w = _data(X, y, weight)
    total = sum(w)
    centre = [
        sum(v * wi for v, wi in zip(c, w, strict=True)) / total * intercept
        for c in zip(*rows, strict=True)
    ]
    level = sum(t * wi for t, wi in zip(target, w, strict=True)) / total * intercept
    Z = [[v - m for v, m in zip(row, centre, strict=True)] for row in rows]
    across = list(zip(*Z, strict=True))
    weighted = [[v * wi for v in row] for row, wi in zip(Z, w, strict=True)]
    gram = product(list(zip(*weighted, strict=True)), Z)
    right = [
        sum(c * (t - level) for c, t in zip(column, target, strict=True))
        for column in zip(*weighted, strict=True)
    ]
    a = solution(product(gram, across), right)
    b = [sum(v * ai for v, ai in zip(column, a, strict=True)) for column in across]
    b0 = level - sum(m * bj for m, bj in zip(centre, b, strict=True))
    return np.array([float(v) for v in b]), float(b0)


def _data(X, y, weight):
    weight = np.ones(len(y)) if weight is None else weight
    (target,), (w,) = rationals([y]), rationals([weight])
    return rationals(X), target, w
