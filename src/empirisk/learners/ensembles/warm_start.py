"""Going on from the members of an earlier fit: to the same rows, drawn in the same way."""

import warnings
from typing import Any

import numpy as np

from empirisk.learners.ensembles.bagged_trees import are_trees, shared_columns
from empirisk.learners.ensembles.members import Training
from empirisk.runtime.arrays import Array
from empirisk.runtime.errors import DataError, ParameterError


def refuse_other_training(bag: Any, training: Training, n: int) -> None:
    """Raise an error where new members would not belong to those there are."""
    before = len(bag.estimators_)
    if bag.n_estimators < before:
        raise ParameterError(
            f"n_estimators is {bag.n_estimators}, and with warm_start=True there are {before} "
            f"members already: give a number from {before}"
        )
    if bag.n_estimators == before:
        warnings.warn(
            f"warm_start=True and n_estimators={before} is what there is: no member was fitted",
            UserWarning,
            stacklevel=4,
        )
    if n != bag._n_samples:
        raise DataError(
            f"{n} rows came, and with warm_start=True there are members that drew from "
            f"{bag._n_samples}: give the same rows, or set warm_start=False"
        )
    width = training.n_features if training.columns is None else training.columns.size
    wide = training.n_features if bag._columns is None else bag._columns.shape[1]
    other = width != wide or (bag._columns is None) != (training.columns is None)
    if other or not training.draws.same_as(getattr(bag, "_draws", training.draws)):
        raise ParameterError(
            "with warm_start=True members are added that draw as those there are: leave "
            "max_samples, max_features, bootstrap, block_size, the weights and the groups as they "
            "were, or set warm_start=False"
        )
    if are_trees(training.estimator):
        _refuse_other_levels(bag, training)


def refuse_other_classes(bag: Any, classes: Array) -> None:
    """Raise a DataError where members there are know other classes."""
    if bag.warm_start and hasattr(bag, "estimators_") and not np.array_equal(bag.classes_, classes):
        raise DataError(
            f"y has the classes {classes.tolist()[:10]}, and with warm_start=True there are "
            f"members that know {bag.classes_.tolist()[:10]}: give the same rows"
        )


def _refuse_other_levels(bag: Any, training: Training) -> None:
    """Trees share the codes of their columns."""
    known, used = shared_columns(bag.estimators_, bag._columns)
    places = range(training.n_features) if used is None else used
    for column, j in zip(known, places, strict=True):
        new = training.X.columns[j]
        if column.kind != new.kind or (
            column.kind != "number" and list(column.values) != list(new.values)
        ):
            raise DataError(
                f"column {new.name!r} has other values than when the members there are were "
                "fitted: with warm_start=True give the same rows"
            )
