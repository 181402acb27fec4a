"""What a parameter may be: a whole number, any number, or one of True and False.

True and False are no numbers here, though Python counts with them: `max_iter=True` is a mistake.
"""

from math import inf, isfinite
from numbers import Integral, Real
from typing import Any, TypeGuard

import numpy as np

from empirisk.runtime.errors import ParameterError


def is_flag(value: Any) -> TypeGuard[bool]:
    """Whether it is True or False."""
    return isinstance(value, bool | np.bool_)


def is_whole(value: Any, least: float = -inf) -> TypeGuard[int]:
    """Whether it is an integer, of at least so much.

    Examples
    --------
    >>> is_whole(3), is_whole(0, 1), is_whole(3.0), is_whole(True)
    (True, False, False, False)
    """
    return isinstance(value, Integral) and not is_flag(value) and int(value) >= least


def is_number(value: Any) -> TypeGuard[float]:
    """Whether it is a finite number."""
    return isinstance(value, Real) and not is_flag(value) and isfinite(value)


def check_level(level: float) -> None:
    """Raise a ParameterError unless an interval can have this level."""
    if not (is_number(level) and 0 < level < 1):
        raise ParameterError(f"level is {level!r}; it must lie between 0 and 1, such as 0.95")


def whole(value: Any) -> int | None:
    """A whole number as an int; None if it is none."""
    return int(value) if is_whole(value) else None


def real(value: Any) -> float | None:
    """A number, also an infinite one or NaN, as a float; None if it is none."""
    return float(value) if isinstance(value, Real) and not is_flag(value) else None


def check_parameters(estimator: Any, **checks: tuple[bool, str]) -> None:
    """Raise a ParameterError for the first parameter that is not sound, saying what is wanted."""
    for name, (sound, wanted) in checks.items():
        if not sound:
            raise ParameterError(f"{name} is {getattr(estimator, name)!r}; give {wanted}")
