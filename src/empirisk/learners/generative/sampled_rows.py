"""Rows that a model draws, in the form of those it was fitted to."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from empirisk.data.coded_column import CodedColumn
from empirisk.data.table import Table
from empirisk.runtime.arrays import Array, Floats

SECONDS_PER_DAY = 86_400


def as_given(
    X: Floats, columns: Sequence[CodedColumn], distributions: Sequence[str], names: Any
) -> Any:
    """A table where the columns have names; else an array, of objects where some are levels."""
    cells = [
        _cells(own, column, distribution)
        for own, column, distribution in zip(X.T, columns, distributions, strict=True)
    ]
    if names is not None:
        kinds: Any = {c.name: "category" for c in columns if c.kind == "category"}
        named = {column.name: own for column, own in zip(columns, cells, strict=True)}
        return Table.of(named, kinds=kinds)
    if all(column.kind != "category" for column in columns):
        return X
    mixed = np.empty(X.shape, dtype=object)
    for j, own in enumerate(cells):
        mixed[:, j] = own
    return mixed


def _cells(numbers: Floats, column: CodedColumn, distribution: str) -> Array:
    if column.kind == "category":
        levels = np.array([*column.values, None], dtype=object)
        return levels[np.where(np.isnan(numbers), -1, numbers).astype(np.int64)]
    if column.calendar is not None:
        return (numbers * SECONDS_PER_DAY).astype("datetime64[s]")
    return numbers.astype(bool) if distribution == "bernoulli" else numbers
