"""Growing a tree: take an open node, split it at its best split, and go on with its two sides.

Depth first, the open nodes are a stack; best first (`max_leaves`), a heap on the gain. The rows of
a node are a piece of one array of row numbers, which a split takes apart, each side in order.
Work comes back to the caller after so many rows times features, so that it can look at the clock.
"""

import numpy as np

from empirisk.compiled.decorator import compiled
from empirisk.compiled.streams import GOLDEN, scramble
from empirisk.compiled.trees.classes import describe_classes
from empirisk.compiled.trees.criteria import REFUSED
from empirisk.compiled.trees.one_sum import describe_sum
from empirisk.compiled.trees.ordering import gather
from empirisk.compiled.trees.presorting import sort_block, split_block
from empirisk.compiled.trees.searching import search

# Entries of `state`.
N_NODES, N_OPEN, N_FREE, N_SPLITS, N_WORDS, BLOCK_START, BLOCK_END = 0, 1, 2, 3, 4, 5, 6
DONE, AGAIN = 0, 1


@compiled
def grow(
    small, medium, large, features, weights, values, labels, costs, rules, rows, ids, nodes, value,
    opened, constant, heap, free, codes, sums, label, totals, entries, counts, keys, drawn,
    goes_left, state, budget,
):  # fmt: skip
    """Go on growing; returns AGAIN when the budget is used up or the arrays are full."""
    p = features.size
    rule = rules[0]
    family = rule.kind // 10
    while state[N_OPEN] > 0:
        full = state[N_NODES] + 2 > nodes.size or state[N_FREE] < 2
        if full or budget < 0:
            return AGAIN
        state[N_OPEN] -= 1
        place = heap[state[N_OPEN]]
        here = opened[place]
        at_node = here.node
        node = nodes[at_node]
        start, end = here.start, here.end
        m = end - start
        budget -= m * p
        in_block = state[BLOCK_START] <= start and end <= state[BLOCK_END]
        shift = 0.0
        if family == 0:
            mean, shift, worth, pure = describe_sum(
                weights, values, rule.kind, costs, rows, start, m, ids, in_block, node, sums, totals
            )
            value[at_node, 0] = mean
        else:
            worth, pure = describe_classes(
                weights, labels, rule.kind, costs, rows, start, m, ids, in_block, node, sums, label,
                totals,
            )  # fmt: skip
            for k in range(value.shape[1]):
                value[at_node, k] = totals[0, k] / node.weight
        free[state[N_FREE]] = place
        state[N_FREE] += 1
        few = m < rule.min_rows_split or node.weight < rule.min_weight_split
        if pure or few or here.depth >= rule.max_depth:
            continue
        if not in_block and m <= rule.block:
            sort_block(
                small, medium, large, features, rows, start, m, ids, constant, place, rule.block,
                rule.second, codes, entries, counts, keys,
            )  # fmt: skip
            state[BLOCK_START], state[BLOCK_END] = start, end
            in_block = True
        begin = start - state[BLOCK_START] if in_block else -1
        best, f, code, next_code, missing_left = search(
            small, medium, large, features, rule, costs, rows, start, m, place, constant, begin,
            here.key, node.weight, here.lower - shift, here.upper - shift, codes, sums, label,
            totals, entries, counts, keys, drawn,
        )  # fmt: skip
        if best == REFUSED or best - worth < rule.min_gain:
            continue
        node.feature = f
        node.code = code
        node.next_code = next_code
        node.missing_left = missing_left
        node.gain = max(best - worth, 0.0)
        node.rank = state[N_SPLITS]
        state[N_SPLITS] += 1
        middle = partition(
            small, medium, large, features[f], node, rows, ids, start, m, in_block, codes, goes_left
        )
        if in_block:
            split_block(
                entries, p, constant, place, rule.block, begin, m, goes_left, rule.second
            )
        for side in range(2):
            s = 1 - side
            child = state[N_NODES] + s
            nodes[child].feature = -1
            nodes[child].left = -1
            nodes[child].right = -1
            nodes[child].subset = -1
            state[N_FREE] -= 1
            q = free[state[N_FREE]]
            opened[q].node = child
            opened[q].depth = here.depth + 1
            opened[q].start = middle if s else start
            opened[q].end = end if s else middle
            opened[q].key = scramble(here.key + GOLDEN * np.uint64(s + 1))
            for wd in range(constant.shape[1]):
                constant[q, wd] = constant[place, wd]
            heap[state[N_OPEN]] = q
            state[N_OPEN] += 1
        node.left = state[N_NODES]
        node.right = state[N_NODES] + 1
        state[N_NODES] += 2
    return DONE


@compiled
def partition(
    small, medium, large, feature, node, rows, ids, start, m, in_block, codes, goes_left
):
    """Put the rows that go left before the others, each side in its old order.

    Returns where the rows that go right begin; within a block, notes which ids go left.
    """
    gather(small, medium, large, feature, rows, start, m, codes)
    code, missing = node.code, feature.n_codes
    missing_left = node.missing_left == 1
    left = right = 0
    if in_block:
        for i in range(m):
            goes_left[ids[start + i]] = codes[i] <= code or (missing_left and codes[i] == missing)
        for i in range(m):
            one = ids[start + i]
            to_left = np.int64(goes_left[one])
            ids[start + left] = one
            codes[right] = one
            left += to_left
            right += 1 - to_left
        for i in range(right):
            ids[start + left + i] = codes[i]
        gather(small, medium, large, feature, rows, start, m, codes)
        left = right = 0
    for i in range(m):
        c = codes[i]
        row = rows[start + i]
        to_left = np.int64(c <= code or (missing_left and c == missing))
        rows[start + left] = row
        codes[right] = row  # what stood there has been read
        left += to_left
        right += 1 - to_left
    for i in range(right):
        rows[start + left + i] = codes[i]
    return start + left
