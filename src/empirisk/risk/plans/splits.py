"""Splits as a user gives them, checked: rows there are, each once, two parts, nothing in both."""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from empirisk.runtime.arrays import Int32s, Ints
from empirisk.runtime.errors import PlanError


def folds_of_splits(
    splits: Iterable[tuple[Any, Any]], n: int, groups: Ints | None
) -> tuple[Int32s, tuple[Ints, ...] | None]:
    """The fold of each row in each repeat, and the training rows unless they are all others.

    Successive disjoint test parts share a repeat; -1 is a row that is not held out in it.
    """
    folds: list[Int32s] = []
    trains: list[Ints] = []
    complement = True
    for s, (train, test) in enumerate(checked_splits(splits, n)):
        if groups is not None:
            _refuse_shared_group(train, test, groups, s)
        if not folds or (folds[-1][test] >= 0).any():
            folds.append(np.full(n, -1, np.int32))
        folds[-1][test] = folds[-1].max() + 1
        trains.append(train)
        complement &= len(train) + len(test) == n
    if not folds:
        raise PlanError("cv gave no splits")
    return np.stack(folds), None if complement else tuple(trains)


def checked_splits(splits: Iterable[Any], n: int) -> Iterator[tuple[Ints, Ints]]:
    """The row numbers of both parts of each split of n rows, in order."""
    for s, split in enumerate(splits):
        train, test = (_in_order(part, n, s) for part in _two_parts(split, s))
        for name, part in (("training", train), ("test", test)):
            if not len(part):
                raise PlanError(f"split {s} has an empty {name} part")
        held_out = np.zeros(n, dtype=bool)
        held_out[test] = True
        both = train[held_out[train]]
        if len(both):
            raise PlanError(
                f"split {s} has {len(both)} rows in its training and in its test part (row "
                f"{both[0]} first): its risk would not be honest"
            )
        yield train, test


def _two_parts(split: Any, s: int) -> tuple[Any, Any]:
    try:
        train, test = split
    except (TypeError, ValueError):
        raise PlanError(
            f"split {s} is {split!r:.60}; give a pair (train, test) of row numbers, or of masks"
        ) from None
    return train, test


def _refuse_shared_group(train: Ints, test: Ints, groups: Ints, s: int) -> None:
    held_out = np.zeros(int(groups.max()) + 1, dtype=bool)
    held_out[groups[test]] = True
    both = train[held_out[groups[train]]]
    if len(both):
        other = test[groups[test] == groups[both[0]]][0]
        raise PlanError(
            f"split {s} has a group on both sides: row {both[0]} trains and row {other} of the "
            "same group is held out, so its risk would not be honest. Give cv as a number of "
            "folds, GroupKFold, StratifiedGroupKFold or LeaveOneGroupOut; or leave groups out, if "
            "a group may be on both sides"
        )


def _in_order(part: Any, n: int, s: int) -> Ints:
    """Row numbers or a mask, as row numbers in order."""
    part = np.asarray(part)
    if part.ndim != 1:
        raise PlanError(f"split {s} has a part of shape {part.shape}; give its rows as a list")
    if part.dtype == bool:
        if part.shape != (n,):
            raise PlanError(f"split {s}: a mask of shape {part.shape} for {n} rows")
        return np.flatnonzero(part)
    rows = _numbers(part, s)
    if not (rows[1:] > rows[:-1]).all():
        rows = np.sort(rows)
        again = rows[1:][rows[1:] == rows[:-1]]
        if len(again):
            raise PlanError(
                f"split {s} names row {again[0]} more than once: give each row once, and what "
                "counts several times a sample_weight; resamples are drawn by "
                "risk.bootstrap_632plus"
            )
    if len(rows) and (rows[0] < 0 or rows[-1] >= n):
        raise PlanError(f"split {s} names rows from {rows[0]} to {rows[-1]}; there are {n} rows")
    return rows


def _numbers(part: Any, s: int) -> Ints:
    if part.dtype.kind in "iu":
        return part.astype(np.int64, copy=False)
    try:
        rows: Ints = part.astype(np.int64)
        if (rows == part).all():
            return rows
    except (TypeError, ValueError, OverflowError):
        pass
    raise PlanError(f"split {s} names rows by {part[0]!r:.60}; give their numbers, or a mask")
