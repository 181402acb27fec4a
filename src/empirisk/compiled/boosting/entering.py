"""Gradients and curvatures as whole numbers, in the form that fits them; see `histograms`."""

import numpy as np

from empirisk.compiled.boosting.choosing import (
    CURVATURE_UNIT,
    GRADIENT_UNIT,
    L2,
    MIN_CURVATURE,
    MIN_GAIN,
    N_UNITS,
    SMOOTHING,
)
from empirisk.compiled.boosting.gradients import BLOCK, derive, largest, unit
from empirisk.compiled.boosting.histograms import (
    CHUNK,
    CHUNKED,
    COUNT_BITS,
    CURVATURE_BITS,
    LARGEST,
    LEAN,
    WIDE,
    unpack,
    words_of,
)
from empirisk.compiled.boosting.partitioning import STOPPED, gather, piece
from empirisk.compiled.decorator import compiled
from empirisk.compiled.team import meet

LEAST = 1e-290  # of gradients and curvatures in few bits: their scale must be finite
SMOOTH = 10.0  # what is added to curvatures when levels are put in order
NOT_SMALL = 16  # the rounding of whole numbers from here on is a few per cent of them


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
    most, most_curved = 0.0, 0.0
    for first in range(start, end, BLOCK):
        last = min(first + BLOCK, end)
        here, curved = gradient[first:last], curvature[first:last]
        derive(kind, k, score[first:last], share[first:last], y[first:last], weight[first:last],
               here, curved)  # fmt: skip
        most, most_curved = max(most, largest(here)), max(most_curved, largest(curved))
    units[N_UNITS + 2 * rank], units[N_UNITS + 2 * rank + 1] = most, most_curved
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
def enter_lean(gradient, copies, count_bits, by_gradient, entries):
    """Entries of gradients alone; copies may be empty."""
    for i in range(gradient.size):
        whole = np.int64(np.floor(gradient[i] * by_gradient + 0.5))
        entries[i] = (whole << count_bits) + (copies[i] if copies.size > 0 else np.int64(1))


@compiled(inner=True)
def enter_chunked(gradient, curvature, by_gradient, by_curvature, entries):
    """Entries of few bits; returns how many gradients, and curvatures, are not nearly 0 in them."""
    large = large_curvature = np.int64(0)
    for i in range(gradient.size):
        whole = np.int64(np.floor(gradient[i] * by_gradient + 0.5))
        curved = np.int64(np.floor(curvature[i] * by_curvature + 0.5))
        large += abs(whole) >= NOT_SMALL
        large_curvature += curved >= NOT_SMALL
        entries[i] = (((whole << CURVATURE_BITS) + curved) << COUNT_BITS) + 1
    return large, large_curvature


@compiled(inner=True)
def enter_wide(gradient, curvature, copies, count_bits, by_gradient, by_curvature, entries):
    """Entries of two words; curvatures are 1 if there are none; copies may be empty."""
    for i in range(gradient.size):
        h = curvature[i] if curvature.size > 0 else 1.0
        rows = copies[i] if copies.size > 0 else np.int64(1)
        entries[2 * i] = np.int64(np.floor(gradient[i] * by_gradient + 0.5))
        entries[2 * i + 1] = (np.int64(np.floor(h * by_curvature + 0.5)) << count_bits) + rows


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
        for begin in range(start, end, CHUNK):
            word = np.int64(0)
            for i in range(begin, min(begin + CHUNK, end)):
                word += source[i]
            more_first, more_second = unpack(word, rule.count_bits)
            first += more_first
            second += more_second
    own[rank, 0], own[rank, 1] = first, second
