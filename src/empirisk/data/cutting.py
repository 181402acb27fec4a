"""Cutting a piece of a file into columns, by Arrow: numbers where it reads them as we do.

Numbers that are read while the piece is cut never exist as texts, which halves the work. Arrow may
do that where all of a column's numbers so far were plain; if one of these is not, it comes as text.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import csv as arrow_csv

from empirisk.data.fields import Way
from empirisk.data.pieces import Piece
from empirisk.data.spelling import are_moderate
from empirisk.runtime.arrays import Bools
from empirisk.runtime.errors import DataError


def cut_into_columns(piece: Piece, ways: Sequence[Way]) -> dict[int, Any]:
    """The fields of all records, column by column, but nothing of those that will be read again.

    Each is an array of texts, null where a field is empty and not quoted, or of numbers.
    """
    wanted = [j for j, way in enumerate(ways) if way.form != "nothing"]
    numbers = _plain_numbers(piece, ways)
    try:
        columns = _cut(piece, wanted, numbers)
    except pa.ArrowInvalid:  # a number that is not plain, or a record of another length
        return _cut_into_texts(piece, wanted)
    doubtful = [j for j in numbers if not are_moderate(columns[j])]
    return columns | _cut_into_texts(piece, doubtful) if doubtful else columns


def _plain_numbers(piece: Piece, ways: Sequence[Way]) -> dict[int, Any]:
    """The columns that Arrow may read as numbers by itself, with their types."""
    types = {j: way.plain[0] for j, way in enumerate(ways) if way.form == "number" and way.plain}
    if all(ways[j].asked for j in types):  # where a number is asked for, 007 is one
        return types
    like_names = columns_with_identifiers(piece)
    return {j: kind for j, kind in types.items() if ways[j].asked or not like_names[j]}


def columns_with_identifiers(piece: Piece) -> Bools:
    """Which columns have a field that begins with a zero and a digit or an x, or with a plus.

    Arrow would read 007 as 7, 0x1F as 31 and +49 as 49, and afterwards nobody could tell.
    """
    # Small files, being one piece only, are read without compiled code.
    from empirisk.compiled.leading_zeros import has_candidates, mark_columns

    found = np.zeros(piece.dialect.fields, np.bool_)
    characters = np.frombuffer(piece.data, np.uint8)
    delimiter = np.uint8(ord(piece.dialect.delimiter))
    if has_candidates(characters, delimiter):
        mark_columns(characters, delimiter, found)
    return found


def _cut_into_texts(piece: Piece, wanted: Sequence[int]) -> dict[int, Any]:
    try:
        return _cut(piece, wanted, {})
    except pa.ArrowInvalid as error:
        piece.refuse_width()
        raise DataError(f"{piece.place} and after: {error}") from error


def _cut(piece: Piece, wanted: Sequence[int], numbers: Mapping[int, Any]) -> dict[int, Any]:
    dialect = piece.dialect
    names = [str(j) for j in range(dialect.fields)]
    used = [names[j] for j in wanted] + names[len(dialect.names) :]
    data = piece.data
    if data[-1:] not in (b"\n", b"\r"):  # else Arrow takes an empty field at the end for ""
        data = memoryview(bytes(data) + b"\n")
    table = arrow_csv.read_csv(
        pa.BufferReader(data),
        arrow_csv.ReadOptions(use_threads=False, column_names=names, block_size=len(data) + 1),
        arrow_csv.ParseOptions(delimiter=dialect.delimiter, ignore_empty_lines=dialect.fields > 1),
        arrow_csv.ConvertOptions(
            include_columns=used,
            column_types={name: numbers.get(j, pa.string()) for j, name in enumerate(names)},
            decimal_point=dialect.decimal,
            null_values=[""],
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
            check_utf8=False,
        ),
    )
    if dialect.extra and table.column(len(used) - 1).null_count < len(table):
        piece.refuse_extra()
    columns = table.columns[: len(wanted)]
    return {j: _one_array(column) for j, column in zip(wanted, columns, strict=True)}


def _one_array(column: Any) -> Any:
    """The one chunk of a column; to combine it with nothing would copy it."""
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
