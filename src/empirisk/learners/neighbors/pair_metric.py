"""Distances that scikit-learn or the user computes, pair by pair: all training rows are looked at.

The names are scikit-learn's (`sklearn.metrics.pairwise_distances`), as are the numbers; but
"braycurtis" is as its neighbours have it, sum |x - y| / sum (|x| + |y|), from 0 to 1 whatever the
signs, and 0 for two rows of zeros. Those of "precomputed" are the cells themselves, of each point
from all training rows.
"""

from dataclasses import dataclass, field
from typing import Any, Self
from warnings import warn

import numpy as np
from sklearn.exceptions import DataConversionWarning
from sklearn.metrics import pairwise_distances

from empirisk.learners.neighbors.searching import (
    POINTS_AT_ONCE,
    Algorithm,
    Folds,
    Nearest,
    shared,
)
from empirisk.runtime.arrays import Floats
from empirisk.runtime.errors import DataError, ParameterError
from empirisk.runtime.parallel import one_blas_thread

DISTANCES_AT_ONCE = 2**21  # 16 MB
WITHOUT_UNIT = ("braycurtis", "canberra", "correlation", "cosine")
OF_TRUTHS = ("dice", "jaccard", "rogerstanimoto", "russellrao", "sokalsneath", "yule")
BY_PAIRS = (
    *WITHOUT_UNIT,
    *OF_TRUTHS,
    "hamming",
    "haversine",
    "nan_euclidean",
    "precomputed",
    "seuclidean",
    "sqeuclidean",
)


def is_by_pairs(metric: Any) -> bool:
    """Whether this is a function of two rows, or the name of one."""
    return callable(metric) or (isinstance(metric, str) and metric in BY_PAIRS)


@dataclass(frozen=True, eq=False)
class PairMetric:
    """A function of two rows or its name, its further arguments, and the unit of the cells."""

    metric: Any
    params: dict[str, Any] = field(default_factory=dict)
    unit: float = 1.0

    @classmethod
    def of(cls, metric: Any, params: dict[str, Any], X: Floats, unit: float) -> Self:
        """With a first distance computed: what is wrong with the arguments is said by a fit."""
        if metric == "precomputed" and X.shape[0] != X.shape[1]:
            raise DataError(
                f"X has shape {X.shape}; metric='precomputed' takes the distances of all training "
                "rows from each other, a square array without rows of weight 0; rows can be held "
                "out in folds only, as by Tuned or risk.cross_validate"
            )
        found = cls(metric, params, unit if metric in WITHOUT_UNIT else 1.0)
        if found.is_of_truths and not np.isin(X, (0, 1)).all():
            warn(
                f"metric={metric!r} asks whether a cell is 0, and X has other numbers than 0 and "
                "1, which are one to it: give truths, or metric='hamming' for categories",
                DataConversionWarning,
            )
        try:
            found.between(X[:1], X[:2])
        except (TypeError, ValueError) as error:
            raise ParameterError(
                f"metric is {metric!r:.60} with metric_params {params!r:.60}, and gives no "
                f"distance: {error}"
            ) from error
        return found

    def between(self, points: Floats, rows: Floats) -> Floats:
        """The distances of points from rows, (points, rows); NaN becomes infinity."""
        if isinstance(self.metric, str) and self.metric == "precomputed":
            if (points < 0).any():
                raise DataError("X has negative numbers, and metric='precomputed' takes distances")
            return points
        if self.is_of_truths:
            points, rows = points != 0, rows != 0
        params, undefined = self.params, np.inf
        if isinstance(self.metric, str) and self.metric == "braycurtis":
            points, rows, undefined = _by_sign(points), _by_sign(rows), 0.0
            if params.get("w") is not None:
                params = {**params, "w": np.tile(params["w"], 2)}
        with one_blas_thread(), np.errstate(invalid="ignore"):
            found = pairwise_distances(points, rows, metric=self.metric, **params)
        found[np.isnan(found)] = undefined
        return found

    def place(self, X: Floats) -> Floats:
        """X in the unit."""
        return X if self.unit == 1.0 else X / self.unit

    def distances(self, found: Floats, X: Floats) -> Floats:
        """The distances that a search found."""
        return found

    def search(self, X: Floats, algorithm: Algorithm, leaf_size: int) -> "PairSearch":
        return PairSearch(self.place(X), self)

    @property
    def is_of_truths(self) -> bool:
        """Whether cells count as 0 or not, and nothing else of them."""
        return isinstance(self.metric, str) and self.metric in OF_TRUTHS

    @property
    def scale(self) -> float:
        return 1.0

    def check_loaded(self) -> None:
        """Raise a DataError unless this is a metric."""
        if not is_by_pairs(self.metric) or not isinstance(self.params, dict):
            raise DataError(f"a metric is {self.metric!r:.30} with {self.params!r:.30}")
        if not isinstance(self.unit, float) or not 0 < self.unit < np.inf:
            raise DataError(f"the unit of a metric is {self.unit!r:.30}")


class PairSearch:
    """Rows to be searched by looking at the distances of all of them."""

    def __init__(self, rows: Floats, metric: PairMetric) -> None:
        self.rows, self.metric = rows, metric

    def nearest(
        self, points: Floats, k: int, *, folds: Folds | None = None, n_jobs: int | None = None
    ) -> Nearest:
        """The k nearest rows of each point."""
        size = max(1, DISTANCES_AT_ONCE // len(self.rows))
        return shared(self._find, points, k, folds, n_jobs, size=min(size, POINTS_AT_ONCE))

    def _find(self, points: Floats, folds: Folds | None, found: Nearest) -> None:
        distance = self.metric.between(points, self.rows)
        past = None if folds is None else folds.points[:, np.newaxis] == folds.rows
        found.rows[:] = least(distance, past, found.rows.shape[1])
        found.distances[:] = np.take_along_axis(distance, found.rows, axis=1)
        if past is not None:
            none = np.take_along_axis(past, found.rows, axis=1)
            found.rows[none], found.distances[none] = -1, np.inf


def _by_sign(X: Floats) -> Floats:
    """The positive parts of the cells, and the negative ones, so small that sums are finite."""
    small = X * 0.5 ** (4 * X.shape[1]).bit_length()  # one unit for all rows changes no distance
    return np.hstack([np.maximum(small, 0.0), np.maximum(-small, 0.0)])


def least(distance: Floats, past: Any, k: int) -> Any:
    """Of each point the k nearest rows in order, the earlier of ties; those `past` come last.

    Examples
    --------
    >>> least(np.array([[2.0, 1.0, 2.0, 0.5]]), None, 3)
    array([[3, 1, 0]])
    """
    if past is not None:  # behind all others, also those at an infinite distance
        distance = np.where(past, np.inf, np.minimum(distance, np.finfo(np.float64).max))
    last = np.partition(distance, k - 1, axis=1)[:, k - 1 : k]
    near = distance <= last
    tied = np.flatnonzero(near.sum(axis=1) > k)
    if len(tied):
        equal = distance[tied] == last[tied]
        room = k - (distance[tied] < last[tied]).sum(axis=1, keepdims=True)
        near[tied] &= ~equal | (equal.cumsum(axis=1) <= room)
    rows = np.nonzero(near)[1].reshape(-1, k)
    order = np.argsort(np.take_along_axis(distance, rows, axis=1), axis=1, kind="stable")
    return np.take_along_axis(rows, order, axis=1)
