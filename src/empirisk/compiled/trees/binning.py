"""Sums by code, where a node has few codes for its rows: no sorting is needed.

The sums of the bins stand behind those of the rows, so that an entry of a bin is like one of a row.
"""

import numpy as np

from empirisk.compiled.decorator import compiled
from empirisk.compiled.trees.ordering import HALF

ONE = np.uint32(1)
BINS_PER_ROW = 2  # sorting a row costs about as much as going through so many bins


@compiled(inner=True)
def bin_sum(codes, low, n_bins, m, sums, bins, entries, at):
    """Entries of the bins that are not empty, in the order of their codes; returns their number."""
    for c in range(bins, bins + n_bins):
        sums[c, 0] = 0.0
        sums[c, 1] = 0.0
    for i in range(m):
        c = bins + np.int64(codes[i] - low)
        sums[c, 0] += sums[i, 0]
        sums[c, 1] += sums[i, 1]
    n = 0
    for c in range(n_bins):
        code = np.uint64(low) + np.uint64(c)
        entries[at + n] = (code << HALF) | np.uint64(bins + c)
        n += sums[bins + c, 0] > 0.0
    return n


@compiled(inner=True)
def bin_classes(codes, low, n_bins, n_classes, m, sums, label, bins, entries, at, weighted, counts):
    """As `bin_sum`, an entry for each class that a bin has."""
    n_cells = n_bins * n_classes
    if weighted or 2 * n_cells > counts.size:
        for c in range(bins, bins + n_cells):
            sums[c, 0] = 0.0
        for i in range(m):
            c = bins + np.int64(codes[i] - low) * n_classes + label[i]
            sums[c, 0] += sums[i, 0]
    else:
        count_cells(codes, low, n_cells, np.uint32(n_classes), m, label, counts)
        for c in range(n_cells):
            sums[bins + c, 0] = np.float64(counts[c]) + np.float64(counts[n_cells + c])
    n, cell = 0, bins
    for c in range(n_bins):
        code = (np.uint64(low) + np.uint64(c)) << HALF
        for k in range(n_classes):
            label[cell] = k
            entries[at + n] = code | np.uint64(cell)
            n += sums[cell, 0] > 0.0
            cell += 1
    return n


@compiled(inner=True)
def count_cells(codes, low, n_cells, n_classes, m, label, counts):
    """How many rows have each code and class: in two parts, of even and of odd rows.

    Neighbouring rows are often in one cell; two counters need not wait for each other.
    """
    for c in range(2 * n_cells):
        counts[c] = 0
    odd = np.uint32(n_cells)
    for i in range(0, m - 1, 2):
        counts[(codes[i] - low) * n_classes + np.uint32(label[i])] += ONE
        counts[odd + (codes[i + 1] - low) * n_classes + np.uint32(label[i + 1])] += ONE
    if m % 2 == 1:
        counts[(codes[m - 1] - low) * n_classes + np.uint32(label[m - 1])] += ONE
