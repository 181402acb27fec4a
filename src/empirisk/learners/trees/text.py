"""A tree as indented text, in the form of scikit-learn's `export_text`."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from empirisk.learners.trees.conditions import Conditions, bound_of, each_node
from empirisk.learners.trees.wording import Wording, labels_of, listed, listed_names, tree_of
from empirisk.runtime.errors import ParameterError
from empirisk.runtime.scalars import is_whole


def export_text(
    decision_tree: Any,
    *,
    feature_names: Sequence[str] | None = None,
    class_names: Sequence[Any] | None = None,
    max_depth: int | None = 10,
    spacing: int = 3,
    decimals: int = 2,
    show_weights: bool = False,
) -> str:
    """The splits and leaves of a fitted tree as indented text.

    The text is that of scikit-learn's function of this name, where features are numbers without
    missing values. A split of a category lists its levels, that of a date has a date; of a column
    that had missing values in training, the side to which they go is marked. The leaves of linear
    trees state their models.

    Parameters
    ----------
    decision_tree : fitted tree of this library
        Or a `Tuned` of one.
    feature_names : sequence of str, optional
        None takes the names of the columns of a frame, or "feature_0", "feature_1", ...
    class_names : sequence, optional
        Instead of the labels, in the order of `classes_`.
    max_depth : int or None
        Branches below this depth are left out and said to be; None shows all.
    spacing : int
        Width of a step of indentation.
    decimals : int
        Of thresholds and values; few may move a threshold past a value, as in scikit-learn
        (`rules()` write as many as it takes).
    show_weights : bool
        Whether leaves of a classifier show the weight of each class.

    Examples
    --------
    >>> from empirisk import DecisionTreeClassifier, datasets
    >>> penguins = datasets.penguins().to_pandas()
    >>> X, y = penguins[["island", "flipper_length_mm"]], penguins["species"]
    >>> print(export_text(DecisionTreeClassifier(max_leaf_nodes=4).fit(X, y)))
    |--- flipper_length_mm <= 206.50 or missing
    |   |--- island in {Biscoe, Torgersen}
    |   |   |--- class: Adelie
    |   |--- island in {Dream}
    |   |   |--- class: Chinstrap
    |--- flipper_length_mm >  206.50
    |   |--- island in {Dream, Torgersen}
    |   |   |--- class: Chinstrap
    |   |--- island in {Biscoe}
    |   |   |--- class: Gentoo
    <BLANKLINE>
    """
    decision_tree = tree_of(decision_tree)
    names = _feature_names(decision_tree, feature_names)
    classes = _class_names(decision_tree, class_names)
    _check_sizes(max_depth, spacing, decimals)
    words, tree = Wording(decision_tree, names=names), decision_tree.tree_
    parent, depth, end = tree.relatives()
    last = tree.max_depth if max_depth is None else int(max_depth)
    lines, above = [], dict[int, Conditions]()
    for node, asked in each_node(tree, decision_tree.columns_, deepest=last + 1):
        level = int(depth[node])
        above[level] = asked
        step = "|" + " " * spacing
        if level:
            split, left = int(parent[node]), node == parent[node] + 1
            side = _side(words, split, above[level - 1], asked, decimals, left=left)
            lines.append(f"{step * (level - 1)}|{'-' * spacing} {side}")
        if tree.is_leaf[node]:
            what = _leaf(decision_tree, node, classes, decimals, show_weights)
            what = ", ".join(filter(None, [what, words.formula(node)]))
        elif level == last + 1:
            below = int(depth[node : end[node]].max()) - level + 1
            what = f"truncated branch of depth {below}"
        else:
            continue
        lines.append(f"{step * level}|{'-' * spacing} {what}")
    return "\n".join(lines) + "\n"


def _side(
    words: Wording, split: int, before: Conditions, after: Conditions, decimals: int, *, left: bool
) -> str:
    """What one side of a split asks."""
    j = int(words.tree.feature[split])
    name = words.names[j]
    missing = " or missing" if words.says_missing(j) and after[j].missing else ""
    if after[j].nothing:
        return f"{name} missing"
    if after[j].levels is not None:
        if after[j].levels == (before.get(j) or after[j].anything(j, after[j].column)).levels:
            return f"{name} not missing"
        return f"{name} in {{{listed(after[j].level_names)}}}{missing}"
    bound = bound_of(words.tree, words.columns, split)
    if bound == np.inf:
        return f"{name} not missing"
    exact = isinstance(bound, int) or words.columns[j].calendar is not None
    text = words.bound(j, bound) if exact else f"{bound:.{decimals}f}"
    return f"{name} {'<=' if left else '> '} {text}{missing}"


def _leaf(model: Any, node: int, classes: Any, decimals: int, show_weights: bool) -> str:
    value = model.tree_.value[node]
    if classes is None:
        return f"value: [{', '.join(f'{each:.{decimals}f}' for each in value[:, 0])}]"
    label = f"class: {classes[labels_of(model)[node]]}"
    if not show_weights:
        return label
    weights = value[0] * model.tree_.weighted_n_node_samples[node]
    return f"weights: [{', '.join(f'{each:.{decimals}f}' for each in weights)}] {label}"


def _feature_names(model: Any, given: Sequence[str] | None) -> list[str]:
    if given is not None:
        return [str(name) for name in listed_names(given, "feature_names")]
    if hasattr(model, "feature_names_in_"):
        return [str(name) for name in model.feature_names_in_]
    return [f"feature_{j}" for j in range(model.n_features_in_)]


def _class_names(model: Any, given: Sequence[Any] | None) -> Any:
    """The labels of a classifier; None for a regressor."""
    if not is_classifier(model):
        return None
    if given is None:
        return model.classes_
    if len(listed_names(given, "class_names")) != len(model.classes_):
        raise ParameterError(
            f"class_names has {len(given)} names; the tree was fitted to {len(model.classes_)} "
            "classes: give a name for each, in the order of `classes_`"
        )
    return given


def _check_sizes(max_depth: int | None, spacing: int, decimals: int) -> None:
    for name, value, least in (
        ("max_depth", max_depth, 0),
        ("spacing", spacing, 1),
        ("decimals", decimals, 0),
    ):
        if name == "max_depth" and value is None:
            continue
        if not is_whole(value, least):
            raise ParameterError(f"{name} is {value!r}; it must be a whole number >= {least}")
