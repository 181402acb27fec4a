"""How far to go: step lengths of gradient descent."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from empirisk.runtime.arrays import Floats
from empirisk.runtime.errors import ParameterError
from empirisk.runtime.scalars import is_number

Objective = Callable[[Floats], float]
"""From a point, an array of shape (p,), to the number that is to be small."""


EPS = float(np.finfo(float).eps)
ROUNDING = 8 * EPS
"""Relative changes of an objective below this are rounding errors."""

DOUBTFUL = 1000 * ROUNDING
"""Relative changes below this may be hidden by the rounding of an objective of many terms."""

NEARBY = (-3, -2, -1, 1, 2, 3)
"""By so many roundings of its numbers a point is moved to see how exact an objective is."""

MORE_THAN_SEEN = 10.0
"""So much larger than at these few points the rounding of an objective may be at others."""


@dataclass(frozen=True)
class Decaying:
    """Step t = 0, 1, ... has the length eta / (1 + t / t0)^a.

    With 1/2 < a <= 1 the lengths sum to infinity and their squares do not: stochastic gradient
    descent then gets anywhere and comes to rest (Robbins & Monro 1951). a = 0 is a constant step.

    Parameters
    ----------
    eta : float
        The first length, above 0.
    t0 : float
        After how many steps the length begins to fall, above 0.
    a : float
        How fast it falls, 0 or more.

    Examples
    --------
    >>> Decaying(eta=0.5, t0=10.0, a=1.0).length(10)
    0.25
    """

    eta: float = 0.1
    t0: float = 100.0
    a: float = 0.75

    def __post_init__(self) -> None:
        for name, least in (("eta", "above 0"), ("t0", "above 0"), ("a", "0 or more")):
            value = getattr(self, name)
            fine = is_number(value) and (value > 0 or (value == 0 and name == "a"))
            if not fine:
                raise ParameterError(f"{name} is {value!r}; it must be a number {least}")

    def length(self, t: int) -> float:
        """The length of step t."""
        return float(self.eta / (1 + t / self.t0) ** self.a)


@dataclass(frozen=True)
class Backtracking:
    """Begin with a long step and shorten it until it lowers the objective as it should.

    A step of length s along d, from a point with gradient g, is long enough to be taken if it
    lowers the objective by at least `decrease` times -s g'd (Armijo 1966).

    Parameters
    ----------
    initial : float
        The first length tried, or a longer one where the objective could not show so short a step;
        gradient descent then begins with twice the last one taken.
    shrink : float between 0 and 1
        By what a step that is too long is multiplied.
    decrease : float between 0 and 1

    Examples
    --------
    >>> square = lambda b: float(b @ b)
    >>> start = np.array([1.0])
    >>> Backtracking(initial=4.0).search(square, start, 1.0, -2 * start, -4.0, 4.0).length
    0.5
    """

    initial: float = 1.0
    shrink: float = 0.5
    decrease: float = 1e-4

    def __post_init__(self) -> None:
        if not (is_number(self.initial) and self.initial > 0):
            raise ParameterError(f"initial is {self.initial!r}; it must be a number above 0")
        for name in ("shrink", "decrease"):
            value = getattr(self, name)
            if not (is_number(value) and 0 < value < 1):
                raise ParameterError(f"{name} is {value!r}; it must lie between 0 and 1")

    def search(
        self,
        objective: Objective,
        point: Floats,
        value: float,
        direction: Floats,
        slope: float,
        length: float,
    ) -> "Step | None":
        """The first of the lengths length * shrink^k that is good.

        `slope` is g'd, below 0. A step into values that are not finite is too long. None if even
        steps that should lower the objective by no more than its rounding error are too long.
        """
        while True:
            moved = point + length * direction
            if -length * slope <= ROUNDING * abs(value) or np.array_equal(moved, point):
                return None
            there = value_at(objective, moved)
            if there <= value + self.decrease * length * slope:
                return Step(moved, there, length)
            length *= self.shrink


@dataclass(frozen=True, eq=False)
class Step:
    """A step that was taken: where to, the objective there, and its length."""

    point: Floats
    value: float
    length: float


def as_step(step: Any) -> Decaying | Backtracking:
    """The step lengths that a number, a name or an object stands for."""
    if isinstance(step, Decaying | Backtracking):
        return step
    if isinstance(step, str) and step == "backtracking":
        return Backtracking()
    if is_number(step) and step > 0:
        return Decaying(float(step), a=0.0)
    raise ParameterError(
        f'step is {step!r}; give a number above 0, Decaying(eta, t0, a), "backtracking" '
        "or Backtracking(...)"
    )


def value_at(objective: Objective, point: Floats) -> float:
    """The objective as a float; infinite where it is not a number."""
    with np.errstate(over="ignore", invalid="ignore"):
        value = as_number(objective(point), "the objective")
    return np.inf if np.isnan(value) else value


def is_hidden(fall: float, objective: Objective, point: Floats, value: float) -> bool:
    """Whether the objective may fall by so much, and its rounding at this point not show it.

    Squares of differences of large numbers are less exact than `DOUBTFUL` says: how exact is seen
    at points that differ from this one by the rounding of their numbers.

    Examples
    --------
    >>> data = np.array([1e8, 1e8 + 1])
    >>> J = lambda b: float(((b[0] - data) ** 2).mean())
    >>> is_hidden(1e-9, J, np.array([1e8]), 0.5), is_hidden(1e-9, lambda b: 0.5, np.ones(1), 0.5)
    (True, False)
    """
    if fall <= DOUBTFUL * abs(value):
        return True
    nearby = np.array([value_at(objective, point * (1 + k * EPS)) for k in NEARBY])
    seen = np.abs(nearby - value)[np.isfinite(nearby)].max(initial=0.0)
    return bool(fall <= MORE_THAN_SEEN * seen)


def as_number(value: Any, name: str) -> float:
    """What a function of the user returned; an array of one number will do."""
    if not isinstance(value, float):
        array = np.asarray(value)
        if array.size != 1 or array.dtype.kind not in "biuf":
            raise ParameterError(
                f"{name} returned {type(value).__name__}, of shape {array.shape} and type "
                f"{array.dtype}; it must return one real number"
            )
        value = array.item()
    return float(value)
