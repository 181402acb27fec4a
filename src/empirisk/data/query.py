"""SQL through DuckDB, sealed off: it reads the given files and nothing else, and writes nothing."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb

from empirisk.data.opening import where
from empirisk.data.table import Table
from empirisk.runtime.errors import DataError

_SEALED: dict[str, Any] = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
    "allow_persistent_secrets": "false",
    "python_enable_replacements": "false",
}


def query_database(path: str, sql: str | None) -> Any:
    """What a query gives on the tables of a DuckDB file, as an Arrow table."""
    with _sealed(path, [], read_only=True) as connection:
        if sql is None:
            found = connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()
            tables = ", ".join(sorted(name for (name,) in found)) or "no table"
            raise DataError(f'{path} is a database with {tables}; give sql="SELECT * FROM ..."')
        return _run(connection, sql, path)


def query_parquet(paths: Sequence[str], sql: str) -> Any:
    """What a query gives on Parquet files, which are called `data` in it, as an Arrow table."""
    with _sealed(":memory:", [str(Path(path).absolute()) for path in paths]) as connection:
        try:
            files = connection.read_parquet([str(Path(path).absolute()) for path in paths])
            files.create_view("data")
        except duckdb.Error as error:
            raise DataError(f"{where(paths)} cannot be read as Parquet: {error}") from error
        return _run(connection, sql, paths[0])


def query_table(table: Table, sql: str, where: str) -> Any:
    """What a query gives on a table, which is called `data` in it, as an Arrow table."""
    with _sealed(":memory:", []) as connection:
        connection.register("data", table.to_arrow())
        return _run(connection, sql, where)


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


def _run(connection: Any, sql: str, where: str) -> Any:
    try:
        statements = connection.extract_statements(sql)
        if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
            raise DataError(f"sql has to be one SELECT statement, not {sql!r:.80}")
        return connection.sql(statements[0]).to_arrow_table()
    except duckdb.Error as error:
        message = str(error).split("\n")[0]
        raise DataError(f"{where}: the query {sql!r:.80} failed: {message}") from error
