"""What is in the columns of a table, in a few words each."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from empirisk.data.column import Column

EXAMPLES, LONGEST = 3, 20


def describe(columns: Sequence[Column], *, distinct: bool) -> list[str]:
    """A line for each column: its kind, what is missing, how many different values, examples."""
    lines = [_cells(column, distinct) for column in columns]
    widths = [max(map(len, cells)) for cells in zip(*lines, strict=True)]
    return [
        "  " + "  ".join(cell.ljust(w) for cell, w in zip(line, widths, strict=True)).rstrip()
        for line in lines
    ]


def _cells(column: Column, distinct: bool) -> list[str]:
    missing = f"{int(column.missing.sum()):,} missing"
    different = [f"{_number_of_values(column):,} distinct"] if distinct else []
    return [column.name, column.kind, missing, *different, ", ".join(_examples(column))]


def _number_of_values(column: Column) -> int:
    if pa.types.is_dictionary(column.arrow.type):
        return int(np.sum(np.bincount(column.codes() + 1)[1:] > 0))
    return int(pc.count_distinct(column.arrow).as_py())


def _examples(column: Column) -> list[str]:
    """The first few different values, shortened."""
    found = python_values(pc.drop_null(pc.unique(column.arrow.slice(0, 1000))))
    shown = [f"{each:.6g}" if isinstance(each, float) else str(each) for each in found]
    shown = [text for text in shown if text != "nan"][:EXAMPLES]
    return [text if len(text) <= LONGEST else text[: LONGEST - 3] + "..." for text in shown]


def python_values(values: Any) -> list[Any]:
    """The values of an array as Python has them, as words the times that Python has not."""
    try:
        return values.to_pylist()
    except (ValueError, OverflowError):  # nanoseconds, the year 10000
        return values.cast(pa.string()).to_pylist()
