"""Covariances by an estimator that the user gives, as in scikit-learn.

The estimator is fitted to the rows of each class by themselves. Where classes share one covariance,
those that it finds, C_k, are pooled by the classes' shares of the rows: S = sum_k (n_k / n) C_k.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from sklearn.base import clone

from empirisk.data.blocks import Blocks
from empirisk.data.class_moments import ClassMoments, Units
from empirisk.risk.foreign import takes_weights
from empirisk.runtime.arrays import Floats
from empirisk.runtime.deadlines import check_deadline
from empirisk.runtime.errors import DataError, ParameterError


def check_alone(learner: Any, values: Sequence[Any]) -> None:
    """Refuse an estimator beside what else says how covariances are found, such as shrinkages."""
    estimator = learner.covariance_estimator
    if estimator is None:
        return
    if not hasattr(estimator, "fit"):
        raise ParameterError(
            f"covariance_estimator is {estimator!r:.60}; it must have a method fit, as those of "
            "sklearn.covariance have"
        )
    if learner.solver == "svd":
        raise ParameterError(
            "covariance_estimator is not supported with the svd solver: try another solver"
        )
    if any(value is not None and value != 0 for value in values):
        tuned = "; Tuned and select choose the shrinkage, and risk.cross_validate judges an "
        tuned += "estimator of covariances as it is"
        raise ParameterError(
            "covariance_estimator and shrinkage parameters are not None: only one of the two can "
            f"be set{tuned if learner.axis is not None else ''}"
        )
    if learner.unbiased:
        raise ParameterError(
            "covariance_estimator says by itself what it divides by: leave unbiased=False"
        )


def estimated_within(estimator: Any, moments: ClassMoments, blocks: Blocks, units: Units) -> Floats:
    """S, of columns measured in `units`."""
    share = moments.weight / moments.weight.sum()
    found = np.zeros((len(units.column), len(units.column)))
    for k, covariance in _of_each_class(estimator, moments, blocks, units):
        found += share[k] * covariance
    return found


def estimated_classes(
    estimator: Any, moments: ClassMoments, blocks: Blocks, units: Units
) -> Floats:
    """C_k (K, p, p), of columns measured in `units`; zeros for a class without rows."""
    found = np.zeros((len(moments.rows), len(units.column), len(units.column)))
    for k, covariance in _of_each_class(estimator, moments, blocks, units):
        found[k] = covariance
    return found


def _of_each_class(
    estimator: Any, moments: ClassMoments, blocks: Blocks, units: Units
) -> Iterator[tuple[int, Floats]]:
    """The classes that have rows, with C_k; the rows of one class at a time are in memory."""
    common = int(units.column.max())  # one for all columns: their ratios are as they came
    finer = common - units.column
    for k in np.flatnonzero(moments.rows > 0).tolist():
        check_deadline()
        X, weight = _rows_of_class(blocks, k)
        with np.errstate(under="ignore"):
            X = np.ldexp(X, -common) if common else X
        found = _covariance(clone(estimator, safe=False), X, weight)
        with np.errstate(over="ignore", under="ignore"):
            measured = np.ldexp(found, finer[:, None] + finer)
        if not np.isfinite(measured).all():
            raise DataError(
                f"{type(estimator).__name__} found a covariance that is not finite: scale the "
                "columns, or give another covariance_estimator"
            )
        yield k, measured


def _covariance(estimator: Any, X: Floats, weight: Floats) -> Floats:
    name, p = type(estimator).__name__, X.shape[1]
    if takes_weights(estimator):
        estimator.fit(X, sample_weight=weight)
    elif (weight == 1).all():
        estimator.fit(X)
    else:
        raise ParameterError(
            f"rows have weights, and the fit of {name} takes none: leave out the weights, or give "
            "a covariance_estimator whose fit takes sample_weight"
        )
    if not hasattr(estimator, "covariance_"):
        raise ParameterError(f"{name} does not have a covariance_ attribute after fit")
    found = np.atleast_2d(np.asarray(estimator.covariance_, dtype=float))
    if found.shape != (p, p):
        raise ParameterError(
            f"the covariance_ of {name} has shape {found.shape}; for {p} columns it must be "
            f"{(p, p)}"
        )
    return found


def _rows_of_class(blocks: Blocks, k: int) -> tuple[Floats, Floats]:
    parts = [(block.X[own], block.weight[own]) for block in blocks if (own := block.y == k).any()]
    X, weight = zip(*parts, strict=True)
    return np.concatenate(X), np.concatenate(weight)
