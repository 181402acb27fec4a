"""Integers beyond 2^53, of which float64 would lose the last digits: trees compare them by places.

A place is the code of a value among the distinct ones, or lies on the way between two codes.
"""

from typing import Any

import numpy as np

from empirisk.compiled.ranking import EXACT
from empirisk.runtime.arrays import Array, Floats, Ints


def beyond_float64(numbers: Array) -> bool:
    """Whether these are integers of which float64 would lose the last digits."""
    if numbers.dtype.kind not in "iu" or numbers.dtype.itemsize < 8 or not numbers.size:
        return False
    return int(numbers.max()) >= EXACT or int(numbers.min()) <= -EXACT


def places_of_integers(numbers: Array, values: Ints) -> Floats:
    """The code of the last value up to each number, and how far it is on the way to the next.

    A number that is no integer stands where the next integer does. Differences are taken as
    unsigned integers, which hold them exactly.
    """
    numbers = _within(numbers, values.dtype)
    at = np.searchsorted(values, numbers, side="right") - 1
    low, high = values[np.maximum(at, 0)], values[np.minimum(at + 1, len(values) - 1)]
    unsigned = np.uint64
    passed = numbers.astype(unsigned) - low.astype(unsigned)
    way = np.maximum(high.astype(unsigned) - low.astype(unsigned), 1)
    part = np.where(high > low, passed / way, 0.5 * (passed > 0))
    return np.where(at < 0, -1.0, at + part)


def cuts_of_integers(values: Ints, low: Array, high: Array) -> Floats:
    """The places half way between the values of these codes; infinite where there is no higher."""
    above = values[np.minimum(high, len(values) - 1)]
    half = (above.astype(np.uint64) - values[low].astype(np.uint64)) // np.uint64(2)
    middle = values[low] + half.astype(values.dtype)
    return np.where(high < len(values), places_of_integers(middle, values), np.inf)


def _within(numbers: Array, dtype: Any) -> Ints:
    """Numbers as integers of another type, at its ends where they are beyond.

    They are rounded up: x <= c, for an integer c, is true of the same numbers then.
    """
    ends = np.iinfo(dtype)
    if numbers.dtype.kind == "f":
        numbers = np.ceil(numbers)
        inside = (numbers >= float(ends.min)) & (numbers < float(ends.max))
    else:
        inside = (numbers >= ends.min) & (numbers <= ends.max)
    whole = np.where(inside, numbers, 0).astype(dtype)
    whole[~inside & (numbers < 0)] = ends.min
    whole[~inside & (numbers > 0)] = ends.max
    return whole
