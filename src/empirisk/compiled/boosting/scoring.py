"""What the trees of a boosting add to the scores of rows: all splits of a tree for many rows.

Walking from node to node waits for memory at every step. Here a block of rows is first coded: a
value becomes its place among the thresholds of its feature. Then every split of a small tree is
tried on all rows of the block, without a branch, 32 rows in an instruction: a row that stands at
the node goes on, the others stay. For trees of 31 leaves that is several times as fast.
"""

import numpy as np

from empirisk.compiled.boosting.quantiles import halve
from empirisk.compiled.decorator import compiled
from empirisk.compiled.trees.forest_walking import walk_by_subsets
from empirisk.compiled.trees.walking import find_leaves


@compiled
def code_rows(X, used, first, thresholds, column, place, codes):
    """codes[u, i] = 1 + how many thresholds of feature used[u] are below X[i]; 0: missing.

    thresholds[first[u]:first[u + 1]] are those of the feature, in order, filled up with infinity to
    2^s - 1. Binary search: each halving for all rows, so that they need not wait for each other.
    column and place are room for a value and an int64 of each row.
    """
    for u in range(used.size):
        points, j = thresholds[first[u] : first[u + 1]], used[u]
        for i in range(column.size):
            column[i], place[i] = X[i, j], 0
        step = (points.size + 1) >> 1
        while step > 0:
            halve(points[step - 1 :], column, place, step)
            step >>= 1
        into = codes[u]
        for i in range(column.size):
            into[i] = place[i] + 1 if column[i] == column[i] else 0


@compiled(inner=True)
def stand(splits, codes, at):
    """at[i] = the leaf of row i of a block in a tree, whose nodes are in preorder.

    Of each node: where the codes of its feature are (-1: a leaf), its right child, what is taken
    from a code, and up to what rest it goes left. A missing value, 0, goes right where 1 is taken.
    """
    for i in range(at.size):
        at[i] = 0
    for node in range(splits.shape[0]):
        if splits[node, 0] < 0:
            continue
        here, left = np.uint16(node), np.uint16(node + 1)
        right, less, most = (
            np.uint16(splits[node, 1]),
            np.uint16(splits[node, 2]),
            np.uint16(splits[node, 3]),
        )
        of_feature = codes[splits[node, 0]]
        for i in range(at.size):
            goes_left = np.uint16(of_feature[i] - less) <= most
            following = left if goes_left else right
            at[i] = following if at[i] == here else at[i]


@compiled(signatures=3)
def add_scores(
    thresholds, links, subsets, first_node, first_subset, first_leaf, value, first, end, splits,
    node_value, X, codes, at, leaves, scores,
):  # fmt: skip
    """scores[i, k] += the values of row i in trees k, k + K, ... of first..end, in their order.

    splits and node_value are as `stand` reads them; trees without a place in these are walked. at
    is empty, and codes are not there, if all are to be. There are no thresholds and links if none
    is, and no subsets if no tree has a split by a list of levels: what these need is not compiled.
    """
    K = scores.shape[1]
    for tree in range(first, end):
        k, node, following = tree % K, first_node[tree], first_node[tree + 1]
        if thresholds is None or (at.size > 0 and splits[node, 1] >= 0):
            stand(splits[node:following], codes, at)
            values = node_value[node:following]
            for i in range(at.size):
                scores[i, k] += values[at[i]]
            continue
        if subsets is None:
            find_leaves(thresholds[node:following], links[node:following], X, None, leaves)
        else:
            lists = subsets[first_subset[tree] : first_subset[tree + 1]]
            walk_by_subsets(thresholds[node:following], links[node:following], lists, X, None,
                            leaves)  # fmt: skip
        leaf = first_leaf[tree]
        for i in range(leaves.size):
            scores[i, k] += value[leaf + np.int64(links[node + leaves[i], 0]), 0]
