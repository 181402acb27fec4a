"""The columns of a table coded once as integer ranks, for trees: nothing is lost.

A split of a tree depends on a feature by the order of its values alone. So each feature becomes
codes 0..d-1 of its d distinct values in order, as small integers as can hold them, and the values
are kept beside: a threshold lies half way between two of them. A missing value has the code d; a
category has the codes of its levels. All folds, trees and rounds share one coding.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np

from empirisk.compiled.ranking import EXACT, integer_range, rank_integers, rank_ordered
from empirisk.compiled.trees.layout import FEATURE
from empirisk.data.raw_columns import Calendar, RawColumn, as_category, as_numbers, raw_columns
from empirisk.runtime.arrays import Array, Floats, Ints
from empirisk.runtime.complaints import first_row
from empirisk.runtime.errors import DataError
from empirisk.runtime.parallel import stream

Kind = Literal["number", "integer", "category"]
TABLES = (np.uint8, np.uint16, np.uint32)
FEW = 2**14  # rows of a column that is coded before another thread would begin


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
        column = self._as_levels(column)
        known = {level: float(code) for code, level in enumerate(self.values)}
        self._refuse_other_types(column, known)
        place = [known.get(level, unseen) for level in column.levels]  # type: ignore[union-attr]  # a category has levels
        return np.array([*place, np.nan])[column.codes]

    def _as_levels(self, column: RawColumn) -> RawColumn:
        """As a category; integers beyond 2^53 in words where a table had them so in training."""
        large = column.numbers is not None and beyond_float64(column.numbers)
        column = as_category(column, True)
        if large and all(isinstance(level, str) for level in self.values):
            return replace(column, levels=list(map(str, column.levels or [])))
        return column

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


@dataclass(frozen=True, eq=False)
class RankCoding:
    """A table in codes, or some rows of it.

    Attributes
    ----------
    small, medium, large : uint8, uint16 and uint32 arrays of shape (features, rows of the table)
        The codes of the features that need so many bits.
    features : record array of shape (p,)
        Where the codes of each feature are, and how many there are (`compiled.trees.layout`).
    columns : tuple of CodedColumn
    points : float64 array
        The numbers that codes stand for, one feature after the other; `values` of the columns are
        views of them, but for integers beyond 2^53.
    rows : uint32 array or None
        The rows of the table that this is; None for all.
    """

    small: Array
    medium: Array
    large: Array
    features: Array
    columns: tuple[CodedColumn, ...]
    points: Floats
    rows: Array | None = None

    @classmethod
    def of(
        cls, X: Any, categories: Sequence[bool | None], *, n_jobs: int | None = None
    ) -> "RankCoding":
        """Code a frame or an array of numbers.

        Parameters
        ----------
        X : frame or array of shape (n, p)
        categories : sequence of True, False or None
            Whether each column is a category; None goes by its type.
        n_jobs : int, optional
            Threads share the columns.

        Examples
        --------
        >>> import numpy as np
        >>> coding = RankCoding.of(np.array([[2.5, 7.0], [np.nan, 7.0], [-1.0, 9.0]]), [None] * 2)
        >>> coding.small
        array([[1, 2, 0],
               [0, 0, 1]], dtype=uint8)
        >>> coding.columns[0].values
        array([-1. ,  2.5])
        """
        tables, used = [np.empty((0, 0), dtype) for dtype in TABLES], [0, 0, 0]
        features, columns = [], []
        points, n_points = np.empty(0), 0
        raws = raw_columns(X, [asked is True for asked in categories])
        asked = (as_category(raw, wanted) for raw, wanted in zip(raws, categories, strict=True))
        shared = n_jobs is not None and len(X) > FEW
        coded = stream(code_column, asked, n_jobs=n_jobs) if shared else map(code_column, asked)
        for column, codes in coded:
            d = len(column.values)
            table = 0 if d < 2**8 else 1 if d < 2**16 else 2
            if not used[table]:  # room for all: what is not written to takes no memory
                tables[table] = np.empty((len(categories), len(codes)), TABLES[table])
            tables[table][used[table]] = codes
            category = column.kind == "category"
            features.append((d, used[table], table, category, column.missing, 0, n_points))
            used[table] += 1
            if column.kind != "category":
                if not points.size:
                    points = np.empty(len(categories) * len(codes))
                points[n_points : n_points + d] = column.values
                n_points += d
            if column.kind == "number":
                column = replace(column, values=points[n_points - d : n_points])
            columns.append(column)
        small, medium, large = (
            table[:k] if k else np.empty((0, len(codes)), table.dtype)
            for table, k in zip(tables, used, strict=True)
        )
        records = np.array(features, dtype=FEATURE)
        return cls(small, medium, large, records, tuple(columns), points[:n_points])

    @property
    def shape(self) -> tuple[int, int]:
        n = self.small.shape[1] if self.rows is None else len(self.rows)
        return n, len(self.columns)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, key: Any) -> "RankCoding":
        """`coding[rows, ...]` are some rows, as scikit-learn asks for them; nothing is copied."""
        rows = key[0] if isinstance(key, tuple) else key
        return replace(self, rows=self.row_numbers()[rows])

    def row_numbers(self) -> Array:
        """The rows of the table that this is."""
        if self.rows is None:
            return np.arange(self.small.shape[1], dtype=np.uint32)
        return self.rows

    @cached_property
    def has_integers(self) -> bool:
        """Whether some column has integers beyond 2^53."""
        return any(column.kind == "integer" for column in self.columns)

    @property
    def nbytes(self) -> int:
        """Bytes of the codes, and of the numbers that they stand for."""
        return self.small.nbytes + self.medium.nbytes + self.large.nbytes + self.points.nbytes

    def codes(self, j: int) -> Array:
        """The codes of a feature in these rows."""
        feature = self.features[j]
        table = (self.small, self.medium, self.large)[feature["table"]]
        codes = table[feature["place"]]
        return codes if self.rows is None else codes[self.rows]

    def places(self) -> Floats:
        """The table as trees compare it when they predict (`CodedColumn.places`)."""
        X = np.empty(self.shape)
        for j, column in enumerate(self.columns):
            values = np.arange(float(len(column.values)))
            if column.kind == "number":
                values = column.values
            X[:, j] = np.append(values, np.nan)[self.codes(j)]
        return X


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


def beyond_float64(numbers: Array) -> bool:
    """Whether these are integers of which float64 would lose the last digits."""
    if numbers.dtype.kind not in "iu" or numbers.dtype.itemsize < 8 or not numbers.size:
        return False
    return int(numbers.max()) >= EXACT or int(numbers.min()) <= -EXACT


def places_of(X: Any, columns: Iterable[CodedColumn], unseen: float = np.nan) -> Floats:
    """A frame or array as trees compare it, by the columns they were grown on, in their order."""
    columns = list(columns)
    raw = raw_columns(X, [True] * len(columns))  # words are levels here, however few are equal
    return np.column_stack(
        [column.places(values, unseen) for column, values in zip(columns, raw, strict=True)]
    )


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
