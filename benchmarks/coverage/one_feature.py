"""Learners of a single feature, whose axis says of which: rivals that hardly depend on one another.

All of them together cost one pass over the rows, so that the best of forty is chosen quickly.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from empirisk.risk.axis import Axis, Freedom, Output, PathMixin
from empirisk.runtime.arrays import Array, Floats


@dataclass(frozen=True, eq=False)
class OneFeaturePath:
    """intercept_j + slope_j x_j for each column j asked for; of classes, the sign of it."""

    columns: list[int]
    slope: Floats
    intercept: Floats
    kind: Literal["class", "number"]

    @property
    def degrees_of_freedom(self) -> Floats:
        return np.full(len(self.columns), 2.0)

    def predict_path(self, X: Array, output: Output) -> Array:
        score = X[:, self.columns] * self.slope + self.intercept
        return (score > 0).astype(np.int64) if self.kind == "class" else score

    def at(self, j: int) -> BaseEstimator:
        raise NotImplementedError("the models of folds are not averaged here")


class OneFeature(PathMixin, BaseEstimator):
    """What the classifier and the regressor share."""

    axis: ClassVar[Axis | None] = Axis(("column",), larger="richer", scale="integer")
    freedom: ClassVar[Freedom] = "path"

    def __init__(self, column: int = 0) -> None:
        self.column = column

    def _keep(self, path: OneFeaturePath) -> Self:
        self.slope_, self.intercept_ = path.slope[0], path.intercept[0]
        return self

    def _score(self, X: Any) -> Floats:
        return np.asarray(X)[:, self.column] * self.slope_ + self.intercept_


class OneFeatureClassifier(ClassifierMixin, OneFeature):
    """Two classes by the feature alone: linear discriminant analysis in one dimension."""

    def fit(self, X: Any, y: Any) -> Self:
        self.classes_, codes = np.unique(y, return_inverse=True)
        return self._keep(self.fit_path(X, codes, np.ones(len(X)), [self.column], n_classes=2))

    def decision_function(self, X: Any) -> Floats:
        return self._score(X)

    def predict(self, X: Any) -> Array:
        return self.classes_[(self._score(X) > 0).astype(np.int64)]

    def fit_path(
        self, X: Any, y: Any, sample_weight: Floats, values: Sequence[Any], *, n_classes: int
    ) -> OneFeaturePath:
        columns = [int(value) for value in values]
        x, high = X[:, columns], y == 1
        low_mean, high_mean = x[~high].mean(axis=0), x[high].mean(axis=0)
        variance = np.square(x - np.where(high[:, None], high_mean, low_mean)).mean(axis=0)
        slope = (high_mean - low_mean) / variance
        odds = np.log(high.sum() / (~high).sum())
        return OneFeaturePath(columns, slope, odds - slope * (low_mean + high_mean) / 2, "class")


class OneFeatureRegressor(RegressorMixin, OneFeature):
    """Least squares on the feature alone."""

    def fit(self, X: Any, y: Any) -> Self:
        return self._keep(self.fit_path(X, y, np.ones(len(X)), [self.column], n_classes=0))

    def predict(self, X: Any) -> Floats:
        return self._score(X)

    def fit_path(
        self, X: Any, y: Any, sample_weight: Floats, values: Sequence[Any], *, n_classes: int
    ) -> OneFeaturePath:
        columns = [int(value) for value in values]
        x = X[:, columns]
        centred = x - x.mean(axis=0)
        slope = centred.T @ (y - y.mean()) / np.square(centred).sum(axis=0)
        return OneFeaturePath(columns, slope, y.mean() - slope * x.mean(axis=0), "number")
