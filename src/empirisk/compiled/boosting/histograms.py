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
NONE, ONE, TWO, THREE, FOUR = (np.uint64(number) for number in range(5))


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
def add_two(a, b, rows, entries, into_a, into_b, other_a, other_b):
    """As `add_four`, of two columns; every other row in another place.

    Neighbouring rows often have the same codes: a sum need not wait for the last one then.
    """
    n = np.uint64(rows.size)
    for k in range(NONE, n & ~ONE, TWO):
        row, x = np.uint64(rows[k]), entries[k]
        into_a[np.uint64(a[row])] += x
        into_b[np.uint64(b[row])] += x
        row, x = np.uint64(rows[k | ONE]), entries[k | ONE]
        other_a[np.uint64(a[row])] += x
        other_b[np.uint64(b[row])] += x
    if n & ONE:
        row, x = np.uint64(rows[n - ONE]), entries[n - ONE]
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
def add_one(a, rows, entries, first, second, third, fourth):
    """As `add_two`, of one column, in four places."""
    n = np.uint64(rows.size)
    for k in range(NONE, n & ~THREE, FOUR):
        first[np.uint64(a[np.uint64(rows[k])])] += entries[k]
        second[np.uint64(a[np.uint64(rows[k | ONE])])] += entries[k | ONE]
        third[np.uint64(a[np.uint64(rows[k | TWO])])] += entries[k | TWO]
        fourth[np.uint64(a[np.uint64(rows[k | THREE])])] += entries[k | THREE]
    for k in range(n & ~THREE, n):
        first[np.uint64(a[np.uint64(rows[k])])] += entries[k]


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
    if form == WIDE:
        for c in range(column, column + n_columns):
            place, middle = 2 * first_code[c], first_code[c] + first_code[c + 1]
            add_wide(codes[c], rows, entries, histogram[place:middle],
                     histogram[middle : 2 * first_code[c + 1]])  # fmt: skip
        return
    size = rows.size if form == LEAN else CHUNK
    for start in range(np.int64(0), rows.size, size):
        stop = min(start + size, rows.size)
        add_columns(codes, first_code, column, n_columns, rows[start:stop],
                    start if whole else np.int64(-1), entries[start:stop], room)  # fmt: skip
        for c in range(column, column + n_columns):
            some = room[first_code[c] - first : first_code[c + 1] - first]
            if form == LEAN:
                add_words(some, histogram[first_code[c] : first_code[c + 1]])
            else:
                flush(some, count_bits, histogram[2 * first_code[c] : 2 * first_code[c + 1]])


@compiled(inner=True)
def add_columns(codes, first_code, column, n_columns, rows, start, entries, sums):
    """The sums of entries of one word by the codes of 1, 2 or 4 columns, one after the other.

    The rows begin with `start` and follow each other, unless that is negative.
    """
    a, first = column, first_code[column]
    size = first_code[a + n_columns] - first
    clear(sums[: (4 // n_columns) * size])
    if n_columns == 1:
        add_one(codes[a], rows, entries, sums[:size], sums[size : 2 * size],
                sums[2 * size : 3 * size], sums[3 * size : 4 * size])  # fmt: skip
    elif n_columns == 2:
        b = first_code[a + 1] - first
        add_two(codes[a], codes[a + 1], rows, entries, sums[:b], sums[b:size],
                sums[size : size + b], sums[size + b : 2 * size])  # fmt: skip
    else:
        b, c, d = first_code[a + 1] - first, first_code[a + 2] - first, first_code[a + 3] - first
        into_a, into_b, into_c, into_d = sums[:b], sums[b:c], sums[c:d], sums[d:size]
        if start >= 0:
            add_four_in_order(
                codes[a, start:], codes[a + 1, start:], codes[a + 2, start:], codes[a + 3, start:],
                entries, into_a, into_b, into_c, into_d,
            )  # fmt: skip
        else:
            add_four(codes[a], codes[a + 1], codes[a + 2], codes[a + 3], rows, entries, into_a,
                     into_b, into_c, into_d)  # fmt: skip
    for copy in range(1, 4 // n_columns):
        add_words(sums[copy * size : (copy + 1) * size], sums[:size])


@compiled(inner=True)
def add_words(words, into):
    """into += words."""
    for i in range(words.size):
        into[i] += words[i]


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
