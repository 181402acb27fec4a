"""Parts of the rows that no split divides: their statistics add up to those of training parts."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from empirisk.data.blocks import ROWS_PER_BLOCK
from empirisk.risk.plans.plan import Plan
from empirisk.runtime.arrays import Floats, Int32s, Ints
from empirisk.runtime.deadlines import check_deadline
from empirisk.runtime.parallel import one_blas_thread, slices

MOST_PARTS = 100  # they are sorted as numbers of 8 bits
MOST_NUMBERS = 2**24
"""Statistics of all splits that are there together: 128 MB."""
ODD = np.uint64(0x9E3779B97F4A7C15)  # powers of it, cut to 64 bits, look like random numbers


@dataclass(frozen=True, eq=False)
class Parts:
    """Sets of rows that every split of a plan holds out, or trains on, as a whole.

    Of a plan with one repeat they are its folds. Folds of several repeats are rarely made of a few
    common parts; those of nested cross-validation are.

    Parameters
    ----------
    rows : list of int arrays
        The rows of each part.
    split : int array of shape (repeats, parts)
        Which split holds the part out, in each repeat.
    """

    rows: list[Ints]
    split: Ints

    @cached_property
    def kept(self) -> Floats:
        """(splits, parts): 1 where the split trains on the part, 0 where it holds it out."""
        kept = np.ones((int(self.split.max()) + 1, len(self.rows)))
        kept[self.split, np.arange(len(self.rows))] = 0.0
        return kept

    @property
    def trained_on(self) -> Floats:
        """The number of rows that each split trains on."""
        return self.kept @ np.array([len(rows) for rows in self.rows])

    def have_room_for(self, columns: int) -> bool:
        """Whether a matrix, columns by columns, of each split fits into memory."""
        return len(self.kept) * columns**2 <= MOST_NUMBERS

    def training_sums(self, of: Callable[[Ints], tuple[Any, ...]]) -> list[Floats]:
        """The sums (splits, ...) over the training rows of statistics `of` rows, which add up.

        Nothing is subtracted, so nothing cancels.
        """
        of_parts = []
        for rows in self.rows:
            check_deadline()
            blocks = [of(rows[block]) for block in slices(len(rows), ROWS_PER_BLOCK)]
            of_parts.append([sum(each[1:], each[0]) for each in zip(*blocks, strict=True)])
        return [self._training(np.array(each)) for each in zip(*of_parts, strict=True)]

    def _training(self, of_parts: Floats) -> Floats:
        sums = self.kept @ of_parts.reshape(len(of_parts), -1)
        return sums.reshape(-1, *of_parts.shape[1:])

    def linear(
        self, X: Floats, centre: Floats, coef: Floats, constant: Floats, rows_per_block: int
    ) -> Iterator[tuple[int, Ints, Floats]]:
        """Repeat, rows and held-out values (rows, m) of m linear functions that each split has.

        They are constant + coef (x - centre), with coef (splits, m, p) and constant (splits, m).
        """
        pieces = [
            (a, rows[block])
            for a, rows in enumerate(self.rows)
            for block in slices(len(rows), rows_per_block)
        ]
        n = sum(len(rows) for rows in self.rows)
        groups = [pieces] if n <= rows_per_block else [[piece] for piece in pieces]
        for group in groups:
            check_deadline()
            rows = np.concatenate([own for _, own in group])
            with one_blas_thread():
                values = [self._values(X[own], a, centre, coef, constant) for a, own in group]
            together = np.concatenate(values)
            for r in range(len(self.split)):
                yield r, rows, together[:, r]

    def _values(self, X: Floats, a: int, centre: Floats, coef: Floats, constant: Floats) -> Floats:
        """(rows, repeats, m) of rows of the a-th part."""
        split = self.split[:, a]
        values = (X - centre) @ coef[split].reshape(-1, len(centre)).T
        values += constant[split].reshape(-1)
        return values.reshape(len(X), len(split), -1)


def parts_of(plan: Plan) -> Parts | None:
    """The parts of a plan's rows; None where there are many, or where it is no partition."""
    if not plan.is_partition or plan.fold.max() >= MOST_PARTS:
        return None
    part = plan.fold[0] if plan.repeats == 1 else _always_together(plan.fold)
    if part.max() >= MOST_PARTS:
        return None
    order, end = np.argsort(part.astype(np.int8), kind="stable"), np.cumsum(np.bincount(part))
    fold = plan.fold[:, order[end - 1]]
    if (plan.fold != fold[:, part]).any():  # codes that are equal by chance
        return None
    folds = plan.fold.max(axis=1).astype(np.int64) + 1
    return Parts(np.split(order, end[:-1]), fold + (np.cumsum(folds) - folds)[:, np.newaxis])


def _always_together(fold: Int32s) -> Ints:
    """A number for each row, the same for rows that are in one fold in every repeat."""
    code = np.zeros(fold.shape[1], dtype=np.uint64)
    for own in fold:
        code = code * ODD + own.astype(np.uint64)
    return np.unique(code, return_inverse=True)[1]


def about_own_means(square: Floats, first: Floats, weight: Floats) -> tuple[Floats, Floats]:
    """Turn sums of squares about given centres c_k into scatter about the class means, in place.

    For each training set and class k, `weight` (sets, K) is the sum of w, `first` (sets, K, d) that
    of w (z - c_k), and `square` (sets, d, d) that of w (z - c_y)(z - c_y)' over all classes:

        scatter = square - sum_k w_k shift_k shift_k',    shift_k = first_k / w_k.

    Returns the shifts, from the centres to the means, and by which factor (sets, d) the rounding
    error of each column has grown relative to it: what is taken away leaves its own behind.
    """
    diagonal = np.einsum("sjj->sj", square)
    before = diagonal.copy()
    shift = first / weight[:, :, np.newaxis]
    square -= shift.transpose(0, 2, 1) @ first
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        lost = np.maximum(before / diagonal, 1.0)
    return shift, lost
