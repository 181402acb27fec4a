"""The best split of a node: over features, over thresholds, over the side of missing values.

Of splits that are equal to rounding (TIE of the node's impurity) the one of the first feature, then
of the lowest threshold, is taken, and missing values go to the right: so weights are like copies,
and the order of rows does not matter, though each rounds sums in its own way. Where features are
drawn, the first is the one that was drawn first: in small nodes many splits are equal, and all
trees of a forest would take the first columns of the table. A feature with one value in a node has
one value below it too, and is not looked at again.
"""

import numpy as np

from empirisk.compiled.decorator import compiled
from empirisk.compiled.streams import GOLDEN, scramble
from empirisk.compiled.trees.absolute import scan_absolute
from empirisk.compiled.trees.binning import BINS_PER_ROW, bin_classes, bin_sum
from empirisk.compiled.trees.categories import note_subset, order_levels
from empirisk.compiled.trees.cells import (
    AT_ONCE,
    CONSTANT,
    NONE,
    SEARCHED,
    fill_next,
    has_few_cells,
    search_cells,
)
from empirisk.compiled.trees.criteria import COPIES, MISSING, NODE, REFUSED
from empirisk.compiled.trees.layout import UNSEEN
from empirisk.compiled.trees.many_sums import scan_sums
from empirisk.compiled.trees.one_sum import scan_sum
from empirisk.compiled.trees.ordering import ALL_PAIRS, HALF, LOW, gather, sort_codes
from empirisk.compiled.trees.presorting import is_constant, note_constant
from empirisk.compiled.trees.random_splits import draw_sides

ONE = np.uint64(1)
ON_LEFT, ON_RIGHT = np.uint32(0), np.uint32(1)
NEXT = np.uint32(1)
TIE = 1e-12


# One long function: with the part for a single feature in a function of its own, forests of
# regression trees took 1.12 s for 0.65 (California housing, 100 trees).
@compiled(signatures=16, inner=True)
def search(
    small, medium, large, features, points, thresholds, rule, costs, rows, here, node, begin, worth,
    shift, constant, codes, sums, label, totals, entries, counts, keys, drawn, tree, levels, means,
    words, outputs, cells, lines,
):  # fmt: skip
    """Write the best split of an open node into its record; returns whether there is one.

    `begin` is where the node begins in its block, -1 if it is in none; `worth` is what it is worth
    unsplit, `shift` what was taken off its values. The search ends at a perfect split: those of
    features before it were worse, and no other can be better. Features that are constant in the
    node are noted. The levels of a category that go left are in `words`.
    """
    p, start, m, weight = features.size, here.start, here.end - here.start, node.weight
    tie = TIE * weight * node.impurity + rule.rounding * abs(worth)
    perfect = worth + weight * node.impurity / rule.gain_scale
    lower, upper = here.lower - shift, here.upper - shift
    best, best_f = REFUSED, -1
    useful, n_drawn = 0, p
    if rule.shuffled:
        n_drawn = min(rule.max_features, p)
        draw_features(drawn, here.key, np.int64(0), n_drawn)
    K, n_filled, n_used = np.uint64(totals.shape[1]), NONE, NONE
    for step in range(p):
        if step >= rule.max_features and useful > 0:
            break
        if step >= n_drawn:
            draw_features(drawn, here.key, step, step + 1)
        f = drawn[step]
        if is_constant(constant, here.place, f):
            continue
        by_cells = cells is not None and begin < 0 and points is None
        if by_cells and has_few_cells(features[f], rule, K, m):
            if n_used == n_filled:
                n_used = NONE
                n_filled = fill_next(
                    small, lines, features, rule, rows, here, constant, drawn, step,
                    max(n_drawn, step + 1), sums, label, K, cells,
                )  # fmt: skip
            value, code, following, told = search_cells(
                cells[n_used * (np.uint64(cells.size) // AT_ONCE) :], features[f].n_codes, totals,
                weight, rule.min_weight_leaf, tie, best + tie,
            )  # fmt: skip
            n_used += ONE
            if told == CONSTANT:
                note_constant(constant, here.place, f)
                continue
            if told == SEARCHED:
                useful += 1
                if value > best + tie:
                    best, best_f = value, f
                    node.code, node.next_code = np.uint32(code), np.uint32(following)
                    node.missing_left = UNSEEN
                if best >= perfect - tie:
                    break
                continue
        at, n = rule.first, m
        if begin >= 0:
            at = (here.half * p + f) * rule.block + begin
            low, high = np.uint32(entries[at] >> HALF), np.uint32(entries[at + m - 1] >> HALF)
        else:
            low, high = gather(small, medium, large, features[f], rows, start, m, codes)
        if low == high:
            note_constant(constant, here.place, f)
            continue
        useful += 1
        n_missing, n_levels = 0, np.int64(0)
        missing_weight, some_missing = 0.0, high == features[f].n_codes
        if points is not None:
            cut, threshold, missing_left, n_levels = draw_sides(
                features[f], f, p, here.key, low, high, points, m, codes, levels
            )
            low, high = ON_LEFT, ON_RIGHT
        if begin < 0:
            n = np.int64(0)
            n_bins = np.int64(high - low) + 1
            if label is None and outputs is None and bins_pay(rule, n_bins, m):
                n = bin_sum(codes, low, n_bins, m, sums, rule.bins, entries, at)
            elif label is not None and tree is None and bins_pay(rule, n_bins * rule.n_sums, m):
                n = bin_classes(
                    codes,
                    low,
                    n_bins,
                    rule.n_sums,
                    m,
                    sums,
                    label,
                    rule.bins,
                    entries,
                    at,
                    rule.weighted,
                    counts,
                )
            if n == 0:
                sort_codes(codes, low, high, m, entries, at, rule.second, counts, keys)
                n = m
        if some_missing and points is None:
            n_missing, missing_weight = set_missing_apart(
                entries, at, n, high, tree is None, sums, label, totals
            )
        n_seen = n - n_missing
        if levels is not None and features[f].category and points is None:
            n_levels = order_levels(
                entries, at, n_seen, rule.third, tree is None, sums, label, weight, totals, levels,
                means,
            )  # fmt: skip
            for i in range(n_seen, n):
                entries[rule.third + i] = entries[at + i]
            at = rule.third
        for side in range(1 + (n_missing > 0)):
            last = n_seen if n_missing > 0 and side == 0 else n_seen - 1
            bar = best + tie  # what is not above it does not count
            if tree is not None:
                value, i = scan_absolute(
                    entries, at, n_seen, n_missing, last, sums, label, side, m, rule.min_rows_leaf,
                    rule.min_weight_leaf, weight, features[f].monotone, lower, upper, tie, tree,
                )  # fmt: skip
            elif label is None and outputs is None:
                value, i = scan_sum(
                    entries, at, last, sums, weight, totals[NODE, 0], missing_weight * side,
                    totals[MISSING, 0] * side, m, n_missing * side, rule.kind, rule.min_rows_leaf,
                    rule.min_weight_leaf, rule.min_copies_leaf, rule.copies, totals[COPIES, 0],
                    costs, features[f].monotone, lower, upper, tie, bar,
                )  # fmt: skip
            else:
                value, i = scan_sums(
                    entries, at, last, sums, label, totals, missing_weight * side, weight,
                    m, n_missing * side, rule.kind, rule.min_rows_leaf, rule.min_weight_leaf,
                    rule.min_copies_leaf, costs, tie, bar,
                )  # fmt: skip
            if value > best + tie:
                best, best_f = value, f
                if points is not None:
                    node.code, thresholds[here.node] = cut, threshold
                    node.next_code = features[f].n_codes if threshold != threshold else cut + NEXT
                    node.missing_left = np.int64(missing_left) if some_missing else UNSEEN
                else:
                    node.code = np.uint32(entries[at + i] >> HALF)
                    node.next_code = features[f].n_codes
                    if i + 1 < n_seen:
                        node.next_code = np.uint32(entries[at + i + 1] >> HALF)
                    node.missing_left = side if n_missing > 0 else UNSEEN
                if levels is not None and n_levels > 0:
                    note_subset(levels, n_levels, node.code, words)
        if best >= perfect - tie:
            break
    if rule.shuffled:
        for j in range(p):
            drawn[j] = j
    if best == REFUSED or best - worth < rule.min_gain:
        return False
    node.feature, node.gain = best_f, best - worth if best > worth else 0.0
    return True


@compiled(inner=True)
def draw_features(drawn, key, first, end):
    """Let drawn[first:end] be drawn, without replacement, from those that are not drawn yet.

    The key is a hash, from which SplitMix64 goes on: a draw is the high half of a word times the
    number of features, its chance off by less than one in 2^32. The first two words are the keys
    of the two sides.
    """
    for step in range(first, end):
        word = np.uint64(scramble(key + GOLDEN * np.uint64(step + 3)))
        left = np.uint64(drawn.size - step)
        other = step + np.int64(((word >> HALF) * left) >> HALF)
        drawn[other], drawn[step] = drawn[step], drawn[other]


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
