"""L-BFGS, SciPy's: minimising a smooth function of very many variables without its Hessian."""

from collections import deque
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize

from empirisk.runtime.arrays import Floats
from empirisk.runtime.deadlines import check_deadline
from empirisk.solvers.quasi_newton import MEMORY, ROUNDING, Diagonal, Pairs


class Arrival(NamedTuple):
    """Where the search ended, and what `quasi_newton` needs to go on from there."""

    point: Floats
    n_iter: int
    n_calls: int
    inverse: Diagonal
    seen: Pairs


def limited_memory(
    function: Callable[[Floats], tuple[float, Floats]],
    start: Floats,
    diagonal: Floats,
    *,
    tol: float = 1e-10,
    floor: float = 0.0,
    max_iter: int = 100,
    max_calls: float = np.inf,
) -> Arrival:
    """Descend by SciPy's L-BFGS-B in the variables diagonal^(1/2) x.

    It ends where g' diagonal^-1 g <= tol^2 value, where values no longer fall or reach the floor,
    or after so many iterations or calls of the function. Values alone do not show a minimum to
    more than half of the digits: `quasi_newton` takes the last ones.

    Examples
    --------
    >>> square = lambda x: ((x - 3) @ (x - 3) + 1, 2 * (x - 3))
    >>> limited_memory(square, np.zeros(2), np.array([2.0, 2.0])).point
    array([3., 3.])
    """
    way = _Way(function, diagonal, tol, floor)
    options = {
        "maxcor": MEMORY,
        "maxiter": max_iter,
        "maxfun": int(min(max_calls, 1e9)),
        "ftol": 0.0,
        "gtol": 0.0,
    }
    found = minimize(
        way.at,
        start * way.root,
        jac=True,
        method="L-BFGS-B",
        callback=way.stepped,
        options=options,
    )
    inverse = Diagonal(diagonal).fitted_to(way.seen)
    return Arrival(found.x / way.root, int(found.nit), int(found.nfev), inverse, way.seen)


class _Way:
    """The function in scaled variables, and the steps that were taken on it."""

    def __init__(
        self,
        function: Callable[[Floats], tuple[float, Floats]],
        diagonal: Floats,
        tol: float,
        floor: float,
    ) -> None:
        self.function, self.diagonal, self.tol, self.floor = function, diagonal, tol, floor
        self.root = np.sqrt(diagonal)
        self.seen: Pairs = deque(maxlen=MEMORY)
        self.here: tuple[Floats, float, Floats] | None = None  # x, value, gradient of the last call
        self.before: tuple[Floats, float, Floats] | None = None  # of the last step

    def at(self, scaled: Floats) -> tuple[float, Floats]:
        check_deadline()
        x = scaled / self.root
        with np.errstate(over="ignore", invalid="ignore"):
            value, gradient = self.function(x)
        self.here = (x, value, gradient)
        self.before = self.before or self.here
        return value, gradient / self.root

    def stepped(self, _scaled: Floats) -> None:
        """After each step, which ends at the point of the last call."""
        assert self.here is not None
        assert self.before is not None
        x, value, gradient = self.here
        moved, change = x - self.before[0], gradient - self.before[2]
        if moved @ change > 0:
            self.seen.append((moved, change))
        level = self.before[1] - value <= ROUNDING * value
        self.before = self.here
        near = float(gradient @ (gradient / self.diagonal)) <= self.tol**2 * value
        if near or level or value <= self.floor:
            raise StopIteration
