"""A column coded as the ranks of its distinct values, or as its levels: nothing is lost."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from empirisk.compiled.ranking import integer_range, rank_integers, rank_ordered
from empirisk.data.large_integers import beyond_float64, places_of_integers
from empirisk.data.raw_columns import Calendar, RawColumn, as_category, as_numbers, raw_columns
from empirisk.data.spelling import TRUTHS
from empirisk.runtime.arrays import Array, Floats
from empirisk.runtime.complaints import first_row
from empirisk.runtime.errors import DataError

Kind = Literal["number", "integer", "category"]


@dataclass(frozen=True, eq=False)
class CodedColumn:
    """What the codes of a column stand for.

    kind
        "number": distinct float64 values in order. "integer": distinct integers, of which some
        are beyond 2^53, in order. "category": levels.
    values
        A fitted tree keeps those numbers alone that stand next to its thresholds (`beside`).
    missing
        Whether some value was missing.
    calendar
        Given for a date, whose numbers are days since 1970-01-01, with their fraction: "UTC" where
        it had a zone, else "local". Times that are less than a microsecond apart may be one number
        (`Column.numbers`), and then no split tells them apart.
    """

    name: str
    kind: Kind
    values: Any
    missing: bool = False
    calendar: Calendar | None = None

    def beside(self, thresholds: Floats) -> "CodedColumn":
        """A number, with the values next to some thresholds alone."""
        above = np.searchsorted(self.values, np.sort(thresholds), side="right")
        near = np.zeros(len(self.values) + 1, bool)
        near[above] = near[above - 1] = True  # one beyond the last, or before the first
        return replace(self, values=self.values[near[:-1]])

    def for_flat_trees(self) -> "CodedColumn":
        """As trees in flat arrays need it: numbers are in their thresholds, and keep no values."""
        return replace(self, values=self.values[:0]) if self.kind == "number" else self

    def places(self, column: RawColumn, unseen: float = np.nan) -> Floats:
        """Where the values of another column stand, as trees compare them; NaN where missing.

        A number stands for itself. An integer beyond 2^53 stands at its code, or on the way between
        two codes; a level at its code, one never seen at `unseen`. Infinity stays what it is.
        """
        if self.kind != "category":
            integers = self.kind == "integer"
            column = as_numbers(column, dates=self.calendar is not None, integers=integers)
            places = np.asarray(column.numbers, dtype=np.float64)
            if integers:
                numbers = places_of_integers(column.numbers, self.values)  # type: ignore[arg-type]  # an array, of numbers
                places = np.where(np.isfinite(places), numbers, places)
            return places if column.missing is None else np.where(column.missing, np.nan, places)
        column = self.as_levels(column)
        known = {level: float(code) for code, level in enumerate(self.values)}
        self._refuse_other_types(column, known)
        place = [known.get(level, unseen) for level in column.levels]  # type: ignore[union-attr]  # a category has levels
        return np.array([*place, np.nan])[column.codes]

    def as_levels(self, column: RawColumn) -> RawColumn:
        """As a category; integers beyond 2^53 and truth values in words where training had these.

        A column of a file holds truth values where no other word is beside them.
        """
        large = column.numbers is not None and beyond_float64(column.numbers)
        levels = as_category(column, True)
        if not (large or column.truths) or not all(isinstance(each, str) for each in self.values):
            return levels
        truths = {False: "false", True: "true"} | {TRUTHS.get(w.lower()): w for w in self.values}
        words = [truths[x] if column.truths else str(x) for x in levels.levels or []]
        return replace(levels, levels=words)

    def _refuse_other_types(self, column: RawColumn, known: dict[Any, float]) -> None:
        """Levels may be new; all of another type than in training, they would mean nothing."""
        levels = [] if column.levels is None else column.levels
        used = column.codes is not None and bool((column.codes >= 0).any())
        if not used or not self.values or any(level in known for level in levels):
            return
        words = {isinstance(level, str) for level in levels}
        if words.isdisjoint(isinstance(level, str) for level in self.values):
            raise DataError(
                f"column {self.name!r} has levels such as {levels[0]!r}, and in training such as "
                f"{self.values[0]!r}, of another type: give them as in training"
            )


def check_column(column: CodedColumn) -> None:
    """Raise a DataError unless levels are distinct, numbers in order, and integers there.

    What was read from a file is asked.
    """
    values = column.values
    if column.kind == "category":
        sound = isinstance(values, list) and len(set(values)) == len(values)
    else:
        kinds = {"number": (np.float64,), "integer": (np.int64, np.uint64)}.get(column.kind, ())
        sound = isinstance(values, np.ndarray) and values.dtype in kinds and values.ndim == 1
        sound = sound and bool((values[1:] > values[:-1]).all())
    empty = column.kind == "integer" and not len(values)
    if not sound or empty or not isinstance(column.name, str):
        raise DataError(f"{column.name!r:.50} is no column of distinct numbers or levels")
    if column.calendar not in (None, "local", "UTC"):
        raise DataError(f"column {column.name!r:.50} has an unknown calendar")


def code_column(column: RawColumn) -> tuple[CodedColumn, Array]:
    """What the codes of a column stand for, and the codes."""
    if column.numbers is None:
        assert column.levels is not None
        assert column.codes is not None
        codes = np.where(column.codes < 0, len(column.levels), column.codes).astype(np.uint32)
        some = bool((column.codes < 0).any())
        return CodedColumn(column.name, "category", column.levels, some), codes
    if beyond_float64(column.numbers):
        missing = np.zeros(len(column), bool) if column.missing is None else column.missing
        distinct = np.unique(column.numbers[~missing])
        codes = np.where(missing, len(distinct), np.searchsorted(distinct, column.numbers))
        some = bool(missing.any())
        return CodedColumn(column.name, "integer", distinct, some), codes.astype(np.uint32)
    distinct, codes = rank_numbers(np.require(column.numbers, np.float64, ["C", "A", "W"]))
    if len(distinct) and np.isinf(distinct[[0, -1]]).any():
        raise DataError(
            f"column {column.name!r} has infinite values (inf), "
            f"{first_row(np.isinf(column.numbers))}; leave them out, or leave their cells empty "
            "(NaN)"
        )
    some = bool(codes.max(initial=0) == len(distinct))
    return CodedColumn(column.name, "number", distinct, some, column.calendar), codes


def rank_numbers(values: Floats) -> tuple[Floats, Array]:
    """The distinct values in order, and the rank of each value; that of NaN is their number."""
    codes = np.empty(len(values), np.uint32)
    low, high = integer_range(values)
    if low <= high < low + max(2**16, 4 * len(values)):
        ranks = np.full(int(high - low) + 1, -1, np.int64)
        rank_integers(values, low, ranks, codes)
        return np.flatnonzero(ranks >= 0) + low, codes
    distinct = np.empty(len(values))
    n = rank_ordered(values, np.argsort(values), codes, distinct)
    return distinct[:n].copy(), codes


def places_of(X: Any, columns: Iterable[CodedColumn], unseen: float = np.nan) -> Floats:
    """A frame or array as trees compare it, by the columns they were grown on, in their order."""
    columns = list(columns)
    raw = raw_columns(X, [True] * len(columns))  # words are levels here, however few are equal
    return np.column_stack(
        [column.places(values, unseen) for column, values in zip(columns, raw, strict=True)]
    )
