"""The best split of a node when each side has a ridge model of its own.

Rows are added to the left side in the order of a feature; the right side is the rest. At a cut the
errors of both sides' models follow from their sums, missing values at the means of each side. A
feature with many values is cut at quantiles first; the caller then looks at all cuts between the
neighbours of the best one.
"""

import numpy as np

from empirisk.compiled.decorator import compiled
from empirisk.compiled.trees.categories import note_subset, order_levels
from empirisk.compiled.trees.criteria import NODE
from empirisk.compiled.trees.layout import UNSEEN
from empirisk.compiled.trees.linear_gaps import add_gaps, at_own_means, combine_gaps
from empirisk.compiled.trees.linear_sums import add_rows, clear, combine, mean_error, model_error
from empirisk.compiled.trees.ordering import HALF, LOW, gather, sort_codes

LINEAR_RULES = np.dtype(
    [
        ("alpha", np.float64),
        ("min_rows_leaf", np.float64),  # a row counts as its copies
        ("min_weight_leaf", np.float64),
        ("min_rows_model", np.float64),  # a side with fewer has the mean
        ("max_bins", np.int64),
    ],
    align=True,
)

SPLIT = np.dtype(
    [
        ("error", np.float64),  # of both sides
        ("tie", np.float64),  # errors that differ by less are equal
        ("feature", np.int64),  # -1: none
        ("code", np.uint32),
        ("next_code", np.uint32),
        ("missing_left", np.int64),
        ("cut", np.int64),  # rows on the left, without missing ones
        ("before", np.int64),  # the cuts next to it: the best of all lies between them
        ("after", np.int64),
        ("coarse", np.int64),  # 1 where there are further cuts between them
    ],
    align=True,
)


@compiled(signatures=2)
def search_linear(
    small, medium, large, features, first, last, window, rows, design, weight, copies, coef, rules,
    splits, sums, holes, gaps, centre, size, matrix, column, codes, entries, counts, keys, cuts,
    levels, means, products, totals, words,
):  # fmt: skip
    """Look for a better split than splits[0] by the features first..last - 1; writes it there.

    window
        Only cuts from window[0] to window[1] rows on the left are looked at, window[2] surely.
    sums
        Those of the node, room for both sides, those of the rows with a missing value, and room.
    holes
        (starts, holes, columns): which values of the columns of the models are missing.
    gaps
        Beside each of the first five sums, what `add_gaps` adds up.
    levels
        None without categories: what they need is then not compiled.
    """
    rule, split, m = rules[0], splits[0], rows.size
    for f in range(first, last):
        low, high = gather(small, medium, large, features[f], rows, np.int64(0), m, codes)
        if low == high:
            continue
        sort_codes(codes, low, high, m, entries, np.int64(0), m, counts, keys)
        n_seen = m
        if high == features[f].n_codes:
            while np.uint32(entries[n_seen - 1] >> HALF) == high:
                n_seen -= 1
        at, n_levels = np.int64(0), np.int64(0)
        if levels is not None and features[f].category:
            n_levels = order_by_gradient(
                design, weight, coef, sums[0], entries, n_seen, 2 * m, levels, means, products,
                totals,
            )  # fmt: skip
            for i in range(n_seen, m):
                entries[2 * m + i] = entries[i]
            at = np.int64(2 * m)
        missing_weight, missing_copies, total_copies = 0.0, 0.0, 0.0
        for i in range(m):
            total_copies += copies[i]
        if n_seen < m:
            clear(sums[3])
            clear(gaps[3])
            add_side(design, weight, entries, at + n_seen, at + m, holes, sums[3], gaps[3])
            for i in range(n_seen, m):
                missing_weight += weight[entries[at + i] & LOW]
                missing_copies += copies[entries[at + i] & LOW]
        n_cuts, thinned = choose_cuts(
            entries, at, n_seen, m, window, weight, copies, missing_weight, missing_copies,
            sums[0, 0, 0], total_copies, rule, cuts,
        )  # fmt: skip
        k, to_left = scan_cuts(
            entries, at, n_seen, m, cuts, n_cuts, design, weight, copies, missing_weight,
            missing_copies, total_copies, coef, rule, split, sums, holes, gaps, centre, size,
            matrix, column,
        )  # fmt: skip
        if k < 0:
            continue
        i = cuts[k]
        split.feature = f
        split.code = np.uint32(entries[at + i - 1] >> HALF)
        split.next_code = features[f].n_codes
        if i < n_seen:
            split.next_code = np.uint32(entries[at + i] >> HALF)
        split.missing_left = to_left if n_seen < m else UNSEEN
        split.cut = i
        split.before, split.after = cuts[max(k - 1, 0)], cuts[min(k + 1, n_cuts - 1)]
        split.coarse = thinned
        if levels is not None and n_levels > 0:
            note_subset(levels, n_levels, split.code, words)


@compiled(inner=True)
def choose_cuts(
    entries, at, n_seen, m, window, weight, copies, missing_weight, missing_copies, total,
    total_copies, rule, cuts,
):  # fmt: skip
    """Numbers of rows on the left at which the feature may be cut; how many, and if thinned.

    All of them if they are at most `max_bins`, else about so many, at steps of weight and of number
    (one heavy value must not hide the others), the first, the last and window[2] among them. With
    missing values the right side may have none of the others.
    """
    end = n_seen if n_seen < m else n_seen - 1
    count, left, first_left, last_left, rows_left = 0, 0.0, 0.0, 0.0, 0.0
    for i in range(1, end + 1):
        left += weight[entries[at + i - 1] & LOW]
        rows_left += copies[entries[at + i - 1] & LOW]
        many = rows_left + missing_copies >= rule.min_rows_leaf
        many = many and total_copies - rows_left >= rule.min_rows_leaf
        if many and is_cut(entries, at, i, n_seen, left, missing_weight, total, window, rule):
            if count < rule.max_bins:
                cuts[count] = i
            if count == 0:
                first_left = left
            count += 1
            last_left = left
    if count <= rule.max_bins:
        return np.int64(count), np.int64(0)
    half = rule.max_bins // 2 - 1
    step, steps = (last_left - first_left) / half, count // half
    chosen, left, wanted, since, last_cut, rows_left = 0, 0.0, 0.0, 0, 0, 0.0
    for i in range(1, end + 1):
        left += weight[entries[at + i - 1] & LOW]
        rows_left += copies[entries[at + i - 1] & LOW]
        many = rows_left + missing_copies >= rule.min_rows_leaf
        many = many and total_copies - rows_left >= rule.min_rows_leaf
        if many and is_cut(entries, at, i, n_seen, left, missing_weight, total, window, rule):
            last_cut = i
            since += 1
            if chosen == 0 or left >= wanted or since >= steps or i == window[2]:
                cuts[chosen] = i
                chosen += 1
                wanted, since = left + step, 0
    if cuts[chosen - 1] != last_cut:
        cuts[chosen] = last_cut
        chosen += 1
    return np.int64(chosen), np.int64(1)


@compiled(inner=True)
def is_cut(entries, at, i, n_seen, left, missing_weight, total, window, rule):
    """Whether rows with other values follow the first i, and neither side must be too light."""
    if i < window[0] or i > window[1]:
        return False
    if i < n_seen and (entries[at + i - 1] >> HALF) == (entries[at + i] >> HALF):
        return False
    light = left + missing_weight < rule.min_weight_leaf or total - left < rule.min_weight_leaf
    return not light


@compiled(inner=True)
def scan_cuts(
    entries, at, n_seen, m, cuts, n_cuts, design, weight, copies, missing_weight, missing_copies,
    total_copies, coef, rule, split, sums, holes, gaps, centre, size, matrix, column,
):  # fmt: skip
    """The best of the cuts and the side of missing values; -1 if `split` is as good."""
    whole, right = sums[0], sums[2]
    clear(sums[1])
    clear(gaps[1])
    best, best_side, i, left_weight = np.int64(-1), np.int64(0), np.int64(0), 0.0
    seen_copies = 0.0
    for k in range(n_cuts):
        add_side(design, weight, entries, at + i, at + cuts[k], holes, sums[1], gaps[1])
        while i < cuts[k]:
            left_weight += weight[entries[at + i] & LOW]
            seen_copies += copies[entries[at + i] & LOW]
            i += 1
        for side in range(1 + (n_seen < m and i < n_seen)):
            rows_left = seen_copies + side * missing_copies
            rows_right = total_copies - rows_left
            on_left = left_weight + side * missing_weight
            on_right = whole[0, 0] - on_left
            few = min(rows_left, rows_right) < rule.min_rows_leaf
            if few or min(on_left, on_right) < rule.min_weight_leaf:
                continue
            left, left_gaps = sums[1], gaps[1]
            if side == 1:
                left, left_gaps = sums[4], gaps[4]
                combine(sums[1], sums[3], 1.0, left)
                combine_gaps(gaps[1], gaps[3], 1.0, left_gaps)
            combine(whole, left, -1.0, right)
            combine_gaps(gaps[0], left_gaps, -1.0, gaps[2])
            n_left = i + side * (m - n_seen)
            error = side_error(
                left, left, left_gaps, holes[2], n_left, rows_left, coef, rule, centre, sums[5],
                size, matrix, column,
            )  # fmt: skip
            if error < split.error - split.tie:
                error += side_error(
                    right, whole, gaps[2], holes[2], m - n_left, rows_right, coef, rule, centre,
                    sums[5], size, matrix, column,
                )  # fmt: skip
            if error < split.error - split.tie:
                split.error = error
                best, best_side = np.int64(k), np.int64(side)
    return best, best_side


@compiled(inner=True)
def add_side(design, weight, entries, begin, end, holes, sums, gaps):
    """Add the rows of entries[begin:end] to the sums of a side, and to its gaps."""
    add_rows(design, weight, entries, begin, end, sums)
    if gaps.shape[0] > 0:
        add_gaps(design, weight, entries, begin, end, holes[0], holes[1], gaps)


@compiled(inner=True)
def side_error(
    sums, source, gaps, columns, n_rows, copies, coef, rule, centre, moved, size, matrix, column
):
    """The penalised error of a side with its own model, or with the mean if it is small.

    source
        The sums that these were taken from: what was subtracted has rounding errors of their size.
    """
    if copies < rule.min_rows_model:
        return mean_error(sums, coef)
    own = sums
    if gaps.shape[0] > 0:
        own = moved
        at_own_means(sums, gaps, columns, n_rows, coef, centre, column, own)
    for c in range(size.size):
        size[c] = max(source[c, c], own[c, c]) + (rule.alpha if c > 0 else 0.0)
    return model_error(own, size, coef, rule.alpha, matrix, column)


@compiled(inner=True)
def order_by_gradient(
    design, weight, coef, whole, entries, n, third, levels, means, products, totals
):
    """Put the levels of a category in the order of how their rows would change the model.

    The gradient of the squared error of a row by a and B is r times [1, z]: levels with like means
    of it want like models. They are ordered by its first principal component.
    """
    n_outputs, p = coef.shape
    clear(totals)
    for i in range(n):
        place = entries[i] & LOW
        w = weight[place]
        products[place, 0] = w
        at = 1
        for k in range(n_outputs):
            r = w * design[place, 1 + p + k]
            products[place, at] = r
            at += 1
            for j in range(p):
                spread = np.sqrt(whole[1 + j, 1 + j] / whole[0, 0])
                products[place, at] = r * design[place, 1 + j] / spread if spread > 0.0 else 0.0
                at += 1
        for c in range(1, at):
            totals[NODE, c - 1] += products[place, c]
    seen = 0.0
    for i in range(n):
        seen += products[entries[i] & LOW, 0]
    return order_levels(
        entries, np.int64(0), n, np.int64(third), np.bool_(False), products, None, seen, totals,
        levels, means,
    )  # fmt: skip
