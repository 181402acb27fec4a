"""The Voronoi picture: where each training row is the nearest."""

from functools import partial
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from empirisk.charts.decision_boundary import class_colours, draw_points
from empirisk.charts.partition import draw_colour_bar, draw_valued_points, value_colours
from empirisk.charts.voronoi import draw_cells, voronoi_cells
from empirisk.learners.neighbors.k_neighbors import KNeighbors
from empirisk.learners.neighbors.metrics import PointMetric
from empirisk.runtime.arrays import Floats
from empirisk.runtime.errors import DataError, ParameterError

MARGIN = 0.08  # of the range of the data, on each side
PALE = 0.35


def draw_voronoi(model: Any, *, points: bool = True, ax: Any = None) -> Any:
    """Draw the cells of the plane in which each training row is the nearest: what k = 1 predicts.

    Parameters
    ----------
    model : fitted KNeighborsClassifier or KNeighborsRegressor of two features
        Or a Tuned one. By a Euclidean distance, of columns standardised or not, a Mahalanobis
        distance or a learned one: the cells of these are polygons.
    points : bool
        Whether the training rows are drawn too.
    ax : Axes, optional

    Returns
    -------
    Axes
        Cells in the colour of the class, or of the target, of their row; of rows at one place,
        those of the first.

    Examples
    --------
    >>> from empirisk import KNeighborsClassifier
    >>> model = KNeighborsClassifier(1).fit([[0, 0], [1, 2], [3, 1]], ["a", "b", "a"])
    >>> ax = draw_voronoi(model)
    >>> len(ax.collections[0].get_paths())
    3
    """
    model = getattr(model, "best_estimator_", model)
    if not isinstance(model, KNeighbors):
        raise ParameterError(
            f"the model is {type(model).__name__}, which has no neighbours: give a "
            "KNeighborsClassifier or KNeighborsRegressor"
        )
    check_is_fitted(model)
    X, metric = model.X_train_, model.metric_
    if X.shape[1] != 2:
        raise DataError(
            f"the model was fitted to {X.shape[1]} column(s); cells are drawn of two features"
        )
    mapped, first, back = _plane(metric, X)
    cells = [back(cell) for cell in voronoi_cells(mapped)]
    across, up = getattr(model, "feature_names_in_", ("x0", "x1"))
    show = partial(draw_cells, cells, window=_window(X), names=(str(across), str(up)), ax=ax)
    y = model.y_train_.reshape(-1)
    if len(y) != len(X):
        raise DataError(
            f"the model was fitted to {len(y) // len(X)} targets; cells have the colour of one"
        )
    if is_classifier(model):
        colours = class_colours(len(model.classes_))
        ax = show([(*colours[code], PALE) for code in y[first]])
        if points:
            draw_points(X, y, np.ones(len(X), bool), [str(c) for c in model.classes_], ax=ax)
        return ax
    norm, own = value_colours(y[first], y)
    ax = show(own)
    if points:
        draw_valued_points(X, y, norm, ax=ax)
    draw_colour_bar(norm, "y", ax=ax)
    return ax


def _window(X: Floats) -> Floats:
    """From a little below the rows to a little above them."""
    low, high = X.min(axis=0), X.max(axis=0)
    margin = MARGIN * np.where(high > low, high - low, np.abs(high) + (high == 0))
    return np.array([low - margin, high + margin])


def _plane(metric: Any, X: Floats) -> tuple[Floats, Any, Any]:
    """Different mapped rows, the first row at each place, and the way back from that plane."""
    if not isinstance(metric, PointMetric) or metric.norm != "euclidean":
        raise ParameterError(
            "cells of this metric are no polygons: draw the regions of a classifier with "
            "n_neighbors=1 by risk.draw_decision_boundary"
        )
    mean = np.zeros(2) if metric.mean is None else metric.mean
    A = np.eye(2) if metric.matrix is None else metric.matrix
    A = np.diag(A) if A.ndim == 1 else A
    if A.shape != (2, 2) or np.linalg.matrix_rank(A) < 2:
        raise DataError(
            "a column says nothing under this metric, so cells are strips: leave it out"
        )
    inverse = np.linalg.inv(A)
    mapped, first = np.unique(metric.place(X), axis=0, return_index=True)
    return mapped, first, lambda cell: (cell @ inverse + mean) * metric.unit
