"""Minimising a smooth convex function by Newton's method, with the Hessian computed when it pays.

A step is d = -B g with the gradient g. Right after a Hessian H was computed, B = H^-1 and the step
is Newton's. At later points B is corrected by the changes of the gradient seen since (L-BFGS with
the initial matrix H^-1; Nocedal & Wright 2006, algorithm 7.4), until a new Hessian would be
cheaper than the steps still to come. The size of a step in the metric of the Hessian, the Newton
decrement delta = sqrt(g'Bg), measures how far the minimum is: F - min F is about delta^2 / 2.
"""

from collections import deque
from collections.abc import Callable, Iterable
from typing import Literal, NamedTuple, Protocol

import numpy as np

from empirisk.runtime.arrays import Floats
from empirisk.runtime.deadlines import check_deadline

MEMORY = 20
SUFFICIENT = 1e-4  # share of the predicted decrease that a step must bring
ROUNDING = 1e-13
"""Relative differences of function values that may be rounding."""
PATIENCE = 3
"""Steps without a much smaller decrement, once values no longer change, that end the search; if
there are no Hessians, for each pair that is kept."""
NEWTON_LEFT = 2.5  # steps that a fresh Hessian is expected to need

Ending = Literal["converged", "rounding", "floor", "max_iter"]


Pairs = deque[tuple[Floats, Floats]]
"""Steps, and what they changed in the gradient; the newest last."""


class Inverse(Protocol):
    """An approximate inverse of the Hessian."""

    def solve(self, gradient: Floats) -> Floats:
        """B g."""


class Diagonal(NamedTuple):
    """The inverse of a diagonal matrix."""

    diagonal: Floats

    def solve(self, gradient: Floats) -> Floats:
        return gradient / self.diagonal

    def fitted_to(self, seen: Pairs) -> "Diagonal":
        """Times the number that fits the newest change of the gradient (Nocedal & Wright 7.20)."""
        if not seen:
            return self
        moved, change = seen[-1]
        return Diagonal(self.diagonal * float(change @ self.solve(change) / (moved @ change)))


class Minimum(NamedTuple):
    """Where a search ended: the point, the value and decrement there, and why."""

    point: Floats
    value: float
    gradient: Floats
    decrement: float
    n_iter: int
    ending: Ending
    inverse: Inverse


def quasi_newton(
    function: Callable[[Floats], tuple[float, Floats]],
    start: Floats,
    inverse_at: Callable[[Floats], Inverse],
    *,
    inverse: Inverse | None = None,
    seen: Iterable[tuple[Floats, Floats]] = (),
    cost: float = 1.0,
    tol: float = 1e-10,
    floor: float = 0.0,
    max_iter: int = 100,
) -> Minimum:
    """The minimum of a smooth convex function, value >= 0.

    Parameters
    ----------
    function : callable
        x -> (value, gradient).
    start : array
    inverse_at : callable
        x -> the inverse of the Hessian at x.
    inverse : Inverse, optional
        To begin with; without it the Hessian at the start is computed.
    seen : pairs of steps and changes of the gradient
        That correct it, the newest last.
    cost : float
        What a Hessian costs, in evaluations of the function; infinite where there is none.
    tol : float
        Converged is where delta <= tol sqrt(value).
    floor : float
        A value at which there is no need to go on.
    max_iter : int
        Steps at most.

    Returns
    -------
    Minimum
        Its `ending` is "converged", "floor", "max_iter", or "rounding": no step of Newton's
        lowers the value by more than its rounding error.

    Examples
    --------
    >>> class Twice:
    ...     def solve(self, g):
    ...         return g / 2
    >>> square = lambda x: ((x - 3) @ (x - 3) + 1, 2 * (x - 3))
    >>> found = quasi_newton(square, np.zeros(2), lambda x: Twice())
    >>> found.point, found.n_iter, found.ending
    (array([3., 3.]), 1, 'converged')
    """
    x, (value, gradient) = start, function(start)
    fresh_at = x if inverse is None else None
    inverse = inverse_at(x) if inverse is None else inverse
    pairs: Pairs = deque(seen, maxlen=MEMORY)
    direction = -_two_loops(inverse, pairs, gradient)
    ending: Ending | None = None
    t, least, idle, fell = 0, np.inf, 0, True
    patience = PATIENCE if cost < np.inf else PATIENCE * MEMORY
    while True:
        check_deadline()
        squared = max(-float(gradient @ direction), 0.0)
        ending = _ending(value, squared, tol, floor, t >= max_iter) or ending
        if ending == "converged":
            x = x + direction  # one step more for nothing: its gradient is not needed
        if ending is not None:
            decrement = float(np.sqrt(squared))
            return Minimum(x, value, gradient, decrement, t, ending, inverse)
        if squared <= ROUNDING * value or not fell:  # values no longer tell, only the decrement
            idle = idle + 1 if squared > 0.25 * least else 0
            least = least if idle else squared
            if idle >= patience:
                ending = "rounding"
                continue
        found = _line_search(function, x, value, gradient, direction)
        if found is None:
            if not pairs and fresh_at is x:  # Newton's own step leads nowhere
                ending = "rounding"
                continue
            inverse, fresh_at = inverse_at(x), x
            pairs.clear()
            direction = -inverse.solve(gradient)
            continue
        new, new_value, new_gradient = found
        fell, value = new_value < value, new_value
        moved, change = new - x, new_gradient - gradient
        if moved @ change > 1e-14 * np.linalg.norm(moved) * np.linalg.norm(change):
            pairs.append((moved, change))
        x, gradient, t = new, new_gradient, t + 1
        direction = -_two_loops(inverse, pairs, gradient)
        left = max(-float(gradient @ direction), 0.0)
        if _worth_a_hessian(squared, left, tol**2 * value, cost):
            inverse, fresh_at = inverse_at(x), x
            pairs.clear()
            direction = -inverse.solve(gradient)


def _ending(value: float, squared: float, tol: float, floor: float, out: bool) -> Ending | None:
    if squared <= tol**2 * value:
        return "converged"
    if value <= floor:
        return "floor"
    return "max_iter" if out else None


def _worth_a_hessian(before: float, now: float, target: float, cost: float) -> bool:
    """Whether the steps still to come, at the rate of the last one, cost more than Newton's."""
    if now <= target or cost == np.inf:
        return False
    if now >= before:
        return True
    left = np.log(now / max(target, 1e-300)) / np.log(before / now)
    return bool(left > cost + NEWTON_LEFT)


def _two_loops(inverse: Inverse, seen: Pairs, gradient: Floats) -> Floats:
    """B g of L-BFGS, newest pair first and then back."""
    result, shares = gradient.copy(), []
    for moved, change in reversed(seen):
        share = (moved @ result) / (moved @ change)
        result -= share * change
        shares.append(share)
    result = inverse.solve(result)
    for (moved, change), share in zip(seen, reversed(shares), strict=True):
        result += (share - (change @ result) / (moved @ change)) * moved
    return result


def _line_search(
    function: Callable[[Floats], tuple[float, Floats]],
    x: Floats,
    value: float,
    gradient: Floats,
    direction: Floats,
) -> tuple[Floats, float, Floats] | None:
    """A point down the direction that is low enough; None if there is none.

    Where values differ by no more than their rounding, the slope decides: it must be smaller, and
    beyond the minimum half as large (the approximate condition of Hager & Zhang 2005).
    """
    slope = float(gradient @ direction)
    if not slope < 0:
        return None
    step = 1.0
    for _ in range(40):
        new = x + step * direction
        with np.errstate(over="ignore", invalid="ignore"):
            new_value, new_gradient = function(new)
            new_slope = float(new_gradient @ direction)
        if not (np.isfinite(new_value) and np.isfinite(new_slope)):
            step *= 0.1
        elif abs(new_value - value) <= ROUNDING * value:
            if 0.9 * slope <= new_slope <= -0.5 * slope:
                return new, new_value, new_gradient
            bend = new_slope - slope
            step *= float(np.clip(-slope / bend, 0.1, 10.0)) if bend > 0 else 10.0
        else:
            if new_value <= value + SUFFICIENT * step * slope:
                return new, new_value, new_gradient
            bend = new_value - value - step * slope
            step *= float(np.clip(-slope * step / (2 * bend), 0.1, 0.5)) if bend > 0 else 0.5
    return None
