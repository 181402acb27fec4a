"""The covariance within classes by an estimator that the user gives, as in scikit-learn.

The estimator is fitted to the rows of each class by themselves, and the covariances C_k that it
finds are pooled by the classes' shares of the rows: S = sum_k (n_k / n) C_k.
"""

from collections.abc import Sequence
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
    """Refuse an estimator beside what else says how the covariance is found."""
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
        raise ParameterError(
            "covariance_estimator and shrinkage parameters are not None: only one of the two can "
            "be set; Tuned and select choose the shrinkage, and risk.cross_validate judges an "
            "estimator of covariances as it is"
        )
    if learner.unbiased:
        raise ParameterError(
            "covariance_estimator says by itself what it divides by: leave unbiased=False"
        )


def estimated_covariance(
    estimator: Any, moments: ClassMoments, blocks: Blocks, units: Units
) -> Floats:
    """S of columns measured in `units`; the rows of one class at a time are in memory."""
    common = int(units.column.max())  # one for all columns: their ratios are as they came
    share = moments.weight / moments.weight.sum()
    p = len(units.column)
    pooled = np.zeros((p, p))
    for k in np.flatnonzero(moments.rows > 0):
        check_deadline()
        X, weight = _rows_of_class(blocks, int(k))
        with np.errstate(under="ignore"):
            X = np.ldexp(X, -common) if common else X
        pooled += share[k] * _covariance(clone(estimator, safe=False), X, weight)
    with np.errstate(over="ignore", under="ignore"):
        measured = np.ldexp(pooled, (common - units.column)[:, None] + (common - units.column))
    if not np.isfinite(measured).all():
        raise DataError(
            f"{type(estimator).__name__} found a covariance that is not finite: scale the columns, "
            "or give another covariance_estimator"
        )
    return measured


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
