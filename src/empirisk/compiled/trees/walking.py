"""Rows walk down a tree: eight in lockstep, so that the processor waits for many nodes at once.

A packed node has 16 bytes: the threshold (for a category, where the list of its levels begins), and
two integers: the feature times 4, plus 2 for a category, plus 1 if missing values go left; and the
right child. The left child of node i is i + 1. A leaf is its own right child and never goes left.
"""

import numpy as np

from empirisk.compiled.decorator import compiled
from empirisk.compiled.trees.categories import is_listed

LOCKSTEP = 8
ONE, TWO, THREE, FOUR = np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(4)


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


@compiled(inner=True)
def goes_left(thresholds, links, subsets, node, x):
    """Whether a value goes left at a packed node."""
    kind = links[node, 2]
    missing_left = kind & 1 == 1
    if x != x:
        return missing_left
    if kind & 2 == 0:
        return x <= thresholds[node, 0]
    return is_listed(subsets, np.int64(thresholds[node, 0]), np.uint32(x)) != missing_left


@compiled(signatures=2, inner=True)
def step(thresholds, links, X, row, node):
    """The node after this one. Arithmetic in place of a branch: which way a row goes cannot be
    foreseen. In a leaf it is the leaf itself."""
    kind = np.uint32(links[node, 2])
    x = X[row, kind >> np.uint32(2)]
    left = np.uint32(x <= thresholds[node, 0]) | (np.uint32(x != x) & kind)
    right = np.uint32(links[node, 3])
    return right + (node + np.uint32(1) - right) * (left & np.uint32(1))


@compiled(signatures=2)
def find_leaves(thresholds, links, X, rows, leaves):
    """leaves[i] = the leaf of row i of X, or of row rows[i], in a tree without categories.

    thresholds and links are two views of the packed nodes: float64 (nodes, 2), int32 (nodes, 4).
    Where each of eight rows stands has a name of its own: in an array it would go through memory.
    """
    n = leaves.size
    start, zero = np.uint64(0), np.uint64(0)
    for first in range(0, n - LOCKSTEP + 1, LOCKSTEP):
        i = np.uint64(first)
        r0, r1, r2, r3 = at(rows, i), at(rows, i + ONE), at(rows, i + TWO), at(rows, i + THREE)
        i += FOUR
        r4, r5, r6, r7 = at(rows, i), at(rows, i + ONE), at(rows, i + TWO), at(rows, i + THREE)
        a0 = a1 = a2 = a3 = a4 = a5 = a6 = a7 = start
        moved = True
        while moved:
            b0 = step(thresholds, links, X, r0, a0)
            b1 = step(thresholds, links, X, r1, a1)
            b2 = step(thresholds, links, X, r2, a2)
            b3 = step(thresholds, links, X, r3, a3)
            b4 = step(thresholds, links, X, r4, a4)
            b5 = step(thresholds, links, X, r5, a5)
            b6 = step(thresholds, links, X, r6, a6)
            b7 = step(thresholds, links, X, r7, a7)
            some = (a0 ^ b0) | (a1 ^ b1) | (a2 ^ b2) | (a3 ^ b3)
            some |= (a4 ^ b4) | (a5 ^ b5) | (a6 ^ b6) | (a7 ^ b7)
            moved = some != zero
            a0, a1, a2, a3, a4, a5, a6, a7 = b0, b1, b2, b3, b4, b5, b6, b7
        leaves[first], leaves[first + 1], leaves[first + 2], leaves[first + 3] = a0, a1, a2, a3
        leaves[first + 4], leaves[first + 5], leaves[first + 6], leaves[first + 7] = a4, a5, a6, a7
    for i in range(n - n % LOCKSTEP, n):
        node, last = start, ONE
        while node != last:
            last = node
            node = step(thresholds, links, X, at(rows, np.uint64(i)), node)
        leaves[i] = node


@compiled(signatures=2, inner=True)
def at(rows, i):
    """The row that stands at a place."""
    return i if rows is None else np.uint64(rows[i])


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
