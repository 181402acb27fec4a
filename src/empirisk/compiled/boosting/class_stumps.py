"""Stumps for more than two classes, by the Gini index: sum_k L_k^2 / L + sum_k R_k^2 / R is best.

A split within a bin has L + x on the left, 0 <= x_k <= b_k. As the mean of the K points
L + K x_k e_k it is worth no more than the mean of their worths (Jensen), and each of these no more
than the larger of those at both ends, L and L + K b_k e_k: a bound from K + 1 worths. The squares
change by one class at a time.
"""

import numpy as np

from empirisk.compiled.boosting.split_terms import LAST, ROW, SLACK, START, TINY, WORTH
from empirisk.compiled.decorator import compiled
from empirisk.compiled.trees.criteria import REFUSED


@compiled(inner=True)
def gini_sides(left_squares, left, right_squares, right):
    """What two sides are worth, by their sums of squares and weights; without weight nothing."""
    worth = 0.0
    if left >= TINY:
        worth += left_squares / left
    if right >= TINY:
        worth += right_squares / right
    return worth


@compiled(inner=True)
def begin_left(cells, missing, side, totals, left):
    """The sums of the left side before the first bin, with missing values on side 1.

    Returns its sum of squares and weight, and those of the right side.
    """
    left_squares, left_weight, right_squares, right_weight = 0.0, 0.0, 0.0, 0.0
    for k in range(totals.size):
        left[k] = cells[k, missing] if side == 1 else 0.0
        left_squares += left[k] * left[k]
        left_weight += left[k]
        right_squares += (totals[k] - left[k]) * (totals[k] - left[k])
        right_weight += totals[k] - left[k]
    return left_squares, left_weight, right_squares, right_weight


@compiled(inner=True)
def add_to_left(cells, b, totals, left):
    """Add a bin to the left side; returns what `begin_left` does, squares taken afresh."""
    left_squares, left_weight, right_squares, right_weight = 0.0, 0.0, 0.0, 0.0
    for k in range(totals.size):
        left[k] += cells[k, b]
        right = totals[k] - left[k]
        left_squares += left[k] * left[k]
        left_weight += left[k]
        right_squares += right * right
        right_weight += right
    return left_squares, left_weight, right_squares, right_weight


@compiled(inner=True)
def bound_of_bin(cells, b, totals, left, left_squares, left_weight, right_squares, right_weight):
    """A worth that no split within a bin exceeds; infinite where too little is on the right."""
    K, bound = totals.size, 0.0
    here = gini_sides(left_squares, left_weight, right_squares, right_weight)
    for k in range(K):
        step = K * cells[k, b]
        if step > 0.0 and right_weight - step < TINY:
            return np.inf
        more = left_squares + step * (2.0 * left[k] + step)
        less = right_squares + step * (step - 2.0 * (totals[k] - left[k]))
        bound += max(here, gini_sides(more, left_weight + step, less, right_weight - step))
    return bound / K


@compiled(inner=True)
def survey_classes(cells, n_bins, fine, totals, left):
    """The best worth of a split between the bins of a feature, and one that no split exceeds."""
    missing = 0.0
    for k in range(totals.size):
        missing += cells[k, n_bins]
    reach, ceiling = REFUSED, REFUSED
    for side in range(1 + (missing > 0.0)):
        ls, lw, rs, rw = begin_left(cells, n_bins, side, totals, left)
        for b in range(n_bins):
            if not fine:
                ceiling = max(ceiling, bound_of_bin(cells, b, totals, left, ls, lw, rs, rw))
            ls, lw, rs, rw = add_to_left(cells, b, totals, left)
            if b == n_bins - 1 and (side == 1 or missing == 0.0):
                break
            if lw >= TINY and rw >= TINY:
                reach = max(reach, gini_sides(ls, lw, rs, rw))
    return reach, max(reach, ceiling)


@compiled(inner=True)
def search_classes(
    order, ends, n_bins, fine, weights, labels, totals, left, room, cells, tie, aim, split
):
    """The best split of a feature, as `search_two_classes` finds it."""
    missing = 0.0
    for k in range(totals.size):
        missing += cells[k, n_bins]
    found, on_side = np.int64(-1), START
    for side in range(1 + (missing > 0.0)):
        ls, lw, rs, rw = begin_left(cells, n_bins, side, totals, left)
        start = START
        for b in range(n_bins):
            if not fine:
                bound = bound_of_bin(cells, b, totals, left, ls, lw, rs, rw)
                if bound >= max(aim, split[WORTH]) - SLACK * tie:
                    for k in range(totals.size):
                        room[k] = left[k]
                    last = search_class_bin(
                        order, start, ends[b], weights, labels, totals, room, ls, lw, rs, rw, tie,
                        split,
                    )  # fmt: skip
                    if last >= 0:
                        found, on_side = last, side
            ls, lw, rs, rw = add_to_left(cells, b, totals, left)
            start = ends[b]
            if b == n_bins - 1 and (side == 1 or missing == 0.0):
                break
            if lw < TINY or rw < TINY:
                continue
            worth = gini_sides(ls, lw, rs, rw)
            if worth > split[WORTH] + tie:
                split[WORTH], found, on_side = worth, ends[b] - 1, side
    return found, on_side


@compiled(inner=True)
def search_class_bin(order, start, end, weights, labels, totals, left, ls, lw, rs, rw, tie, split):
    """Splits within a bin. Returns the place of the last row on the left of one that is better than
    the split that was noted, and writes its worth; else -1."""
    found, bar = np.int64(-1), split[WORTH] + tie
    for i in range(start, end - 1):
        entry = order[i]
        w, k = weights[entry & ROW], labels[entry & ROW]
        ls += w * (left[k] + left[k] + w)
        rs += w * (w - 2.0 * (totals[k] - left[k]))
        left[k] += w
        lw += w
        rw -= w
        if entry < LAST or lw < TINY or rw < TINY:
            continue
        if not ls * rw + rs * lw > bar * (lw * rw):
            continue
        worth = gini_sides(ls, lw, rs, rw)
        if worth > bar:
            split[WORTH], found, bar = worth, i, worth + tie
    return found
