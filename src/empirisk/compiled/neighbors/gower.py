"""The nearest rows of a mixed table with missing values, by Gower's distance.

Over the columns of which both rows have a cell, the mean of |x_j - z_j| / range_j for numbers, at
most 1, and of 0 or 1 for equal or different levels. Rows without a common column are at distance 1.
"""

import numpy as np

from empirisk.compiled.decorator import compiled
from empirisk.compiled.neighbors.gaps import look_through
from empirisk.compiled.neighbors.nearest_list import cut_if_grown, room_for, write_nearest


@compiled(makes_arrays=True)
def scan_mixed_rows(cells, order, begin, fold, points, own, category, span, distances, rows):
    """The k nearest rows of each point, k = rows.shape[1], in order.

    cells : float64 array (buckets, p, rows of a bucket), NaN where missing
    category : bool array (p,)
    span : float64 array (p,)
        The range of each column of numbers; 0 where numbers are equal or different.
    """
    k, at_once = rows.shape[1], cells.shape[2]
    gap, common = np.empty(at_once), np.empty(at_once)
    distance, row = np.empty(room_for(k, at_once)), np.empty(room_for(k, at_once), np.int64)
    for q in range(points.shape[0]):
        mine = own[q] if fold.size else np.int32(-1)
        count, farthest = np.int64(0), np.inf
        for b in range(begin.size - 1):
            mixed_gaps(cells[b], points[q], category, span, gap, common)
            m = begin[b + 1] - begin[b]
            count = look_through(
                order, begin[b], m, fold, mine, gap, farthest, distance, row, count
            )
            count, farthest = cut_if_grown(distance, row, count, k, farthest)
        write_nearest(distance, row, count, k, distances[q], rows[q])


@compiled(inner=True)
def mixed_gaps(bucket, x, category, span, gap, common):
    """gap[r] = mean of |x - z| / span, or of differing levels, over what both rows have; else 1."""
    for r in range(gap.size):
        gap[r], common[r] = 0.0, 0.0
    for j in range(x.size):
        at = x[j]
        if np.isnan(at):
            continue
        if category[j] or span[j] == 0.0:
            for r in range(gap.size):
                there = bucket[j, r] == bucket[j, r]
                common[r] += 1.0 if there else 0.0
                gap[r] += 1.0 if there and bucket[j, r] != at else 0.0
        else:
            for r in range(gap.size):
                there = bucket[j, r] == bucket[j, r]
                common[r] += 1.0 if there else 0.0
                gap[r] += min(abs(bucket[j, r] - at) / span[j], 1.0) if there else 0.0
    for r in range(gap.size):
        gap[r] = gap[r] / common[r] if common[r] > 0.0 else 1.0
