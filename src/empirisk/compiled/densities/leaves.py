"""Rows cut into small boxes: at the median of the widest column, again and again."""

import numpy as np

from empirisk.compiled.decorator import compiled


@compiled
def cut_into_leaves(X, largest, order, ends):
    """Sort `order` so that leaves lie together, each of at most `largest` rows.

    Returns how many leaves there are; the b-th ends before ends[b]. Leaves differ by one row at
    most, and lie in the order of a walk through the tree of cuts.
    """
    n = X.shape[0]
    for i in range(n):
        order[i] = i
    begins, stops = np.empty(64, np.int64), np.empty(64, np.int64)
    keys = np.empty(n)
    begins[0], stops[0] = 0, n
    waiting, leaves = 1, 0
    while waiting > 0:
        waiting -= 1
        begin, stop = begins[waiting], stops[waiting]
        if stop - begin <= largest:
            ends[leaves] = stop
            leaves += 1
            continue
        column = widest_column(X, order, begin, stop)
        for i in range(begin, stop):
            keys[i] = X[order[i], column]
        middle = (begin + stop) // 2
        select(keys, order, begin, stop - 1, middle)
        begins[waiting], stops[waiting] = middle, stop
        begins[waiting + 1], stops[waiting + 1] = begin, middle
        waiting += 2
    return leaves


@compiled(inner=True)
def widest_column(X, order, begin, stop):
    """The column in which some rows spread most."""
    best, found = -1.0, 0
    for j in range(X.shape[1]):
        low = high = X[order[begin], j]
        for i in range(begin, stop):
            value = X[order[i], j]
            low, high = min(low, value), max(high, value)
        if high - low > best:
            best, found = high - low, j
    return found


@compiled(inner=True)
def select(keys, order, left, right, middle):
    """Hoare's selection: smaller keys before `middle`, larger ones behind."""
    while left < right:
        a, b, c = keys[left], keys[(left + right) // 2], keys[right]
        pivot = max(min(a, b), min(max(a, b), c))
        i, j = left, right
        while i <= j:
            while keys[i] < pivot:
                i += 1
            while keys[j] > pivot:
                j -= 1
            if i <= j:
                keys[i], keys[j] = keys[j], keys[i]
                order[i], order[j] = order[j], order[i]
                i += 1
                j -= 1
        if middle <= j:
            right = j
        elif middle >= i:
            left = i
        else:
            return


@compiled
def leaf_boxes(columns, ends, lows, highs):
    """The least and the largest number of each column in each leaf; rows lie leaf by leaf."""
    for j in range(columns.shape[0]):
        begin = 0
        for b in range(ends.size):
            x = columns[j, begin : ends[b]]
            lows[j, b], highs[j, b] = x.min(), x.max()
            begin = ends[b]
