"""A round of boosting: gradients, a tree that grows best first, values, scores; by a team.

Each thread of a team calls `boost` with the same arrays. The work between two meetings is cut by
rows or by columns; which thread does what changes no bit of the result: sums of whole numbers do
not depend on their order, and sums of floats are made of fixed pieces.
"""

import numpy as np

from empirisk.compiled.boosting.choosing import (
    BY_SUBTRACTION,
    CURRENT,
    CURVATURE_UNIT,
    GRADIENT_UNIT,
    L2,
    LARGE,
    MIN_CURVATURE,
    MIN_GAIN,
    N_UNITS,
    SEARCHED,
    SMALL,
    SMOOTHING,
    choose,
    may_be_split,
    open_children,
    open_root,
    say_ways,
    take_best,
)
from empirisk.compiled.boosting.gradients import derive, enter, largest, unit
from empirisk.compiled.boosting.histograms import build, subtract
from empirisk.compiled.boosting.leaves import (
    find_values,
    number_leaves,
    send_others,
    spread,
    sum_items,
)
from empirisk.compiled.boosting.levels import search_levels
from empirisk.compiled.boosting.partitioning import gather, part, piece, put
from empirisk.compiled.boosting.splitting import search_bounded, search_numbers
from empirisk.compiled.boosting.team import meet, take
from empirisk.compiled.decorator import compiled

ALONE = 2048  # a node with fewer rows is parted by one thread: sharing would cost more
STOPPED = -1
SMOOTH = 10.0  # what is added to curvatures when levels are put in order


@compiled
def boost(
    rank, team, sync, rules, units, kind, k, score, share, y, weight, copies, gradient, curvature,
    codes, first_code, features, feature_of, first_feature, low, high, rows, others, spare, entries,
    ordered,
    histograms, nodes, splits, split_bits, node_bits, ways, chosen, members, active, drawing, heap,
    free, seed, sums, gains, patterns, order, own, leaf_node, items, item_sums, leaves, leaf_of,
):  # fmt: skip
    """Grow a tree and add what it says to the scores; False if the team was stopped.

    kind, k, score, share, y, weight, copies, gradient, curvature
        As in `gradients`; what is not needed is empty. Scores that are empty stay so.
    codes, first_code, features, feature_of, first_feature, low, high
        The codes of n rows, column by column; where the codes of a column begin in a histogram; the
        features; those of column c, feature_of[first_feature[c]:first_feature[c + 1]]; ends of bins.
    rows, others
        The rows with which the tree is grown, which will be put in the order of the leaves, and all
        other rows.
    own, sums, gains, patterns, order
        Room of each thread.
    The rest is room for the tree.
    """
    rule = rules[0]
    whole = others.size == 0
    if not find_entries(
        rank, team, sync, rule, units, kind, k, score, share, y, weight, copies, gradient,
        curvature, own, entries,
    ):  # fmt: skip
        return False
    add_up(rank, team, rule, rows, whole, entries, ordered, own)
    if not meet(sync, team):
        return False
    if rank == 0:
        for t in range(1, team):
            own[0, 0] += own[t, 0]
            own[0, 1] += own[t, 1]
        nodes[0].first, nodes[0].second = own[0, 0], own[0, 1]
        open_root(rule, sync, rows.size, nodes, free, active, chosen, drawing, members, seed)
    if not meet(sync, team):
        return False
    searched = True
    while True:
        if searched:
            at_root = sync[LARGE] < 0
            look(
                rank, sync, rule, units, codes, first_code, features, feature_of, first_feature, rows,
                entries if whole and at_root else ordered, histograms, nodes, splits, split_bits,
                chosen, sums[rank], gains[rank], patterns[rank], order[rank], own[rank],
            )  # fmt: skip
        if not meet(sync, team):
            return False
        if rank == 0:
            if searched:
                choose(
                    rule, sync, units, features, low, high, nodes, splits, split_bits, node_bits,
                    chosen, heap, free,
                )  # fmt: skip
            take_best(rule, sync, nodes, heap)
            i = sync[CURRENT]
            if i >= 0:
                say_ways(features[nodes[i].feature], nodes[i], node_bits[i], ways[i])
        if not meet(sync, team):
            return False
        i = sync[CURRENT]
        if i < 0:
            break
        column = codes[features[nodes[i].feature].column]
        n_left = divide(
            rank, team, sync, rule, nodes[i], column, ways[i], rows, spare, entries, ordered, own
        )
        if n_left == STOPPED:
            return False
        if rank == 0:
            sync[SEARCHED] = open_children(
                rule, sync, units, features, nodes, n_left, free, active, chosen, drawing, members,
                seed,
            )  # fmt: skip
        if not meet(sync, team):
            return False
        searched = sync[SEARCHED] != 0
    return finish(
        rank, team, sync, rule, units, score, weight, gradient, curvature, codes, features, rows,
        others, nodes, ways, heap, leaf_node, items, item_sums, leaves, leaf_of,
    )  # fmt: skip


@compiled(inner=True)
def find_entries(
    rank, team, sync, rule, units, kind, k, score, share, y, weight, copies, gradient, curvature,
    own, entries,
):  # fmt: skip
    """Gradients and curvatures of all rows as whole numbers; False if the team was stopped."""
    start, end = piece(np.int64(0), gradient.size, rank, team)
    derive(
        kind, k, score[start:end], share[start:end], y[start:end], weight[start:end],
        gradient[start:end], curvature[start:end],
    )  # fmt: skip
    units[N_UNITS + 2 * rank] = largest(gradient[start:end])
    units[N_UNITS + 2 * rank + 1] = largest(curvature[start:end])
    if not meet(sync, team):
        return False
    most, most_curved = 0.0, 0.0
    for t in range(team):
        most = max(most, units[N_UNITS + 2 * t])
        most_curved = max(most_curved, units[N_UNITS + 2 * t + 1])
    by_gradient = unit(most, rule.gradient_bits)
    by_curvature = 1.0
    if rule.width == 2:
        by_curvature = unit(1.0 if rule.constant else most_curved, rule.curvature_bits)
    if rank == 0:
        units[GRADIENT_UNIT], units[CURVATURE_UNIT] = by_gradient, by_curvature
        units[L2] = rule.l2 * by_curvature
        units[MIN_CURVATURE] = rule.min_curvature * by_curvature
        units[SMOOTHING] = SMOOTH * by_curvature
        units[MIN_GAIN] = rule.min_gain * by_gradient * (by_gradient / by_curvature)
    enter(rule, gradient, curvature, copies, by_gradient, by_curvature, entries, start, end)
    return meet(sync, team)


@compiled(inner=True)
def add_up(rank, team, rule, rows, whole, entries, ordered, own):
    """own[rank, :2] = this thread's part of the sum of all entries; some rows are gathered."""
    start, end = piece(np.int64(0), rows.size, rank, team)
    width = rule.width
    source = entries
    if not whole:
        gather(rows, start, end, width, entries, ordered)
        source = ordered
    first, second = np.int64(0), np.int64(0)
    for i in range(start, end):
        first += source[width * i]
        second += source[width * i + width - 1]
    own[rank, 0], own[rank, 1] = first, second if width == 2 else np.int64(0)


@compiled(inner=True)
def divide(rank, team, sync, rule, node, column, ways, rows, spare, entries, ordered, own):
    """Part the rows of a node, and gather the entries whose histograms will be added up.

    Returns how many rows go left, or STOPPED.
    """
    start, end = node.start, node.end
    if end - start < ALONE:
        if rank > 0:
            return 0
        n_left = part(ways, column, rows, start, end, spare)
        put(rows, start, spare[0], start, n_left)
        put(rows, start + n_left, spare[1], start, end - start - n_left)
        gather_for(node, rule, rows, n_left, start, end, entries, ordered)
        return n_left
    first, last = piece(start, end, rank, team)
    own[rank, 0] = part(ways, column, rows, first, last, spare)
    if not meet(sync, team):
        return STOPPED
    n_left, before = np.int64(0), np.int64(0)
    for t in range(team):
        n_left += own[t, 0]
        before += own[t, 0] if t < rank else 0
    here, to_right = own[rank, 0], start + n_left + (first - start - before)
    put(rows, start + before, spare[0], first, here)
    put(rows, to_right, spare[1], first, last - first - here)
    gather_for(node, rule, rows, n_left, start + before, start + before + here, entries, ordered)
    gather_for(
        node, rule, rows, n_left, to_right, to_right + last - first - here, entries, ordered
    )
    return n_left


@compiled(inner=True)
def gather_for(node, rule, rows, n_left, first, last, entries, ordered):
    """Gather the entries of rows[first:last] where they are in the child with fewer rows.

    In both, if the node has no histogram from which the other child's would follow.
    """
    start, end, middle = node.start, node.end, node.start + n_left
    if node.slot >= 0:
        start, end = (start, middle) if n_left <= end - middle else (middle, end)
    gather(rows, max(first, start), max(min(last, end), first), rule.width, entries, ordered)


@compiled(inner=True)
def look(
    rank, sync, rule, units, codes, first_code, features, feature_of, first_feature, rows, ordered,
    histograms,
    nodes, splits, split_bits, chosen, sums, gains, patterns, order, own,
):  # fmt: skip
    """Histograms of the fresh nodes, and their best splits by each feature: two columns a task."""
    small, large, width = nodes[sync[SMALL]], nodes[max(sync[LARGE], 0)], rule.width
    two = sync[LARGE] >= 0
    columns, missing, spare = own[2:4], own[4:6], own[8:]
    while True:
        t = take(sync)
        if 2 * t >= codes.shape[0]:
            return
        columns[0] = 2 * t
        columns[1] = 2 * t + 1 if 2 * t + 1 < codes.shape[0] else -1
        build(codes, first_code, columns, width, rows, ordered, small.start, small.end,
              histograms[small.slot], spare)  # fmt: skip
        last = min(2 * t + 2, codes.shape[0])
        if two and sync[BY_SUBTRACTION]:
            subtract(histograms[large.slot], histograms[small.slot], width * first_code[2 * t],
                     width * first_code[last])  # fmt: skip
        elif two:
            build(codes, first_code, columns, width, rows, ordered, large.start, large.end,
                  histograms[large.slot], spare)  # fmt: skip
        for side in range(2 if two else 1):
            node = large if side else small
            if may_be_split(rule, node):
                for c in range(2 * t, last):
                    search(rule, units, features, feature_of[first_feature[c] : first_feature[c + 1]],
                           histograms[node.slot, width * first_code[c] : width * first_code[c + 1]],
                           node, splits[side], split_bits[side], chosen[side], sums, gains,
                           patterns, missing, order, spare)  # fmt: skip


@compiled(inner=True)
def search(
    rule, units, features, feature_of, histogram, node, splits, split_bits, chosen, sums, gains,
    patterns, missing, order, spare,
):  # fmt: skip
    """The best splits of a node by the features of one column."""
    for q in range(feature_of.size):
        j = np.int64(feature_of[q])
        if not chosen[j]:
            continue
        feature = features[j]
        own = histogram
        if feature.default >= 0:
            own = spare
            unshare(rule.width, feature, histogram, node, own)
        if feature.category:
            search_levels(rule, feature, own, node, units, sums, gains, patterns, missing, order,
                          splits[j], split_bits[j])  # fmt: skip
        elif rule.bounded:
            search_bounded(rule, feature, own, node, units, sums, missing, splits[j])
        else:
            search_numbers(rule, feature, own, node, units, sums, gains, patterns, missing,
                           splits[j])  # fmt: skip


@compiled(inner=True)
def unshare(width, feature, histogram, node, own):
    """The histogram of a feature that shares its column: rows elsewhere are in its default bin."""
    default = np.int64(feature.default)
    first, second = node.first, node.second
    for b in range(feature.n_bins + 1 if feature.missing else feature.n_bins):
        if b == default:
            continue
        c = np.int64(feature.first) + b - (1 if b > default else 0)
        own[width * b] = histogram[width * c]
        first -= histogram[width * c]
        if width == 2:
            own[2 * b + 1] = histogram[2 * c + 1]
            second -= histogram[2 * c + 1]
    own[width * default] = first
    if width == 2:
        own[2 * default + 1] = second


@compiled(inner=True)
def finish(
    rank, team, sync, rule, units, score, weight, gradient, curvature, codes, features, rows,
    others, nodes, ways, stack, leaf_node, items, item_sums, leaves, leaf_of,
):  # fmt: skip
    """The values of the leaves, and what they add to scores; False if the team was stopped."""
    if rank == 0:
        number_leaves(sync, nodes, leaf_node, items, stack)
    if not meet(sync, team):
        return False
    sum_items(sync, items, rows, gradient, curvature, weight, item_sums)
    if not meet(sync, team):
        return False
    if rank == 0:
        find_values(rule, sync, units, nodes, leaf_node, items, item_sums, curvature.size > 0,
                    weight.size > 0, leaves)  # fmt: skip
    if not meet(sync, team):
        return False
    spread(sync, items, rows, leaves, leaf_of, score)
    if not meet(sync, team):
        return False
    send_others(sync, others, codes, features, nodes, ways, leaves, leaf_of, score)
    return meet(sync, team)
