"""The parameters of nearest neighbours, checked, and the metric that they ask for."""

from typing import Any, NamedTuple

import numpy as np

from empirisk.data.coded_column import CodedColumn
from empirisk.learners.generative.mixed_rows import MixedRows
from empirisk.learners.neighbors.learned_metric import learned_metric
from empirisk.learners.neighbors.metrics import (
    Metric,
    MixedMetric,
    check_metric,
    mahalanobis_metric,
    named_norm,
    plain_metric,
    standardized_metric,
    units_of,
)
from empirisk.learners.neighbors.pair_metric import PairMetric, is_by_pairs
from empirisk.learners.neighbors.searching import Algorithm
from empirisk.runtime.arrays import Array, Floats
from empirisk.runtime.errors import ParameterError
from empirisk.runtime.scalars import is_flag, is_whole

ALGORITHMS: dict[str, Algorithm] = {
    "auto": "auto",
    "kd_tree": "kd_tree",
    "ball_tree": "kd_tree",
    "brute": "brute",
}


class TrainingRows(NamedTuple):
    """Rows as cells in numbers, and for Gower's distance what the columns are."""

    X: Floats
    columns: tuple[CodedColumn, ...] | None

    @classmethod
    def of(cls, design: Any) -> "TrainingRows":
        """Of what `design` returned."""
        if isinstance(design, MixedRows):
            return cls(np.ascontiguousarray(design.X), design.columns)
        return cls(design, None)


def check_settings(learner: Any) -> None:
    """Raise a ParameterError where a parameter, but for n_neighbors, is none that there is."""
    if learner.algorithm not in ALGORITHMS:
        raise ParameterError(
            f"algorithm is {learner.algorithm!r:.40}; there are {', '.join(ALGORITHMS)}"
        )
    if not is_whole(learner.leaf_size, 1):
        raise ParameterError(f"leaf_size is {learner.leaf_size!r}; it must be 1, 2, 3, ...")
    checked_weighting(learner.weights)
    if learner.standardize is not None and not is_flag(learner.standardize):
        raise ParameterError(
            f"standardize is {learner.standardize!r:.40}; give True, False or None"
        )
    check_metric(learner.metric, learner.metric_params)


def checked_neighbors(value: Any) -> int:
    """A number of neighbours."""
    if not is_whole(value, 1):
        raise ParameterError(f"n_neighbors is {value!r}; it must be 1, 2, 3, ...")
    return int(value)


def checked_weighting(weights: Any) -> Any:
    """What a copy of a neighbour counts for: None for the same, "distance", or a function."""
    if weights is None or callable(weights):
        return weights
    if not (isinstance(weights, str) and weights in ("uniform", "distance")):
        raise ParameterError(
            f"weights is {weights!r:.40}; give 'uniform', 'distance' or a function of distances"
        )
    return None if weights == "uniform" else weights


def metric_is_given(learner: Any) -> bool:
    """Whether the metric is the same whatever the training rows are."""
    if learner.metric == "mahalanobis":
        return bool(learner.metric_params)
    if learner.metric in ("gower", "learned"):
        return False
    by_pairs = is_by_pairs(learner.metric)
    return by_pairs or bool(learner.metric_params) or not learner.standardize


def metric_of(learner: Any, rows: TrainingRows, y: Array, weight: Floats, n_classes: int) -> Metric:
    """The metric, learned from the training rows where it is to be."""
    params = check_metric(learner.metric, learner.metric_params)
    if learner.metric == "gower":
        assert rows.columns is not None
        category = np.array([column.kind == "category" for column in rows.columns])
        return MixedMetric.of(rows.X, category)
    if learner.metric == "learned":
        if y.ndim > 1 and y.shape[1] > 1:
            raise ParameterError(
                f"metric='learned' learns from one target, and y has {y.shape[1]} columns: fit "
                "one learner for each, or choose another metric"
            )
        return learned_metric(rows.X, y, weight, n_classes)
    if learner.metric == "mahalanobis":
        return mahalanobis_metric(rows.X, weight, params)
    if is_by_pairs(learner.metric):
        unit = float(units_of(rows.X, each=False)[0])
        return PairMetric.of(learner.metric, params, rows.X, unit)
    norm, power = named_norm(learner.metric, learner.p)
    if learner.standardize and not params:
        return standardized_metric(rows.X, weight, norm, power)
    return plain_metric(rows.X, norm, power, params.get("w"))
