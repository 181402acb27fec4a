"""The decision regions of bagged ensembles as members are added, beside those of one tree."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import _num_samples, check_is_fitted

from empirisk.charts.decision_boundary import draw_points, draw_regions
from empirisk.charts.panels import panels
from empirisk.risk.bagging.members_at import members_at
from empirisk.risk.decision_boundary import given_labels, like_given, plane_around, two_columns
from empirisk.risk.foreign import seeded
from empirisk.risk.predictor import name_of
from empirisk.runtime.arrays import Array, Ints
from empirisk.runtime.errors import DataError, ParameterError
from empirisk.runtime.scalars import is_whole
from empirisk.runtime.streams import spawn

Stage = tuple[str, Array]
"""The title of a panel, and the predicted codes of classes."""


def draw_growing_boundaries(
    classifiers: Sequence[Any],
    X: Any,
    y: Any,
    *,
    numbers: Sequence[int] = (1, 10, 100),
    resolution: int = 120,
    random_state: Any = None,
) -> Any:
    """Draw the decision regions of trees, bags and forests, in panels, for several numbers B.

    A row of panels for each classifier: of an ensemble, the class that its first B members predict
    by the mean of their probabilities, or votes where they have none; of anything else, such as
    one tree, its own predictions in one panel.

    Parameters
    ----------
    classifiers : list of classifiers of two features
        Fitted or not: those that are not are fitted to X and y, ensembles with as many members as
        the largest of the numbers.
    X : array, frame or table with two columns of numbers
    y : labels
        The rows are drawn in the colours of their classes, a cross where the prediction is wrong.
    numbers : sequence of int
        Of members: the columns.
    resolution : int
        Points on a side of the grid at which each classifier is asked.
    random_state : None, int, RandomState or Generator
        For classifiers that are fitted here and have none of their own.

    Returns
    -------
    Figure
        With its panels in `figure.axes`, row by row.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = make_moons(100, noise=0.3, random_state=0)
    >>> figure = draw_growing_boundaries(
    ...     [DecisionTreeClassifier(), RandomForestClassifier()], X, y, numbers=(1, 5),
    ...     resolution=20, random_state=0,
    ... )
    >>> [ax.get_title() for ax in figure.axes]
    ['DecisionTreeClassifier', 'RandomForestClassifier, 1 member',
    'RandomForestClassifier, 5 members']
    """
    wanted = _checked(numbers)
    if not is_whole(resolution, 2):
        raise ParameterError(f"resolution is {resolution!r}; give 2 or more, such as 120")
    if hasattr(classifiers, "fit"):  # a forest has a length, that of its trees
        raise ParameterError(
            f"classifiers is {name_of(classifiers)}; give a list of classifiers, of this one alone "
            "[classifier]"
        )
    if not len(classifiers):
        raise ParameterError("classifiers is empty; give a list of classifiers")
    truth = given_labels(y, _num_samples(X))
    seeds = spawn(random_state, len(classifiers))
    models = [
        _fitted(model, X, y, int(wanted[-1]), seed)
        for model, seed in zip(classifiers, seeds, strict=True)
    ]
    names, points = two_columns(models[0], X)
    across, up, plane = plane_around(points, names, resolution)
    classes = np.unique(np.concatenate([truth, *(model.classes_ for model in models)]))
    titles, codes = [str(label) for label in classes], np.searchsorted(classes, truth)
    rows = [list(_stages(model, like_given(X, plane), X, classes, wanted)) for model in models]
    figure, axes = panels([len(row) for row in rows])
    for row, row_axes in zip(rows, axes, strict=True):
        for (title, predicted), ax in zip(row, row_axes, strict=True):
            on_plane = predicted[: len(plane)].reshape(resolution, resolution)
            draw_regions(across, up, on_plane, titles, names, ax=ax)
            draw_points(points, codes, predicted[len(plane) :] == codes, titles, ax=ax)
            ax.set_title(title, fontsize="small")
            if ax is not axes[0][0]:
                ax.get_legend().remove()
    return figure


def _checked(numbers: Sequence[int]) -> Ints:
    given = np.unique(np.asarray(numbers))
    if not len(given) or given.dtype.kind not in "iu" or given[0] < 1:
        raise ParameterError(f"numbers is {numbers!r}; give numbers of members, 1 or more")
    return given.astype(np.int64)


def _fitted(model: Any, X: Any, y: Any, most: int, seed: int) -> Any:
    if not is_classifier(model):
        raise ParameterError(f"{name_of(model)} is no classifier: regions are those of classes")
    try:
        check_is_fitted(model)
    except NotFittedError:
        model = seeded(clone(model), seed)
        if "n_estimators" in model.get_params(deep=False):
            model.set_params(n_estimators=most)
        model.fit(X, y)
    return model


def _stages(model: Any, plane: Any, X: Any, classes: Array, numbers: Ints) -> Iterator[Stage]:
    """What a model predicts at the points of the plane and at X, after each number of members."""
    name = name_of(model)
    bagged = hasattr(type(model), "estimators_samples_")  # one from a file too: refused below
    if not (bagged or hasattr(model, "estimators_samples_")):
        said = [np.searchsorted(classes, model.predict(rows)) for rows in (plane, X)]
        yield name, np.concatenate(said)
        return
    asked = [
        (members_at(model, rows, classes), np.arange(_num_samples(rows))) for rows in (plane, X)
    ]
    B = len(asked[0][0])
    if numbers[-1] > B:
        raise DataError(
            f"{name} was fitted with {B} members, and {numbers[-1]} are to be drawn: give numbers "
            f"up to {B}, or an ensemble that is not fitted"
        )
    total = np.zeros((sum(len(rows) for _, rows in asked), len(classes)))
    for b in range(numbers[-1]):
        total += np.concatenate([members.scores(b, rows) for members, rows in asked])
        if b + 1 in numbers:
            yield f"{name}, {b + 1} member{'s' * (b > 0)}", total.argmax(axis=1)
