"""From the nodes of a grown tree to packed ones in preorder, as `trees.forest_walking` reads."""

import numpy as np

from empirisk.compiled.boosting.choosing import CURVATURE_UNIT, GRADIENT_UNIT, goes_left
from empirisk.compiled.decorator import compiled
from empirisk.compiled.trees.packing import NAN

WORD = np.uint32(31)
ONE = np.uint32(1)


@compiled
def pack_nodes(
    nodes, units, features, level_bins, node_bits, stack, thresholds, links, subsets, gains,
):  # fmt: skip
    """Write the nodes of a tree, and add its gains by feature; returns the words in `subsets`.

    thresholds and links are views of the packed nodes: float64 (nodes, 2), int32 (nodes, 4). stack
    is room for the right children, and their parents, that are still to be written: (2, leaves).
    """
    factor = units[CURVATURE_UNIT] / units[GRADIENT_UNIT]
    n_words, n_open, here = np.int64(0), 0, np.int64(0)
    for i in range(links.shape[0]):
        node = nodes[here]
        if node.left < 0:
            links[i, 0], links[i, 1], links[i, 2], links[i, 3] = node.leaf, NAN, 0, i
            if n_open > 0:
                n_open -= 1
                here = np.int64(stack[0, n_open])
                links[stack[1, n_open], 3] = i + 1
            continue
        feature = features[node.feature]
        links[i, 2] = 4 * node.feature + 2 * feature.category + node.missing_left
        thresholds[i, 0] = node.threshold
        if feature.category:
            thresholds[i, 0] = np.float64(n_words)
            n_words = list_levels(feature, node, node_bits[here], level_bins, subsets, n_words)
        gains[node.feature] += node.gain * factor / units[GRADIENT_UNIT]
        stack[0, n_open], stack[1, n_open] = node.left + 1, i
        n_open += 1
        here = np.int64(node.left)
    return n_words


@compiled(inner=True)
def list_levels(feature, node, node_bits, level_bins, subsets, at):
    """Write the levels that do not go where missing values go to subsets[at:]; returns the end.

    The number of words with such a level, which these are, and the words, as in
    `trees.categories.turn_subset`.
    """
    n_all = (np.int64(feature.n_levels) + 31) >> 5
    n_kept = np.int64(0)
    for w in range(n_all):
        n_kept += word_apart(feature, node, node_bits, level_bins, w) != 0
    subsets[at] = n_kept
    k = at + 1
    for w in range(n_all):
        word = word_apart(feature, node, node_bits, level_bins, w)
        if word != 0:
            subsets[k], subsets[k + n_kept] = w, word
            k += 1
    return at + 1 + 2 * n_kept


@compiled(inner=True)
def word_apart(feature, node, node_bits, level_bins, w):
    """Of the levels 32 w, 32 w + 1, ..., a bit for each that does not go as missing values do."""
    word = np.uint32(0)
    for level in range(32 * w, min(32 * w + 32, feature.n_levels)):
        b = np.int64(level_bins[feature.levels + level])
        if goes_left(feature, node, node_bits, b) != node.missing_left:
            word |= ONE << (np.uint32(level) & WORD)
    return word
