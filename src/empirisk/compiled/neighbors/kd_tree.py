"""A kd-tree whose nodes have eight children, with the boxes of these side by side.

The rows are halved `depth` times, each time across the column in which a part is widest (Friedman,
Bentley & Finkel 1977): part i after d halvings is the rows (i * n) >> d to ((i + 1) * n) >> d of an
order. Three halvings are one step down the tree; the first may be fewer. The boxes around the
children of a node stand together, low[g, j, c] to high[g, j, c] of child c, so that one instruction
serves all eight. Lanes without a child have a box nowhere.
"""

import numpy as np

from empirisk.compiled.decorator import compiled

FAN = 8
STEP = 3  # halvings from a node to its children


@compiled(inner=True)
def put_median(values, order, low, high, middle):
    """Reorder so that what is left of `middle` is not larger, and right of it not smaller."""
    high -= 1
    while low < high:
        half = (low + high) // 2
        if values[half] < values[low]:
            swap(values, order, half, low)
        if values[high] < values[low]:
            swap(values, order, high, low)
        if values[high] < values[half]:
            swap(values, order, high, half)
        pivot = values[half]
        a, b = low, high
        while a <= b:
            while values[a] < pivot:
                a += 1
            while pivot < values[b]:
                b -= 1
            if a <= b:
                swap(values, order, a, b)
                a += 1
                b -= 1
        if middle <= b:
            high = b
        elif middle >= a:
            low = a
        else:
            return


@compiled(inner=True)
def swap(values, order, a, b):
    """Exchange two places."""
    values[a], values[b] = values[b], values[a]
    order[a], order[b] = order[b], order[a]


@compiled(inner=True)
def find_box(rows, order, begin, end, low, high):
    """The least and the largest value of each column among order[begin:end]."""
    low[:], high[:] = np.inf, -np.inf
    for i in order[begin:end]:
        for j in range(rows.shape[1]):
            low[j] = min(low[j], rows[i, j])
            high[j] = max(high[j], rows[i, j])


@compiled(makes_arrays=True)
def halve_rows(rows, depth, order):
    """Put the rows in the order of the tree."""
    n, p = rows.shape
    values, low, high = np.empty(n), np.empty(p), np.empty(p)
    for d in range(depth):
        for i in range(1 << d):
            begin, end = (i * n) >> d, ((i + 1) * n) >> d
            middle = ((2 * i + 1) * n) >> (d + 1)
            find_box(rows, order, begin, end, low, high)
            widest = np.argmax(high - low)
            for a in range(begin, end):
                values[a] = rows[order[a], widest]
            put_median(values, order, begin, end, middle)


@compiled(makes_arrays=True)
def find_boxes(rows, order, depths, low, high):
    """The boxes of the children of all nodes; `depths` are the halvings down to each level."""
    n, p = rows.shape
    least, most = np.empty(p), np.empty(p)
    g = 0
    for t in range(1, depths.size):
        fan = 1 << (depths[t] - depths[t - 1])
        for i in range(1 << depths[t - 1]):
            for c in range(fan):
                part = i * fan + c
                begin, end = (part * n) >> depths[t], ((part + 1) * n) >> depths[t]
                find_box(rows, order, begin, end, least, most)
                for j in range(p):
                    low[g, j, c], high[g, j, c] = least[j], most[j]
            g += 1
