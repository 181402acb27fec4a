"""Histograms: for each code of a column, the sums of gradients and curvatures, and the rows.

A row has an entry of whole numbers, and an update is one addition. Sums of whole numbers do not
depend on the order, so the bits of a tree do not depend on who adds which rows, and a histogram
minus that of a child is exactly the other child's. There are three forms:

LEAN
    All curvatures are 1. An entry is one word: the gradient, and below it how many copies the row
    stands for; so is a place of a histogram.
CHUNKED
    An entry is one word: a gradient of 14 bits, a curvature of 13 and one row. Of CHUNK rows the
    sums fit in a word; then they are added to histograms of two words.
WIDE
    An entry has two words: the gradient; the curvature and, below it, the copies. So has a
    histogram: first all gradients, then all others.

The first two take 0.4 ns for an update, the last 0.6 ns; it is for few rows, for weights, and where
few rows have nearly all of the gradient.
"""

import numpy as np

from empirisk.compiled.decorator import compiled

LEAN, CHUNKED, WIDE = 0, 1, 2
CHUNK = 4096
COUNT_BITS, CURVATURE_BITS = 13, 25  # of a chunk's sums; the gradient has the rest
LARGEST = 8191.0  # gradient or curvature of a row
ONE = np.uint64(1)


@compiled(inner=True)
def words_of(form):
    """Of an entry."""
    return 2 if form == WIDE else 1


@compiled(inner=True)
def unpack(word, count_bits):
    """The sums of a chunk as two words of a histogram."""
    curvature = (word >> COUNT_BITS) & ((1 << CURVATURE_BITS) - 1)
    rows = word & ((1 << COUNT_BITS) - 1)
    return word >> (COUNT_BITS + CURVATURE_BITS), (curvature << count_bits) + rows


@compiled(inner=True)
def add_four(a, b, c, d, rows, entries, into_a, into_b, into_c, into_d):
    """Add entries of one word, those of some rows, to the histograms of four columns."""
    for k in range(np.uint64(rows.size)):
        row, x = np.uint64(rows[k]), entries[k]
        into_a[np.uint64(a[row])] += x
        into_b[np.uint64(b[row])] += x
        into_c[np.uint64(c[row])] += x
        into_d[np.uint64(d[row])] += x


@compiled(inner=True)
def add_two(a, b, rows, entries, into_a, into_b):
    """As `add_four`, of two columns."""
    for k in range(np.uint64(rows.size)):
        row, x = np.uint64(rows[k]), entries[k]
        into_a[np.uint64(a[row])] += x
        into_b[np.uint64(b[row])] += x


@compiled(inner=True)
def add_four_in_order(a, b, c, d, entries, into_a, into_b, into_c, into_d):
    """As `add_four`, of all rows in their order."""
    for k in range(np.uint64(entries.size)):
        x = entries[k]
        into_a[np.uint64(a[k])] += x
        into_b[np.uint64(b[k])] += x
        into_c[np.uint64(c[k])] += x
        into_d[np.uint64(d[k])] += x


@compiled(inner=True)
def add_one(a, rows, entries, into):
    """As `add_four`, of one column."""
    for k in range(np.uint64(rows.size)):
        into[np.uint64(a[np.uint64(rows[k])])] += entries[k]


@compiled(inner=True)
def add_wide(a, rows, entries, firsts, seconds):
    """Add entries of two words to the histogram of a column."""
    for k in range(np.uint64(rows.size)):
        c = np.uint64(a[np.uint64(rows[k])])
        firsts[c] += entries[k << ONE]
        seconds[c] += entries[(k << ONE) | ONE]


@compiled(inner=True)
def clear(words):
    """Set all to 0."""
    for i in range(words.size):
        words[i] = 0


@compiled(inner=True)
def build(
    form, count_bits, codes, first_code, column, n_columns, rows, whole, entries, histogram, room,
):  # fmt: skip
    """The histograms of 1, 2 or 4 neighbouring columns: entries are those of the rows, in order.

    whole says that the rows are all, in their order.

    histogram is flat, column after column. room is for the sums of a chunk.
    """
    words = 1 if form == LEAN else 2
    first, end = first_code[column], first_code[column + n_columns]
    clear(histogram[words * first : words * end])
    if form == LEAN:
        add_columns(codes, first_code, np.int64(0), column, n_columns, rows,
                    np.int64(0) if whole else np.int64(-1), entries, histogram)  # fmt: skip
    elif form == WIDE:
        for c in range(column, column + n_columns):
            place, middle = 2 * first_code[c], first_code[c] + first_code[c + 1]
            add_wide(codes[c], rows, entries, histogram[place:middle],
                     histogram[middle : 2 * first_code[c + 1]])  # fmt: skip
    else:
        for start in range(np.int64(0), rows.size, CHUNK):
            stop = min(start + CHUNK, rows.size)
            clear(room[: end - first])
            add_columns(codes, first_code, first, column, n_columns, rows[start:stop],
                        start if whole else np.int64(-1), entries[start:stop], room)  # fmt: skip
            for c in range(column, column + n_columns):
                flush(room[first_code[c] - first : first_code[c + 1] - first], count_bits,
                      histogram[2 * first_code[c] : 2 * first_code[c + 1]])  # fmt: skip


@compiled(inner=True)
def add_columns(codes, first_code, first, column, n_columns, rows, start, entries, sums):
    """Add entries of one word to the sums of 1, 2 or 4 columns, which begin with code `first`.

    The rows begin with `start` and follow each other, unless that is negative.
    """
    a = column
    into_a = sums[first_code[a] - first : first_code[a + 1] - first]
    if n_columns == 1:
        add_one(codes[a], rows, entries, into_a)
        return
    into_b = sums[first_code[a + 1] - first : first_code[a + 2] - first]
    if n_columns == 2:
        add_two(codes[a], codes[a + 1], rows, entries, into_a, into_b)
        return
    into_c = sums[first_code[a + 2] - first : first_code[a + 3] - first]
    into_d = sums[first_code[a + 3] - first : first_code[a + 4] - first]
    if start >= 0:
        add_four_in_order(
            codes[a, start:], codes[a + 1, start:], codes[a + 2, start:], codes[a + 3, start:],
            entries, into_a, into_b, into_c, into_d,
        )  # fmt: skip
    else:
        add_four(codes[a], codes[a + 1], codes[a + 2], codes[a + 3], rows, entries, into_a, into_b,
                 into_c, into_d)  # fmt: skip


@compiled(inner=True)
def flush(sums, count_bits, histogram):
    """Add the sums of a chunk to a histogram of two words."""
    n = sums.size
    firsts, seconds = histogram[:n], histogram[n : 2 * n]
    for c in range(n):
        first, second = unpack(sums[c], count_bits)
        firsts[c] += first
        seconds[c] += second


@compiled(inner=True)
def subtract(parent, child):
    """parent -= child."""
    for i in range(parent.size):
        parent[i] -= child[i]
