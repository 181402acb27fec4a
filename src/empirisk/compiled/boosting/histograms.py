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

The first two take 0.3 ns for an update, the last 0.6 ns; it is for few rows, for weights, and where
few rows have nearly all of the gradient. For the first two the codes of eight columns are packed in
a word, so that one look at it serves eight updates.
"""

import numpy as np

from empirisk.compiled.decorator import compiled

LEAN, CHUNKED, WIDE = 0, 1, 2
CHUNK = 4096
SUMS = 2048  # of the columns of a span
COUNT_BITS, CURVATURE_BITS = 13, 25  # of a chunk's sums; the gradient has the rest
LARGEST = 8190.0  # gradient or curvature of a row; rounded up by chance, one more
STRIDE = np.uint64(256)  # from the sums of a column to those of the next one
ONE, BYTE, LAST = np.uint64(1), np.uint64(8), np.uint64(255)


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
def add_eight(words, entries, sums):
    """sums[256 j + code of column j] += the entries of one word of some rows, for eight columns."""
    for k in range(np.uint64(entries.size)):
        word, x = np.uint64(words[k]), entries[k]
        sums[word & LAST] += x
        sums[STRIDE + ((word >> BYTE) & LAST)] += x
        sums[np.uint64(2) * STRIDE + ((word >> np.uint64(16)) & LAST)] += x
        sums[np.uint64(3) * STRIDE + ((word >> np.uint64(24)) & LAST)] += x
        sums[np.uint64(4) * STRIDE + ((word >> np.uint64(32)) & LAST)] += x
        sums[np.uint64(5) * STRIDE + ((word >> np.uint64(40)) & LAST)] += x
        sums[np.uint64(6) * STRIDE + ((word >> np.uint64(48)) & LAST)] += x
        sums[np.uint64(7) * STRIDE + (word >> np.uint64(56))] += x


@compiled(inner=True)
def add_four(words, shift, entries, sums):
    """As `add_eight`, for the four columns whose codes begin at bit `shift`, in two places each.

    Neighbouring rows often have the same codes: a sum need not wait for the last one then.
    """
    n, row = np.uint64(entries.size), np.uint64(0)
    while row < n:
        place = np.uint64(4) * (row & ONE) * STRIDE
        word, x = np.uint64(words[row]) >> shift, entries[row]
        sums[place + (word & LAST)] += x
        sums[place + STRIDE + ((word >> BYTE) & LAST)] += x
        sums[place + np.uint64(2) * STRIDE + ((word >> np.uint64(16)) & LAST)] += x
        sums[place + np.uint64(3) * STRIDE + ((word >> np.uint64(24)) & LAST)] += x
        row += ONE


@compiled(inner=True)
def add_few(words, shift, n_columns, entries, sums):
    """As `add_four`, for one or two columns, in four places each."""
    for k in range(np.uint64(entries.size)):
        place = np.uint64(2) * (k & np.uint64(3)) * STRIDE
        word, x = np.uint64(words[k]) >> shift, entries[k]
        sums[place + (word & LAST)] += x
        if n_columns == 2:
            sums[place + STRIDE + ((word >> BYTE) & LAST)] += x


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
def add_rows(
    form, count_bits, codes, words, first_code, spans, rows, entries, histogram, room,
):  # fmt: skip
    """Add rows, whose entries are given in their order, to the histograms of some columns.

    A span is the first of 8, 4, 2 or 1 neighbouring columns, and how many; their codes lie in one
    word. histogram is flat, column after column. room is for the sums and the codes of a chunk.
    """
    if form == WIDE:
        for s in range(spans.shape[0]):
            for c in range(spans[s, 0], spans[s, 0] + spans[s, 1]):
                place, middle = 2 * first_code[c], first_code[c] + first_code[c + 1]
                add_wide(codes[c], rows, entries, histogram[place:middle],
                         histogram[middle : 2 * first_code[c + 1]])  # fmt: skip
        return
    for start in range(np.int64(0), rows.size, CHUNK):
        stop = min(start + CHUNK, rows.size)
        first_row, n = np.int64(rows[start]), stop - start
        run = np.int64(rows[stop - 1]) - first_row == n - 1  # no row is left out
        for s in range(spans.shape[0]):
            column, n_columns = spans[s, 0], spans[s, 1]
            some = words[column >> 3, first_row : first_row + n] if run else room[SUMS : SUMS + n]
            if not run:
                copy_words(words[column >> 3], rows[start:stop], some)
            add_span(some, column, n_columns, entries[start:stop], room[:SUMS])
            for c in range(column, column + n_columns):
                first, end = first_code[c], first_code[c + 1]
                of_column = room[256 * (c - column) : 256 * (c - column) + end - first]
                if form == LEAN:
                    add_words(of_column, histogram[first:end])
                else:
                    flush(of_column, count_bits, histogram[2 * first : 2 * end])


@compiled(inner=True)
def copy_words(words, rows, into):
    """The words of rows, one after the other."""
    for k in range(np.uint64(rows.size)):
        into[k] = words[np.uint64(rows[k])]


@compiled(inner=True)
def add_span(words, column, n_columns, entries, sums):
    """sums[256 j:] = the sums of entries of one word by the codes of the j-th column of a span."""
    clear(sums)
    shift = np.uint64(8 * (column & 7))
    if n_columns == 8:
        add_eight(words, entries, sums)
        return
    if n_columns == 4:
        add_four(words, shift, entries, sums)
        add_words(sums[1024:], sums[:1024])
    else:
        add_few(words, shift, n_columns, entries, sums)
        for place in range(1, 4):
            add_words(sums[512 * place : 512 * place + 512], sums[:512])


@compiled
def pack_codes(codes, words):
    """words[column // 8, row] has the code of the column in its byte column % 8."""
    for first in range(0, codes.shape[1], CHUNK):
        for c in range(codes.shape[0]):
            column = codes[c, first : first + CHUNK]
            packed, shift = words[c >> 3, first : first + CHUNK], np.uint64(8 * (c & 7))
            others = ~(LAST << shift)
            for i in range(column.size):
                word = np.uint64(packed[i]) & others
                packed[i] = np.int64(word | (np.uint64(column[i]) << shift))


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
