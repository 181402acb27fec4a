"""`read_table`: CSV, TSV, Parquet and SQL, one file or many."""

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from empirisk.data.column import Kind
from empirisk.data.delimited import read_delimited
from empirisk.data.dialect import Given
from empirisk.data.opening import find_alike, where
from empirisk.data.query import Query
from empirisk.data.table import Source, Table
from empirisk.runtime.errors import DataError, ParameterError


def read_table(
    path: str | os.PathLike[str],
    *,
    kinds: Mapping[str, Kind] | None = None,
    sql: str | None = None,
    delimiter: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    header: bool | None = None,
    names: Sequence[str] | None = None,
    missing: Iterable[str] | None = None,
    max_bytes: int | None = None,
) -> Table:
    """Read a table from a file, and say how it was read.

    Parameters
    ----------
    path : str or path
        A file of text (CSV, TSV, also packed with gzip, bzip2 or zstd), a Parquet file, or a DuckDB
        file; or a pattern such as "2024/*.csv" for files with the same columns. Nothing is read
        over a network.
    kinds : dict, optional
        The kind of some columns, where the one that is found is not the one that is meant:
        {"zip": "text"}. What then does not fit is an error that names its line.
    sql : str, optional
        A query, one SELECT statement. CSV and Parquet files are the table `data` in it.
    delimiter, decimal : str, optional
        What separates fields (found among , ; | and tab) and what comes before decimals (a point,
        or a comma where the delimiter is another).
    encoding : str, optional
        Found from a byte-order mark; else UTF-8 or, if it is not that, Windows-1252.
    header : bool, optional
        Whether the first line holds names. It does not if it has numbers above numbers or dates
        above dates, and no words above them; then the columns are called x0, x1, ...
    names : sequence of str, optional
        Names to use instead of those in the file.
    missing : sequence of str, optional
        Fields that are missing, in all columns, besides empty ones; nothing else is then.
    max_bytes : int, optional
        How many bytes of text to accept. By default a packed file may hold 8 GiB, but if more
        than 16 MiB, not more than 200 times its size.

    Returns
    -------
    Table
        Its `source` says how the file was read and which columns are worth a look.

    Notes
    -----
    - Rows have the same number of fields, or the line is named in an error; so is the line of a
      quote that is not closed. Empty lines are left out; in a file with one column they are missing
      values. Names are used without blanks around them; if one stands twice, that is an error.
      Columns without name and values, as from commas at the end of lines, are left out.
    - A field is missing if it is empty, without quotes. In a column that holds nothing but numbers,
      or dates, or truth values otherwise, so are NA, N/A, #N/A, NaN, null, None, ?, . and -; in a
      column of words these are words.
    - Numbers are 12, -1.5, 2e-3 and inf. Written like identifiers, with a leading zero (01234), a
      plus sign or more digits than float64 holds (integers beyond 2^53), they make a column of
      words, and so do thousands separators, units and percent signs.
    - Dates are 2024-12-31 and 2024-12-31 23:59:59, with fractions of a second and a zone if need
      be; 31.12.2024 and 12/31/2024 are words. Truth values are true and false, yes and no, in any
      case; 0 and 1 are numbers.
    - Words are a category if they repeat: d different ones among n values, d at most n / 2 and at
      most 10 sqrt(n); else they are text. A column without any value counts as numbers.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "people.csv"
    >>> size = path.write_text("zip;age;sex\\n01069;31;f\\n10115;NA;m\\n80331;5;f\\n01067;40;m\\n")
    >>> table = read_table(path)
    >>> table
    Table of 4 rows, 3 columns
      zip  text      0 missing  01069, 10115, 80331
      age  number    1 missing  31, 5, 40
      sex  category  0 missing  f, m
    >>> print(table.source)
    /.../people.csv: delimiter ';', decimal '.', encoding utf-8, names in line 1
    'zip' is read as words because of '01069' in line 2 of people.csv
    >>> read_table(path, sql="SELECT avg(age) AS age FROM data")["age"].numbers().round(2)
    array([25.33])
    """
    files, form = find_alike(path)
    missing = _words(missing)
    if form == "text":
        given = Given(delimiter, decimal, header, names)
        table = read_delimited(
            files,
            given,
            kinds=None if sql else kinds,
            encoding=encoding,
            missing=missing,
            max_bytes=max_bytes,
        )
        if sql is None:
            return table
        return _of_query(Query.of_table(table, sql, files[0]), files, kinds)
    for option, value in (
        ("delimiter", delimiter),
        ("decimal", decimal),
        ("encoding", encoding),
        ("header", header),
        ("names", names),
        ("missing", missing),
    ):
        if value is not None:
            raise ParameterError(f"{option} is for files of text, and {files[0]} is none")
    if form == "duckdb":
        return _of_query(Query.of_database(files[0], sql), files, kinds)
    if sql is not None:
        return _of_query(Query.of_parquet(files, sql), files, kinds)
    return _read_parquet(files, kinds)


def _words(missing: Any) -> tuple[str, ...] | None:
    if missing is None:
        return None
    words = () if isinstance(missing, str) else tuple(missing)
    if not all(isinstance(word, str) for word in words) or isinstance(missing, str):
        raise ParameterError(f"missing is {missing!r:.60}; give a list of words, as in the file")
    return words


def _of_query(query: Query, files: Sequence[str], kinds: Mapping[str, Kind] | None) -> Table:
    table = Table.of(query.table(), kinds)
    return Table(table.columns, Source(where(files), ("the result of a query",)))


def _read_parquet(files: Sequence[str], kinds: Mapping[str, Kind] | None) -> Table:
    frames = []
    for file in files:
        try:
            frames.append(_nullable(pq.read_table(file, partitioning=None)))
        except (OSError, pa.ArrowException) as error:
            raise DataError(f"{file} cannot be read as Parquet: {error}") from error
        check_same_schema(files[0], frames[0].schema, file, frames[-1].schema)
    table = Table.of(pa.concat_tables(frames), kinds)
    return Table(table.columns, Source(where(files), ("Parquet",)))


def _nullable(frame: Any) -> Any:
    """The same columns, which may all have missing values: files need not agree in that."""
    fields = [field.with_nullable(True) for field in frame.schema]
    schema = pa.schema(fields, frame.schema.metadata)
    return pa.Table.from_arrays(frame.columns, schema=schema)


def check_same_schema(first: str, wanted: Any, file: str, found: Any) -> None:
    """Complain of a file whose columns are not those of the first."""
    if found.equals(wanted):
        return
    for a, b in zip(found, wanted, strict=False):
        if a.name != b.name or a.type != b.type:
            raise DataError(
                f"{file} has {a.name!r} ({a.type}) where {first} has {b.name!r} ({b.type}); files "
                "that are read together need the same columns"
            )
    if len(found) != len(wanted):
        raise DataError(
            f"{file} has {len(found)} columns and {first} {len(wanted)}; files that are read "
            "together need the same columns"
        )
