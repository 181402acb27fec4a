"""Newton's method with step control."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import LinAlgError, cho_factor, cho_solve, eigh

from empirisk.runtime.arrays import Floats
from empirisk.runtime.deadlines import check_deadline
from empirisk.runtime.errors import ParameterError
from empirisk.runtime.parallel import one_blas_thread
from empirisk.solvers.descent import Descent, Way, check_callables, check_limits, gradient_at
from empirisk.solvers.steps import (
    DOUBTFUL,
    ROUNDING,
    Backtracking,
    Objective,
    is_hidden,
    value_at,
)

LEAST_CURVATURE = 1e-10
"""Of the largest; directions with less, or with a negative one, are given this much."""

RULE = Backtracking(1.0)


def newton(
    objective: Objective,
    gradient: Callable[[Floats], Any],
    hessian: Callable[[Floats], Any],
    start: ArrayLike,
    *,
    max_iter: int = 100,
    tol: float = 1e-8,
) -> Descent:
    """b <- b - s H(b)^-1 grad J(b), with s = 1 or, where that does not lower J, less.

    Where the Hessian H is not positive definite its eigenvalues are replaced by their absolute
    values, held above 1e-10 of the largest: the step still goes downhill, away from saddle points.

    Parameters
    ----------
    objective, gradient, hessian : callables
        From an array of shape (p,) to a number, to (p,) and to (p, p).
    start : array-like of shape (p,)
    max_iter : int
        The most steps.
    tol : float
        The largest absolute partial derivative at which it has arrived. It also has if the next
        step could lower the objective by no more than its rounding error.

    Returns
    -------
    Descent

    Examples
    --------
    A quadratic takes one step.

    >>> H = np.array([[2.0, 1.0], [1.0, 3.0]])
    >>> way = newton(lambda b: b @ H @ b / 2 - b[0], lambda b: H @ b - [1, 0], lambda b: H, [0, 0])
    >>> print(way.minimiser, way.n_iter, way.converged)
    [ 0.6 -0.2] 1 True
    """
    check_callables(objective=objective, gradient=gradient, hessian=hessian)
    check_limits(max_iter, tol)
    way = Way(objective, start)
    while True:
        check_deadline()
        slope = gradient_at(gradient, way.point)
        steepest = float(np.max(np.abs(slope)))
        ended = way.ended(steepest, tol, max_iter)
        if ended is not None:
            return ended
        curvature = _hessian_at(hessian, way.point)
        if not np.isfinite(curvature).all():
            reason = f"the Hessian is not finite after {way.t} step(s)"
            return way.stop(reason, converged=False, gradient_norm=steepest)
        with one_blas_thread():
            direction = -solve_downhill(curvature, slope)
        fall = float(slope @ direction)
        if -fall <= ROUNDING * abs(way.value):
            return _arrive(objective, way, direction, steepest)
        taken = RULE.search(objective, way.point, way.value, direction, fall, 1.0)
        if taken is None and is_hidden(-fall, objective, way.point, way.value):
            return _arrive(objective, way, direction, steepest)
        if taken is None:
            reason = "no step lowers the objective: are gradient and Hessian the right ones?"
            return way.stop(reason, converged=False, gradient_norm=steepest)
        way.go(taken.point, taken.value)


def _arrive(objective: Objective, way: Way, direction: Floats, steepest: float) -> Descent:
    """The last step: too short to be seen in the objective, it doubles the digits of the point."""
    point = way.point + direction
    value = value_at(objective, point)
    if value <= way.value + DOUBTFUL * abs(way.value):
        way.go(point, value)
    reason = "no step lowers the objective by more than its rounding error"
    return way.stop(reason, converged=True, gradient_norm=steepest)


def solve_downhill(curvature: Floats, slope: Floats) -> Floats:
    """H^-1 g, of a Hessian that is made positive definite where it is not.

    Examples
    --------
    >>> solve_downhill(np.array([[-2.0, 0.0], [0.0, 4.0]]), np.array([2.0, 4.0]))
    array([1., 1.])
    """
    scale = np.sqrt(np.abs(np.diagonal(curvature)))
    scale = np.where(scale > 0, scale, 1.0)
    unit = curvature / scale / scale[:, np.newaxis]
    try:
        factor = cho_factor(unit, lower=True, check_finite=False)
        if np.diagonal(factor[0]).min() > np.sqrt(LEAST_CURVATURE):
            return cho_solve(factor, slope / scale, check_finite=False) / scale
    except LinAlgError:
        pass
    values, vectors = eigh(unit, check_finite=False)
    size, along = np.abs(values), vectors.T @ (slope / scale)
    flat = size <= LEAST_CURVATURE * size.max()
    # Where there is no curvature the rounding of the gradient would become a step.
    along[flat & (np.abs(along) <= DOUBTFUL * np.abs(along).max())] = 0.0
    size = np.where(flat, LEAST_CURVATURE * size.max() if size.any() else 1.0, size)
    return vectors @ (along / size) / scale


def _hessian_at(hessian: Callable[[Floats], Any], point: Floats) -> Floats:
    with np.errstate(over="ignore", invalid="ignore"):
        curvature = np.asarray(hessian(point), dtype=float)
    if curvature.shape != (point.size, point.size):
        raise ParameterError(
            f"the Hessian has shape {curvature.shape}; it must be {(point.size, point.size)}"
        )
    return curvature
