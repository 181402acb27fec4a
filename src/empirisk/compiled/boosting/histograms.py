"""Histograms: for each code of a column, the sums of gradients and curvatures, and the rows.

A row has an entry of whole numbers: its gradient, and its curvature and number of copies packed in
a second word; where all curvatures are 1, gradient and copies in one word. An update is one
addition, 16 bytes wide. Sums of whole numbers do not depend on the order, so the bits of a tree do
not depend on who adds which rows, and a histogram minus that of a child is exactly the other
child's.
"""

import numpy as np

from empirisk.compiled.decorator import compiled

ONE = np.uint64(1)


@compiled(inner=True)
def add_two_words(a, b, rows, entries, start, end, into_a, into_b):
    """Add entries[start:end], those of rows[start:end], to the histograms of two columns."""
    for k in range(np.uint64(start), np.uint64(end)):
        row = np.uint64(rows[k])
        x, y = entries[k << ONE], entries[(k << ONE) | ONE]
        i, j = np.uint64(a[row]) << ONE, np.uint64(b[row]) << ONE
        u, v = into_a[i], into_a[i | ONE]
        into_a[i], into_a[i | ONE] = u + x, v + y
        u, v = into_b[j], into_b[j | ONE]
        into_b[j], into_b[j | ONE] = u + x, v + y


@compiled(inner=True)
def add_one_word(a, b, rows, entries, start, end, into_a, into_b):
    """As `add_two_words`, for entries of one word."""
    for k in range(np.uint64(start), np.uint64(end)):
        row = np.uint64(rows[k])
        x = entries[k]
        into_a[np.uint64(a[row])] += x
        into_b[np.uint64(b[row])] += x


@compiled(inner=True)
def clear(words):
    """Set all to 0."""
    for i in range(words.size):
        words[i] = 0


@compiled(inner=True)
def build(codes, first_code, columns, width, rows, entries, start, end, histogram, spare):
    """The histograms of one or two columns: entries[start:end] are those of rows[start:end].

    histogram is flat: the words of column c begin at width * first_code[c]. `spare` takes what is
    added for a second column that is not there.
    """
    a = columns[0]
    b = columns[1]
    into_a = histogram[width * first_code[a] : width * first_code[a + 1]]
    clear(into_a)
    into_b = spare
    if b >= 0:
        into_b = histogram[width * first_code[b] : width * first_code[b + 1]]
        clear(into_b)
    codes_b = codes[max(b, 0)]
    if width == 2:
        add_two_words(codes[a], codes_b, rows, entries, start, end, into_a, into_b)
    else:
        add_one_word(codes[a], codes_b, rows, entries, start, end, into_a, into_b)


@compiled(inner=True)
def subtract(parent, child, first, end):
    """parent[first:end] -= child[first:end]."""
    for i in range(first, end):
        parent[i] -= child[i]
