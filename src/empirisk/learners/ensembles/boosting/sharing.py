"""Features that share a column of codes, because no row has more than one of them off its default.

So are indicators of the levels of one category: forty columns of zeros and ones become one, and a
histogram of it holds those of all forty (exclusive feature bundling, Ke et al. 2017; here without
conflicts, so nothing is lost). The code 0 stands for the default of all features of the column.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from empirisk.compiled.boosting.layout import CODES
from empirisk.runtime.arrays import Array

LOOKED_AT = 4096  # rows by which it is seen whether sharing may be worth it
MOSTLY = 0.5  # the share of rows that the default of such a feature has at least
MOST_SHARED = 16  # columns to which a feature may be added


@dataclass
class Shared:
    """A column of codes, the rows that are off the default of some feature, and its size."""

    codes: Array
    taken: Array
    n_codes: int
    features: int = 1


@dataclass(frozen=True)
class Place:
    """Where a feature is: its column, the code of its first bin there, its default or -1."""

    column: int
    first: int
    default: int


def share_columns(codes: Sequence[Array], n_codes: Sequence[int]) -> tuple[Array, list[Place]]:
    """Columns of codes, fewer where features can share them, and the place of each feature.

    Parameters
    ----------
    codes : sequence of uint8 arrays of shape (n,)
        Of each feature alone.
    n_codes : sequence of int
        Of each feature, with the one for missing values.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> level = rng.integers(4, size=1000)
    >>> codes = [(level == k).astype(np.uint8) for k in range(4)]
    >>> columns, places = share_columns(codes, [2] * 4)
    >>> columns.shape, [place.first for place in places]
    ((1, 1000), [1, 2, 3, 4])
    """
    defaults = [_default(column, n) for column, n in zip(codes, n_codes, strict=True)]
    shared: list[Shared] = []
    members: dict[int, tuple[int, int]] = {}
    for j, default in enumerate(defaults):
        if default is not None and n_codes[j] > 1:
            at = _add(shared, codes[j], default, n_codes[j])
            if at is not None:
                members[j] = at
    columns: list[Array] = []
    places: list[Place] = []
    at_column: dict[int, int] = {}
    for j, column in enumerate(codes):
        k, first = members.get(j, (-1, 0))
        if k >= 0 and shared[k].features > 1:
            if k not in at_column:
                at_column[k] = len(columns)
                columns.append(shared[k].codes)
            places.append(Place(at_column[k], first, int(defaults[j] or 0)))
        elif n_codes[j] == 1 and j > 0:  # one value: nothing to be seen
            places.append(Place(0, 0, 0))
        else:
            places.append(Place(len(columns), 0, -1))
            columns.append(column)
    return np.stack(columns), places


def _default(codes: Array, n_codes: int) -> int | None:
    """The code that most rows have, if they are many enough."""
    some = codes[:: max(len(codes) // LOOKED_AT, 1)]
    counts = np.bincount(some, minlength=n_codes)
    default = int(counts.argmax())
    return default if counts[default] >= MOSTLY * len(some) else None


def _add(shared: list[Shared], codes: Array, default: int, n_codes: int) -> tuple[int, int] | None:
    """Put a feature in the first column that has room for it; which, and its first code there."""
    off = codes != default
    for k, column in enumerate(shared):
        fits = column.n_codes + n_codes - 1 <= CODES
        if fits and not (column.taken & off).any():
            first = column.n_codes
            column.codes += _moved(codes, off, default, n_codes, first)
            column.taken |= off
            column.n_codes += n_codes - 1
            column.features += 1
            return k, first
    if len(shared) == MOST_SHARED:
        return None
    shared.append(Shared(_moved(codes, off, default, n_codes, 1), off, n_codes))
    return len(shared) - 1, 1


def _moved(codes: Array, off: Array, default: int, n_codes: int, first: int) -> Array:
    """The default becomes 0, the other codes are counted from `first` on."""
    if n_codes == 2:
        return off * np.uint8(first)
    moved = np.zeros(CODES, np.uint8)
    moved[:n_codes][np.arange(n_codes) != default] = np.arange(first, first + n_codes - 1)
    return moved[codes]
