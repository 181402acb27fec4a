"""From the records of a grower to a tree: preorder, thresholds, the way of what was not seen."""

import numpy as np

from empirisk.compiled.trees.finishing import finish
from empirisk.compiled.trees.layout import FINISHED
from empirisk.data.rank_coding import RankCoding, cuts_of_integers
from empirisk.learners.trees.tree import Tree
from empirisk.runtime.arrays import Array, Floats


def finished(
    nodes: Array, value: Floats, words: Array, width: int, coding: RankCoding, gain_scale: float
) -> Tree:
    """The tree of these nodes, see `in_preorder`."""
    return assembled(*in_preorder(nodes, value, words, width, coding, gain_scale), coding)


def in_preorder(
    nodes: Array,
    value: Floats,
    words: Array,
    width: int,
    coding: RankCoding,
    gain_scale: float,
    *,
    drawn: bool = False,
) -> tuple[Array, Floats, Array]:
    """The records of a tree, its values and its subsets; a node that was never split is a leaf.

    words
        Of each split by a category, `width` words of the levels that go left, and as many of those
        that the node has.
    gain_scale
        What a gain is in units of weight times impurity.
    drawn
        Whether the thresholds of the nodes were drawn.
    """
    n = len(nodes)
    tree, values = np.empty(n, FINISHED), np.empty(value.shape)
    subsets = np.empty(len(words) // 2, np.uint32)
    total = nodes[0]["weight"] * nodes[0]["impurity"]
    scale = gain_scale / total if total > 0 else 0.0
    n_words = finish(
        nodes, value, coding.features, coding.points, drawn, scale, words, width,
        np.empty((n + 1, 2), np.int32), tree, values, subsets,
    )  # fmt: skip
    return tree, values, subsets[:n_words].copy()


def assembled(tree: Array, values: Floats, subsets: Array, coding: RankCoding) -> Tree:
    """The arrays of a tree, from its records."""
    feature, threshold = tree["feature"].copy(), tree["threshold"].copy()
    cut = threshold.copy()
    for j, column in enumerate(coding.columns):
        if column.kind == "integer":
            at = np.flatnonzero(feature == j)
            cut[at] = cuts_of_integers(column.values, tree["code"][at], tree["next_code"][at])
    return Tree(
        children_right=tree["right"].copy(),
        feature=feature,
        threshold=threshold,
        cut=cut,
        missing_go_to_left=tree["missing_left"].copy(),
        subset=tree["subset"].copy(),
        subsets=subsets,
        n_node_samples=tree["rows"].astype(np.int64),
        weighted_n_node_samples=tree["weight"].copy(),
        impurity=tree["impurity"].copy(),
        gain=tree["gain"].copy(),
        split_order=tree["rank"].copy(),
        value=values,
        n_features=len(coding.columns),
    )
