"""Cutting a text into pieces that end where records end.

A line feed ends a record unless it stands inside quotes. Where every quote opens a field, closes
one, or is doubled inside one, a line feed stands inside quotes exactly if the number of quotes
before it is odd; that is looked up for all quotes of a block at once. Where a quote stands
elsewhere (12" pipe), the records of that block are gone through one by one.
"""

import csv
import io
import re
from collections.abc import Iterable, Iterator

import numpy as np

from empirisk.data.dialect import Dialect
from empirisk.data.opening import Text, is_ascii
from empirisk.data.pieces import LONGEST_RECORD, Piece, Place, long_fields, rows_of
from empirisk.runtime.arrays import Array, Ints
from empirisk.runtime.errors import DataError

_QUOTE, _LINE_FEED, _RETURN = b'"\n\r'
_BLANK_BEFORE_QUOTE = re.compile(' +"')


def cut_into_pieces(text: Text, dialect: Dialect) -> Iterator[Piece]:
    """Whole records, in pieces of about the size of the blocks."""
    place, carry = Place(text, dialect), b""
    blocks = rows_of(text, dialect)
    block = next(blocks, None)
    while block is not None:
        following = next(blocks, None)
        data = carry + block
        end = _end_of_records(data, place, final=following is None)
        if end == 0 and len(data) > LONGEST_RECORD:
            raise DataError(
                f"{place}: the row that begins here does not end within "
                f"{LONGEST_RECORD:,} bytes; is a quote not closed?"
            )
        if end and not is_ascii(data):
            _check_utf8(data[:end], place)
        if end:
            yield Piece(memoryview(data)[:end], place)
        carry, block, place = data[end:], following, place.after(end)


def _end_of_records(data: bytes, place: Place, *, final: bool) -> int:
    """Where the last whole record ends."""
    newline = place.dialect.newline
    end = len(data) if final else data.rfind(newline) + 1
    if b'"' not in data:
        return end
    quotes = np.flatnonzero(np.frombuffer(data, np.uint8) == _QUOTE)
    inside = int(np.searchsorted(quotes, end))
    if inside % 2 and not final:
        end = data.rfind(newline, 0, int(quotes[inside - 1])) + 1
        inside = int(np.searchsorted(quotes, end))
    if inside % 2 == 0 and _conform(data, quotes[:inside], ord(place.dialect.delimiter), end):
        return end
    return _end_by_records(data, place, final=final)


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


def _end_by_records(data: bytes, place: Place, *, final: bool) -> int:
    """The same, record by record; here a quote out of place is an error of its line."""
    text = data.decode("utf-8", "surrogateescape")
    lines = _Counted(io.StringIO(text, newline=""))
    reader = csv.reader(lines, delimiter=place.dialect.delimiter, strict=True)
    before = end = 0
    with long_fields:
        try:
            for record in reader:
                raw = text[end : lines.characters]
                if _blank_before_quote(record, raw, place.dialect.delimiter):
                    raise DataError(
                        f"{place.after(_length(text[:end]))}: a blank stands before a quote; leave "
                        "it out, so that the quote opens the field"
                    )
                before, end = end, lines.characters
        except csv.Error as error:
            if final or "unexpected end" not in str(error):
                raise DataError(
                    f"{place.after(_length(text[:end]))}: the row that begins here has a quote "
                    "that is not closed, or closed before the end of its field; double the quotes "
                    "that stand inside a quoted field"
                ) from None
    if not final and not text[:end].endswith(("\n", "\r")):
        end = before  # the last record may go on in the next block
    return _length(text[:end])


def _blank_before_quote(record: list[str], raw: str, delimiter: str) -> bool:
    """Whether a field looks quoted but for blanks before it, and is not quoted around them."""
    doubtful = [j for j, field in enumerate(record) if _BLANK_BEFORE_QUOTE.match(field)]
    if not doubtful:
        return False
    reader = csv.reader(io.StringIO(raw, newline=""), delimiter=delimiter, skipinitialspace=True)
    skipped = next(reader)
    return len(skipped) != len(record) or any(skipped[j] != record[j] for j in doubtful)


def _length(text: str) -> int:
    return len(text.encode("utf-8", "surrogateescape"))


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


def _check_utf8(data: bytes, place: Place) -> None:
    try:
        data.decode()
    except UnicodeDecodeError as error:
        raise DataError(
            f"{place.after(error.start)}: the bytes {data[error.start : error.end]!r} are no "
            "UTF-8; correct them, or give the encoding"
        ) from None
