"""Gradient descent: go where the objective falls fastest."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from empirisk.runtime.arrays import Floats
from empirisk.runtime.deadlines import check_deadline
from empirisk.solvers.descent import Descent, Way, check_callables, check_limits, gradient_at
from empirisk.solvers.steps import (
    DOUBTFUL,
    Backtracking,
    Decaying,
    Objective,
    Step,
    as_step,
    is_hidden,
    value_at,
)

SHOWN = DOUBTFUL / 2
"""By so much of the objective the first step should lower it."""

LONGEST = float(np.finfo(float).max)

NO_LOWER = "no step lowers the objective by more than its rounding error"
NOT_DOWNHILL = "no step against the gradient lowers the objective: is it the gradient?"


def gradient_descent(
    objective: Objective,
    gradient: Callable[[Floats], Any],
    start: ArrayLike,
    *,
    step: float | str | Decaying | Backtracking = "backtracking",
    max_iter: int = 1000,
    tol: float = 1e-6,
) -> Descent:
    """b <- b - s_t grad J(b), until no partial derivative exceeds `tol`.

    Parameters
    ----------
    objective : callable
        J, from an array of shape (p,) to a number.
    gradient : callable
        Its partial derivatives, an array of shape (p,).
    start : array-like of shape (p,)
    step : float, Decaying, "backtracking" or Backtracking
        The lengths s_t: constant, eta / (1 + t/t0)^a, or found anew for each step.
    max_iter : int
        The most steps.
    tol : float
        The largest absolute partial derivative at which it has arrived.

    Returns
    -------
    Descent
        A step that is too long for its objective to stay finite ends it at the point before,
        and `reason` says so.

    Examples
    --------
    >>> way = gradient_descent(lambda b: (b[0] - 3) ** 2, lambda b: 2 * (b - 3), [0.0], step=0.25)
    >>> print(way.minimiser.round(5), way.converged, way.reason)
    [3.] True no partial derivative is above 1e-06
    """
    lengths = as_step(step)
    check_callables(objective=objective, gradient=gradient)
    check_limits(max_iter, tol)
    way = Way(objective, start)
    last = lengths.initial if isinstance(lengths, Backtracking) else np.nan
    while True:
        check_deadline()
        slope = gradient_at(gradient, way.point)
        steepest = float(np.max(np.abs(slope)))
        ended = way.ended(steepest, tol, max_iter)
        if ended is not None:
            return ended
        if isinstance(lengths, Decaying):
            taken = _fixed(objective, way, slope, lengths.length(way.t))
            reason = f"step {way.t} led where the objective is not finite: take shorter steps"
            flat = False
        else:
            with np.errstate(over="ignore"):
                fall = float(slope @ slope)
            if way.t == 0 and fall > 0:
                last = max(last, min(SHOWN * abs(way.value) / fall, LONGEST))
            taken = lengths.search(objective, way.point, way.value, -slope, -fall, last)
            flat = taken is None and is_hidden(last * fall, objective, way.point, way.value)
            reason = NO_LOWER if flat else NOT_DOWNHILL
        if taken is None:
            return way.stop(reason, converged=flat, gradient_norm=steepest)
        last = 2 * taken.length
        way.go(taken.point, taken.value)


def _fixed(objective: Objective, way: Way, slope: Floats, length: float) -> Step | None:
    with np.errstate(over="ignore", invalid="ignore"):
        point = way.point - length * slope
    value = value_at(objective, point) if np.isfinite(point).all() else np.inf
    return Step(point, value, length) if np.isfinite(value) else None
