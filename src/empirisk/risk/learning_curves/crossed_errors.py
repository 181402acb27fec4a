"""The error of mean losses that vary by test row and by training set.

An entry is the loss of a test row under a training set, at several settings (columns):

    loss = risk + (row) + (training set) + rest.

The mean over entries has the covariance  lam^2 V_rows + V_sets / J:  V_rows from the rows, which
stand for the population; lam for what folds share; V_sets what the means of the J splits vary by
beyond what their rows explain.
"""

import numpy as np
from scipy.sparse import csr_array

from empirisk.runtime.arrays import Floats, Ints


def errors_of_means(
    losses: Floats, weight: Floats, unit: Ints, split: Ints, widening: Floats, *, same_rows: bool
) -> tuple[Floats, Floats]:
    """Standard errors of the columns' means and their correlations.

    `same_rows` says that all splits have one test part. The errors are infinite where a loss is.
    """
    columns = losses.shape[1]
    if not np.isfinite(losses).all():
        return np.full(columns, np.inf), np.eye(columns)
    share = weight / weight.sum()
    size = np.maximum(np.abs(losses).max(axis=0), np.finfo(float).tiny)
    centred = losses / size - share @ (losses / size)
    rows = _of_units(centred, share, unit)
    sets = _of_splits(centred, share, split, same_rows)
    covariance = np.outer(widening, widening) * rows + sets
    error = np.sqrt(np.diagonal(covariance))
    unit_error = np.where(error > 0, error, 1.0)
    return error * size, covariance / np.outer(unit_error, unit_error)


def _of_units(centred: Floats, share: Floats, unit: Ints) -> Floats:
    codes = np.unique(unit, return_inverse=True)[1].reshape(-1)
    sums = csr_array((share, (codes, np.arange(len(codes))))) @ centred
    units = len(sums)
    return sums.T @ sums * (units / (units - 1)) if units > 1 else np.zeros((sums.shape[1],) * 2)


def _of_splits(centred: Floats, share: Floats, split: Ints, same_rows: bool) -> Floats:
    codes = np.unique(split, return_inverse=True)[1].reshape(-1)
    part = np.bincount(codes, share)
    J, columns = len(part), centred.shape[1]
    if J < 2:
        return np.zeros((columns, columns))
    relative = csr_array((share / part[codes], (codes, np.arange(len(codes)))))
    means = relative @ centred
    between = (means.T * part) @ means * (J / (J - 1))
    if not same_rows:
        rest = centred - means[codes]
        within = (rest.T * (share**2 / part[codes])) @ rest
        between = between - within
    value, vector = np.linalg.eigh((between + between.T) / 2)
    # What is left over may be negative by chance: there is no such variance.
    return (vector * np.maximum(value, 0.0)) @ vector.T * float(np.square(part).sum())
