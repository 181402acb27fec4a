"""Rows walk down a tree: 16 in lockstep, so that the processor waits for many nodes at once.

A packed node has 16 bytes: the threshold (for a category, where the list of its levels begins), and
two integers: the feature times 4, plus 2 for a category, plus 1 if missing values go left; and the
right child. The left child of node i is i + 1. A leaf is its own right child and never goes left.
"""

import numpy as np

from empirisk.compiled.decorator import compiled
from empirisk.compiled.trees.categories import is_listed

LOCKSTEP = 16


@compiled
def relatives(right, parent, depth, end):
    """Of each node in preorder: its parent, its depth, and the node after the last one below it."""
    parent[0], depth[0] = -1, 0
    for node in range(right.size):
        if right[node] >= 0:
            for child in (node + 1, np.int64(right[node])):
                parent[child] = node
                depth[child] = depth[node] + 1
    for node in range(right.size - 1, -1, -1):
        end[node] = end[right[node]] if right[node] >= 0 else node + 1


@compiled
def goes_left(thresholds, links, subsets, node, x):
    """Whether a value goes left at a packed node."""
    kind = links[node, 2]
    missing_left = kind & 1 == 1
    if x != x:
        return missing_left
    if kind & 2 == 0:
        return x <= thresholds[node, 0]
    return is_listed(subsets, np.int64(thresholds[node, 0]), np.uint32(x)) != missing_left


@compiled
def find_leaves(thresholds, links, X, at, leaves):
    """leaves[i] = the leaf of row i, in a tree without categories.

    thresholds and links are two views of the packed nodes: float64 (nodes, 2), int32 (nodes, 4).
    `at` has room for LOCKSTEP nodes, uint32. Arithmetic in place of a branch: which way a row goes
    cannot be foreseen.
    """
    n = X.shape[0]
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
                x = X[first + r, kind >> np.uint32(2)]
                left = np.uint32(x <= thresholds[node, 0]) | (np.uint32(x != x) & kind)
                right = np.uint32(links[node, 3])
                following = right + (node + np.uint32(1) - right) * (left & np.uint32(1))
                moved |= following ^ node
                at[r] = following
        for r in range(width):
            leaves[first + r] = at[r]


@compiled
def find_leaves_by_subsets(thresholds, links, subsets, X, leaves):
    """As `find_leaves`, in a tree with categories, whose values in X are the codes of levels."""
    for i in range(X.shape[0]):
        node, last = np.int64(0), np.int64(-1)
        while node != last:
            last = node
            x = X[i, links[node, 2] >> 2]
            left = goes_left(thresholds, links, subsets, node, x)
            node = node + 1 if left else np.int64(links[node, 3])
        leaves[i] = node


@compiled
def find_pruned_leaves(thresholds, links, subsets, alpha, values, X, leaves):
    """leaves[i, j] = the leaf of row i when nodes with alpha up to values[j] are leaves.

    alpha never grows from a node to its children, and is -inf in leaves; values grow.
    """
    for i in range(X.shape[0]):
        node, j = np.int64(0), values.size - 1
        while True:
            while j >= 0 and alpha[node] <= values[j]:
                leaves[i, j] = node
                j -= 1
            if j < 0:
                break
            x = X[i, links[node, 2] >> 2]
            left = goes_left(thresholds, links, subsets, node, x)
            node = node + 1 if left else np.int64(links[node, 3])
