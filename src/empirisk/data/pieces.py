"""Pieces of a file of text: some whole records, and what to say of those that are wrong."""

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass, replace
from threading import Lock

from empirisk.data.dialect import Dialect
from empirisk.data.opening import Text
from empirisk.runtime.errors import DataError

LONGEST_RECORD = 1 << 24
"""Bytes; a quote that is not closed is noticed here at the latest."""


@dataclass(frozen=True)
class Place:
    """So many bytes after the beginning of the rows of a file; the line is counted when asked."""

    text: Text
    dialect: Dialect
    bytes: int = 0

    def after(self, n: int) -> "Place":
        """The place n bytes further on."""
        return replace(self, bytes=self.bytes + n)

    @property
    def line(self) -> int:
        """The number of the line, from 1."""
        end, number = self.bytes, self.dialect.skip_lines + 1
        for block in rows_of(self.text.again(), self.dialect):
            if end <= 0:
                break
            number += block.count(self.dialect.newline, 0, end)
            end -= len(block)
        return number

    def __str__(self) -> str:
        return f"{self.text.path}, line {self.line}"


@dataclass(frozen=True)
class Piece:
    """Some whole records, as UTF-8, and where in the file they begin."""

    data: memoryview
    place: Place

    @property
    def dialect(self) -> Dialect:
        """How the records are to be read."""
        return self.place.dialect

    def numbered(self) -> Iterator[tuple[int, list[str]]]:
        """The records that are not empty, each with the line in which it begins."""
        text = bytes(self.data).decode("utf-8", "surrogateescape")
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=self.dialect.delimiter)
        first = line = self.place.line
        with long_fields:
            for record in reader:
                if record or self.dialect.fields == 1:
                    yield line, record
                line = first + reader.line_num

    def line_of(self, row: int) -> int:
        """The line in which a row of the piece begins."""
        return next(line for i, (line, _) in enumerate(self.numbered()) if i == row)

    def refuse_width(self) -> None:
        """Complain of the first record that has too few or too many fields."""
        for line, record in self.numbered():
            if len(record) != self.dialect.fields and (record or self.dialect.fields > 1):
                self._refuse(line, len(record))

    def refuse_extra(self) -> None:
        """Complain of the first record with something after the delimiter that ends all others."""
        for line, record in self.numbered():
            if record[-1]:
                self._refuse(line, len(record))

    def _refuse(self, line: int, found: int) -> None:
        dialect = self.dialect
        first = f"{len(dialect.names)} {'names' if dialect.header else 'fields'} in the first line"
        how = "few" if found < dialect.fields else "many"
        end = ", and the other rows end with a delimiter" if dialect.extra else ""
        raise DataError(
            f"{self.place.text.path}, line {line}: {found} field(s), too {how} for {first}{end}; "
            f"correct the line, or give the delimiter if it is not {dialect.delimiter!r}"
        )


def rows_of(text: Text, dialect: Dialect) -> Iterator[bytes]:
    """The blocks of a text without what stands before its rows."""
    skip = dialect.skip_bytes
    for block in text:
        if skip < len(block):
            yield block[skip:]
        skip = max(skip - len(block), 0)


class LongFields:
    """Lets the csv module read fields of any length inside; its limit is one for all threads."""

    def __init__(self) -> None:
        self.lock, self.inside, self.before = Lock(), 0, 0

    def __enter__(self) -> None:
        with self.lock:
            if not self.inside:
                self.before = csv.field_size_limit(2 * LONGEST_RECORD)
            self.inside += 1

    def __exit__(self, *error: object) -> None:
        with self.lock:
            self.inside -= 1
            if not self.inside:
                csv.field_size_limit(self.before)


long_fields = LongFields()
