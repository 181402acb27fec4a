"""Shapley values by their definition: all sets of features, each with a walk down the tree."""

from itertools import combinations
from math import factorial

import numpy as np


def goes_left(tree, node, x):
    """By the words of `Tree` alone."""
    value = x[tree.feature[node]]
    if np.isnan(value):
        return bool(tree.missing_go_to_left[node])
    if tree.subset[node] >= 0:
        apart = int(value) in tree.levels_apart(node).tolist()
        return apart != bool(tree.missing_go_to_left[node])
    return value <= tree.cut[node]


def worth(tree, x, known, node=0):
    """What the tree is expected to say of x when the features in `known` are known."""
    if tree.children_right[node] < 0:
        return tree.value[node].reshape(-1)
    left, right = node + 1, tree.children_right[node]
    if tree.feature[node] in known:
        return worth(tree, x, known, left if goes_left(tree, node, x) else right)
    weight = tree.weighted_n_node_samples
    sides = [weight[side] * worth(tree, x, known, side) for side in (left, right)]
    return (sides[0] + sides[1]) / (weight[left] + weight[right])


def shapley(tree, X):
    """(rows, features, values of a leaf), and the worth of knowing nothing."""
    p = X.shape[1]
    found = np.zeros((*X.shape, len(tree.value[0].reshape(-1))))
    for i, x in enumerate(X):
        for size in range(p):
            rate = factorial(size) * factorial(p - size - 1) / factorial(p)
            for j in range(p):
                for known in combinations([k for k in range(p) if k != j], size):
                    gain = worth(tree, x, {*known, j}) - worth(tree, x, set(known))
                    found[i, j] += rate * gain
    return found, worth(tree, X[0], set())
