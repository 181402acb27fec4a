"""Rows in the order of each feature, cut into bins: once for all rounds of stumps."""

import numpy as np

from empirisk.compiled.boosting.split_terms import LAST, ROW, START
from empirisk.compiled.decorator import compiled
from empirisk.compiled.trees.ordering import gather

MOST_BINS = 255  # beside the one of missing values: numbers of bins have eight bits
ONE = np.uint32(1)


@compiled
def bin_rows(small, medium, large, features, rows, first, order, bins, ends, n_bins, fine):
    """Sort the rows by features first, first + 1, ... and cut them into bins, codes kept together.

    order[f, i] = the number of the row that comes i-th, missing values last, with the mark LAST if
    the next one has another code; bins[f, r] = the bin of row r; bin b ends before
    order[f, ends[f, b]]; n_bins[f] is the bin of missing values. fine[f] says whether each bin is
    one code.
    """
    n = rows.size
    codes = np.empty(n, np.uint32)
    for f in range(order.shape[0]):
        feature = features[first + f]
        gather(small, medium, large, feature, rows, START, n, codes)
        counts = np.zeros(np.int64(feature.n_codes) + 2, np.uint32)
        for i in range(n):
            counts[codes[i] + ONE] += ONE
        n_seen = n - np.int64(counts[feature.n_codes + ONE])
        n_bins[f], fine[f] = cut(counts[1:-1], n_seen, ends[f])
        for c in range(1, counts.size):
            counts[c] += counts[c - 1]
        for i in range(n):
            order[f, counts[codes[i]]] = i
            counts[codes[i]] += ONE
        for c in range(counts.size - 1):  # counts[c] is where the rows of code c end by now
            if counts[c] > 0 and (c == 0 or counts[c] > counts[c - 1]):
                order[f, counts[c] - ONE] |= LAST
        for i in range(n_seen, n):
            bins[f, order[f, i] & ROW] = n_bins[f]
        start = 0
        for b in range(n_bins[f]):
            for i in range(start, ends[f, b]):
                bins[f, order[f, i] & ROW] = b
            start = ends[f, b]


@compiled(inner=True)
def cut(counts, n, ends):
    """Where bins of codes end that have so many rows each: their number, and if each is one code.

    Codes are cut where a share 1/255, 2/255, ... of all rows is passed; each is a bin where they
    are no more.
    """
    distinct = 0
    for c in range(counts.size):
        distinct += counts[c] > 0
    fine = distinct <= MOST_BINS
    n_bins, passed, share = 0, 0, 1
    for c in range(counts.size):
        passed += np.int64(counts[c])
        if counts[c] > 0 and (fine or passed * MOST_BINS >= share * n):
            ends[n_bins] = passed
            n_bins += 1
            share = passed * MOST_BINS // max(n, 1) + 1
    return n_bins, fine
