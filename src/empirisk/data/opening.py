"""Opening a file: what it is by its first bytes, how it is packed, and its text as UTF-8.

A packed file may grow while it is unpacked, but not without limit: a few bytes can stand for any
number of them. Nothing is looked up by extension, and nothing comes over a network.
"""

import codecs
import glob
import os
import re
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from empirisk.runtime.errors import DataError, ParameterError
from empirisk.runtime.scalars import is_whole

BLOCK = 1 << 22
"""Bytes that are read at a time."""

MOST_BYTES, MOST_GROWTH, HARMLESS = 1 << 33, 200, 1 << 24
"""Unless asked for more, a packed file may grow to 8 GiB, beyond 16 MiB at most 200-fold."""

Format = Literal["text", "parquet", "duckdb"]

_ADDRESS = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]+://")
_PACKINGS = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd", b"BZh": "bz2"}
_REFUSED = {
    b"PK\x03\x04": "a zip archive (an Excel workbook is one, too): unpack it, or save as CSV",
    b"\xfd7zXZ": "packed with xz: unpack it, or pack it with gzip or zstd",
    b"SQLite format 3\x00": "a SQLite database: export the table as CSV",
    b"\xd0\xcf\x11\xe0": "an old Excel workbook: save it as CSV",
    b"%PDF": "a PDF document: export the table as CSV",
    b"ARROW1": "a file of Arrow (Feather): write it as Parquet",
}
_NO_TABLE = {
    re.compile(rb'\s*(\{\s*"|\[\s*[{\[])'): "JSON: write it as CSV, a line for each row",
    re.compile(rb"\s*<(!doctype|html|\?xml)", re.IGNORECASE): "a page of HTML or XML, as servers "
    "answer where there is no such file: look into it, and export the table as CSV",
}
_MARKS = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF32_LE: "utf-32-le",
    codecs.BOM_UTF32_BE: "utf-32-be",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}
"""Byte-order marks; those of UTF-32 stand first because that of UTF-16 is their beginning."""


def find_files(path: Any) -> list[str]:
    """The files that a path or a pattern stands for, in order of their names."""
    if not isinstance(path, str | os.PathLike):
        raise DataError(f"a path is given as {type(path).__name__}; give a str or a Path")
    name = os.fsdecode(path)
    if _ADDRESS.match(name):
        raise DataError(
            f"{name!r} is an address; nothing is read over a network: download it first"
        )
    if os.path.isdir(name):
        raise DataError(f"{name!r} is a folder; give a file, or a pattern such as {name}/*.csv")
    if os.path.isfile(name):
        return [name]
    if os.path.exists(name):
        raise DataError(
            f"{name!r} is a pipe or a device, and a table is gone through several times: write "
            "what it gives into a file first"
        )
    found = sorted(file for file in glob.glob(name, recursive=True) if os.path.isfile(file))
    if not found:
        pattern = " that fits the pattern" if glob.has_magic(name) else ""
        raise DataError(f"there is no file{pattern} {name!r} in {os.getcwd()}")
    return found


def where(files: Sequence[str]) -> str:
    """Some files, in words."""
    return files[0] if len(files) == 1 else f"{files[0]} and {len(files) - 1} more files"


def format_of(path: str) -> Format:
    """What a file is, by its first bytes."""
    with open(path, "rb") as file:
        head = file.read(64)
    text = head.removeprefix(codecs.BOM_UTF8)
    found = [what for mark, what in _REFUSED.items() if head.startswith(mark)]
    found += [what for form, what in _NO_TABLE.items() if form.match(text)]
    if found:
        raise DataError(f"{path} is {found[0]}; CSV, Parquet and DuckDB files can be read")
    if head.startswith(b"PAR1"):
        return "parquet"
    database = head[8:12] == b"DUCK" and b"\0" in head  # which a text that has the word is not
    return "duckdb" if database else "text"


def find_alike(path: Any) -> tuple[list[str], Format]:
    """The files that a path or a pattern stands for, which are all of one format, and it."""
    files = find_files(path)
    first = format_of(files[0])
    for file in files[1:]:
        if format_of(file) != first:
            raise DataError(
                f"{file} is {format_of(file)} and {files[0]} is {first}; files that are read "
                "together need the same format"
            )
    if first == "duckdb" and len(files) > 1:
        raise DataError(f"{len(files)} databases fit {path}; give one")
    return files, first


class Text:
    """The text of a file as blocks of UTF-8 that was not yet checked, without byte-order mark.

    Where no encoding is given and none is marked, the text is UTF-8, unless its first characters
    beyond ASCII are none; then it is Windows-1252, which has all letters of Latin-1.

    Parameters
    ----------
    path : str
    encoding : str, optional
    max_bytes : int, optional
        How many bytes the file may hold; by default only packed files have a limit.

    Attributes
    ----------
    encoding : str
        As known so far: read on, and UTF-8 may turn out to be Windows-1252.
    """

    def __init__(self, path: str, encoding: str | None, max_bytes: int | None) -> None:
        if not (max_bytes is None or is_whole(max_bytes, 1)):
            raise ParameterError(f"max_bytes is {max_bytes!r}; give a whole number from 1")
        self.path, self.max_bytes, self.given = path, max_bytes, encoding
        self.packed, self.block = _packing(path) is not None, BLOCK
        self.encoding = "utf-8"

    def again(self) -> "Text":
        """The same text, for another way through it."""
        return Text(self.path, self.given, self.max_bytes)

    def __iter__(self) -> Iterator[bytes]:
        """All blocks, from the beginning."""
        blocks = _unpacked(self.path, self.max_bytes, self.block)
        first = next(blocks, b"")
        self.encoding = _encoding_of(first, self.given)
        marks = (m for m, e in _MARKS.items() if first.startswith(m) and e == self.encoding)
        mark = next(marks, b"")  # plain utf-16, if given, needs the mark to know its end
        blocks = chain([first[len(mark) :]], blocks)
        if self.encoding != "utf-8":
            return self._decoded(blocks)
        return blocks if self.given or mark else self._guessed(blocks)

    def _guessed(self, blocks: Iterator[bytes]) -> Iterator[bytes]:
        tail, before = b"", 0
        for block in blocks:
            block = tail + block
            if is_ascii(block):
                yield block
                tail, before = b"", before + len(block)
                continue
            whole, is_utf8 = _begins_as_utf8(block)
            if not is_utf8:
                self.encoding = "cp1252"
                yield from self._decoded(chain([block], blocks), before)
                return
            yield block[:whole]
            tail, before = block[whole:], before + whole
            if whole and not block[:whole].isascii():
                yield from chain([tail], blocks)
                return
        if tail:
            self.encoding = "cp1252"
            yield from self._decoded(iter([tail]), before)

    def _decoded(self, blocks: Iterator[bytes], before: int = 0) -> Iterator[bytes]:
        """The blocks as UTF-8; `before` them came so many bytes of ASCII."""
        decoder, lines = codecs.getincrementaldecoder(self.encoding)(), 0
        for block in chain(blocks, [b""]):
            try:
                text = decoder.decode(block, final=not block)
            except UnicodeDecodeError as error:
                good = error.object[: error.start].decode(self.encoding, "ignore")
                line = 1 + self._lines_in(before) + lines + good.count("\n")
                raise DataError(
                    f"{self.path}, line {line}: the bytes "
                    f"{error.object[error.start : error.end]!r} are no text in {self.encoding}; "
                    "correct them, or give the encoding that the file has"
                ) from None
            lines += text.count("\n")
            yield text.encode("utf-8", "surrogatepass")

    def _lines_in(self, n: int) -> int:
        """Line feeds in the first n bytes."""
        number = 0
        for block in _unpacked(self.path, self.max_bytes, self.block):
            number += block.count(b"\n", 0, max(n, 0))
            n -= len(block)
        return number


def is_ascii(data: bytes) -> bool:
    """As `bytes.isascii`, faster for many bytes and without the interpreter's lock."""
    return bool(np.frombuffer(data, np.uint8).max(initial=0) < 128)


def _encoding_of(head: bytes, encoding: str | None) -> str:
    """The encoding that is given or that the first bytes show; UTF-8 if they show nothing."""
    if encoding is not None:
        try:
            "a".encode(encoding, "ignore")  # some codecs, such as base64, are none of text
            name = codecs.lookup(encoding).name
        except (LookupError, TypeError, ValueError):
            raise DataError(f"no encoding is called {encoding!r}; try utf-8 or cp1252") from None
        return "utf-8" if name == "utf-8-sig" else name
    for mark, name in _MARKS.items():
        if head.startswith(mark):
            return name
    # Latin letters in UTF-16 have a zero in every second byte.
    even, odd = head[:4096:2].count(0), head[1:4096:2].count(0)
    if max(even, odd) > len(head[:4096]) // 5 and min(even, odd) == 0:
        return "utf-16-be" if even else "utf-16-le"
    return "utf-8"


def _begins_as_utf8(block: bytes) -> tuple[int, bool]:
    """Where whole characters end, and whether the first beyond ASCII is one of UTF-8."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        return len(decoder.decode(block).encode()), True
    except UnicodeDecodeError as error:
        return len(block), not block[: error.start].isascii()


def _packing(path: str) -> str | None:
    with open(path, "rb") as file:
        head = file.read(4)
    return next((name for mark, name in _PACKINGS.items() if head.startswith(mark)), None)


def _unpacked(path: str, max_bytes: int | None, size: int) -> Iterator[bytes]:
    packing = _packing(path)
    total = 0
    with open(path, "rb", buffering=0) as file:
        stream: Any = file if packing is None else pa.CompressedInputStream(file, packing)
        while True:
            try:
                block = stream.read(size)
            except (OSError, pa.ArrowException) as error:
                raise DataError(f"{path} cannot be unpacked as {packing}: {error}") from error
            if not block:
                return
            total += len(block)
            _refuse_growth(path, packing, total, file.tell(), max_bytes)
            yield block


def _refuse_growth(
    path: str, packing: str | None, total: int, read: int, max_bytes: int | None
) -> None:
    """Complain of a text that is too large, or that grew too much from what was read so far."""
    if max_bytes is None and packing is None:
        return
    limit = min(MOST_BYTES, max(MOST_GROWTH * read, HARMLESS)) if max_bytes is None else max_bytes
    if total > limit:
        packed = f" from {read:,} bytes packed with {packing}" if packing else ""
        raise DataError(
            f"{path} holds {total:,} bytes{packed} and perhaps more; {limit:,} are allowed: if you "
            "trust the file, give max_bytes, on the command line --max-bytes"
        )
