"""Which rows a member of an ensemble draws: a function of its seed, as counts.

A member may draw rows, whole groups of rows, or blocks of rows that follow one another. What it
draws is never stored: the same seed draws it again.
"""

import warnings
from dataclasses import dataclass
from functools import cached_property
from math import ceil
from typing import Any

import numpy as np

from empirisk.compiled.resampling import even_counts, resample_rows, subset_counts, uneven_counts
from empirisk.runtime.arrays import Floats, Ints
from empirisk.runtime.errors import DataError, EmpiriskWarning, ParameterError
from empirisk.runtime.scalars import real, whole
from empirisk.runtime.streams import generator

MANY = 16  # draws for each row, from which on a binomial number for each row is less work
FEW_DRAWS = 10  # which a share of small weights may come to; scikit-learn warns of as few
MOST_COPIES = 10**9
MOST_DRAWS = 2.0**62  # that are counted
ROWS = 0x2545F4914F6CDD1D  # keeps these draws apart from others that a member makes with its seed


@dataclass(frozen=True, eq=False)
class Draws:
    """Draws of rows from n, with or without replacement.

    With replacement a row is drawn in proportion to its weight. Without it, a row of weight w, a
    whole number, is w copies, each drawn or not; where some weight is no whole number, rows are
    drawn alike and keep their weight. Groups are drawn alike, and their rows keep their weights.
    Rows of weight 0 are never drawn.

    Parameters
    ----------
    n : int
        Rows to draw from; fewer than 2^32.
    size : int
        How many are drawn (`draws_of`): rows, or groups where `unit` is given.
    replace : bool
    weight : float array, optional
        Of each row; finite and not negative.
    unit : int array, optional
        The group of each row, 0..G-1: a group is drawn as a whole.
    block : int, optional
        Draw blocks of so many rows that follow one another, until there are `size` rows (the
        moving blocks of Kuensch 1989); without replacement, runs of so many rows from the first
        row on, as groups.

    Examples
    --------
    >>> draws = Draws(6, 6)
    >>> counts = draws.counts(7)
    >>> int(counts.sum()), len(draws.left_out(counts)) == int((counts == 0).sum())
    (6, True)
    >>> Draws(6, 1, unit=np.array([0, 0, 1, 1, 1, 2])).counts(4)
    array([0, 0, 1, 1, 1, 0])
    """

    n: int
    size: int
    replace: bool = True
    weight: Floats | None = None
    unit: Ints | None = None
    block: int | None = None

    def __post_init__(self) -> None:
        if self.block is not None and self._weight is not None:
            raise DataError(
                "blocks of consecutive rows were asked for and the rows have different weights: "
                "give no sample_weight, or groups in place of blocks"
            )
        if not self.replace and self.size > self._most:
            raise ParameterError(
                f"{self.size} were to be drawn without replacement from {self._most}: ask for "
                "fewer (max_samples), or draw with replacement (bootstrap=True)"
            )

    def counts(self, seed: int) -> Ints:
        """How often the member with this seed draws each row: (n,)."""
        seed = seed ^ ROWS
        if self.block is not None and self.replace:
            return self._moving_blocks(seed, self.block)
        if self._units is None:
            return self._of_rows(seed)
        return self._of_units(seed)

    def left_out(self, counts: Ints) -> Ints:
        """The rows whose unit was not drawn: itself, its group, or its run of `block` rows."""
        if self._units is None:
            return np.flatnonzero(counts == 0)
        return np.flatnonzero(np.bincount(self._units, counts)[self._units] == 0)

    def member_weight(self, counts: Ints) -> Floats:
        """The weights that a member is fitted with: copies, times the weight that rows keep."""
        if self.weight is None or not self.rows_keep_weights:
            return counts.astype(float)
        return counts * self.weight

    def same_as(self, other: "Draws") -> bool:
        """Whether the same seeds draw the same rows."""
        return (self.n, self.size, self.replace, self.block) == (
            other.n, other.size, other.replace, other.block,
        ) and all(
            np.array_equal(ours, theirs)  # type: ignore[arg-type]  # None equals None
            for ours, theirs in ((self._weight, other._weight), (self.unit, other.unit))
        )  # fmt: skip

    @property
    def rows_keep_weights(self) -> bool:
        """Whether weights reach the members; else they are spent on the draw."""
        if self.weight is None:
            return False
        return self._units is not None or not (self.replace or _is_whole(self.weight))

    @property
    def by_lot(self) -> bool:
        """Whether members draw different rows: not where each draws all of them once."""
        return self.replace or self.size < self._most

    @property
    def units(self) -> Ints | None:
        """What is in or out together: the groups, the runs of `block` rows, None for single rows.

        A block that is drawn touches two runs in general: a run that is out of bag has no row in
        any block, and some of its neighbours have none either.
        """
        return self._units

    @cached_property
    def _units(self) -> Ints | None:
        if self.unit is None and self.block is not None:
            return np.arange(self.n) // self.block
        return self.unit

    @cached_property
    def _weight(self) -> Floats | None:
        """None where all rows weigh the same."""
        if self.weight is None or (self.weight == self.weight[0]).all():
            return None
        return self.weight

    @cached_property
    def _copies(self) -> Ints:
        """How many copies of each row there are to draw from, without replacement."""
        if self.weight is not None and _is_whole(self.weight):
            return self.weight.astype(np.int64)
        if self._weight is not None:
            return (self._weight > 0).astype(np.int64)
        return np.ones(self.n, np.int64)

    @cached_property
    def _groups(self) -> tuple[Ints, Ints]:
        """The groups with rows of positive weight, and the number among these of each row, or -1.

        A row of weight 0 belongs to none.
        """
        assert self._units is not None
        positive = np.ones(self.n, bool) if self._weight is None else self._weight > 0
        kept, place = np.unique(self._units[positive], return_inverse=True)
        places = np.full(self.n, -1)
        places[positive] = place.reshape(-1)
        return kept, places

    @cached_property
    def _most(self) -> int:
        return int(self._copies.sum()) if self._units is None else len(self._groups[0])

    @cached_property
    def _ladder(self) -> tuple[Floats, Ints]:
        """The cumulated chances of the rows, and for each n-th where a walk to it begins."""
        assert self._weight is not None
        upto = np.cumsum(self._weight / self._weight.max())
        upto /= upto[-1]
        upto[np.flatnonzero(self._weight)[-1] :] = 1.0
        return upto, np.searchsorted(upto, np.arange(self.n) / self.n, side="right")

    def _of_rows(self, seed: int) -> Ints:
        counts = np.zeros(self.n, np.int64)
        if not self.replace:
            subset_counts(seed, self.size, self._copies, counts)
        elif self.size > MANY * self.n:
            chances = np.ones(self.n) if self._weight is None else self._weight
            shares = chances / chances.max()
            counts[:] = generator(seed).multinomial(self.size, shares / shares.sum())
        elif self._weight is None:
            even_counts(seed, self.size, counts)
        else:
            uneven_counts(seed, self.size, *self._ladder, counts)
        return counts

    def _of_units(self, seed: int) -> Ints:
        kept, place = self._groups
        drawn = Draws(len(kept), self.size, self.replace)._of_rows(seed)
        return np.append(drawn, 0)[place]

    def _moving_blocks(self, seed: int, block: int) -> Ints:
        starts = np.empty((1, ceil(self.size / block)), np.int64)
        resample_rows(seed, 0, self.n - block + 1, starts)
        ends = starts[0] + block
        ends[-1] -= starts.size * block - self.size
        change = np.bincount(starts[0], minlength=self.n + 1)
        change -= np.bincount(ends, minlength=self.n + 1)
        return np.cumsum(change)[:-1]


def draws_of(
    max_samples: Any,
    n: int,
    weight: Floats | None = None,
    *,
    unit: Ints | None = None,
    replace: bool = True,
) -> int:
    """How many rows (or groups, where `unit` is given) a member draws.

    None is all: n; where all weights are whole numbers, their sum, since a weight of w is w
    copies; otherwise the number of rows with a weight above 0. A whole number is so many, a share
    above 0 that share of all, rounded down, at least 1. Of weights that are no whole numbers a
    share is of their sum where rows are drawn with replacement.

    Examples
    --------
    >>> draws_of(None, 100), draws_of(0.5, 100), draws_of(30, 100)
    (100, 50, 30)
    >>> draws_of(None, 3, np.array([2.0, 0.0, 3.0])), draws_of(0.5, 3, np.array([2.5, 0.0, 3.7]))
    (5, 3)
    """
    if max_samples is None:
        return int(_population(n, weight, unit, in_rows=True))
    number, share = whole(max_samples), real(max_samples)
    if number is not None and number >= 1:
        return number
    if number is None and share is not None and 0 < share < np.inf:
        by_weight = unit is None and replace
        population = _population(n, weight, unit, in_rows=not by_weight)
        if share * population > MOST_DRAWS:
            raise DataError(
                f"max_samples is {max_samples!r}, a share of the weights, which sum to "
                f"{population:.3g}: divide them by a constant, or give a number of rows"
            )
        size = max(1, int(share * population))
        if by_weight and weight is not None:
            _warn_of_few(max_samples, size, share, weight)
        return size
    raise ParameterError(
        f"max_samples is {max_samples!r}; give None for all, a whole number >= 1, or a share above "
        "0"
    )


def _warn_of_few(max_samples: Any, size: int, share: float, weight: Floats) -> None:
    """Say so where weights that are no numbers of copies, such as parts of 1, ask for few rows."""
    rows = int((weight > 0).sum())
    few = size < min(share * rows / 2, max(FEW_DRAWS, rows ** (1 / 3)))
    if few and not _is_whole(weight):
        warnings.warn(
            f"max_samples is {max_samples!r}, a share of the weights, which sum to "
            f"{weight.sum():.3g}: each member draws {size} of {rows} rows; give a number of rows, "
            "or weights of mean 1",
            EmpiriskWarning,
            stacklevel=2,
        )


def _population(n: int, weight: Floats | None, unit: Ints | None, *, in_rows: bool) -> float:
    """How much there is to draw from: groups, or the sum of the weights.

    With `in_rows` weights that are not whole numbers are no copies, and each row counts once.
    """
    if unit is not None:
        return len(np.unique(unit if weight is None else unit[weight > 0]))
    if weight is None:
        return n
    if in_rows and not _is_whole(weight):
        return int((weight > 0).sum())
    return float(weight.sum())


def _is_whole(weight: Floats) -> bool:
    return bool((weight == np.floor(weight)).all()) and float(weight.sum()) <= MOST_COPIES
