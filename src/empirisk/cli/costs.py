"""`--costs`: what each mistake costs, from a small table."""

from typing import Any

import numpy as np

from empirisk.cli.target import label_of
from empirisk.data.column import Kind
from empirisk.data.read import read_table
from empirisk.data.table import Table
from empirisk.losses import Costs
from empirisk.runtime.errors import DataError, ParameterError

LISTED = ["cost", "predicted", "true"]

Entries = dict[tuple[str, str], float]
"""Costs by predicted and true class, as they are spelled in the file."""


def read_costs(file: str, classes: list[Any]) -> Costs:
    """Costs from a file, the words of which are labels of these classes.

    Either a table, a row for each class that may be predicted and a column for each that may be
    true, or a list with the columns predicted, true and cost. What is right costs nothing, and
    may be left blank.
    """
    names = read_table(file, header=True).names
    listed = sorted(name.lower() for name in names) == LISTED
    labels = [name for name in names if name.lower() != "cost"] if listed else names[:1]
    kinds: dict[str, Kind] = {name: "text" if name in labels else "number" for name in names}
    table = read_table(file, header=True, kinds=kinds)
    entries = _of_list(table, file) if listed else _of_matrix(table, file)
    for (i, j), cost in entries.items():
        if np.isnan(cost) and i != j:
            raise DataError(f"{file} gives no cost of predicting {i!r} where {j!r} is true")
    found = {
        (label_of(i, classes), label_of(j, classes)): 0.0 if np.isnan(cost) else cost
        for (i, j), cost in entries.items()
    }
    try:
        return Costs.from_dict(found)
    except ParameterError as error:
        raise DataError(f"{file}: {error}") from error


def _of_list(table: Table, file: str) -> Entries:
    cost, predicted, true = sorted(table.names, key=str.lower)
    pairs = list(zip(_words(table, predicted, file), _words(table, true, file), strict=True))
    for i, j in pairs:
        if pairs.count((i, j)) > 1:
            raise DataError(f"{file} gives the cost of predicting {i!r} where {j!r} is true twice")
    return dict(zip(pairs, table[cost].numbers().tolist(), strict=True))


def _of_matrix(table: Table, file: str) -> Entries:
    predicted, true = _words(table, table.names[0], file), list(table.names[1:])
    if sorted(predicted) != sorted(true):
        raise DataError(
            f"{file} has rows for {', '.join(map(repr, predicted))} and columns for "
            f"{', '.join(map(repr, true))}; wanted a row for each class that is predicted and a "
            "column for each that is true, or the columns predicted, true and cost"
        )
    columns = {j: table[j].numbers().tolist() for j in true}
    return {(i, j): columns[j][row] for row, i in enumerate(predicted) for j in true}


def _words(table: Table, name: str, file: str) -> list[str]:
    if table[name].missing.any():
        row = int(np.argmax(table[name].missing)) + 1
        raise DataError(f"{file} names no class in column {name!r} of row {row}")
    return [word.strip() for word in table[name].values()]
