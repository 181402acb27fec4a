"""What nearest neighbours that classify and that predict numbers have in common."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar, Literal, Self

import numpy as np
from scipy.sparse import csr_array, issparse
from sklearn.base import BaseEstimator, is_classifier
from sklearn.utils import Tags
from sklearn.utils.validation import _is_fitted, check_is_fitted

from empirisk.data.table_door import check_places, table_of
from empirisk.learners.generative.mixed_rows import MixedRows
from empirisk.learners.neighbors.copies import Copies
from empirisk.learners.neighbors.k_neighbors_held_out import predict_plan
from empirisk.learners.neighbors.k_neighbors_path import KNeighborsPath
from empirisk.learners.neighbors.k_neighbors_settings import (
    ALGORITHMS,
    TrainingRows,
    check_settings,
    checked_neighbors,
    metric_of,
)
from empirisk.learners.neighbors.k_neighbors_soundness import check_fitted
from empirisk.learners.neighbors.metrics import Metric, named_norm
from empirisk.learners.neighbors.searching import Folds
from empirisk.risk.axis import Axis, HeldOut, Output, PathMixin
from empirisk.risk.plans.plan import Plan
from empirisk.runtime.arrays import Array, Floats, Ints, make_writable
from empirisk.runtime.conversion import numbers
from empirisk.runtime.errors import DataError, DataTypeError, ParameterError
from empirisk.runtime.sparse_form import sparse_form
from empirisk.runtime.targets import check_target, has_columns
from empirisk.runtime.validation import check_fit, check_predict

MOST_VALUES = 100
"""Values of the default grid: all numbers of neighbours up to here, then ever fewer."""
NEW_LEVEL = -1.0  # of a category, that no training row has: it differs from all of theirs
NAME_CATEGORIES = "give a data frame, whose columns say what they are"


class KNeighbors(PathMixin, BaseEstimator):
    """The training rows, and the search for those nearest to a point."""

    axis: ClassVar[Axis | None] = Axis(("n_neighbors",), larger="simpler", scale="integer")
    feature_scaling: ClassVar[Literal["each", "common"] | None] = "common"
    settings_as_candidate: ClassVar[Mapping[str, Any]] = {"standardize": True}

    n_features_in_: int
    X_train_: Floats
    y_train_: Array
    weight_train_: Floats
    metric_: Metric

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

    def kneighbors(
        self, X: Any = None, n_neighbors: int | None = None, return_distance: bool = True
    ) -> Any:
        """The nearest training rows of each row of X.

        Parameters
        ----------
        X : array-like or frame of shape (m, p), optional
            By default the training rows, each of which is then not its own neighbour.
        n_neighbors : int, optional
            How many rows; weights are not counted here. By default `n_neighbors`.
        return_distance : bool

        Returns
        -------
        distances : array of shape (m, n_neighbors), if asked for
        rows : array of shape (m, n_neighbors)
            Nearest first, of equally near ones the earlier; counted among the training rows of
            positive weight, as `y_train_` is.
        """
        check_is_fitted(self)
        k = checked_neighbors(self.n_neighbors if n_neighbors is None else n_neighbors)
        available = len(self.y_train_) - (X is None)
        if k > available:
            raise ParameterError(
                f"Expected n_neighbors <= n_samples_fit, but n_neighbors = {k}, n_samples_fit = "
                f"{len(self.y_train_)}: there are {available} rows to be neighbours"
            )
        cells, points, folds = self._sought(X)
        near = self._copies.search.nearest(points, k, folds=folds, n_jobs=self.n_jobs)
        if not return_distance:
            return near.rows
        return self.metric_.distances(near.distances, cells), near.rows

    def kneighbors_graph(
        self, X: Any = None, n_neighbors: int | None = None, mode: str = "connectivity"
    ) -> Any:
        """The nearest training rows of each row of X as a sparse matrix of shape (m, n).

        Parameters
        ----------
        X, n_neighbors
            As of `kneighbors`.
        mode : {"connectivity", "distance"}
            Whether an entry is one, or the distance to that neighbour.
        """
        if mode not in ("connectivity", "distance"):
            raise ParameterError(f"mode is {mode!r}; choose 'connectivity' or 'distance'")
        distances, rows = self.kneighbors(X, n_neighbors)
        entries = distances if mode == "distance" else np.ones_like(distances)
        starts = np.arange(len(rows) + 1) * rows.shape[1]
        shape = len(rows), len(self.y_train_)
        return sparse_form(csr_array((entries.ravel(), rows.ravel(), starts), shape=shape))

    def conditional_weights(self, X: Any) -> csr_array:
        """The weight of each training row in what is said of each row of X.

        Parameters
        ----------
        X : array-like or frame of shape (m, p), or None
            As of `predict`.

        Returns
        -------
        sparse array of shape (m, n)
            Rows sum to one; columns are those of `y_train_`.
        """
        check_is_fitted(self)
        rows, share = self._shares(X)
        m, n = len(rows), len(self.y_train_)
        at, place = np.nonzero(share > 0)
        return csr_array((share[at, place], (at, rows[at, place])), shape=(m, n))

    @property
    def categorical_features(self) -> str:
        """Columns of a frame are what they are, for the door of tables."""
        return "from_dtype"

    @property
    def n_samples_fit_(self) -> int:
        """The number of training rows."""
        check_is_fitted(self)
        return len(self.y_train_)

    @property
    def effective_metric_(self) -> Any:
        """The metric; "minkowski" without weights of columns by the name of its norm."""
        check_is_fitted(self)
        if self.metric != "minkowski" or self.metric_params:
            return self.metric
        return named_norm(self.metric, self.p)[0]

    @property
    def effective_metric_params_(self) -> dict[str, Any]:
        """The parameters of `effective_metric_`."""
        given = self.metric_params or {}
        if self.effective_metric_ == "minkowski":
            return {"p": self.p, "w": given.get("w")}
        return dict(given)

    def design(self, X: Any) -> Any:
        """X in numbers; for Gower's distance with what its columns are."""
        if not self._is_mixed:
            return numbers(X, self, allow_nan=self._allows_nan)
        return MixedRows.of(table_of(X, self, reset=None, remedy=NAME_CATEGORIES), "auto")

    def axis_values(
        self, X: Any, y: Array, sample_weight: Floats, *, n_train: int
    ) -> Sequence[int]:
        """From 1 to 2 sqrt(n), n counting copies, and not beyond n; at most 100 of them."""
        copies = float(sample_weight.sum()) * n_train / len(sample_weight)
        most = int(max(1, min(2 * np.sqrt(copies), copies)))
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

    def __getstate__(self) -> dict[str, Any]:
        state = {**super().__getstate__()}
        state.pop("_copies", None)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        make_writable(self)
        if "metric_" in state:
            make_writable(self.metric_)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = not self._is_precomputed
        tags.input_tags.pairwise = self._is_precomputed
        tags.input_tags.allow_nan = self._allows_nan
        tags.input_tags.categorical = self._is_mixed
        return tags

    @property
    def _is_mixed(self) -> bool:
        return isinstance(self.metric, str) and self.metric == "gower"

    @property
    def _is_precomputed(self) -> bool:
        return isinstance(self.metric, str) and self.metric == "precomputed"

    @property
    def _allows_nan(self) -> bool:
        return isinstance(self.metric, str) and self.metric in ("gower", "nan_euclidean")

    def _said(self, X: Any, output: Output) -> Array:
        check_is_fitted(self)
        k = np.array([float(self.n_neighbors)])
        _, points, folds = self._sought(X)
        return self._copies.predict(points, k, output, folds=folds, n_jobs=self.n_jobs)

    def _shares(self, X: Any) -> tuple[Ints, Floats]:
        k = float(self.n_neighbors)
        _, points, folds = self._sought(X)
        return self._copies.shares(points, k, folds=folds, n_jobs=self.n_jobs)

    def _sought(self, X: Any) -> tuple[Floats, Floats, Folds | None]:
        """The cells of X, the points they are for the search, and the rows these look past.

        None are the training rows, each of which looks past itself.
        """
        if X is not None:
            cells = self._cells(X)
            return cells, self.metric_.place(cells), None
        own = np.arange(len(self.X_train_), dtype=np.int32)
        if len(own) < 2:
            raise DataError("X is None, and the only training row has no other one beside it")
        return self.X_train_, self._copies.search.rows, Folds(own, own)

    def _cells(self, X: Any) -> Floats:
        if self._is_mixed:
            return np.ascontiguousarray(check_places(self, X, NEW_LEVEL))
        self._refuse_graph(X)
        return check_predict(self, X, allow_nan=self._allows_nan)

    def _refuse_graph(self, X: Any) -> None:
        if self._is_precomputed and issparse(X):
            raise DataTypeError(
                "X is a sparse matrix, and metric='precomputed' takes all distances, as an array: "
                "what a graph of neighbours leaves out is far away, and not at distance 0"
            )

    @cached_property
    def _copies(self) -> Copies:
        """The search of the training rows, which follows from the rest: no file keeps it."""
        n_classes = len(getattr(self, "classes_", ()))
        return self._copies_of(
            self.X_train_, self.y_train_, self.weight_train_, self.metric_, n_classes
        )

    def _keep_search(self) -> None:
        """Make the search anew, after a fit: predictions change no attribute."""
        self.__dict__.pop("_copies", None)
        _ = self._copies

    def _copies_of(
        self, X: Floats, y: Array, weight: Floats, metric: Metric, n_classes: int
    ) -> Copies:
        search = metric.search(X, ALGORITHMS[self.algorithm], self.leaf_size)
        weighting = None if self.weights == "uniform" else self.weights
        return Copies(search, weight, y, n_classes, weighting, metric.scale)

    def _training_set(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Array, Floats, Any]:
        """Rows of positive weight, their targets or codes, weights, and the classes."""
        classifier = is_classifier(self)
        # A learned metric, of one target, refuses several in its own words, and takes one column.
        several = not classifier and (self.metric != "learned" or has_columns(y))
        self._refuse_graph(X)
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
