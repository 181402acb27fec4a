"""From the nodes of a grower to those of a forest: as few bytes as prediction needs.

A packed node has 16 bytes, as `walking` reads them. In a leaf the threshold is a NaN, to the right
of which all values go; its lower four bytes are the number of the leaf, under which its value
stands.
"""

import numpy as np

from empirisk.compiled.decorator import compiled
from empirisk.compiled.trees.categories import turn_subset
from empirisk.compiled.trees.finishing import half_way, is_heavier
from empirisk.compiled.trees.layout import UNSEEN

NAN = 0x7FF80000  # the upper four bytes of a NaN


@compiled(signatures=2)
def pack(
    nodes, value, features, points, drawn, total, scale, stack, thresholds, links, leaf_value,
    leaf_weight, leaf_impurity, leaf_rows, gains, packed, subsets,
):  # fmt: skip
    """Write the nodes in preorder and their leaves; returns the number of words in `subsets`.

    drawn, packed, subsets
        As in `finishing.finish`.
    total, scale
        A gain divided by the first, times the second, is a part of the root's impurity; their sums
        by feature are added to `gains`.
    stack
        Room for the right children, and their parents, that are still to be written: (2, leaves).
    thresholds, links
        Views of the packed nodes: float64 (nodes, 2) and int32 (nodes, 4).
    """
    n_words, n_leaves, n_open, here = np.int64(0), 0, 0, np.int64(0)
    for i in range(nodes.size):
        node = nodes[here]
        if node.right < 0:
            for k in range(value.shape[1]):
                leaf_value[n_leaves, k] = value[here, k]
            leaf_weight[n_leaves], leaf_impurity[n_leaves] = node.weight, node.impurity
            leaf_rows[n_leaves] = node.rows
            links[i, 0], links[i, 1], links[i, 2], links[i, 3] = n_leaves, NAN, 0, i
            n_leaves += 1
            if n_open > 0:
                n_open -= 1
                here = np.int64(stack[0, n_open])
                links[stack[1, n_open], 3] = i + 1
            continue
        left, right = np.int64(node.right) - 1, np.int64(node.right)
        missing_left = node.missing_left == 1
        if node.missing_left == UNSEEN:  # to the heavier side
            missing_left = is_heavier(nodes[left].weight, nodes[right].weight)
        links[i, 2] = 4 * node.feature + np.int32(missing_left)
        if packed is not None and node.subset >= 0:
            links[i, 2] += 2
            thresholds[i, 0] = np.float64(n_words)
            n_words = turn_subset(packed, np.int64(node.subset), missing_left, subsets, n_words)
        elif drawn.size > 0 and drawn[here] == drawn[here]:
            thresholds[i, 0] = drawn[here]
        else:
            thresholds[i, 0] = half_way(features[node.feature], node.code, node.next_code, points)
        gains[node.feature] += node.gain / total * scale
        stack[0, n_open], stack[1, n_open] = right, i
        n_open += 1
        here = left
    return n_words
