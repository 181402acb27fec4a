"""Nodes of a regression or of two classes: a weight and one sum say all about a side of a split."""

import numpy as np

from empirisk.compiled.decorator import compiled
from empirisk.compiled.trees.criteria import (
    COST_TWO,
    ENTROPY_TWO,
    GINI_TWO,
    NODE,
    POISSON,
    REFUSED,
    SQUARED,
    worth_of_sum,
)
from empirisk.compiled.trees.ordering import HALF, LOW


@compiled(inner=True)
def describe_sum(weights, values, kind, costs, rows, start, m, ids, begin, node, sums, totals):
    """Fill the node, its totals, and the sums of its rows.

    The sums of a row stand at its position in the node, or, if that begins at `begin` in a block,
    at its id. Returns the mean, what is taken off the values, the worth of the node unsplit, and
    if it is pure.
    """
    weighted = weights.size > 0
    shift = mean_of(weights, values, rows, start, start + m) if kind == SQUARED else 0.0
    first = values[rows[start], 0]
    weight, total, squares, pure = 0.0, 0.0, 0.0, True
    for i in range(m):
        row = rows[start + i]
        place = ids[begin + i] if begin >= 0 else np.uint32(i)
        w = weights[row] if weighted else 1.0
        centred = values[row, 0] - shift
        sums[place, 0] = w
        sums[place, 1] = w * centred
        weight += w
        total += w * centred
        squares += w * centred * centred
        pure = pure and values[row, 0] == first
    mean = shift if kind == SQUARED else total / weight
    impurity = squares / weight
    worth = worth_of_sum(kind, weight, total, total, costs)
    if kind == GINI_TWO:
        impurity = 2.0 * mean * (1.0 - mean)
    elif kind in (ENTROPY_TWO, COST_TWO):
        impurity = -worth / weight
    elif kind == POISSON:
        impurity = deviance(weights, values, rows, start, m, mean)
    node.rows = m
    node.weight = weight
    node.impurity = 0.0 if pure else impurity
    totals[NODE, 0] = total
    return mean, shift, worth, pure


@compiled(inner=True)
def mean_of(weights, values, rows, start, end):
    """The mean of the rows rows[start:end]."""
    weighted = weights.size > 0
    weight, total = 0.0, 0.0
    for i in range(start, end):
        w = weights[rows[i]] if weighted else 1.0
        weight += w
        total += w * values[rows[i], 0]
    return total / weight


@compiled(inner=True)
def deviance(weights, values, rows, start, m, mean):
    """Half the mean Poisson deviance of a node, mean of w (y log(y / mean) - y + mean).

    The last two terms sum to zero.
    """
    weighted = weights.size > 0
    weight, loss = 0.0, 0.0
    for i in range(m):
        row = rows[start + i]
        w = weights[row] if weighted else 1.0
        y = values[row, 0]
        weight += w
        loss += w * (y * np.log(y / mean) if y > 0.0 else 0.0)
    return loss / weight


@compiled(inner=True)
def scan_sum(
    entries, at, last, sums, weight, total, left_weight, left, n_rows, left_rows, kind,
    min_rows, min_weight, min_copies, copies, copies_of_sum, costs, sign, lower, upper, tie, bar,
):  # fmt: skip
    """The split of largest worth, and the entry after which it splits; (-inf, -1) if none counts.

    The worth is that of both sides together, S^2 / W + S'^2 / W' with the sum S and the weight W of
    a side where squares are minimised, else as in `worth_of_sum`.

    entries, at, last
        Entries in order begin at `at`; each of the first `last` may end the left side, and one more
        follows.
    left_weight, left, left_rows
        Of the rows that are on the left from the start.
    copies, copies_of_sum
        How many rows a unit of weight and one of the sum stand for.
    sign, lower, upper
        Where the sign is not 0, the means of both sides must lie between the ends, and sign times
        the left one must not be above sign times the right one.
    tie, bar
        Worths that differ by no more than `tie` are equal, and of equals the first is taken. What
        is not above `bar`, the best of other features, does not count: few come near it.
    """
    best, best_at = REFUSED, -1
    following = entries[at]
    for i in range(last):
        entry, following = following, entries[at + i + 1]
        place = entry & LOW
        left_weight += sums[place, 0]
        left += sums[place, 1]
        right_weight, right = weight - left_weight, total - left
        if kind <= GINI_TWO:  # the limits are looked at only where something is gained
            squares = left * left * right_weight + right * right * left_weight
            product = left_weight * right_weight
            if not squares > bar * product:
                continue
            worth = squares / product
        else:
            worth = worth_of_sum(kind, left_weight, left, total, costs)
            worth += worth_of_sum(kind, right_weight, right, total, costs)
        if not worth > bar or entry >> HALF == following >> HALF:
            continue
        if left_weight < min_weight or right_weight < min_weight:
            continue
        on_left = left_rows + i + 1
        if on_left < min_rows or n_rows - on_left < min_rows:
            continue
        if min_copies > 0.0:
            if copies * left_weight + copies_of_sum * left < min_copies:
                continue
            if copies * right_weight + copies_of_sum * right < min_copies:
                continue
        if sign != 0:
            left_mean, right_mean = left / left_weight, right / right_weight
            if left_mean < lower or left_mean > upper or right_mean < lower or right_mean > upper:
                continue
            if sign * (left_mean - right_mean) > 0:
                continue
        best, best_at, bar = worth, i, worth + tie
    return best, best_at
