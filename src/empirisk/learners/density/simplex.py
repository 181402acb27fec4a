"""The simplex of Nelder and Mead, for functions with kinks and infinities."""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import minimize

from empirisk.runtime.arrays import Floats

SIZES = (0.3, 0.1, 0.03, 0.01)  # where parameters are of size 1


def along_kinks(cost: Callable[[Floats], float], theta: Floats) -> tuple[Floats, float]:
    """From where Newton's method has ended at a kink, or next to an infinity, by simplexes of
    several sizes; and what the last of them has gained."""
    gain = np.inf
    for size in SIZES:
        end = downhill(cost, theta, size, xatol=1e-9, fatol=1e-13)
        gain = cost(theta) - cost(end)
        theta = end if gain > 0 else theta
    return theta, gain


def downhill(
    cost: Callable[[Floats], float],
    start: Floats,
    size: float | None = None,
    *,
    xatol: float = 1e-3,
    fatol: float = 1e-7,
) -> Floats:
    """Where the simplex of Nelder and Mead ends, which walks around infinities."""
    if not np.isfinite(cost(start)):
        return start
    options: dict[str, Any] = {"maxiter": 200 * len(start), "xatol": xatol, "fatol": fatol}
    if size is not None:
        options["initial_simplex"] = start + size * np.eye(len(start) + 1, len(start), -1)
    with np.errstate(all="ignore"):
        return np.asarray(minimize(cost, start, method="Nelder-Mead", options=options).x)
