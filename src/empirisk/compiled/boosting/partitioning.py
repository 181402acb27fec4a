"""The rows of a node go left or right, in their order: each thread takes a piece of them.

`ways` says for each code of the split's column whether it goes left: one rule for numbers,
categories, missing values and features that share a column.
"""

import numpy as np

from empirisk.compiled.decorator import compiled

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
