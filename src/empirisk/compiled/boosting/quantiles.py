"""Bins of a feature: their ends, and the bin of each value."""

import numpy as np

from empirisk.compiled.decorator import compiled

HALF = 0.5


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

    Up to max_bins values have a bin each. Of more, a value that weighs as much as a mean bin has a
    bin alone; the others are spread over the remaining bins, so that these weigh about the same
    (as LightGBM does, Ke et al. 2017). The mean is that of what is left, or rounding up would leave
    too little for the last bins.
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
def code_values(values, upper, n_bins, low, high, codes):
    """codes[i] = the first bin b with values[i] <= upper[b]; n_bins where it is missing.

    upper has 255 places, infinite from the last bin on. low and high become the least and largest
    value of each bin; they hold +-infinity, or what other values made them, before. Binary search
    without a branch: eight halvings.
    """
    for i in range(values.size):
        x = values[i]
        b = np.uint64(0)
        for step in (128, 64, 32, 16, 8, 4, 2, 1):
            b += np.uint64(step) * np.uint64(upper[b + np.uint64(step - 1)] < x)
        if x != x:
            codes[i] = n_bins
            continue
        codes[i] = b
        if x < low[b]:
            low[b] = x
        if x > high[b]:
            high[b] = x
