"""From the records of a grower to a tree: preorder, thresholds, the way of what was not seen."""

import numpy as np

from empirisk.compiled.trees.layout import UNSEEN
from empirisk.compiled.trees.walking import preorder
from empirisk.data.rank_coding import RankCoding
from empirisk.learners.trees.tree import LEAF, NO_FEATURE, Tree
from empirisk.runtime.arrays import Array, Bools, Floats


def finished(
    nodes: Array, value: Floats, words: Array, width: int, coding: RankCoding, gain_scale: float
) -> Tree:
    """The tree of these nodes; a node that was never split is a leaf.

    words
        Of each split by a category, `width` words of the levels that go left, and as many of those
        that the node has.
    gain_scale
        What a gain is in units of weight times impurity.
    """
    n = len(nodes)
    order, number = np.empty(n, np.int32), np.empty(n, np.int32)
    preorder(np.ascontiguousarray(nodes["left"]), np.ascontiguousarray(nodes["right"]), order)
    number[order] = np.arange(n, dtype=np.int32)
    leaf = nodes["left"][order] < 0
    right = np.where(leaf, LEAF, number[nodes["right"][order]]).astype(np.int32)
    nodes = nodes[order]
    to_left = _missing_to_left(nodes, right)
    subset, subsets = _subsets(nodes, to_left, words, width)
    threshold, cut = thresholds_of(nodes, coding)
    total = nodes["weight"][0] * nodes["impurity"][0]
    return Tree(
        children_right=right,
        feature=np.where(leaf, NO_FEATURE, nodes["feature"]).astype(np.int32),
        threshold=threshold,
        cut=cut,
        missing_go_to_left=to_left,
        subset=subset,
        subsets=subsets,
        n_node_samples=nodes["rows"].copy(),
        weighted_n_node_samples=nodes["weight"].copy(),
        impurity=nodes["impurity"].copy(),
        gain=np.where(leaf, 0.0, nodes["gain"]) * (gain_scale / total if total > 0 else 0.0),
        split_order=nodes["rank"].copy(),
        value=value[order],
        n_features=len(coding.columns),
    )


def _missing_to_left(nodes: Array, right: Array) -> Bools:
    """Where a node saw no missing value, it sends them to the heavier side."""
    to_left = np.zeros(len(nodes), bool)
    inner = np.flatnonzero(right != LEAF)
    heavier = nodes["weight"][inner + 1] > nodes["weight"][right[inner]]
    way = nodes["missing_left"][inner]
    to_left[inner] = np.where(way == UNSEEN, heavier, way == 1)
    return to_left


def _subsets(nodes: Array, to_left: Bools, words: Array, width: int) -> tuple[Array, Array]:
    """Words of the levels that go left; levels that a node did not see go as missing values."""
    subset = np.where(nodes["left"] < 0, -1, nodes["subset"]).astype(np.int32)
    split = np.flatnonzero(subset >= 0)
    kept = np.empty((len(split), width), np.uint32)
    for k, node in enumerate(split):
        at = subset[node]
        left, seen = words[at : at + width], words[at + width : at + 2 * width]
        kept[k] = left | ~seen if to_left[node] else left
    subset[split] = width * np.arange(len(split))
    return subset, kept.reshape(-1)


def thresholds_of(nodes: Array, coding: RankCoding) -> tuple[Floats, Floats]:
    """Half way between neighbouring values of the node, and in terms of places; NaN if neither."""
    threshold = np.full(len(nodes), np.nan)
    cut = np.full(len(nodes), np.nan)
    numeric = (nodes["left"] >= 0) & (nodes["subset"] < 0)
    for j in np.unique(nodes["feature"][numeric]):
        at = np.flatnonzero(numeric & (nodes["feature"] == j))
        column = coding.columns[j]
        codes, following = nodes["code"][at], nodes["next_code"][at]
        values = np.append(np.asarray(column.values, dtype=np.float64), np.inf)
        low, high = values[codes], values[following]
        middle = low / 2 + high / 2
        threshold[at] = np.where(middle < high, middle, low)  # rounding may lead up to `high`
        threshold[at] = np.where(np.isinf(high), np.inf, np.maximum(threshold[at], low))
        cut[at] = threshold[at]
        if column.kind == "integer":
            places = np.append(np.arange(float(len(column.values))), np.inf)
            cut[at] = places[codes] / 2 + places[following] / 2
    return threshold, cut
