"""The number of rounds and the rate: checked, and the default grid along the rounds."""

from typing import Any

import numpy as np

from empirisk.runtime.errors import ParameterError
from empirisk.runtime.scalars import real, whole

MOST_VALUES = 100


def checked_rounds(value: Any, name: str = "n_estimators") -> int:
    """A whole number from 1."""
    rounds = whole(value)
    if rounds is None or rounds < 1:
        raise ParameterError(f"{name} is {value!r}; it must be a whole number from 1")
    return rounds


def checked_rate(value: Any) -> float:
    """A finite number above 0."""
    rate = real(value)
    if rate is None or not 0 < rate < np.inf:
        raise ParameterError(f"learning_rate is {value!r}; it must be a number above 0")
    return rate


def rounds_grid(rounds: int) -> list[int]:
    """1, 2, ... rounds; of more than 100 so many, evenly on a log scale where they are apart.

    Examples
    --------
    >>> rounds_grid(4), len(rounds_grid(1000)), rounds_grid(1000)[-3:]
    ([1, 2, 3, 4], 100, [907, 953, 1000])
    """
    if rounds <= MOST_VALUES:
        return list(range(1, rounds + 1))
    low, high = MOST_VALUES, 4 * MOST_VALUES
    while low < high:  # the finest log scale that has so many whole numbers
        middle = (low + high + 1) // 2
        low, high = (middle, high) if len(_log_scale(rounds, middle)) <= MOST_VALUES else (
            low, middle - 1
        )  # fmt: skip
    return _log_scale(rounds, low)


def _log_scale(rounds: int, n: int) -> list[int]:
    return np.unique(np.geomspace(1, rounds, n).round().astype(int)).tolist()
