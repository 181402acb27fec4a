"""SQL through DuckDB, sealed off: it reads the given files and nothing else, and writes nothing.

It runs on one thread. On several, groups come in another order each time, and sums with other last
digits; so a query could not be relied on to give the same rows twice.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from empirisk.data.column import PER_SECOND
from empirisk.data.opening import where
from empirisk.data.table import Table
from empirisk.runtime.errors import DataError

_SEALED: dict[str, Any] = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
    "allow_persistent_secrets": "false",
    "python_enable_replacements": "false",
    "threads": 1,
}


@dataclass(frozen=True)
class Query:
    """A SELECT statement that can be run again and again.

    Examples
    --------
    >>> table = Table.of({"size": [1, 5, 3]})
    >>> Query.of_table(table, "SELECT max(size) AS top FROM data", "sizes").table().to_pylist()
    [{'top': 5}]
    """

    sql: str
    where: str
    connect: Callable[[], AbstractContextManager[Any]]

    @classmethod
    def of_database(cls, path: str, sql: str | None) -> "Query":
        """On the tables of a DuckDB file."""
        if sql is None:
            with _sealed(path, [], read_only=True) as connection:
                found = connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()
            tables = ", ".join(sorted(name for (name,) in found)) or "no table"
            raise DataError(
                f'{path} is a database with {tables}; give sql="SELECT * FROM ...", on the command '
                "line --sql"
            )
        return cls(sql, path, lambda: _sealed(path, [], read_only=True))

    @classmethod
    def of_parquet(cls, paths: Sequence[str], sql: str) -> "Query":
        """On Parquet files, which are called `data` in it."""
        return cls(sql, paths[0], lambda: _with_parquet(paths))

    @classmethod
    def of_table(cls, table: Table, sql: str, where: str) -> "Query":
        """On a table, which is called `data` in it."""
        return cls(sql, where, lambda: _with_table(table))

    def table(self) -> Any:
        """The result as an Arrow table."""
        with self._relation() as relation:
            return relation.to_arrow_table()

    def schema(self) -> Any:
        """The names and types of the columns of the result."""
        with self._relation() as relation:
            return relation.limit(0).to_arrow_table().schema

    def count(self) -> int:
        """How many rows the result has."""
        with self._relation() as relation:
            return int(relation.count("*").fetchall()[0][0])

    def batches(self, n_rows: int, names: Sequence[str]) -> Iterator[Any]:
        """Columns of the result in batches of about so many rows, each found when it is wanted."""
        columns = ", ".join(map(_quoted, names))
        with self._relation() as relation:
            part = relation.project(columns)
            # DuckDB before 1.4 has the other name only.
            reader = getattr(part, "to_arrow_reader", None) or part.fetch_arrow_reader
            yield from reader(n_rows)

    @contextmanager
    def _relation(self) -> Iterator[Any]:
        with self.connect() as connection:
            try:
                statements = connection.extract_statements(str(self.sql))
                if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
                    raise DataError(f"sql has to be one SELECT statement, not {self.sql!r:.80}")
                yield connection.sql(statements[0])
            except (duckdb.Error, pa.ArrowException, OSError) as error:
                message = str(error).split("\n")[0]
                raise DataError(
                    f"{self.where}: the query {self.sql!r:.80} failed: {message}"
                ) from error


@contextmanager
def _with_parquet(paths: Sequence[str]) -> Iterator[Any]:
    files = [str(Path(path).absolute()) for path in paths]
    with _sealed(":memory:", files) as connection:
        try:
            relation = connection.read_parquet(files)
            _refuse_other_durations(files)
            relation.project(_durations_in_seconds(files[0], relation.columns)).create_view("data")
        except (duckdb.Error, pa.ArrowException) as error:
            raise DataError(f"{where(paths)} cannot be read as Parquet: {error}") from error
        yield connection


def _refuse_other_durations(files: Sequence[str]) -> None:
    """Raise a DataError where the counts of one file are not in the unit of those of another."""
    first, *others = [
        {
            field.name: field.type
            for field in pq.read_schema(file)
            if pa.types.is_duration(field.type)
        }
        for file in files
    ]
    for file, durations in zip(files[1:], others, strict=True):
        if durations != first:
            raise DataError(
                f"{file} has durations in other columns or units than {files[0]}; files that are "
                "read together need the same columns"
            )


def _durations_in_seconds(path: str, names: Sequence[str]) -> str:
    """The columns of a Parquet file; of durations DuckDB sees the counts alone, not their unit.

    The seconds are those of `whole_and_part`, to the last bit. DuckDB's names go by place: it takes
    two that differ in case alone for one, and changes the second.
    """
    found = []
    for field, name in zip(pq.read_schema(path), map(_quoted, names), strict=False):
        if pa.types.is_duration(field.type):
            scale = PER_SECOND[field.type.unit]
            part = f"(({name} % {scale} + {scale}) % {scale})"
            found.append(f"({name} - {part}) // {scale} + {part} / {scale} AS {name}")
    return f"* REPLACE ({', '.join(found)})" if found else "*"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


@contextmanager
def _with_table(table: Table) -> Iterator[Any]:
    with _sealed(":memory:", []) as connection:
        connection.register("data", table.to_arrow())
        yield connection


@contextmanager
def _sealed(database: str, files: Sequence[str], *, read_only: bool = False) -> Iterator[Any]:
    try:
        connection = duckdb.connect(database, read_only=read_only, config=_SEALED)
    except duckdb.Error as error:
        raise DataError(f"{database} cannot be opened as a DuckDB file: {error}") from error
    with connection:
        if files:
            connection.execute("SET allowed_paths = ?", [list(files)])
        connection.execute("SET enable_external_access = false")
        connection.execute("SET lock_configuration = true")
        yield connection
