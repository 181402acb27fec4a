"""The rows of a node in the order of a feature.

An entry is 64 bits: a code in the upper half, the position of a row in the node in the lower half.
Sorting is by comparing all pairs in small nodes, which has no branches, and by distribution (radix
sort from the lowest digit) in large ones. Rows of the same code keep their order.
"""

import numpy as np

from empirisk.compiled.decorator import compiled

HALF = np.uint64(32)
LOW = np.uint64(0xFFFFFFFF)
LARGEST = np.uint32(0xFFFFFFFF)
ONE = np.uint32(1)
ALL_PAIRS = 32  # rows
PAIR_BITS = 5  # of a position among them
KEY_BITS = 31  # of a signed integer
DIGIT_BITS = 11


@compiled(inner=True)
def gather(small, medium, large, feature, rows, start, m, codes):
    """codes[i] = the feature's code in row rows[start + i]; returns the least and the largest."""
    mine, here = rows[start : start + m], np.int64(feature.place)
    if feature.table == 0:
        take(small[here], mine, codes)
    elif feature.table == 1:
        take(medium[here], mine, codes)
    else:
        take(large[here], mine, codes)
    low, high = LARGEST, np.uint32(0)
    for i in range(np.uint64(m)):  # apart from the loop before it runs on many codes at once
        c = codes[i]
        low, high = c if c < low else low, c if c > high else high
    return low, high


@compiled(signatures=3, inner=True)
def take(column, rows, codes):
    """codes[i] = the code in row rows[i]. An unsigned i is not asked if it counts from the end."""
    for i in range(np.uint64(rows.size)):
        codes[i] = np.uint32(column[rows[i]])


@compiled(inner=True)
def sort_by_pairs(codes, low, m, entries, at, keys):
    """Sort few rows: the place of a key is the number of smaller keys, and no two are equal."""
    padded = (m + 7) & ~7
    for i in range(m):
        keys[0, i] = np.int32(((codes[i] - low) << np.uint32(PAIR_BITS)) | np.uint32(i))
    for i in range(padded):
        keys[1, i] = 0
    for j in range(m):
        key = keys[0, j]
        for i in range(padded):
            keys[1, i] += np.int32(key < keys[0, i])
    for i in range(m):
        entries[at + keys[1, i]] = (np.uint64(codes[i]) << HALF) | np.uint64(i)


@compiled(inner=True)
def sort_by_digits(codes, low, bits, m, entries, at, spare, counts):
    """Radix sort of m rows whose codes minus `low` have so many bits.

    Digits are short in small nodes, where going through the counts would cost more than a pass.
    """
    widest = DIGIT_BITS if m > 2048 else (9 if m > 256 else 7)
    passes = -(-bits // widest)
    width = -(-bits // passes)
    mask = np.uint32((1 << width) - 1)
    here, there = at, spare
    if passes % 2 == 0:  # the last pass shall end at `at`
        here, there = spare, at
    for d in range(passes):
        shift = np.uint32(d * width)
        for b in range(np.int64(mask) + 1):
            counts[b] = 0
        for i in range(m):
            counts[((codes[i] - low) >> shift) & mask] += ONE
        total = np.uint32(0)
        for b in range(np.int64(mask) + 1):
            count = counts[b]
            counts[b] = total
            total += count
        if d == 0:
            for i in range(m):
                c = codes[i]
                b = (c - low) & mask
                entries[here + counts[b]] = (np.uint64(c) << HALF) | np.uint64(i)
                counts[b] += ONE
            continue
        for i in range(m):
            entry = entries[here + i]
            b = ((np.uint32(entry >> HALF) - low) >> shift) & mask
            entries[there + counts[b]] = entry
            counts[b] += ONE
        here, there = there, here


@compiled(inner=True)
def sort_codes(codes, low, high, m, entries, at, spare, counts, keys):
    """Fill entries[at:at + m]: the rows of a node by their code, then by position."""
    bits, span = 1, np.uint32(high - low) >> ONE
    while span > 0:
        span >>= ONE
        bits += 1
    if m <= ALL_PAIRS and bits + PAIR_BITS <= KEY_BITS:
        sort_by_pairs(codes, low, m, entries, at, keys)
    else:
        sort_by_digits(codes, low, bits, m, entries, at, spare, counts)
