"""The best split of a node by one feature: its rows in order of the feature, then a scan.

The rows are added up by code where there are few codes, or sorted. Missing values are set apart and
tried on either side; the levels of a category are put in the order of their means.
"""

import numpy as np

from empirisk.compiled.decorator import compiled
from empirisk.compiled.trees.absolute import scan_absolute
from empirisk.compiled.trees.binning import BINS_PER_ROW, bin_classes, bin_sum
from empirisk.compiled.trees.categories import note_subset, order_levels
from empirisk.compiled.trees.cells import CONSTANT, SEARCHED
from empirisk.compiled.trees.criteria import COPIES, MISSING, NODE
from empirisk.compiled.trees.layout import UNSEEN
from empirisk.compiled.trees.many_sums import scan_sums
from empirisk.compiled.trees.one_sum import scan_sum
from empirisk.compiled.trees.ordering import ALL_PAIRS, HALF, LOW, gather, sort_codes
from empirisk.compiled.trees.random_splits import draw_sides

ON_LEFT, ON_RIGHT = np.uint32(0), np.uint32(1)
NEXT = np.uint32(1)


@compiled(signatures=16, inner=True)
def search_feature(
    small, medium, large, features, f, points, thresholds, rule, costs, rows, here, node, begin,
    shift, codes, sums, label, totals, entries, counts, keys, tree, levels, means, words, outputs,
    tie, best,
):  # fmt: skip
    """Write the best split by feature f into the node's record, if it is better than `best`.

    Returns what is best now, and whether the feature was SEARCHED or has one value (CONSTANT).
    """
    m, weight, feature = here.end - here.start, node.weight, features[f]
    at, n = rule.first, m
    if begin >= 0:
        at = (here.half * features.size + f) * rule.block + begin
        low, high = np.uint32(entries[at] >> HALF), np.uint32(entries[at + m - 1] >> HALF)
    else:
        low, high = gather(small, medium, large, feature, rows, here.start, m, codes)
    if low == high:
        return best, CONSTANT
    n_missing, n_levels = 0, np.int64(0)
    missing_weight, some_missing = 0.0, high == feature.n_codes
    if points is not None:
        cut, threshold, missing_left, n_levels = draw_sides(
            feature, f, features.size, here.key, low, high, points, m, codes, levels
        )
        low, high = ON_LEFT, ON_RIGHT
    if begin < 0:
        n = put_in_order(
            codes, low, high, m, rule, sums, label, entries, at, counts, keys, tree, outputs
        )
    if some_missing and points is None:
        n_missing, missing_weight = set_missing_apart(
            entries, at, n, high, tree is None, sums, label, totals
        )
    n_seen = n - n_missing
    if levels is not None and feature.category and points is None:
        n_levels = order_levels(
            entries, at, n_seen, rule.third, tree is None, sums, label, weight, totals, levels,
            means,
        )  # fmt: skip
        for i in range(n_seen, n):
            entries[rule.third + i] = entries[at + i]
        at = rule.third
    for side in range(1 + (n_missing > 0)):
        value, i = scan(
            entries, at, n_seen, n_missing, missing_weight, side, m, weight, rule, costs, feature,
            here.lower - shift, here.upper - shift, sums, label, totals, tree, outputs, tie,
            best + tie,
        )  # fmt: skip
        if value > best + tie:
            best = value
            if points is not None:
                node.code, thresholds[here.node] = cut, threshold
                node.next_code = feature.n_codes if threshold != threshold else cut + NEXT
                node.missing_left = np.int64(missing_left) if some_missing else UNSEEN
            else:
                node.code = np.uint32(entries[at + i] >> HALF)
                node.next_code = feature.n_codes
                if i + 1 < n_seen:
                    node.next_code = np.uint32(entries[at + i + 1] >> HALF)
                node.missing_left = side if n_missing > 0 else UNSEEN
            if levels is not None and n_levels > 0:
                note_subset(levels, n_levels, node.code, words)
    return best, SEARCHED


@compiled(signatures=4, inner=True)
def put_in_order(
    codes, low, high, m, rule, sums, label, entries, at, counts, keys, tree, outputs
):  # fmt: skip
    """Write the entries of a node by code, added up where that pays, from `at` on; how many."""
    n, n_bins = np.int64(0), np.int64(high - low) + 1
    if label is None and outputs is None and bins_pay(rule, n_bins, m):
        n = bin_sum(codes, low, n_bins, m, sums, rule.bins, entries, at)
    elif label is not None and tree is None and bins_pay(rule, n_bins * rule.n_sums, m):
        n = bin_classes(
            codes, low, n_bins, rule.n_sums, m, sums, label, rule.bins, entries, at, rule.weighted,
            counts,
        )  # fmt: skip
    if n == 0:
        sort_codes(codes, low, high, m, entries, at, rule.second, counts, keys)
        n = m
    return n


@compiled(inner=True)
def bins_pay(rule, n_cells, m):
    """Whether to add up by code, not to sort; bins do not count rows, which a limit may ask for."""
    few = n_cells <= BINS_PER_ROW * m if m > ALL_PAIRS else 2 * n_cells <= m
    return few and rule.min_rows_leaf <= 1


@compiled(signatures=2, inner=True)
def set_missing_apart(entries, at, n, missing, classes, sums, label, totals):
    """The entries of missing values, which come last: their number and weight; sums in totals."""
    for k in range(totals.shape[1]):
        totals[MISSING, k] = 0.0
    n_missing, weight = 0, 0.0
    while n_missing < n and np.uint32(entries[at + n - 1 - n_missing] >> HALF) == missing:
        place = entries[at + n - 1 - n_missing] & LOW
        weight += sums[place, 0]
        if label is not None and classes:
            totals[MISSING, np.uint32(label[place])] += sums[place, 0]
        else:
            for k in range(totals.shape[1]):
                totals[MISSING, k] += sums[place, k + 1]
        n_missing += 1
    return n_missing, weight


@compiled(signatures=4, inner=True)
def scan(
    entries, at, n_seen, n_missing, missing_weight, side, m, weight, rule, costs, feature, lower,
    upper, sums, label, totals, tree, outputs, tie, bar,
):  # fmt: skip
    """The best threshold of entries in order, missing values on the right (0) or left (1) side.

    Returns its worth and the last entry on the left. What is not above `bar` does not count.
    """
    last = n_seen if n_missing > 0 and side == 0 else n_seen - 1
    if tree is not None:
        return scan_absolute(
            entries, at, n_seen, n_missing, last, sums, label, side, m, rule.min_rows_leaf,
            rule.min_weight_leaf, weight, feature.monotone, lower, upper, tie, tree,
        )  # fmt: skip
    if label is None and outputs is None:
        return scan_sum(
            entries, at, last, sums, weight, totals[NODE, 0], missing_weight * side,
            totals[MISSING, 0] * side, m, n_missing * side, rule.kind, rule.min_rows_leaf,
            rule.min_weight_leaf, rule.min_copies_leaf, rule.copies, totals[COPIES, 0], costs,
            feature.monotone, lower, upper, tie, bar,
        )  # fmt: skip
    return scan_sums(
        entries, at, last, sums, label, totals, missing_weight * side, weight, m, n_missing * side,
        rule.kind, rule.min_rows_leaf, rule.min_weight_leaf, rule.min_copies_leaf, costs, tie, bar,
    )  # fmt: skip
