"""Growing a tree: take an open node, split it at its best split, and go on with its two sides.

Depth first, the open nodes are a stack. Best first (`max_leaves`), they are a heap on the gain:
only the two nodes of a new split are searched, the best splits of the others are kept. The rows of
a node are a piece of one array of row numbers. Work comes back to the caller after so many rows
times features, so that it can look at the clock.

Arguments that are None say what is not compiled: `cells` without classes of more than two, `labels`
and `label` without these and without absolute errors, `outputs` without several outputs, `tree`
without absolute errors, `levels`, `means`, `words` and `subsets` without categories, `points` and
`thresholds` unless these are drawn. `lines` are the codes in `small`, a line for each row, or none.
"""

import numpy as np

from empirisk.compiled.decorator import compiled
from empirisk.compiled.streams import GOLDEN, scramble
from empirisk.compiled.trees.absolute import describe_absolute, middle_median
from empirisk.compiled.trees.categories import pack_subset, unpack_subset
from empirisk.compiled.trees.criteria import NODE, copies_of
from empirisk.compiled.trees.frontier import pop, push
from empirisk.compiled.trees.many_sums import describe_classes, describe_outputs
from empirisk.compiled.trees.one_sum import describe_sum, mean_of
from empirisk.compiled.trees.partitioning import partition
from empirisk.compiled.trees.presorting import sort_block, split_block
from empirisk.compiled.trees.searching import search

# Entries of `state`.
N_NODES, N_OPEN, N_FREE, N_SPLITS, N_WORDS, BLOCK_START, BLOCK_END, N_FRESH, FRESH = range(9)
STATE = FRESH + 2  # two nodes may be fresh, which is: not yet searched while growing best first
DONE, AGAIN = 0, 1


@compiled(signatures=16)
def grow(
    small, medium, large, features, points, thresholds, weights, values, labels, costs, rules, rows,
    ids, nodes, value, subsets, opened, constant, heap, free, codes, sums, label, totals, entries,
    counts, keys, drawn, tree, levels, means, words, outputs, cells, goes_left, lines, state,
    budget,
):  # fmt: skip
    """Go on growing; returns AGAIN when the budget is used up or the arrays are full."""
    rule = rules[0]
    best_first = rule.max_leaves > 0
    while True:
        full = state[N_NODES] + 2 > nodes.size or state[N_FREE] < 2 or state[N_OPEN] + 2 > heap.size
        if levels is not None:
            full = full or state[N_WORDS] + 1 + 3 * words.shape[1] > subsets.size
        if full or budget < 0:
            return AGAIN
        fresh = best_first and state[N_FRESH] > 0
        if not fresh:
            enough = best_first and state[N_SPLITS] + 1 >= rule.max_leaves
            if state[N_OPEN] == 0 or enough:
                return DONE
        if fresh:
            state[N_FRESH] -= 1
            place = np.int32(state[FRESH + state[N_FRESH]])
        elif best_first:
            place = pop(heap, state[N_OPEN], opened, nodes)
            state[N_OPEN] -= 1
        else:
            state[N_OPEN] -= 1
            place = heap[state[N_OPEN]]
        here = opened[place]
        node, m = nodes[here.node], here.end - here.start
        if fresh or not best_first:
            budget -= m * features.size
            begin = place_in_block(state, here)
            worth, shift, pure = describe(
                weights, values, labels, costs, rule, rows, ids, begin, here, node, value, codes,
                sums, label, totals, entries, counts, keys, tree, outputs, cells,
            )  # fmt: skip
            found = False
            if not (pure or is_small(rule, node, here.depth, totals)):
                if begin < 0 and m <= rule.block:
                    sort_block(
                        small, medium, large, features, rows, here.start, m, ids, constant,
                        here.place, rule.block, rule.second, codes, entries, counts, keys,
                    )  # fmt: skip
                    state[BLOCK_START], state[BLOCK_END] = here.start, here.end
                    here.half, begin = 0, np.int64(0)
                found = search(
                    small, medium, large, features, points, thresholds, rule, costs, rows, here,
                    node, begin, worth, shift, constant, codes, sums, label, totals, entries,
                    counts, keys, drawn, tree, levels, means, words, outputs, cells, lines,
                )  # fmt: skip
            if not found:
                free[state[N_FREE]] = place
                state[N_FREE] += 1
                continue
            if levels is not None and features[node.feature].category:
                node.subset = state[N_WORDS]
                state[N_WORDS] = pack_subset(words, subsets, state[N_WORDS])
            if fresh:
                push(heap, state[N_OPEN], opened, nodes, place)
                state[N_OPEN] += 1
                continue
        begin = place_in_block(state, here)
        if levels is not None and node.subset >= 0:
            unpack_subset(subsets, np.int64(node.subset), words)
        middle = partition(
            small, medium, large, features[node.feature], node, words, rows, ids, here.start, m,
            begin, codes, goes_left,
        )  # fmt: skip
        n_left = middle - here.start
        may_split = n_left >= rule.min_rows_split or m - n_left >= rule.min_rows_split
        if begin >= 0 and may_split and here.depth + 1 < rule.max_depth:
            split_block(
                entries, features.size, constant, here, rule.block, begin, n_left, goes_left
            )
        between = 0.0
        if rule.bounded:
            if tree is not None:
                between = middle_median(
                    weights, values, labels, rows, here.start, middle, here.end, codes, entries,
                    rule.first, rule.second, counts, keys,
                )  # fmt: skip
            else:
                between = 0.5 * mean_of(weights, values, rows, here.start, middle)
                between += 0.5 * mean_of(weights, values, rows, middle, here.end)
            between = clipped(between, here.lower, here.upper)
        node.rank = state[N_SPLITS]
        node.right = state[N_NODES] + 1
        sign = features[node.feature].monotone
        for turn in range(2):
            side = 1 - turn  # a stack gives the left one first
            state[N_FREE] -= 1
            child = free[state[N_FREE]]
            add_child(
                nodes, constant, here, opened[child], state[N_NODES] + side, side, middle,
                between, sign,
            )  # fmt: skip
            if best_first:
                state[FRESH + turn] = child
                state[N_FRESH] += 1
            else:
                heap[state[N_OPEN]] = child
                state[N_OPEN] += 1
        state[N_NODES] += 2
        state[N_SPLITS] += 1
        free[state[N_FREE]] = place
        state[N_FREE] += 1


@compiled(signatures=4, inner=True)
def describe(
    weights, values, labels, costs, rule, rows, ids, begin, here, node, value, codes, sums, label,
    totals, entries, counts, keys, tree, outputs, cells,
):  # fmt: skip
    """Fill an open node, its value, its totals and the sums of its rows.

    Returns the worth of the node unsplit, what is taken off the values, and if it is pure.
    """
    start, m = here.start, here.end - here.start
    if tree is not None:
        median, worth, pure = describe_absolute(
            weights, values, labels, rows, start, m, ids, begin, node, sums, label, codes,
            entries, rule.first, rule.second, counts, keys,
        )  # fmt: skip
        value[here.node, 0] = clipped(median, here.lower, here.upper)
        return worth, median, pure
    if outputs is not None:
        worth, pure = describe_outputs(
            weights, values, rule.kind, costs, rows, start, m, ids, begin, node, sums, totals,
            value, here.node,
        )  # fmt: skip
        return worth, 0.0, pure
    if cells is not None:
        worth, pure = describe_classes(
            weights, labels, rule.kind, costs, rows, start, m, ids, begin, node, sums, label,
            totals, value, here.node, cells,
        )  # fmt: skip
        return worth, 0.0, pure
    mean, shift, worth, pure = describe_sum(
        weights, values, rule.kind, costs, rows, start, m, ids, begin, node, sums, totals
    )
    value[here.node, 0] = clipped(mean, here.lower, here.upper)
    return worth, shift, pure


@compiled(inner=True)
def clipped(value, lower, upper):
    """The value, or the bound that it is beyond; without constraints these are infinite."""
    if value < lower:
        return lower
    return upper if value > upper else value


@compiled(inner=True)
def is_small(rule, node, depth, totals):
    """Whether a node is not to be split, whatever its splits."""
    few = node.rows < rule.min_rows_split or node.weight < rule.min_weight_split
    few = few or node.rows < 2 * rule.min_rows_leaf or node.weight < 2.0 * rule.min_weight_leaf
    if not few and rule.min_copies_leaf > 0.0:
        copies = copies_of(totals, NODE, node.weight, rule.copies)
        few = copies < rule.min_copies_split or copies < 2.0 * rule.min_copies_leaf
    return few or depth >= rule.max_depth


@compiled(inner=True)
def place_in_block(state, here):
    """Where a node begins in the block of sorted rows; -1 if it is not in it."""
    inside = state[BLOCK_START] <= here.start and here.end <= state[BLOCK_END]
    return here.start - state[BLOCK_START] if inside else np.int64(-1)


@compiled(inner=True)
def add_child(nodes, constant, here, child, number, side, middle, between, sign):
    """Open a new leaf, the left (0) or right (1) side of the node `here`."""
    nodes[number].feature, nodes[number].right = -1, -1
    nodes[number].subset, nodes[number].rank = -1, -1
    child.node, child.depth = number, here.depth + 1
    child.start = middle if side else here.start
    child.end = here.end if side else middle
    child.key = scramble(here.key + GOLDEN * np.uint64(side + 1))
    child.half = 1 - here.half
    child.lower, child.upper = here.lower, here.upper
    if sign != 0 and (sign > 0) == (side == 1):
        child.lower = between
    elif sign != 0:
        child.upper = between
    for w in range(constant.shape[1]):
        constant[child.place, w] = constant[here.place, w]
