"""The partition of the plane by a tree, drawn with the data and, where it is known, the truth."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.validation import column_or_1d

from empirisk.charts.decision_boundary import class_colours, draw_points
from empirisk.charts.partition import (
    draw_colour_bar,
    draw_dates,
    draw_rectangles,
    draw_split_lines,
    draw_true_contours,
    draw_valued_points,
    value_colours,
)
from empirisk.data.table_door import check_places
from empirisk.learners.class_codes import codes_among
from empirisk.learners.trees.partition import Partition, chosen_features, fixed_places
from empirisk.learners.trees.wording import Wording, spelled, tree_of
from empirisk.risk.populations.population import Population
from empirisk.runtime.arrays import Array, Floats
from empirisk.runtime.errors import DataError, ParameterError

MARGIN = 0.05  # of the range of the data, on each side
RESOLUTION = 150  # points on a side of the grid at which the truth is asked


def draw_partition(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    features: Sequence[Any] | None = None,
    at: Mapping[Any, Any] | None = None,
    truth: Callable[[Floats], Array] | Population | None = None,
    ax: Any = None,
) -> Any:
    """Draw how a tree cuts the plane of two features.

    Each leaf is a rectangle with its value or label. The splits are numbered in the order in which
    they were made, which is that of their gains where `max_leaf_nodes` was given.

    Parameters
    ----------
    model : fitted DecisionTreeClassifier or DecisionTreeRegressor
        Of one output; or a `Tuned` of one.
    X : array, frame or table
        The part of the plane that is drawn: all columns that the tree was fitted to.
    y : array, optional
        Draws the rows of X, in the colours of their values, or of their classes: with a cross
        where the tree is wrong.
    features : two names or numbers of columns, optional
        The axes. None takes the two numbers that matter most (`feature_importances_`).
    at : dict, optional
        Values of other features by name or number; the others are fixed at the median of X (the
        lower one of two), or at the commonest level. None or NaN is a missing value.
    truth : function or Population, optional
        The true regression function or the best label, of an array with a column for each feature
        (the others at their fixed values): its contours are dashed. Of a `Population` it is the
        Bayes rule. Not for trees that split categories.
    ax : Axes, optional

    Returns
    -------
    Axes

    Examples
    --------
    >>> import numpy as np
    >>> from empirisk import DecisionTreeRegressor
    >>> X = np.random.default_rng(0).uniform(size=(100, 2))
    >>> y = X[:, 0] * X[:, 1]
    >>> tree = DecisionTreeRegressor(max_leaf_nodes=4).fit(X, y)
    >>> ax = draw_partition(tree, X, y, truth=lambda X: X[:, 0] * X[:, 1])
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('x0', 'x1')
    """
    model = tree_of(model)
    if hasattr(model, "models_") or model.n_outputs_ > 1:
        raise ParameterError(
            f"{type(model).__name__} does not predict one value or label in each leaf, and the "
            "partition is drawn of trees that do"
        )
    places = check_places(model, X)
    two = chosen_features(model, features)
    numbers = _numbers(model, places)
    part = Partition.of(model.tree_, model.columns_, two, fixed_places(model, places, at))
    window = np.column_stack([_range(numbers[:, j], model.columns_[j].name) for j in two])
    target = None if y is None else _target(model, y, len(places))
    ax = _draw_leaves(model, part, window, target, ax)
    for j, axis in zip(two, (ax.xaxis, ax.yaxis), strict=True):
        if model.columns_[j].calendar is not None:
            draw_dates(axis)
    draw_split_lines(part.lines, window, ax=ax)
    if truth is not None:
        _draw_truth(model, part, window, truth, ax)
    if target is not None:
        _draw_rows(model, places, numbers[:, list(two)], target, ax)
    return ax


def _draw_leaves(model: Any, part: Partition, window: Floats, target: Array | None, ax: Any) -> Any:
    words, tree = Wording(model), model.tree_
    texts = [words.value(node, 3) for node in part.leaf]
    names = (words.names[part.features[0]], words.names[part.features[1]])
    if is_classifier(model):
        pale = [(*colour, 0.3) for colour in class_colours(len(model.classes_))]
        colours: Any = [pale[k] for k in model._labels[part.leaf]]
        return draw_rectangles(part.low, part.high, colours, texts, window, names, ax=ax)
    values = tree.value[part.leaf, 0, 0]
    among = values if target is None else np.concatenate([values, target])
    norm, colours = value_colours(values, among)
    ax = draw_rectangles(part.low, part.high, colours, texts, window, names, ax=ax)
    draw_colour_bar(norm, "value", ax=ax)
    return ax


def _draw_rows(model: Any, places: Floats, points: Floats, target: Array, ax: Any) -> None:
    leaves = model.tree_.apply(places)
    if is_classifier(model):
        titles = [spelled(label) for label in model.classes_]
        draw_points(points, target, model._labels[leaves] == target, titles, ax=ax)
    else:
        among = np.concatenate([model.tree_.value[model.tree_.is_leaf, 0, 0], target])
        draw_valued_points(points, target, value_colours(target[:0], among)[0], ax=ax)


def _draw_truth(model: Any, part: Partition, window: Floats, truth: Any, ax: Any) -> None:
    kinds = {column.kind for column in model.columns_}
    if kinds != {"number"}:
        raise DataError(
            "the truth is asked at rows of numbers, and the tree was fitted to other columns too: "
            "leave `truth` out"
        )
    if not isinstance(truth, Population) and not callable(truth):
        raise ParameterError(f"truth is {truth!r:.60}; give a function of X, or a population")
    function = truth.bayes_rule().predict if isinstance(truth, Population) else truth
    x, y = np.linspace(window[0], window[1], RESOLUTION).T
    rows = np.tile(part.fixed, (RESOLUTION**2, 1))
    rows[:, part.features[0]] = np.tile(x, RESOLUTION)
    rows[:, part.features[1]] = np.repeat(y, RESOLUTION)
    answer = np.asarray(function(rows)).reshape(-1)
    if len(answer) != len(rows):
        raise DataError(f"`truth` gave {len(answer)} values for {len(rows)} rows; give one a row")
    if is_classifier(model):
        answer = np.unique(answer, return_inverse=True)[1]
    grid = answer.reshape(RESOLUTION, RESOLUTION)
    draw_true_contours(x, y, grid, classes=is_classifier(model), ax=ax)


def _numbers(model: Any, places: Floats) -> Floats:
    """Places as numbers: integers beyond 2^53 stand at their codes."""
    numbers = places.copy()
    for j, column in enumerate(model.columns_):
        if column.kind == "integer":
            values = column.values.astype(np.float64)
            numbers[:, j] = np.interp(places[:, j], np.arange(len(values)), values)
    return numbers


def _range(column: Floats, name: str) -> Floats:
    """From a little below the least to a little above the largest number."""
    seen = column[~np.isnan(column)]
    if not len(seen):
        raise DataError(f"column {name!r} has no number, so there is nothing to draw")
    low, high = seen.min(), seen.max()
    margin = (MARGIN * high - MARGIN * low) or MARGIN * abs(high) or 1.0
    return np.array([low - margin, high + margin])


def _target(model: Any, y: Any, n: int) -> Array:
    """Numbers, or the codes of the labels."""
    target = np.asarray(column_or_1d(y))
    if len(target) != n:
        raise DataError(f"y has {len(target)} values for the {n} rows of X; give one a row")
    if not is_classifier(model):
        return target.astype(np.float64)
    codes, strange = codes_among(target, model.classes_)
    if strange.any():
        raise DataError(
            f"y has the label {target[strange].tolist()[0]!r}, which the tree does not know; its "
            f"labels are {model.classes_.tolist()[:10]}"
        )
    return codes
