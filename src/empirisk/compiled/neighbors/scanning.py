"""The nearest rows by looking at all of them, bucket by bucket, in double precision."""

import numpy as np

from empirisk.compiled.decorator import compiled
from empirisk.compiled.neighbors.gaps import gaps_to_bucket, look_through
from empirisk.compiled.neighbors.nearest_list import cut_if_grown, room_for, write_nearest


@compiled(makes_arrays=True)
def scan_rows(cells, order, begin, fold, points, own, norm, power, distances, rows):
    """The k nearest rows of each point, k = rows.shape[1], in order.

    As `search_tree`, of buckets without a tree above them.
    """
    k, at_once = rows.shape[1], cells.shape[2]
    gap = np.empty(at_once)
    distance, row = np.empty(room_for(k, at_once)), np.empty(room_for(k, at_once), np.int64)
    for q in range(points.shape[0]):
        mine = own[q] if fold.size else np.int32(-1)
        count, farthest = np.int64(0), np.inf
        for b in range(begin.size - 1):
            gaps_to_bucket(cells[b], points[q], norm, power, gap)
            m = begin[b + 1] - begin[b]
            count = look_through(
                order, begin[b], m, fold, mine, gap, farthest, distance, row, count
            )
            count, farthest = cut_if_grown(distance, row, count, k, farthest)
        write_nearest(distance, row, count, k, distances[q], rows[q])
