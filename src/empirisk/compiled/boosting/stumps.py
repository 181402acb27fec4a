"""The best split of all rows into two sides, again and again with other weights.

Rows are ordered by class, those of the first one first. Each feature was cut into up to 255 bins of
its sorted rows (`stump_bins`). A round adds up the weights of each bin and class. What two sides
are worth is a convex function of the weights of the classes on the left, so that a bound follows
from the weights of a bin for all splits within it (`two_class_stumps`, `class_stumps`). Only bins
whose bound reaches the best split at an edge are gone through row by row: the split that is found
is that of a tree that looks at all of them (`compiled.trees.searching`), equal splits included.
"""

import numpy as np

from empirisk.compiled.boosting.class_stumps import search_classes, survey_classes
from empirisk.compiled.boosting.split_terms import (
    CODE,
    FEATURE,
    GAIN,
    MISSING_LEFT,
    N_LEFT,
    ROW,
    SLACK,
    START,
    THRESHOLD,
    WORTH,
)
from empirisk.compiled.boosting.two_class_stumps import (
    impurity_of,
    search_two_classes,
    survey_two_classes,
)
from empirisk.compiled.decorator import compiled
from empirisk.compiled.trees.criteria import REFUSED, worth_of_sum
from empirisk.compiled.trees.finishing import half_way
from empirisk.compiled.trees.layout import UNSEEN
from empirisk.compiled.trees.searching import TIE


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
            reach[f], ceiling[f] = survey_two_classes(
                cells[f], n_bins[f], fine[f], kind, costs, totals
            )
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
            last, side = search_two_classes(
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
