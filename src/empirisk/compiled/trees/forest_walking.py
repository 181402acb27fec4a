"""Rows walk down the trees of a forest, one tree after the other, and add up what leaves hold.

Packed nodes are as in `walking`, but for leaves: the threshold of a leaf is not a number, and the
low half of its bits is the number of the leaf in its tree. No value is up to such a threshold, so a
leaf sends every row to its right child, itself.

thresholds and links are two views of the nodes of all trees: float64 (nodes, 2), int32 (nodes, 4).
first_node and first_leaf are where each tree begins; right children count from there.
"""

import numpy as np

from empirisk.compiled.decorator import compiled
from empirisk.compiled.trees.walking import find_leaves, goes_left


@compiled(signatures=2)
def find_forest_leaves(thresholds, links, subsets, first_node, first_subset, tree, X, rows, leaves):
    """leaves[i] = the leaf of row i of X, or of row rows[i], in one tree, numbered within it."""
    first, end = first_node[tree], first_node[tree + 1]
    if first_subset[tree] < first_subset[tree + 1]:
        lists = subsets[first_subset[tree] : first_subset[tree + 1]]
        walk_by_subsets(thresholds[first:end], links[first:end], lists, X, rows, leaves)
    else:
        find_leaves(thresholds[first:end], links[first:end], X, rows, leaves)
    for i in range(leaves.size):
        leaves[i] = links[first + leaves[i], 0]


@compiled(signatures=2, inner=True)
def walk_by_subsets(thresholds, links, subsets, X, rows, leaves):
    """As `find_leaves`, in a tree with categories, whose values in X are the codes of levels."""
    for i in range(leaves.size):
        row = i if rows is None else np.int64(rows[i])
        node, last = np.int64(0), np.int64(-1)
        while node != last:
            last = node
            x = X[row, links[node, 2] >> 2]
            left = links[node, 3] != node and goes_left(thresholds, links, subsets, node, x)
            node = node + 1 if left else np.int64(links[node, 3])
        leaves[i] = node


@compiled
def add_values(
    thresholds, links, subsets, first_node, first_subset, first_leaf, value, X, leaves, total,
):  # fmt: skip
    """total[i] += the values of the leaves of row i in all trees, in their order."""
    for tree in range(first_node.size - 1):
        find_forest_leaves(
            thresholds, links, subsets, first_node, first_subset, tree, X, None, leaves
        )
        for i in range(leaves.size):
            leaf = first_leaf[tree] + np.int64(leaves[i])
            for k in range(total.shape[1]):
                total[i, k] += value[leaf, k]
