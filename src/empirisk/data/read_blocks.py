"""`read_blocks`: a table from Parquet or SQL that never has to be in memory as a whole."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import ceil
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from empirisk.data.blocks import ROWS_PER_BLOCK, regroup
from empirisk.data.column import Kind, check_kinds
from empirisk.data.frames import named_arrays
from empirisk.data.opening import find_alike, where
from empirisk.data.query import Query
from empirisk.data.read import check_same_schema
from empirisk.data.streamed import StreamedColumn, changed
from empirisk.data.table import Source, Table, known_kinds
from empirisk.data.table_blocks import TableBlocks, join_tables
from empirisk.runtime.deadlines import check_deadline
from empirisk.runtime.errors import DataError, ParameterError
from empirisk.runtime.progress import track
from empirisk.runtime.scalars import is_whole

MOST_ROWS, MOST_VALUES = 1 << 16, 1 << 22
"""How many rows, and how many values of all columns, are taken from a file at a time."""

_BUFFER = 1 << 20  # bytes; without it a whole row group would be read at once


def read_blocks(
    path: str | os.PathLike[str],
    *,
    kinds: Mapping[str, Kind] | None = None,
    sql: str | None = None,
    rows_per_block: int = ROWS_PER_BLOCK,
) -> TableBlocks:
    """Read a table block by block, as often as wanted, from a file that may not fit into memory.

    The blocks together are the table that `read_table` gives: the same rows in the same order, the
    same kinds, the same levels in every block. What some columns are shows only at their end, so
    these are gone through once before the first block, and once more if integers are beyond 2^53.

    Parameters
    ----------
    path : str or path
        A Parquet file, a DuckDB file, or a pattern such as "2024/*.parquet" for Parquet files with
        the same columns.
    kinds : dict, optional
        The kind of some columns, where the one that is found is not the one that is meant:
        {"zip": "text"}. What then does not fit is an error that names its row.
    sql : str, optional
        A query, one SELECT statement, which is run for every pass; Parquet files are the table
        `data` in it. It may need memory of its own, as to sort.
    rows_per_block : int
        With the default, what an `Encoder` makes of the blocks has the bits that it has in memory;
        products of matrices may have other last bits with another number of rows.

    Returns
    -------
    TableBlocks

    Notes
    -----
    If a later pass gives other rows than an earlier one, because a file has changed or because a
    query leaves the order of its rows open, that is an error. CSV files are read as a whole, by
    `read_table`: write them once as Parquet.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "sales.parquet"
    >>> table = Table.of({"shop": ["N", "S"] * 3000, "units": range(6000)})
    >>> pq.write_table(table.to_arrow(), path)
    >>> blocks = read_blocks(path)
    >>> blocks
    TableBlocks of 6,000 rows, 2 columns
      shop   category
      units  number
    >>> [len(block) for block in blocks]
    [4096, 1904]
    >>> blocks.to_table() == table
    True
    >>> [len(block) for block in read_blocks(path, sql="SELECT units FROM data WHERE shop = 'N'")]
    [3000]
    """
    if not is_whole(rows_per_block, 1):
        raise ParameterError(f"rows_per_block is {rows_per_block!r}; give a whole number from 1")
    streamed = StreamedTable.of(_open(path, sql), kinds, rows_per_block)
    nothing = streamed.read(0, streamed.stream.schema.empty_table())
    return TableBlocks(streamed.blocks, nothing, streamed.stream.n_rows)


@dataclass(frozen=True)
class Stream:
    """Record batches, of about so many rows and of some columns, again and again.

    `hashes` has one for each block that a query gave; files are known to be the same without them.
    """

    source: Source
    schema: Any
    n_rows: int
    batches: Callable[[int, list[str]], Iterator[Any]]
    hashes: list[str] | None = None

    def pieces(self, size: int, names: list[str]) -> Iterator[tuple[int, Any]]:
        """One pass over some columns: the numbers of first rows and Arrow tables."""
        wanted = pa.schema([self.schema.field(name) for name in names])
        label, total = f"pieces of {Path(self.source.where).name}", ceil(self.n_rows / size)
        start = 0
        for batch in track(self.batches(size, names), label, total):
            check_deadline()
            found = batch.schema  # files may differ in whether values may be missing
            if (found.names, found.types) != (wanted.names, wanted.types):
                raise DataError(changed(f"{self.source.where} has other columns"))
            yield start, pa.Table.from_batches([batch])
            start += len(batch)
        if start != self.n_rows:
            what = f"{self.source.where} has {start:,} rows, and had {self.n_rows:,}"
            raise DataError(changed(what))

    def check_same(self, i: int, block: Table) -> None:
        """Complain of a block number i that is not what it was before."""
        if self.hashes is None:
            return
        if i == len(self.hashes):
            self.hashes.append(block.digest())
        if block.digest() != self.hashes[i]:
            raise DataError(changed(f"{self.source.where} has other rows in block {i}"))


@dataclass(frozen=True)
class StreamedTable:
    """A stream and its columns."""

    stream: Stream
    columns: list[StreamedColumn]
    rows_per_block: int

    @classmethod
    def of(
        cls, stream: Stream, kinds: Mapping[str, Kind] | None, rows_per_block: int
    ) -> "StreamedTable":
        """Look at the stream until it is known what its columns are."""
        nothing = stream.schema.empty_table()
        arrays = named_arrays(nothing, None, {})
        known = known_kinds(nothing) | check_kinds(kinds, [name for name, _ in arrays])
        table = cls(
            stream,
            [StreamedColumn(name, array, known.get(name), stream.n_rows) for name, array in arrays],
            rows_per_block,
        )
        while unsure := [column for column in table.columns if column.unsure]:
            for column in unsure:
                column.begin()
            for start, piece in table.pieces(unsure):
                for column in unsure:
                    column.look(piece.column(column.name), start)
        for column in table.columns:
            column.settle()
        return table

    def pieces(self, columns: Sequence[StreamedColumn]) -> Iterator[tuple[int, Any]]:
        """One pass over some columns, in pieces of a block at least and of much less than all."""
        size = min(MOST_ROWS, max(self.rows_per_block, MOST_VALUES // len(self.columns)))
        return self.stream.pieces(size, [column.name for column in columns])

    def read(self, start: int, piece: Any) -> Table:
        """A piece as a table."""
        columns = [column.read(piece.column(column.name), start) for column in self.columns]
        return Table(columns, self.stream.source)

    def blocks(self) -> Iterator[Table]:
        """One pass, whose blocks are those of earlier ones, or an error."""
        tables = (self.read(start, piece) for start, piece in self.pieces(self.columns))
        for i, parts in enumerate(regroup(tables, len, self.rows_per_block)):
            block = join_tables([table.rows(which) for table, which in parts])
            self.stream.check_same(i, block)
            yield block


def _open(path: str | os.PathLike[str], sql: str | None) -> Stream:
    files, form = find_alike(path)
    if form == "text":
        raise DataError(
            f"{files[0]} is text, which is read as a whole: write it once as Parquet, "
            "pyarrow.parquet.write_table(read_table(path).to_arrow(), ...), and read that"
        )
    source = Source(where(files), ("Parquet" if sql is None else "the result of a query",))
    files = [os.path.abspath(file) for file in files]  # the folder may be another in a later pass
    if form == "duckdb":
        query = Query.of_database(files[0], sql)
    elif sql is not None:
        query = Query.of_parquet(files, sql)
    else:
        return _of_parquet(files, source)
    return Stream(source, query.schema(), query.count(), query.batches, hashes=[])


def _of_parquet(files: Sequence[str], source: Source) -> Stream:
    stamps = {path: _stamp(path) for path in files}
    n_rows, schema = 0, None
    for path in files:
        with _parquet(path) as file:
            schema = file.schema_arrow if schema is None else schema
            check_same_schema(files[0], schema, path, file.schema_arrow)
            n_rows += file.metadata.num_rows
    return Stream(source, schema, n_rows, partial(_batches, stamps))


def _batches(stamps: Mapping[str, Any], n_rows: int, names: list[str]) -> Iterator[Any]:
    for path, stamp in stamps.items():
        with _parquet(path) as file:
            _check_stamp(path, stamp)
            try:
                yield from file.iter_batches(n_rows, columns=names)
            except (OSError, pa.ArrowException) as error:
                raise _no_parquet(path, error) from error
        _check_stamp(path, stamp)


def _check_stamp(path: str, stamp: Any) -> None:
    if _stamp(path) != stamp:
        raise DataError(changed(f"{path} was written to"))


def _stamp(path: str) -> Any:
    """What changes when a file is written or replaced; None if there is none."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino


def _parquet(path: str) -> Any:
    try:
        return pq.ParquetFile(path, buffer_size=_BUFFER, pre_buffer=False)
    except (OSError, pa.ArrowException) as error:
        raise _no_parquet(path, error) from error


def _no_parquet(path: str, error: Exception) -> DataError:
    return DataError(f"{path} cannot be read as Parquet: {error}")
