"""Held-out predictions of nearest neighbours: all k, and all folds too, from one search.

The rows that train when a fold is held out are all rows but those of the fold. So one search among
all rows, in which each row looks past those of its own fold, finds the neighbours of every split.
A distance that is learned from the training rows, as that of standardised columns, is another one
in each split, which has a search of its own.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from empirisk.learners.neighbors.k_neighbors_path import KNeighborsPath, cells_of
from empirisk.learners.neighbors.k_neighbors_settings import metric_is_given
from empirisk.learners.neighbors.searching import Folds
from empirisk.risk.axis import (
    Block,
    CannotSubtractError,
    HeldOut,
    Output,
    refuse_no_partition,
)
from empirisk.risk.plans.plan import Plan
from empirisk.runtime.arrays import Array, Floats, Ints, slice_if_in_a_row
from empirisk.runtime.parallel import slices

Blocks = Iterator[Callable[[], Block]]


def predict_plan(
    learner: Any,
    X: Any,
    y: Array,
    weight: Floats,
    plan: Plan,
    values: Sequence[Any],
    n_classes: int,
    output: Output,
    rows_per_block: int,
) -> HeldOut:
    """All held-out predictions of a partition into folds."""
    refuse_no_partition(plan)
    if n_classes:
        _refuse_one_class(y, plan, n_classes)
    if metric_is_given(learner):
        path = learner.fit_path(X, y, weight, values, n_classes=n_classes)
        return HeldOut(_one_search(path, X, plan, output, rows_per_block), path)
    fit = partial(learner.fit_path, values=values, n_classes=n_classes)
    return HeldOut(_search_each(fit, X, y, weight, plan, output, rows_per_block))


def _refuse_one_class(y: Ints, plan: Plan, n_classes: int) -> None:
    everywhere = np.bincount(y, minlength=n_classes)
    for s in range(plan.n_splits):
        held_out = np.bincount(y[plan.test(s)], minlength=n_classes)
        if (everywhere > held_out).sum() < 2:
            raise CannotSubtractError(f"split {s} trains on one class only")


def _one_search(path: KNeighborsPath, X: Any, plan: Plan, output: Output, size: int) -> Blocks:
    points = path.metric.place(cells_of(X))
    for r in range(plan.repeats):
        fold = np.ascontiguousarray(plan.fold[r], dtype=np.int32)
        for part in slices(plan.n, size):
            yield partial(_look_past, path, points, fold, r, part, output)


def _look_past(
    path: KNeighborsPath, points: Floats, fold: Any, r: int, part: slice, output: Output
) -> Block:
    folds = Folds(fold, np.ascontiguousarray(fold[part]))
    return r, np.arange(*part.indices(len(points))), path.predict(points[part], output, folds)


def _search_each(
    fit: Callable[..., KNeighborsPath],
    X: Any,
    y: Array,
    weight: Floats,
    plan: Plan,
    output: Output,
    size: int,
) -> Blocks:
    for s in range(plan.n_splits):
        train, test = plan.train(s), plan.test(s)
        path = fit(X[train], y[train], weight[train])
        for part in slices(len(test), size):
            rows = slice_if_in_a_row(test[part])
            yield partial(_predict, path, X, plan.repeat(s), rows, test[part], output)


def _predict(
    path: KNeighborsPath, X: Any, repeat: int, at: Any, rows: Ints, output: Output
) -> Block:
    return repeat, rows, path.predict_path(X[at], output)
