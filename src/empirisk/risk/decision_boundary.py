"""The decision regions of any classifier of two features, drawn."""

from typing import Any

import numpy as np
import pyarrow as pa
from sklearn.base import is_regressor
from sklearn.utils.validation import check_is_fitted

from empirisk.charts.decision_boundary import draw_points, draw_regions
from empirisk.data.table import Table
from empirisk.risk.predictor import AnyPredictor, as_predictor, name_of
from empirisk.risk.target import are_text
from empirisk.runtime.arrays import Array, Floats
from empirisk.runtime.complaints import refuse_missing_labels
from empirisk.runtime.errors import DataError, ParameterError
from empirisk.runtime.scalars import is_whole
from empirisk.runtime.targets import one_column

MARGIN = 0.08  # of the range of the data, on each side
MOST_CLASSES = 100  # more than colours can tell apart; numbers rather than classes


def draw_decision_boundary(
    classifier: Any, X: Any, y: Any = None, *, resolution: int = 200, ax: Any = None
) -> Any:
    """Draw in which regions of the plane a fitted classifier predicts which class.

    Parameters
    ----------
    classifier : fitted classifier of two features, object with `predict`, or function of X
        Ours or any other; up to 100 classes.
    X : array, frame or table with two columns of numbers
        The part of the plane that is drawn; the names of a frame's columns are the labels.
    y : labels, optional
        The true classes of the rows of X: these are drawn in their colours, a cross where the
        classifier is wrong.
    resolution : int
        Points on a side of the grid at which the classifier is asked.
    ax : Axes, optional

    Returns
    -------
    Axes

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from empirisk import LinearDiscriminantAnalysis
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> X = X.iloc[:, 2:]
    >>> ax = draw_decision_boundary(LinearDiscriminantAnalysis().fit(X, y), X, y)
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('petal length (cm)', 'petal width (cm)')
    """
    if not is_whole(resolution, 2):
        raise ParameterError(f"resolution is {resolution!r}; give 2 or more, such as 200")
    classifier = as_predictor(classifier, y, task="classification")
    _refuse_no_classifier(classifier)
    names, points = two_columns(classifier, X)
    across, up, plane = plane_around(points, names, resolution)
    predicted = _predicted(classifier, like_given(X, plane), len(plane))
    truth, seen = predicted[:0], predicted[:0]
    if y is not None:
        truth, seen = given_labels(y, len(points)), _predicted(classifier, X, len(points))
    known = np.asarray(getattr(classifier, "classes_", predicted[:0]))
    said = _said(known, np.concatenate([predicted, seen]), name_of(classifier))
    _refuse_other_labels(truth, said, name_of(classifier))
    classes = np.unique(np.concatenate([said, truth]))
    titles = [str(label) for label in classes]
    codes = np.searchsorted(classes, predicted).reshape(resolution, resolution)
    ax = draw_regions(across, up, codes, titles, names, ax=ax)
    if y is None:
        return ax
    return draw_points(points, np.searchsorted(classes, truth), truth == seen, titles, ax=ax)


def _refuse_no_classifier(classifier: Any) -> None:
    if isinstance(classifier, AnyPredictor):
        return
    check_is_fitted(classifier)
    if is_regressor(classifier):
        raise ParameterError(
            f"{name_of(classifier)} predicts numbers, and regions are those in which a class is "
            "predicted: give a classifier"
        )


def _predicted(classifier: Any, X: Any, n: int) -> Array:
    """A label for each row of X."""
    labels = np.asarray(classifier.predict(X))
    if labels.size != n:
        raise DataError(
            f"{name_of(classifier)} predicts an array of shape {labels.shape} for {n} points; a "
            "label is wanted for each"
        )
    return labels.reshape(-1)


def _said(known: Array, predicted: Array, name: str) -> Array:
    """The classes of a classifier, sorted; numbers that are none are refused."""
    said = np.unique(np.concatenate([known, predicted]) if len(known) else predicted)
    broken = len(known) == 0 and said.dtype.kind == "f" and not np.isin(said, np.rint(said)).all()
    if broken or len(said) > MOST_CLASSES:
        raise ParameterError(
            f"{name} predicts {len(said)} different values such as {said.tolist()[0]!r}: regions "
            f"are drawn of classes, {MOST_CLASSES} at most; give a classifier"
        )
    return said


def _refuse_other_labels(truth: Array, said: Array, name: str) -> None:
    if len(truth) and are_text(truth) != are_text(said):
        raise DataError(
            f"y has labels such as {truth.tolist()[0]!r}, and {name} predicts such as "
            f"{said.tolist()[0]!r}: one is text and one a number, which are never equal; give y "
            "with the labels that are predicted"
        )


def two_columns(classifier: Any, X: Any) -> tuple[tuple[str, str], Floats]:
    """The names of the columns, and their numbers."""
    named = isinstance(X, Table) or hasattr(X, "__arrow_c_stream__")
    table = Table.of(X if named else np.atleast_2d(np.asarray(X)))
    expected = getattr(classifier, "n_features_in_", 2)
    if not len(table.names) == expected == 2:
        raise DataError(
            f"X has {len(table.names)} column(s) and {name_of(classifier)} was fitted to "
            f"{expected}; regions are drawn of a classifier of two features: fit it to two columns"
        )
    for name, kind in table.kinds.items():
        if kind not in ("number", "boolean"):
            raise DataError(f"column {name!r} is a {kind}; regions are drawn over numbers")
    names = table.names if named else getattr(classifier, "feature_names_in_", table.names)
    columns = [table[name].numbers() for name in table.names]
    return (str(names[0]), str(names[1])), np.column_stack(columns)


def plane_around(
    points: Floats, names: tuple[str, str], resolution: int
) -> tuple[Floats, Floats, Floats]:
    """Coordinates across and up, a little beyond the points, and the points of their grid."""
    across, up = (
        _grid_along(column, name, resolution) for column, name in zip(points.T, names, strict=True)
    )
    return across, up, np.column_stack([np.tile(across, resolution), np.repeat(up, resolution)])


def _grid_along(column: Floats, name: str, resolution: int) -> Floats:
    """From a little below the least to a little above the largest number."""
    finite = column[np.isfinite(column)]
    if len(finite) == 0:
        raise DataError(f"column {name!r} has no finite number, so there is nothing to draw")
    low, high = finite.min(), finite.max()
    margin = MARGIN * (high - low) or MARGIN * abs(high) or 1.0
    return np.linspace(low - margin, high + margin, resolution)


def like_given(X: Any, plane: Floats) -> Any:
    """The points of the plane as the kind of table that X is, with the same names."""
    if hasattr(X, "iloc"):
        return type(X)(plane, columns=X.columns)
    if isinstance(X, Table):
        return Table.of(dict(zip(X.names, plane.T, strict=True)))
    if not hasattr(X, "__arrow_c_stream__"):
        return plane
    arrow = pa.table(dict(zip(Table.of(X).names, plane.T, strict=True)))
    return arrow if isinstance(X, pa.Table) else type(X)(arrow)


def given_labels(y: Any, n: int) -> Array:
    """A label for each of n rows."""
    labels = one_column(y, "y")
    if len(labels) != n:
        raise DataError(f"y has {len(labels)} labels for the {n} rows of X; give one a row")
    refuse_missing_labels(labels, "the picture")
    return labels
