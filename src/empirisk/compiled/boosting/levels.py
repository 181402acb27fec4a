"""The best split of a node by a category: its levels in the order of their steps, then as a number.

Levels are put in the order of G / (H + smoothing), and the best cut of that order is taken; without
smoothing it is the best of all 2^(L-1) - 1 splits (Fisher 1958, Breiman et al. 1984). Smoothing
draws levels with few rows to the middle. Levels with fewer than MIN_SUPPORT rows in the node are
taken together with missing values, and levels that are not in the node go where these go.

An order that the gradients themselves gave flatters its cuts. By chance alone, in units of the
noise, the best cut of L levels is worth about 1 + 2 (L - 2) / pi: of 8 levels as much as the best
cut of a number, of 40 five times that. So where a node has more than AS_A_NUMBER levels, splits by
them are weighed with LEVEL_L2 more of l2 for each level beyond, which takes most from nodes and
sides of little curvature. To subtract that worth would be right for levels that mean nothing, but
costs much where levels matter together with other features: what they are worth shows only below
other splits.
"""

import numpy as np

from empirisk.compiled.boosting.choosing import CURVATURE_UNIT, L2, MIN_CURVATURE, SMOOTHING
from empirisk.compiled.boosting.splitting import (
    bounded_node_worth,
    curvature_of,
    first_largest,
    gradient_of,
    is_larger,
    rows_of,
    settle,
    weigh,
    worth_of,
    worth_within,
)
from empirisk.compiled.decorator import compiled

MIN_SUPPORT = 10
AS_A_NUMBER = 8
LEVEL_L2 = 2.0
WORD, ONE = np.uint64(63), np.uint64(1)


@compiled(signatures=2, inner=True)
def search_levels(
    rules, feature, firsts, seconds, node, units, sums, gains, patterns, missing, order, bounded,
    split, bits,
):  # fmt: skip
    """Write the best split; the bins that go left become bits.

    units are those of `choosing`; order is room for the levels: (2, 256).
    """
    n_bins = np.int64(feature.n_bins)
    split.gain = -1.0
    n, rare = order_levels(rules, feature, firsts, seconds, units[SMOOTHING], missing, order, gains)
    if n < 2:
        return
    l2 = units[L2] + LEVEL_L2 * max(n - AS_A_NUMBER, 0) * units[CURVATURE_UNIT]
    first, second = np.int64(0), np.int64(0)
    for r in range(n):
        b = np.int64(order[0, r])
        first += missing[0] if b == n_bins else firsts[b]
        second += missing[1] if b == n_bins else seconds[b]
        sums[0, r], sums[1, r] = first, second
    missing[0], missing[1] = 0, 0
    if bounded is not None:
        best, before = -1, bounded_node_worth(rules, node, l2)
        worth = -np.inf
        for r in range(n - 1):
            here = worth_within(
                rules, np.int64(0), node, sums[0, r], sums[1, r], l2, units[MIN_CURVATURE]
            )
            if here > -np.inf and (best < 0 or is_larger(here, worth)):
                best, worth = r, here
    else:
        least = units[MIN_CURVATURE]
        weigh(rules, sums, n - 1, missing, node.first, node.second, l2, least, gains)
        best = first_largest(patterns, n - 1)
        worth, before = gains[best], worth_of(rules, node.first, node.second, l2)
        best = best if worth >= 0.0 else -1
    if best < 0:
        return
    split.first, split.second = sums[0, best], sums[1, best]
    rows = rows_of(rules, split.first, split.second)
    split.missing_left = 2 * rows > rows_of(rules, node.first, node.second)
    if rare:
        split.missing_left = 0
        for r in range(best + 1):
            if order[0, r] == n_bins:
                split.missing_left = 1
    split.code, split.following = best, best + 1
    settle(split, worth, before)
    note_levels(order, n, best, n_bins, split.missing_left, bits)


@compiled(inner=True)
def order_levels(rules, feature, firsts, seconds, smoothing, rest, order, steps):
    """order[0] = the levels of a node in order; returns their number, and if n_bins is in it.

    n_bins stands for missing values and levels with few rows, whose entries become `rest`.
    """
    n_bins = np.int64(feature.n_bins)
    rest[0], rest[1] = 0, 0
    n = 0
    for b in range(n_bins + 1 if feature.missing else n_bins):
        first, second = firsts[b], seconds[b]
        rows = rows_of(rules, first, second)
        if rows >= MIN_SUPPORT and b < n_bins:
            order[0, n] = b
            steps[b] = gradient_of(rules, first) / (curvature_of(rules, first, second) + smoothing)
            n += 1
        elif rows > 0:
            rest[0] += first
            rest[1] += second
    some = rows_of(rules, rest[0], rest[1]) > 0
    if some:
        order[0, n] = n_bins
        steps[n_bins] = gradient_of(rules, rest[0]) / (
            curvature_of(rules, rest[0], rest[1]) + smoothing
        )
        n += 1
    sort_by_steps(order, n, steps)
    return n, some


@compiled(inner=True)
def sort_by_steps(order, n, steps):
    """Sort order[0, :n] by their steps, equal ones as they stand (merge sort)."""
    width = 1
    while width < n:
        for r in range(n):
            order[1, r] = order[0, r]
        for start in range(0, n, 2 * width):
            a, b = start, min(start + width, n)
            middle, end = b, min(start + 2 * width, n)
            for r in range(start, end):
                from_a = b >= end
                if a < middle and b < end:
                    from_a = steps[order[1, a]] <= steps[order[1, b]]
                if from_a:
                    order[0, r] = order[1, a]
                    a += 1
                else:
                    order[0, r] = order[1, b]
                    b += 1
        width *= 2


@compiled(inner=True)
def note_levels(order, n, best, n_bins, missing_left, bits):
    """Bits of the bins that go left; those that are not in order go where missing values go."""
    for w in range(bits.size):
        bits[w] = 0
    if missing_left:
        for b in range(n_bins):
            bits[b >> 6] |= ONE << (np.uint64(b) & WORD)
    for r in range(n):
        b = np.int64(order[0, r])
        if b < n_bins:
            bit = ONE << (np.uint64(b) & WORD)
            if r <= best:
                bits[b >> 6] |= bit
            else:
                bits[b >> 6] &= ~bit
