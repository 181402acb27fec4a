"""Newton's method for a smooth convex function plus an L1 penalty, sum_j penalty_j |b_j|.

Each step minimises the quadratic approximation plus the penalty: by coordinate descent, which finds
the coordinates that stay zero, and by a linear system of the others, in turn, until the signs of
its solution are those it was made for, and no zero should leave (Lee, Battle, Raina & Ng 2007).
Descent alone takes for ever where the Hessian is all but singular. Near the minimum, where zeros
no longer change, it converges as Newton's method does (Lee, Sun & Saunders 2014).
"""

from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np
from scipy.linalg import cho_solve

from empirisk.compiled.quadratic import penalised_quadratic
from empirisk.runtime.arrays import Bools, Floats
from empirisk.runtime.deadlines import check_deadline
from empirisk.solvers.inverse_hessian import cholesky_factor

SWEEPS = 30  # between two solutions of the linear system
AT_ONCE = 1e9
"""Products between two looks at the clock: about a second."""
MOST_SWEEPS = 10_000
COARSE = 1e-3
"""How exact coordinate descent is at first, relative to the longest step of one coordinate: enough
to find the zeros, as a rule."""
SUFFICIENT = 1e-4
ROUNDING = 1e-13
"""Relative differences of function values that may be rounding."""
PATIENCE = 3
"""Steps without a smaller gap, once values no longer change, that end the search."""


class PenalisedMinimum(NamedTuple):
    """Where the search ended; `gap` is the decrease that one more step would bring."""

    point: Floats
    value: float
    gap: float
    n_iter: int
    ending: Literal["converged", "rounding", "max_iter"]


def proximal_newton(
    function: Callable[[Floats], tuple[float, Floats]],
    hessian: Callable[[Floats], Floats],
    penalty: Floats,
    start: Floats,
    *,
    lowered: Callable[[Floats], Floats] | None = None,
    tol: float = 1e-10,
    max_iter: int = 100,
) -> PenalisedMinimum:
    """The minimum of function(b) + sum_j penalty_j |b_j|, value >= 0.

    `lowered` may give a point where the value is known to be no larger, such as the best one along
    directions in which the function is level and a Newton step makes little way.

    Converged is where the predicted decrease is at most tol^2 times the value; "rounding", where
    steps no longer lower it.

    Examples
    --------
    >>> square = lambda b: ((b - 3) @ (b - 3) / 2 + 1, b - 3)
    >>> penalty = np.array([1.0, 5.0])
    >>> proximal_newton(square, lambda b: np.eye(2), penalty, np.zeros(2)).point
    array([2., 0.])
    """
    if lowered is None:
        lowered = np.asarray
    b = lowered(start)
    smooth, gradient = function(b)
    value = smooth + float(penalty @ np.abs(b))
    gap, least, idle = np.inf, np.inf, 0
    for t in range(max_iter):
        check_deadline()
        step = _penalised_step(hessian(b), gradient, b, penalty, tol * np.sqrt(max(value, 1e-300)))
        change = float(gradient @ step + penalty @ _growth(b, step))
        gap = max(-change, 0.0)
        if gap <= tol**2 * value:  # one step more for nothing: its gradient is not needed
            return PenalisedMinimum(lowered(b + step), value, gap, t, "converged")
        if gap <= ROUNDING * value:  # values no longer tell, only the gap
            idle = idle + 1 if gap > 0.25 * least else 0
            least = least if idle else gap
            if idle >= PATIENCE:
                return PenalisedMinimum(b, value, gap, t, "rounding")
        found = _line_search(function, penalty, b, value, step, change, lowered)
        if found is None:
            return PenalisedMinimum(b, value, gap, t, "rounding")
        b, value, gradient = found
    return PenalisedMinimum(b, value, gap, max_iter, "max_iter")


def _growth(b: Floats, step: Floats) -> Floats:
    """|b + step| - |b|, without rounding where the sign stays."""
    stays = np.sign(b + step) == np.sign(b)
    return np.where(stays, np.sign(b) * step, np.abs(b + step) - np.abs(b))


def _penalised_step(H: Floats, gradient: Floats, b: Floats, penalty: Floats, tol: float) -> Floats:
    """The minimiser of the quadratic approximation plus the penalty, as a step from b."""
    H = np.ascontiguousarray(H)
    curvature, slope = np.diagonal(H), gradient.copy()
    step = np.where((curvature <= 0) & (np.abs(gradient) <= penalty), -b, 0.0)
    longest = np.abs(gradient[curvature > 0]) / np.sqrt(curvature[curvature > 0])
    exactness = max(tol, COARSE * float(longest.max(initial=0.0)))
    for _ in range(MOST_SWEEPS // SWEEPS):
        done = _sweeps(H, b, penalty, step, slope, exactness)
        found = _on_support(H, gradient, b, penalty, step)
        if found is not None:
            step, signs_hold = found
            slope = gradient + H @ step
            if signs_hold and _is_least(slope, penalty, (b + step == 0) & (curvature > 0)):
                return step
        if done >= 0:
            if exactness <= tol and found is None:
                break
            exactness = max(exactness * 1e-2, tol)
    return step


def _sweeps(
    H: Floats,
    b: Floats,
    penalty: Floats,
    step: Floats,
    slope: Floats,
    exactness: float,
) -> int:
    """Coordinate descent; below zero if `SWEEPS` passes did not suffice."""
    at_once = int(np.clip(AT_ONCE / max(len(b), 1) ** 2, 1, SWEEPS))
    done = -1
    for first in range(0, SWEEPS, at_once):
        check_deadline()
        few = min(at_once, SWEEPS - first)
        done = penalised_quadratic(H, b, penalty, step, slope, exactness, few)
        if done >= 0:
            break
    return int(done)


def _on_support(
    H: Floats, gradient: Floats, b: Floats, penalty: Floats, step: Floats
) -> tuple[Floats, bool] | None:
    """The step that is exact for the signs of b + step, and whether it has these signs.

    If not, it goes from `step` towards the exact one as far as values fall. None if there is none.
    """
    there = b + step
    sign = np.sign(there)
    on = ((there != 0) | (penalty == 0)) & (np.diagonal(H) > 0)
    exact = np.where(on, 0.0, step)
    right = -(gradient + penalty * sign + H @ exact)[on]
    try:
        exact[on] = cho_solve((cholesky_factor(H[np.ix_(on, on)]), True), right)
    except np.linalg.LinAlgError:
        return None
    if (((b + exact) * sign)[on & (penalty > 0)] > 0).all():
        return exact, True
    way = np.where(on, exact - step, 0.0)
    slope = float(way @ (gradient + H @ step + penalty * sign))
    length, at_zero = _lowest(there, way, penalty, slope, float(way @ H @ way))
    return (np.where(at_zero, -b, step + length * way), False) if length > 0 else None


def _lowest(
    there: Floats, way: Floats, penalty: Floats, slope: float, curvature: float
) -> tuple[float, Bools]:
    """How far along a way values fall, at most 1, and which coordinates come to zero there.

    Values are quadratic, with a slope and a curvature, between the places where a coordinate
    changes its sign, at which the slope grows by 2 penalty_j |way_j|.
    """
    change = np.flatnonzero((penalty > 0) & (there * (there + way) <= 0) & (way != 0))
    place = -there[change] / way[change]
    order = np.argsort(place, kind="stable")
    change, place = change[order], place[order]
    kinks = slope + np.append(0.0, np.cumsum(2 * penalty[change] * np.abs(way[change])))
    k = int(np.argmax(np.append(kinks[1:] + curvature * place >= 0, True)))
    level = -kinks[k] / curvature if curvature > 0 else np.inf
    at_zero = np.zeros(len(there), dtype=bool)
    if k == len(place) or level < place[k]:
        return min(level, 1.0), at_zero
    at_zero[change[place == place[k]]] = True
    return float(place[k]), at_zero


def _is_least(slope: Floats, penalty: Floats, zero: Bools) -> bool:
    """Whether no coordinate at zero should leave it."""
    return bool((np.abs(slope) <= penalty * (1 + 1e-10))[zero].all())


def _line_search(
    function: Callable[[Floats], tuple[float, Floats]],
    penalty: Floats,
    b: Floats,
    value: float,
    step: Floats,
    change: float,
    lowered: Callable[[Floats], Floats],
) -> tuple[Floats, float, Floats] | None:
    length = 1.0
    for _ in range(30):
        new = lowered(b + length * step)
        smooth, gradient = function(new)
        new_value = smooth + float(penalty @ np.abs(new))
        near = max(abs(change), new_value - value) <= ROUNDING * value
        if new_value <= value + SUFFICIENT * length * change or near:
            return new, new_value, gradient
        length *= 0.5
    return None
