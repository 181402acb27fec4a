"""Whether what a file has of fitted nearest neighbours belongs together."""

from typing import Any

import numpy as np

from empirisk.data.coded_column import check_column
from empirisk.learners.neighbors.metrics import MixedMetric, PointMetric
from empirisk.learners.neighbors.pair_metric import PairMetric
from empirisk.learners.soundness import is_floats
from empirisk.runtime.errors import DataError


def check_fitted(learner: Any) -> None:
    """Raise a DataError unless rows, targets, weights and metric fit together."""
    X, metric = learner.X_train_, learner.metric_
    if not is_floats(X, (None, None)) or X.size == 0:
        raise DataError("X_train_ is not an array of rows of numbers")
    n, p = X.shape
    if learner.n_features_in_ != p:
        raise DataError(f"X_train_ has {p} columns, and n_features_in_ is not that")
    _check_targets(learner, n)
    weight = learner.weight_train_
    if not is_floats(weight, (n,)) or not (weight > 0).all() or not np.isfinite(weight.sum()):
        raise DataError(f"weight_train_ is not an array of {n} positive numbers")
    if hasattr(learner, "columns_"):
        _check_mixed(learner, metric, p)
    elif isinstance(metric, PairMetric):
        name = metric.metric if isinstance(metric.metric, str) else ""
        if name == "precomputed" and n != p:
            raise DataError("X_train_ is not an array of distances of all rows from each other")
        if np.isinf(X).any() or (np.isnan(X).any() and name != "nan_euclidean"):
            raise DataError("X_train_ has numbers that are not finite")
    elif not isinstance(metric, PointMetric) or len(metric.unit) != p:
        raise DataError(f"metric_ is not a metric of {p} columns")
    else:
        with np.errstate(over="ignore", invalid="ignore"):
            placed = metric.place(np.ascontiguousarray(X))
        if not np.isfinite(X).all() or not np.isfinite(placed).all():
            raise DataError("X_train_ has numbers that are not finite, or too large for metric_")


def _check_mixed(learner: Any, metric: Any, p: int) -> None:
    if not isinstance(metric, MixedMetric) or len(metric.span) != p:
        raise DataError(f"metric_ is not a metric of a mixed table of {p} columns")
    columns = learner.columns_
    if not isinstance(columns, list) or len(columns) != p:
        raise DataError(f"columns_ are not {p} columns")
    for column, category in zip(columns, metric.category, strict=True):
        check_column(column)
        if (column.kind == "category") != category:
            raise DataError("metric_ has other categories than columns_")
    if np.isinf(learner.X_train_).any():
        raise DataError("X_train_ has infinite numbers")


def _check_targets(learner: Any, n: int) -> None:
    y, kind = learner.y_train_, np.int64 if hasattr(learner, "classes_") else np.float64
    several = (n,) if kind is np.int64 or np.ndim(y) < 2 else (n, max(1, np.shape(y)[1]))
    if not isinstance(y, np.ndarray) or y.dtype != kind or y.shape != several:
        raise DataError(f"y_train_ is not an array of {n} targets")
    if kind is np.float64:
        if not np.isfinite(y).all():
            raise DataError("y_train_ has numbers that are not finite")
        return
    k = len(learner.classes_)
    if not isinstance(learner.classes_, np.ndarray) or learner.classes_.shape != (k,) or k < 1:
        raise DataError("classes_ are not an array of labels")
    if y.min() < 0 or y.max() >= k:
        raise DataError(f"y_train_ has codes beyond {k} classes")
