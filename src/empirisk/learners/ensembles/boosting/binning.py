"""How the columns of a table are put in bins.

Up to `max_bins` distinct values have a bin each, and nothing is lost. Of more values, bins hold
about the same weight of rows; values that are as heavy as a bin have one alone. Where there are
very many rows the bins are found on a sample of them, and then every row is put in its bin. The
least and the largest value of each bin are kept: thresholds lie half way between two of them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from empirisk.compiled.boosting.layout import CODES
from empirisk.compiled.boosting.quantiles import (
    code_values,
    distinct_values,
    sort_numbers,
    spread_bins,
)
from empirisk.data.coded_column import CodedColumn, code_column
from empirisk.data.large_integers import beyond_float64
from empirisk.data.raw_columns import RawColumn, as_category, is_frame, raw_columns
from empirisk.runtime.arrays import Array, Floats, Ints
from empirisk.runtime.complaints import first_row
from empirisk.runtime.errors import DataError
from empirisk.runtime.streams import generator

MOST_BINS = 255
SAMPLE = 200_000  # rows by which bins are found; LightGBM and scikit-learn take as many
VALUES_AT_ONCE = 2048
COLUMNS_AT_ONCE = 8  # of an array: those of a cache line


@dataclass(frozen=True, eq=False)
class BinnedColumn:
    """One column in bins; attributes as those of `BinnedTable`."""

    column: CodedColumn
    codes: Array
    n_bins: int
    low: Floats
    high: Floats
    level_bins: Array
    levels: Array | None = None

    @property
    def is_category(self) -> bool:
        return self.column.kind == "category"

    @property
    def n_codes(self) -> int:
        """With the one for missing values; all there are where bins change: it shares none."""
        return self.n_bins + self.column.missing if self.levels is None else CODES


@dataclass(frozen=True, eq=False)
class Binning:
    """How columns are put in bins.

    max_bins
        The most bins of a column.
    rows
        Those by which bins are found; None: all.
    weight
        Of all rows, or None.
    """

    max_bins: int
    rows: Ints | None
    weight: Floats | None

    def of(self, piece: "Piece") -> list[BinnedColumn]:
        """The columns of a piece of a table."""
        return [self._column(raw, asked) for raw, asked in piece.columns()]

    def _column(self, raw: RawColumn, asked: bool | None) -> BinnedColumn:
        raw = as_category(raw, asked)
        if raw.numbers is None:
            return self._of_levels(*code_column(raw))
        if beyond_float64(raw.numbers):
            column, codes = code_column(raw)
            ranks = np.append(np.arange(float(len(column.values))), np.nan)
            return self._of_numbers(column, ranks[codes])
        column = CodedColumn(raw.name, "number", np.empty(0), False, raw.calendar)
        return self._of_numbers(column, np.require(raw.numbers, np.float64, ["C", "A", "W"]))

    def _of_numbers(self, column: CodedColumn, values: Floats) -> BinnedColumn:
        part = values if self.rows is None else values[self.rows]
        weight = self.weight
        if weight is not None and self.rows is not None:
            weight = weight[self.rows]
        upper, n_bins, exact = bin_ends(part, weight, self.max_bins)
        codes, low, high = self._coded(values, upper, n_bins)
        if exact and (low[:n_bins] != high[:n_bins]).any():  # there are values beside the sample
            kept = values if self.weight is None else values[self.weight > 0]
            distinct = np.unique(kept[~np.isnan(kept)])
            if len(distinct) <= self.max_bins:
                upper, n_bins, _ = bin_ends(distinct, None, self.max_bins)
                codes, low, high = self._coded(values, upper, n_bins)
        infinite = np.isinf(values)
        if infinite.any():
            raise DataError(
                f"column {column.name!r} has infinite values (inf), {first_row(infinite)}; leave "
                "them out, or leave their cells empty (NaN)"
            )
        some = bool(codes.max(initial=0) == n_bins)
        column = replace(column, missing=some)
        return BinnedColumn(column, codes, n_bins, low, high, np.empty(0, np.uint8))

    def _coded(self, values: Floats, upper: Floats, n_bins: int) -> tuple[Array, Floats, Floats]:
        """Codes, and the least and the largest value of each bin in rows of some weight."""
        codes = np.empty(len(values), np.uint8)
        low, high = np.full(MOST_BINS + 1, np.inf), np.full(MOST_BINS + 1, -np.inf)
        place = np.empty(VALUES_AT_ONCE, np.int64)
        if self.weight is not None and not self.weight.all():
            kept = values[self.weight > 0]
            code_values(kept, upper, n_bins, low, high, place, np.empty(len(kept), np.uint8))
            code_values(values, upper, n_bins, low.copy(), high.copy(), place, codes)
        else:
            code_values(values, upper, n_bins, low, high, place, codes)
        low, high = low[:MOST_BINS], high[:MOST_BINS]
        empty = low > high
        low[empty] = high[empty] = 0.0
        return codes, low, high

    def _of_levels(self, column: CodedColumn, codes: Array) -> BinnedColumn:
        n_levels = len(column.values)
        bins = np.arange(n_levels)
        if n_levels > self.max_bins:
            counts = np.bincount(codes, self.weight, minlength=n_levels + 1)[:n_levels]
            frequent = np.sort(np.argsort(-counts, kind="stable")[: self.max_bins - 1])
            bins = np.full(n_levels, self.max_bins - 1)
            bins[frequent] = np.arange(self.max_bins - 1)
        n_bins = max(int(bins.max(initial=0)) + 1, 1)
        ends = np.zeros(MOST_BINS)
        return BinnedColumn(
            column,
            np.append(bins, n_bins).astype(np.uint8)[codes],
            n_bins,
            ends,
            ends,
            bins.astype(np.uint8),
            codes if n_levels > self.max_bins else None,
        )


def bin_ends(
    values: Floats, weight: Floats | None, max_bins: int = MOST_BINS
) -> tuple[Floats, int, bool]:
    """The upper ends of bins, infinite from the last on; how many; if each value has its own.

    Examples
    --------
    >>> import numpy as np
    >>> upper, n_bins, exact = bin_ends(np.array([3.0, 1.0, 1.0, 7.0]), None)
    >>> upper[:3], n_bins, exact
    (array([ 2.,  5., inf]), 3, True)
    """
    keep = ~np.isnan(values)
    if weight is None:
        ordered, weight = in_order(values[keep]), np.empty(0)
    else:
        keep &= weight > 0
        order = np.argsort(values[keep], kind="stable")
        ordered, weight = values[keep][order], weight[keep][order]
    distinct, total = np.empty(len(ordered)), np.empty(len(ordered))
    n = distinct_values(ordered, weight, distinct, total)
    last = np.empty(max_bins, np.int64)
    n_bins = max(spread_bins(distinct[:n], total[:n], max_bins, last), 1) if n else 1
    upper = np.full(MOST_BINS, np.inf)
    below, above = distinct[last[: n_bins - 1]], distinct[last[: n_bins - 1] + 1]
    middle = below / 2 + above / 2
    upper[: n_bins - 1] = np.where((below <= middle) & (middle < above), middle, below)
    return upper, n_bins, n <= max_bins


def in_order(values: Floats) -> Floats:
    """Numbers sorted, none of them missing; faster than NumPy, by a few digits of their bits.

    Examples
    --------
    >>> import numpy as np
    >>> in_order(np.array([2.0, -1.0, 0.5]))
    array([-1. ,  0.5,  2. ])
    """
    values = values + 0.0  # a copy, in which -0.0 is 0.0
    bits = values.view(np.uint64)
    if not sort_numbers(bits, np.empty_like(bits), np.empty((3, 2048), np.int64)):
        values.sort()
    return values


def sampled(n: int, weight: Floats | None) -> Ints | None:
    """Rows by which bins are found, one of each stretch of the table; None: all."""
    candidates = np.arange(n) if weight is None else np.flatnonzero(weight > 0)
    if len(candidates) <= SAMPLE:
        return None
    ends = np.arange(SAMPLE + 1) * len(candidates) // SAMPLE
    return candidates[generator(0).integers(ends[:-1], ends[1:])]


@dataclass(frozen=True, eq=False)
class Piece:
    """Some columns of an array, or one of a frame, and whether they are asked to be categories."""

    X: Any
    first: int
    categories: Sequence[bool | None]

    def columns(self) -> Iterator[tuple[RawColumn, bool | None]]:
        if isinstance(self.X, RawColumn):
            yield self.X, self.categories[0]
            return
        columns = np.ascontiguousarray(self.X[:, self.first : self.first + len(self.categories)].T)
        for k, asked in enumerate(self.categories):
            yield RawColumn(f"x{self.first + k}", columns[k]), asked


def pieces_of(X: Any, categories: Sequence[bool | None]) -> Iterator[Piece]:
    """The columns of a frame one by one, those of an array a few at a time."""
    if is_frame(X):
        for raw, asked in zip(
            raw_columns(X, [asked is True for asked in categories]), categories, strict=True
        ):
            yield Piece(raw, 0, [asked])
        return
    X = np.asarray(X)
    for first in range(0, X.shape[1], COLUMNS_AT_ONCE):
        yield Piece(X, first, categories[first : first + COLUMNS_AT_ONCE])
