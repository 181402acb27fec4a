"""Passes over blocks of rows: their place among the others, the sums of clusters, distances.

A row z is X[i] * unit - shift, with `unit` a power of two: centred, and of a size whose squares
neither overflow nor vanish.
"""

import numpy as np

from empirisk.compiled.clustering.tiles import LANES
from empirisk.compiled.decorator import compiled
from empirisk.compiled.team import take


@compiled
def sum_columns(sync, first, X, unit, weight, sums, mass):
    """For each block the weighted sums of the columns times `unit`, and the weights' sum."""
    p = X.shape[1]
    b = take(sync)
    while b < first.size - 1:
        sums[b] = 0.0
        mass[b] = 0.0
        for i in range(first[b], first[b + 1]):
            mass[b] += weight[i]
            for j in range(p):
                sums[b, j] += weight[i] * (X[i, j] * unit)
        b = take(sync)


@compiled
def largest_entries(sync, first, X, unit, shift, largest):
    """For each block the largest |X * unit - shift|."""
    p = X.shape[1]
    b = take(sync)
    while b < first.size - 1:
        most = 0.0
        for i in range(first[b], first[b + 1]):
            for j in range(p):
                size = abs(X[i, j] * unit - shift[j])
                most = size if size > most else most
        largest[b] = most
        b = take(sync)


@compiled
def place_rows(sync, first, X, unit, shift, weight, tiles, scatter):
    """`tiles` in single precision, and for each block and column the sums of squares."""
    p = X.shape[1]
    b = take(sync)
    while b < first.size - 1:
        scatter[b] = 0.0
        for i in range(first[b], first[b + 1]):
            for j in range(p):
                z = X[i, j] * unit - shift[j]
                tiles[i // LANES, j, i % LANES] = np.float32(z)
                scatter[b, j] += weight[i] * (z * z)
        b = take(sync)


@compiled
def sum_clusters(sync, first, X, unit, shift, weight, labels, sums, mass):
    """For each block the sum and the weight of the rows of each cluster."""
    p = X.shape[1]
    b = take(sync)
    while b < first.size - 1:
        sums[b] = 0.0
        mass[b] = 0.0
        for i in range(first[b], first[b + 1]):
            k = labels[i]
            mass[b, k] += weight[i]
            for j in range(p):
                sums[b, k, j] += weight[i] * (X[i, j] * unit - shift[j])
        b = take(sync)


@compiled
def square_distances(sync, first, X, unit, shift, labels, centres, distance):
    """distance[i] = |z_i - c_k|^2 for the centre k = labels[i]."""
    p = X.shape[1]
    b = take(sync)
    while b < first.size - 1:
        for i in range(first[b], first[b + 1]):
            k = labels[i]
            d = 0.0
            for j in range(p):
                d += (X[i, j] * unit - shift[j] - centres[k, j]) ** 2
            distance[i] = d
        b = take(sync)


@compiled
def all_distances(sync, first, X, unit, shift, columns, distance):
    """distance[i, k] = |z_i - c_k|^2, of centres that are the columns of `columns`."""
    p = X.shape[1]
    K = columns.shape[1]
    b = take(sync)
    while b < first.size - 1:
        for i in range(first[b], first[b + 1]):
            for k in range(K):
                distance[i, k] = 0.0
            for j in range(p):
                z = X[i, j] * unit - shift[j]
                for k in range(K):
                    gap = z - columns[j, k]
                    distance[i, k] += gap * gap
        b = take(sync)
