"""A fitted tree drawn: splits with real names and levels, shares of the data, values or classes."""

from collections.abc import Sequence
from textwrap import wrap
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from empirisk.charts.tree import Box, Direction, draw_boxes
from empirisk.learners.trees.conditions import Conditions, each_node
from empirisk.learners.trees.tree import Tree
from empirisk.learners.trees.wording import Wording, percent, spelled, tree_of
from empirisk.runtime.errors import ParameterError
from empirisk.runtime.scalars import is_whole

MOST_LEAVES = 64  # of a picture, unless max_depth says otherwise
LINE_WIDTH, MOST_LINES = 26, 5  # characters and lines of a split
LEVELS = 4  # of a category that are named
NO_BREAK = "\N{NO-BREAK SPACE}"


def draw_tree(
    model: Any,
    *,
    max_depth: int | None = None,
    direction: Direction = "down",
    feature_names: Sequence[str] | None = None,
    missing: bool | None = None,
    ax: Any = None,
) -> Any:
    """Draw a fitted tree; needs no Graphviz.

    A box shows the split, in bold, and the share of the rows that come to it. Those for whom the
    split holds go left. A classifier's box has a bar of the shares of the classes, and the label;
    a regressor's has the value, and its colour is the darker the larger it is. Edges are as wide
    as the share of the rows.

    Parameters
    ----------
    model : fitted tree of this library
        Or a `Tuned` of one.
    max_depth : int, optional
        Branches below this depth become a box that counts their leaves. None draws as deep as 64
        boxes at the ends of branches allow.
    direction : {"down", "right"}
        Where the tree grows. To the right, a tree with many leaves is less wide.
    feature_names : sequence of str, optional
        Instead of the names of the columns.
    missing : bool, optional
        Whether to say where missing values go: None says it of columns that had some in training.
    ax : Axes, optional
        Text becomes as small as it must to fit; without axes the figure is as large as the tree.

    Returns
    -------
    Axes

    Examples
    --------
    >>> from empirisk import DecisionTreeRegressor
    >>> tree = DecisionTreeRegressor(max_depth=1).fit([[1.0], [2.0], [3.0]], [1.0, 1.0, 4.0])
    >>> ax = draw_tree(tree)
    >>> [text.get_text() for text in ax.texts]
    ['yes', 'no', 'x0 <= 2.5', '2', '100 %', '1', '67 %', '4', '33 %']
    """
    model = tree_of(model)
    if direction not in ("down", "right"):
        raise ParameterError(f"direction is {direction!r}; it must be 'down' or 'right'")
    tree = model.tree_
    above, depth, _ = tree.relatives()
    last = _last_level(tree, max_depth)
    words = Wording(model, digits=5, names=feature_names, missing=missing, levels=LEVELS)
    tones = _tones(model)
    parent, boxes, number = list[int](), list[Box](), dict[int, int]()
    for node, asked in each_node(tree, model.columns_, deepest=last):
        number[node] = len(boxes)
        parent.append(number.get(int(above[node]), -1))
        boxes.append(_box(words, node, asked, tones, cut=depth[node] == last))
    classes = [spelled(label) for label in model.classes_] if is_classifier(model) else None
    return draw_boxes(parent, boxes, classes=classes, direction=direction, ax=ax)


def _last_level(tree: Tree, max_depth: int | None) -> int:
    """The level at which branches are cut."""
    if max_depth is not None:
        if not is_whole(max_depth, 0):
            raise ParameterError(f"max_depth is {max_depth!r}; it must be a whole number >= 0")
        return int(max_depth)
    depth, leaf = tree.depth, tree.is_leaf
    ends = [
        np.count_nonzero(leaf & (depth < level)) + np.count_nonzero(depth == level)
        for level in range(tree.max_depth + 1)
    ]
    return int(np.flatnonzero(np.array(ends) <= MOST_LEAVES)[-1])  # they grow with the level


def _box(words: Wording, node: int, asked: Conditions, tones: Any, *, cut: bool) -> Box:
    tree = words.tree
    share = float(tree.weighted_n_node_samples[node] / tree.weighted_n_node_samples[0])
    value, leaf = _wrapped(words.value(node)), bool(tree.is_leaf[node])
    if leaf or cut:
        title, lines = value, [percent(share)]
        if not leaf:
            end = int(tree.relatives()[2][node])
            lines.append(f"... {int(tree.is_leaf[node:end].sum())} leaves")
    else:
        name = words.names[int(tree.feature[node])]
        title = _title(name, words.question(node, asked))
        lines = [*_way_of_missing(words, node, asked), *value, percent(share)]
    bar = tree.value[node, 0] if is_classifier(words.model) else None
    tone = None if tones is None else float(tones[node])
    return Box(title, lines, share, bar, tone, f"node-{node}")


def _way_of_missing(words: Wording, node: int, asked: Conditions) -> list[str]:
    tree, j = words.tree, int(words.tree.feature[node])
    plain = tree.threshold[node] != np.inf  # else the split itself says it
    here = j not in asked or asked[j].missing
    if not (plain and here and words.says_missing(j)):
        return []
    return [f"missing: {'yes' if tree.missing_go_to_left[node] else 'no'}"]


def _tones(model: Any) -> Any:
    """Values of one output from 0 to 1; None where there is nothing to compare."""
    if is_classifier(model) or model.tree_.value.shape[1] != 1:
        return None
    value = model.tree_.value[:, 0, 0]
    low, high = value.min(), value.max()
    size = max(abs(low), abs(high), np.finfo(float).tiny)
    width = high / size - low / size  # so that nothing overflows
    return (value / size - low / size) / width if width > 0 else np.zeros(len(value))


def _title(name: str, question: str) -> list[str]:
    """A split on a few lines: of a long name its end is left out, never the question."""
    question = question.replace("<= ", "<=" + NO_BREAK)
    lines = _lines(f"{name} {question}")
    if len(lines) <= MOST_LINES:
        return lines
    asked = _wrapped(question, MOST_LINES - 1)
    room = MOST_LINES - len(asked)
    named = _lines(name)
    if len(named) > room:
        named = [*named[: room - 1], named[room - 1][: LINE_WIDTH - 3].rstrip() + "..."]
    return [*named, *asked]


def _wrapped(text: str, most: int = MOST_LINES) -> list[str]:
    """A few lines; what is left out is marked."""
    lines = _lines(text)
    return lines if len(lines) <= most else [*lines[: most - 1], "..."]


def _lines(text: str) -> list[str]:
    return [line.replace(NO_BREAK, " ") for line in wrap(text, LINE_WIDTH) or [text]]
