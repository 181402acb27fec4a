"""The nearest rows by matrix products in single precision, which only say which rows to look at.

Of centred rows z and a point x the product of [-2x, 1] and [z, (1 - 2c)|z|^2] is |x - z|^2 - |x|^2,
but for what cancels. With c = (p + 8) 2^-24 the products are off by at most c (2|x||z| + |z|^2), in
whatever order they are added up, so

    product <= |x - z|^2 - (1 - c)|x|^2

always: a row whose product is larger than that of the farthest distance so far is out, and of all
others the distance is computed from the differences, in double precision. What is found is exact.
"""

import numpy as np

from empirisk.compiled.decorator import compiled
from empirisk.compiled.neighbors.gaps import square_between
from empirisk.compiled.neighbors.nearest_list import cut_if_grown, room_for, write_nearest

CHUNK = 64  # products that are looked at together
POINTS, ROWS = 512, 512  # of a block of products: 1 MB stays in the cache
VANISHED = 1e-30  # by so much products of small numbers may be off, where the largest is about 1


@compiled
def farthest_from(rows, centre):
    """The largest coordinate of a difference to the centre."""
    most = 0.0
    for i in range(rows.shape[0]):
        for j in range(rows.shape[1]):
            most = max(most, abs(rows[i, j] - centre[j]))
    return most


@compiled
def fill_blocks(rows, mean, unit, keep, blocks):
    """blocks[b, :, r] = [z, keep |z|^2] of z = (row - mean) unit."""
    p = rows.shape[1]
    for i in range(rows.shape[0]):
        b, r = i // ROWS, i % ROWS
        size = 0.0
        for j in range(p):
            z = (rows[i, j] - mean[j]) * unit
            size += z * z
            blocks[b, j, r] = z
        blocks[b, p, r] = keep * size


@compiled(makes_arrays=True)
def screen_rows(
    points, halves, sizes, rows, blocks, unit, fold, own, distances, nearest
):  # fmt: skip
    """The k nearest rows of each point by squared distance, k = nearest.shape[1], in order.

    Parameters
    ----------
    points : float64 array (m, p)
    halves : float32 array (m, p + 1)
        [-2x, 1] of centred points in the unit of the blocks.
    sizes : float64 array (m,)
        (1 - c)|x|^2 of these.
    rows : float64 array (n, p)
    blocks : float32 array (n / ROWS, p + 1, ROWS)
        [z, (1 - 2c)|z|^2], transposed; infinite beyond the last row.
    unit : float
        A squared distance times this is in the unit of the blocks.
    fold, own : int32 arrays (n,) and (m,)
        A point looks past the rows of its own fold; empty where all rows count.
    """
    m, k = points.shape[0], nearest.shape[1]
    room = room_for(k, np.int64(CHUNK))
    distance, row = np.empty((POINTS, room)), np.empty((POINTS, room), np.int64)
    count, farthest = np.empty(POINTS, np.int64), np.empty(POINTS)
    products = np.empty((POINTS, blocks.shape[2]), np.float32)
    chunks = products.reshape(POINTS, blocks.shape[2] // CHUNK, CHUNK)
    for first in range(0, m, POINTS):
        last = min(first + POINTS, m)
        count[:], farthest[:] = 0, np.inf
        for b in range(blocks.shape[0]):
            found = products[: last - first]
            np.dot(halves[first:last], blocks[b], found)
            at = b * blocks.shape[2]
            for q in range(first, last):
                a = q - first
                count[a], farthest[a] = look_at_products(
                    chunks[a], at, points[q], sizes[q], rows, unit, fold,
                    own[q] if fold.size else np.int32(-1), k, distance[a], row[a], count[a],
                    farthest[a],
                )  # fmt: skip
        for q in range(first, last):
            a = q - first
            write_nearest(distance[a], row[a], count[a], k, distances[q], nearest[q])


@compiled(inner=True)
def look_at_products(chunks, at, x, size, rows, unit, fold, own, k, distance, row, count, farthest):
    """Go through the products of a point with a block of rows; the new list and its end."""
    limit = limit_of(farthest, size, unit)
    for c in range(chunks.shape[0]):
        within = np.int32(0)
        for r in range(CHUNK):
            within += np.int32(chunks[c, r] <= limit)
        if within == 0:
            continue
        for r in range(CHUNK):
            i = at + c * CHUNK + r
            if chunks[c, r] <= limit and i < rows.shape[0]:
                if fold.size and fold[i] == own:
                    continue
                d = square_between(x, rows[i])
                if d <= farthest:
                    distance[count], row[count] = d, i
                    count += 1
        count, farthest = cut_if_grown(distance, row, count, k, farthest)
        limit = limit_of(farthest, size, unit)
    return count, farthest


@compiled(inner=True)
def limit_of(farthest, size, unit):
    """The largest product that a row up to the farthest distance can have, rounded up."""
    exact = farthest * unit - size + VANISHED
    limit = np.float32(exact)
    return limit if limit >= exact else np.nextafter(limit, np.float32(np.inf))
