"""The best split of a node: over features, over thresholds, over the side of missing values.

Of equal splits the one of the first feature, then of the lowest threshold, is taken, and missing
values go to the right. A feature with one value in a node has one value below it too, and is not
looked at again.
"""

import numpy as np

from empirisk.compiled.decorator import compiled
from empirisk.compiled.streams import below
from empirisk.compiled.trees.binning import BINS_PER_ROW, bin_classes, bin_sum
from empirisk.compiled.trees.classes import scan_classes
from empirisk.compiled.trees.criteria import REFUSED
from empirisk.compiled.trees.layout import UNSEEN
from empirisk.compiled.trees.one_sum import scan_monotone, scan_sum
from empirisk.compiled.trees.ordering import ALL_PAIRS, HALF, LOW, gather, sort_codes
from empirisk.compiled.trees.presorting import is_constant, note_constant

ONE = np.uint64(1)


@compiled
def search(
    small, medium, large, features, rule, costs, rows, start, m, place, constant, begin, key, weight,
    lower, upper, codes, sums, label, totals, entries, counts, keys, drawn,
):  # fmt: skip
    """The best split of the node open at `place`; notes which features are constant there.

    `begin` is where the node begins in its block, -1 if it is in none. Returns the worth (-inf if
    there is no split), the feature, its codes on both sides of the threshold, and the side of
    missing values.
    """
    p = features.size
    family = rule.kind // 10
    best, best_f, best_code, best_next, best_missing = REFUSED, -1, np.uint32(0), np.uint32(0), 0
    drawing = rule.max_features < p
    useful = 0
    for step in range(p):
        f = step
        if drawing:
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
        else:
            low, high = gather(small, medium, large, features[f], rows, start, m, codes)
            n_bins = (np.int64(high - low) + 1) * (rule.n_sums if family == 1 else 1)
            few = n_bins <= BINS_PER_ROW * m if m > ALL_PAIRS else 2 * n_bins <= m
            if low == high:
                note_constant(constant, place, f)
                continue
            if not few or family > 1 or rule.min_rows_leaf > 1:
                sort_codes(codes, low, high, m, entries, at, rule.second, counts, keys)
            elif family == 0:
                n = bin_sum(codes, low, n_bins, m, sums, rule.bins, entries, at)
            else:
                n_bins = np.int64(high - low) + 1
                n = bin_classes(
                    codes, low, n_bins, rule.n_sums, m, sums, label, rule.bins, entries, at
                )
        highest = np.uint32(entries[at + n - 1] >> HALF)
        if np.uint32(entries[at] >> HALF) == highest:
            note_constant(constant, place, f)
            continue
        useful += 1
        n_missing, missing_weight = 0, 0.0
        if highest == features[f].n_codes:
            n_missing, missing_weight = set_missing_apart(
                entries, at, n, highest, family, sums, label, totals
            )
        n_seen = n - n_missing
        for from_missing in range(1 + (n_missing > 0)):
            last = n_seen if n_missing > 0 and from_missing == 0 else n_seen - 1
            left_rows = n_missing * from_missing
            if family == 0 and rule.bounded == 0:
                worth, i = scan_sum(
                    entries, at, n_seen, last, sums, weight, totals[0, 0],
                    missing_weight * from_missing, totals[1, 0] * from_missing, m, left_rows,
                    rule.kind, rule.min_rows_leaf, rule.min_weight_leaf, costs,
                )  # fmt: skip
            elif family == 0:
                worth, i = scan_monotone(
                    entries, at, n_seen, last, sums, weight, totals[0, 0],
                    missing_weight * from_missing, totals[1, 0] * from_missing, m, left_rows,
                    rule.kind, rule.min_rows_leaf, rule.min_weight_leaf, costs,
                    features[f].monotone, lower, upper,
                )  # fmt: skip
            else:
                worth, i = scan_classes(
                    entries, at, n_seen, last, sums, label, totals, from_missing, weight, m,
                    left_rows, rule.kind, rule.min_rows_leaf, rule.min_weight_leaf, costs,
                )  # fmt: skip
            if worth > best or (worth == best and worth > REFUSED and f < best_f):
                best, best_f = worth, f
                best_code = np.uint32(entries[at + i] >> HALF)
                best_next = features[f].n_codes
                if i + 1 < n_seen:
                    best_next = np.uint32(entries[at + i + 1] >> HALF)
                best_missing = from_missing if n_missing > 0 else UNSEEN
    if drawing:
        for j in range(p):
            drawn[j] = j
    return best, best_f, best_code, best_next, best_missing


@compiled
def set_missing_apart(entries, at, n, missing, family, sums, label, totals):
    """The entries of missing values, which come last: their number, and their sums in totals[1]."""
    for k in range(totals.shape[1]):
        totals[1, k] = 0.0
    n_missing, weight = 0, 0.0
    while n_missing < n and np.uint32(entries[at + n - 1 - n_missing] >> HALF) == missing:
        place = entries[at + n - 1 - n_missing] & LOW
        weight += sums[place, 0]
        if family == 1:
            totals[1, np.uint32(label[place])] += sums[place, 0]
        else:
            for k in range(totals.shape[1]):
                totals[1, k] += sums[place, k + 1]
        n_missing += 1
    return n_missing, weight
