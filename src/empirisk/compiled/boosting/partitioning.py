"""The rows of a node go left or right, in their order: each thread takes a piece of them.

`ways` says for each code of the split's column whether it goes left: one rule for numbers,
categories, missing values and features that share a column.
"""

import numpy as np

from empirisk.compiled.decorator import compiled
from empirisk.compiled.team import meet

ALONE = 2048  # a node with fewer rows is parted by one thread: sharing would cost more
STOPPED = -1
ONE = np.uint64(1)


@compiled(inner=True)
def piece(start, end, rank, team):
    """The piece of start..end that is for one thread."""
    n = end - start
    return start + n * rank // team, start + n * (rank + 1) // team


@compiled(inner=True)
def part(ways, column, rows, start, end, to_left, to_right):
    """Write rows[start:end] that go left to to_left[start:], which may be rows; others to to_right.

    Returns how many go left. Arithmetic in place of a branch: which way cannot be foreseen.
    """
    left = right = np.uint64(start)
    for k in range(np.uint64(start), np.uint64(end)):
        row = rows[k]
        way = np.uint64(ways[column[row]])
        to_left[left] = row
        to_right[right] = row
        left += way
        right += ONE - way
    return np.int64(left) - start


@compiled(inner=True)
def put(rows, at, source, start, n):
    """rows[at:at + n] = source[start:start + n]."""
    to, of = rows[at : at + n], source[start : start + n]
    for k in range(n):
        to[k] = of[k]


@compiled(inner=True)
def gather(rows, words, entries, ordered):
    """ordered = the entries of the rows, one after the other."""
    if words == 2:
        for k in range(np.uint64(rows.size)):
            row = np.uint64(rows[k])
            ordered[k << ONE] = entries[row << ONE]
            ordered[(k << ONE) | ONE] = entries[(row << ONE) | ONE]
    else:
        for k in range(np.uint64(rows.size)):
            ordered[k] = entries[np.uint64(rows[k])]


@compiled(inner=True)
def divide(rank, team, sync, node, column, ways, rows, spare, own):
    """Part the rows of a node; returns how many go left, or STOPPED."""
    start, end = node.start, node.end
    if end - start < ALONE:
        if rank > 0:
            return 0
        n_left = part(ways, column, rows, start, end, rows, spare[1])
        put(rows, start + n_left, spare[1], start, end - start - n_left)
        return n_left
    first, last = piece(start, end, rank, team)
    to_left = spare[0] if rank > 0 else rows
    own[rank, 0] = part(ways, column, rows, first, last, to_left, spare[1])
    if not meet(sync, team):
        return STOPPED
    n_left, before = np.int64(0), np.int64(0)
    for t in range(team):
        n_left += own[t, 0]
        before += own[t, 0] if t < rank else 0
    here, to_right = own[rank, 0], start + n_left + (first - start - before)
    if rank > 0:
        put(rows, start + before, spare[0], first, here)
    put(rows, to_right, spare[1], first, last - first - here)
    return n_left
