"""Newton's method for a smooth function of a few parameters, of which only values are known."""

from collections.abc import Callable

import numpy as np
from scipy.linalg import eigh

from empirisk.runtime.arrays import Floats

Cost = Callable[[Floats], float]

STEP = 2e-3  # of differences in parameters of size 1; five points leave out about 1e-12
MOST_STEPS = 60
ENOUGH = 1e-13  # what a step must promise to be taken; the cost is known to about 1e-15


def newton(cost: Cost, start: Floats) -> tuple[Floats, float]:
    """A point near `start` with the least cost, and what one more step promises.

    Where the curvature is not positive it is taken as such, and steps that do not lower the cost
    are halved. Where the cost is infinite next to the point, the promise is infinite too.
    """
    theta, least = np.array(start, dtype=float), cost(start)
    promise = np.inf
    for _ in range(MOST_STEPS):
        gradient = gradient_of(cost, theta)
        if not np.isfinite(gradient).all():
            return theta, np.inf
        step = _direction(gradient, hessian_of(cost, theta, least))
        promise = float(gradient @ step) / 2
        if promise <= ENOUGH:
            return theta - step if cost(theta - step) <= least + ENOUGH else theta, promise
        theta, lower = _downwards(cost, theta, step, least)
        if not lower < least:
            return theta, promise
        least = lower
    return theta, promise


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
