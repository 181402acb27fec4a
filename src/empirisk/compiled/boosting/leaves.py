"""The leaves of a grown tree: exact sums, values, and what they add to the scores of rows.

Values come from the gradients themselves, not from the whole numbers of the histograms. Leaves are
cut into items of at most ITEM rows; each is summed by one thread, and the items of a leaf are added
in their order, so the bits of a value do not depend on the team.
"""

import numpy as np

from empirisk.compiled.boosting.choosing import (
    CURVATURE_UNIT,
    GRADIENT_UNIT,
    N_ITEMS,
    N_LEAVES,
)
from empirisk.compiled.boosting.splitting import rows_of
from empirisk.compiled.decorator import compiled
from empirisk.compiled.team import take

ITEM = 4096
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
def sum_items(sync, items, rows, gradient, curvature, weight, sums):
    """sums[item] = gradients, curvatures and weights; the last two where there are some."""
    while True:
        t = take(sync)
        if t >= sync[N_ITEMS]:
            return
        start, end = np.uint64(items[t, 1]), np.uint64(items[t, 2])
        sums[t, G] = sum_of(gradient, rows, start, end)
        if curvature.size > 0:
            sums[t, H] = sum_of(curvature, rows, start, end)
        if weight.size > 0:
            sums[t, WEIGHT] = sum_of(weight, rows, start, end)


@compiled(inner=True)
def sum_of(values, rows, start, end):
    """The values of rows[start:end], in four sums that need not wait for each other."""
    one, four = np.uint64(1), np.uint64(4)
    a = b = c = d = 0.0
    k = start
    while k + four <= end:
        a += values[rows[k]]
        b += values[rows[k + one]]
        c += values[rows[k + np.uint64(2)]]
        d += values[rows[k + np.uint64(3)]]
        k += four
    while k < end:
        a += values[rows[k]]
        k += one
    return (a + b) + (c + d)


@compiled(signatures=2, inner=True)
def find_values(
    rules, sync, units, nodes, leaf_node, items, sums, curved, weighted, bounded, leaves,
):  # fmt: skip
    """leaves[leaf] = its value, and its sums of gradients, curvatures and weights."""
    for leaf in range(sync[N_LEAVES]):
        for s in range(4):
            leaves[leaf, s] = 0.0
    for t in range(sync[N_ITEMS]):
        for s in range(3):
            leaves[items[t, 0], 1 + s] += sums[t, s]
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
def spread(sync, items, rows, leaves, leaf_of, score):
    """Note the leaf of each row, and add its value to the row's score; each where asked for."""
    while True:
        t = take(sync)
        if t >= sync[N_ITEMS]:
            return
        leaf = items[t, 0]
        value = leaves[leaf, 0]
        if leaf_of.size > 0:
            for k in range(np.uint64(items[t, 1]), np.uint64(items[t, 2])):
                leaf_of[rows[k]] = leaf
        if score.size > 0:
            for k in range(np.uint64(items[t, 1]), np.uint64(items[t, 2])):
                score[rows[k]] += value


@compiled(inner=True)
def send_others(sync, others, codes, features, nodes, ways, leaves, leaf_of, score):
    """As `spread`, for rows with which the tree was not grown: they walk down by their codes."""
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
            leaf = np.int64(nodes[node].leaf)
            if leaf_of.size > 0:
                leaf_of[row] = leaf
            if score.size > 0:
                score[row] += leaves[leaf, 0]
