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
from empirisk.compiled.boosting.gradients import (
    derive,
    enter_chunked,
    enter_lean,
    enter_wide,
    largest,
    unit,
)
from empirisk.compiled.boosting.histograms import (
    CHUNKED,
    LARGEST,
    LEAN,
    WIDE,
    build,
    subtract,
    unpack,
)
from empirisk.compiled.boosting.layout import CODES
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
LEAST = 1e-290  # of gradients and curvatures in few bits: their scale must be finite
SMOOTH = 10.0  # what is added to curvatures when levels are put in order


@compiled
def boost(
    rank, team, sync, rules, units, kind, k, score, share, y, weight, copies, gradient, curvature,
    tasks, codes, first_code, features, feature_of, first_feature, low, high, rows, others, spare,
    entries, ordered,
    histograms, nodes, splits, split_bits, node_bits, ways, chosen, members, active, drawing, heap,
    free, seed, sums, gains, patterns, order, own, leaf_node, items, item_sums, leaves, leaf_of,
):  # fmt: skip
    """Grow a tree and add what it says to the scores; False if the team was stopped.

    kind, k, score, share, y, weight, copies, gradient, curvature
        As in `gradients`; what is not needed is empty. Scores that are empty stay so.
    tasks, codes, first_code, features, feature_of, first_feature, low, high
        Columns that are worked on at a time: the first, and how many; the codes of n rows, column by column; where the codes of a column begin in a histogram; the
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
    form = find_entries(
        rank, team, sync, rule, units, kind, k, score, share, y, weight, copies, gradient,
        curvature, own, entries,
    )  # fmt: skip
    if form == STOPPED:
        return False
    add_up(rank, team, form, rule, rows, whole, entries, ordered, own)
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
                sync, form, rule, units, tasks, codes, first_code, features, feature_of,
                first_feature, rows, whole and at_root,
                entries if whole and at_root else ordered, histograms, nodes,
                splits, split_bits, chosen, sums[rank], gains[rank], patterns[rank], order[rank],
                own[rank],
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
            rank, team, sync, words_of(form), nodes[i], column, ways[i], rows, spare, entries,
            ordered, own,
        )  # fmt: skip
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
    """Gradients and curvatures of all rows as whole numbers; the form that these have, or STOPPED.

    Where most rows would be nearly 0 in the form that is wanted, they are entered again.
    """
    start, end = piece(np.int64(0), gradient.size, rank, team)
    g, h, n = gradient[start:end], curvature[start:end], copies[start:end]
    derive(kind, k, score[start:end], share[start:end], y[start:end], weight[start:end], g, h)
    units[N_UNITS + 2 * rank], units[N_UNITS + 2 * rank + 1] = largest(g), largest(h)
    if not meet(sync, team):
        return STOPPED
    most, most_curved = 0.0, 0.0
    for t in range(team):
        most = max(most, units[N_UNITS + 2 * t])
        most_curved = max(most_curved, units[N_UNITS + 2 * t + 1])
    form = rule.form
    if form == CHUNKED and min(most, most_curved) > LEAST and max(most, most_curved) < np.inf:
        by_gradient, by_curvature = LARGEST / most, LARGEST / most_curved
        own[rank, 0], own[rank, 1] = enter_chunked(
            g, h, by_gradient, by_curvature, entries[start:end]
        )
        if not meet(sync, team):
            return STOPPED
        large, large_curvature = np.int64(0), np.int64(0)
        for t in range(team):
            large += own[t, 0]
            large_curvature += own[t, 1]
        if min(large, large_curvature) < gradient.size // 2:
            form = np.int64(WIDE)
    elif form == CHUNKED:
        form = np.int64(WIDE)
    if form == LEAN:
        by_gradient, by_curvature = unit(most, rule.gradient_bits), 1.0
        enter_lean(g, n, rule.count_bits, by_gradient, entries[start:end])
    elif form == WIDE:
        by_gradient = unit(most, rule.gradient_bits)
        by_curvature = unit(1.0 if rule.constant else most_curved, rule.curvature_bits)
        enter_wide(
            g, h, n, rule.count_bits, by_gradient, by_curvature, entries[2 * start : 2 * end]
        )
    if rank == 0:
        set_units(rule, by_gradient, by_curvature, units)
    return form if meet(sync, team) else np.int64(STOPPED)


@compiled(inner=True)
def set_units(rule, by_gradient, by_curvature, units):
    """What the limits are in units of entries."""
    units[GRADIENT_UNIT], units[CURVATURE_UNIT] = by_gradient, by_curvature
    units[L2] = rule.l2 * by_curvature
    units[MIN_CURVATURE] = rule.min_curvature * by_curvature
    units[SMOOTHING] = SMOOTH * by_curvature
    units[MIN_GAIN] = rule.min_gain * by_gradient * (by_gradient / by_curvature)


@compiled(inner=True)
def add_up(rank, team, form, rule, rows, whole, entries, ordered, own):
    """own[rank, :2] = this thread's part of the sum of all entries; some rows are gathered."""
    start, end = piece(np.int64(0), rows.size, rank, team)
    source = entries
    if not whole:
        gather(rows, start, end, words_of(form), entries, ordered)
        source = ordered
    first, second = np.int64(0), np.int64(0)
    if form == WIDE:
        for i in range(start, end):
            first += source[2 * i]
            second += source[2 * i + 1]
    elif form == LEAN:
        for i in range(start, end):
            first += source[i]
    else:
        for i in range(start, end):
            more_first, more_second = unpack(source[i], rule.count_bits)
            first += more_first
            second += more_second
    own[rank, 0], own[rank, 1] = first, second


@compiled(inner=True)
def words_of(form):
    """Of an entry."""
    return 2 if form == WIDE else 1


@compiled(inner=True)
def divide(rank, team, sync, words, node, column, ways, rows, spare, entries, ordered, own):
    """Part the rows of a node, and gather the entries whose histograms will be added up.

    Returns how many rows go left, or STOPPED.
    """
    start, end = node.start, node.end
    if end - start < ALONE:
        if rank > 0:
            return 0
        n_left = part(ways, column, rows, start, end, rows, spare[1])
        put(rows, start + n_left, spare[1], start, end - start - n_left)
        gather_for(node, words, rows, n_left, start, end, entries, ordered)
        return n_left
    first, last = piece(start, end, rank, team)
    to_left = spare[0] if rank > 0 else rows
    own[rank, 0] = part(ways, column, rows, first, last, to_left, spare[1])
    if not meet(sync, team):
        return STOPPED
    n_left, before = np.int64(0), np.int64(0)
    for t in range(team):
        n_left += own[t, 0]
        before += own[t, 0] if t < rank else 0
    here, to_right = own[rank, 0], start + n_left + (first - start - before)
    if rank > 0:
        put(rows, start + before, spare[0], first, here)
    put(rows, to_right, spare[1], first, last - first - here)
    gather_for(node, words, rows, n_left, start + before, start + before + here, entries, ordered)
    gather_for(
        node, words, rows, n_left, to_right, to_right + last - first - here, entries, ordered
    )
    return n_left


@compiled(inner=True)
def gather_for(node, words, rows, n_left, first, last, entries, ordered):
    """Gather the entries of rows[first:last] where they are in the child with fewer rows.

    In both, if the node has no histogram from which the other child's would follow.
    """
    start, end, middle = node.start, node.end, node.start + n_left
    if node.slot >= 0:
        start, end = (start, middle) if n_left <= end - middle else (middle, end)
    gather(rows, max(first, start), min(last, end), words, entries, ordered)


@compiled(inner=True)
def look(
    sync, form, rule, units, tasks, codes, first_code, features, feature_of, first_feature, rows,
    whole, ordered, histograms, nodes, splits, split_bits, chosen, sums, gains, patterns, order, own,
):  # fmt: skip
    """Histograms of the fresh nodes, and their best splits by each feature: a task is 1-4 columns."""
    small, large = nodes[sync[SMALL]], nodes[max(sync[LARGE], 0)]
    two = sync[LARGE] >= 0
    width, missing, room = rule.width, own[2:4], own[8:]
    while True:
        t = take(sync)
        if t >= tasks.shape[0]:
            return
        column, n_columns = tasks[t, 0], tasks[t, 1]
        for side in range(2 if two else 1):
            node = large if side else small
            if side and sync[BY_SUBTRACTION]:
                first = width * first_code[column]
                end = width * first_code[column + n_columns]
                subtract(histograms[large.slot, first:end], histograms[small.slot, first:end])
            else:
                some = rows[node.start : node.end]
                of_rows = ordered[words_of(form) * node.start : words_of(form) * node.end]
                build(form, rule.count_bits, codes, first_code, column, n_columns, some, whole,
                      of_rows, histograms[node.slot], room)  # fmt: skip
            if may_be_split(rule, node):
                for c in range(column, column + n_columns):
                    search(rule, units, features, feature_of[first_feature[c] : first_feature[c + 1]],
                           histograms[node.slot, width * first_code[c] : width * first_code[c + 1]],
                           node, splits[side], split_bits[side], chosen[side], sums, gains,
                           patterns, missing, order, room)  # fmt: skip


@compiled(inner=True)
def search(
    rule, units, features, feature_of, histogram, node, splits, split_bits, chosen, sums, gains,
    patterns, missing, order, room,
):  # fmt: skip
    """The best splits of a node by the features of one column."""
    size = histogram.size // rule.width
    for q in range(feature_of.size):
        j = np.int64(feature_of[q])
        if not chosen[j]:
            continue
        feature = features[j]
        firsts, seconds = histogram[:size], histogram[histogram.size - size :]
        if feature.default >= 0:
            unshare(feature, firsts, seconds, node, room)
            firsts = room[:CODES]
            seconds = room[CODES : 2 * CODES] if rule.width == 2 else firsts
        if feature.category:
            search_levels(rule, feature, firsts, seconds, node, units, sums, gains, patterns,
                          missing, order, splits[j], split_bits[j])  # fmt: skip
        elif rule.bounded:
            search_bounded(rule, feature, firsts, seconds, node, units, sums, missing, splits[j])
        else:
            search_numbers(rule, feature, firsts, seconds, node, units, sums, gains, patterns,
                           missing, splits[j])  # fmt: skip


@compiled(inner=True)
def unshare(feature, firsts, seconds, node, room):
    """The histogram of a feature that shares its column: rows elsewhere are in its default bin."""
    default = np.int64(feature.default)
    first, second = node.first, node.second
    for b in range(feature.n_bins + 1 if feature.missing else feature.n_bins):
        if b != default:
            c = np.int64(feature.first) + b - (1 if b > default else 0)
            room[b], room[CODES + b] = firsts[c], seconds[c]
            first -= firsts[c]
            second -= seconds[c]
    room[default], room[CODES + default] = first, second


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
