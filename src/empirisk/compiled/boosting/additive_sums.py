"""Rows walk down the trees of an additive model, one tree after the other."""

import numpy as np

from empirisk.compiled.decorator import compiled
from empirisk.compiled.trees.forest_walking import find_forest_leaves


@compiled
def add_stages(
    thresholds, links, subsets, first_node, first_subset, first_leaf, value, weights, X, leaves,
    first, stop, total,
):  # fmt: skip
    """total[i, b % columns] += weights[b] times what tree b says of row i, b = first..stop-1.

    Trees are as in `compiled.trees.forest_walking`; those of a round stand side by side, one for
    each column of `total`.
    """
    columns = total.shape[1]
    for tree in range(first, stop):
        find_forest_leaves(
            thresholds, links, subsets, first_node, first_subset, tree, X, None, leaves
        )
        weight, k = weights[tree], tree % columns
        for i in range(leaves.size):
            leaf = first_leaf[tree] + np.int64(leaves[i])
            total[i, k] += weight * value[leaf, 0]
