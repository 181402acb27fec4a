"""Minima of convex functions of one variable, many functions at once."""

from collections.abc import Callable

import numpy as np

from empirisk.runtime.arrays import Array, Floats

GOLDEN = (3 - np.sqrt(5)) / 2
# Each step keeps 0.618 of the bracket; after 100 less than one part in 1e20 is left.
STEPS = 100

Objective = Callable[[Array], Array]
"""From one point per function to one value per function."""


def golden_section(
    objective: Objective, low: Array, middle: Array, high: Array
) -> tuple[Floats, Floats]:
    """The minimiser and minimum of each convex function on [low, high], by golden section.

    The value at `middle` must be finite; elsewhere the functions may be infinite. The best point
    seen is always the middle of the bracket, so a step into infinity only shortens it. Where a
    function is flat at its minimum, the point is one of its minimisers.
    """
    least = objective(middle)
    for _ in range(STEPS):
        left = middle - low > high - middle
        point = np.where(left, middle - GOLDEN * (middle - low), middle + GOLDEN * (high - middle))
        value = objective(point)
        better = value < least
        low = np.where(better & ~left, middle, np.where(~better & left, point, low))
        high = np.where(better & left, middle, np.where(~better & ~left, point, high))
        middle, least = np.where(better, point, middle), np.where(better, value, least)
    return middle, least


def infimum(objective: Objective, points: Array, n_functions: int) -> tuple[Floats, Floats]:
    """Where each convex function is least on the span of `points`, which increase, and how low.

    The least of the points brackets the minimum between its neighbours. At an end of the points
    the infimum may lie beyond, at infinity: then the points must reach far enough.
    """
    values = np.stack([objective(np.full(n_functions, point)) for point in points])
    values = np.where(np.isnan(values), np.inf, values)
    best = values.argmin(axis=0)
    neighbours = np.clip(best - 1, 0, None), np.clip(best + 1, None, len(points) - 1)
    return golden_section(objective, points[neighbours[0]], points[best], points[neighbours[1]])
