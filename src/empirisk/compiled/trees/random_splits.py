"""Random splits: each feature is split at one threshold that is drawn, not at its best one.

A threshold is uniform between the least and the largest value in the node, as in extremely
randomised trees (Geurts, Ernst & Wehenkel 2006). Missing values go to the side that a fair coin
says. Of the levels of a category a subset goes left, each subset that leaves none of the two sides
empty with the same probability. What is drawn depends on the way to the node and on the feature
alone: neither the order of growth nor the other features change it.
"""

import numpy as np

from empirisk.compiled.decorator import compiled
from empirisk.compiled.streams import bits, uniform

ONE = np.uint64(1)
LEFT, RIGHT = np.uint32(0), np.uint32(1)


@compiled(signatures=2, inner=True)
def draw_sides(feature, f, p, key, low, high, points, m, codes, levels):
    """Draw a split of feature f of p; codes[i] becomes 0 for a row that goes left, 1 for right.

    low, high
        The least and the largest code, which differ.
    points
        The values that codes stand for; those of the feature begin at feature.points.

    Returns the last code on the left (of a category: the number of levels on the left minus 1), the
    threshold (NaN where it lies behind all values: missing ones are on the right alone), if missing
    values go left, and the number of levels. The levels on the left come first in levels[3].
    """
    seed = np.int64(key >> ONE)  # features are drawn from the key itself
    missing = feature.n_codes
    missing_left = False
    if high == missing:
        high = low
        for i in range(m):
            if codes[i] != missing:
                high = max(high, codes[i])
        missing_left = low < high and bits(seed, 2 * p + f) & ONE == ONE
    cut, threshold, n_levels = low, np.nan, np.int64(0)
    if levels is not None and feature.category:
        n_levels, n_left = draw_subset(
            np.int64(bits(seed, 3 * p + f) >> ONE), missing, m, codes, levels
        )
        cut = np.uint32(n_left - 1)
        for i in range(m):
            seen = codes[i] != missing
            codes[i] = levels[1, codes[i]] if seen else (LEFT if missing_left else RIGHT)
        return cut, threshold, missing_left, n_levels
    if low < high:
        cut, threshold = draw_threshold(uniform(seed, p + f), low, high, points, feature.points)
    for i in range(m):
        left = codes[i] <= cut or (missing_left and codes[i] == missing)
        codes[i] = LEFT if left else RIGHT
    return cut, threshold, missing_left, n_levels


@compiled(inner=True)
def draw_threshold(u, low, high, points, at):
    """A share u of the way from the value of code `low` to that of `high`, and the code below."""
    first, last = points[at + np.int64(low)], points[at + np.int64(high)]
    threshold = max((1.0 - u) * first + u * last, first)
    if threshold >= last:  # rounding
        threshold = first
    below, above = np.int64(low), np.int64(high)
    while above - below > 1:
        middle = (below + above) // 2
        if points[at + middle] <= threshold:
            below = middle
        else:
            above = middle
    return np.uint32(below), threshold


@compiled(inner=True)
def draw_subset(seed, missing, m, codes, levels):
    """Draw sides of the levels in a node; returns how many there are, and how many go left.

    levels[1] becomes the side of each level, levels[3] the levels, those on the left first.
    """
    for c in range(missing):
        levels[0, c] = 0
    for i in range(m):
        if codes[i] != missing:
            levels[0, codes[i]] = 1
    n_levels, n_left, draw = np.int64(0), np.int64(0), np.int64(0)
    for c in range(missing):
        n_levels += np.int64(levels[0, c])
    while n_left == 0 or (n_left == n_levels and n_levels > 1):
        n_left = 0
        for c in range(missing):
            right = n_levels > 1 and bits(seed, draw) & ONE == ONE
            levels[1, c] = RIGHT if right else LEFT
            n_left += np.int64(levels[0, c] == 1 and not right)
            draw += 1
    at, behind = np.int64(0), n_left
    for c in range(missing):
        if levels[0, c] == 1 and levels[1, c] == LEFT:
            levels[3, at] = c
            at += 1
        elif levels[0, c] == 1:
            levels[3, behind] = c
            behind += 1
    return n_levels, n_left
