"""Lloyd's two steps for blocks of rows: the nearest centre of each, and what that does to the sums.

Most rows need no look at any centre. When row i was looked at last, its second nearest centre was
at least gap_i further away than its nearest; since then the nearest moved by so much and the
others by so much at most. As long as these moves do not use up the gap, the row stays where it is
(Hamerly 2010, with one number for each row: what has been `spent` by each cluster is added up,
and slack_i = gap_i + what had been spent then). Nothing is approximate: the bounds hold with all
rounding errors, and where single precision leaves a doubt, double precision decides.
"""

import numpy as np

from empirisk.compiled.clustering.tiles import (
    LANES,
    gap_tile,
    score_tile,
    square_tile,
    two_least,
)
from empirisk.compiled.decorator import compiled
from empirisk.compiled.team import take

NEVER = np.float32(-1.0)  # slack of a row that is always looked at
ROUNDED_DOWN = 1.0 - 2e-7  # a bound still holds after rounding to single precision


@compiled
def assign_blocks(
    sync, first, X, unit, shift, weight, tiles, centres, minus, half, radius, spent,
    labels, slack, sums, mass, count, moved,
):  # fmt: skip
    """The nearest centre of each row, block after block, as threads take them.

    Rows first[b] to first[b + 1] are block b, which begins with a tile; sums[b], mass[b] and
    count[b] become what the rows that change their cluster add to the clusters' sums, weights and
    numbers of rows, moved[b] the weight of these rows. A row z is X[i] * unit - shift; `tiles` are
    these in single precision, and `minus` and `half` what `score_tile` takes. A tile of which half
    the rows are to be looked at is taken as it is; of the others, these rows are brought together.
    """
    p = centres.shape[1]
    tile = np.zeros((minus.shape[1], LANES), np.float32)
    score = np.empty((minus.shape[0], LANES), np.float32)
    lanes = np.empty((5, LANES), np.float32)
    label, place = np.empty(LANES, np.int32), np.empty(LANES, np.int64)
    place_there = np.empty(LANES, np.int64)
    z = np.empty(p)
    b = take(sync)
    while b < first.size - 1:
        sums[b] = 0.0
        mass[b] = 0.0
        count[b] = 0
        moved[b] = 0.0
        filled, last = np.int64(0), first[b + 1]
        for start in range(first[b], last, LANES):
            t, end = start // LANES, min(start + LANES, last)
            wanted = 0
            for i in range(start, end):
                wanted += slack[i] <= spent[labels[i]]
            if 2 * wanted >= LANES:
                for i in range(start, end):
                    place_there[i - start] = i
                settle_tile(
                    end - start, tiles[t], place_there, score, lanes, label, z, X, unit, shift,
                    weight, centres, minus, half, radius, spent, labels, slack, sums[b], mass[b],
                    count[b], moved, b,
                )  # fmt: skip
                continue
            for i in range(start, end if wanted > 0 else start):
                if slack[i] <= spent[labels[i]]:
                    for j in range(p):
                        tile[j, filled] = tiles[t, j, i - start]
                    place[filled] = i
                    filled += 1
                    if filled == LANES:
                        settle_tile(
                            filled, tile, place, score, lanes, label, z, X, unit, shift, weight,
                            centres, minus, half, radius, spent, labels, slack, sums[b], mass[b],
                            count[b], moved, b,
                        )  # fmt: skip
                        filled = np.int64(0)
        if filled > 0:
            settle_tile(
                filled, tile, place, score, lanes, label, z, X, unit, shift, weight, centres,
                minus, half, radius, spent, labels, slack, sums[b], mass[b], count[b], moved, b,
            )  # fmt: skip
        b = take(sync)


@compiled(inner=True)
def settle_tile(
    filled, tile, place, score, lanes, label, z, X, unit, shift, weight, centres,
    minus, half, radius, spent, labels, slack, sums, mass, count, moved, b,
):  # fmt: skip
    """The rows of a tile go to their nearest centres."""
    p = centres.shape[1]
    least, second, square, doubt, gap = lanes[0], lanes[1], lanes[2], lanes[3], lanes[4]
    score_tile(tile, minus, half, score)
    two_least(score, least, second, label)
    square_tile(tile, p, square)
    gap_tile(square, radius[0], minus.shape[1], least, second, doubt, gap)
    for r in range(filled):
        i, k = place[r], np.int64(label[r])
        decided = second[r] - least[r] > doubt[r]
        if not decided or labels[i] != k:
            for j in range(p):
                z[j] = X[i, j] * unit - shift[j]
        if not decided:
            k = nearest_among(z, centres, score, r, least[r] + doubt[r])
        if labels[i] != k:
            move_row(z, weight[i], labels[i], k, sums, mass, count)
            moved[b] += weight[i]
            labels[i] = np.int32(k)
        left = (np.float64(gap[r]) + spent[k]) * ROUNDED_DOWN
        slack[i] = np.float32(left) if decided and gap[r] > 0.0 else NEVER


@compiled(inner=True)
def nearest_among(z, centres, score, r, most):
    """The centre nearest to z, the first of equal ones, among those with score[k, r] <= most."""
    best, distance = np.int64(-1), np.inf
    for k in range(centres.shape[0]):
        if score[k, r] <= most:
            d = 0.0
            for j in range(z.size):
                d += (z[j] - centres[k, j]) ** 2
            if d < distance or best < 0:
                best, distance = np.int64(k), d
    return best


@compiled(inner=True)
def move_row(z, weight, old, new, sums, mass, count):
    """Take the row out of the sums of its old cluster, if it had one, into those of its new one."""
    for j in range(z.size):
        sums[new, j] += weight * z[j]
    mass[new] += weight
    count[new] += 1
    if old >= 0:
        for j in range(z.size):
            sums[old, j] -= weight * z[j]
        mass[old] -= weight
        count[old] -= 1
