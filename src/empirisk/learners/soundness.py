"""Whether the parts of a learner that was read from a file are those that a fit leaves."""

from typing import Any

import numpy as np

from empirisk.runtime.errors import DataError


def require(sound: Any, learner: Any, what: str) -> None:
    """Raise a DataError that names the part, unless it is sound."""
    if not sound:
        raise DataError(
            f"{what} of this {type(learner).__name__} is not what a fit leaves: the file is "
            "damaged or was changed; save the model again"
        )


def has_state(thing: Any) -> bool:
    """Whether it has become more than its parameters, as by a fit."""
    return bool(vars(thing).keys() - thing.get_params(deep=False).keys())


def is_floats(value: Any, shape: tuple[int | None, ...]) -> bool:
    """Whether it is a float64 array of this shape, None being any length.

    Examples
    --------
    >>> is_floats(np.zeros((2, 3)), (2, None)), is_floats(np.zeros(2), (3,)), is_floats(1.0, ())
    (True, False, False)
    """
    if not isinstance(value, np.ndarray) or value.dtype != np.float64:
        return False
    return len(shape) == value.ndim and all(
        wanted in (None, length) for wanted, length in zip(shape, value.shape, strict=True)
    )


def check_numbers(name: str, array: Any, shape: tuple[Any, ...]) -> None:
    """Raise a DataError unless it is an array of finite numbers; None in `shape` is any length."""
    sound = is_floats(array, (None,) * len(shape)) and len(array)
    if not sound or not np.isfinite(array).all():
        raise DataError(f"{name} is not an array of finite numbers")
    if not is_floats(array, shape):
        raise DataError(f"{name} has shape {array.shape}; wanted {shape}")
