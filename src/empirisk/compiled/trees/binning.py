"""Sums by code, where a node has few codes for its rows: no sorting is needed."""

import numpy as np

from empirisk.compiled.decorator import compiled
from empirisk.compiled.trees.ordering import HALF

BINS_PER_ROW = 4  # sorting a row costs about as much as going through so many bins


@compiled
def bin_sums(codes, low, n_bins, m, sums, bins, order):
    """Entries of the bins that are not empty, in order; the last bin holds the missing values.

    Returns the number of entries.
    """
    for c in range(n_bins + 1):
        bins[c, 0] = 0.0
        bins[c, 1] = 0.0
    for i in range(m):
        c = codes[i] - low
        bins[c, 0] += sums[i, 0]
        bins[c, 1] += sums[i, 1]
    n_entries = 0
    for c in range(n_bins):
        weight = bins[c, 0]
        bins[n_entries, 0] = weight
        bins[n_entries, 1] = bins[c, 1]
        order[0, n_entries] = (np.uint64(c) << HALF) | np.uint64(n_entries)
        n_entries += weight > 0.0
    return n_entries


@compiled
def bin_classes(codes, low, n_bins, n_classes, m, sums, label, bins, bin_label, order):
    """As `bin_sums`, an entry for each class of each bin."""
    for c in range((n_bins + 1) * n_classes):
        bins[c, 0] = 0.0
    for i in range(m):
        c = (codes[i] - low) * np.uint32(n_classes) + np.uint32(label[i])
        bins[c, 0] += sums[i, 0]
    n_entries, cell = 0, 0
    for c in range(n_bins):
        for k in range(n_classes):
            weight = bins[cell, 0]
            bins[n_entries, 0] = weight
            bin_label[n_entries] = k
            order[0, n_entries] = (np.uint64(c) << HALF) | np.uint64(n_entries)
            n_entries += weight > 0.0
            cell += 1
    return n_entries
