"""Newton's method for a smooth function of a few parameters, of which only values are known."""

from collections.abc import Callable

import numpy as np
from scipy.linalg import eigh

from empirisk.runtime.arrays import Floats

Cost = Callable[[Floats], float]

STEP = 2e-3  # of differences in parameters of size 1; five points leave out about 1e-12
MOST_STEPS = 60
SLOW = 0.01  # of the promise before: with the right curvature it falls faster than this
ENOUGH = 1e-13  # what a step must promise to be taken; the cost is known to about 1e-15


def newton(
    cost: Cost, start: Floats, curvature: Floats | None = None
) -> tuple[Floats, float, Floats | None]:
    """A point near `start` with the least cost, what one more step promises, and the curvature.

    The curvature, which may be given, is found again only where a step gains less than it should.
    Where it is not positive it is taken as such, and steps that do not lower the cost are halved.
    Where the cost is infinite next to the point, the promise is infinite too.
    """
    theta, least = np.array(start, dtype=float), cost(start)
    promise, before, old = np.inf, np.inf, curvature is not None
    gradient = gradient_of(cost, theta)
    for _ in range(MOST_STEPS):
        if not np.isfinite(gradient).all():
            return theta, np.inf, curvature
        if curvature is None:
            curvature, old = hessian_of(cost, theta, least), False
        step = _direction(gradient, curvature)
        promise = float(gradient @ step) / 2
        if promise <= ENOUGH:
            better = cost(theta - step) <= least + ENOUGH
            return theta - step if better else theta, promise, curvature
        if old and promise > SLOW * before:
            curvature = None
            continue
        theta, lower = _downwards(cost, theta, step, least)
        if not lower < least:
            if not old:
                return theta, promise, curvature
            curvature = None
            continue
        least, before, old = lower, promise, True
        gradient = gradient_of(cost, theta)
    return theta, promise, curvature


def gradient_of(cost: Cost, theta: Floats) -> Floats:
    """By differences of five points."""
    found = np.empty(len(theta))
    for j in range(len(theta)):
        e = STEP * np.eye(len(theta))[j]
        near = cost(theta + e) - cost(theta - e)
        far = cost(theta + 2 * e) - cost(theta - 2 * e)
        found[j] = (8 * near - far) / (12 * STEP)
    return found


def hessian_of(cost: Cost, theta: Floats, centre: float) -> Floats:
    """By differences of second order."""
    p = len(theta)
    E = STEP * np.eye(p)
    found = np.empty((p, p))
    for j in range(p):
        up, down = cost(theta + E[j]), cost(theta - E[j])
        found[j, j] = (up - 2 * centre + down) / STEP**2
        for k in range(j):
            cross = cost(theta + E[j] + E[k]) - cost(theta + E[j] - E[k])
            cross += cost(theta - E[j] - E[k]) - cost(theta - E[j] + E[k])
            found[j, k] = found[k, j] = cross / (4 * STEP**2)
    return found


def is_valley(hessian: Floats | None) -> bool:
    """Whether the curvature is nowhere negative, but for its rounding errors."""
    if hessian is None or not np.isfinite(hessian).all():
        return False
    values = np.linalg.eigvalsh(hessian)
    return bool(values[0] > -1e-4 * max(values[-1], 0.0) - 1e-8)


def _direction(gradient: Floats, hessian: Floats) -> Floats:
    """The step of Newton's method, with the curvature along each axis made positive."""
    if not np.isfinite(hessian).all():
        return gradient
    curvature, axes = eigh(hessian)
    curvature = np.maximum(np.abs(curvature), 1e-8 * max(np.abs(curvature).max(), 1e-8))
    return axes @ ((axes.T @ gradient) / curvature)


def _downwards(cost: Cost, theta: Floats, step: Floats, least: float) -> tuple[Floats, float]:
    """The first of steps, each half as long as the one before, that lowers the cost."""
    step = step / max(1.0, float(np.abs(step).max()))  # no parameter moves by more than 1
    for _ in range(40):
        lower = cost(theta - step)
        if lower < least:
            return theta - step, lower
        step = step / 2
    return theta, least
