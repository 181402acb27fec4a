"""Coordinate descent: minimise in one coordinate after the other."""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from empirisk.runtime.arrays import Floats
from empirisk.runtime.deadlines import check_deadline
from empirisk.runtime.errors import ParameterError
from empirisk.solvers.descent import Descent, Way, check_limits
from empirisk.solvers.steps import ROUNDING, Objective, value_at

GOLDEN = (3 - np.sqrt(5)) / 2
MOST_DOUBLINGS = 1100  # from the least to the largest float64
LEAST_BRACKET = 1e-9  # relative; a smooth objective tells no finer: its changes are the squares

Update = Callable[[Floats, int], float]
"""From a point and a coordinate to the value of that coordinate at which the objective is least."""


def coordinate_descent(
    objective: Objective,
    start: ArrayLike,
    *,
    update: Update | None = None,
    max_iter: int = 1000,
    tol: float = 1e-8,
) -> Descent:
    """Sweeps b_j <- argmin_z J(b_1, ..., z, ..., b_p) for j = 1..p, until none moves much.

    It arrives at a minimum of convex functions that are smooth up to a sum of functions of single
    coordinates, as the absolute values of the lasso are (Tseng 2001).

    Parameters
    ----------
    objective : callable
        J, from an array of shape (p,) to a number.
    start : array-like of shape (p,)
    update : callable, optional
        update(b, j) is the best value of coordinate j when the others stay. Without it each
        coordinate is minimised by golden section search from where it is: slower, and exact to
        about eight digits.
    max_iter : int
        The most sweeps.
    tol : float
        It has arrived when a sweep moves no coordinate by more than tol times the largest
        coordinate.

    Returns
    -------
    Descent
        Its steps are sweeps.

    Examples
    --------
    >>> def J(b):
    ...     return (b[0] - 1) ** 2 + (b[0] + b[1] - 3) ** 2
    >>> way = coordinate_descent(
    ...     J, [0.0, 0.0], update=lambda b, j: 3 - b[0] if j else (4 - b[1]) / 2)
    >>> print(way.minimiser.round(6), way.converged)
    [1. 2.] True
    """
    check_limits(max_iter, tol)
    way = Way(objective, start)
    sizes = np.maximum(np.abs(way.point), 1.0)
    while way.t < max_iter:
        point = way.point.copy()
        for j in range(point.size):
            check_deadline()
            best = (
                _line_minimum(objective, point, j, sizes[j]) if update is None else update(point, j)
            )
            if not np.isfinite(best):
                reason = f"the update of coordinate {j} is not finite in sweep {way.t}"
                return way.stop(reason, converged=False)
            point[j] = best
        value = value_at(objective, point)
        if np.isinf(value):
            reason = f"sweep {way.t} led where the objective is not finite"
            return way.stop(reason, converged=False)
        if value > way.value + ROUNDING * abs(way.value) * point.size:
            raise ParameterError(
                f"a sweep raised the objective from {way.value:.6g} to {value:.6g}: "
                "`update` does not give the least value of a coordinate"
            )
        moves = np.abs(point - way.point)
        sizes = np.maximum(moves, LEAST_BRACKET * np.maximum(np.abs(point), 1e-300))
        way.go(point, value)
        if moves.max() <= tol * np.abs(point).max():
            reason = f"a sweep moved no coordinate by more than {tol:g} of the largest"
            return way.stop(reason, converged=True)
    return way.stop(f"max_iter = {max_iter} sweep(s) were made", converged=False)


def _line_minimum(objective: Objective, point: Floats, j: int, size: float) -> float:
    """The coordinate j at which the objective is least, searched from where it is."""
    there = point.copy()

    def value(z: float) -> float:
        there[j] = z
        return value_at(objective, there)

    low, middle, high = _bracket(value, float(point[j]), size)
    return _golden_section(value, low, middle, high)


def _bracket(
    value: Callable[[float], float], middle: float, size: float
) -> tuple[float, float, float]:
    """Three points of which the middle one is the lowest; steps double while it goes down."""
    low, high = middle - size, middle + size
    at_low, at, at_high = value(low), value(middle), value(high)
    for _ in range(MOST_DOUBLINGS):
        if at <= at_low and at <= at_high:
            break
        size *= 2
        if at_low < at_high:
            high, at_high, middle, at, low = middle, at, low, at_low, low - size
            at_low = value(low)
        else:
            low, at_low, middle, at, high = middle, at, high, at_high, high + size
            at_high = value(high)
        if not (np.isfinite(low) and np.isfinite(high)):
            return middle, middle, middle
    return low, middle, high


def _golden_section(
    value: Callable[[float], float], low: float, middle: float, high: float
) -> float:
    least = value(middle)
    while high - low > LEAST_BRACKET * max(abs(middle), 1e-290):
        left = middle - low > high - middle
        z = middle - GOLDEN * (middle - low) if left else middle + GOLDEN * (high - middle)
        if z in (low, middle, high):
            break
        here = value(z)
        if here < least:
            low, high = (low, middle) if left else (middle, high)
            middle, least = z, here
        elif left:
            low = z
        else:
            high = z
    return middle
