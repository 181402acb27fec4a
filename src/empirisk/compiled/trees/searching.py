"""The best split of a node: over features, over thresholds, over the side of missing values.

Of splits that are equal to rounding (TIE of the node's impurity) the one of the first feature, then
of the lowest threshold, is taken, and missing values go to the right: so weights are like copies,
and the order of rows does not matter, though each rounds sums in its own way. A feature with one
value in a node has one value below it too, and is not looked at again.
"""

import numpy as np

from empirisk.compiled.decorator import compiled
from empirisk.compiled.streams import below
from empirisk.compiled.trees.absolute import scan_absolute
from empirisk.compiled.trees.binning import BINS_PER_ROW, bin_classes, bin_sum
from empirisk.compiled.trees.categories import note_subset, order_levels
from empirisk.compiled.trees.criteria import MISSING, NODE, REFUSED
from empirisk.compiled.trees.layout import UNSEEN
from empirisk.compiled.trees.many_sums import scan_sums
from empirisk.compiled.trees.one_sum import scan_sum
from empirisk.compiled.trees.ordering import ALL_PAIRS, HALF, LOW, gather, sort_codes
from empirisk.compiled.trees.presorting import is_constant, note_constant
from empirisk.compiled.trees.random_splits import draw_sides

ONE = np.uint64(1)
ON_LEFT, ON_RIGHT = np.uint32(0), np.uint32(1)
TIE = 1e-12


@compiled(signatures=6)
def search(
    small, medium, large, features, rule, costs, rows, start, m, place, constant, begin, key,
    weight, perfect, tie, lower, upper, points, point_at, codes, sums, label, totals, entries,
    counts, keys, drawn, tree, levels, means, words,
):  # fmt: skip
    """The best split of the node open at `place`; notes which features are constant there.

    `begin` is where the node begins in its block, -1 if it is in none. The search ends at a split
    of worth `perfect`: those of features before it were worse, and no other can be better.

    Returns the worth (-inf if there is no split), the feature, its codes on both sides of the
    threshold, the threshold if it was drawn, and the side of missing values. The levels of a
    category that go left are in `words`.
    """
    p = features.size
    family = rule.kind // 10
    best_threshold = np.nan
    best, best_f, best_code, best_next, best_missing = REFUSED, -1, np.uint32(0), np.uint32(0), 0
    useful = 0
    for step in range(p):
        f = step
        if rule.max_features < p:
            if step >= rule.max_features and useful > 0:
                break
            other = step + below(np.int64(key >> ONE), step, p - step)
            f = drawn[other]
            drawn[other], drawn[step] = drawn[step], f
        if is_constant(constant, place, f):
            continue
        at, n = rule.first, m
        if begin >= 0:
            at = f * rule.block + begin
            low, high = np.uint32(entries[at] >> HALF), np.uint32(entries[at + m - 1] >> HALF)
        else:
            low, high = gather(small, medium, large, features[f], rows, start, m, codes)
        if low == high:
            note_constant(constant, place, f)
            continue
        useful += 1
        n_missing, n_levels = 0, np.int64(0)
        missing_weight, some_missing = 0.0, high == features[f].n_codes
        if rule.random:
            cut, threshold, missing_left, n_levels = draw_sides(
                features[f], f, p, key, low, high, points, point_at, m, codes, levels
            )
            low, high = ON_LEFT, ON_RIGHT
        if begin < 0:
            n = enter_codes(rule, low, high, m, codes, sums, label, entries, counts, keys)
        if some_missing and not rule.random:
            n_missing, missing_weight = set_missing_apart(
                entries, at, n, high, family, sums, label, totals
            )
        n_seen = n - n_missing
        if levels is not None and features[f].category and not rule.random:
            n_levels = order_levels(
                entries, at, n_seen, rule.third, family == 1, sums, label, weight, totals, levels,
                means,
            )  # fmt: skip
            for i in range(n_seen, n):
                entries[rule.third + i] = entries[at + i]
            at = rule.third
        for side in range(1 + (n_missing > 0)):
            last = n_seen if n_missing > 0 and side == 0 else n_seen - 1
            if family == 0:
                worth, i = scan_sum(
                    entries, at, last, sums, weight, totals[NODE, 0], missing_weight * side,
                    totals[MISSING, 0] * side, m, n_missing * side, rule.kind, rule.min_rows_leaf,
                    rule.min_weight_leaf, costs, features[f].monotone, lower, upper, tie,
                )  # fmt: skip
            elif tree is None or family < 3:
                worth, i = scan_sums(
                    entries, at, last, sums, label, totals, missing_weight * side, weight,
                    m, n_missing * side, rule.kind, rule.min_rows_leaf, rule.min_weight_leaf, costs,
                    tie,
                )  # fmt: skip
            else:
                worth, i = scan_absolute(
                    entries, at, n_seen, n_missing, last, sums, label, side, m, rule.min_rows_leaf,
                    rule.min_weight_leaf, weight, tie, tree,
                )  # fmt: skip
            if worth > best + tie or (worth >= best - tie and worth > REFUSED and f < best_f):
                best, best_f = worth, f
                if rule.random:
                    best_code, best_threshold = cut, threshold
                    best_next = features[f].n_codes if threshold != threshold else cut + ON_RIGHT
                    best_missing = np.int64(missing_left) if some_missing else UNSEEN
                else:
                    best_code = np.uint32(entries[at + i] >> HALF)
                    best_next = features[f].n_codes
                    if i + 1 < n_seen:
                        best_next = np.uint32(entries[at + i + 1] >> HALF)
                    best_missing = side if n_missing > 0 else UNSEEN
                if levels is not None and n_levels > 0:
                    note_subset(levels, n_levels, best_code, words)
        if best >= perfect - tie and rule.max_features >= p:
            break
    if rule.max_features < p:
        for j in range(p):
            drawn[j] = j
    return best, best_f, best_code, best_next, best_threshold, best_missing


@compiled
def enter_codes(rule, low, high, m, codes, sums, label, entries, counts, keys):
    """Entries of a node that is in no block, by bins or by sorting; returns their number."""
    family = rule.kind // 10
    n_bins = np.int64(high - low) + 1
    n_cells = n_bins * rule.n_sums if family == 1 else n_bins
    few = n_cells <= BINS_PER_ROW * m if m > ALL_PAIRS else 2 * n_cells <= m
    if few and family == 0 and rule.min_rows_leaf <= 1:
        return bin_sum(codes, low, n_bins, m, sums, rule.bins, entries, rule.first)
    if few and family == 1 and rule.min_rows_leaf <= 1:
        return bin_classes(
            codes, low, n_bins, rule.n_sums, m, sums, label, rule.bins, entries, rule.first
        )
    sort_codes(codes, low, high, m, entries, rule.first, rule.second, counts, keys)
    return m


@compiled
def set_missing_apart(entries, at, n, missing, family, sums, label, totals):
    """The entries of missing values, which come last: their number and weight; sums in totals."""
    for k in range(totals.shape[1]):
        totals[MISSING, k] = 0.0
    n_missing, weight = 0, 0.0
    while n_missing < n and np.uint32(entries[at + n - 1 - n_missing] >> HALF) == missing:
        place = entries[at + n - 1 - n_missing] & LOW
        weight += sums[place, 0]
        if family == 1:
            totals[MISSING, np.uint32(label[place])] += sums[place, 0]
        else:
            for k in range(totals.shape[1]):
                totals[MISSING, k] += sums[place, k + 1]
        n_missing += 1
    return n_missing, weight
