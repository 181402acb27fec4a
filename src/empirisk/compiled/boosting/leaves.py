"""The leaves of a grown tree: exact sums, values, and what they add to the scores of rows.

Values come from the gradients themselves, not from the whole numbers of the histograms. Rows are
summed in their own order, a part of them by one thread, and the parts are added in their order, so
the bits of a value do not depend on the team.
"""

import numpy as np

from empirisk.compiled.boosting.choosing import (
    CURVATURE_UNIT,
    GRADIENT_UNIT,
    N_ITEMS,
    N_LEAVES,
)
from empirisk.compiled.boosting.gradients import BLOCK, derive_class
from empirisk.compiled.boosting.partitioning import piece
from empirisk.compiled.boosting.splitting import rows_of
from empirisk.compiled.decorator import compiled
from empirisk.compiled.team import take

ITEM = 4096  # rows that one thread notes at a time
PARTS = 16  # at most, of the rows whose values are summed
PART = 8192  # rows, at least, but for one part
G, H, WEIGHT = 0, 1, 2


@compiled(inner=True)
def number_leaves(sync, nodes, leaf_node, items, stack):
    """Leaves from left to right, and their items: leaf, first row, end."""
    n_leaves = n_items = n_open = 0
    here = np.int64(0)
    while True:
        if nodes[here].left >= 0:
            stack[n_open] = nodes[here].left + 1
            n_open += 1
            here = np.int64(nodes[here].left)
            continue
        leaf_node[n_leaves] = here
        nodes[here].leaf = n_leaves
        start, end = nodes[here].start, nodes[here].end
        while True:
            items[n_items, 0], items[n_items, 1] = n_leaves, start
            items[n_items, 2] = min(start + ITEM, end)
            n_items += 1
            start += ITEM
            if start >= end:
                break
        n_leaves += 1
        if n_open == 0:
            break
        n_open -= 1
        here = np.int64(stack[n_open])
    sync[N_ITEMS] = n_items


@compiled(inner=True)
def note_leaves(rank, team, sync, items, rows, others, leaf_of, n_leaves):
    """leaf_of[row] = its leaf; n_leaves for rows with which the tree was not grown."""
    start, end = piece(np.int64(0), others.size, rank, team)
    for k in range(start, end):
        leaf_of[others[k]] = n_leaves
    while True:
        t = take(sync)
        if t >= sync[N_ITEMS]:
            return
        leaf = items[t, 0]
        for k in range(np.uint64(items[t, 1]), np.uint64(items[t, 2])):
            leaf_of[rows[k]] = leaf


@compiled(inner=True)
def sum_leaves(
    sync, points, weight, gradient, curvature, leaf_of, room, places, sums,
):  # fmt: skip
    """sums[part, leaf] = gradients, curvatures and weights of a part of the rows; what there is.

    places[q, leaf] has those of every fourth row: they need not wait for each other.
    """
    while True:
        t = take(sync)
        if t >= sums.shape[0]:
            return
        start, end = piece(np.int64(0), leaf_of.size, t, sums.shape[0])
        for place in range(4):
            for leaf in range(places.shape[1]):
                for s in range(3):
                    places[place, leaf, s] = 0.0
        for first in range(start, end, BLOCK):
            last = min(first + BLOCK, end)
            if gradient.size == 0:
                derive_class(points[first:last], weight[first:last], room[0], room[1])
            g = gradient[first:last] if gradient.size > 0 else room[0, : last - first]
            h = curvature[first:last] if gradient.size > 0 else room[1, : last - first]
            add_values(leaf_of[first:last], g, h, weight[first:last], places)
        for leaf in range(sums.shape[1]):
            for s in range(3):
                sums[t, leaf, s] = (places[0, leaf, s] + places[1, leaf, s]) + (
                    places[2, leaf, s] + places[3, leaf, s]
                )


@compiled(inner=True)
def add_values(leaf_of, gradient, curvature, weight, places):
    """Add what rows have to the sums of their leaves."""
    last = np.uint64(3)
    for i in range(np.uint64(leaf_of.size)):
        leaf = np.uint64(leaf_of[i])
        places[i & last, leaf, G] += gradient[i]
        if curvature.size > 0:
            places[i & last, leaf, H] += curvature[i]
        if weight.size > 0:
            places[i & last, leaf, WEIGHT] += weight[i]


@compiled(signatures=2, inner=True)
def find_values(
    rules, sync, units, nodes, leaf_node, sums, curved, weighted, bounded, leaves,
):  # fmt: skip
    """leaves[leaf] = its value, and its sums of gradients, curvatures and weights."""
    for leaf in range(sync[N_LEAVES]):
        for s in range(4):
            leaves[leaf, s] = 0.0
    for t in range(sums.shape[0]):
        for leaf in range(sync[N_LEAVES]):
            for s in range(3):
                leaves[leaf, 1 + s] += sums[t, leaf, s]
    factor = units[CURVATURE_UNIT] / units[GRADIENT_UNIT]
    for leaf in range(sync[N_LEAVES]):
        node = nodes[leaf_node[leaf]]
        rows = np.float64(rows_of(rules, node.first, node.second))
        if not curved:
            leaves[leaf, 1 + H] = rows
        if not weighted:
            leaves[leaf, 1 + WEIGHT] = rows
        h = leaves[leaf, 1 + H] + rules.l2
        value = -leaves[leaf, 1 + G] / h if h > 0.0 else 0.0
        if bounded is not None:
            value = min(max(value, node.lower * factor), node.upper * factor)
        value *= rules.rate
        leaves[leaf, 0] = value if abs(value) < np.inf else 0.0  # of sums that overflow


@compiled(inner=True)
def send_others(sync, others, codes, features, nodes, ways, leaf_of):
    """Rows with which the tree was not grown walk down by their codes."""
    while True:
        t = take(sync)
        if t * ITEM >= others.size:
            return
        for k in range(t * ITEM, min((t + 1) * ITEM, others.size)):
            row = others[k]
            node = np.int64(0)
            while nodes[node].left >= 0:
                column = features[nodes[node].feature].column
                way = np.int64(ways[node, codes[column, row]])
                node = np.int64(nodes[node].left) + 1 - way
            leaf_of[row] = nodes[node].leaf


@compiled(inner=True)
def raise_scores(rank, team, leaves, leaf_of, score):
    """Add to scores, if there are some, the values of the rows' leaves."""
    start, end = piece(np.int64(0), score.size, rank, team)
    for i in range(np.uint64(start), np.uint64(end)):
        score[i] += leaves[np.uint64(leaf_of[i]), 0]
