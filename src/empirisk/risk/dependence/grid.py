"""The values that a feature is set to: quantiles of numbers and dates, all levels of a category.

A value of the data is given to all rows by a row that has it, a donor: so it keeps its type in
whatever table it came. Numbers and dates that no row has are written.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from empirisk.data.column import Column
from empirisk.data.kinds import column_of
from empirisk.data.table import Table
from empirisk.risk.importances.permuting import take_from
from empirisk.runtime.arrays import Array, Floats, Ints
from empirisk.runtime.errors import DataError, ParameterError

DECILES = np.linspace(0.1, 0.9, 9)
ROUNDING = 1e-12  # of sums of weights: a quantile is the same for copies of a row


@dataclass(frozen=True, eq=False)
class Grid:
    """The values of one feature, and for each a row that has it, -1 if there is none.

    `kind` is that of the column; `deciles` are those of the data, if they are numbers.
    """

    name: str
    column: int
    kind: str
    values: Array
    rows: Ints
    deciles: Floats | None

    def __len__(self) -> int:
        return len(self.values)

    def set(self, X: Any, g: int) -> Any:
        """X of the same type, the feature at its g-th value in all rows."""
        if self.rows[g] < 0:
            return with_value(X, self.column, self.values[g])
        donors = np.full(X.shape[0], self.rows[g], dtype=np.int64)
        return take_from(X, np.array([self.column]), donors)


def grid_of(
    X: Any, j: int, name: str, weight: Floats, resolution: int, percentiles: tuple[float, float]
) -> Grid:
    """All values if there are no more than `resolution`, else as many quantiles; all levels."""
    column = column_at(X, j, name)
    if column.kind == "text":
        raise DataError(
            f"column {name!r} holds text, of which each row may have its own: name the values to "
            f"set it to, grid={{{name!r}: [...]}}"
        )
    place = _places(column)
    rows = np.flatnonzero(~np.isnan(place))
    if not len(rows):
        raise DataError(f"column {name!r} has no value: there is nothing to set it to")
    if column.kind in ("number", "date"):
        rows = rows[_chosen(place[rows], weight[rows], resolution, percentiles)]
        return Grid(name, j, column.kind, _values(column)[rows], rows, _deciles(column, weight))
    rows = rows[np.unique(place[rows], return_index=True)[1]]
    return Grid(name, j, column.kind, _values(column)[rows], rows, None)


def given_grid(X: Any, j: int, name: str, weight: Floats, values: Any) -> Grid:
    """The values that a user names; a level or a word must be one of the data."""
    column = column_at(X, j, name)
    given = np.array([*values, None], dtype=object)[:-1]
    if not len(given):
        raise ParameterError(f"grid has no values for {name!r}: give at least one")
    ordered = column.kind in ("number", "date")
    known = _values(column)
    if ordered:
        given = _as_ordered(given, column, known)
    first = {value: row for row, value in reversed(list(enumerate(known.tolist())))}
    rows = np.array([first.get(value, -1) for value in given.tolist()], dtype=np.int64)
    if not ordered and (rows < 0).any():
        stranger = given[np.argmin(rows)]
        raise ParameterError(
            f"grid sets {name!r} to {stranger!r}, which no row has: give levels of the data"
        )
    return Grid(name, j, column.kind, given, rows, _deciles(column, weight))


def column_at(X: Any, j: int, name: str) -> Column:
    """A column of whatever table X is."""
    if isinstance(X, Table):
        return X.columns[j]
    if hasattr(X, "iloc"):
        return Table.of(X.iloc[:, [j]], names=[name]).columns[0]
    if hasattr(X, "with_columns"):  # polars
        return column_of(name, pa.chunked_array([X.to_series(j).to_arrow()]), None)
    if hasattr(X, "set_column"):  # pyarrow
        return column_of(name, X.column(j), None)
    cells = X[:, [j]].toarray() if hasattr(X, "tocsc") else X[:, [j]]
    return Table.of(cells, names=[name]).columns[0]


def with_value(X: Any, j: int, value: Any) -> Any:
    """X of the same type, a column of numbers or dates at one value in all rows.

    Examples
    --------
    >>> with_value(np.array([[1, 2], [3, 4]]), 1, 0.5)
    array([[1. , 0.5],
           [3. , 0.5]])
    """
    filled = np.full(X.shape[0], value)
    if isinstance(X, Table):
        column = X.columns[j]
        new = column_of(column.name, pa.chunked_array([pa.array(filled)]), column.kind)
        return Table([new if k == j else c for k, c in enumerate(X.columns)], X.source)
    if hasattr(X, "isetitem"):  # pandas
        found = X.copy(deep=False)
        found.isetitem(j, filled)
        return found
    if hasattr(X, "with_columns"):  # polars
        return X.with_columns(type(X.to_series(j))(X.columns[j], filled))
    if hasattr(X, "set_column"):  # pyarrow
        return X.set_column(j, X.column_names[j], pa.array(filled))
    if hasattr(X, "tocsc"):
        cells = X.astype(np.result_type(X.dtype, filled.dtype)).tolil()
        cells[:, [j]] = filled[:, None]
        return cells.asformat(X.format)
    found = X.astype(X.dtype if X.dtype == object else np.result_type(X.dtype, filled.dtype))
    found[:, j] = filled
    return found


def _chosen(
    numbers: Floats, weight: Floats, resolution: int, percentiles: tuple[float, float]
) -> Ints:
    """The first rows that have the values of the grid, in their order.

    Quantiles are values of the data, the least that have so much of the weight up to them.
    """
    distinct, first, codes = np.unique(numbers, return_index=True, return_inverse=True)
    if len(distinct) <= resolution:
        return first
    total: Floats = np.bincount(codes.reshape(-1), weight).astype(np.float64)
    return first[np.unique(_quantiles(total, np.linspace(*percentiles, resolution)))]


def _quantiles(weight: Floats, levels: Floats) -> Ints:
    """The first of some things in order that have so much of the weight up to them."""
    shares = np.cumsum(weight)
    return np.searchsorted(shares, levels * shares[-1] * (1 - ROUNDING))


def _deciles(column: Column, weight: Floats) -> Floats | None:
    if column.kind != "number":
        return None
    numbers = column.numbers()
    order = np.argsort(numbers)[: int((~np.isnan(numbers)).sum())]
    return numbers[order[_quantiles(weight[order], DECILES)]] if len(order) else None


def _places(column: Column) -> Floats:
    """Numbers by which values are told apart; NaN where missing, and for text everywhere."""
    if column.kind == "category":
        codes = column.codes()
        return np.where(codes < 0, np.nan, codes.astype(float))
    return np.full(len(column), np.nan) if column.kind == "text" else column.numbers()


def _values(column: Column) -> Array:
    return column.numbers() if column.kind == "number" else column.values()


def _as_ordered(given: Array, column: Column, known: Array) -> Array:
    """Numbers as floats, dates as those of the column."""
    wanted = np.dtype(float) if column.kind == "number" else known.dtype
    try:
        return np.array(given.tolist(), dtype=wanted)
    except (TypeError, ValueError) as error:
        raise ParameterError(
            f"grid sets {column.name!r} to {given.tolist()!r:.60}; it is a column of "
            f"{column.kind}s: give such values"
        ) from error
