"""Reading files of text (CSV, TSV) into columns: cut at record ends, read pieces at the same time.

Each piece is cut into fields by Arrow and its fields are read in the way of their column; the
pieces come together in order, so the result does not depend on the number of threads.
"""

import shlex
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from math import ceil
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa
from joblib import cpu_count

from empirisk.data.column import Column, Kind, check_kinds
from empirisk.data.cutting import cut_into_columns
from empirisk.data.dialect import SAMPLE, Dialect, Given, find_dialect
from empirisk.data.fields import BEFORE, Fields, Misfit, Way, read_fields
from empirisk.data.kinds import refusal
from empirisk.data.opening import Text, where
from empirisk.data.pieces import Piece
from empirisk.data.records import cut_into_pieces
from empirisk.data.spelling import MISSING_WORDS, Spelling
from empirisk.data.table import Source, Table
from empirisk.runtime.deadlines import check_deadline
from empirisk.runtime.errors import DataError
from empirisk.runtime.parallel import parallel
from empirisk.runtime.progress import track
from empirisk.runtime.workers import nested

T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True)
class TextFile:
    """A file of text and its dialect."""

    path: str
    text: Text
    dialect: Dialect

    def pieces(self) -> Iterable[Piece]:
        """Its rows in whole records."""
        size = Path(self.path).stat().st_size
        blocks = None if self.text.packed else ceil(size / self.text.block)
        pieces = cut_into_pieces(self.text, self.dialect)
        return track(pieces, f"blocks of {Path(self.path).name}", blocks)


def read_delimited(
    paths: Sequence[str],
    given: Given,
    *,
    kinds: Mapping[str, Kind] | None,
    encoding: str | None,
    missing: Iterable[str] | None,
    max_bytes: int | None,
) -> Table:
    """The table in one or several files of text that have the same columns."""
    first = _open(paths[0], given, encoding, max_bytes)
    found = first.dialect
    same = replace(given, delimiter=found.delimiter, decimal=found.decimal, header=found.header)
    files = [first, *(_open(path, same, encoding, max_bytes) for path in paths[1:])]
    for file in files[1:]:
        _check_same_names(first, file)
    asked = check_kinds(kinds, list(first.dialect.names))
    spelling = Spelling(first.dialect.decimal, None if missing is None else tuple(missing))
    fields = [Fields(name, spelling, asked.get(name)) for name in first.dialect.names]
    notes = _read(files, fields)
    again = [each if each.way.form == "nothing" else None for each in fields]
    if any(again):
        for each in filter(None, again):
            each.read_again()
        _read(files, again)
    columns = parallel(Fields.column, fields, n_jobs=-1)
    kept = _used(first.dialect, columns)
    notes += [note for column in kept for note in _missing_levels(column)]
    notes += _assumptions(first.dialect, given, kept, left_out=len(columns) - len(kept))
    return Table(kept, _source(files, notes))


def dialect_of(
    path: str, given: Given, encoding: str | None = None, max_bytes: int | None = None
) -> Dialect:
    """The dialect of a file of text, from its beginning."""
    return _open(path, given, encoding, max_bytes).dialect


def _open(path: str, given: Given, encoding: str | None, max_bytes: int | None) -> TextFile:
    text = Text(path, encoding, max_bytes)
    blocks = iter(text)
    block = next(blocks, b"")
    sample = block[:SAMPLE] if block.count(b"\n", 0, SAMPLE) > 2 else block
    whole = len(sample) == len(block) and not next(blocks, b"")
    decoded = sample.decode("utf-8", "surrogateescape")
    return TextFile(path, text, find_dialect(decoded, path, given, whole=whole))


def _check_same_names(first: TextFile, other: TextFile) -> None:
    if other.dialect.names == first.dialect.names:
        return
    here, there = other.dialect.names, first.dialect.names
    differ = [f"{a!r} instead of {b!r}" for a, b in zip(here, there, strict=False) if a != b]
    what = differ[0] if differ else f"{len(here)} columns instead of {len(there)}"
    raise DataError(
        f"{other.path} has {what} in {first.path}; files that are read together need the same "
        "names in the same order"
    )


def _read(files: Sequence[TextFile], fields: Sequence[Fields | None]) -> list[str]:
    """Go through the files once; notes on columns that look like numbers or dates and are not."""
    notes = []

    def read(piece: Piece) -> tuple[Piece, list[Any]]:
        return piece, _read_piece(piece, fields)

    for file in files:
        for piece, columns in _in_order(read, file.pieces()):
            for each, column in zip(fields, columns, strict=True):
                if each is None:
                    continue
                each.expected = each.expected or _expected_rows(files, piece, column.values)
                misfit = each.add(column)
                if misfit is not None:
                    notes.append(_note(each, misfit, piece))
    return notes


def _expected_rows(files: Sequence[TextFile], piece: Piece, column: Any) -> int:
    """About as many rows as all files have, by the rows and the length of a piece."""
    size = sum(0 if file.text.packed else Path(file.path).stat().st_size for file in files)
    rows = len(column) if isinstance(column, pa.Array) else 0
    return int(rows * size / len(piece.data))


def _read_piece(piece: Piece, fields: Sequence[Fields | None]) -> list[Any]:
    """What is in each field of a piece, in the way of its column at this moment."""
    ways = [Way("nothing") if each is None else each.way for each in fields]
    columns = cut_into_columns(piece, ways)
    return [
        read_fields(columns.get(j), way, Spelling() if each is None else each.spelling)
        for j, (each, way) in enumerate(zip(fields, ways, strict=True))
    ]


def _note(fields: Fields, misfit: Misfit, piece: Piece) -> str:
    """Why a column is words, or an error if another kind was asked for."""
    line = None if misfit.row == BEFORE else piece.line_of(misfit.row)
    dialect = piece.place.dialect
    if fields.kind is not None:
        place = "an earlier row" if line is None else f"line {line}"
        reason = refusal(fields.name, fields.kind, misfit.text, place)
        if fields.kind == "number" and "," in misfit.text and dialect.delimiter != ",":
            reason += ", or, if the comma precedes decimals, give the decimal mark"
        elif fields.kind == "number" and "." in misfit.text and dialect.decimal == ",":
            reason += ", or, if the point precedes decimals, give the decimal mark"
        else:
            reason += f"; {_if_missing(misfit.text[:50])}"
        raise DataError(f"{piece.place.text.path}: {reason}")
    there = "" if line is None else f" in line {line} of {Path(piece.place.text.path).name}"
    return f"{fields.name!r} is read as words because of {misfit.text[:30]!r}{there}"


def _used(dialect: Dialect, columns: Sequence[Column]) -> list[Column]:
    """All columns but those without name and values, as a delimiter at each end of line makes."""
    kept = [
        column
        for column, named in zip(columns, dialect.named, strict=True)
        if named or not dialect.header or not column.missing.all()
    ]
    return kept or list(columns)


def _assumptions(
    dialect: Dialect, given: Given, columns: Sequence[Column], *, left_out: int
) -> list[str]:
    """What was assumed and may be wrong."""
    notes = []
    if left_out:
        notes.append(f"left out {left_out} column(s) without name and values")
    if not dialect.header and given.header is None:
        notes.append(
            "the first line looks like data; if it holds the names, give header=True, on the "
            "command line --header"
        )
    if len(columns[0]) == 0:
        notes.append("there are no rows")
    return notes


def _source(files: Sequence[TextFile], notes: Sequence[str]) -> Source:
    dialect = files[0].dialect
    encodings = sorted({file.text.encoding for file in files})
    read_as = (
        f"delimiter {dialect.delimiter!r}",
        f"decimal {dialect.decimal!r}",
        f"encoding {' and '.join(encodings)}",
        f"names in line {dialect.skip_lines}" if dialect.header else "no line of names",
    )
    return Source(where([file.path for file in files]), read_as, tuple(notes))


def _missing_levels(column: Column) -> list[str]:
    """Levels that may mean a missing value."""
    if column.kind != "category":
        return []
    words = [level for level in column.levels if level.strip().lower() in MISSING_WORDS]
    return [f"{column.name!r} has the level {word!r}; {_if_missing(word)}" for word in words]


def _if_missing(word: str) -> str:
    return (
        f"if it means missing, give missing=[{word!r}], on the command line --missing "
        f"{shlex.quote(word)}"
    )


def _in_order(function: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
    """function(item) for each item, in order, a few at a time in threads.

    The first is done before the others are begun: what it teaches is known to them.
    """
    workers = 1 if nested.get() else cpu_count()
    todo = iter(items)
    for item in todo:
        yield function(item)
        break
    with ThreadPoolExecutor(workers, thread_name_prefix="empirisk") as pool:
        doing: deque[Future[R]] = deque()
        for item in todo:
            check_deadline()
            doing.append(pool.submit(function, item))
            if len(doing) > workers + 1:  # one waits, so that no worker does
                yield doing.popleft().result()
        while doing:
            yield doing.popleft().result()
