"""Rows walk down the trees of a forest, one tree after the other, and add up what leaves hold.

Packed nodes are as in `walking`, but for leaves: the threshold of a leaf is not a number, and the
low half of its bits is the number of the leaf in its tree. No value is up to such a threshold, so a
leaf sends every row to its right child, itself.

thresholds and links are two views of the nodes of all trees: float64 (nodes, 2), int32 (nodes, 4).
first_node and first_leaf are where each tree begins; right children count from there.
"""

import numpy as np

from empirisk.compiled.decorator import compiled
from empirisk.compiled.trees.walking import LOCKSTEP, goes_left


@compiled
def find_forest_leaves(
    thresholds, links, subsets, first_node, first_subset, tree, X, rows, at, leaves
):
    """leaves[i] = the leaf of row rows[i] of X in one tree, numbered within the tree."""
    first, end = first_node[tree], first_node[tree + 1]
    if first_subset[tree] < first_subset[tree + 1]:
        lists = subsets[first_subset[tree] : first_subset[tree + 1]]
        walk_by_subsets(thresholds[first:end], links[first:end], lists, X, rows, leaves)
    else:
        walk(thresholds[first:end], links[first:end], X, rows, at, leaves)


@compiled
def walk(thresholds, links, X, rows, at, leaves):
    """As `find_forest_leaves`, in a tree without categories: 16 rows in lockstep."""
    n = rows.size
    for first in range(0, n, LOCKSTEP):
        width = min(LOCKSTEP, n - first)
        for r in range(width):
            at[r] = 0
        moved = np.uint32(1)
        while moved:
            moved = np.uint32(0)
            for r in range(width):
                node = at[r]
                kind = np.uint32(links[node, 2])
                x = X[rows[first + r], kind >> np.uint32(2)]
                left = np.uint32(x <= thresholds[node, 0]) | (np.uint32(x != x) & kind)
                right = np.uint32(links[node, 3])
                following = right + (node + np.uint32(1) - right) * (left & np.uint32(1))
                moved |= following ^ node
                at[r] = following
        for r in range(width):
            leaves[first + r] = links[at[r], 0]


@compiled
def walk_by_subsets(thresholds, links, subsets, X, rows, leaves):
    """As `walk`, in a tree with categories, whose values in X are the codes of levels."""
    for i in range(rows.size):
        node, last = np.int64(0), np.int64(-1)
        while node != last:
            last = node
            x = X[rows[i], links[node, 2] >> 2]
            left = links[node, 3] != node and goes_left(thresholds, links, subsets, node, x)
            node = node + 1 if left else np.int64(links[node, 3])
        leaves[i] = links[node, 0]


@compiled
def add_values(
    thresholds, links, subsets, first_node, first_subset, first_leaf, value, X, rows, at, leaves,
    total,
):  # fmt: skip
    """total[i] += the values of the leaves of row rows[i] in all trees, in their order."""
    for tree in range(first_node.size - 1):
        find_forest_leaves(
            thresholds, links, subsets, first_node, first_subset, tree, X, rows, at, leaves
        )
        for i in range(rows.size):
            leaf = first_leaf[tree] + np.int64(leaves[i])
            for k in range(total.shape[1]):
                total[i, k] += value[leaf, k]
