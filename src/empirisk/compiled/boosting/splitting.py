"""The best split of a node by one feature, from its histogram.

With sums of gradients G and curvatures H on both sides, a split is worth

    G_left^2 / (H_left + l2) + G_right^2 / (H_right + l2) - G^2 / (H + l2),

twice what the quadratic approximation of the loss loses (Chen & Guestrin 2016). All sums are whole
numbers, in units of entries. Of splits that are worth the same, to rounding, the first counts: this
must not depend on the units, or weights would not be copies.
Missing values go right, then left, where a node has some.
"""

import numpy as np

from empirisk.compiled.decorator import compiled

ROUNDING = 1e-12  # a gain below this part of what the node is worth is rounding
TIED = 1e-10  # splits are worth the same if they differ by less, as a part of it
TIED_BITS = np.int64(1) << 19  # the same for the bits of a float64: 2^-33 of it, or half of that


@compiled(inner=True)
def accumulate(firsts, seconds, width, n_bins, sums):
    """sums[w, b] = word w of the entries in bins 0..b, added up."""
    into, first = sums[0], np.int64(0)
    for b in range(n_bins):
        first += firsts[b]
        into[b] = first
    if width == 2:
        into, first = sums[1], np.int64(0)
        for b in range(n_bins):
            first += seconds[b]
            into[b] = first


@compiled(inner=True)
def weigh(rules, sums, n, missing, node_first, node_second, l2, min_curvature, gains):
    """gains[b] = what the two sides are worth when bins 0..b go left, -1 if it is not allowed.

    `missing` are two words that go left besides.
    """
    bits = rules.count_bits
    mask = (np.int64(1) << bits) - 1
    least = rules.min_rows
    firsts, seconds = sums[0], sums[1]
    more_first, more_second = missing[0], missing[1]
    if rules.width == 2:
        for b in range(n):
            first, second = firsts[b] + more_first, seconds[b] + more_second
            rest = node_second - second
            rows, other_rows = second & mask, rest & mask
            g, other_g = np.float64(first), np.float64(node_first - first)
            h = np.float64(second >> bits)
            other_h = np.float64(rest >> bits)
            allowed = (rows >= least) & (other_rows >= least)
            allowed &= (h >= min_curvature) & (other_h >= min_curvature)
            h += l2
            other_h += l2
            worth = (g * g * other_h + other_g * other_g * h) / (h * other_h)
            gains[b] = worth if allowed else -1.0
    else:
        for b in range(n):
            first = firsts[b] + more_first
            rest = node_first - first
            rows, other_rows = first & mask, rest & mask
            g, other_g = np.float64(first >> bits), np.float64(rest >> bits)
            h, other_h = np.float64(rows), np.float64(other_rows)
            allowed = (rows >= least) & (other_rows >= least)
            allowed &= (h >= min_curvature) & (other_h >= min_curvature)
            h += l2
            other_h += l2
            worth = (g * g * other_h + other_g * other_g * h) / (h * other_h)
            gains[b] = worth if allowed else -1.0


@compiled(inner=True)
def first_largest(patterns, n):
    """The place of the first of n gains that is as large as the largest, to rounding.

    patterns are the gains as int64: numbers that are not negative are ordered as their bits are,
    and whole numbers are compared many at a time.
    """
    largest = np.int64(-1)
    for b in range(n):
        largest = max(largest, patterns[b])
    for b in range(n):
        if patterns[b] >= largest - TIED_BITS:
            return b
    return 0


@compiled(inner=True)
def is_larger(worth, other):
    """Whether a split is worth more than another, by more than rounding."""
    return worth > other + TIED * abs(other)


@compiled(inner=True)
def worth_of(rules, first, second, l2):
    """G^2 / (H + l2) of sums of entries."""
    g, h = gradient_of(rules, first), curvature_of(rules, first, second) + l2
    return g * g / h if h > 0.0 else 0.0


@compiled(inner=True)
def gradient_of(rules, first):
    """Of a sum of entries."""
    return np.float64(first if rules.width == 2 else first >> rules.count_bits)


@compiled(inner=True)
def curvature_of(rules, first, second):
    """Of a sum of entries."""
    if rules.width == 2:
        return np.float64(second >> rules.count_bits)
    return np.float64(rows_of(rules, first, second))


@compiled(inner=True)
def rows_of(rules, first, second):
    """How many rows, with their copies, have been added up."""
    mask = (np.int64(1) << rules.count_bits) - 1
    return (second if rules.width == 2 else first) & mask


@compiled(inner=True)
def search_numbers(
    rules, feature, firsts, seconds, node, units, sums, gains, patterns, missing, split,
):  # fmt: skip
    """Write the best split by a feature whose bins have an order.

    firsts and seconds are the two words of its histogram; of one word, seconds are firsts. units
    are l2, the least curvature and the smoothing, in units of entries.
    """
    width, n_bins = rules.width, np.int64(feature.n_bins)
    l2, min_curvature = units[0], units[1]
    split.gain = -1.0
    missing[0], missing[1] = 0, 0
    some = False
    if feature.missing:
        some = rows_of(rules, firsts[n_bins], seconds[n_bins]) > 0
    accumulate(firsts, seconds, width, n_bins, sums)
    n = n_bins if some else n_bins - 1
    if n <= 0:
        return
    best, gain, missing_left = np.int64(0), -1.0, np.int64(0)
    for way in range(np.int64(2 if some and n > 1 else 1)):
        if way:
            missing[0], missing[1] = firsts[n_bins], seconds[n_bins]
        weigh(rules, sums, n - way, missing, node.first, node.second, l2, min_curvature, gains)
        at = np.int64(first_largest(patterns, n - way))
        if gains[at] >= 0.0 and (gain < 0.0 or is_larger(gains[at], gain)):
            best, gain, missing_left = at, gains[at], way
    if gain < 0.0:
        return
    keep(rules, firsts, seconds, n_bins, sums, missing, best, missing_left, some, node, split)
    settle(split, gain, worth_of(rules, node.first, node.second, l2))


@compiled(inner=True)
def settle(split, worth, before):
    """The gain of a split, by what its sides are worth and what the node was."""
    gain = worth - before
    split.gain = gain if gain > ROUNDING * abs(worth) else -1.0


@compiled(inner=True)
def keep(rules, firsts, seconds, n_bins, sums, missing, best, missing_left, some, node, split):
    """Note a split after bin `best`: what goes left, and the next bin that has rows."""
    split.code = best
    split.first, split.second = sums[0, best], sums[1, best]
    if missing_left:
        split.first += missing[0]
        split.second += missing[1]
    following = best + 1
    while following < n_bins and rows_of(rules, firsts[following], seconds[following]) == 0:
        following += 1
    split.following = following
    split.missing_left = missing_left
    if not some:  # what was not seen goes with the most rows
        rows = rows_of(rules, split.first, split.second)
        split.missing_left = 2 * rows > rows_of(rules, node.first, node.second)


@compiled(inner=True)
def bounded_value(g, h, lower, upper):
    """-g / h within bounds."""
    value = -g / h if h > 0.0 else 0.0
    return min(max(value, lower), upper)


@compiled(inner=True)
def bounded_worth(g, h, value):
    """Twice what the quadratic approximation loses when a leaf has this value."""
    return -(2.0 * g + h * value) * value


@compiled(inner=True)
def search_bounded(rules, feature, firsts, seconds, node, units, sums, missing, split):
    """As `search_numbers` in a tree with monotone constraints, whose values have bounds."""
    width, n_bins = rules.width, np.int64(feature.n_bins)
    l2, min_curvature = units[0], units[1]
    split.gain = -1.0
    missing[0], missing[1] = 0, 0
    some = False
    if feature.missing:
        missing[0], missing[1] = firsts[n_bins], seconds[n_bins]
        some = rows_of(rules, missing[0], missing[1]) > 0
    accumulate(firsts, seconds, width, n_bins, sums)
    best, best_worth, best_left = np.int64(-1), -np.inf, np.int64(0)
    for way in range(np.int64(2 if some else 1)):
        n = n_bins if some and way == 0 else n_bins - 1
        for b in range(n):
            first = sums[0, b] + way * missing[0]
            second = (sums[1, b] + way * missing[1]) if width == 2 else 0
            worth = worth_within(
                rules, np.int64(feature.monotone), node, first, second, l2, min_curvature
            )
            if worth > -np.inf and (best < 0 or is_larger(worth, best_worth)):
                best, best_worth, best_left = b, worth, way
    if best >= 0:
        keep(rules, firsts, seconds, n_bins, sums, missing, best, best_left, some, node, split)
        settle(split, best_worth, bounded_node_worth(rules, node, l2))


@compiled(inner=True)
def bounded_node_worth(rules, node, l2):
    """What a node is worth as a leaf."""
    g, h = gradient_of(rules, node.first), curvature_of(rules, node.first, node.second) + l2
    return bounded_worth(g, h, bounded_value(g, h, node.lower, node.upper))


@compiled(inner=True)
def worth_within(rules, monotone, node, first, second, l2, min_curvature):
    """What two sides are worth within the bounds of the node; -inf if they are not allowed."""
    rest, other = node.first - first, node.second - second
    rows, other_rows = rows_of(rules, first, second), rows_of(rules, rest, other)
    if rows < rules.min_rows or other_rows < rules.min_rows:
        return -np.inf
    g, other_g = gradient_of(rules, first), gradient_of(rules, rest)
    h, other_h = curvature_of(rules, first, second), curvature_of(rules, rest, other)
    if h < min_curvature or other_h < min_curvature:
        return -np.inf
    h += l2
    other_h += l2
    value = bounded_value(g, h, node.lower, node.upper)
    other_value = bounded_value(other_g, other_h, node.lower, node.upper)
    if monotone * (other_value - value) < 0.0:
        return -np.inf
    return bounded_worth(g, h, value) + bounded_worth(other_g, other_h, other_value)
