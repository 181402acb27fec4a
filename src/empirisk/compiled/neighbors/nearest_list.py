"""The nearest rows found so far: a list that is cut to k whenever it has grown.

Rows are in the order of (distance, row): of two rows at the same distance the earlier is nearer.
So the k nearest rows do not depend on the order in which rows are looked at.
"""

import numpy as np

from empirisk.compiled.decorator import compiled

FEW = 48  # entries that are sorted by insertion


@compiled(inner=True)
def comes_before(d, i, e, j):
    """Whether row i at distance d is nearer than row j at distance e."""
    return d < e or (d == e and i < j)


@compiled(inner=True)
def swap(distance, row, a, b):
    """Exchange two places."""
    distance[a], distance[b] = distance[b], distance[a]
    row[a], row[b] = row[b], row[a]


@compiled(inner=True)
def keep_nearest(distance, row, count, k):
    """Put the k nearest of `count` > k entries first, the farthest of them last (Hoare's find)."""
    low, high = np.int64(0), count - 1
    while low < high:
        middle = (low + high) // 2
        if comes_before(distance[middle], row[middle], distance[low], row[low]):
            swap(distance, row, middle, low)
        if comes_before(distance[high], row[high], distance[low], row[low]):
            swap(distance, row, high, low)
        if comes_before(distance[high], row[high], distance[middle], row[middle]):
            swap(distance, row, high, middle)
        pivot, at = distance[middle], row[middle]
        a, b = low, high
        while a <= b:
            while comes_before(distance[a], row[a], pivot, at):
                a += 1
            while comes_before(pivot, at, distance[b], row[b]):
                b -= 1
            if a <= b:
                swap(distance, row, a, b)
                a += 1
                b -= 1
        if k - 1 <= b:
            high = b
        elif k - 1 >= a:
            low = a
        else:
            return


@compiled(inner=True)
def sort_by_distance(distance, row, count):
    """Nearest first."""
    if count > FEW:
        sort_by_heap(distance, row, count)
        return
    for a in range(1, count):
        d, i = distance[a], row[a]
        b = a - 1
        while b >= 0 and comes_before(d, i, distance[b], row[b]):
            distance[b + 1], row[b + 1] = distance[b], row[b]
            b -= 1
        distance[b + 1], row[b + 1] = d, i


@compiled(inner=True)
def sort_by_heap(distance, row, count):
    """Nearest first, of equally near ones the earlier row."""
    for a in range(count // 2 - 1, -1, -1):
        sift_down(distance, row, a, count)
    first = np.int64(0)
    for end in range(count - 1, 0, -1):
        swap(distance, row, first, end)
        sift_down(distance, row, first, end)


@compiled(inner=True)
def sift_down(distance, row, a, count):
    """Let an entry sink in a heap whose farthest entry is on top."""
    d, i = distance[a], row[a]
    while 2 * a + 1 < count:
        b = 2 * a + 1
        if b + 1 < count and comes_before(distance[b], row[b], distance[b + 1], row[b + 1]):
            b += 1
        if not comes_before(d, i, distance[b], row[b]):
            break
        distance[a], row[a] = distance[b], row[b]
        a = b
    distance[a], row[a] = d, i


@compiled(inner=True)
def room_for(k, at_once):
    """How long a list of k is if so many entries may be added before it is cut."""
    return 2 * k + 16 + at_once


@compiled(inner=True)
def cut_if_grown(distance, row, count, k, farthest):
    """The length of the list, and the distance beyond which no row can be among the k nearest."""
    if count > k and (farthest == np.inf or count > 2 * k + 16):
        keep_nearest(distance, row, count, k)
        return k, distance[k - 1]
    return count, (distance_if_full(distance, count, k) if farthest == np.inf else farthest)


@compiled(inner=True)
def distance_if_full(distance, count, k):
    """The distance of the farthest of k, infinite as long as there are fewer."""
    if count < k:
        return np.inf
    farthest = distance[0]
    for a in range(1, k):
        farthest = max(farthest, distance[a])
    return farthest


@compiled(inner=True)
def write_nearest(distance, row, count, k, distances, rows):
    """The k nearest in order; where there are fewer, -1 at an infinite distance follows."""
    if count > k:
        keep_nearest(distance, row, count, k)
        count = k
    sort_by_distance(distance, row, count)
    for a in range(count):
        distances[a], rows[a] = distance[a], row[a]
    for a in range(count, k):
        distances[a], rows[a] = np.inf, -1
