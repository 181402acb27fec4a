"""Coordinate descent: minimise in one coordinate after the other."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq, minimize_scalar

from empirisk.runtime.arrays import Floats
from empirisk.runtime.deadlines import check_deadline
from empirisk.runtime.errors import ParameterError
from empirisk.solvers.descent import Descent, Way, check_callables, check_limits
from empirisk.solvers.steps import ROUNDING, Objective, as_number, value_at

MOST_DOUBLINGS = 1100  # from the least to the largest float64
NOTHING = 1e-300  # a coordinate nearer to 0 is 0
LEAST_BRACKET = 1e-9  # relative; a smooth objective tells no finer: its changes are the squares
NARROWER = 0.1  # the bracket of a coordinate that rests, in units of the one before

Update = Callable[[Floats, int], float]
"""From a point and a coordinate to the value of that coordinate at which the objective is least."""

Line = Callable[[float], float]
"""From the value of one coordinate to a number, the others staying where they are."""


def coordinate_descent(
    objective: Objective,
    start: ArrayLike,
    *,
    update: Update | None = None,
    derivative: Callable[[Floats, int], Any] | None = None,
    max_iter: int = 1000,
    tol: float = 1e-8,
) -> Descent:
    """Sweeps b_j <- argmin_z J(b_1, ..., z, ..., b_p) for j = 1..p, until none moves much.

    It arrives at a minimum of convex functions that are smooth up to a sum of functions of single
    coordinates, as the absolute values of the lasso are (Tseng 2001).

    Parameters
    ----------
    objective : callable
        J, from an array of shape (p,) to a number. Without `update` and `derivative` each
        coordinate is minimised by Brent's method from where it is: exact to about eight digits.
    start : array-like of shape (p,)
    update : callable, optional
        update(b, j) is the best value of coordinate j when the others stay, if you know it.
    derivative : callable, optional
        derivative(b, j) is dJ/db_j, rising in b_j; its root is found, to all digits. At a kink give
        any number between the slopes on both sides.
    max_iter : int
        The most sweeps.
    tol : float
        It has arrived when a sweep moves no coordinate by more than tol times the largest
        coordinate. With the objective alone another sweep, which searches far from the point,
        must find nothing lower.

    Returns
    -------
    Descent
        Its steps are sweeps.

    Examples
    --------
    >>> def J(b):
    ...     return (b[0] - 1) ** 2 + (b[0] + b[1] - 3) ** 2
    >>> way = coordinate_descent(J, [0.0, 0.0])
    >>> print(way.minimiser.round(6), way.converged)
    [1. 2.] True
    >>> way = coordinate_descent(
    ...     J, [0.0, 0.0], update=lambda b, j: 3 - b[0] if j else (4 - b[1]) / 2)
    >>> print(way.minimiser.round(6), way.reason)
    [1. 2.] a sweep moved no coordinate by more than 1e-08 of the largest
    """
    check_callables(objective=objective)
    check_limits(max_iter, tol)
    if update is not None and derivative is not None:
        raise ParameterError("update and derivative came; give one of them")
    minimum = _rule(objective, update, derivative)
    way = Way(objective, start)
    sizes = wide = np.maximum(np.abs(way.point), 1.0)
    is_blind = update is None and derivative is None
    while way.t < max_iter:
        point = way.point.copy()
        for j in range(point.size):
            check_deadline()
            point[j] = minimum(point, j, float(sizes[j]))
            if not np.isfinite(point[j]):
                reason = f"the best value of coordinate {j} is not finite in sweep {way.t}"
                return way.stop(reason, converged=False)
        value = value_at(objective, point)
        if np.isinf(value):
            reason = f"sweep {way.t} led where the objective is not finite"
            return way.stop(reason, converged=False)
        if value > way.value + ROUNDING * abs(way.value) * point.size:
            name = "update" if derivative is None else "derivative"
            raise ParameterError(
                f"a sweep raised the objective from {way.value:.6g} to {value:.6g}: "
                f"`{name}` does not lead to the least value of a coordinate"
            )
        moves = np.abs(point - way.point)
        rests = moves.max() <= tol * np.abs(point).max()
        lower = way.value - value > ROUNDING * abs(value)
        way.go(point, value)
        if rests and (sizes is wide or not is_blind):
            reason = f"a sweep moved no coordinate by more than {tol:g} of the largest"
            return way.stop(reason, converged=True)
        if sizes is wide and is_blind and not lower:
            reason = "a sweep lowered the objective by no more than its rounding error"
            return way.stop(reason, converged=True)
        wide = np.maximum(np.abs(point), 1.0)
        sizes = wide if rests else _brackets(point, moves, sizes)
    return way.stop(f"max_iter = {max_iter} sweep(s) were made", converged=False)


def _brackets(point: Floats, moves: Floats, before: Floats) -> Floats:
    """Where to look in the next sweep: as far as the last one went.

    A coordinate that rested may have to move when the others have: its bracket narrows slowly, and
    not below the relative move of the others.
    """
    size = np.abs(point)
    relative = max(float(moves.max()) / max(float(size.max()), 1e-300), LEAST_BRACKET)
    with np.errstate(over="ignore"):
        return np.maximum.reduce([moves, NARROWER * before, min(relative, 1.0) * size])


def _rule(
    objective: Objective, update: Update | None, derivative: Callable[[Floats, int], Any] | None
) -> Callable[[Floats, int, float], float]:
    """From a point, a coordinate and the size of its last move to its best value."""
    if update is not None:
        return lambda point, j, size: as_number(update(point, j), "`update`")
    if derivative is None:
        return lambda point, j, size: _minimum(
            _along(lambda there: value_at(objective, there), point, j), float(point[j]), size
        )
    return lambda point, j, size: _root(
        _along(lambda there: as_number(derivative(there, j), "`derivative`"), point, j),
        float(point[j]),
        size,
    )


def _along(function: Objective, point: Floats, j: int) -> Line:
    there = point.copy()

    def line(z: float) -> float:
        there[j] = z
        return function(there)

    return line


def _minimum(value: Line, start: float, size: float) -> float:
    """Where a function is least, searched from a start with steps of this size first."""
    low, middle, high = _bracket(value, start, size)
    if not low < high:
        return middle
    options = {"xatol": LEAST_BRACKET * max(abs(middle), 1e-290)}
    with np.errstate(invalid="ignore", over="ignore"):  # where the function is infinite
        found = minimize_scalar(value, bounds=(low, high), method="bounded", options=options)
    return float(found.x) if found.fun < value(middle) else middle


def _bracket(value: Line, middle: float, size: float) -> tuple[float, float, float]:
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


def _root(slope: Line, start: float, size: float) -> float:
    """Where a rising function is 0; infinite if it never is, NaN where it is no number."""
    here = slope(start)
    if here == 0 or np.isnan(here):
        return start if here == 0 else np.nan
    near, step = start, -math.copysign(size, here)
    for _ in range(MOST_DOUBLINGS):
        far = near + step
        if not np.isfinite(far):
            return far
        there = slope(far)
        if np.isnan(there):
            return np.nan
        if there == 0 or (there > 0) != (here > 0):
            if near * far <= 0 and slope(-NOTHING) <= 0 <= slope(NOTHING):
                return 0.0  # a kink there, as of the lasso, is jumped over: no slope need be 0
            limits = {"xtol": NOTHING, "rtol": ROUNDING, "maxiter": 2 * MOST_DOUBLINGS}
            return float(brentq(slope, near, far, **limits))
        near, step = far, 2 * step
    return near
