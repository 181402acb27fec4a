"""How a file is to be read, where the command line says so."""

from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from empirisk.data.column import Kind
from empirisk.data.delimited import dialect_of
from empirisk.data.dialect import Dialect, Given
from empirisk.data.opening import find_files, format_of
from empirisk.data.read import read_table
from empirisk.data.table import Table
from empirisk.runtime.errors import DataError

OF_TEXT: dict[str, Any] = {
    "delimiter": str,
    "decimal": str,
    "encoding": str,
    "header": bool,
    "missing": tuple,
}
"""What a model remembers of the reading of its training table, with the types."""

FOUND: dict[str, Any] = {"delimiter": str, "decimal": str, "header": bool, "names": list}
"""What it remembers of what was found in the text."""


@dataclass(frozen=True)
class Reading:
    """What `read_table` would else find by itself; None where it shall."""

    sql: str | None = None
    delimiter: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    header: bool | None = None
    missing: tuple[str, ...] | None = None
    max_bytes: int | None = None

    def table(self, file: str, kinds: Mapping[str, Kind] | None = None) -> Table:
        """The table in the file."""
        options = asdict(self) | {"delimiter": self._separator()}
        return read_table(file, kinds=kinds, **options)

    def _separator(self) -> str | None:
        """The delimiter; a tab is hard to type in a shell."""
        return "\t" if self.delimiter in ("\\t", "tab") else self.delimiter

    def dialect(self, file: str) -> Dialect | None:
        """How the text of a file is read, the first of several; None of what is no text."""
        first = find_files(file)[0]
        if format_of(first) != "text":
            return None
        given = Given(self._separator(), self.decimal, self.header)
        return dialect_of(first, given, self.encoding, self.max_bytes)

    def found(self, file: str) -> dict[str, Any]:
        """What is found in the text, for tables to come."""
        dialect = self.dialect(file)
        return {} if dialect is None else _found_in(dialect)

    def memory(self) -> dict[str, Any]:
        """What was said of the text, for tables to come."""
        given = asdict(self)
        return {name: given[name] for name in OF_TEXT if given[name] is not None}

    def with_memory(self, memory: Any, file: str) -> "Reading":
        """What is not said here is as it was said in training, if this file is text too."""
        if not _is_memory(memory):
            raise DataError(
                f"the model says how to read a table by {memory!r:.80}, which makes no sense; "
                "`empirisk predict` needs a file that `empirisk fit` wrote"
            )
        if format_of(find_files(file)[0]) != "text":
            return self
        given = asdict(self)
        return replace(self, **{n: value for n, value in memory.items() if given[n] is None})

    def as_found(self, found: Any, file: str, columns: Collection[str]) -> "Reading":
        """Where nothing is said, this text is read as the one of training was found to be.

        That is so where it then has the columns that are wanted (of a query, which may take any,
        some column of that text); else it is another text, to be read as it looks.
        """
        if not found or format_of(find_files(file)[0]) != "text":
            return self
        if not _is_found(found):
            raise DataError(
                f"the model says what was found in its training table by {found!r:.80}, which "
                "makes no sense; `empirisk predict` needs a file that `empirisk fit` wrote"
            )
        delimiter = found["delimiter"] if self.delimiter is None else self.delimiter
        comma = found["decimal"] == "," != delimiter  # a point may be there for want of decimals
        decimal = "," if comma and self.decimal is None else self.decimal
        headers = (None, found["header"]) if self.header is None else (self.header,)
        for header in headers:
            trial = replace(self, delimiter=delimiter, decimal=decimal, header=header)
            names = trial._names(file)
            fits = names & set(found["names"]) if self.sql else names >= set(columns)
            if fits:
                return trial
        return self

    def _names(self, file: str) -> set[str]:
        """The names of the columns; none where the text cannot be read like this."""
        try:
            dialect = self.dialect(file)
        except DataError:
            return set()
        return set() if dialect is None else set(dialect.names)


def _found_in(dialect: Dialect) -> dict[str, Any]:
    """What is remembered of a dialect."""
    return {
        "delimiter": dialect.delimiter,
        "decimal": dialect.decimal,
        "header": dialect.header,
        "names": list(dialect.names),
    }


def _is_found(found: Any) -> bool:
    """A model file may come from anyone: whether this is what `found` gives."""
    return (
        isinstance(found, dict)
        and found.keys() == FOUND.keys()
        and all(isinstance(found[name], kind) for name, kind in FOUND.items())
        and all(isinstance(name, str) for name in found["names"])
    )


def _is_memory(memory: Any) -> bool:
    """A model file may come from anyone: whether this is what `memory` gives."""
    return isinstance(memory, dict) and all(
        name in OF_TEXT
        and isinstance(value, OF_TEXT[name])
        and (name != "missing" or all(isinstance(word, str) for word in value))
        for name, value in memory.items()
    )
