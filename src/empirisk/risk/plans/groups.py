"""The groups of rows: every row has one, and a group is never on both sides of a split."""

from typing import Any

import numpy as np

from empirisk.runtime.arrays import Array, Bools, Floats, Ints
from empirisk.runtime.complaints import is_missing
from empirisk.runtime.errors import DataError


def group_labels(groups: Any, weight: Floats | None = None) -> Array:
    """The groups as an array, of which each row has one, unless its weight is 0."""
    labels = np.asarray(groups)
    if labels.ndim == 0 or labels.size != len(labels):
        raise DataError(f"groups has shape {labels.shape}; give one group for each row")
    labels = labels.reshape(-1)
    # A list of text turns NaN into the text "nan".
    cells = np.array(groups, dtype=object).reshape(-1) if isinstance(groups, list) else labels
    missing = _missing(cells)
    if weight is not None:
        _refuse_other_length(labels, len(weight))
        missing &= weight > 0
    if missing.any():
        rows = np.flatnonzero(missing)
        raise DataError(
            f"row {rows[0]} has no group (groups holds {cells[rows[0]]!r:.60} there), and "
            f"{len(rows)} row(s) in all: leave these rows out, or give each a group of its own"
        )
    return labels


def group_codes(groups: Any, n: int) -> Ints | None:
    """The number of the group of each of n rows, 0..G-1 in the order of the labels.

    Examples
    --------
    >>> group_codes(["b", "a", "b"], 3)
    array([1, 0, 1])
    """
    if groups is None:
        return None
    labels = group_labels(groups)
    _refuse_other_length(labels, n)
    try:
        return np.unique(labels, return_inverse=True)[1].reshape(-1)
    except TypeError as error:
        kinds = sorted({type(label).__name__ for label in labels})
        raise DataError(
            f"groups holds labels of several kinds ({', '.join(kinds)}), which have no order: "
            "turn all of them into text"
        ) from error


def _refuse_other_length(labels: Array, n: int) -> None:
    if len(labels) != n:
        raise DataError(f"groups has {len(labels)} entries for {n} rows: give one for each row")


def _missing(labels: Array) -> Bools:
    if labels.dtype.kind == "f":
        return np.isnan(labels)
    if labels.dtype.kind in "mM":
        return np.isnat(labels)
    if labels.dtype.kind == "O":
        return np.array([is_missing(label) for label in labels], dtype=bool)
    return np.zeros(len(labels), dtype=bool)
