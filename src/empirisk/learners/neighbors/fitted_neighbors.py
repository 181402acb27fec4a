"""The training rows of nearest neighbours, and what the search among them answers."""

from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from empirisk.data.table_door import check_places
from empirisk.learners.generative.mixed_rows import MixedRows
from empirisk.learners.neighbors.copies import Copies
from empirisk.learners.neighbors.k_neighbors_path import cells_of
from empirisk.learners.neighbors.k_neighbors_settings import (
    ALGORITHMS,
    checked_neighbors,
    checked_weighting,
)
from empirisk.learners.neighbors.metrics import Metric, named_norm
from empirisk.learners.neighbors.searching import Folds
from empirisk.risk.axis import Output
from empirisk.runtime.arrays import Array, Floats, Ints, make_writable
from empirisk.runtime.errors import DataError, DataTypeError, ParameterError
from empirisk.runtime.sparse_form import sparse_form
from empirisk.runtime.validation import check_predict

NEW_LEVEL = -1.0  # of a category, that no training row has: it differs from all of theirs


class FittedNeighbors(BaseEstimator):
    """The training rows that a fit has kept, and those of them that are nearest to a point."""

    n_neighbors: int
    weights: Any
    algorithm: str
    leaf_size: int
    p: float
    metric: Any
    metric_params: dict[str, Any] | None
    n_jobs: int | None
    X_train_: Floats
    y_train_: Array
    weight_train_: Floats
    metric_: Metric

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

    def __getstate__(self) -> dict[str, Any]:
        state = {**super().__getstate__()}
        state.pop("_copies", None)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        make_writable(self)
        if "metric_" in state:
            make_writable(self.metric_)

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
        k = np.array([float(checked_neighbors(self.n_neighbors))])
        _, points, folds = self._sought(X)
        copies = self._copies.weighted(checked_weighting(self.weights))
        return copies.predict(points, k, output, folds=folds, n_jobs=self.n_jobs)

    def _shares(self, X: Any) -> tuple[Ints, Floats]:
        k = float(checked_neighbors(self.n_neighbors))
        _, points, folds = self._sought(X)
        copies = self._copies.weighted(checked_weighting(self.weights))
        return copies.shares(points, k, folds=folds, n_jobs=self.n_jobs)

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
        if isinstance(X, MixedRows):  # of a plan, coded by the columns of the training rows
            return cells_of(X)
        if hasattr(self, "columns_"):
            return np.ascontiguousarray(check_places(self, X, NEW_LEVEL))
        metric = getattr(self.metric_, "metric", None)  # of pairs
        self._refuse_graph(X, metric)
        allow_nan = isinstance(metric, str) and metric == "nan_euclidean"
        return check_predict(self, X, allow_nan=allow_nan)

    def _refuse_graph(self, X: Any, metric: Any) -> None:
        if isinstance(metric, str) and metric == "precomputed" and issparse(X):
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
        weighting = checked_weighting(self.weights)
        return Copies(search, weight, y, n_classes, weighting, metric.scale)
