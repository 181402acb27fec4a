"""Moments of single columns by class, about the class means; missing cells (NaN) are left out.

Rows are taken a few at a time, so that the second look at them, for the squares about the means,
finds them in the cache. The parts are joined by the update of Chan, Golub & LeVeque (1983): an
offset that is large against the spread costs no digits.
"""

import numpy as np

from empirisk.compiled.decorator import compiled

NUMBERS_AT_ONCE = 2**14
FEWEST_ROWS, MOST_ROWS = 16, 2048


@compiled
def add_column_moments(X, y, weight, total, mean, scatter):
    """Add rows to total[k, j], mean[k, j] and scatter[k, j], in place; weights are positive."""
    n, p = X.shape
    n_classes = total.shape[0]
    step = min(max(NUMBERS_AT_ONCE // p, FEWEST_ROWS), MOST_ROWS)
    mass = np.empty((n_classes, p))
    centre = np.empty((n_classes, p))
    shift = np.empty((n_classes, p))
    square = np.empty((n_classes, p))
    there = np.empty(n_classes, np.bool_)
    for start in range(0, n, step):
        stop = min(start + step, n)
        there[:] = False
        complete = _centres(X, y, weight, start, stop, there, mass, centre, shift)
        if not complete:
            _centres_of_cells(X, y, weight, start, stop, there, mass, centre, shift)
        for k in range(n_classes):
            if there[k]:
                square[k] = 0.0
        for i in range(start, stop):
            row, middle, sum_of = X[i], centre[y[i]], square[y[i]]
            w = weight[i]
            if complete:
                for j in range(p):
                    sum_of[j] += w * (row[j] - middle[j]) ** 2
            else:
                for j in range(p):
                    if row[j] == row[j]:
                        sum_of[j] += w * (row[j] - middle[j]) ** 2
        for k in range(n_classes):
            if there[k]:
                _join(mass[k], centre[k], square[k], total[k], mean[k], scatter[k])


@compiled(inner=True)
def _centres(X, y, weight, start, stop, there, mass, centre, shift):
    """The class means of some rows; False where a cell is missing."""
    p = X.shape[1]
    for i in range(start, stop):
        k, w = y[i], weight[i]
        row, first, sum_of = X[i], centre[k], shift[k]
        if not there[k]:
            # About the first row a constant column is exactly 0, and so is its scatter.
            there[k] = True
            mass[k, 0] = 0.0
            for j in range(p):
                first[j] = row[j]
                sum_of[j] = 0.0
        mass[k, 0] += w
        for j in range(p):
            sum_of[j] += w * (row[j] - first[j])
    for k in range(there.size):
        if there[k]:
            own = mass[k, 0]
            for j in range(p):
                if shift[k, j] != shift[k, j]:
                    return False
                mass[k, j] = own
                centre[k, j] += shift[k, j] / own
    return True


@compiled(inner=True)
def _centres_of_cells(X, y, weight, start, stop, there, mass, centre, shift):
    """The class means of the cells that are there."""
    p = X.shape[1]
    for k in range(there.size):
        if there[k]:
            mass[k] = 0.0
            shift[k] = 0.0
    for i in range(start, stop):
        k, w = y[i], weight[i]
        for j in range(p):
            x = X[i, j]
            if x == x:
                if mass[k, j] == 0.0:
                    centre[k, j] = x
                mass[k, j] += w
                shift[k, j] += w * (x - centre[k, j])
    for k in range(there.size):
        if there[k]:
            for j in range(p):
                if mass[k, j] > 0.0:
                    centre[k, j] += shift[k, j] / mass[k, j]


@compiled(inner=True)
def _join(mass, centre, square, total, mean, scatter):
    """Add the moments of a part to those of a whole, for each column."""
    for j in range(mass.size):
        if mass[j] > 0.0:
            whole = total[j] + mass[j]
            share = mass[j] / whole
            apart = centre[j] - mean[j]
            scatter[j] += square[j] + total[j] * share * apart * apart
            mean[j] = centre[j] if share == 1.0 else mean[j] + share * apart
            total[j] = whole


@compiled
def moments_without_each(X, y, weight, n_classes, total, mean, scatter):
    """total[i, j], mean[i, j], scatter[i, j] of the class of row i, without row i.

    What comes before a row and what comes after it are added up; nothing is subtracted.
    """
    n, p = X.shape
    own, square = np.empty(p), np.zeros(p)
    weights, means, squares = (
        np.zeros((n_classes, p)),
        np.zeros((n_classes, p)),
        np.zeros((n_classes, p)),
    )
    for i in range(n):
        k = y[i]
        total[i], mean[i], scatter[i] = weights[k], means[k], squares[k]
        for j in range(p):
            own[j] = weight[i] if X[i, j] == X[i, j] else 0.0
        _join(own, X[i], square, weights[k], means[k], squares[k])
    weights[:], means[:], squares[:] = 0.0, 0.0, 0.0
    for i in range(n - 1, -1, -1):
        k = y[i]
        _join(weights[k], means[k], squares[k], total[i], mean[i], scatter[i])
        for j in range(p):
            own[j] = weight[i] if X[i, j] == X[i, j] else 0.0
        _join(own, X[i], square, weights[k], means[k], squares[k])
