"""Splits of several classes by a feature of few values: weights by value and class, not sorted.

A cell is a value and a class. The cells of a value stand together, so that the sums of squares of
the Gini index are taken over them afresh at each value. Numbers of cells are unsigned: of a signed
one, compiled code asks first if it counts from the end.
"""

import numpy as np

from empirisk.compiled.decorator import compiled
from empirisk.compiled.trees.criteria import GINI, LEFT, NODE, REFUSED
from empirisk.compiled.trees.presorting import is_constant

CELLS_PER_ROW = 8  # going through so many cells costs less than to sort a row and to look at it
FEW_CODES = 2**8  # of a feature whose codes are uint8, with that of missing values
CONSTANT, SEARCHED, NOT_BY_CELLS = 0, 1, 2
NONE, ONE, TWO, THREE, FOUR = (np.uint64(number) for number in range(5))
AT_ONCE = FOUR  # features
PATTERNS = np.uint64(16)  # of so many features of two values
SPARSE = 64  # rows of the table for each row of a node, from which on codes are found row by row


@compiled(inner=True)
def has_few_cells(feature, rule, K, m):
    """Whether a feature of numbers is searched by cells, which count neither rows nor copies."""
    plain = rule.kind == GINI and rule.min_rows_leaf <= 1 and rule.min_copies_leaf <= 0.0
    plain = plain and feature.table == 0 and feature.category == 0
    return plain and (np.uint64(feature.n_codes) + ONE) * K <= np.uint64(CELLS_PER_ROW * m)


@compiled(inner=True)
def fill_next(
    small, lines, features, rule, rows, here, constant, drawn, step, end, sums, label, K, cells
):
    """Fill the cells of the next features, from a step on, that are searched by cells: up to four.

    Returns how many. Each has room for a fourth of the cells; what none needs is filled as well.
    """
    m, room = here.end - here.start, np.uint64(cells.size) // AT_ONCE
    n, first, second, third, fourth, all_two = NONE, NONE, NONE, NONE, NONE, True
    while step < end and n < AT_ONCE:
        f = drawn[step]
        step += 1
        if is_constant(constant, here.place, f) or not has_few_cells(features[f], rule, K, m):
            continue
        for cell in range(n * room, n * room + (np.uint64(features[f].n_codes) + ONE) * K):
            cells[cell] = 0.0
        all_two &= features[f].n_codes == 2 and features[f].missing == 0
        place = np.uint64(features[f].place)
        if n == 0:
            first = second = third = fourth = place
        elif n == 1:
            second = place
        elif n == 2:
            third = place
        else:
            fourth = place
        n += ONE
    mine = rows[here.start : here.end]
    # Codes with a stride of their own for rows and features: one type, so one loop, for both.
    codes = small.T[:, : small.shape[0]]
    if m * SPARSE < lines.shape[0]:
        codes = lines[:, : lines.shape[1]]  # where one way to memory leads to all codes of a row
    if all_two and n > ONE and np.uint64(m) >= PATTERNS * K:
        fill_jointly(codes, first, second, third, fourth, mine, K, sums, label, cells, room)
    else:
        fill_singly(codes, first, second, third, fourth, mine, K, sums, label, cells, room)
    return n


@compiled(inner=True)
def fill_singly(codes, first, second, third, fourth, rows, K, sums, label, cells, room):
    """Add the weight of each row to a cell of each of four features.

    Neighbouring rows are often in one cell; sums in different places need not wait for each other.
    """
    for i in range(np.uint64(rows.size)):
        row, k, weight = rows[i], np.uint64(np.uint32(label[i])), sums[i, 0]
        cells[np.uint64(codes[row, first]) * K + k] += weight
        k += room
        cells[np.uint64(codes[row, second]) * K + k] += weight
        k += room
        cells[np.uint64(codes[row, third]) * K + k] += weight
        k += room
        cells[np.uint64(codes[row, fourth]) * K + k] += weight


@compiled(inner=True)
def fill_jointly(codes, first, second, third, fourth, rows, K, sums, label, cells, room):
    """The same for features of two values: weights by the pattern of all four, then by each.

    One sum for each row, of every other row in another place: a sum need not wait for the last.
    """
    joint = np.uint64(cells.size) - TWO * PATTERNS * K
    for cell in range(joint, np.uint64(cells.size)):
        cells[cell] = 0.0
    for i in range(np.uint64(rows.size)):
        row = rows[i]
        pattern = np.uint64(codes[row, first]) << THREE | np.uint64(codes[row, second]) << TWO
        pattern |= np.uint64(codes[row, third]) << ONE | np.uint64(codes[row, fourth])
        pattern |= (i & ONE) << FOUR
        cells[joint + pattern * K + np.uint64(np.uint32(label[i]))] += sums[i, 0]
    for pattern in range(TWO * PATTERNS):
        for k in range(K):
            weight = cells[joint + pattern * K + k]
            cells[(pattern >> THREE & ONE) * K + k] += weight
            cells[room + (pattern >> TWO & ONE) * K + k] += weight
            cells[TWO * room + (pattern >> ONE & ONE) * K + k] += weight
            cells[THREE * room + (pattern & ONE) * K + k] += weight


@compiled(inner=True)
def search_cells(cells, n_codes, totals, weight, min_weight, tie, bar):
    """The best split above `bar` by the Gini index, from the cells of a feature.

    Returns its worth, the last code on the left, the first one on the right, and if the feature was
    SEARCHED, has one value (CONSTANT), or has missing ones and is to be searched NOT_BY_CELLS.
    """
    K = np.uint64(totals.shape[1])
    missing = np.uint64(n_codes)
    if code_weight(cells, K, missing) > 0.0:
        return REFUSED, NONE, NONE, NOT_BY_CELLS
    first, last = NONE, missing - ONE
    while code_weight(cells, K, first) == 0.0:
        first += ONE
    while code_weight(cells, K, last) == 0.0:
        last -= ONE
    if first == last:
        return REFUSED, NONE, NONE, CONSTANT
    worth, at = scan_cells(cells, K, first, last, totals, weight, min_weight, tie, bar)
    following = at + ONE
    while worth > REFUSED and code_weight(cells, K, following) == 0.0:
        following += ONE
    return worth, at, following, SEARCHED


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
