"""The nearest rows by a kd-tree: down to the nearest box first, past boxes that are too far.

The gap from a point to a box is computed as that to a row is, term by term in the same order, and
every step of that keeps the order of its operands: it is never larger than the gap to a row in the
box, rounding included. Powers other than squares need not keep it to the last bit, hence SLACK.
"""

import numpy as np

from empirisk.compiled.decorator import compiled
from empirisk.compiled.neighbors.gaps import (
    CHEBYSHEV,
    EUCLIDEAN,
    MANHATTAN,
    MINKOWSKI,
    gaps_to_bucket,
    look_through,
)
from empirisk.compiled.neighbors.kd_tree import FAN
from empirisk.compiled.neighbors.nearest_list import cut_if_grown, room_for, write_nearest

SLACK = 1.0 - 1e-12


@compiled(makes_arrays=True)
def search_tree(
    cells, order, begin, depths, low, high, fold, points, own, norm, power, distances, rows
):
    """The k nearest rows of each point, k = rows.shape[1], in order; how many rows were looked at.

    fold : of the rows in the order of the tree; a point looks past the rows of its `own` fold.
        Empty where all rows count.
    """
    k, at_once = rows.shape[1], cells.shape[2]
    gap, near, lanes = np.empty(at_once), np.empty(FAN), np.empty(FAN, np.int64)
    distance, row = np.empty(room_for(k, at_once)), np.empty(room_for(k, at_once), np.int64)
    levels = depths.size - 1
    first_group = np.zeros(levels + 1, np.int64)
    for t in range(levels):
        first_group[t + 1] = first_group[t] + (1 << depths[t])
    above, level = np.empty(FAN * (levels + 1)), np.empty(FAN * (levels + 1), np.int64)
    part = np.empty(FAN * (levels + 1), np.int64)
    seen = 0
    for q in range(points.shape[0]):
        x, mine = points[q], (own[q] if fold.size else np.int32(-1))
        count, farthest = np.int64(0), np.inf
        above[0], level[0], part[0], height = 0.0, 0, 0, 1
        while height > 0:
            height -= 1
            if above[height] > farthest:
                continue
            t, i = level[height], part[height]
            if t == levels:
                m = begin[i + 1] - begin[i]
                gaps_to_bucket(cells[i], x, norm, power, gap)
                count = look_through(
                    order, begin[i], m, fold, mine, gap, farthest, distance, row, count
                )
                count, farthest = cut_if_grown(distance, row, count, k, farthest)
                seen += m
                continue
            g = first_group[t] + i
            gaps_to_boxes(low[g], high[g], x, norm, power, near)
            fan = 1 << (depths[t + 1] - depths[t])
            n_near = order_lanes(near, fan, farthest, lanes)
            for a in range(n_near - 1, -1, -1):
                c = lanes[a]
                above[height], level[height], part[height] = near[c], t + 1, i * fan + c
                height += 1
        write_nearest(distance, row, count, k, distances[q], rows[q])
    return seen


@compiled(inner=True)
def order_lanes(near, fan, farthest, lanes):
    """The children that are not too far, nearest first; how many."""
    n_near = 0
    for c in range(fan):
        if near[c] <= farthest:
            a = n_near
            while a > 0 and near[lanes[a - 1]] > near[c]:
                lanes[a] = lanes[a - 1]
                a -= 1
            lanes[a] = c
            n_near += 1
    return n_near


@compiled(inner=True)
def gaps_to_boxes(low, high, x, norm, power, near):
    """near[c] = the least gap from x to any point of box c."""
    near[:] = 0.0
    for j in range(x.size):
        at = x[j]
        if norm == EUCLIDEAN:
            for c in range(FAN):
                g = max(max(low[j, c] - at, at - high[j, c]), 0.0)
                near[c] += g * g
        elif norm == MANHATTAN:
            for c in range(FAN):
                near[c] += max(max(low[j, c] - at, at - high[j, c]), 0.0)
        elif norm == CHEBYSHEV:
            for c in range(FAN):
                near[c] = max(near[c], max(low[j, c] - at, at - high[j, c]))
        else:
            for c in range(FAN):
                near[c] += max(max(low[j, c] - at, at - high[j, c]), 0.0) ** power
    if norm == MINKOWSKI:
        for c in range(FAN):
            near[c] *= SLACK


@compiled(makes_arrays=True)
def leaves_of(points, depths, low, high, leaf):
    """The leaf whose boxes are nearest on the way down: points of one leaf are near each other."""
    near, lanes = np.empty(FAN), np.empty(FAN, np.int64)
    for q in range(points.shape[0]):
        i, first = 0, 0
        for t in range(depths.size - 1):
            fan = 1 << (depths[t + 1] - depths[t])
            gaps_to_boxes(
                low[first + i], high[first + i], points[q], np.int64(EUCLIDEAN), 2.0, near
            )
            order_lanes(near, fan, np.inf, lanes)
            first += 1 << depths[t]
            i = i * fan + lanes[0]
        leaf[q] = i
