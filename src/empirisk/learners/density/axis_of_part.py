"""The complexity axis of a learner that is made of another one: that of its part."""

from functools import cache
from typing import Any

from empirisk.risk.axis import Axis, PathMixin


class AxisOfPart:
    """An attribute `axis` that is the axis of the learner given as a parameter, named through it.

    Of the class itself, and where the parameter is no learner of this library, there is none.

    Parameters
    ----------
    parameter : str
    """

    def __init__(self, parameter: str) -> None:
        self.parameter = parameter

    def __get__(self, learner: Any, owner: type) -> Axis | None:
        part = None if learner is None else getattr(learner, self.parameter, None)
        axis = part.axis if isinstance(part, PathMixin) else None
        return None if axis is None else _named_through(axis, self.parameter)


@cache
def _named_through(axis: Axis, parameter: str) -> Axis:
    """One object for each axis, by which the engine knows it again."""
    return Axis(tuple(f"{parameter}__{name}" for name in axis.params), axis.larger, axis.scale)
