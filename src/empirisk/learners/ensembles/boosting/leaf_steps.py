"""The values of the leaves, found anew for losses whose Newton step is not the best step.

The rows of a leaf are those whose entry in `leaf` is its number. A row of weight w is w copies.
"""

from collections.abc import Callable

import numpy as np

from empirisk.losses.weighted import TIED, midpoint
from empirisk.runtime.arrays import Floats, Ints

HALVINGS = 20  # of a step; after so many it is 0
BISECTIONS = 60


def leaf_quantiles(values: Floats, weight: Floats, leaf: Ints, n_leaves: int, q: float) -> Floats:
    """The q-quantile of the values in each leaf: of an interval of quantiles, its middle.

    Examples
    --------
    >>> leaf_quantiles(np.array([1.0, 5.0, 2.0, 4.0]), np.ones(4), np.array([0, 1, 0, 1]), 2, 0.5)
    array([1.5, 4.5])
    """
    ends = np.cumsum(np.bincount(leaf, minlength=n_leaves))
    first = np.concatenate([[0], ends[:-1]])
    if (weight == 1.0).all():
        in_leaves = values[_by_leaf(leaf, n_leaves)]
        return np.array([_quantile(in_leaves[a:b], q) for a, b in zip(first, ends, strict=True)])
    order = np.argsort(values)
    order = order[_by_leaf(leaf[order], n_leaves)]
    ordered, cumulative = values[order], np.cumsum(weight[order])
    before = np.concatenate([[0.0], cumulative])[first]
    total = cumulative[ends - 1] - before
    low = np.searchsorted(cumulative, before + (q - TIED) * total, side="left")
    high = np.searchsorted(cumulative, before + (q + TIED) * total, side="right")
    low, high = np.clip(low, first, ends - 1), np.clip(high, first, ends - 1)
    return midpoint(ordered[low], ordered[high])


def _by_leaf(leaf: Ints, n_leaves: int) -> Ints:
    """Rows in the order of their leaves, and in one leaf as they stand; small integers are fast."""
    return np.argsort(leaf.astype(np.int16) if n_leaves < 2**15 else leaf, kind="stable")


def _quantile(values: Floats, q: float) -> float:
    """The middle of the interval of q-quantiles, of rows that weigh the same."""
    n = len(values)
    low = min(max(int(np.ceil((q - TIED) * n)) - 1, 0), n - 1)
    high = min(int((q + TIED) * n), n - 1)
    part = np.partition(values, (low, high))
    return float(midpoint(part[low], part[high]))


def leaf_means(values: Floats, weight: Floats, leaf: Ints, n_leaves: int) -> Floats:
    """The weighted mean of the values in each leaf."""
    total = np.bincount(leaf, weight, minlength=n_leaves)
    return np.bincount(leaf, weight * values, minlength=n_leaves) / total


def huber_steps(
    residual: Floats, weight: Floats, leaf: Ints, n_leaves: int, delta: float
) -> Floats:
    """Friedman's step for Huber's loss: the median, and the mean of what clipped errors are left.

    J. Friedman (2001), Greedy function approximation, Annals of Statistics 29, section 4.4.
    """
    median = leaf_quantiles(residual, weight, leaf, n_leaves, 0.5)
    left = np.clip(residual - median[leaf], -delta, delta)
    return median + leaf_means(left, weight, leaf, n_leaves)


def halved_steps(
    losses: Callable[[Floats], Floats], raw: Floats, leaf: Ints, newton: Floats
) -> Floats:
    """Newton's steps, halved in each leaf as often as the loss in it would be higher than before.

    `losses` are the weighted losses of raw scores, row by row; finite at those that are given.
    Halvings count once all losses are finite: from however far, steps come back.
    """
    n_leaves, step, halvings = len(newton), newton.copy(), 0
    before = np.bincount(leaf, losses(raw), minlength=n_leaves)
    while halvings < HALVINGS:
        after = np.bincount(leaf, losses(raw + step[leaf]), minlength=n_leaves)
        worse = ~(after <= before)
        if not worse.any():
            return step
        step[worse] *= 0.5
        halvings += int(np.isfinite(after).all())
    step[worse] = 0.0
    return step


def common_factor(slope: Callable[[float], float]) -> float:
    """The factor s >= 0 at which a convex loss along all leaves together is least.

    `slope` is its derivative in s. One factor for all leaves keeps their order, and so monotone
    trees monotone.
    """
    low, high = 0.0, 1.0
    for _ in range(BISECTIONS):
        if slope(high) >= 0:
            break
        low, high = high, 2 * high
    for _ in range(BISECTIONS):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if slope(middle) >= 0 else (middle, high)
    return high
