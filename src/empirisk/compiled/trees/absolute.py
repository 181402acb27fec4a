"""Nodes of a regression by absolute errors: the weighted medians of both sides of every split.

The values of a node are numbered in order. A Fenwick tree holds the weights and the weighted values
of the rows on one side; a row enters, and the median is found, in log m steps.

A row of weight w counts as w copies. Sums of weights are rounded: of m rows, two that are equal
differ by up to m EPS of them, so half of the weight is what is so near to it.
"""

import numpy as np

from empirisk.compiled.decorator import compiled
from empirisk.compiled.trees.criteria import REFUSED
from empirisk.compiled.trees.ordering import HALF, LOW, sort_codes

EPS = 2.0**-52


@compiled(inner=True)
def describe_absolute(
    weights, values, y_codes, rows, start, m, ids, begin, node, sums, label, codes, entries, at,
    spare, counts, keys,
):  # fmt: skip
    """Fill the node; sums are weight and value minus the median, label the place of the value.

    Returns the median, the worth of the node unsplit, and if it is pure.
    """
    weighted = weights.size > 0
    median, weight, pure = median_of(
        weights, values, y_codes, rows, start, m, codes, entries, at, spare, counts, keys
    )
    loss = 0.0
    for j in range(m):
        i = np.int64(entries[at + j] & LOW)
        row = rows[start + i]
        place = ids[begin + i] if begin >= 0 else np.uint32(i)
        sums[place, 0] = weights[row] if weighted else 1.0
        sums[place, 1] = values[row, 0] - median
        label[place] = j
        loss += sums[place, 0] * abs(sums[place, 1])
    node.rows = m
    node.weight = weight
    node.impurity = loss / weight
    return median, -loss, pure


@compiled(inner=True)
def median_of(weights, values, y_codes, rows, start, m, codes, entries, at, spare, counts, keys):
    """The median of rows[start:start + m], their weight, and if all values are one.

    Where just half of the weight lies below, it is half way between the two middle values. The
    entries of the rows become sorted by value.
    """
    weighted = weights.size > 0
    low, high = np.uint32(0xFFFFFFFF), np.uint32(0)
    weight = 0.0
    for i in range(m):
        c = np.uint32(y_codes[rows[start + i]])
        codes[i] = c
        low, high = min(low, c), max(high, c)
        weight += weights[rows[start + i]] if weighted else 1.0
    sort_codes(codes, low, high, m, entries, at, spare, counts, keys)
    half, tied = 0.5 * weight, EPS * m
    below, first, second = 0.0, 0.0, 0.0  # the values that reach half, and more than half
    for j in range(m):
        row = rows[start + np.int64(entries[at + j] & LOW)]
        second = values[row, 0]
        if below < (1.0 - tied) * half:
            first = second
        below += weights[row] if weighted else 1.0
        if below > (1.0 + tied) * half:
            break
    median = first if first == second else 0.5 * first + 0.5 * second
    return median, weight, low == high


@compiled(inner=True)
def middle_median(
    weights, values, y_codes, rows, start, middle, end, codes, entries, at, spare, counts, keys
):
    """Half way between the medians of the two sides, as growing takes that between the means."""
    between = 0.0
    for side in range(2):
        begin, stop = (middle, end) if side else (start, middle)
        median, _, _ = median_of(
            weights, values, y_codes, rows, begin, stop - begin, codes, entries, at, spare, counts,
            keys,
        )  # fmt: skip
        between += 0.5 * median
    return between


@compiled(inner=True)
def enter(tree, m, j, w, wy):
    """Add a row whose value has place j to the Fenwick tree."""
    j += 1
    while j <= m:
        tree[j, 0] += w
        tree[j, 1] += wy
        j += j & -j


@compiled(inner=True)
def least_loss(tree, m, top, weight, total):
    """min_c of the sum of w |y - c| over the rows in the tree, of this weight and weighted sum.

    With c the median: sum above - sum below - c (weight above - weight below). The values in order
    are in the third column.
    """
    at, below, sum_below = 0, 0.0, 0.0
    step = top
    while step > 0:  # the largest `at` such that the first `at` values weigh less than half
        j = at + step
        if j <= m and below + tree[j, 0] < 0.5 * weight:
            at = j
            below += tree[j, 0]
            sum_below += tree[j, 1]
        step >>= 1
    median = tree[min(at, m - 1), 2]
    return total - 2.0 * sum_below - median * (weight - 2.0 * below)


@compiled(inner=True)
def median_in(tree, m, top, weight):
    """The median of the rows in the tree, as `median_of` gives it."""
    median = 0.0
    for sign in range(-1, 2, 2):  # the first value with half of the weight, then with more
        bound = (1.0 + sign * EPS * m) * (0.5 * weight)
        at, below = 0, 0.0
        step = top
        while step > 0:
            j = at + step
            if j <= m and below + tree[j, 0] < bound:
                at = j
                below += tree[j, 0]
            step >>= 1
        median += 0.5 * tree[min(at, m - 1), 2]
    return median


@compiled(inner=True)
def scan_absolute(
    entries, at, n_seen, n_missing, last, sums, label, from_missing, m, min_rows, min_weight,
    weight, sign, lower, upper, tie, tree,
):  # fmt: skip
    """Splits by absolute errors. Returns the best worth and the entry after which it splits, or -1.

    Forwards for the losses of left sides, then backwards for those of right sides. The missing
    values are the entries behind those seen; they begin on the side they go to. With a `sign`, the
    medians of both sides are held to it and within lower and upper as means are by `scan_sum`.
    """
    top = 1
    while 2 * top <= m:
        top *= 2
    for i in range(at, at + n_seen + n_missing):
        place = entries[i] & LOW
        tree[label[place], 2] = sums[place, 1]
    for backwards in range(2):
        for j in range(m + 1):
            tree[j, 0] = 0.0
            tree[j, 1] = 0.0
        side, total = 0.0, 0.0
        if (from_missing > 0) != (backwards == 1):
            for i in range(at + n_seen, at + n_seen + n_missing):
                place = entries[i] & LOW
                w, y = sums[place, 0], sums[place, 1]
                enter(tree, m, np.int64(label[place]), w, w * y)
                side += w
                total += w * y
        for step in range(n_seen):
            i = n_seen - 1 - step if backwards else step
            if backwards:
                rows_right = step + (0 if from_missing else n_missing)
                light = min(side, weight - side) < min_weight
                if light or min(rows_right, m - rows_right) < min_rows:
                    tree[i, 3] = REFUSED
                elif tree[i, 3] > REFUSED:
                    tree[i, 3] -= least_loss(tree, m, top, side, total)
                    if sign != 0:
                        left, right = tree[i, 4], median_in(tree, m, top, side)
                        inside = lower <= min(left, right) and max(left, right) <= upper
                        if not inside or sign * (left - right) > 0:
                            tree[i, 3] = REFUSED
            place = entries[at + i] & LOW
            w, y = sums[place, 0], sums[place, 1]
            enter(tree, m, np.int64(label[place]), w, w * y)
            side += w
            total += w * y
            if not backwards:
                same = i + 1 < n_seen and entries[at + i] >> HALF == entries[at + i + 1] >> HALF
                tree[i, 3] = REFUSED if same else -least_loss(tree, m, top, side, total)
                if sign != 0:
                    tree[i, 4] = median_in(tree, m, top, side)
    best, best_at = REFUSED, -1
    for i in range(last):
        if tree[i, 3] > best + tie:
            best, best_at = tree[i, 3], i
    return best, best_at
