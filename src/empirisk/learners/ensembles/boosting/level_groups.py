"""Categories of more levels than bins: before each tree, levels that are alike share a bin.

A split cuts the levels in the order of G / (H + smoothing), by the sums of the gradients and
curvatures of their rows (`compiled.boosting.levels`). Neighbours in this order share a bin, so what
is lost is where among them a cut would fall, and the next tree groups them anew. Levels with too
few rows to have a place in the order have the last bin together. Levels of equal steps always share
one: which of them comes first would be a matter of rounding.
"""

import numpy as np

from empirisk.compiled.boosting.entering import SMOOTH
from empirisk.compiled.boosting.levels import MIN_SUPPORT
from empirisk.compiled.boosting.quantiles import spread_bins
from empirisk.runtime.arrays import Array, Floats

TIED = 1e-10  # steps that differ by less, as a part of the largest, differ by rounding: one bin


def bins_of_levels(
    level: Array,
    n_levels: int,
    gradient: Floats,
    curvature: Floats | None,
    copies: Array | None,
    max_bins: int,
) -> Array:
    """The bins of all levels; the last one is for those with few rows, or none.

    Parameters
    ----------
    level : int array of shape (n,)
        Of each row, n_levels where it is missing.
    gradient, curvature : float arrays of shape (n,)
        No curvature means 1 for each row.
    copies : int array of shape (n,), optional
        How many rows each row counts as.
    max_bins : int

    Examples
    --------
    >>> level = np.repeat([0, 1, 2, 3], 20)
    >>> gradient = np.repeat([5.0, -3.0, 5.1, -3.1], 20)
    >>> bins_of_levels(level, 4, gradient, None, None, 3)
    array([1, 0, 1, 0], dtype=uint8)
    """

    def sums(of: Array | None) -> Floats:
        return np.bincount(level, of, minlength=n_levels + 1)[:n_levels].astype(np.float64)

    rows = sums(copies)
    bins = np.full(n_levels, max_bins - 1, np.uint8)
    own = np.flatnonzero(rows > 0)
    if len(own) >= max_bins:
        own = np.flatnonzero(rows >= MIN_SUPPORT)
    if len(own) < max_bins:
        bins[own] = np.arange(len(own))
        return bins
    steps = sums(gradient)[own] / (sums(curvature)[own] + SMOOTH)
    order = np.argsort(steps, kind="stable")
    own, steps = own[order], steps[order]
    place = np.cumsum(np.diff(steps, prepend=steps[0]) > TIED * np.abs(steps).max())
    distinct, last = np.unique(place).astype(np.float64), np.empty(max_bins - 1, np.int64)
    n = spread_bins(distinct, np.bincount(place, rows[own]), max_bins - 1, last)
    bins[own] = np.searchsorted(last[:n], place)
    return bins
