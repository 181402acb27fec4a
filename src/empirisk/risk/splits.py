"""Splits as a user gives them, checked: rows there are, two parts, and nothing in both."""

from typing import Any

import numpy as np

from empirisk.runtime.arrays import Bools, Ints
from empirisk.runtime.errors import PlanError


def checked_split(train: Any, test: Any, n: int, s: int) -> tuple[Ints, Ints]:
    """The row numbers of both parts of split s, in order."""
    in_train, in_test = _mask(train, n, s), _mask(test, n, s)
    for name, part in (("training", in_train), ("test", in_test)):
        if not part.any():
            raise PlanError(f"split {s} has an empty {name} part")
    both = np.flatnonzero(in_train & in_test)
    if len(both):
        raise PlanError(
            f"split {s} has {len(both)} rows in its training and in its test part (row {both[0]} "
            "first): its risk would not be honest"
        )
    return np.flatnonzero(in_train), np.flatnonzero(in_test)


def _mask(part: Any, n: int, s: int) -> Bools:
    """Row numbers or a mask, as a mask."""
    part = np.asarray(part)
    if part.dtype == bool:
        if part.shape != (n,):
            raise PlanError(f"split {s}: a mask of shape {part.shape} for {n} rows")
        return part
    rows = part.astype(np.int64)
    if len(rows) and (rows.min() < 0 or rows.max() >= n):
        raise PlanError(
            f"split {s} names rows from {rows.min()} to {rows.max()}; there are {n} rows"
        )
    mask = np.zeros(n, dtype=bool)
    mask[rows] = True
    return mask
