"""All splits of a node along one feature, from sums that grow entry by entry.

Entries are in the order of their codes; a split stands between two entries of different codes.
The left side begins with the rows whose value is missing, or without them.
"""

import numpy as np

from empirisk.compiled.decorator import compiled
from empirisk.compiled.trees.criteria import (
    GINI,
    GINI_TWO,
    REFUSED,
    SQUARED,
    worth_of_sum,
    worth_of_sums,
)
from empirisk.compiled.trees.ordering import HALF, LOW


@compiled
def scan_sum(order, n_entries, last, sums, whole, start, rows, kind, leaf, costs):
    """Splits by one sum. Returns the best worth and the entry after which it splits, or -1.

    order, n_entries
        The entries; `last` of them may be the last one of the left side.
    sums
        Weight and sum of each position.
    whole, start
        Weight and sum of the node, and of the left side before the first entry.
    rows
        Number of rows of the node, and on the left side before the first entry.
    leaf
        The least number of rows and the least weight of a side.
    """
    weight, total = whole
    left_weight, left = start
    n_rows, left_rows = rows
    min_rows, min_weight = leaf
    best, at = REFUSED, -1
    for i in range(last):
        entry = order[i]
        position = entry & LOW
        left_weight += sums[position, 0]
        left += sums[position, 1]
        if i + 1 < n_entries and entry >> HALF == order[i + 1] >> HALF:
            continue
        right_weight, right = weight - left_weight, total - left
        if min(left_weight, right_weight) < min_weight:
            continue
        if min(left_rows + i + 1, n_rows - left_rows - i - 1) < min_rows:
            continue
        if kind == SQUARED or kind == GINI_TWO:
            squares = left * left * right_weight + right * right * left_weight
            worth = squares / (left_weight * right_weight)
        else:
            worth = worth_of_sum(kind, left_weight, left, costs)
            worth += worth_of_sum(kind, right_weight, right, costs)
        better = worth > best
        best = worth if better else best
        at = i if better else at
    return best, at


@compiled
def scan_monotone(order, n_entries, last, sums, whole, start, rows, kind, leaf, costs, sign, bounds):
    """As `scan_sum`, of splits that keep both sides' means within bounds and in the order asked."""
    weight, total = whole
    left_weight, left = start
    n_rows, left_rows = rows
    min_rows, min_weight = leaf
    lower, upper = bounds
    best, at = REFUSED, -1
    for i in range(last):
        entry = order[i]
        position = entry & LOW
        left_weight += sums[position, 0]
        left += sums[position, 1]
        if i + 1 < n_entries and entry >> HALF == order[i + 1] >> HALF:
            continue
        right_weight, right = weight - left_weight, total - left
        if min(left_weight, right_weight) < min_weight:
            continue
        if min(left_rows + i + 1, n_rows - left_rows - i - 1) < min_rows:
            continue
        left_mean, right_mean = left / left_weight, right / right_weight
        inside = lower <= min(left_mean, right_mean) and max(left_mean, right_mean) <= upper
        if not inside or sign * (left_mean - right_mean) > 0:
            continue
        worth = worth_of_sum(kind, left_weight, left, costs)
        worth += worth_of_sum(kind, right_weight, right, costs)
        if worth > best:
            best, at = worth, i
    return best, at


@compiled
def scan_classes(order, n_entries, last, sums, label, node, missing, weight, rows, kind, leaf, costs,
                 left, right):
    """Splits by the weights of several classes; `missing` are those on the left from the start."""
    n_rows, left_rows = rows
    min_rows, min_weight = leaf
    left_weight, left_squares, right_squares = 0.0, 0.0, 0.0
    for k in range(node.size):
        left[k], right[k] = missing[k], node[k] - missing[k]
        left_weight += left[k]
        left_squares += left[k] * left[k]
        right_squares += right[k] * right[k]
    best, at = REFUSED, -1
    for i in range(last):
        entry = order[i]
        position = entry & LOW
        w, k = sums[position, 0], np.uint32(label[position])
        left_squares += w * (left[k] + left[k] + w)
        right_squares += w * (w - right[k] - right[k])
        left_weight += w
        left[k] += w
        right[k] -= w
        if i + 1 < n_entries and entry >> HALF == order[i + 1] >> HALF:
            continue
        right_weight = weight - left_weight
        if min(left_weight, right_weight) < min_weight:
            continue
        if min(left_rows + i + 1, n_rows - left_rows - i - 1) < min_rows:
            continue
        if kind == GINI:
            squares = left_squares * right_weight + right_squares * left_weight
            worth = squares / (left_weight * right_weight)
        else:
            worth = worth_of_sums(kind, left_weight, left, costs)
            worth += worth_of_sums(kind, right_weight, right, costs)
        if worth > best:
            best, at = worth, i
    return best, at
