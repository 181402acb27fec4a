"""The nodes of a grown tree in preorder, with thresholds and ways that growing did not need."""

import numpy as np

from empirisk.compiled.decorator import compiled
from empirisk.compiled.trees.layout import UNSEEN


@compiled
def finish(
    nodes, value, features, points, drawn, scale, words, width, stack, tree, values, subsets
):
    """Write the nodes to `tree`, in preorder; returns the number of words in `subsets`.

    drawn
        Whether thresholds were drawn, not half way between two values.
    scale
        What a gain is as a part of the root's impurity.
    words
        Of each split by a category, `width` words of the levels that go left, and as many of those
        that the node has. In `subsets`, levels that it does not have go as missing values do.
    stack
        Room for two numbers for each node.
    """
    stack[0, 0], stack[0, 1] = 0, -1
    n_open, n_words = 1, 0
    for i in range(tree.size):
        n_open -= 1
        at, parent = stack[n_open, 0], stack[n_open, 1]
        node, out = nodes[at], tree[i]
        if parent >= 0:  # its right child
            tree[parent].right = i
        for k in range(value.shape[1]):
            values[i, k] = value[at, k]
        out.rows, out.weight, out.impurity, out.gain = node.rows, node.weight, node.impurity, 0.0
        out.right, out.feature, out.subset, out.rank = -1, -2, -1, -1
        out.missing_left, out.threshold = False, np.nan
        if node.left < 0:
            continue
        out.feature, out.rank, out.gain = node.feature, node.rank, node.gain * scale
        out.code, out.next_code = node.code, node.next_code
        to_left = node.missing_left == 1
        if node.missing_left == UNSEEN:  # to the heavier side
            to_left = nodes[node.left].weight > nodes[node.right].weight
        out.missing_left = to_left
        if node.subset >= 0:
            out.subset = n_words
            for w in range(node.subset, node.subset + width):
                subsets[n_words] = words[w] | ~words[w + width] if to_left else words[w]
                n_words += 1
        elif drawn and node.threshold == node.threshold:
            out.threshold = node.threshold
        else:
            out.threshold = half_way(features[node.feature], node.code, node.next_code, points)
        stack[n_open, 0], stack[n_open, 1] = node.right, i
        stack[n_open + 1, 0], stack[n_open + 1, 1] = node.left, -1
        n_open += 2
    return n_words


@compiled(inner=True)
def half_way(feature, code, following, points):
    """Half way between the values of two codes; behind all values if the second is missing."""
    if following == feature.n_codes:
        return np.inf
    low, high = (
        points[feature.points + np.int64(code)],
        points[feature.points + np.int64(following)],
    )
    middle = low / 2 + high / 2
    if middle < low or middle >= high:  # by rounding
        middle = low
    return middle
