"""Taking the rows of a node apart, each side in its old order."""

import numpy as np

from empirisk.compiled.decorator import compiled
from empirisk.compiled.trees.ordering import gather

WORD, FIVE, BIT = np.uint32(31), np.uint32(5), np.uint32(1)
NONE, ONE = np.uint64(0), np.uint64(1)


@compiled(signatures=2, inner=True)
def partition(
    small, medium, large, feature, node, words, rows, ids, start, m, begin, codes, goes_left
):
    """Put the rows that go left before the others; returns where the others begin.

    The ids of a block go along; goes_left says of each of them where it went. Of a category, the
    levels that go left are bits of words[0].
    """
    gather(small, medium, large, feature, rows, start, m, codes)
    missing = feature.n_codes
    missing_left = np.uint32(node.missing_left == 1)
    if words is not None and node.subset >= 0:
        for i in range(m):
            c = codes[i]
            word = words[0, np.int64(c >> FIVE)] if c < missing else np.uint32(0)
            codes[i] = (word >> (c & WORD)) & BIT if c < missing else missing_left
    else:
        for i in range(m):
            c = codes[i]
            codes[i] = np.uint32(c <= node.code) if c < missing else missing_left
    if begin >= 0:
        for i in range(m):
            goes_left[ids[begin + i]] = np.uint8(codes[i])
    n_left = apart(rows, start, m, codes)
    if begin >= 0:
        for i in range(m):
            codes[i] = goes_left[ids[begin + i]]
        apart(ids, begin, m, codes)
    return start + n_left


@compiled(inner=True)
def apart(numbers, start, m, left):
    """Put those of numbers[start:start + m] with left = 1 before the others; overwrites `left`."""
    mine, n_left, n_right = numbers[start : start + m], NONE, NONE
    for i in range(np.uint64(m)):
        number = mine[i]
        to_left = np.uint64(left[i])
        mine[n_left] = number
        left[n_right] = number  # what stood there has been read
        n_left += to_left
        n_right += ONE - to_left
    for i in range(n_right):
        mine[n_left + i] = left[i]
    return np.int64(n_left)
