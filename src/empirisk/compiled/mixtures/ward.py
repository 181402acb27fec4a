"""Ward's hierarchical clustering of weighted points, by chains of nearest neighbours.

Two clusters of weights a, b and means u, v are a b / (a + b) |u - v|^2 apart, by which their union
raises the sum of squares. A chain goes from cluster to nearest cluster until two are each other's
nearest; these are merged (Murtagh 1983). It finds the same merges as always merging the nearest
pair, in another order, in time n^2 and memory n p.
"""

import numpy as np

from empirisk.compiled.decorator import compiled


@compiled
def ward_merges(points, weight, merged, into, height):
    """The n - 1 merges: cluster merged[m] joins into[m] at a distance; a cluster is named by the
    place of one of its points. `points` and `weight` become means and weights of clusters."""
    n, p = points.shape
    alive = np.ones(n, np.bool_)
    chain = np.empty(n, np.int64)
    length, start = 0, 0
    for m in range(n - 1):
        while True:
            if length == 0:
                while not alive[start]:
                    start += 1
                chain[0] = start
                length = 1
            here = chain[length - 1]
            before = chain[length - 2] if length > 1 else -1
            best, nearest = np.inf, before
            if before >= 0:  # the first of equally near ones, so that chains end
                best = apart(points, weight, here, before)
            for i in range(n):
                if alive[i] and i != here and i != before:
                    d = apart(points, weight, here, i)
                    if d < best:
                        best, nearest = d, i
            if nearest == before and before >= 0:
                break
            chain[length] = nearest
            length += 1
        length -= 2
        total = weight[here] + weight[before]
        share = weight[here] / total
        for j in range(p):
            points[before, j] += share * (points[here, j] - points[before, j])
        weight[before] = total
        alive[here] = False
        merged[m], into[m], height[m] = here, before, best


@compiled(inner=True)
def apart(points, weight, a, b):
    """a b / (a + b) |u - v|^2."""
    d = 0.0
    for j in range(points.shape[1]):
        gap = points[a, j] - points[b, j]
        d += gap * gap
    return d * (weight[a] * weight[b] / (weight[a] + weight[b]))
