"""What a parameter may be: a whole number, any number, or one of True and False.

True and False are no numbers here, though Python counts with them: `max_iter=True` is a mistake.
"""

from contextlib import suppress
from math import inf, isfinite
from numbers import Integral, Real
from typing import Any, TypeGuard

import numpy as np

from empirisk.runtime.arrays import Floats
from empirisk.runtime.errors import ParameterError


def is_flag(value: Any) -> TypeGuard[bool]:
    """Whether it is True or False."""
    return isinstance(value, bool | np.bool_)


MOST = 2**63 - 1
"""The largest whole number of 64 bits; compiled code and NumPy count no further."""


def is_whole(value: Any, least: float = -inf) -> TypeGuard[int]:
    """Whether it is an integer of 64 bits, of at least so much.

    Examples
    --------
    >>> is_whole(3), is_whole(0, 1), is_whole(3.0), is_whole(True)
    (True, False, False, False)
    """
    return isinstance(value, Integral) and not is_flag(value) and least <= int(value) <= MOST


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


def check_whole(value: Any, name: str, least: int) -> None:
    """Raise a ParameterError unless it is a whole number of at least so much.

    Examples
    --------
    >>> check_whole("three", "n", 1)
    Traceback (most recent call last):
    ...
    empirisk.runtime.errors.ParameterError: n is 'three'; give a whole number from 1 to 2**63 - 1
    """
    if not is_whole(value, least):
        raise ParameterError(
            f"{name} is {value!r:.60}; give a whole number from {least} to 2**63 - 1"
        )


def real_numbers(values: Any, name: str) -> Floats:
    """A parameter that is a number, a vector or a matrix, as a new float64 array.

    Examples
    --------
    >>> real_numbers([1, 2], "mean")
    array([1., 2.])
    >>> real_numbers("high", "mean")
    Traceback (most recent call last):
    ...
    empirisk.runtime.errors.ParameterError: mean is 'high'; give a number or an array of numbers
    """
    with suppress(ValueError, TypeError, OverflowError):
        given = np.asarray(values)
        if given.dtype.kind in "biufO":  # not text, which NumPy reads as numbers, nor dates
            return np.array(given, dtype=float)
    raise ParameterError(f"{name} is {values!r:.60}; give a number or an array of numbers")


def check_parameters(estimator: Any, **checks: tuple[bool, str]) -> None:
    """Raise a ParameterError for the first parameter that is not sound, saying what is wanted."""
    for name, (sound, wanted) in checks.items():
        if not sound:
            value = getattr(estimator, name)
            most = ", at most 2**63 - 1" if isinstance(value, int) and value > MOST else ""
            raise ParameterError(f"{name} is {value!r}; give {wanted}{most}")
