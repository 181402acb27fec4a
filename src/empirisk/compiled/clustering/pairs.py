"""Distances between all pairs of rows, a tile of rows against one row at a time.

Rows are in the order of their clusters: cluster k is rows begin[k] to begin[k + 1]. No array of
n x n numbers is ever built.
"""

import numpy as np

from empirisk.compiled.clustering.tiles import LANES
from empirisk.compiled.decorator import compiled
from empirisk.compiled.team import take


@compiled
def mean_distances(sync, first, rows, weight, labels, begin, mass, own, other):
    """The weighted mean distance of each row to the rows of its own cluster, itself included, and
    the least one to those of another cluster; mass[k] is the weight of cluster k."""
    p, K = rows.shape[1], begin.size - 1
    tile, square = np.zeros((p, LANES)), np.empty(LANES)
    b = take(sync)
    while b < first.size - 1:
        for start in range(first[b], first[b + 1], LANES):
            filled = min(LANES, first[b + 1] - start)
            fill_tile(tile, rows, start, filled)
            for r in range(filled):
                other[start + r] = np.inf
            for k in range(K):
                total = np.zeros(LANES)
                for i in range(begin[k], begin[k + 1]):
                    square_to_row(tile, rows[i], square)
                    w = weight[i]
                    for r in range(LANES):
                        total[r] += w * np.sqrt(square[r])
                for r in range(filled):
                    i, mean = start + r, total[r] / mass[k]
                    if labels[i] == k:
                        own[i] = mean
                    elif mean < other[i]:
                        other[i] = mean
        b = take(sync)


@compiled
def sum_squares_within(sync, first, rows, weight, labels, begin, sums):
    """sums[i] = the weighted sum of the squared distances of row i to the rows of its cluster."""
    p = rows.shape[1]
    tile, square = np.zeros((p, LANES)), np.empty(LANES)
    b = take(sync)
    while b < first.size - 1:
        for start in range(first[b], first[b + 1], LANES):
            filled = min(LANES, first[b + 1] - start)
            fill_tile(tile, rows, start, filled)
            for r in range(filled):
                sums[start + r] = 0.0
            for k in range(labels[start], labels[start + filled - 1] + 1):
                for i in range(begin[k], begin[k + 1]):
                    square_to_row(tile, rows[i], square)
                    for r in range(filled):
                        if labels[start + r] == k:
                            sums[start + r] += weight[i] * square[r]
        b = take(sync)


@compiled(inner=True)
def fill_tile(tile, rows, start, filled):
    """Put rows side by side, feature by feature."""
    for r in range(filled):
        for j in range(tile.shape[0]):
            tile[j, r] = rows[start + r, j]


@compiled(inner=True)
def square_to_row(tile, row, square):
    """square[r] = the squared distance of the row in lane r to a row."""
    for r in range(LANES):
        square[r] = 0.0
    for j in range(tile.shape[0]):
        for r in range(LANES):
            gap = tile[j, r] - row[j]
            square[r] += gap * gap
