"""Nodes of several classes or outputs: a sum for each says all about a side of a split."""

import numpy as np

from empirisk.compiled.decorator import compiled
from empirisk.compiled.trees.criteria import (
    GINI,
    LEFT,
    MISSING,
    NODE,
    REFUSED,
    RIGHT,
    SQUARED_MANY,
    copies_of,
    worth_of_sums,
)
from empirisk.compiled.trees.ordering import HALF, LOW

TWO, THREE, PARTS = np.uint64(2), np.uint64(3), np.uint64(4)


@compiled(inner=True)
def describe_classes(
    weights, labels, kind, costs, rows, start, m, ids, begin, node, sums, label, totals, value, at,
    cells,
):  # fmt: skip
    """Fill the node, its totals, its shares value[at], and the weights and classes of its rows.

    Neighbouring rows are often of one class: their weights are added up in four parts, which need
    not wait for each other. Returns the worth of the node unsplit, and if it is pure.
    """
    K, first = np.uint64(totals.shape[1]), labels[rows[start]]
    for c in range(PARTS * K):
        cells[c] = 0.0
    mine, pure = rows[start : start + m], True
    for i in range(np.uint64(m)):
        row = mine[i]
        place = np.uint64(ids[begin + np.int64(i)]) if begin >= 0 else i
        w = weights[row] if weights.size > 0 else 1.0
        k = labels[row]
        sums[place, 0], label[place] = w, k
        cells[(i & THREE) * K + np.uint64(np.uint32(k))] += w
        pure &= k == first
    weight = 0.0
    for k in range(K):
        totals[NODE, k] = (cells[k] + cells[K + k]) + (cells[TWO * K + k] + cells[THREE * K + k])
        weight += totals[NODE, k]
    for k in range(K):
        value[at, k] = totals[NODE, k] / weight
    worth = worth_of_sums(kind, weight, totals, NODE, costs)
    impurity = -worth / weight
    if kind == GINI:
        impurity += 1.0
    node.rows = m
    node.weight = weight
    node.impurity = 0.0 if pure else impurity
    return worth, pure


@compiled(inner=True)
def describe_outputs(
    weights, values, kind, costs, rows, start, m, ids, begin, node, sums, totals, value, at
):
    """Fill the node, its totals, its means value[at], and the sums of its rows.

    The squared error is taken of values centred in the node; the impurity is the mean over outputs.
    """
    weighted = weights.size > 0
    n_outputs = totals.shape[1]
    for k in range(n_outputs):
        totals[NODE, k] = 0.0
    weight = 0.0
    pure = True
    for i in range(m):
        row = rows[start + i]
        place = ids[begin + i] if begin >= 0 else np.uint32(i)
        w = weights[row] if weighted else 1.0
        sums[place, 0] = w
        weight += w
        for k in range(n_outputs):
            sums[place, k + 1] = w * values[row, k]
            totals[NODE, k] += sums[place, k + 1]
            pure = pure and values[row, k] == values[rows[start], k]
    impurity = 0.0
    for k in range(n_outputs):
        mean = totals[NODE, k] / weight
        value[at, k] = mean
        total = 0.0
        for i in range(m):
            row = rows[start + i]
            place = ids[begin + i] if begin >= 0 else np.uint32(i)
            y, w = values[row, k], sums[place, 0]
            if kind == SQUARED_MANY:
                sums[place, k + 1] = w * (y - mean)
                total += sums[place, k + 1]
                impurity += sums[place, k + 1] * (y - mean)
            elif y > 0.0:
                impurity += w * y * np.log(y / mean)
        if kind == SQUARED_MANY:
            totals[NODE, k] = total
    node.rows = m
    node.weight = weight
    node.impurity = 0.0 if pure else impurity / (weight * n_outputs)
    return worth_of_sums(kind, weight, totals, NODE, costs), pure


@compiled(signatures=2, inner=True)
def scan_sums(
    entries, at, last, sums, label, totals, from_missing, weight, n_rows, left_rows, kind,
    min_rows, min_weight, min_copies, costs, tie, bar,
):  # fmt: skip
    """Splits by several sums. Returns the best worth and the entry after which it splits, or -inf.

    Only worths above `bar` count, the best of other features: few come near it.

    The sums of squares of the Gini index change by one class at a time: a row costs the same
    whatever the number of classes. `from_missing`: the rows of totals[MISSING] are on the left.
    `label` is None for outputs.
    """
    left_squares, right_squares = 0.0, 0.0
    for k in range(totals.shape[1]):
        begin = totals[MISSING, k] if from_missing > 0.0 else 0.0
        totals[LEFT, k], totals[RIGHT, k] = begin, totals[NODE, k] - begin
        left_squares += begin * begin
        right_squares += totals[RIGHT, k] * totals[RIGHT, k]
    left_weight = from_missing
    best, best_at, mine = REFUSED, -1, entries[at : at + last + 1]
    following = entries[at]
    for i in range(last):
        entry, following = following, mine[np.uint64(i + 1)]
        place = entry & LOW
        w = sums[place, 0]
        left_weight += w
        if label is not None:
            k = np.uint32(label[place])
            left, right = totals[LEFT, k], totals[RIGHT, k]
            left_squares += w * (left + left + w)
            right_squares += w * (w - right - right)
            totals[LEFT, k] = left + w
            totals[RIGHT, k] = right - w
        else:
            for d in range(totals.shape[1]):
                totals[LEFT, d] += sums[place, d + 1]
                totals[RIGHT, d] -= sums[place, d + 1]
        if entry >> HALF == following >> HALF:
            continue
        right_weight = weight - left_weight
        if kind == GINI:  # as in `scan_sum`
            squares = left_squares * right_weight + right_squares * left_weight
            product = left_weight * right_weight
            if not squares > bar * product:
                continue
            worth = squares / product
        else:
            worth = worth_of_sums(kind, left_weight, totals, LEFT, costs)
            worth += worth_of_sums(kind, right_weight, totals, RIGHT, costs)
        if not worth > bar or min(left_weight, right_weight) < min_weight:
            continue
        if min(left_rows + i + 1, n_rows - left_rows - i - 1) < min_rows:
            continue
        if min_copies > 0.0:
            on_left = copies_of(totals, LEFT, left_weight, 0.0)
            if min(on_left, copies_of(totals, RIGHT, right_weight, 0.0)) < min_copies:
                continue
        best, best_at, bar = worth, i, worth + tie
    return best, best_at
