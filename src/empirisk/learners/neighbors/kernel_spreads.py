"""The standard deviations of columns, of all rows and of the training part of every fold."""

import numpy as np

from empirisk.runtime.arrays import Floats, Ints

FEW_FOLDS = 64
SAFE = 1e-3  # a variance that is less of the whole one is not found by subtraction


def spreads_of(rows: Floats, weight: Floats) -> Floats:
    """With divisor n, n the sum of the weights; 1 for a column that does not vary."""
    unit = np.maximum(np.abs(rows).max(axis=0), np.finfo(float).tiny)
    unit = 2.0 ** np.ceil(np.log2(unit)).clip(-1000, 1000)
    share = weight / weight.sum()
    placed = rows / unit
    placed = placed - share @ placed
    found = np.sqrt(share @ placed**2)
    still = np.ptp(rows / unit, axis=0) == 0  # rounding is no spread
    return np.where(still | (found == 0), 1.0, found * unit)


def training_spreads(rows: Floats, weight: Floats, fold: Ints) -> Floats:
    """(folds, columns): those of the rows outside of each fold.

    For many folds moments of the fold are subtracted from those of all rows; where that would cost
    digits, the training part is looked at itself.
    """
    n_folds = int(fold.max()) + 1
    if n_folds <= FEW_FOLDS:
        parts = (fold != k for k in range(n_folds))
        return np.stack([spreads_of(rows[part], weight[part]) for part in parts])
    unit = spreads_of(rows, weight)
    placed = rows / unit
    placed = placed - (weight / weight.sum()) @ placed
    weighted = placed * weight[:, None]
    n = weight.sum() - np.bincount(fold, weight, n_folds)
    found = np.empty((n_folds, rows.shape[1]))
    for j in range(rows.shape[1]):
        first = weighted[:, j].sum() - np.bincount(fold, weighted[:, j], n_folds)
        squares = weighted[:, j] * placed[:, j]
        second = squares.sum() - np.bincount(fold, squares, n_folds)
        found[:, j] = np.maximum(second / n - (first / n) ** 2, 0.0)
    lost = np.flatnonzero((found < SAFE).any(axis=1) | (n < SAFE * weight.sum()))
    found = np.sqrt(found) * unit
    for k in lost:
        part = fold != k
        found[k] = spreads_of(rows[part], weight[part])
    return found
