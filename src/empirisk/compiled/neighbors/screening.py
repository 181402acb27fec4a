"""The nearest rows by matrix products in single precision, which say which rows to look at.

Of centred rows z and a point x the product of [-2x, 1] and [z, (1 - 2c)|z|^2] is |x - z|^2 - |x|^2,
but for what cancels. With c = (p + 8) 2^-24 the products are off by at most c (2|x||z| + |z|^2), in
whatever order they are added up, so

    product <= |x - z|^2 - (1 - c)|x|^2 <= product + 2c|x|^2 + 4c|z|^2

always: a row whose product is beyond the right side of k others is out. Of the few rows that are
left the distance is computed from the differences, in double precision. What is found is exact.
"""

import numpy as np

from empirisk.compiled.decorator import compiled
from empirisk.compiled.neighbors.gaps import square_between
from empirisk.compiled.neighbors.nearest_list import keep_nearest, room_for, write_nearest

CHUNK = 64  # products that are looked at together
POINTS, ROWS = 512, 256  # of a block of products: half a megabyte stays in the cache
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
    points, halves, sizes, rows, blocks, unit, slack, fold, own, distances, nearest
):  # fmt: skip
    """The k nearest rows of each point by squared distance, k = nearest.shape[1], in order.

    Parameters
    ----------
    points : float64 array (m, p)
    halves : float32 array (m, p + 1)
        [-2x, 1] of centred points in the unit of the blocks.
    sizes : float64 array (m,)
        (1 - c)|x|^2 of these; minus infinity where single precision does not reach.
    rows : float64 array (n, p)
    blocks : float32 array (n / ROWS, p + 1, ROWS)
        [z, (1 - 2c)|z|^2], transposed; infinite beyond the last row.
    unit : float
        A squared distance times this is in the unit of the blocks.
    slack : float
        c.
    fold, own : int32 arrays (n,) and (m,)
        A point looks past the rows of its own fold; empty where all rows count.
    """
    m, k = points.shape[0], nearest.shape[1]
    at_once, room = min(m, POINTS), room_for(k, np.int64(CHUNK))
    product, row = np.empty((at_once, room)), np.empty((at_once, room), np.int64)
    count, limit = np.empty(at_once, np.int64), np.empty(at_once, np.float32)
    products = np.empty((at_once, ROWS), np.float32)
    chunks = products.reshape(at_once, ROWS // CHUNK, CHUNK)
    for first in range(0, m, at_once):
        last = min(first + at_once, m)
        count[:], limit[:] = 0, np.inf
        for b in range(blocks.shape[0]):
            np.dot(halves[first:last], blocks[b], products[: last - first])
            for q in range(first, last):
                a = q - first
                for c in range(chunks.shape[1]):
                    if how_many(chunks[a, c], limit[a]) == 0:
                        continue
                    mine = own[q] if fold.size else np.int32(-1)
                    count[a] = take_up(
                        chunks[a, c], limit[a], b * ROWS + c * CHUNK, rows.shape[0], fold, mine,
                        product[a], row[a], count[a],
                    )  # fmt: skip
                    if count[a] > k and (limit[a] == np.inf or count[a] > 2 * k + 16):
                        count[a], limit[a] = cut_list(
                            product[a], row[a], count[a], k, points[q], sizes[q], rows, blocks,
                            unit, slack,
                        )  # fmt: skip
        for q in range(first, last):
            a = q - first
            if count[a] > k:
                count[a], _ = drop_farther(product[a], row[a], count[a], k, sizes[q], blocks, slack)
            measure(points[q], rows, row[a], count[a], product[a])
            write_nearest(product[a], row[a], count[a], k, distances[q], nearest[q])


@compiled(inner=True)
def how_many(products, limit):
    """Of the products of a chunk that are up to a limit."""
    found = np.int32(0)
    for r in range(CHUNK):
        found = np.int32(found + np.int32(products[r] <= limit))
    return found


@compiled(inner=True)
def take_up(products, limit, at, n, fold, own, product, row, count):
    """Add the rows of a chunk up to a limit to the list of a point; its new length."""
    for r in range(CHUNK):
        if products[r] <= limit and at + r < n and (fold.size == 0 or fold[at + r] != own):
            product[count], row[count] = products[r], at + r
            count += 1
    return count


@compiled(inner=True)
def cut_list(product, row, count, k, x, size, rows, blocks, unit, slack):
    """Drop what is not among the k nearest; how many are left, and up to which product."""
    count, reach = drop_farther(product, row, count, k, size, blocks, slack)
    if count > 2 * k + 16:  # too many for single precision to tell apart
        count, reach = drop_measured(product, row, count, k, x, size, rows, unit)
    return count, rounded_up(reach)


@compiled(inner=True)
def drop_farther(product, row, count, k, size, blocks, slack):
    """Keep the k least products, and what may be as near; how many, and up to which product."""
    keep_nearest(product, row, count, k)
    last, reach = blocks.shape[1] - 1, -np.inf
    for a in range(k):
        i = row[a]
        reach = max(reach, product[a] + 5.0 * slack * blocks[i // ROWS, last, i % ROWS])
    reach += 3.0 * slack * abs(size) + VANISHED
    left = k
    for a in range(k, count):
        if product[a] <= reach:
            product[left], row[left] = product[a], row[a]
            left += 1
    return left, reach


@compiled(inner=True)
def drop_measured(product, row, count, k, x, size, rows, unit):
    """Keep the k nearest, with products that are right; how many, and up to which product."""
    measure(x, rows, row, count, product)
    keep_nearest(product, row, count, k)
    reach = product[k - 1] * unit - size + VANISHED
    for a in range(k):
        product[a] = product[a] * unit - size
    return k, reach


@compiled(inner=True)
def measure(x, rows, row, count, distance):
    """The squared distances of the listed rows."""
    for a in range(count):
        distance[a] = square_between(x, rows[row[a]])


@compiled(inner=True)
def rounded_up(number):
    """In single precision, not below it."""
    found = np.float32(number)
    return found if found >= number else np.nextafter(found, np.float32(np.inf))
