"""Sums of rows and of their squares about a fixed shift, which add up by plain addition.

For rows z_i = (x_i - shift) / unit of weight w_i, where each column has its shift and its unit,

    sum = sum w_i z_i,   squares = sum w_i z_i z_i',
    mean = sum / weight,  scatter = squares - weight mean mean'.

With a shift close to the mean nothing is lost in the last difference, and blocks need no means of
their own, as those of `Moments` do. One pass tells whether the shift was close enough.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial, reduce
from itertools import islice
from operator import add

import numpy as np

from empirisk.compiled.centring import centre_rows
from empirisk.data.blocks import ROWS_PER_BLOCK, Blocks, Rows
from empirisk.data.moments import Moments
from empirisk.runtime.arrays import Floats
from empirisk.runtime.parallel import stream

BLOCKS_AT_ONCE = 8
NUMBERS_AT_ONCE = 2**21
"""Blocks, and numbers in them, that a thread takes together."""


@dataclass(frozen=True, eq=False)
class ShiftedSums:
    """Number of rows, weight, sum and squares.

    Examples
    --------
    >>> rows = Rows(np.array([[11.0], [13.0]]), np.empty((2, 0)), np.ones(2))
    >>> ShiftedSums.of(rows, np.array([12.0]), np.ones(1)).moments.scatter
    array([[2.]])
    """

    rows: int
    weight: float
    sum: Floats
    squares: Floats

    @classmethod
    def of(cls, rows: Rows, shift: Floats, unit: Floats) -> "ShiftedSums":
        """Of one block; its rows are not copied where nothing is to be done to them."""
        X, root = rows.X, np.sqrt(rows.weight)
        if (unit != 1.0).any():
            X, shift = X / unit, shift / unit
        Z = X
        if shift.any() or (root != 1.0).any():
            Z = np.empty_like(X)
            centre_rows(X, np.empty((len(X), 0)), shift, root, Z)
        # NumPy sees the symmetry and does half the work; its rows are in the cache for the rest.
        return cls(len(Z), float(rows.weight.sum()), root @ Z, Z.T @ Z)

    def __add__(self, other: "ShiftedSums") -> "ShiftedSums":
        return ShiftedSums(
            self.rows + other.rows,
            self.weight + other.weight,
            self.sum + other.sum,
            self.squares + other.squares,
        )

    @property
    def moments(self) -> Moments:
        """Of (x - shift) / unit."""
        mean = self.sum / self.weight
        with np.errstate(over="ignore", invalid="ignore"):  # as above
            scatter = self.squares - np.multiply.outer(self.sum, mean)
        np.fill_diagonal(scatter, np.maximum(np.diagonal(scatter), 0.0))
        return Moments(self.rows, self.weight, mean, scatter)


def shifted_sums(
    blocks: Blocks, shift: Floats, unit: Floats, *, n_jobs: int | None = None
) -> ShiftedSums:
    """Of all blocks, added in order: the same bits for any n_jobs."""
    size = max(1, min(BLOCKS_AT_ONCE, NUMBERS_AT_ONCE // (ROWS_PER_BLOCK * len(shift))))
    work = partial(_of_several, shift, unit)
    return reduce(add, stream(work, _several(blocks, size), n_jobs=n_jobs, ahead=2))


def _several(blocks: Blocks, size: int) -> Iterator[tuple[Rows, ...]]:
    left = iter(blocks)
    while several := tuple(islice(left, size)):
        yield several


def _of_several(shift: Floats, unit: Floats, several: tuple[Rows, ...]) -> ShiftedSums:
    with np.errstate(over="ignore", invalid="ignore"):  # huge numbers are divided by the caller
        return reduce(add, (ShiftedSums.of(rows, shift, unit) for rows in several))
