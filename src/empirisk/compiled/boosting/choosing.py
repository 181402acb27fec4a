"""What one thread does between two steps of the team: choose the next node, open its children."""

import numpy as np

from empirisk.compiled.boosting.layout import CODES
from empirisk.compiled.boosting.splitting import (
    bounded_value,
    curvature_of,
    gradient_of,
    is_larger,
    rows_of,
)
from empirisk.compiled.decorator import compiled
from empirisk.compiled.streams import below
from empirisk.compiled.team import SHARED
from empirisk.compiled.trees.frontier import pop, push

# Places in `sync` that one thread writes and all read after they met.
CURRENT = SHARED  # the node that is split; -1: the tree is grown
SMALL = SHARED + 1  # the node whose histogram is to be found
LARGE = SHARED + 2  # its sibling; -1: none
BY_SUBTRACTION = SHARED + 3  # whether the sibling's is that of the parent minus it
N_NODES = SHARED + 4
N_LEAVES = SHARED + 5
N_OPEN = SHARED + 6
N_FREE = SHARED + 7
N_ITEMS = SHARED + 8
SEARCHED = SHARED + 9  # whether the fresh nodes are to be looked at

L2, MIN_CURVATURE, SMOOTHING, MIN_GAIN, NOISE, GRADIENT_UNIT, CURVATURE_UNIT = range(7)
N_UNITS = 7
WORD, ONE = np.uint64(63), np.uint64(1)


@compiled(inner=True)
def open_root(rules, sync, m, nodes, free, active, chosen, drawing, members, seed):
    """The first node: all m rows."""
    for s in range(rules.n_slots):
        free[s] = rules.n_slots - 1 - s
    sync[N_FREE], sync[N_OPEN], sync[N_NODES], sync[N_LEAVES] = rules.n_slots, 0, 1, 1
    root = nodes[0]
    root.node, root.left, root.depth, root.start, root.end = 0, -1, 0, 0, m
    root.lower, root.upper, root.gain = -np.inf, np.inf, -1.0
    for k in range(rules.n_groups):
        active[0, k] = 1
    root.slot = take_slot(rules, sync, free, np.int64(0))
    sync[SMALL], sync[LARGE], sync[BY_SUBTRACTION], sync[CURRENT] = 0, -1, 0, 0
    draw_features(rules, np.int64(0), active, members, drawing, chosen[0], seed)


@compiled(inner=True)
def take_slot(rules, sync, free, which):
    """Room for a histogram; one of two behind the others where none is free."""
    if sync[N_FREE] == 0:
        return np.int32(rules.n_slots + which)
    sync[N_FREE] -= 1
    return free[sync[N_FREE]]


@compiled(inner=True)
def drop_histogram(rules, sync, free, node):
    """The histogram of a node is not needed any more."""
    if 0 <= node.slot < rules.n_slots:
        free[sync[N_FREE]] = node.slot
        sync[N_FREE] += 1
    node.slot = -1


@compiled(inner=True)
def draw_features(rules, node, active, members, drawing, chosen, seed):
    """chosen[j] = 1 for the features that are looked at in a node."""
    n = 0
    for j in range(chosen.size):
        chosen[j] = 0
        allowed = rules.n_groups == 0
        for k in range(rules.n_groups):
            allowed |= active[node, k] != 0 and members[k, j] != 0
        if allowed:
            drawing[n] = j
            n += 1
    wanted = min(rules.n_drawn, n)
    for step in range(wanted):
        other = step
        if wanted < n:
            other = step + below(seed, node * chosen.size + step, n - step)
        drawing[step], drawing[other] = drawing[other], drawing[step]
        chosen[drawing[step]] = 1


@compiled(inner=True)
def may_be_split(rules, node):
    """By its rows and its depth."""
    rows = rows_of(rules, node.first, node.second)
    return rows >= 2 * rules.min_rows and node.depth < rules.max_depth


@compiled(inner=True)
def choose(
    rules, sync, units, features, low, high, nodes, splits, split_bits, node_bits, chosen, heap,
    free,
):  # fmt: skip
    """Note the best splits of the nodes that were looked at."""
    for side in range(2):
        i = sync[SMALL + side]
        if i < 0:
            continue
        note_best(rules, units, features, low, high, nodes[i], splits[side], split_bits[side],
                  node_bits[i], chosen[side])  # fmt: skip
        if nodes[i].gain > 0.0:
            push(heap, sync[N_OPEN], nodes, nodes, np.int32(i))
            sync[N_OPEN] += 1
            if nodes[i].slot >= rules.n_slots:
                nodes[i].slot = -1
        else:
            drop_histogram(rules, sync, free, nodes[i])


@compiled(inner=True)
def take_best(rules, sync, nodes, heap):
    """The open node with the largest gain, if there may be another leaf."""
    sync[CURRENT] = -1
    if sync[N_OPEN] > 0 and sync[N_LEAVES] < rules.max_leaves:
        sync[CURRENT] = np.int64(pop(heap, sync[N_OPEN], nodes, nodes))
        sync[N_OPEN] -= 1


@compiled(inner=True)
def note_best(
    rules, units, features, low, high, node, splits, split_bits, node_bits, chosen,
):  # fmt: skip
    """The best split over the features; of equal ones that of the first feature."""
    node.gain = -1.0
    if not may_be_split(rules, node):
        return
    best = -1
    for j in range(features.size):
        if not chosen[j] or splits[j].gain <= 0.0:
            continue
        if best < 0 or is_larger(splits[j].gain, node.gain):
            best, node.gain = j, splits[j].gain
    noise = units[NOISE] * rows_of(rules, node.first, node.second)
    noise /= max(curvature_of(rules, node.first, node.second), 1.0)
    if best < 0 or node.gain <= max(units[MIN_GAIN], noise):
        node.gain = -1.0
        return
    split = splits[best]
    node.feature, node.missing_left = best, split.missing_left
    node.left_first, node.left_second = split.first, split.second
    if features[best].category:
        for w in range(node_bits.size):
            node_bits[w] = split_bits[best, w]
        node.threshold = np.nan
    else:
        cut(node, split, np.int64(features[best].n_bins), low[best], high[best])


@compiled(inner=True)
def cut(node, split, n_bins, low, high):
    """The threshold, and the last bin below it.

    Half way between the values of the node on both sides. Bins that are not in the node may lie
    between: where the threshold would fall into one it is moved to the end of the bin before, so
    that rows can be sent by their codes alone.
    """
    if split.following == n_bins:
        node.threshold, node.code = np.inf, n_bins - 1
        return
    code, following = np.int64(split.code), np.int64(split.following)
    threshold = half_way(high[code], low[following])
    while code + 1 < following and high[code + 1] <= threshold:
        code += 1
    if low[code + 1] <= threshold:
        threshold = half_way(high[code], low[code + 1])
    node.threshold, node.code = threshold, code


@compiled(inner=True)
def half_way(a, b):
    """A number that a is not above and b is, half way between them where rounding allows it."""
    middle = a / 2 + b / 2
    return middle if a <= middle < b else a


@compiled(inner=True)
def say_ways(feature, node, node_bits, ways):
    """ways[code] = 1 if it goes left at a node, for all codes of the feature's column."""
    n_bins, default = np.int64(feature.n_bins), np.int64(feature.default)
    outside = node.missing_left
    if 0 <= default < n_bins:  # or most values are missing, and that is the default
        outside = goes_left(feature, node, node_bits, default)
    for c in range(CODES):
        ways[c] = outside
    for b in range(n_bins + 1):
        if b != default and (b < n_bins or feature.missing):
            c = feature.first + b - (1 if 0 <= default < b else 0)
            ways[c] = node.missing_left if b == n_bins else goes_left(feature, node, node_bits, b)


@compiled(inner=True)
def goes_left(feature, node, node_bits, b):
    """Whether a bin goes left."""
    if feature.category:
        return np.int32((node_bits[b >> 6] >> (np.uint64(b) & WORD)) & ONE)
    return np.int32(b <= node.code)


@compiled(signatures=2, inner=True)
def open_children(
    rules, sync, units, features, nodes, n_left, free, active, chosen, drawing, members, bounded,
    seed,
):  # fmt: skip
    """The children of the current node, whose rows have been parted; returns if any may be split.

    Later, `SMALL` is the child with fewer rows: its histogram is added up, the other's is what is
    left of the parent's.
    """
    i = sync[CURRENT]
    node, left = nodes[i], sync[N_NODES]
    node.left = left
    sync[N_NODES] += 2
    sync[N_LEAVES] += 1
    for side in range(2):
        child = nodes[left + side]
        child.node, child.left, child.depth, child.gain = left + side, -1, node.depth + 1, -1.0
        child.lower, child.upper, child.slot = node.lower, node.upper, -1
        for k in range(rules.n_groups):
            active[left + side, k] = active[i, k] * members[k, node.feature]
    a, b = nodes[left], nodes[left + 1]
    a.start, a.end, b.start, b.end = node.start, node.start + n_left, node.start + n_left, node.end
    a.first, a.second = node.left_first, node.left_second
    b.first, b.second = node.first - a.first, node.second - a.second
    if bounded is not None:
        bound(rules, units, np.int64(features[node.feature].monotone), node, a, b)
    full = sync[N_LEAVES] == rules.max_leaves
    if full or not (may_be_split(rules, a) or may_be_split(rules, b)):
        drop_histogram(rules, sync, free, node)
        return False
    small, large = (left, left + 1) if n_left <= node.end - a.end else (left + 1, left)
    sync[SMALL], sync[LARGE], sync[BY_SUBTRACTION] = small, large, node.slot >= 0
    nodes[large].slot = node.slot if node.slot >= 0 else take_slot(rules, sync, free, np.int64(1))
    nodes[small].slot = take_slot(rules, sync, free, np.int64(0))
    node.slot = -1
    draw_features(rules, small, active, members, drawing, chosen[0], seed)
    draw_features(rules, large, active, members, drawing, chosen[1], seed)
    return True


@compiled(inner=True)
def bound(rules, units, monotone, node, a, b):
    """After a split by a constrained feature, values on both sides stay apart."""
    if monotone == 0:
        return
    l2 = units[L2]
    value = bounded_value(
        gradient_of(rules, a.first), curvature_of(rules, a.first, a.second) + l2,
        node.lower, node.upper,
    )  # fmt: skip
    other = bounded_value(
        gradient_of(rules, b.first), curvature_of(rules, b.first, b.second) + l2,
        node.lower, node.upper,
    )  # fmt: skip
    middle = value / 2 + other / 2
    if monotone > 0:
        a.upper, b.lower = middle, middle
    else:
        a.lower, b.upper = middle, middle
