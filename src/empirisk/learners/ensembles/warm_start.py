"""Going on from the members of an earlier fit: to the same rows, drawn in the same way."""

import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np

from empirisk.data.coded_column import CodedColumn
from empirisk.learners.ensembles.bagged_trees import are_trees, shared_columns
from empirisk.learners.ensembles.draws import Draws
from empirisk.learners.ensembles.members import Training
from empirisk.runtime.arrays import Array
from empirisk.runtime.errors import DataError, ParameterError

OTHER_DRAWS = (
    "with warm_start=True members are added that draw as those there are: leave max_samples, "
    "max_features, bootstrap, block_size, the weights and the groups as they were, or set "
    "warm_start=False"
)


def refuse_other_training(bag: Any, training: Training, n: int, key: str | None) -> None:
    """Raise an error where new members would not belong to those there are."""
    before = len(bag.estimators_)
    if bag.n_estimators < before:
        raise ParameterError(
            f"n_estimators is {bag.n_estimators}, and with warm_start=True there are {before} "
            f"members already: give a number from {before}"
        )
    if bag.n_estimators == before:
        warn_nothing_new(before, stacklevel=5)
    refuse_other_rows(bag, n, training.draws, key)
    width = training.n_features if training.columns is None else training.columns.size
    wide = training.n_features if bag._columns is None else bag._columns.shape[1]
    if width != wide or (bag._columns is None) != (training.columns is None):
        raise ParameterError(OTHER_DRAWS)
    if are_trees(training.estimator):
        if not all(map(are_trees, bag.estimators_)):
            raise ParameterError(
                f"estimator is {training.estimator!r:.60}, and with warm_start=True there are "
                "members that are no trees of this library, with which trees share no coding: give "
                "the same estimator, or set warm_start=False"
            )
        known, used = shared_columns(bag.estimators_, bag._columns)
        columns = training.X.columns
        refuse_other_columns(known, columns if used is None else [columns[j] for j in used])


def warn_nothing_new(n: int, *, stacklevel: int) -> None:
    """Say that there are as many members as were asked for; `stacklevel` is that of a warning."""
    warnings.warn(
        f"warm_start=True and n_estimators={n} is what there is: no member was fitted",
        UserWarning,
        stacklevel=stacklevel,
    )


def refuse_other_rows(ensemble: Any, n: int, draws: Draws | None, key: str | None) -> None:
    """Raise an error unless members there are drew in this way, from rows with these targets.

    The rows that a member did not draw, which judge it, are found by drawing again. `key` is the
    `target_key` of y.
    """
    if n != ensemble._n_samples:
        raise DataError(
            f"{n} rows came, and with warm_start=True there are members that drew from "
            f"{ensemble._n_samples}: give the same rows, or set warm_start=False"
        )
    before = getattr(ensemble, "_target_key", None)
    if before is not None and key is not None and before != key:
        raise DataError(
            "y is not that of the members there are, or its rows come in another order: with "
            "warm_start=True give the same rows, or set warm_start=False"
        )
    known = getattr(ensemble, "_draws", draws)  # a file does not keep them
    if (known is None) != (draws is None) or (
        known is not None and draws is not None and not draws.same_as(known)
    ):
        raise ParameterError(OTHER_DRAWS)


def refuse_other_classes(bag: Any, classes: Array) -> None:
    """Raise a DataError where members there are know other classes."""
    if bag._goes_on() and not np.array_equal(bag.classes_, classes):
        raise DataError(
            f"y has the classes {classes.tolist()[:10]}, and with warm_start=True there are "
            f"members that know {bag.classes_.tolist()[:10]}: give the same rows"
        )


def refuse_other_columns(before: Iterable[CodedColumn], now: Iterable[CodedColumn]) -> None:
    """Raise a DataError where a column has another type or other levels: trees know their codes."""
    for column, new in zip(before, now, strict=True):
        levels = column.kind != "number"
        if column.kind != new.kind or (levels and list(column.values) != list(new.values)):
            raise DataError(
                f"column {new.name!r} has another type, or other levels, than before: with "
                "warm_start=True give the same rows again, or fit anew with warm_start=False"
            )
