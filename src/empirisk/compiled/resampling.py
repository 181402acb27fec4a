"""Bootstrap resamples as a function of a seed and the number of the resample.

Resample b is drawn from a stream of its own, SplitMix64 (Steele, Lea & Flood 2014) from a start
that two rounds of hashing give: any resample can be drawn again, alone, on any thread. A word of
64 bits gives two rows, each half times n, the high part of it taken (Lemire 2019).
"""

import numpy as np

from empirisk.compiled.decorator import compiled
from empirisk.compiled.streams import (
    GOLDEN,
    HALF_WORD,
    LOW_HALF,
    below,
    bits,
    scramble,
    uniform,
)

ONE = np.uint64(1)


@compiled
def draw(seed, b, n, rows):
    """Fill `rows`, of even length, from the uniform distribution on 0..n-1; n < 2^32."""
    start = np.uint64(bits(seed, b))
    bound = np.uint64(n)
    left_over = (LOW_HALF - bound + ONE) % bound
    least, state = LOW_HALF, start
    for i in range(rows.size // 2):
        state += GOLDEN
        word = np.uint64(scramble(state))
        high = (word >> HALF_WORD) * bound
        low = (word & LOW_HALF) * bound
        rows[2 * i] = np.uint32(high >> HALF_WORD)
        rows[2 * i + 1] = np.uint32(low >> HALF_WORD)
        least = min(least, min(high & LOW_HALF, low & LOW_HALF))
    if least < left_over:
        redraw(start, n, left_over, rows)


@compiled
def redraw(start, n, left_over, rows):
    """Draw again, without bias, the rows that came from the values left over."""
    bound = np.uint64(n)
    for i in range(rows.size):
        word = np.uint64(scramble(start + np.uint64(i // 2 + 1) * GOLDEN))
        half = word & LOW_HALF if i % 2 else word >> HALF_WORD
        if ((half * bound) & LOW_HALF) < left_over:
            rows[i] = np.uint32(below(np.int64(start >> ONE), i, n))


@compiled
def resample_rows(seed, first, n, rows):
    """rows[b] = the rows that resample first + b draws from n, in order of the draw."""
    m = rows.shape[1]
    drawn = np.empty(m + m % 2, np.uint32)
    for b in range(rows.shape[0]):
        draw(seed, first + b, n, drawn)
        for i in range(m):
            rows[b, i] = drawn[i]


@compiled
def resample_counts(seed, first, m, counts):
    """counts[b, i] = how often m draws from the n rows take row i, in resample first + b."""
    n = counts.shape[1]
    rows = np.empty(m + m % 2, np.uint32)
    counts[:] = 0.0
    for b in range(counts.shape[0]):
        draw(seed, first + b, n, rows)
        for i in range(m):
            counts[b, rows[i]] += 1.0


@compiled
def resample_sums(values, seed, first, m, sums):
    """sums[b] = the sum of the values of m rows, in resample first + b."""
    rows = np.empty(m + m % 2, np.uint32)
    quarters = m // 4
    for b in range(sums.size):
        draw(seed, first + b, values.size, rows)
        # Four sums side by side: one alone waits for each of its additions.
        s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
        for i in range(quarters):
            s0 += values[rows[4 * i]]
            s1 += values[rows[4 * i + 1]]
            s2 += values[rows[4 * i + 2]]
            s3 += values[rows[4 * i + 3]]
        for i in range(4 * quarters, m):
            s0 += values[rows[i]]
        sums[b] = (s0 + s1) + (s2 + s3)


@compiled
def nested_counts(seed, first, drawn, counts):
    """counts[r, i] for resamples, as large again, of the rows that one resample has drawn."""
    m = drawn.size
    places = np.empty(m + m % 2, np.uint32)
    counts[:] = 0.0
    for r in range(counts.shape[0]):
        draw(seed, first + r, m, places)
        for i in range(m):
            counts[r, drawn[places[i]]] += 1.0


@compiled
def even_counts(seed, m, counts):
    """counts[i] += how often m draws with replacement take i, all of 0..n-1 alike."""
    rows = np.empty(m + m % 2, np.uint32)
    draw(seed, np.int64(0), counts.size, rows)
    for i in range(m):
        counts[rows[i]] += 1


@compiled
def uneven_counts(seed, m, upto, guide, counts):
    """counts[i] += how often m draws with replacement take i, with chances upto[i] - upto[i-1].

    `upto` are cumulated chances, the last 1; guide[g] is the first i whose upto exceeds g / n, from
    where a draw walks to its place (Chen & Asau 1974): two steps on average.
    """
    n = counts.size
    for t in range(m):
        u = uniform(seed, t)
        i = guide[min(np.int64(u * n), n - 1)]
        while upto[i] <= u:
            i += 1
        counts[i] += 1


@compiled
def subset_counts(seed, m, copies, counts):
    """counts[i] += how many of the copies of i are among m drawn without replacement from all.

    In one pass, each copy taken with the chance of those still wanted among those still to come
    (Fan, Muller & Rezucha 1962).
    """
    left = copies.sum()
    wanted = m
    for i in range(copies.size):
        for _ in range(copies[i]):
            if below(seed, left, left) < wanted:
                counts[i] += 1
                wanted -= 1
            left -= 1
