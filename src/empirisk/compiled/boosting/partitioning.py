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
    for k in range(n):
        rows[at + k] = source[start + k]


@compiled(inner=True)
def gather(rows, start, end, words, entries, ordered):
    """The entries of rows[start:end], one after the other."""
    if end <= start:
        return
    first, stop = np.uint64(start), np.uint64(end)
    if words == 2:
        for k in range(first, stop):
            row = np.uint64(rows[k])
            ordered[k << ONE] = entries[row << ONE]
            ordered[(k << ONE) | ONE] = entries[(row << ONE) | ONE]
    else:
        for k in range(first, stop):
            ordered[k] = entries[np.uint64(rows[k])]


@compiled(inner=True)
def divide(rank, team, sync, words, node, column, ways, rows, spare, entries, ordered, own):
    """Part the rows of a node, and gather the entries whose histograms will be added up.

    Returns how many rows go left, or STOPPED.
    """
    start, end = node.start, node.end
    if end - start < ALONE:
        if rank > 0:
            return 0
        n_left = part(ways, column, rows, start, end, rows, spare[1])
        put(rows, start + n_left, spare[1], start, end - start - n_left)
        gather_for(node, words, rows, n_left, start, end, entries, ordered)
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
    gather_for(node, words, rows, n_left, start + before, start + before + here, entries, ordered)
    gather_for(
        node, words, rows, n_left, to_right, to_right + last - first - here, entries, ordered
    )
    return n_left


@compiled(inner=True)
def gather_for(node, words, rows, n_left, first, last, entries, ordered):
    """Gather the entries of rows[first:last] where they are in the child with fewer rows.

    In both, if the node has no histogram from which the other child's would follow.
    """
    start, end, middle = node.start, node.end, node.start + n_left
    if node.slot >= 0:
        start, end = (start, middle) if n_left <= end - middle else (middle, end)
    gather(rows, max(first, start), min(last, end), words, entries, ordered)
