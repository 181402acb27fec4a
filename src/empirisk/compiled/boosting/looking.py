"""Histograms of fresh nodes and their best splits by each feature, shared out by columns."""

import numpy as np

from empirisk.compiled.boosting.choosing import BY_SUBTRACTION, LARGE, SMALL, may_be_split
from empirisk.compiled.boosting.histograms import build, subtract, words_of
from empirisk.compiled.boosting.layout import CODES
from empirisk.compiled.boosting.levels import search_levels
from empirisk.compiled.boosting.splitting import search_bounded, search_numbers
from empirisk.compiled.decorator import compiled
from empirisk.compiled.team import take


@compiled(signatures=4, inner=True)
def look(
    rank, sync, form, rule, units, tasks, codes, first_code, features, feature_of, first_feature,
    rows, whole, ordered, histograms, nodes, splits, split_bits, chosen, sums, gains, patterns,
    order, bounded, own,
):  # fmt: skip
    """Histograms of the fresh nodes, and their best splits; a task is 1, 2 or 4 columns.

    There is no `order` where all features are numbers, and `bounded` is None where there are no
    monotone constraints: what these need is not compiled then.
    """
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
                    search(
                        rule, units, features, feature_of[first_feature[c] : first_feature[c + 1]],
                        histograms[node.slot, width * first_code[c] : width * first_code[c + 1]],
                        node, splits[side], split_bits[side], chosen[side], sums, gains, patterns,
                        missing, order, bounded, rank, room,
                    )  # fmt: skip


@compiled(signatures=4, inner=True)
def search(
    rule, units, features, feature_of, histogram, node, splits, split_bits, chosen, sums, gains,
    patterns, missing, order, bounded, rank, room,
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
        if order is not None and feature.category:
            search_levels(rule, feature, firsts, seconds, node, units, sums, gains, patterns,
                          missing, order[rank], bounded, splits[j], split_bits[j])  # fmt: skip
        elif bounded is not None:
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
