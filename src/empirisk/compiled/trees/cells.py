"""Splits of several classes by a feature of few values: weights by value and class, not sorted.

A cell is a value and a class. The cells of a value stand together, so that the sums of squares of
the Gini index are taken over them afresh at each value. Numbers of cells are unsigned: of a signed
one, compiled code asks first if it counts from the end.
"""

import numpy as np

from empirisk.compiled.decorator import compiled
from empirisk.compiled.trees.criteria import GINI, LEFT, NODE, REFUSED

CELLS_PER_ROW = 6  # going through so many cells costs less than to sort a row and to look at it
FEW_CODES = 2**8  # of a feature whose codes are uint8, with that of missing values
NOT_SEARCHED, CONSTANT, SEARCHED = 0, 1, 2
NONE, ONE, TWO = np.uint64(0), np.uint64(1), np.uint64(2)
PARTS = TWO


@compiled(inner=True)
def search_cells(
    small, feature, rule, rows, start, m, sums, label, totals, weight, tie, bar, cells
):  # fmt: skip
    """The best split above `bar` by the Gini index of a feature whose cells are few for its rows.

    Returns its worth, the last code on the left, the first one on the right, and if the feature was
    SEARCHED, has one value (CONSTANT), or is to be searched in another way: where values are
    missing, or a limit asks for rows or copies, which cells do not count.
    """
    K = np.uint64(totals.shape[1])
    missing = np.uint64(feature.n_codes)
    n_cells = (missing + ONE) * K
    plain = rule.kind == GINI and rule.min_rows_leaf <= 1 and rule.min_copies_leaf <= 0.0
    plain = plain and feature.table == 0 and feature.category == 0
    if not plain or n_cells > np.uint64(CELLS_PER_ROW * m):
        return REFUSED, NONE, NONE, NOT_SEARCHED
    fill_cells(small[feature.place], rows[start : start + m], n_cells, K, sums, label, cells)
    if code_weight(cells, K, missing) > 0.0:
        return REFUSED, NONE, NONE, NOT_SEARCHED
    first, last = NONE, missing - ONE
    while code_weight(cells, K, first) == 0.0:
        first += ONE
    while code_weight(cells, K, last) == 0.0:
        last -= ONE
    if first == last:
        return REFUSED, NONE, NONE, CONSTANT
    worth, at = scan_cells(cells, K, first, last, totals, weight, rule.min_weight_leaf, tie, bar)
    following = at + ONE
    while worth > REFUSED and code_weight(cells, K, following) == 0.0:
        following += ONE
    return worth, at, following, SEARCHED


@compiled(inner=True)
def fill_cells(codes, rows, n_cells, K, sums, label, cells):
    """cells[c] = the weight of cell c, the K classes of code 0 first.

    In two parts, of even and of odd rows, which are added up then: neighbouring rows are often in
    one cell, and sums in different places need not wait for each other.
    """
    for c in range(PARTS * n_cells):
        cells[c] = 0.0
    m = np.uint64(rows.size)
    for i in range(NONE, m & ~ONE, PARTS):
        add_row(codes, rows, i, K, sums, label, cells, NONE)
        add_row(codes, rows, i + ONE, K, sums, label, cells, n_cells)
    if m & ONE:
        add_row(codes, rows, m - ONE, K, sums, label, cells, NONE)
    for c in range(n_cells):
        cells[c] += cells[n_cells + c]


@compiled(inner=True)
def add_row(codes, rows, i, K, sums, label, cells, part):
    """Add the weight of the i-th row to its cell, in a part."""
    c = np.uint64(codes[rows[i]]) * K + np.uint64(np.uint32(label[i]))
    cells[part + c] += sums[i, 0]


@compiled(inner=True)
def code_weight(cells, K, code):
    """The weight of the rows that have a code."""
    weight = 0.0
    for k in range(K):
        weight += cells[code * K + k]
    return weight


@compiled(inner=True)
def scan_cells(cells, K, low, high, totals, weight, min_weight, tie, bar):
    """The best worth above `bar`, and the last code of its left side; -inf where there is none."""
    for k in range(K):
        totals[LEFT, k] = 0.0
    best, best_at, left_weight, cell = REFUSED, NONE, 0.0, low * K
    even = K & ~ONE
    for c in range(low, high):
        left, left_odd, right, right_odd, added = 0.0, 0.0, 0.0, 0.0, 0.0
        for k in range(NONE, even, TWO):  # two at a time, which need not wait for each other
            j = k + ONE
            w, v = cells[cell + k], cells[cell + j]
            a, b = totals[LEFT, k] + w, totals[LEFT, j] + v
            totals[LEFT, k], totals[LEFT, j] = a, b
            added += w + v
            left += a * a
            left_odd += b * b
            a, b = totals[NODE, k] - a, totals[NODE, j] - b
            right += a * a
            right_odd += b * b
        if even < K:
            w = cells[cell + even]
            a = totals[LEFT, even] + w
            totals[LEFT, even] = a
            added += w
            left += a * a
            a = totals[NODE, even] - a
            right += a * a
        cell += K
        left_weight += added
        right_weight = weight - left_weight
        squares = (left + left_odd) * right_weight + (right + right_odd) * left_weight
        product = left_weight * right_weight
        if added == 0.0 or not squares > bar * product:
            continue
        if min(left_weight, right_weight) < min_weight:
            continue
        best, best_at = squares / product, c
        bar = best + tie
    return best, best_at
