"""The dialect of a file of text: what separates the fields, and whether the first line has names.

It is found from the beginning of the file, said in the table's `source`, and can be given instead.
"""

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import Any

from empirisk.data.spelling import Spelling, is_missing_word
from empirisk.runtime.column_names import default_names
from empirisk.runtime.errors import DataError, ParameterError

DELIMITERS = ("\t", ";", "|", ",")
"""Candidates; of two that fit alike the first is taken: commas also are decimal marks."""

SAMPLE, MOST_RECORDS = 1 << 18, 1000
"""Characters and records at the beginning of a file that are looked at."""

Record = list[str]

_NUMBER = re.compile(r"\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\s*")
_COMMA_NUMBER = re.compile(r"\s*[-+]?(\d+,?\d*|,\d+)([eE][-+]?\d+)?\s*")
_CLEAR_COMMA = re.compile(r"\s*[-+]?(\d*,(\d{1,2}|\d{4,})|(0?|\d{4,}),\d+|\d*,\d+[eE][-+]?\d+)\s*")
_NO_CHARACTER = re.compile("[\ud800-\udfff]")
_FOR_EXCEL = re.compile(r'"?sep=(.)"?[\r\n]', re.IGNORECASE)
_DATE = re.compile(r"\d{4}-\d\d-\d\d([ T].*)?")


@dataclass(frozen=True)
class Dialect:
    """How the records of a file are to be read.

    Attributes
    ----------
    delimiter, decimal : str
    names : tuple of str
        One for each field; default ones where the file has none.
    named : tuple of bool
        Whether the file gives the name.
    header : bool
        Whether the first record holds names.
    skip_bytes, skip_lines : int
        What stands before the first row: empty lines and the header, as UTF-8.
    extra : bool
        Whether every row ends with a delimiter and the header does not.
    newline : bytes
        What ends a line: a line feed, or a carriage return in files without one.
    """

    delimiter: str
    decimal: str
    names: tuple[str, ...]
    named: tuple[bool, ...]
    header: bool
    skip_bytes: int
    skip_lines: int
    extra: bool
    newline: bytes

    @property
    def fields(self) -> int:
        """The number of fields in a row."""
        return len(self.names) + self.extra


@dataclass(frozen=True)
class Given:
    """What the user says about the dialect; None where it is to be found."""

    delimiter: str | None = None
    decimal: str | None = None
    header: bool | None = None
    names: Sequence[str] | None = None

    def __post_init__(self) -> None:
        if self.delimiter is not None and not _may_separate(self.delimiter):
            raise ParameterError(f"delimiter is {self.delimiter!r}; give one ASCII character")
        if self.decimal not in (None, ".", ","):
            raise ParameterError(f"decimal is {self.decimal!r}; give '.' or ','")
        if self.decimal == self.delimiter == ",":
            raise ParameterError("delimiter and decimal are both ','; one of them must differ")
        if self.header not in (None, True, False):
            raise ParameterError(
                f"header is {self.header!r}; give True or False, and the names as names=[...]"
            )
        if isinstance(self.names, str):
            raise ParameterError(f"names is {self.names!r:.60}; give a list with a name each")


def _may_separate(delimiter: Any) -> bool:
    one = isinstance(delimiter, str) and len(delimiter) == 1
    return one and delimiter.isascii() and delimiter not in '"\r\n'


def find_dialect(sample: str, path: str, given: Given, *, whole: bool) -> Dialect:
    """The dialect of a file.

    Parameters
    ----------
    sample : str
        The beginning of the text.
    path : str
        For messages.
    given : Given
    whole : bool
        Whether the sample is all of the file.
    """
    text = sample.lstrip("\r\n")
    if not text.strip():
        raise DataError(f"{path} is empty; wanted a line of names and rows of data")
    separator = _FOR_EXCEL.match(text)
    if separator:
        raise DataError(
            f"{path}, line {_count_lines(sample[: len(sample) - len(text)]) + 1}: this line tells "
            f"Excel that {separator[1]!r} separates fields, and is no part of the table: delete it"
        )
    newline = "\r" if "\r" in text and "\n" not in text else "\n"
    delimiter = given.delimiter or _find_delimiter(text, whole)
    first, body, lines = _records(text, delimiter, whole)
    if not first:
        raise DataError(f"{path}, line 1: the first line is too long to be a line of names")
    decimal = given.decimal or _find_decimal([first, *body], delimiter)
    header = _has_header(first, body, decimal) if given.header is None else given.header
    before = text[: _length(text, lines)] if header else ""
    skipped = sample[: len(sample) - len(text)] + before
    extra = header and bool(body) and all(len(r) == len(first) + 1 and not r[-1] for r in body)
    named = tuple(header and bool(name.strip()) for name in first)
    return Dialect(
        delimiter=delimiter,
        decimal=decimal,
        names=_names(first if header else [""] * len(first), path, given, skipped),
        named=named if given.names is None else (True,) * len(first),
        header=header,
        skip_bytes=len(skipped.encode("utf-8", "surrogateescape")),
        skip_lines=_count_lines(skipped),
        extra=extra,
        newline=newline.encode(),
    )


def _records(text: str, delimiter: str, whole: bool) -> tuple[Record, list[Record], int]:
    """The first record, some after it that are complete, and the lines of the first."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    records, lines = [], 0
    for record in islice(_until_error(reader), MOST_RECORDS):
        if record:
            records.append(record)
            lines = lines or reader.line_num
    complete = records if whole else records[:-1]
    return (complete[0] if complete else []), complete[1:], lines


def _until_error(reader: Any) -> Iterable[Record]:
    try:
        yield from reader
    except csv.Error:  # a field without end: it will be found where the rows are read
        return


def _length(text: str, lines: int) -> int:
    """The number of characters in the first lines."""
    stream = io.StringIO(text, newline="")
    return sum(len(next(stream, "")) for _ in range(lines))


def _count_lines(text: str) -> int:
    return len(io.StringIO(text, newline="").readlines())


def _find_delimiter(text: str, whole: bool) -> str:
    """The candidate that cuts most records into the same number of fields, more than one."""
    best, found = 0.0, ","
    for delimiter in DELIMITERS:
        first, body, _ = _records(text, delimiter, whole)
        count, times = Counter(map(len, [first, *body])).most_common(1)[0]
        share = times / (len(body) + 1) if count > 1 else 0.0
        if share > best:
            best, found = share, delimiter
    return found


def _find_decimal(records: list[Record], delimiter: str) -> str:
    """A comma where a column has commas that cannot stand for thousands, and none has points."""
    if delimiter == ",":
        return "."
    body = records[1:] or records
    columns = [_below(body, j) for j in range(len(records[0]))]
    points = any(_all(_NUMBER, column) and "." in "".join(column) for column in columns)
    commas = any(
        _all(_COMMA_NUMBER, column) and any(map(_CLEAR_COMMA.fullmatch, column))
        for column in columns
    )
    return "," if commas and not points else "."


def _below(body: list[Record], j: int) -> list[str]:
    """The fields of a column that are not missing."""
    fields = [record[j] for record in body if j < len(record)]
    return [field for field in fields if not is_missing_word(field, Spelling())]


def _all(form: re.Pattern[str], fields: list[str]) -> bool:
    return bool(fields) and all(map(form.fullmatch, fields))


def _has_header(first: Record, body: list[Record], decimal: str) -> bool:
    """Words above numbers or dates are names; numbers above numbers are data, unless like years."""
    number = _COMMA_NUMBER if decimal == "," else _NUMBER
    if not body:
        return not all(number.fullmatch(field) for field in first)
    data, words = [], []
    for j, field in enumerate(first):
        below = _below(body, j)
        if not below or not field.strip():
            continue
        form = next((form for form in (number, _DATE) if _all(form, below)), None)
        if form is None:
            words.append((field, below))
        elif form.fullmatch(field):
            data.append(field)
        else:
            return True
    return not data or _like_years(data, words)


def _like_years(data: list[str], words: list[tuple[str, list[str]]]) -> bool:
    """Whether numbers rise one after the other, beside words that do not come again below."""
    rising = all(field.strip().isdigit() for field in data) and all(
        int(a) < int(b) for a, b in pairwise(data)
    )
    new = bool(words) and not any(word in below for word, below in words)
    return len(data) > 1 and rising and new


def _names(first: Record, path: str, given: Given, skipped: str) -> tuple[str, ...]:
    if given.names is not None:
        names = [str(name) for name in given.names]
        if len(names) != len(first):
            raise ParameterError(f"there are {len(names)} names for {len(first)} fields in {path}")
    else:
        taken = {field.strip() for field in first}
        names = [
            field.strip() or _free(name, taken)
            for field, name in zip(first, default_names(len(first)), strict=True)
        ]
    places: dict[str, int] = {}
    for j, name in enumerate(names):
        if name in places:
            raise DataError(
                f"{path}, line {_count_lines(skipped)}: the name {name!r} stands for columns "
                f"{places[name] + 1} and {j + 1}; rename one of them"
            )
        if _NO_CHARACTER.search(name):
            raise DataError(
                f"{path}, line {_count_lines(skipped)}: the name of column {j + 1} is no UTF-8; "
                "correct it, or give the encoding"
            )
        places[name] = j
    return tuple(names)


def _free(name: str, taken: set[str]) -> str:
    """A name for a column without one, longer where another column of the file has it."""
    while name in taken:
        name += "_"
    return name
