"""Names for the kinds of array that signatures speak of, and places as slices."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Int32s = NDArray[np.int32]
Bools = NDArray[np.bool_]


def takes_rows(data: Any) -> bool:
    """Whether rows can be taken by an array of their numbers: of arrays, frames and series.

    Not of what lies below a series of pandas 3, or of its index: they take other keys.

    Examples
    --------
    >>> takes_rows(np.zeros(3)), takes_rows([1, 2, 3])
    (True, False)
    """
    below_a_series = hasattr(data, "isna") and not hasattr(data, "iloc")
    return hasattr(data, "shape") and not below_a_series


def slice_if_in_a_row(places: Ints) -> Ints | slice:
    """Places that follow one another as a slice, by which nothing is copied.

    Examples
    --------
    >>> slice_if_in_a_row(np.array([3, 4, 5])), slice_if_in_a_row(np.array([3, 5]))
    (slice(3, 6, None), array([3, 5]))
    """
    if not len(places):
        return places
    first = int(places[0])
    in_a_row = int(places[-1]) - first == len(places) - 1 and bool((np.diff(places) == 1).all())
    return slice(first, first + len(places)) if in_a_row else places


def make_writable(thing: Any) -> None:
    """Copy those arrays of an object that cannot be written to, as memory maps of other processes.

    To compiled code they are of another type.
    """
    for name, value in vars(thing).items():
        if isinstance(value, np.ndarray) and not value.flags.writeable:
            object.__setattr__(thing, name, value.copy())


class WritableArrays:
    """A dataclass whose arrays can be written to, also those of a file or another process."""

    def __post_init__(self) -> None:
        make_writable(self)

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        make_writable(self)
