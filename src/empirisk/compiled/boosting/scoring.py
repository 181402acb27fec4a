"""What the trees of a boosting add to the scores of rows."""

import numpy as np

from empirisk.compiled.decorator import compiled
from empirisk.compiled.trees.forest_walking import find_forest_leaves


@compiled
def add_scores(
    thresholds, links, subsets, first_node, first_subset, first_leaf, value, X, leaves, scores,
):  # fmt: skip
    """scores[i, k] += the values of the leaves of row i in trees k, k + K, ..., in their order."""
    K = scores.shape[1]
    for tree in range(first_node.size - 1):
        find_forest_leaves(
            thresholds, links, subsets, first_node, first_subset, tree, X, None, leaves
        )
        k, first = tree % K, first_leaf[tree]
        for i in range(leaves.size):
            scores[i, k] += value[first + np.int64(leaves[i]), 0]
