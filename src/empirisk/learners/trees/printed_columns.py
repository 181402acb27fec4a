"""Columns of numbers as R prints a matrix: each with as many digits as its numbers need."""

from collections.abc import Mapping, Sequence

import numpy as np


def significant(value: float, digits: int) -> str:
    """A number with so many significant digits at most, as R's `format` gives it.

    Examples
    --------
    >>> significant(23818.9934, 5), significant(60.76274, 5), significant(100.0, 5)
    ('23819', '60.763', '100')
    """
    return _column([value], digits)[0]


def printed_columns(
    columns: Mapping[str, Sequence[float]], *, digits: int, marked: int | None = None
) -> list[str]:
    """Lines: a header, and the numbered rows; a star behind the marked one."""
    cells = [[name, *_column(numbers, digits)] for name, numbers in columns.items()]
    n = len(cells[0]) - 1
    cells.insert(0, ["", *(f"{i:<{len(str(n))}}" for i in range(1, n + 1))])
    widths = [max(map(len, column)) for column in cells]
    rows = zip(*cells, strict=True)
    lines = [" ".join(c.rjust(w) for c, w in zip(row, widths, strict=True)) for row in rows]
    if marked is not None:
        lines[marked + 1] += " *"
    return lines


def _column(numbers: Sequence[float], digits: int) -> list[str]:
    """With the decimals that the most demanding number needs; with exponents where shorter."""
    values = [float(value) for value in numbers]
    finite = [value for value in values if np.isfinite(value)]
    decimals = max([_decimals(value, digits) for value in finite], default=0)
    plain = [f"{value:.{decimals}f}" if np.isfinite(value) else str(value) for value in values]
    places = max([_mantissa(value, digits) for value in finite], default=0)
    short = [f"{value:.{places}e}" if np.isfinite(value) else str(value) for value in values]
    return plain if max(map(len, plain)) <= max(map(len, short)) else short


def _mantissa(value: float, digits: int) -> int:
    """Digits behind the point of the mantissa, without zeros at the end."""
    mantissa = f"{value:.{digits - 1}e}".split("e")[0]
    return len(mantissa.rstrip("0").partition(".")[2])


def _decimals(value: float, digits: int) -> int:
    """Digits behind the point that show so many significant ones."""
    exponent = int(f"{value:.{digits - 1}e}".split("e")[1])
    return max(0, _mantissa(value, digits) - exponent)
