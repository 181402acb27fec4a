"""The columns of what users have, one after the other: numbers in their own type, or levels.

Trees take numbers of any type, categories and missing values as they are. A column of an array is
numbers; a column of a frame is what its type says.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from empirisk.data.column import Column, Kind
from empirisk.data.frames import named_arrays
from empirisk.data.kinds import column_of
from empirisk.data.table import Table
from empirisk.runtime.arrays import Array, Int32s
from empirisk.runtime.errors import DataError, DataTypeError, ParameterError

COLUMNS_AT_ONCE = 4  # of a C-ordered array: they share the cache lines of a row


@dataclass(frozen=True, eq=False)
class RawColumn:
    """Numbers (NaN where missing), or levels and their codes (-1 where missing)."""

    name: str
    numbers: Array | None = None
    levels: list[Any] | None = None
    codes: Int32s | None = None

    def __len__(self) -> int:
        column = self.codes if self.numbers is None else self.numbers
        assert column is not None
        return len(column)


def is_frame(X: Any) -> bool:
    """Whether X has columns of several types: a table, or a frame that speaks Arrow."""
    return isinstance(X, Table) or hasattr(X, "__arrow_c_stream__") or hasattr(X, "iloc")


def raw_columns(X: Any, kinds: Mapping[str, Kind] | None = None) -> Iterator[RawColumn]:
    """The columns of a frame, or of an array of numbers.

    `kinds` are those of columns of a frame whose type alone does not say it.
    """
    kinds = {} if kinds is None else kinds
    if isinstance(X, Table):
        yield from (_of_column(column) for column in Table.of(X, kinds).columns)
    elif is_frame(X):
        for name, array in named_arrays(X, None, kinds):
            whole = pa.types.is_integer(array.type) and array.null_count == 0
            if whole and name not in kinds:
                yield RawColumn(name, array.to_numpy())
            else:
                yield _of_column(column_of(name, array, kinds.get(name)))
    else:
        X = np.asarray(X)
        for first in range(0, X.shape[1], COLUMNS_AT_ONCE):
            for j, column in enumerate(
                np.ascontiguousarray(X[:, first : first + COLUMNS_AT_ONCE].T)
            ):
                yield RawColumn(f"x{first + j}", column)


def _of_column(column: Column) -> RawColumn:
    if column.kind == "category":
        return RawColumn(column.name, levels=column.levels.tolist(), codes=column.codes())
    if column.kind == "text":
        raise DataTypeError(
            f"column {column.name!r} holds text, of which hardly two are equal; a tree splits "
            f'numbers and categories: leave it out, or read it as {{{column.name!r}: "category"}}'
        )
    return RawColumn(column.name, column.numbers())


def chosen_categories(categorical_features: Any, names: list[str], p: int) -> Any:
    """For each column whether it is a category: True, False, or None to go by its type."""
    if isinstance(categorical_features, str) and categorical_features == "from_dtype":
        return [None] * p
    if categorical_features is None:
        return [False] * p
    given = np.asarray(categorical_features)
    if given.dtype == bool and given.shape == (p,):
        return given.tolist()
    if given.dtype.kind in "iu" and given.size and given.max() < p and given.min() >= 0:
        return [j in set(given.tolist()) for j in range(p)]
    if given.dtype.kind in "UO":
        strange = [name for name in given.tolist() if name not in names]
        if strange:
            raise ParameterError(
                f"categorical_features names {strange[0]!r}; the columns are {names[:10]}"
            )
        return [name in set(given.tolist()) for name in names]
    if given.size == 0:
        return [False] * p
    raise ParameterError(
        f"categorical_features is {categorical_features!r:.60}; it must be 'from_dtype', None, "
        f"names or numbers of columns from 0 to {p - 1}, or {p} truth values"
    )


def as_category(column: RawColumn, asked: bool | None) -> RawColumn:
    """The column as what was asked for: a category (True), numbers (False), or as it is (None)."""
    if asked and column.numbers is not None:
        missing = np.isnan(column.numbers) if column.numbers.dtype.kind == "f" else None
        levels, codes = np.unique(column.numbers, return_inverse=True)
        if missing is not None and missing.any():
            levels, codes = levels[:-1], np.where(missing, -1, codes)  # NaN is the last of them
        return RawColumn(column.name, levels=levels.tolist(), codes=codes.astype(np.int32))
    if asked is False and column.levels is not None:
        raise DataError(
            f"column {column.name!r} holds words, such as {column.levels[:1]}; a tree needs to "
            "know that it is a category: give categorical_features='from_dtype', or name it there"
        )
    return column
