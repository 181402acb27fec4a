"""Histograms of fresh nodes and their best splits by each feature.

The rows of a node are shared out: each thread adds up some of them, for all columns. The sums are
put together, and searched, by columns.
"""

import numpy as np

from empirisk.compiled.boosting.choosing import BY_SUBTRACTION, LARGE, SMALL, may_be_split
from empirisk.compiled.boosting.histograms import (
    CHUNK,
    SUMS,
    add_rows,
    add_words,
    clear,
    subtract,
    words_of,
)
from empirisk.compiled.boosting.layout import CODES
from empirisk.compiled.boosting.levels import search_levels
from empirisk.compiled.boosting.partitioning import gather, piece
from empirisk.compiled.boosting.splitting import search_bounded, search_numbers
from empirisk.compiled.decorator import compiled
from empirisk.compiled.team import meet, take


@compiled(signatures=4, inner=True)
def look(
    rank, team, sync, form, rule, units, tasks, spans, codes, words, first_code, features,
    feature_of, first_feature, rows, entries, in_order, parts, histograms, nodes, splits,
    split_bits, chosen, sums, gains, patterns, order, bounded, own,
):  # fmt: skip
    """Histograms of the fresh nodes, and their best splits; False if the team was stopped.

    A task is some columns; spans are all columns, eight at a time where there are so many.
    in_order says that entries are those of the nodes' rows, one after the other; otherwise they are
    those of all rows of the table. parts are for sums of other threads.
    There is no `order` where all features are numbers, and `bounded` is None where there are no
    monotone constraints: what these need is not compiled then.
    """
    small, large = nodes[sync[SMALL]], nodes[max(sync[LARGE], 0)]
    built = 1 if sync[LARGE] < 0 or sync[BY_SUBTRACTION] else 2
    for side in range(built):
        node = large if side else small
        into = histograms[node.slot] if rank == 0 else parts[side, rank - 1]
        add_piece(rank, team, form, rule, codes, words, first_code, spans, rows, node, entries,
                  in_order, into, own)  # fmt: skip
    if team > 1 and not meet(sync, team):
        return False
    width, missing, room = rule.width, own[2:4], own[8:]
    while True:
        t = take(sync)
        if t >= tasks.shape[0]:
            return True
        column, n_columns = tasks[t, 0], tasks[t, 1]
        first, end = width * first_code[column], width * first_code[column + n_columns]
        for side in range(2 if sync[LARGE] >= 0 else 1):
            node = large if side else small
            histogram = histograms[node.slot, first:end]
            if side >= built:
                subtract(histogram, histograms[small.slot, first:end])
            else:
                for other in range(team - 1):
                    add_words(parts[side, other, first:end], histogram)
            if may_be_split(rule, node):
                for c in range(column, column + n_columns):
                    search(
                        rule, units, features, feature_of[first_feature[c] : first_feature[c + 1]],
                        histograms[node.slot, width * first_code[c] : width * first_code[c + 1]],
                        node, splits[side], split_bits[side], chosen[side], sums, gains, patterns,
                        missing, order, bounded, rank, room,
                    )  # fmt: skip


@compiled(inner=True)
def add_piece(
    rank, team, form, rule, codes, words, first_code, spans, rows, node, entries, in_order, into,
    own,
):  # fmt: skip
    """into = the sums of this thread's piece of a node's rows, a chunk at a time."""
    n_words = words_of(form)
    clear(into[: rule.width * first_code[first_code.size - 1]])
    start, end = piece(node.start, node.end, rank, team)
    room, buffer = own[8 : 8 + SUMS + CHUNK], own[8 + SUMS + CHUNK :]
    for first in range(start, end, CHUNK):
        last = min(first + CHUNK, end)
        some, of_rows = rows[first:last], buffer[: n_words * (last - first)]
        if in_order:
            of_rows = entries[n_words * first : n_words * last]
        else:
            gather(some, n_words, entries, of_rows)
        add_rows(form, rule.count_bits, codes, words, first_code, spans, some, of_rows, into, room)


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
