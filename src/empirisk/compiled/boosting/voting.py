"""What the first trees of a sequence say together, at several stages from one pass."""

import numpy as np

from empirisk.compiled.decorator import compiled
from empirisk.compiled.trees.forest_walking import find_forest_leaves


@compiled
def add_votes(
    thresholds, links, subsets, first_node, first_subset, first_leaf, value, X, leaves, stages,
    totals,
):  # fmt: skip
    """totals[i, v] = the values of the leaves of row i in the first stages[v] trees, added up.

    Stages grow. Packed trees are as in `trees.forest_walking`.
    """
    n, V, C = totals.shape
    for i in range(n):
        for k in range(C):
            totals[i, 0, k] = 0.0
    v = 0
    for tree in range(stages[V - 1]):
        while stages[v] <= tree:
            for i in range(n):
                for k in range(C):
                    totals[i, v + 1, k] = totals[i, v, k]
            v += 1
        find_forest_leaves(
            thresholds, links, subsets, first_node, first_subset, tree, X, None, leaves
        )
        for i in range(n):
            leaf = first_leaf[tree] + leaves[i]
            for k in range(C):
                totals[i, v, k] += value[leaf, k]


@compiled
def weighted_medians(predictions, weights, stages, medians):
    """medians[i, v] = the weighted median of the first stages[v] predictions of row i.

    That is the least of them such that those up to it have half the weight or more. Stages grow.
    """
    n, V = medians.shape
    order = np.empty(predictions.shape[1], np.int64)
    for i in range(n):
        v = 0
        for t in range(stages[V - 1]):
            j = t
            while j > 0 and predictions[i, order[j - 1]] > predictions[i, t]:
                order[j] = order[j - 1]
                j -= 1
            order[j] = t
            if stages[v] == t + 1:
                medians[i, v] = predictions[i, order[middle(weights, order, t + 1)]]
                v += 1


@compiled(inner=True)
def middle(weights, order, n):
    """The first place in an order up to which n weights come to half their sum."""
    total = 0.0
    for j in range(n):
        total += weights[order[j]]
    upto = 0.0
    for j in range(n):
        upto += weights[order[j]]
        if upto >= 0.5 * total:
            return j
    return n - 1
