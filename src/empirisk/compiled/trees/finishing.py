"""The nodes of a grown tree in preorder, with thresholds and ways that growing did not need.

All is done where the nodes stand: of a tree with a leaf for each row there is no room for a copy.
"""

import numpy as np

from empirisk.compiled.decorator import compiled
from empirisk.compiled.trees.categories import turn_subset
from empirisk.compiled.trees.layout import THRESHOLD, UNSEEN

ROUNDING = 1e-12


@compiled
def find_places(right, below, place):
    """place[i] = where node i comes when each is followed by all below its left, then its right.

    Right children are -1 in leaves; left children stand before them, all behind their parents.
    `below` becomes the number of nodes of each branch.
    """
    for node in range(right.size - 1, -1, -1):
        below[node] = 1
        if right[node] >= 0:
            below[node] += below[right[node] - 1] + below[right[node]]
    place[0] = 0
    for node in range(right.size):
        if right[node] >= 0:
            place[right[node] - 1] = place[node] + 1
            place[right[node]] = place[node] + 1 + below[right[node] - 1]


@compiled
def rearrange(table, place):
    """Move each row of a table to its place; `place` becomes 0, 1, 2, ..."""
    for i in range(place.size):
        while place[i] != i:
            to = place[i]
            for k in range(table.shape[1]):
                table[i, k], table[to, k] = table[to, k], table[i, k]
            place[i], place[to] = place[to], to


@compiled(signatures=2)
def finish(nodes, numbers, features, points, drawn, scale, packed, subsets):
    """Finish nodes in preorder; returns the number of words in `subsets`.

    numbers
        The same nodes as float64, a row for each: the threshold is put where the codes stand.
    drawn
        Thresholds that were drawn; of none, or where it is NaN, half way between two values.
    scale
        What a gain is as a part of the root's impurity.
    packed
        The levels of splits by a category (`pack_subset`); `subsets` are those that do not go as
        missing values do. Levels that a node does not have do. None of both without categories.
    """
    n_words = np.int64(0)
    for i in range(nodes.size):
        node = nodes[i]
        if node.right < 0:
            node.feature, node.subset, node.rank = -2, -1, -1
            node.missing_left, node.gain = 0, 0.0
            numbers[i, THRESHOLD] = np.nan
            continue
        node.gain *= scale
        if node.missing_left == UNSEEN:  # to the heavier side
            node.missing_left = np.uint8(is_heavier(nodes[i + 1].weight, nodes[node.right].weight))
        if packed is not None and node.subset >= 0:
            at, node.subset = np.int64(node.subset), n_words
            n_words = turn_subset(packed, at, node.missing_left == 1, subsets, n_words)
            numbers[i, THRESHOLD] = np.nan
        elif drawn.size > 0 and drawn[i] == drawn[i]:
            numbers[i, THRESHOLD] = drawn[i]
        else:
            numbers[i, THRESHOLD] = half_way(
                features[node.feature], node.code, node.next_code, points
            )
    return n_words


@compiled(inner=True)
def is_heavier(weight, other):
    """Whether a weight is above another one, by more than sums of weights differ by rounding."""
    return weight > other * (1.0 + ROUNDING)


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
