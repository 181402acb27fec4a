"""What a column of the table holds, in a few words."""

import numpy as np

from empirisk.data.column import Column

LEVELS, LONGEST = 4, 30
NINES = (99.0, 999.0, 9999.0, 99999.0)


def contents(column: Column) -> str:
    """The range of numbers and dates, the commonest levels of a category.

    Examples
    --------
    >>> from empirisk.data.table import Table
    >>> table = Table.of({"age": [31, None, 58, 44], "sex": ["f", "m", "f", "f"]})
    >>> contents(table["age"]), contents(table["sex"])
    ('31 to 58, median 44', 'f: 75 %, m: 25 %')
    """
    if column.missing.all():
        return "no values"
    if column.kind == "number":
        numbers = column.numbers()[~column.missing]
        middle = float(np.median(numbers))
        return f"{numbers.min():.6g} to {numbers.max():.6g}, median {middle:.6g}"
    values = column.values()[~column.missing]
    if column.kind == "date":
        return f"{values.min()} to {values.max()}"
    if column.kind == "text":
        return f"for example {_cut(str(values[0]))}"
    return _commonest(column)


def counts_rows(column: Column) -> bool:
    """Whether a number goes up by one from row to row, in some order, as identifiers do.

    Examples
    --------
    >>> from empirisk.data.table import Table
    >>> table = Table.of({"id": [103, 101, 104, 102], "age": [31, 40, 58, 44]})
    >>> [counts_rows(column) for column in table.columns]
    [True, False]
    """
    if column.kind != "number" or not len(column) or column.missing.any():
        return False
    numbers = np.sort(column.numbers())
    return len(numbers) > 1 and bool((np.diff(numbers) == 1.0).all())


def mark_of_missing(column: Column) -> float | None:
    """A number of nines that repeats, as far from all others as these are from one another or more.

    Examples
    --------
    >>> from empirisk.data.table import Table
    >>> table = Table.of({"rain": [3.1, -999, 0.5, -999, 7], "bill": [20, 99, 99, 40, 180]})
    >>> [mark_of_missing(column) for column in table.columns]
    [-999.0, None]
    """
    if column.kind != "number" or column.missing.all():
        return None
    numbers = column.numbers()[~column.missing]
    for end in (float(numbers.min()), float(numbers.max())):
        others = numbers[numbers != end]
        if abs(end) not in NINES or len(numbers) - len(others) < 2 or len(others) < 2:
            continue
        if np.abs(others - end).min() >= others.max() - others.min():
            return end
    return None


def _commonest(column: Column) -> str:
    codes = column.codes()
    count = np.bincount(codes[codes >= 0], minlength=len(column.levels))
    order = np.argsort(-count, kind="stable")[: int((count > 0).sum())]
    shown = [
        f"{_cut(str(column.levels[j]))}: {100 * count[j] / count.sum():.2g} %"
        for j in order[:LEVELS]
    ]
    more = [f"{len(order) - LEVELS} more"] if len(order) > LEVELS else []
    return ", ".join(shown + more)


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else text[: LONGEST - 3] + "..."
