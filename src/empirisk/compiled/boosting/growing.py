"""A round of boosting: gradients, a tree that grows best first, values, scores; by a team.

Each thread of a team calls `boost` with the same arrays. The work between two meetings is cut by
rows or by columns; which thread does what changes no bit of the result: sums of whole numbers do
not depend on their order, and sums of floats are made of fixed pieces.
"""

from empirisk.compiled.boosting.choosing import (
    CURRENT,
    LARGE,
    SEARCHED,
    choose,
    open_children,
    open_root,
    say_ways,
    take_best,
)
from empirisk.compiled.boosting.entering import add_up, find_entries
from empirisk.compiled.boosting.leaves import (
    find_values,
    note_leaves,
    number_leaves,
    raise_scores,
    send_others,
    sum_leaves,
)
from empirisk.compiled.boosting.looking import look
from empirisk.compiled.boosting.partitioning import STOPPED, divide
from empirisk.compiled.decorator import compiled
from empirisk.compiled.team import meet


@compiled(signatures=4)
def boost(
    rank, team, sync, rules, units, kind, points, score, y, weight, copies, gradient, curvature,
    tasks, spans, codes, words, first_code, features, feature_of, first_feature, low, high, rows,
    others, spare, entries, parts,
    histograms, nodes, splits, split_bits, node_bits, ways, chosen, members, active, drawing, heap,
    free, seed, sums, gains, patterns, order, bounded, own, derived, leaf_node, items, places,
    part_sums, leaves, leaf_of,
):  # fmt: skip
    """Grow a tree and add what it says to the scores; False if the team was stopped.

    kind, points, score, y, weight, copies, gradient, curvature
        As in `gradients`; what is not needed is empty. Scores that are empty stay so. Gradients
        that are empty are derived from points where they are asked for: the largest are in `units`.
    tasks, spans, codes, words, first_code, features, feature_of, first_feature, low, high
        Columns that are worked on at a time (the first, and how many), the codes of all rows, also
        packed, where the codes of a column begin in a histogram, the features, those of column c
        (feature_of[first_feature[c]:first_feature[c + 1]]), and the ends of bins.
    rows, others
        The rows with which the tree is grown, which will be put in the order of the leaves, and all
        other rows.
    own, derived, places, sums, gains, patterns, order
        Room of each thread; no order where it is not needed (`looking`).
    bounded
        None where there are no monotone constraints.
    The rest is room for the tree.
    """
    rule = rules[0]
    whole = others.size == 0
    form = open_tree(
        rank, team, sync, rule, units, kind, points, y, weight, copies, gradient, curvature,
        derived, own, entries, rows, whole, nodes, free, active, chosen, drawing, members, seed,
    )  # fmt: skip
    if form == STOPPED:
        return False
    searched = True
    while True:
        if searched:
            at_root = sync[LARGE] < 0
            there = look(
                rank, team, sync, form, rule, units, tasks, spans, codes, words, first_code,
                features, feature_of, first_feature, rows, entries, whole and at_root, parts,
                histograms, nodes, splits, split_bits, chosen, sums[rank], gains[rank],
                patterns[rank], order, bounded, own[rank],
            )  # fmt: skip
            if not there:
                return False
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
        n_left = divide(rank, team, sync, nodes[i], column, ways[i], rows, spare, own)
        if n_left == STOPPED:
            return False
        if rank == 0:
            sync[SEARCHED] = open_children(
                rule, sync, units, features, nodes, n_left, free, active, chosen, drawing, members,
                bounded, seed,
            )  # fmt: skip
        if not meet(sync, team):
            return False
        searched = sync[SEARCHED] != 0
    return finish(
        rank, team, sync, rule, units, points, score, weight, gradient, curvature, codes, features,
        rows, others, nodes, ways, heap, leaf_node, items, derived, places, part_sums,
        bounded, leaves, leaf_of,
    )  # fmt: skip


@compiled(inner=True)
def open_tree(
    rank, team, sync, rule, units, kind, points, y, weight, copies, gradient, curvature, derived,
    own, entries, rows, whole, nodes, free, active, chosen, drawing, members, seed,
):  # fmt: skip
    """Enter gradients and curvatures, and open the root with their sums over the tree's rows.

    Returns the form of the entries, or STOPPED.
    """
    form = find_entries(
        rank, team, sync, rule, units, kind, points, y, weight, copies, gradient, curvature,
        derived, own, entries,
    )  # fmt: skip
    if form == STOPPED:
        return STOPPED
    if not whole:
        add_up(rank, team, form, rule, rows, entries, own)
        if not meet(sync, team):
            return STOPPED
    if rank == 0:
        for t in range(1, team):
            own[0, 0] += own[t, 0]
            own[0, 1] += own[t, 1]
        nodes[0].first, nodes[0].second = own[0, 0], own[0, 1]
        open_root(rule, sync, rows.size, nodes, free, active, chosen, drawing, members, seed)
    return form if meet(sync, team) else STOPPED


@compiled(signatures=2, inner=True)
def finish(
    rank, team, sync, rule, units, points, score, weight, gradient, curvature, codes, features,
    rows, others, nodes, ways, stack, leaf_node, items, derived, places, part_sums,
    bounded, leaves, leaf_of,
):  # fmt: skip
    """The values of the leaves, and what they add to scores; False if the team was stopped."""
    if rank == 0:
        number_leaves(sync, nodes, leaf_node, items, stack)
    if not meet(sync, team):
        return False
    note_leaves(rank, team, sync, items, rows, others, leaf_of, leaves.shape[0])
    if not meet(sync, team):
        return False
    sum_leaves(sync, points, weight, gradient, curvature, leaf_of, derived[rank],
               places[rank], part_sums)  # fmt: skip
    if not meet(sync, team):
        return False
    if rank == 0:
        find_values(rule, sync, units, nodes, leaf_node, part_sums, rule.constant == 0,
                    weight.size > 0, bounded, leaves)  # fmt: skip
    send_others(sync, others, codes, features, nodes, ways, leaf_of)
    if not meet(sync, team):
        return False
    raise_scores(rank, team, leaves, leaf_of, score)
    return meet(sync, team)
