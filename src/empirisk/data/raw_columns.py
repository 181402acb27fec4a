"""The columns of what users have, one after the other: numbers in their own type, or levels.

Trees take numbers of any type, categories and missing values as they are. A column of an array is
numbers; a column of a frame is what its type says. Text that spells integers, some of them beyond
2^53, is what a table has for such integers: they are integers here.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from empirisk.data.column import Column
from empirisk.data.frames import named_arrays
from empirisk.data.kinds import beyond_float64, column_of, large_integers, spelled_integers
from empirisk.data.table import Table
from empirisk.data.words import most_levels
from empirisk.runtime.arrays import Array, Bools, Int32s
from empirisk.runtime.complaints import refuse_query
from empirisk.runtime.errors import DataError, DataTypeError, ParameterError

Calendar = Literal["local", "UTC"]
COLUMNS_AT_ONCE = 4  # of a C-ordered array: they share the cache lines of a row


@dataclass(frozen=True, eq=False)
class RawColumn:
    """Numbers (NaN where missing), or levels and their codes (-1 where missing).

    Integers cannot be NaN: `missing` says where they are. `calendar` is that of
    `CodedColumn`: numbers that are days of a date. `truths` are numbers that are truth values.
    """

    name: str
    numbers: Array | None = None
    levels: list[Any] | None = None
    codes: Int32s | None = None
    missing: Bools | None = None
    calendar: Calendar | None = None
    truths: bool = False

    def __len__(self) -> int:
        column = self.codes if self.numbers is None else self.numbers
        assert column is not None
        return len(column)


def is_frame(X: Any) -> bool:
    """Whether X has columns of several types: a table, or a frame that speaks Arrow."""
    if len(getattr(X, "shape", (0, 0))) != 2:  # a series, which is a column and has none
        return False
    return isinstance(X, Table) or hasattr(X, "__arrow_c_stream__") or hasattr(X, "iloc")


def with_rows(X: Any) -> Any:
    """The same table, of a kind whose rows can be taken.

    What only Arrow can read, such as a record batch or a relation of DuckDB, becomes a table of
    Arrow, and what only NumPy can read an array; frames of pandas and polars, and arrays, stay as
    they are.

    Examples
    --------
    >>> import duckdb
    >>> with_rows(duckdb.sql("SELECT 1 AS a UNION ALL SELECT 2")).num_rows
    2
    """
    refuse_query(X)
    known = isinstance(X, Table) or hasattr(X, "__array__")
    if isinstance(X, pa.RecordBatch) or (hasattr(X, "__arrow_c_stream__") and not known):
        return pa.table(X)
    return np.asarray(X) if hasattr(X, "__array__") and not hasattr(X, "__getitem__") else X


def column_names(X: Any) -> list[str]:
    """The names of the columns of a frame."""
    if isinstance(X, Table):
        return list(X.names)
    named = X.column_names if isinstance(X, pa.Table) else X.columns
    return [str(name) for name in named]


def raw_columns(X: Any, categories: Sequence[bool] | None = None) -> Iterator[RawColumn]:
    """The columns of a frame, or of an array of numbers.

    `categories` says which columns of a frame are categories where they hold words, however few
    of these are equal; by default the words decide.
    """
    if not is_frame(X):
        yield from _of_array(np.asarray(X))
        return
    asked = [False] * X.shape[1] if categories is None else categories
    if isinstance(X, Table):
        yield from map(_of_column, X.columns, asked)
    else:
        for (name, array), category in zip(named_arrays(X, None, {}), asked, strict=True):
            yield _of_arrow(name, array, category)


def _of_arrow(name: str, array: Any, category: bool) -> RawColumn:
    if pa.types.is_integer(array.type):
        return _of_integers(name, array)
    return _of_column(column_of(name, array), category)


def _of_array(X: Array) -> Iterator[RawColumn]:
    for first in range(0, X.shape[1], COLUMNS_AT_ONCE):
        for j, column in enumerate(np.ascontiguousarray(X[:, first : first + COLUMNS_AT_ONCE].T)):
            yield RawColumn(f"x{first + j}", column)


def _of_integers(name: str, array: Any) -> RawColumn:
    if array.null_count == 0:
        return RawColumn(name, array.to_numpy())
    if not beyond_float64(array):
        return RawColumn(name, array.cast(pa.float64()).to_numpy())
    missing = np.asarray(pc.is_null(array).combine_chunks())
    return RawColumn(name, pc.fill_null(array, 0).to_numpy(), missing=missing)


def _of_column(column: Column, category: bool) -> RawColumn:
    if column.kind == "text" and category:
        column = column_of(column.name, column.arrow, "category")
    if column.kind == "category":
        return RawColumn(column.name, levels=_levels(column.levels), codes=column.codes())
    if column.kind == "text":
        integers = large_integers(column.arrow)
        if integers is None:
            raise DataTypeError(_too_many_words(column))
        return _of_integers(column.name, integers)
    numbers, truths = column.numbers(), column.kind == "boolean"
    return RawColumn(column.name, numbers, calendar=_calendar(column), truths=truths)


def _levels(levels: Array) -> list[Any]:
    """Levels as words, numbers and truth values: dates in words, durations in seconds.

    So they are the same in whatever unit a time is given.
    """
    if levels.dtype.kind == "M":
        return [date_in_words(str(level)) for level in levels]
    if levels.dtype.kind == "m":
        return (levels / np.timedelta64(1, "s")).tolist()
    plain = (str, int, float)
    return [level if isinstance(level, plain) else str(level) for level in levels.tolist()]


def date_in_words(text: str) -> str:
    """Without a fraction of 0 and a time of day of 0."""
    whole = text.rstrip("0").rstrip(".") if "." in text else text
    return whole.removesuffix("T00:00:00")


def _calendar(column: Column) -> Calendar | None:
    if column.kind != "date":
        return None
    return "UTC" if getattr(column.arrow.type, "tz", None) else "local"


def _too_many_words(column: Column) -> str:
    """Why words are text and no category."""
    n, d = len(column) - column.arrow.null_count, pc.count_distinct(column.arrow).as_py()
    most = most_levels(n)
    rule = f", and up to {most} would make it a category by themselves" if d > most else ""
    return (
        f"column {column.name!r} holds text: {d} different words in {n} rows{rule}; a tree splits "
        "numbers and categories: name it in categorical_features, or leave it out"
    )


def chosen_categories(categorical_features: Any, names: list[str], p: int) -> Any:
    """For each column whether it is a category: True, False, or None to go by its type."""
    if isinstance(categorical_features, str) and categorical_features == "from_dtype":
        return [None] * p
    if categorical_features is None:
        return [False] * p
    try:
        given = np.asarray(categorical_features)
    except ValueError:  # lists of several lengths: refused below
        given = np.empty((1, 1))
    kind = given.dtype.kind if given.ndim == 1 else ""
    if given.dtype == bool and given.shape == (p,):
        return given.tolist()
    if kind in ("i", "u") and given.size and given.max() < p and given.min() >= 0:
        chosen = set(given.tolist())
        return [j in chosen for j in range(p)]
    if kind in ("U", "O"):
        strange = [name for name in given.tolist() if name not in names]
        if strange:
            raise ParameterError(
                f"categorical_features names {strange[0]!r}; the columns are {names[:10]}"
            )
        chosen = set(given.tolist())
        return [name in chosen for name in names]
    if given.size == 0:
        return [False] * p
    raise ParameterError(
        f"categorical_features is {categorical_features!r:.60}; it must be 'from_dtype', None, "
        f"names or numbers of columns from 0 to {p - 1}, or {p} truth values"
    )


def as_category(column: RawColumn, asked: bool | None) -> RawColumn:
    """The column as what was asked for: a category (True), numbers (False), or as it is (None)."""
    if asked and column.numbers is not None:
        missing = column.missing
        if missing is None:
            missing = column.numbers != column.numbers
        levels = np.unique(column.numbers[~missing])
        codes = np.where(missing, -1, np.searchsorted(levels, column.numbers))
        return RawColumn(column.name, levels=levels.tolist(), codes=codes.astype(np.int32))
    if asked is False and column.levels is not None:
        raise DataError(
            f"column {column.name!r} holds words, such as {column.levels[:1]}; a tree needs to "
            "know that it is a category: give categorical_features='from_dtype', or name it there"
        )
    return column


def as_numbers(column: RawColumn, *, dates: bool, integers: bool) -> RawColumn:
    """The column of a table to predict as numbers, or as dates, where these were in training.

    A category of numbers is taken as these. A table has integers beyond 2^53 as words; where
    integers like them were in training, all words that spell integers are taken as these.
    """
    wanted = "dates" if dates else "numbers"
    if column.numbers is None:
        found = _numbers_in_levels(column, integers)
        if found is None:
            raise DataError(_where_others_were(column.name, f"words, {_such_as(column)}", wanted))
        column = found
    if (column.calendar is None) == dates and not _is_empty(column):
        raise DataError(_where_others_were(column.name, "numbers" if dates else "dates", wanted))
    return column


def _where_others_were(name: str, found: str, wanted: str) -> str:
    return f"column {name!r} holds {found}, where {wanted} were in training: give {wanted}"


def _such_as(column: RawColumn) -> str:
    assert column.levels is not None
    assert column.codes is not None
    return f"such as {column.levels[column.codes[column.codes >= 0][0]]!r:.50}"


def _numbers_in_levels(column: RawColumn, integers: bool) -> RawColumn | None:
    """The numbers that all levels are, or spell as integers; none where no value is there."""
    assert column.levels is not None
    assert column.codes is not None
    missing = column.codes < 0
    if missing.all():
        return RawColumn(column.name, np.full(len(column), np.nan))
    levels = np.array(column.levels)
    if levels.dtype.kind in "biuf":
        return RawColumn(column.name, levels[column.codes], missing=missing)
    if not all(isinstance(level, str) for level in column.levels):
        return None
    found = spelled_integers(pa.chunked_array([column.levels], pa.large_string()))
    if found is None or not (integers or beyond_float64(found)):
        return None
    return RawColumn(column.name, found.to_numpy()[column.codes], missing=missing)


def _is_empty(column: RawColumn) -> bool:
    assert column.numbers is not None
    missing = column.numbers != column.numbers if column.missing is None else column.missing
    return bool(missing.all())
