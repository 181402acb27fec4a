"""The best constant of each training part of a plan, for all parts at once.

Nothing is subtracted: the sum over the rows outside a fold is the sum over the folds before it plus
the sum over the folds after it. So one huge value or weight costs the other folds no digits.
"""

from collections.abc import Iterator
from itertools import pairwise
from typing import Literal

import numpy as np

from empirisk.losses import Absolute, Quantile, RegressionLoss, Squared, class_frequencies
from empirisk.losses.weighted import TIED, midpoint, weighted_quantile
from empirisk.risk.plans.plan import Plan
from empirisk.runtime.arrays import Array, Floats, Ints
from empirisk.runtime.deadlines import check_deadline
from empirisk.runtime.parallel import slices

NUMBERS_AT_ONCE = 2**22
"""In an array folds x classes; leave-one-out has as many folds as rows."""

LARGEST_EXPONENT = 900
"""Of a power of two whose multiples can be summed without overflow."""


def training_shares(
    y: Ints, weight: Floats, plan: Plan, n_classes: int
) -> Iterator[tuple[range, Floats]]:
    """Weighted frequencies of the classes in the training parts, (splits, classes), by and by."""
    if not plan.is_partition:
        trains = (plan.train(s) for s in range(plan.n_splits))
        shares = [class_frequencies(y[i], weight[i], n_classes=n_classes) for i in trains]
        yield range(plan.n_splits), np.stack(shares)
        return
    first = 0
    for fold in plan.fold:
        n_folds = int(fold.max()) + 1
        for part, left in _weights_outside(fold, y, weight, n_folds, n_classes):
            yield range(first + part.start, first + part.stop), left / left.sum(1, keepdims=True)
        first += n_folds


def _weights_outside(
    fold: Array, y: Ints, weight: Floats, n_folds: int, n_classes: int
) -> Iterator[tuple[slice, Floats]]:
    """The weight of each class outside each fold, by slices of folds."""
    weight = _scaled(weight)
    parts = slices(n_folds, max(1, NUMBERS_AT_ONCE // n_classes))
    order = np.argsort(fold, kind="stable")
    start = np.searchsorted(fold[order], [part.start for part in parts] + [n_folds])
    rows = [order[a:b] for a, b in pairwise(start)]
    outside_part = _outside(np.stack([np.bincount(y[i], weight[i], n_classes) for i in rows]))
    for part, i, outside in zip(parts, rows, outside_part, strict=True):
        check_deadline()
        size = part.stop - part.start
        cell = (fold[i].astype(np.int64) - part.start) * n_classes + y[i]
        inside = np.bincount(cell, weight[i], size * n_classes).reshape(size, n_classes)
        yield part, _outside(inside) + outside


def training_numbers(loss: RegressionLoss, y: Floats, weight: Floats, plan: Plan) -> Floats:
    """The best number for each training part: (splits,), or (splits, outputs)."""
    if y.ndim == 2:
        columns = [training_numbers(loss, column, weight, plan) for column in y.T]
        return np.stack(columns, axis=1)
    if plan.is_partition and isinstance(loss, Squared):
        return np.concatenate([_means_outside(fold, y, weight) for fold in plan.fold])
    if plan.leaves_one_out and isinstance(loss, Absolute | Quantile):
        q = loss.q if isinstance(loss, Quantile) else 0.5
        return quantiles_without_each(y, weight, q)[np.argsort(plan.fold[0])]
    best = np.empty(plan.n_splits)
    for s in range(plan.n_splits):
        check_deadline()
        train = plan.train(s)
        best[s] = loss.best_constant(y[train], weight[train])
    return best


def _means_outside(fold: Array, y: Floats, weight: Floats) -> Floats:
    """The weighted mean outside each fold; about the median, so that an offset costs no digits."""
    weight = _scaled(weight)
    exponent = max(int(np.frexp(np.abs(y).max())[1]) - LARGEST_EXPONENT, 0)
    y = np.ldexp(y, -exponent)
    centre = np.median(y)
    total = _outside(np.bincount(fold, weight * (y - centre))[:, None])[:, 0]
    mass = _outside(np.bincount(fold, weight)[:, None])[:, 0]
    return np.ldexp(centre + total / mass, exponent)


def quantiles_without_each(y: Floats, weight: Floats, q: float) -> Floats:
    """The q-quantile of all values but one, for each value left out in turn."""
    order = np.argsort(y, kind="stable")
    values, w = y[order], _scaled(weight)[order]
    cumulative = np.cumsum(w)
    left = cumulative[-1] - w
    last = np.where(np.arange(len(y)) == len(y) - 1, len(y) - 2, len(y) - 1)
    low = _first_reaching((q - TIED) * left, cumulative, w, "left")
    high = _first_reaching((q + TIED) * left, cumulative, w, "right")
    best = midpoint(values[np.minimum(low, last)], values[np.minimum(high, last)])
    # A value with nearly all the weight leaves a difference with few digits; there is at most one.
    for i in np.flatnonzero(left < 0.01 * cumulative[-1]):
        best[i] = weighted_quantile(np.delete(values, i), np.delete(w, i), q)
    result = np.empty_like(best)
    result[order] = best
    return result


def _first_reaching(
    level: Floats, cumulative: Floats, w: Floats, side: Literal["left", "right"]
) -> Ints:
    """For each place i left out, the first other place whose cumulative weight reaches level_i."""
    place = np.arange(len(w))
    before = np.searchsorted(cumulative, level, side=side)
    after = np.searchsorted(cumulative, level + w, side=side)
    return np.where(before < place, before, np.maximum(after, place + 1))


def _outside(sums: Array) -> Floats:
    """Of sums by fold along the first axis: for each fold, the sum over all the others."""
    result = np.zeros_like(sums)
    result[1:] += np.cumsum(sums[:-1], axis=0)
    result[:-1] += np.cumsum(sums[:0:-1], axis=0)[::-1]
    return result


def _scaled(weight: Floats) -> Floats:
    """Weights times a power of two, the largest about 1: their sums do not overflow."""
    return np.ldexp(weight, -np.frexp(weight.max())[1])
