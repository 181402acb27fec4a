"""Nodes of a regression or of two classes: a weight and one sum say all about a side of a split."""

import numpy as np

from empirisk.compiled.decorator import compiled
from empirisk.compiled.trees.binning import BINS_PER_ROW, bin_sums
from empirisk.compiled.trees.criteria import (
    COST_TWO,
    ENTROPY_TWO,
    GINI_TWO,
    REFUSED,
    SQUARED,
    worth_of_sum,
)
from empirisk.compiled.trees.ordering import HALF, LOW, gather, sort_codes


@compiled
def scan_sum(
    order, n_entries, last, sums, weight, total, left_weight, left, n_rows, left_rows, kind,
    min_rows, min_weight, costs,
):  # fmt: skip
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
    best, at = REFUSED, -1
    for i in range(last):
        entry = order[0, i]
        position = entry & LOW
        left_weight += sums[position, 0]
        left += sums[position, 1]
        if i + 1 < n_entries and entry >> HALF == order[0, i + 1] >> HALF:
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
def describe_sum(weights, values, kind, costs, rows, start, m, node, value, sums):
    """Fill the node and the sums of its rows.

    Returns its sum, what is taken off its values, the worth of the node unsplit, and if it is pure.
    """
    weighted = weights.size > 1
    weight, total = 0.0, 0.0
    first = values[rows[start], 0]
    pure = True
    for i in range(m):
        row = rows[start + i]
        w = weights[row] if weighted else 1.0
        y = values[row, 0]
        sums[i, 0] = w
        sums[i, 1] = w * y
        weight += w
        total += w * y
        pure = pure and y == first
    mean = total / weight
    shift, impurity = 0.0, 0.0
    if kind == SQUARED:
        shift, total = mean, 0.0
        for i in range(m):
            centred = sums[i, 1] - sums[i, 0] * mean
            impurity += centred * centred / sums[i, 0]
            sums[i, 1] = centred
            total += centred
        impurity /= weight
    worth = worth_of_sum(kind, weight, total, costs)
    if kind == GINI_TWO:
        impurity = 2.0 * mean * (1.0 - mean)
    elif kind == ENTROPY_TWO or kind == COST_TWO:
        impurity = -worth / weight
    node.rows = m
    node.weight = weight
    node.impurity = 0.0 if pure else impurity
    value[0] = mean
    return total, shift, worth, pure


@compiled
def split_sum(
    small, medium, large, feature, kind, min_rows, min_weight, costs, rows, start, m, weight, total,
    codes, sums, order, counts, keys, bins, split,
):  # fmt: skip
    """The best split of a node along one feature; returns whether the feature is constant there."""
    low, high = gather(small, medium, large, feature, rows, start, m, codes)
    if low == high:
        return True
    n_bins = np.int64(high - low) + 1
    if n_bins <= BINS_PER_ROW * m and min_rows <= 1:
        n = bin_sums(codes, low, n_bins, m, sums, bins, order)
        worth, at = scan_sum(order, n, n - 1, bins, weight, total, 0.0, 0.0, m, 0, kind, 1,
                             min_weight, costs)
    else:
        n = m
        sort_codes(codes, low, high, m, order, counts, keys)
        worth, at = scan_sum(order, m, m - 1, sums, weight, total, 0.0, 0.0, m, 0, kind, min_rows,
                             min_weight, costs)
    split.worth = worth
    if at >= 0:
        split.code = np.uint32(order[0, at] >> HALF) + low
        split.next_code = np.uint32(order[0, at + 1] >> HALF) + low
        split.missing_left = 0
    return False
