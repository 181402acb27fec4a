"""Ranks of the values of a column: equal values have one rank, NaN comes last."""

import numpy as np

from empirisk.compiled.decorator import compiled

EXACT = 2.0**53


@compiled
def integer_range(values):
    """The least and the largest of values that are integers or NaN; (inf, -inf) if they are not."""
    low, high = np.inf, -np.inf
    for i in range(values.size):
        x = values[i]
        if x != x:
            continue
        if x != np.floor(x) or abs(x) >= EXACT:
            return np.inf, -np.inf
        low, high = min(low, x), max(high, x)
    return low, high


@compiled
def rank_integers(values, low, ranks, codes):
    """Ranks of integers from low to low + ranks.size - 1; returns the number of distinct values.

    `ranks` becomes the rank of each integer of the range, -1 where it does not occur.
    """
    for i in range(values.size):
        if values[i] == values[i]:
            ranks[np.int64(values[i] - low)] = 0
    n = 0
    for k in range(ranks.size):
        if ranks[k] == 0:
            ranks[k] = n
            n += 1
    for i in range(values.size):
        missing = values[i] != values[i]
        codes[i] = n if missing else ranks[np.int64(values[i] - low)]
    return n


@compiled
def rank_ordered(values, order, codes, distinct):
    """Ranks of values that `order` puts in order, NaN last; returns how many are distinct."""
    n = 0
    for k in range(values.size):
        x = values[order[k]]
        if x == x and (n == 0 or x != distinct[n - 1]):
            distinct[n] = x
            n += 1
        codes[order[k]] = n - 1 if x == x else n
    return n
