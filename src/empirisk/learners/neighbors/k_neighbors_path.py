"""Nearest neighbours for all numbers of neighbours, from one search."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import clone

from empirisk.learners.neighbors.metrics import Metric
from empirisk.learners.neighbors.searching import Folds
from empirisk.risk.axis import Output, Path
from empirisk.runtime.arrays import Array, Floats


class KNeighborsPath(Path):
    """Training rows and a metric; the path of a learner along `n_neighbors`."""

    same_as_fit = True

    def __init__(
        self,
        learner: Any,
        rows: Any,
        y: Array,
        weight: Floats,
        metric: Metric,
        ks: Sequence[int],
        n_classes: int,
    ) -> None:
        self.learner, self.rows, self.y, self.weight = learner, rows, y, weight
        self.metric, self.ks, self.n_classes = metric, ks, n_classes
        self.copies = learner._copies_of(rows.X, y, weight, metric, n_classes)

    def predict_path(self, X: Any, output: Output) -> Array:
        return self.predict(self.metric.place(cells_of(X)), output)

    def predict(self, points: Floats, output: Output, folds: Folds | None = None) -> Array:
        """Of mapped points, which look past the rows of their own folds."""
        ks = np.array(self.ks, dtype=np.float64)
        return self.copies.predict(points, ks, output, folds=folds, n_jobs=self.learner.n_jobs)

    def at(self, j: int) -> Any:
        classes = np.arange(self.n_classes) if self.n_classes else None
        return self.write(j, clone(self.learner).set_params(n_neighbors=self.ks[j]), classes)

    def write(self, j: int, learner: Any, classes: Array | None) -> Any:
        """The fitted attributes at the j-th value; copies, since a user may write into the data."""
        learner.n_features_in_ = self.rows.X.shape[1]
        learner.X_train_, learner.y_train_ = self.rows.X.copy(), self.y.copy()
        learner.weight_train_, learner.metric_ = self.weight.copy(), self.metric
        learner.__dict__.pop("columns_", None)  # of an earlier fit by Gower's distance
        if self.rows.columns is not None:
            learner.columns_ = list(self.rows.columns)
        if classes is not None:
            learner.classes_ = classes
        learner._keep_search()
        return learner


def cells_of(design: Any) -> Floats:
    """The numbers of a design: an array, or the cells of a mixed table."""
    return design if isinstance(design, np.ndarray) else np.ascontiguousarray(design.X)
