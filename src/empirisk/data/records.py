"""Cutting a text into pieces that end where records end, and finding the line of a fault.

A line feed ends a record unless it stands inside quotes. Where every quote opens a field, closes
one, or is doubled inside one, a line feed stands inside quotes exactly if the number of quotes
before it is odd; that is looked up for all quotes of a block at once. Where a quote stands
elsewhere (12" pipe), the records of that block are gone through one by one.
"""

import csv
import io
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from empirisk.data.dialect import Dialect
from empirisk.data.opening import count
from empirisk.runtime.arrays import Array, Ints
from empirisk.runtime.errors import DataError

LONGEST_RECORD = 1 << 24
"""Bytes; a quote that is not closed is noticed here at the latest."""

_QUOTE, _LINE_FEED, _RETURN = b'"\n\r'


@dataclass(frozen=True)
class Piece:
    """Some whole records, as UTF-8, of which the first begins in a line of the file."""

    data: memoryview
    line: int
    path: str
    dialect: Dialect

    def numbered(self) -> Iterator[tuple[int, list[str]]]:
        """The records that are not empty, each with the line in which it begins."""
        with _long_fields():
            text = bytes(self.data).decode("utf-8", "surrogateescape")
            stream = io.StringIO(text, newline="")
            reader, line = csv.reader(stream, delimiter=self.dialect.delimiter), self.line
            for record in reader:
                if record or self.dialect.fields == 1:
                    yield line, record
                line = self.line + reader.line_num

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
        wanted = len(dialect.names)
        first = f"{wanted} {'names' if dialect.header else 'fields'} in the first line"
        how = "few" if found < dialect.fields else "many"
        end = ", and the other rows end with a delimiter" if dialect.extra else ""
        raise DataError(
            f"{self.path}, line {line}: {found} field(s), too {how} for {first}{end}; correct the "
            f"line, or give the delimiter if it is not {dialect.delimiter!r}"
        )


def pieces(blocks: Iterable[bytes], path: str, dialect: Dialect) -> Iterator[Piece]:
    """Whole records, in pieces of about the size of the blocks.

    Parameters
    ----------
    blocks : iterable of bytes
        UTF-8, perhaps.
    path : str
        For messages.
    dialect : Dialect
    """
    carry, line = b"", dialect.skip_lines + 1
    stream = _without_beginning(iter(blocks), dialect.skip_bytes)
    block = next(stream, None)
    while block is not None:
        following = next(stream, None)
        data = carry + block
        cut = _end_of_records(data, line, path, dialect, final=following is None)
        if cut == 0 and len(data) > LONGEST_RECORD:
            raise DataError(
                f"{path}, line {line}: the row that begins here does not end within "
                f"{LONGEST_RECORD >> 20} MiB; is a quote not closed?"
            )
        if cut:
            if not data.isascii():
                _check_utf8(data[:cut], line, path)
            whole = memoryview(data)[:cut]
            yield Piece(whole, line, path, dialect)
            line += count(whole, dialect.newline)
        carry, block = data[cut:], following


def _without_beginning(blocks: Iterator[bytes], skip: int) -> Iterator[bytes]:
    for block in blocks:
        if skip < len(block):
            yield block[skip:]
        skip = max(skip - len(block), 0)


def _end_of_records(data: bytes, line: int, path: str, dialect: Dialect, *, final: bool) -> int:
    """Where the last whole record ends."""
    quotes = np.flatnonzero(np.frombuffer(data, np.uint8) == _QUOTE) if b'"' in data else None
    end = len(data) if final else data.rfind(dialect.newline) + 1
    if quotes is None:
        return end
    inside = int(np.searchsorted(quotes, end))
    if inside % 2 and not final:
        end = data.rfind(dialect.newline, 0, int(quotes[inside - 1])) + 1
        inside = int(np.searchsorted(quotes, end))
    if inside % 2 == 0 and _conform(data, quotes[:inside], ord(dialect.delimiter), end):
        return end
    return _end_by_records(data, line, path, dialect, final=final)


def _conform(data: bytes, quotes: Ints, delimiter: int, end: int) -> bool:
    """Whether each quote opens a field, closes one, or is one of two inside a field."""
    if quotes.size == 0:
        return True
    characters = np.frombuffer(data, np.uint8)
    opening, closing = quotes[0::2], quotes[1::2]
    before = characters[opening - 1]
    after = characters[np.minimum(closing + 1, end - 1)]
    opens = _ends_a_field(before, delimiter)
    opens[0] |= opening[0] == 0
    closes = _ends_a_field(after, delimiter)
    closes[-1] |= closing[-1] == end - 1
    return bool(opens.all() and closes.all())


def _ends_a_field(characters: Array, delimiter: int) -> Array:
    """Whether a quote may stand beside these: what ends a field, or another quote."""
    ends = characters == delimiter
    ends |= characters == _LINE_FEED
    ends |= characters == _RETURN
    ends |= characters == _QUOTE
    return ends


def _end_by_records(data: bytes, line: int, path: str, dialect: Dialect, *, final: bool) -> int:
    """The same, record by record; here a quote out of place is an error of its line."""
    text = data.decode("utf-8", "surrogateescape")
    lines = _Counted(io.StringIO(text, newline=""))
    reader = csv.reader(lines, delimiter=dialect.delimiter, strict=True)
    end = before = begin = 0
    with _long_fields():
        try:
            for record in reader:
                _refuse_blank_before_quote(record, path, line + begin)
                before, end, begin = end, lines.characters, reader.line_num
        except csv.Error as error:
            if final or "unexpected end" not in str(error):
                raise DataError(
                    f"{path}, line {line + begin}: the row that begins here has a quote that is "
                    "not closed, or closed before the end of its field; double the quotes that "
                    "stand inside a quoted field"
                ) from None
    if not final and not text[:end].endswith(("\n", "\r")):
        end = before  # the last record may go on in the next block
    return len(text[:end].encode("utf-8", "surrogateescape"))


def _refuse_blank_before_quote(record: list[str], path: str, line: int) -> None:
    for field in record:
        if field.startswith(" ") and field.lstrip(" ").startswith('"'):
            raise DataError(
                f"{path}, line {line}: a blank stands before the quote of the field "
                f"{field[:30]!r}; leave out the blank, so that the quote opens the field"
            )


class _Counted:
    """Lines, and the number of characters in those that were taken."""

    def __init__(self, lines: Iterable[str]) -> None:
        self.lines, self.characters = iter(lines), 0

    def __iter__(self) -> "_Counted":
        return self

    def __next__(self) -> str:
        line = next(self.lines)
        self.characters += len(line)
        return line


def _check_utf8(data: bytes, line: int, path: str) -> None:
    try:
        data.decode()
    except UnicodeDecodeError as error:
        raise DataError(
            f"{path}, line {line + data.count(_LINE_FEED, 0, error.start)}: the bytes "
            f"{data[error.start : error.end]!r} are no UTF-8; correct them, or give the encoding"
        ) from None


@contextmanager
def _long_fields() -> Iterator[Any]:
    limit = csv.field_size_limit(LONGEST_RECORD * 2)
    try:
        yield
    finally:
        csv.field_size_limit(limit)
