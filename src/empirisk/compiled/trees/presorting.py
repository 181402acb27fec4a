"""Blocks of rows that are sorted once, for all nodes below.

A node that is small enough becomes a block: its rows get numbers, ids, and each feature a list of
entries in order. A split of the block, or of a node within it, takes each list apart in one pass
that keeps the order, so that no node below sorts again. There is room for all lists twice: the
lists of the two sides are written to the half in which those of their node are not.
"""

import numpy as np

from empirisk.compiled.decorator import compiled
from empirisk.compiled.trees.ordering import LOW, gather, sort_codes

ONE = np.uint64(1)
BIT = np.uint64(63)


@compiled(inner=True)
def is_constant(constant, place, f):
    """Whether feature f is known to have one value in the node that is open at this place."""
    return (constant[place, f >> 6] >> (np.uint64(f) & BIT)) & ONE != 0


@compiled(inner=True)
def note_constant(constant, place, f):
    """Note that feature f has one value in the node that is open at this place."""
    constant[place, f >> 6] |= ONE << (np.uint64(f) & BIT)


@compiled(inner=True)
def sort_block(
    small, medium, large, features, rows, start, m, ids, constant, place, size, spare, codes,
    entries, counts, keys,
):  # fmt: skip
    """Make a block of the rows rows[start:start + m], m at most `size`."""
    for i in range(m):
        ids[i] = i
    for f in range(features.size):
        if is_constant(constant, place, f):
            continue
        low, high = gather(small, medium, large, features[f], rows, start, m, codes)
        if low == high:
            note_constant(constant, place, f)
        else:
            sort_codes(codes, low, high, m, entries, f * size, spare, counts, keys)


@compiled(inner=True)
def split_block(entries, n_features, constant, here, size, begin, n_left, goes_left):
    """Take the lists of a node apart, from one half of the room for a block to the other."""
    m, room = here.end - here.start, n_features * size
    for f in range(n_features):
        if is_constant(constant, here.place, f):
            continue
        first = f * size + begin
        source, left = first + here.half * room, first + (1 - here.half) * room
        right = left + n_left
        for i in range(source, source + m):
            entry = entries[i]
            to_left = np.int64(goes_left[entry & LOW])
            entries[right + (left - right) * to_left] = entry  # without a branch
            left += to_left
            right += 1 - to_left
