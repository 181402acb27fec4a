"""Stumps for two classes, by any impurity: the best split of a feature, from weights of bins.

What two sides are worth is a convex function of the weights of the classes on the left (all
impurities are concave), so that no split within a bin is worth more than the best of four corners:
nothing of the bin on the left, all of it, or all of one class.
"""

import numpy as np

from empirisk.compiled.boosting.split_terms import LAST, ROW, SLACK, START, TINY, WORTH
from empirisk.compiled.decorator import compiled
from empirisk.compiled.trees.criteria import GINI_TWO, REFUSED, worth_of_sum


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
def impurity_of(kind, weight, total, costs):
    """Of all rows, as `compiled.trees.one_sum.describe_sum` has it."""
    if kind == GINI_TWO:
        mean = total / weight
        return 2.0 * mean * (1.0 - mean)
    return -worth_of_sum(kind, weight, total, total, costs) / weight


@compiled(inner=True)
def survey_two_classes(cells, n_bins, fine, kind, costs, totals):
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


@compiled(inner=True)
def search_two_classes(
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
