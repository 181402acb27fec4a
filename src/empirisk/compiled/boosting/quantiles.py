"""Bins of a feature: their ends, and the bin of each value."""

import numpy as np

from empirisk.compiled.decorator import compiled

HALF = 0.5
DIGIT_BITS = np.uint64(11)
DIGITS = 2048
SIGN = np.uint64(1) << np.uint64(63)
FIRST_BIT = np.uint64(31)  # of the three digits by which numbers are sorted first
MOVES = 8  # of each number, on the average, that are made afterwards


@compiled
def sort_numbers(patterns, spare, counts):
    """Sort the bits of float64 numbers in place, by their numbers; False if that would take long.

    A radix sort by the upper 33 bits, then by insertion: numbers that agree in so many bits are
    few and near each other, or else it is given up. counts is room: (3, 2048) int64.
    """
    n = patterns.size
    for d in range(3):
        for c in range(DIGITS):
            counts[d, c] = 0
    low = np.uint64(DIGITS - 1)
    for i in range(n):
        word = patterns[i]
        word = ~word if word & SIGN else word | SIGN  # ordered as the numbers are
        patterns[i] = word
        word >>= FIRST_BIT
        counts[0, word & low] += 1
        counts[1, (word >> DIGIT_BITS) & low] += 1
        counts[2, word >> (DIGIT_BITS + DIGIT_BITS)] += 1
    for d in range(3):
        place = np.int64(0)
        for c in range(DIGITS):
            place, counts[d, c] = place + counts[d, c], place
    shift = FIRST_BIT
    for d in range(3):
        source, target = (patterns, spare) if d != 1 else (spare, patterns)
        place = counts[d]
        for i in range(n):
            word = source[i]
            digit = (word >> shift) & low
            target[place[digit]] = word
            place[digit] += 1
        shift += DIGIT_BITS
    moves = np.int64(0)
    for i in range(n):
        word, k = spare[i], i
        while k > 0 and patterns[k - 1] > word and moves < MOVES * n:
            patterns[k] = patterns[k - 1]
            k -= 1
            moves += 1
        patterns[k] = word
    for i in range(n):
        word = patterns[i]
        patterns[i] = word ^ SIGN if word & SIGN else ~word
    return moves < MOVES * n


@compiled
def distinct_values(ordered, weight, values, total):
    """The distinct values of an ordered array and their weights; returns how many there are.

    weight may be empty: each value weighs 1.
    """
    n = 0
    for i in range(ordered.size):
        w = weight[i] if weight.size > 0 else 1.0
        if n > 0 and ordered[i] == values[n - 1]:
            total[n - 1] += w
        else:
            values[n], total[n] = ordered[i], w
            n += 1
    return n


@compiled
def spread_bins(values, total, max_bins, last):
    """last[b] = the last of the values that is in bin b; returns the number of bins.

    Up to max_bins values have a bin each. Of more, a value that weighs as much as a mean bin
    has a bin alone (or with what is left before it, if that is less than half a bin); the
    others are spread over the remaining bins, so that these weigh about the same (as LightGBM
    does, Ke et al. 2017). The mean is that of what is left, or rounding up would leave too
    little for the last bins.
    """
    n = values.size
    if n <= max_bins:
        for i in range(n):
            last[i] = i
        return n
    whole = 0.0
    for i in range(n):
        whole += total[i]
    heavy = whole / max_bins
    rest, bins = whole, max_bins
    for i in range(n):
        if total[i] >= heavy:
            rest -= total[i]
            bins -= 1
    b, here = 0, 0.0
    mean = rest / max(bins, 1)
    for i in range(n - 1):
        alone = total[i] >= heavy
        here += total[i]
        if not alone:
            rest -= total[i]
        full = alone or here >= mean
        if full or (total[i + 1] >= heavy and here >= max(mean * HALF, 1e-300)):
            last[b] = i
            b += 1
            here = 0.0
            if not alone:
                bins -= 1
                mean = rest / max(bins, 1)
            if b == max_bins - 1:
                break
    last[b] = n - 1
    return b + 1


@compiled
def code_values(values, upper, n_bins, low, high, place, codes):
    """codes[i] = the first bin b with values[i] <= upper[b]; n_bins where it is missing.

    upper has 255 places, infinite from the last bin on. low and high become the least and largest
    value of each bin; they hold +-infinity, or what other values made them, before. At most
    eight halvings, each for a block of values, so that they need not wait for each other; place is
    room for the places of a block: int64.
    """
    for start in range(0, values.size, place.size):
        part = values[start : start + place.size]
        into, at = codes[start : start + place.size], place[: part.size]
        for i in range(at.size):
            at[i] = 0
        step = np.int64(128)
        while step >= n_bins:
            step >>= 1
        while step > 0:
            halve(upper[step - 1 :], part, at, step)
            step >>= 1
        for i in range(part.size):
            into[i] = at[i] if part[i] == part[i] else n_bins
        widen(part, into, low, high)


@compiled(inner=True)
def halve(points, values, place, step):
    """Go on by a step where the point behind it is below the value."""
    for i in range(values.size):
        here = np.uint64(place[i])
        place[i] += step if points[here] < values[i] else 0


@compiled(inner=True)
def widen(values, codes, low, high):
    """low and high of bins let in the values that are in them."""
    for i in range(values.size):
        x, b = values[i], np.uint64(codes[i])
        if x < low[b]:
            low[b] = x
        if x > high[b]:
            high[b] = x
