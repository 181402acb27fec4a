"""Gradients and curvatures as whole numbers, in the form that fits them; see `histograms`."""

import numpy as np

from empirisk.compiled.boosting.choosing import (
    CURVATURE_UNIT,
    GRADIENT_UNIT,
    L2,
    MIN_CURVATURE,
    MIN_GAIN,
    N_UNITS,
    NOISE,
    SMOOTHING,
)
from empirisk.compiled.boosting.gradients import (
    BLOCK,
    LOG,
    SOFTMAX,
    derive,
    derive_class,
    largest,
    unit,
)
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
from empirisk.compiled.streams import GOLDEN, HALF_WORD, LOW_HALF, scramble
from empirisk.compiled.team import meet

LEAST = 1e-290  # of gradients and curvatures in few bits: their scale must be finite
SMOOTH = 10.0  # what is added to curvatures when levels are put in order
ONE = np.uint64(1)
UNIT = 2.0**-32
MOST_NOISE = 8.0  # of a gain, in units of rows by curvature: rounding by chance makes no more
NOT_SMALL = 16  # the rounding of whole numbers from here on is a few per cent of them


@compiled(inner=True)
def find_entries(
    rank, team, sync, rule, units, kind, points, y, weight, copies, gradient, curvature,
    derived, own, entries,
):  # fmt: skip
    """Gradients and curvatures of all rows as whole numbers; the form that these have, or STOPPED.

    own[rank, :2] = the sum of this thread's entries. Where most rows would be nearly 0 in the few
    bits that are wanted, they are entered again. Labels less their probabilities p, which vary by
    p (1 - p), are rounded up or down as if by chance then: that adds a variance of p / 8190 at most
    and no bias. Others are entered in all their bits.
    """
    if gradient.size > 0 and not derive_all(
        rank, team, sync, units, kind, points, y, weight, gradient, curvature
    ):
        return STOPPED
    most, most_curved = 0.0, 0.0
    for t in range(team):
        most = max(most, units[N_UNITS + 2 * t])
        most_curved = max(most_curved, units[N_UNITS + 2 * t + 1])
    form = rule.form
    if form == CHUNKED and not (min(most, most_curved) > LEAST and max(most, most_curved) < np.inf):
        form = np.int64(WIDE)
    dithered = np.int64(0)
    while True:
        by_gradient, by_curvature = LARGEST / most, LARGEST / most_curved
        if form != CHUNKED:
            by_gradient, by_curvature = unit(most, rule.gradient_bits), 1.0
        if form == WIDE:
            by_curvature = unit(1.0 if rule.constant else most_curved, rule.curvature_bits)
        enter(
            rank, team, form, dithered, rule, by_gradient, by_curvature, points, weight, copies,
            gradient, curvature, derived, own, entries,
        )  # fmt: skip
        if rank == 0:
            set_units(rule, by_gradient, by_curvature, dithered, units)
        if not meet(sync, team):
            return STOPPED
        if form != CHUNKED or dithered or is_fine(team, own, entries.size // rule.width):
            return form
        dithered = np.int64(weight.size == 0 and kind in (LOG, SOFTMAX))
        form = np.int64(CHUNKED if dithered else WIDE)
        if not meet(sync, team):
            return STOPPED


@compiled(inner=True)
def derive_all(
    rank, team, sync, units, kind, points, y, weight, gradient, curvature,
):  # fmt: skip
    """Find gradients and curvatures, and the largest ones; False if the team was stopped."""
    start, end = piece(np.int64(0), gradient.size, rank, team)
    most, most_curved = 0.0, 0.0
    for first in range(start, end, BLOCK):
        last = min(first + BLOCK, end)
        here, curved = gradient[first:last], curvature[first:last]
        derive(kind, points[first:last], y[first:last], weight[first:last], here, curved)
        most, most_curved = max(most, largest(here)), max(most_curved, largest(curved))
    units[N_UNITS + 2 * rank], units[N_UNITS + 2 * rank + 1] = most, most_curved
    return meet(sync, team)


@compiled(inner=True)
def enter(
    rank, team, form, dithered, rule, by_gradient, by_curvature, points, weight, copies,
    gradient, curvature, derived, own, entries,
):  # fmt: skip
    """Write this thread's entries; own[rank, :4] = their sum, and what is not nearly 0 in them."""
    words = words_of(form)
    start, end = piece(np.int64(0), entries.size // rule.width, rank, team)
    first_sum, second_sum = np.int64(0), np.int64(0)
    large, large_curvature = np.int64(0), np.int64(0)
    for first in range(start, end, BLOCK):
        last = min(first + BLOCK, end)
        if gradient.size == 0:
            derive_class(points[first:last], weight[first:last], derived[rank, 0], derived[rank, 1])
        g = gradient[first:last] if gradient.size > 0 else derived[rank, 0, : last - first]
        h = curvature[first:last] if gradient.size > 0 else derived[rank, 1, : last - first]
        some = entries[words * first : words * last]
        if dithered:
            enter_dithered(g, h, by_gradient, by_curvature, first, some)
        elif form == CHUNKED:
            more, more_curved = enter_chunked(g, h, by_gradient, by_curvature, some)
            large += more
            large_curvature += more_curved
        elif form == LEAN:
            enter_lean(g, copies[first:last], rule.count_bits, by_gradient, some)
        else:
            enter_wide(g, h, copies[first:last], rule.count_bits, by_gradient, by_curvature, some)
        more_first, more_second = sum_of_entries(form, rule.count_bits, some)
        first_sum += more_first
        second_sum += more_second
    own[rank, 0], own[rank, 1] = first_sum, second_sum
    own[rank, 2], own[rank, 3] = large, large_curvature


@compiled(inner=True)
def is_fine(team, own, n):
    """Whether at least half of the gradients, and of the curvatures, are not nearly 0."""
    large, large_curvature = np.int64(0), np.int64(0)
    for t in range(team):
        large += own[t, 2]
        large_curvature += own[t, 3]
    return min(large, large_curvature) >= n // 2


@compiled(inner=True)
def set_units(rule, by_gradient, by_curvature, dithered, units):
    """What the limits are in units of entries."""
    units[NOISE] = MOST_NOISE if dithered else 0.0
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
def enter_dithered(gradient, curvature, by_gradient, by_curvature, first, entries):
    """As `enter_chunked`: rounded up as often as is right, by random bits of the row's number.

    These are scrambled, or features that go by the number of the row would go with them.
    """
    for i in range(gradient.size):
        draw = np.uint64(scramble(np.uint64(first + i) * GOLDEN))
        chance = np.float64(draw >> HALF_WORD) * UNIT
        other_chance = np.float64(draw & LOW_HALF) * UNIT
        whole = np.int64(np.floor(gradient[i] * by_gradient + chance))
        curved = np.int64(np.floor(curvature[i] * by_curvature + other_chance))
        entries[i] = (((whole << CURVATURE_BITS) + curved) << COUNT_BITS) + 1


@compiled(inner=True)
def enter_wide(gradient, curvature, copies, count_bits, by_gradient, by_curvature, entries):
    """Entries of two words; curvatures are 1 if there are none; copies may be empty."""
    for i in range(gradient.size):
        h = curvature[i] if curvature.size > 0 else 1.0
        rows = copies[i] if copies.size > 0 else np.int64(1)
        entries[2 * i] = np.int64(np.floor(gradient[i] * by_gradient + 0.5))
        entries[2 * i + 1] = (np.int64(np.floor(h * by_curvature + 0.5)) << count_bits) + rows


@compiled(inner=True)
def add_up(rank, team, form, rule, rows, entries, own):
    """own[rank, :2] = the sum of the entries of this thread's part of the rows."""
    words = words_of(form)
    start, end = piece(np.int64(0), rows.size, rank, team)
    own[rank, 0], own[rank, 1] = np.int64(0), np.int64(0)
    for first in range(start, end, CHUNK):
        some = rows[first : min(first + CHUNK, end)]
        of_rows = own[rank, 8 : 8 + words * some.size]
        gather(some, words, entries, of_rows)
        more_first, more_second = sum_of_entries(form, rule.count_bits, of_rows)
        own[rank, 0] += more_first
        own[rank, 1] += more_second


@compiled(inner=True)
def sum_of_entries(form, count_bits, entries):
    """Of at most a chunk of rows, as two words of a histogram."""
    first, second = np.int64(0), np.int64(0)
    if form == WIDE:
        for i in range(np.uint64(entries.size) >> ONE):
            first += entries[i << ONE]
            second += entries[(i << ONE) | ONE]
        return first, second
    for i in range(entries.size):
        first += entries[i]
    return (first, second) if form == LEAN else unpack(first, count_bits)
