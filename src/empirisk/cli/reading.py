"""How a file is to be read, where the command line says so."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from empirisk.data.column import Kind
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
        options = asdict(self)
        if self.delimiter in ("\\t", "tab"):  # a tab is hard to type in a shell
            options["delimiter"] = "\t"
        return read_table(file, kinds=kinds, **options)

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


def _is_memory(memory: Any) -> bool:
    """A model file may come from anyone: whether this is what `memory` gives."""
    return isinstance(memory, dict) and all(
        name in OF_TEXT
        and isinstance(value, OF_TEXT[name])
        and (name != "missing" or all(isinstance(word, str) for word in value))
        for name, value in memory.items()
    )
