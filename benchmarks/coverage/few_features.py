"""Linear discriminants of five features each, whose axis says of which: rivals that overlap."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from empirisk.risk.axis import Axis, Freedom, Output, PathMixin
from empirisk.runtime.arrays import Array, Floats, Ints
from empirisk.runtime.streams import generator

FEATURES, CHOSEN, SETS = 20, 5, 40
SUBSETS: Ints = np.argsort(generator(0).random((SETS, FEATURES)), axis=1)[:, :CHOSEN]


@dataclass(frozen=True, eq=False)
class FewFeaturesPath:
    """The sign of intercept_s + weight_s'x for each set s asked for; weights of others are 0."""

    weight: Floats
    intercept: Floats

    @property
    def degrees_of_freedom(self) -> Floats:
        return np.full(len(self.intercept), CHOSEN + 1.0)

    def predict_path(self, X: Array, output: Output) -> Ints:
        return (X @ self.weight.T + self.intercept > 0).astype(np.int64)

    def at(self, j: int) -> BaseEstimator:
        raise NotImplementedError("the models of folds are not averaged here")


class FewFeaturesClassifier(ClassifierMixin, PathMixin, BaseEstimator):
    """Two classes by the features of one set alone."""

    axis: ClassVar[Axis | None] = Axis(("subset",), larger="richer", scale="integer")
    freedom: ClassVar[Freedom] = "path"

    def __init__(self, subset: int = 0) -> None:
        self.subset = subset

    def fit(self, X: Any, y: Any) -> Self:
        self.classes_, codes = np.unique(y, return_inverse=True)
        path = self.fit_path(X, codes, np.ones(len(X)), [self.subset], n_classes=2)
        self.coef_, self.intercept_ = path.weight, path.intercept
        return self

    def decision_function(self, X: Any) -> Floats:
        return X @ self.coef_[0] + self.intercept_[0]

    def predict(self, X: Any) -> Array:
        return self.classes_[(self.decision_function(X) > 0).astype(np.int64)]

    def fit_path(
        self, X: Any, y: Any, sample_weight: Floats, values: Sequence[Any], *, n_classes: int
    ) -> FewFeaturesPath:
        columns = SUBSETS[[int(value) for value in values]]
        low, high = X[y == 0].mean(axis=0), X[y == 1].mean(axis=0)
        within = X - np.where((y == 1)[:, None], high, low)
        covariance = within.T @ within / len(X)
        each = covariance[columns[:, :, None], columns[:, None, :]]
        solved = np.linalg.solve(each, (high - low)[columns][:, :, None])[:, :, 0]
        weight = np.zeros((len(columns), X.shape[1]))
        np.put_along_axis(weight, columns, solved, axis=1)
        odds = np.log((y == 1).sum() / (y == 0).sum())
        return FewFeaturesPath(weight, odds - weight @ (low + high) / 2)
