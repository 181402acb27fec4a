"""Growing."""

import numpy as np

from empirisk.compiled.decorator import compiled
from empirisk.compiled.streams import GOLDEN, scramble
from empirisk.compiled.trees.criteria import REFUSED
from empirisk.compiled.trees.ordering import gather
from empirisk.compiled.trees.one_sum import describe_sum, split_sum

# Entries of `state`.
N_NODES, N_OPEN, N_FREE, N_SPLITS, N_WORDS = 0, 1, 2, 3, 4
DONE, AGAIN = 0, 1
SIX = np.uint64(6)
BIT = np.uint64(63)
B1 = np.uint64(1)

@compiled
def grow(small, medium, large, features, weights, values, label, costs, rules, rows, nodes, value,
    opened, constant, heap, free, splits, codes, sums, order, counts, keys, bins, state, budget):
    """Go on growing; returns AGAIN when the budget is used up or the arrays are full."""
    p = features.size
    rule = rules[0]
    kind = rule.kind
    while state[N_OPEN] > 0:
        full = state[N_NODES] + 2 > nodes.size or state[N_FREE] < 2
        if full or budget < 0:
            return AGAIN
        state[N_OPEN] -= 1
        place = heap[state[N_OPEN]]
        here = opened[place]
        node = nodes[here.node]
        start, end = here.start, here.end
        m = end - start
        budget -= m * p
        total, shift, worth, pure = describe_sum(weights, values, kind, costs, rows, start, m, node, value[here.node], sums)
        free[state[N_FREE]] = place
        state[N_FREE] += 1
        if pure or m < rule.min_rows_split:
            continue
        best = splits[0]
        best.worth = REFUSED
        trial = splits[1]
        for f in range(p):
            if (constant[place, f >> 6] >> (np.uint64(f) & BIT)) & B1 != 0:
                continue
            if split_sum(small, medium, large, features[f], kind, rule.min_rows_leaf, rule.min_weight_leaf, costs, rows, start, m, node.weight, total, codes, sums, order, counts, keys, bins, trial):
                constant[place, f >> 6] |= B1 << (np.uint64(f) & BIT)
                continue
            if trial.worth > best.worth:
                best.worth = trial.worth
                best.feature = f
                best.code = trial.code
                best.next_code = trial.next_code
                best.missing_left = trial.missing_left
        if best.worth == REFUSED:
            continue
        node.feature = best.feature
        node.code = best.code
        node.gain = best.worth - worth
        node.rank = state[N_SPLITS]
        state[N_SPLITS] += 1
        middle = partition(small, medium, large, features[best.feature], node, rows, start, end, codes)
        for side in range(2):
            s = 1 - side
            child = state[N_NODES] + s
            nodes[child].feature = -1
            state[N_FREE] -= 1
            q = free[state[N_FREE]]
            opened[q].node = child
            opened[q].depth = here.depth + 1
            opened[q].start = middle if s else start
            opened[q].end = end if s else middle
            for wd in range(constant.shape[1]):
                constant[q, wd] = constant[place, wd]
            heap[state[N_OPEN]] = q
            state[N_OPEN] += 1
        node.left = state[N_NODES]
        node.right = state[N_NODES] + 1
        state[N_NODES] += 2
    return DONE

@compiled
def partition(small, medium, large, feature, node, rows, start, end, codes):
    """Put the rows that go left before the others, each side in its old order."""
    m = end - start
    gather(small, medium, large, feature, rows, start, m, codes)
    code, missing = node.code, feature.n_codes
    missing_left = node.missing_left == 1
    left = right = 0
    for i in range(m):
        c = codes[i]
        row = rows[start + i]
        goes_left = c <= code or (missing_left and c == missing)
        rows[start + left] = row
        codes[right] = row  # its own place in this array has been read
        left += goes_left
        right += not goes_left
    for i in range(right):
        rows[start + left + i] = codes[i]
    return start + left
