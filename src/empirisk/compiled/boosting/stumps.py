"""The best split of all rows into two sides, again and again with other weights.

Rows are ordered by class, those of the first one first. Each feature is cut once into up to 255
bins of its sorted rows. A round adds up the weights of each bin and class. What two sides are worth
is a convex function of the weights of the classes on the left (all impurities are concave), so that
no split within a bin is worth more than a bound by its weights: of two classes, the best of the
four corners, nothing of the bin on the left, all of it, or all of one class. Only bins whose bound
reaches the best split at an edge are gone through row by row: the split that is found is that of a
tree that looks at all of them (`compiled.trees.searching`), equal splits included. More than two
classes are in `class_stumps`.
"""

import numpy as np

from empirisk.compiled.boosting.class_stumps import search_classes, survey_classes
from empirisk.compiled.boosting.split_terms import (
    CODE,
    FEATURE,
    GAIN,
    LAST,
    MISSING_LEFT,
    N_LEFT,
    ROW,
    SLACK,
    START,
    THRESHOLD,
    TINY,
    WORTH,
)
from empirisk.compiled.decorator import compiled
from empirisk.compiled.trees.criteria import GINI_TWO, REFUSED, worth_of_sum
from empirisk.compiled.trees.finishing import half_way
from empirisk.compiled.trees.layout import UNSEEN
from empirisk.compiled.trees.ordering import gather
from empirisk.compiled.trees.searching import TIE

MOST_BINS = 255  # beside the one of missing values: numbers of bins have eight bits
ONE = np.uint32(1)


@compiled
def bin_rows(small, medium, large, features, rows, first, order, bins, ends, n_bins, fine):
    """Sort the rows by features first, first + 1, ... and cut them into bins, codes kept together.

    order[f, i] = the number of the row that comes i-th, missing values last, with the mark LAST if
    the next one has another code; bins[f, r] = the bin of row r; bin b ends before
    order[f, ends[f, b]]; n_bins[f] is the bin of missing values. fine[f] says whether each bin is
    one code.
    """
    n = rows.size
    codes = np.empty(n, np.uint32)
    for f in range(order.shape[0]):
        feature = features[first + f]
        gather(small, medium, large, feature, rows, START, n, codes)
        counts = np.zeros(np.int64(feature.n_codes) + 2, np.uint32)
        for i in range(n):
            counts[codes[i] + ONE] += ONE
        n_seen = n - np.int64(counts[feature.n_codes + ONE])
        n_bins[f], fine[f] = cut(counts[1:-1], n_seen, ends[f])
        for c in range(1, counts.size):
            counts[c] += counts[c - 1]
        for i in range(n):
            order[f, counts[codes[i]]] = i
            counts[codes[i]] += ONE
        for c in range(counts.size - 1):  # counts[c] is where the rows of code c end by now
            if counts[c] > 0 and (c == 0 or counts[c] > counts[c - 1]):
                order[f, counts[c] - ONE] |= LAST
        for i in range(n_seen, n):
            bins[f, order[f, i] & ROW] = n_bins[f]
        start = 0
        for b in range(n_bins[f]):
            for i in range(start, ends[f, b]):
                bins[f, order[f, i] & ROW] = b
            start = ends[f, b]


@compiled(inner=True)
def cut(counts, n, ends):
    """Where bins of codes end that have so many rows each: their number, and if each is one code.

    Codes are cut where a share 1/255, 2/255, ... of all rows is passed; each is a bin where they
    are no more.
    """
    distinct = 0
    for c in range(counts.size):
        distinct += counts[c] > 0
    fine = distinct <= MOST_BINS
    n_bins, passed, share = 0, 0, 1
    for c in range(counts.size):
        passed += np.int64(counts[c])
        if counts[c] > 0 and (fine or passed * MOST_BINS >= share * n):
            ends[n_bins] = passed
            n_bins += 1
            share = passed * MOST_BINS // max(n, 1) + 1
    return n_bins, fine


@compiled
def weigh_bins(bins, weights, starts, n_bins, fine, kind, costs, totals, cells, reach, ceiling):
    """cells[f, k, b] = the weight of the rows of class k in bin b of feature f, and their splits.

    reach[f] is the best worth of a split between bins, ceiling[f] one that no split exceeds. The
    rows of class k begin at starts[k].
    """
    p, K = bins.shape[0], totals.size
    for f in range(p):
        for k in range(K):
            for b in range(n_bins[f] + 1):
                cells[f, k, b] = 0.0
    for f in range(0, p - 1, 2):  # two at a time: sums in different places need not wait
        for k in range(K):
            add_two(
                bins[f], bins[f + 1], weights, starts[k], starts[k + 1], cells[f, k],
                cells[f + 1, k],
            )  # fmt: skip
    if p % 2 == 1:
        for k in range(K):
            add_one(bins[p - 1], weights, starts[k], starts[k + 1], cells[p - 1, k])
    left = np.empty(K)
    for f in range(p):
        if K == 2:
            reach[f], ceiling[f] = survey(cells[f], n_bins[f], fine[f], kind, costs, totals)
        else:
            reach[f], ceiling[f] = survey_classes(cells[f], n_bins[f], fine[f], totals, left)


@compiled(inner=True)
def add_two(bins, others, weights, start, end, cells, other_cells):
    """Add the weights of some rows to their bins of two features."""
    for i in range(np.uint64(start), np.uint64(end)):
        w = weights[i]
        cells[bins[i]] += w
        other_cells[others[i]] += w


@compiled(inner=True)
def add_one(bins, weights, start, end, cells):
    """Add the weights of some rows to their bins of a feature."""
    for i in range(np.uint64(start), np.uint64(end)):
        cells[bins[i]] += weights[i]


@compiled(inner=True)
def sides(kind, left, left_sum, weight, total, costs):
    """What the two sides of a split are worth; a side without weight is worth nothing.

    `left` is the weight on the left, `left_sum` that of the second class.
    """
    right, right_sum = weight - left, total - left_sum
    if kind == GINI_TWO and left >= TINY and right >= TINY:
        squares = left_sum * left_sum * right + right_sum * right_sum * left
        return squares / (left * right)
    worth = 0.0
    if left >= TINY:
        worth += worth_of_sum(kind, left, left_sum, total, costs)
    if right >= TINY:
        worth += worth_of_sum(kind, right, right_sum, total, costs)
    return worth


@compiled(inner=True)
def survey(cells, n_bins, fine, kind, costs, totals):
    """The best worth of a split between the bins of a feature, and one that no split exceeds."""
    weight, total = totals[0] + totals[1], totals[1]
    missing = cells[0, n_bins] + cells[1, n_bins]
    reach, ceiling = REFUSED, REFUSED
    for side in range(1 + (missing > 0.0)):
        left, left_sum = 0.0, 0.0
        if side == 1:
            left, left_sum = missing, cells[1, n_bins]
        for b in range(n_bins):
            zero, one = cells[0, b], cells[1, b]
            if not fine:
                ceiling = max(ceiling, sides(kind, left + zero, left_sum, weight, total, costs))
                ceiling = max(
                    ceiling, sides(kind, left + one, left_sum + one, weight, total, costs)
                )
            left, left_sum = left + zero + one, left_sum + one
            if b == n_bins - 1 and (side == 1 or missing == 0.0):
                break
            if left >= TINY and weight - left >= TINY:
                reach = max(reach, sides(kind, left, left_sum, weight, total, costs))
    return reach, max(reach, ceiling)


@compiled
def find_split(
    small, medium, large, features, points, rows, order, ends, n_bins, fine, kind, costs, weights,
    starts, labels, totals, gain_scale, cells, reach, ceiling, split,
):  # fmt: skip
    """Write the best split of all features, of which one has two values at least.

    Of splits that are equal to rounding the one of the first feature, then of the lowest threshold,
    is taken, and missing values go right. `labels` are the classes of the rows.
    """
    two, weight, squares = totals.size == 2, 0.0, 0.0
    for k in range(totals.size):
        weight += totals[k]
        squares += totals[k] * totals[k]
    if two:
        unsplit = worth_of_sum(kind, weight, totals[1], totals[1], costs)
        whole = weight * impurity_of(kind, weight, totals[1], costs)
    else:
        unsplit = squares / weight
        whole = weight - unsplit
    tie = TIE * whole
    split[WORTH] = REFUSED
    aim = REFUSED
    for f in range(n_bins.size):
        aim = max(aim, reach[f])
    left, room = np.empty(totals.size), np.empty(totals.size)
    for f in range(n_bins.size):
        if ceiling[f] < aim - SLACK * tie:
            continue
        last, side = START, START
        if two:
            last, side = search_feature(
                order[f], ends[f], n_bins[f], fine[f], kind, costs, weights, starts[1], weight,
                totals[1], cells[f], tie, aim, split,
            )  # fmt: skip
        else:
            last, side = search_classes(
                order[f], ends[f], n_bins[f], fine[f], weights, labels, totals, left, room,
                cells[f], tie, aim, split,
            )  # fmt: skip
        if last >= 0:
            missing = ends[f, n_bins[f] - 1] < order.shape[1]
            note(small, medium, large, features, points, rows, f, order[f], last, side, missing,
                 split)  # fmt: skip
    split[GAIN] = max(split[WORTH] - unsplit, 0.0) / whole * gain_scale


@compiled(inner=True)
def impurity_of(kind, weight, total, costs):
    """Of all rows, as `compiled.trees.one_sum.describe_sum` has it."""
    if kind == GINI_TWO:
        mean = total / weight
        return 2.0 * mean * (1.0 - mean)
    return -worth_of_sum(kind, weight, total, total, costs) / weight


@compiled(inner=True)
def search_feature(
    order, ends, n_bins, fine, kind, costs, weights, n_first, weight, total, cells, tie, aim, split
):
    """The best split of a feature, if it is better than the last by more than a tie.

    Writes its worth. Returns the place of its last row on the left, -1 if there is none, and
    whether missing values go left.
    """
    zero_missing, one_missing = cells[0, n_bins], cells[1, n_bins]
    missing = zero_missing + one_missing > 0.0
    found, on_side = np.int64(-1), START
    for side in range(1 + missing):
        left, left_sum, start = 0.0, 0.0, START
        if side == 1:
            left, left_sum = zero_missing + one_missing, one_missing
        for b in range(n_bins):
            zero, one = cells[0, b], cells[1, b]
            end_left, end_sum = left + zero + one, left_sum + one
            if not fine:
                corners = max(
                    max(
                        sides(kind, left + zero, left_sum, weight, total, costs),
                        sides(kind, left + one, left_sum + one, weight, total, costs),
                    ),
                    max(
                        sides(kind, left, left_sum, weight, total, costs),
                        sides(kind, end_left, end_sum, weight, total, costs),
                    ),
                )
                if corners >= max(aim, split[WORTH]) - SLACK * tie:
                    last = search_bin(
                        order, start, ends[b], kind, costs, weights, n_first, left, left_sum,
                        weight, total, tie, split,
                    )  # fmt: skip
                    if last >= 0:
                        found, on_side = last, side
            left, left_sum, start = end_left, end_sum, ends[b]
            if b == n_bins - 1 and (side == 1 or not missing):
                break
            if left < TINY or weight - left < TINY:
                continue
            worth = sides(kind, left, left_sum, weight, total, costs)
            if worth > split[WORTH] + tie:
                split[WORTH], found, on_side = worth, ends[b] - 1, side
    return found, on_side


@compiled(inner=True)
def search_bin(
    order, start, end, kind, costs, weights, n_first, left, left_sum, weight, total, tie, split
):
    """Splits within a bin. Returns the place of the last row on the left of one that is better than
    the split that was noted, and writes its worth; else -1."""
    found, bar, first = np.int64(-1), split[WORTH] + tie, np.uint32(n_first)
    for i in range(start, end - 1):
        entry = order[i]
        w = weights[entry & ROW]
        left += w
        left_sum += w if (entry & ROW) >= first else 0.0
        right, right_sum = weight - left, total - left_sum
        if kind == GINI_TWO:  # few come near the best
            squares = left_sum * left_sum * right + right_sum * right_sum * left
            if not squares > bar * (left * right):
                continue
        if entry < LAST or left < TINY or right < TINY:
            continue
        worth = sides(kind, left, left_sum, weight, total, costs)
        if worth > bar:
            split[WORTH], found, bar = worth, i, worth + tie
    return found


@compiled(inner=True)
def note(small, medium, large, features, points, rows, f, order, last, side, missing, split):
    """Write the split of a feature after a place in the order of its rows."""
    feature = features[f]
    code = code_of(small, medium, large, feature, rows[order[last] & ROW])
    following = feature.n_codes
    if last + 1 < order.size:
        following = code_of(small, medium, large, feature, rows[order[last + 1] & ROW])
    split[FEATURE], split[CODE] = f, code
    split[THRESHOLD] = half_way(feature, code, following, points)
    split[MISSING_LEFT] = side if missing else UNSEEN


@compiled(inner=True)
def code_of(small, medium, large, feature, row):
    """The code of a feature in a row of the table."""
    if feature.table == 0:
        return np.uint32(small[feature.place, row])
    if feature.table == 1:
        return np.uint32(medium[feature.place, row])
    return large[feature.place, row]


@compiled
def divide(small, medium, large, features, rows, starts, weights, split, goes_left, sums):
    """Send each row to its side; sums[k, 0] and sums[k, 1] become the weights of class k there, on
    the right and on the left."""
    feature = features[np.int64(split[FEATURE])]
    code, missing = np.uint32(split[CODE]), feature.n_codes
    missing_left = split[MISSING_LEFT] == 1.0
    n_left = 0
    for k in range(sums.shape[0]):
        left, right = 0.0, 0.0
        for i in range(np.uint64(starts[k]), np.uint64(starts[k + 1])):
            c = code_of(small, medium, large, feature, rows[i])
            goes = c <= code or (missing_left and c == missing)
            goes_left[i] = goes
            n_left += goes
            left += weights[i] if goes else 0.0
            right += 0.0 if goes else weights[i]
        sums[k, 0], sums[k, 1] = right, left
    split[N_LEFT] = n_left


@compiled
def reweigh(weights, floor, starts, goes_left, factors, norm, totals):
    """Multiply the weight of each row by factors[its class, whether it goes left] / norm, no lower
    than its floor; totals[k] becomes the weight of class k."""
    for k in range(totals.size):
        on_right, on_left = factors[k, 0], factors[k, 1]
        total = 0.0
        for i in range(np.uint64(starts[k]), np.uint64(starts[k + 1])):
            w = weights[i] * (on_left if goes_left[i] else on_right) / norm
            w = w if w > floor[i] else floor[i]
            weights[i] = w
            total += w
        totals[k] = total
