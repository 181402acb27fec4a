"""A user's splits, or plan, of all rows on those that are left where some have weight zero.

A split that holds out none of them is gone, as it would be if the others had never been there.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from empirisk.risk.plans.groups import group_codes
from empirisk.risk.plans.plan import Plan
from empirisk.risk.plans.splits import checked_splits
from empirisk.runtime.arrays import Int32s, Ints
from empirisk.runtime.errors import PlanError


def splits_of_left(splits: Iterable[Any], n: int, kept: Ints) -> Iterator[tuple[Ints, Ints]]:
    """Splits of n rows, counted among the rows `kept`.

    Examples
    --------
    >>> list(splits_of_left([([0, 1, 3], [2]), ([2, 3], [1])], 4, np.array([0, 2, 3])))
    [(array([0, 2]), array([1]))]
    """
    place = _places(n, kept)
    for train, test in checked_splits(splits, n):
        held_out = _left(place, test)
        if len(held_out):
            yield _left(place, train), held_out


def plan_of_left(plan: Plan, kept: Ints, data_key: str) -> Plan:
    """The plan on the rows `kept`, whose y, weights and groups have this key.

    Examples
    --------
    >>> plan = Plan.of(3, np.zeros((6, 1)), np.arange(6.0))
    >>> plan_of_left(plan, np.array([2, 3, 4]), "").fold
    array([[0, 0, 1]], dtype=int32)
    """
    folds = [_without_gaps(own) for own in plan.fold[:, kept] if own.max() >= 0]
    place = _places(plan.n, kept)
    trains = None
    if plan.trains is not None:
        held_out = [s for s in range(plan.n_splits) if len(_left(place, plan.test(s)))]
        trains = tuple(_left(place, plan.trains[s]) for s in held_out)
    if not folds or not _all_train(folds, trains):
        raise PlanError(
            f"of the {plan.n} rows of the plan {len(kept)} have a weight above 0, and without the "
            "others no row is held out, or a split has an empty training part: make another plan"
        )
    return replace(
        plan,
        n=len(kept),
        repeats=len(folds),
        fold=np.stack(folds),
        trains=trains,
        groups=None if plan.groups is None else group_codes(plan.groups[kept], len(kept)),
        data_key=data_key,
    )


def _without_gaps(fold: Int32s) -> Int32s:
    """Folds numbered anew, where some have no rows; -1 stays."""
    there = np.unique(fold[fold >= 0])
    return np.where(fold >= 0, np.searchsorted(there, fold), -1).astype(np.int32)


def _all_train(folds: list[Int32s], trains: tuple[Ints, ...] | None) -> bool:
    """Whether every split has training rows; without `trains`, those that it does not hold out."""
    if trains is not None:
        return all(len(train) for train in trains)
    return all((fold != 0).any() for fold in folds)


def _places(n: int, kept: Ints) -> Ints:
    """The number of each row among those that are left; -1 for one that is not."""
    place = np.full(n, -1, dtype=np.int64)
    place[kept] = np.arange(len(kept))
    return place


def _left(place: Ints, rows: Ints) -> Ints:
    found = place[rows]
    return found[found >= 0]
