"""Scores of rows after each of some numbers of trees, from one walk down each tree."""

import numpy as np

from empirisk.compiled.decorator import compiled
from empirisk.compiled.trees.forest_walking import find_forest_leaves


@compiled
def stage_scores(
    thresholds, links, subsets, first_node, first_subset, first_leaf, value, X, ends, leaves,
    scores, staged,
):  # fmt: skip
    """staged[i, v] = the scores of row i after ends[v] trees, which ascend.

    scores are those before the first tree, and are added to; leaves is room. Of K scores, trees k,
    k + K, ... add to the k-th.
    """
    n, K = scores.shape
    tree = 0
    for v in range(ends.size):
        while tree < ends[v]:
            find_forest_leaves(
                thresholds, links, subsets, first_node, first_subset, tree, X, None, leaves
            )
            k, first = tree % K, first_leaf[tree]
            for i in range(n):
                scores[i, k] += value[first + np.int64(leaves[i]), 0]
            tree += 1
        for i in range(n):
            for k in range(K):
                staged[i, v, k] = scores[i, k]
