"""Moments of rows about a shift close to their mean, in units close to their sizes."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from empirisk.data.blocks import Blocks
from empirisk.data.moments import Moments
from empirisk.data.scaling import ORDINARY, power_of_two
from empirisk.data.shifted_sums import shifted_sums
from empirisk.runtime.arrays import Floats

FAR = 100.0
"""Squared mean about the shift over variance from which there is another shift."""


@dataclass(frozen=True, eq=False)
class ShiftedMoments:
    """Moments of (x - shift) / unit; each column has its shift and its unit, a power of two.

    Examples
    --------
    >>> left, right = (Blocks.of_arrays(np.array(rows), np.empty((2, 0)), np.ones(2))
    ...                for rows in ([[1e9], [1e9 + 2]], [[1e9 + 4], [1e9 + 6]]))
    >>> both = shifted_moments(left) + shifted_moments(right)
    >>> both.shift + both.moments.mean * both.unit, both.moments.scatter
    (array([1.e+09]), array([[20.]]))
    """

    moments: Moments
    shift: Floats
    unit: Floats

    def __add__(self, other: "ShiftedMoments") -> "ShiftedMoments":
        """Both together, about the shift of the first, in the larger of their units."""
        unit = np.maximum(self.unit, other.unit)
        one, more = self.in_units(unit).moments, other.in_units(unit).moments
        mean = more.mean + (other.shift / unit - self.shift / unit)
        more = Moments(more.rows, more.weight, mean, more.scatter)
        return ShiftedMoments(one + more, self.shift, unit)

    def in_units(self, unit: Floats) -> "ShiftedMoments":
        """The same in other units."""
        if (self.unit == unit).all():
            return self
        old, factor = self.moments, self.unit / unit
        scatter = old.scatter * factor * factor[:, None]
        moments = Moments(old.rows, old.weight, old.mean * factor, scatter)
        return ShiftedMoments(moments, self.shift, unit)


def shifted_moments(
    blocks: Blocks,
    n_jobs: int | None = None,
    *,
    each: bool = False,
    suspect: Callable[[], None] | None = None,
) -> ShiftedMoments:
    """Moments of all blocks, shifted and divided where the numbers would lose digits otherwise.

    The shift is 0 or the mean of the first block. One pass is enough unless the mean turns out to
    be FAR from it, or the numbers to be extreme. They have one unit, or `each` column its own.
    `suspect` is called where the sums look as if the rows were not all finite.
    """
    shift = _first_shift(next(iter(blocks)).X)
    unit = np.ones(len(shift))
    moments = shifted_sums(blocks, shift, unit, n_jobs=n_jobs).moments
    if not _in_range(moments, each):
        if suspect is not None:
            suspect()
        unit = units_of(np.max([sizes(rows.X) for rows in blocks], axis=0), each=each)
        if (unit != 1.0).any():
            moments = shifted_sums(blocks, shift, unit, n_jobs=n_jobs).moments
    if _is_far(moments):
        shift = shift + moments.mean * unit
        moments = shifted_sums(blocks, shift, unit, n_jobs=n_jobs).moments
    return ShiftedMoments(moments, shift, unit)


def sizes(X: Floats) -> Floats:
    """The largest absolute value of each column."""
    return np.maximum(X.max(axis=0), -X.min(axis=0))


def units_of(size: Floats, *, each: bool) -> Floats:
    """The powers of two next above sizes that are beyond ordinary ones, otherwise 1.

    `each` column has its own, or all have the one of the largest.

    Examples
    --------
    >>> units_of(np.array([3.0, 1e-200]), each=True) < 1
    array([False,  True])
    """
    size = size if each else np.full_like(size, size.max())
    ordinary = (size == 0) | ((size > ORDINARY[0]) & (size < ORDINARY[1]))
    return np.where(ordinary, 1.0, power_of_two(size))


def _first_shift(X: Floats) -> Floats:
    """0 if it is among the rows of every column, otherwise their means."""
    with np.errstate(over="ignore", invalid="ignore"):
        mean = X.mean(axis=0)
        near = (mean**2 <= X.var(axis=0)).all() or not np.isfinite(mean).all()
    # The mean of a number that repeats may differ from it in the last digit.
    return np.zeros(X.shape[1]) if near else np.where((X[0] == X).all(axis=0), X[0], mean)


def _in_range(moments: Moments, each: bool) -> bool:
    """Whether squares neither overflow nor vanish; false also if all rows are alike."""
    with np.errstate(over="ignore", invalid="ignore"):
        size = np.sqrt(np.diagonal(moments.scatter) / moments.weight)
    size = size if each else size.max()
    return bool(np.all((size > ORDINARY[0]) & (size < ORDINARY[1])))


def _is_far(moments: Moments) -> bool:
    """Whether the mean, about the shift, is large against the spread of its column."""
    variance = np.diagonal(moments.scatter) / moments.weight
    return bool((moments.mean**2 > FAR * variance).any())
