"""Distances from sums of powers, and what to do where these are not within float64.

A difference of 1e160 has a distance, but no square. Points of which a nearest row has a power that
overflowed or vanished are searched for again: the differences to each row are divided by the
largest of them first.
"""

import numpy as np

from empirisk.compiled.decorator import compiled
from empirisk.compiled.neighbors.gaps import EUCLIDEAN, MINKOWSKI
from empirisk.compiled.neighbors.nearest_list import cut_if_grown, room_for, write_nearest

VANISHED = 1e-280  # sums of powers below have lost digits, or all of them


@compiled
def to_distances(gaps, nearest, points, rows, norm, power, lost):
    """From gaps to distances, in place; lost[q]: whether point q has one that powers do not give.

    nearest : int64 array (m, k)
        The rows at these gaps, -1 for none.
    """
    for q in range(gaps.shape[0]):
        lost[q] = False
        for a in range(gaps.shape[1]):
            gap, i = gaps[q, a], nearest[q, a]
            if i >= 0 and norm in (EUCLIDEAN, MINKOWSKI):
                vanished = gap < VANISHED and differ(points[q], rows[i])
                lost[q] |= vanished or gap == np.inf
            if norm == EUCLIDEAN:
                gaps[q, a] = np.sqrt(gap)
            elif norm == MINKOWSKI:
                gaps[q, a] = gap ** (1.0 / power)


@compiled(inner=True)
def differ(x, z):
    """Whether two rows differ anywhere; without a branch, so that it is vectorised."""
    found = False
    for j in range(x.size):
        found |= x[j] != z[j]
    return found


@compiled(makes_arrays=True)
def scan_distances(rows, fold, points, own, norm, power, distances, nearest):
    """As `scan_rows`, by distances that are finite wherever they can be, and not by powers."""
    k = nearest.shape[1]
    one = np.int64(1)
    distance, row = np.empty(room_for(k, one)), np.empty(room_for(k, one), np.int64)
    for q in range(points.shape[0]):
        count, farthest = np.int64(0), np.inf
        for i in range(rows.shape[0]):
            if fold.size and fold[i] == own[q]:
                continue
            d = distance_between(points[q], rows[i], norm, power)
            if d <= farthest:
                distance[count], row[count] = d, i
                count += 1
                count, farthest = cut_if_grown(distance, row, count, k, farthest)
        write_nearest(distance, row, count, k, distances[q], nearest[q])


@compiled(inner=True)
def distance_between(x, z, norm, power):
    """Euclidean, or of a power: g sum_j (|x_j - z_j| / g)^power ^ (1 / power), g the largest."""
    largest = 0.0
    for j in range(x.size):
        largest = max(largest, abs(x[j] - z[j]))
    if largest == 0.0 or largest == np.inf:
        return largest
    total = 0.0
    for j in range(x.size):
        part = abs(x[j] - z[j]) / largest
        total += part * part if norm == EUCLIDEAN else part**power
    return largest * (np.sqrt(total) if norm == EUCLIDEAN else total ** (1.0 / power))
