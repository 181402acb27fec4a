"""What nearest neighbours that classify and that predict numbers have in common."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils import Tags
from sklearn.utils.validation import _is_fitted

from empirisk.data.table_door import table_of
from empirisk.learners.generative.mixed_rows import MixedRows
from empirisk.learners.neighbors.fitted_neighbors import FittedNeighbors
from empirisk.learners.neighbors.k_neighbors_held_out import predict_plan
from empirisk.learners.neighbors.k_neighbors_path import KNeighborsPath
from empirisk.learners.neighbors.k_neighbors_settings import (
    TrainingRows,
    check_settings,
    checked_neighbors,
    metric_of,
)
from empirisk.learners.neighbors.k_neighbors_soundness import check_fitted
from empirisk.risk.axis import Axis, HeldOut, Output, PathMixin
from empirisk.risk.plans.plan import Plan
from empirisk.runtime.arrays import Array, Floats
from empirisk.runtime.conversion import numbers
from empirisk.runtime.targets import check_target, has_columns
from empirisk.runtime.validation import check_fit

MOST_VALUES = 100
"""Values of the default grid: all numbers of neighbours up to here, then ever fewer."""
MOST_COPIES = 2.0**53  # that float64 can count one by one
NAME_CATEGORIES = "give a data frame, whose columns say what they are"


class KNeighbors(FittedNeighbors, PathMixin):
    """A fit that keeps the training rows, and all numbers of neighbours from one search."""

    axis: ClassVar[Axis | None] = Axis(("n_neighbors",), larger="simpler", scale="integer")
    feature_scaling: ClassVar[Literal["each", "common"] | None] = "common"
    settings_as_candidate: ClassVar[Mapping[str, Any]] = {"standardize": True}

    def __init__(
        self,
        n_neighbors: int = 5,
        *,
        weights: Any = "uniform",
        algorithm: str = "auto",
        leaf_size: int = 30,
        p: float = 2,
        metric: Any = "minkowski",
        metric_params: dict[str, Any] | None = None,
        standardize: bool | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.p = p
        self.metric = metric
        self.metric_params = metric_params
        self.standardize = standardize
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Keep the training rows, and learn the metric where it is to be learned.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n, p)
            For metric "gower" with categories, and NaN or None where cells are missing. A sparse
            matrix is made dense, here and to predict.
        y : array-like of shape (n,)
            Labels or numbers; of a regressor also (n, outputs).
        sample_weight : array-like of shape (n,), optional
            A row of weight w counts as w copies of it.

        Returns
        -------
        self
        """
        check_settings(self)
        k = checked_neighbors(self.n_neighbors)
        design, target, weight, classes = self._training_set(X, y, sample_weight)
        n_classes = 0 if classes is None else len(classes)
        path = self.fit_path(design, target, weight, [k], n_classes=n_classes)
        return path.write(0, self, classes)

    @property
    def categorical_features(self) -> str:
        """Columns of a frame are what they are, for the door of tables."""
        return "from_dtype"

    def design(self, X: Any) -> Any:
        """X in numbers; for Gower's distance with what its columns are."""
        if not self._is_mixed:
            return numbers(X, self, allow_nan=self._allows_nan)
        return MixedRows.of(table_of(X, self, reset=None, remedy=NAME_CATEGORIES), "auto")

    def axis_values(
        self, X: Any, y: Array, sample_weight: Floats, *, n_train: int
    ) -> Sequence[int]:
        """From 1 to 2 sqrt(n), n counting copies, and not beyond n or 2^53; at most 100 of them."""
        copies = float(sample_weight.sum()) * n_train / len(sample_weight)
        most = int(max(1, min(2 * np.sqrt(copies), copies, MOST_COPIES)))
        if most <= MOST_VALUES:
            return range(1, most + 1)
        spaced = np.unique(np.geomspace(1, most, 3 * MOST_VALUES).round().astype(int))
        while len(spaced) > MOST_VALUES:
            spaced = np.append(np.arange(1, 11), spaced[spaced > 10][-1::-2][::-1])
        return tuple(int(k) for k in spaced)

    def fit_path(
        self, X: Any, y: Array, sample_weight: Floats, values: Sequence[Any], *, n_classes: int
    ) -> KNeighborsPath:
        """All numbers of neighbours from one search."""
        check_settings(self)
        ks = [checked_neighbors(value) for value in values]
        rows = TrainingRows.of(X)
        metric = metric_of(self, rows, y, sample_weight, n_classes)
        return KNeighborsPath(self, rows, y, sample_weight, metric, ks, n_classes)

    def out_of_fold(
        self,
        X: Any,
        y: Array,
        sample_weight: Floats,
        plan: Plan,
        values: Sequence[Any],
        *,
        n_classes: int,
        output: Output,
        rows_per_block: int,
    ) -> HeldOut:
        """All folds from one search among all rows, in which a row looks past those of its fold.

        A metric that is learned from the training rows is learned in each fold.
        """
        return predict_plan(
            self, X, y, sample_weight, plan, values, n_classes, output, rows_per_block
        )

    def check_loaded(self) -> None:
        """Raise a DataError unless what a file has of a fitted learner belongs together."""
        if _is_fitted(self):
            check_settings(self)
            checked_neighbors(self.n_neighbors)
            check_fitted(self)
            self._keep_search()

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = not self._is_precomputed
        tags.input_tags.pairwise = self._is_precomputed
        tags.input_tags.allow_nan = self._allows_nan
        tags.input_tags.categorical = self._is_mixed
        return tags

    def _training_set(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Array, Floats, Any]:
        """Rows of positive weight, their targets or codes, weights, and the classes."""
        classifier = is_classifier(self)
        # A learned metric, of one target, refuses several in its own words, and takes one column.
        several = not classifier and (self.metric != "learned" or has_columns(y))
        self._refuse_graph(X, self.metric)
        if not self._is_mixed:
            train = check_fit(
                self, X, y, sample_weight, classifier=classifier, multi_output=several,
                allow_nan=self._allows_nan,
            )  # fmt: skip
            return train.X, train.y, train.sample_weight, train.classes
        X = table_of(X, self, reset=True, remedy=NAME_CATEGORIES)
        target, weight = check_target(
            self, y, X, sample_weight, classifier=classifier, multi_output=several
        )
        rows, kept = MixedRows.of(X, "auto"), np.flatnonzero(weight > 0)
        rows, target, weight = rows[kept], target[kept], weight[kept]
        if not classifier:
            return rows, target, weight, None
        classes, codes = np.unique(target, return_inverse=True)
        return rows, codes.astype(np.int64), weight, classes
