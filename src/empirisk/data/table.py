"""A table of typed columns with missing values."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from types import EllipsisType
from typing import Any

import numpy as np
import pyarrow as pa

from empirisk.data.column import KINDS, Column, Kind, check_kinds, hash_column
from empirisk.data.description import describe
from empirisk.data.frames import given_names, own_arrays, renamed
from empirisk.data.kinds import column_of
from empirisk.runtime.arrays import Ints
from empirisk.runtime.column_names import check_names, no_column
from empirisk.runtime.errors import DataError, DataTypeError

_KIND_KEY = b"empirisk.kind"


@dataclass(frozen=True)
class Source:
    """Where a table comes from, how it was read, and what is worth knowing about that."""

    where: str
    read_as: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        return "\n".join([f"{self.where}: {', '.join(self.read_as)}".rstrip(": "), *self.notes])


class Table:
    """Typed columns of equal length with missing values, made by `Table.of` or `read_table`.

    A table cannot be changed: its methods return new ones that share its memory. It holds what it
    was made from without a copy where it can, so do not write into an array or a frame afterwards.

    Parameters
    ----------
    columns : sequence of Column
    source : Source, optional

    Attributes
    ----------
    names : tuple of str
    kinds : dict
        The kind of each column by its name.
    shape : tuple
        Numbers of rows and columns.
    source : Source or None
        For a table that was read from a file: how it was read.

    Examples
    --------
    >>> table = Table.of({"age": [31, None, 58, 44], "smoker": ["no", "no", "yes", "no"]})
    >>> table.kinds
    {'age': 'number', 'smoker': 'category'}
    >>> table["age"].numbers()
    array([31., nan, 58., 44.])
    >>> table
    Table of 4 rows, 2 columns
      age     number    1 missing  31, 58, 44
      smoker  category  0 missing  no, yes
    """

    def __init__(self, columns: Sequence[Column], source: Source | None = None) -> None:
        self.columns = tuple(columns)
        self.names = tuple(check_names(column.name for column in columns))
        self.source = source
        self._place = {name: j for j, name in enumerate(self.names)}

    @classmethod
    def of(
        cls, data: Any, kinds: Mapping[str, Kind] | None = None, *, names: Any = None
    ) -> "Table":
        """A table from what you have.

        Parameters
        ----------
        data : table, data frame, dict or array
            A pandas, polars or pyarrow frame, a DuckDB relation (all that speak the Arrow
            PyCapsule interface), a dict of sequences, or an array of two dimensions. An array of
            objects is typed column by column; the index of a pandas frame is left out.
        kinds : dict, optional
            The kind of some columns, where the one that is found is not the one that is meant:
            "number", "category", "boolean", "date" or "text".
        names : sequence of str, optional
            The names of the columns; an array has x0, x1, ... by default.

        Notes
        -----
        Integers beyond 2^53 are taken as words, since float64 would lose their last digits; trees
        split such text as integers all the same. Intervals are words, too. Words are a category if
        they repeat: d different ones among n values, d at most n / 2 and at most 10 sqrt(n); else
        they are text. A column without any value counts as numbers.

        Examples
        --------
        >>> Table.of({"zip": [10115, 80331]}, kinds={"zip": "text"})["zip"].values().tolist()
        ['10115', '80331']
        >>> Table.of({"x": ["1.5", "two"]}, kinds={"x": "number"})
        Traceback (most recent call last):
        ...
        empirisk.runtime.errors.DataError: column 'x' cannot be a number: row 1 has 'two', wanted
        a number; correct it, leave its cell empty, or ask for another kind
        """
        names = given_names(names)
        if isinstance(data, cls) and names is None and (kinds or {}).items() <= data.kinds.items():
            return data  # of these kinds already
        arrays = own_arrays(data, names, kinds or {})
        known = known_kinds(data)
        kept = [known.get(name) for name, _ in arrays]  # by place: the names may be others now
        arrays = renamed(arrays, names)
        given = check_kinds(kinds, [name for name, _ in arrays])
        columns = [
            column_of(name, array, given.get(name, kind))
            for (name, array), kind in zip(arrays, kept, strict=True)
        ]
        return cls(columns, getattr(data, "source", None) if isinstance(data, cls) else None)

    @property
    def kinds(self) -> dict[str, Kind]:
        return {column.name: column.kind for column in self.columns}

    @property
    def shape(self) -> tuple[int, int]:
        return len(self), len(self.columns)

    def __len__(self) -> int:
        return len(self.columns[0]) if self.columns else 0

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in self._place

    def __getitem__(self, key: str | tuple[Any, EllipsisType]) -> Any:
        """A column by its name; `table[rows, ...]` are some rows, as scikit-learn asks for them."""
        if isinstance(key, str):
            return self.columns[self._places([key])[0]]
        if isinstance(key, tuple) and len(key) == 2 and key[1] is Ellipsis:
            return self.rows(key[0]) if isinstance(key[0], slice) else self.take(key[0])
        raise DataTypeError(
            f"a table has columns by name, not {key!r:.50}; take rows with take or rows, and "
            "several columns with select"
        )

    def take(self, rows: Any) -> "Table":
        """The rows with these numbers, in this order, or those for which a mask is true."""
        places = pa.array(_row_numbers(rows, len(self)))
        return self._map(lambda array: array.take(places))

    def rows(self, which: slice) -> "Table":
        """A slice of the rows; without a step, it shares the memory of this table."""
        start, stop, step = which.indices(len(self))
        if step != 1:
            return self.take(np.arange(start, stop, step))
        return self._map(lambda array: array.slice(start, max(stop - start, 0)))

    def select(self, names: Iterable[str]) -> "Table":
        """The columns with these names, in this order."""
        return Table([self.columns[j] for j in self._places(names)], self.source)

    def drop(self, names: Iterable[str]) -> "Table":
        """All columns but these."""
        gone = set(self._places(names))
        return Table([c for j, c in enumerate(self.columns) if j not in gone], self.source)

    def to_arrow(self) -> Any:
        """A pyarrow.Table, which shares the memory; its fields say of which kind they are."""
        fields = [
            pa.field(c.name, c.arrow.type, metadata={_KIND_KEY: c.kind.encode()})
            for c in self.columns
        ]
        return pa.Table.from_arrays([c.arrow for c in self.columns], schema=pa.schema(fields))

    def to_pandas(self) -> Any:
        """A pandas.DataFrame; pandas has to be installed."""
        return self.to_arrow().to_pandas(date_as_object=False)

    def to_polars(self) -> Any:
        """A polars.DataFrame; polars has to be installed."""
        import polars

        return polars.from_arrow(self.to_arrow())

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def digest(self) -> str:
        """A hash of names, kinds and values, the same in every process and however they came."""
        return self._digest

    @cached_property
    def _digest(self) -> str:
        whole = sha256(repr((self.shape, self.kinds)).encode())
        for column in self.columns:
            hash_column(whole, column)
        return whole.hexdigest()

    def __hash__(self) -> int:
        return int(self.digest()[:15], 16)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Table):
            return NotImplemented
        return self is other or (self.shape == other.shape and self.digest() == other.digest())

    def __reduce__(self) -> Any:
        # The stream format writes the rows of a slice only, not the memory that it is a slice of.
        frame, sink = self.to_arrow(), pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, frame.schema) as stream:
            stream.write_table(frame)
        return _restore, (sink.getvalue(), self.source)

    def __repr__(self) -> str:
        return "\n".join([self._size(), *describe(self.columns, distinct=False)])

    def summary(self) -> str:
        """What is in the table and how it was read, in plain text.

        Examples
        --------
        >>> print(Table.of({"n": [1, 2, 2], "id": ["a", "b", "c"]}).summary())
        Table of 3 rows, 2 columns
          n   number  0 missing  2 distinct  1, 2
          id  text    0 missing  3 distinct  a, b, c
        """
        source = [] if self.source is None else str(self.source).split("\n")
        return "\n".join([self._size(), *describe(self.columns, distinct=True), *source])

    def _size(self) -> str:
        n, p = self.shape
        return f"Table of {n:,} row{'s' * (n != 1)}, {p} column{'s' * (p != 1)}"

    def _map(self, change: Any) -> "Table":
        columns = [Column(c.name, c.kind, change(c.arrow)) for c in self.columns]
        return Table(columns, self.source)

    def _places(self, names: Iterable[str]) -> list[int]:
        if isinstance(names, str):
            names = [names]
        if not isinstance(names, Iterable):
            raise DataTypeError(f"{names!r:.50} is no name of a column: give a list of names")
        names = list(names)
        for name in names:
            if name not in self:
                raise DataError(no_column(name, self.names))
        return [self._place[name] for name in names]


def _restore(buffer: Any, source: Source | None) -> Table:
    frame = pa.ipc.open_stream(buffer).read_all()
    return Table(_columns_as_written(frame), source)


def _columns_as_written(frame: Any) -> list[Column]:
    return [
        Column(field.name, field.metadata[_KIND_KEY].decode(), frame.column(j))
        for j, field in enumerate(frame.schema)
    ]


def known_kinds(data: Any) -> dict[str, Kind]:
    """The kinds that a table of ours left in an Arrow schema."""
    if isinstance(data, Table):
        return data.kinds
    schema = getattr(data, "schema", None)
    if not isinstance(schema, pa.Schema):
        return {}
    marks = {field.name: (field.metadata or {}).get(_KIND_KEY, b"").decode() for field in schema}
    return {name: kind for name, kind in marks.items() if kind in KINDS}


def _row_numbers(rows: Any, n: int) -> Ints:
    rows = np.atleast_1d(np.asarray(rows))
    if rows.dtype == bool:
        if rows.shape != (n,):
            raise DataError(f"a mask of shape {rows.shape} for {n} rows; give one truth for each")
        return np.flatnonzero(rows)
    if rows.size == 0:
        return np.empty(0, np.int64)
    if rows.dtype.kind not in "iu" or rows.ndim != 1:
        raise DataTypeError(f"rows are {rows.dtype} of shape {rows.shape}; give row numbers")
    rows = rows.astype(np.int64)
    if rows.min() < -n or rows.max() >= n:
        bad = rows.max() if rows.max() >= n else rows.min()
        raise DataError(f"there is no row {bad}; the rows are 0 to {n - 1}")
    return np.where(rows < 0, rows + n, rows)
