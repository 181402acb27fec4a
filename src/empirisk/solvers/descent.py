"""What every solver returns: where it arrived, by which way, and why it stopped."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from empirisk.runtime.arrays import Floats, Ints
from empirisk.runtime.errors import ParameterError
from empirisk.runtime.scalars import is_number, real_numbers
from empirisk.solvers.steps import Objective, value_at

MOST_POINTS = 256
MOST_NUMBERS = 2**22  # 32 MB, however long a point is


@dataclass(frozen=True, eq=False)
class Descent:
    """The result of a descent.

    Attributes
    ----------
    minimiser : array of shape (p,)
        The point arrived at.
    objective : float
        Its objective; NaN where none was given (`stochastic_gradient`).
    gradient_norm : float
        The largest absolute partial derivative there; NaN where the solver has no gradient.
    points : array of shape (k, p)
        The trajectory: the start, points between at equal numbers of steps, and the end. At most
        256 are kept: when there are more, every second one is dropped.
    objectives : array of shape (k,)
        The objective at these points.
    steps : array of shape (k,)
        After how many steps each of them was reached.
    n_iter : int
        Steps taken (epochs, of `stochastic_gradient`; sweeps, of `coordinate_descent`).
    converged : bool
        Whether it stopped because it had arrived.
    reason : str
        Why it stopped, in words.
    starts : array of shape (n_starts,)
        Of `random_starts`: the objective that each start led to. Else empty.

    Examples
    --------
    >>> from empirisk.solvers import gradient_descent
    >>> way = gradient_descent(lambda b: b[0] ** 2, lambda b: 2 * b, [1.0], step=0.25, max_iter=2)
    >>> print(way)
    objective 0.0625 after 2 step(s): max_iter = 2 step(s) were taken
    >>> print(way.points.ravel(), way.objectives)
    [1.   0.5  0.25] [1.     0.25   0.0625]
    """

    minimiser: Floats
    objective: float
    gradient_norm: float
    points: Floats
    objectives: Floats
    steps: Ints
    n_iter: int
    converged: bool
    reason: str
    starts: Floats = field(default_factory=lambda: np.zeros(0))

    def __str__(self) -> str:
        return f"objective {self.objective:.6g} after {self.n_iter} step(s): {self.reason}"

    def plot(self, ax: Any = None) -> Any:
        """The objective along the way, above the lowest seen; returns the axes."""
        from empirisk.charts.descent import draw_descent

        return draw_descent(self.steps, self.objectives, self.reason, ax=ax)


class Way:
    """The trajectory while it is walked, in bounded memory."""

    def __init__(self, objective: Objective | None, start: ArrayLike) -> None:
        self.objective = objective
        point = as_point(start)
        value = np.nan if objective is None else value_at(objective, point)
        if np.isinf(value):
            raise ParameterError(
                "the objective is not finite at the start; start where it is a finite number"
            )
        self.room = max(4, min(MOST_POINTS, MOST_NUMBERS // max(point.size, 1)))
        self.stride, self.kept = 1, [(0, point, value)]
        self.t, self.point, self.value = 0, point, value

    def go(self, point: Floats, value: float) -> None:
        """Take a step to a point with a finite objective."""
        self.t, self.point, self.value = self.t + 1, point, value
        if self.t % self.stride == 0:
            self.kept.append((self.t, point, value))
        if len(self.kept) > self.room:
            self.stride *= 2
            self.kept = [kept for kept in self.kept if kept[0] % self.stride == 0]

    def stop(self, reason: str, *, converged: bool, gradient_norm: float = np.nan) -> Descent:
        """The result, at the last point."""
        if self.kept[-1][0] != self.t:
            self.kept.append((self.t, self.point, self.value))
        steps, points, values = zip(*self.kept, strict=True)
        return Descent(
            minimiser=self.point.copy(),
            objective=float(self.value),
            gradient_norm=float(gradient_norm),
            points=np.array(points),
            objectives=np.array(values),
            steps=np.array(steps, dtype=np.int64),
            n_iter=self.t,
            converged=converged,
            reason=reason,
        )

    def ended(self, steepest: float, tol: float, max_iter: int) -> Descent | None:
        """The result where the gradient is small or not finite, or the steps are used up."""
        if self.value == -np.inf:
            reason = f"the objective is minus infinity after {self.t} step(s): it has no minimum"
            return self.stop(reason, converged=False, gradient_norm=steepest)
        if not np.isfinite(steepest):
            reason = f"the gradient is not finite after {self.t} step(s)"
        elif steepest <= tol:
            reason = f"no partial derivative is above {tol:g}"
        elif self.t >= max_iter:
            reason = f"max_iter = {max_iter} step(s) were taken"
        else:
            return None
        return self.stop(reason, converged=steepest <= tol, gradient_norm=steepest)


def as_point(start: ArrayLike) -> Floats:
    """The start as a copy of shape (p,), of finite numbers."""
    point = real_numbers(start, "start")
    if point.ndim != 1 or not point.size or not np.isfinite(point).all():
        raise ParameterError(
            f"the start has shape {point.shape}"
            + ("; it" if np.isfinite(point).all() else " and numbers that are not finite; it")
            + " must be a vector of finite numbers"
        )
    return point


def gradient_at(gradient: Callable[..., Any], point: Floats, *rows: Any) -> Floats:
    """The gradient as an array of the shape of the point; it may hold numbers not finite."""
    with np.errstate(over="ignore", invalid="ignore"):
        slope = np.asarray(gradient(point, *rows), dtype=float)
    if slope.shape != point.shape:
        raise ParameterError(
            f"the gradient has shape {slope.shape}; it must be that of the point, {point.shape}"
        )
    return slope


def check_callables(**functions: Any) -> None:
    """Everything given by name is a function."""
    for name, function in functions.items():
        if not callable(function):
            raise ParameterError(
                f"{name} is {function!r}; it must be a function of the point, an array of shape "
                "(p,)"
            )


def check_limits(max_iter: Any, tol: Any, name: str = "max_iter") -> None:
    """At least 0 steps, and a tolerance of 0 or more."""
    if not (is_number(max_iter) and int(max_iter) == max_iter and max_iter >= 0):
        raise ParameterError(f"{name} is {max_iter!r}; it must be an integer, 0 or more")
    if not (is_number(tol) and tol >= 0):
        raise ParameterError(f"tol is {tol!r}; it must be a number, 0 or more")
