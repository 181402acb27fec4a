"""Where to begin: distances to candidates, drawing rows by them, and exchanging centres.

Of each row the nearest two centres are known, near[0] and near[1], and their squared distances,
apart[0] <= apart[1], in single precision. So what an exchange of any centre for a candidate does
to the sum of distances follows from one pass over the rows (Lattanzi & Sohler 2019). Rows come in
tiles, with one of which each block begins.
"""

import numpy as np

from empirisk.compiled.clustering.tiles import LANES, fused_multiply_add
from empirisk.compiled.decorator import compiled
from empirisk.compiled.team import meet, take


@compiled
def spread_centres(
    sync, rank, team, first, start, end, tiles, weight, uniform, anywhere, chosen, candidates,
    points, distance, left, near, apart, potential,
):  # fmt: skip
    """Centres `start` to `end` - 1 of greedy k-means++ (Arthur & Vassilvitskii 2007).

    uniform[k] are the draws of the candidates for centre k, of which the one that leaves least
    becomes chosen[k]; anywhere[k] are candidates for where every row lies on a centre, as for the
    first. The other arrays are working memory: candidates, their places, distances and what each
    leaves of the sum, then the nearest two centres.
    """
    for k in range(start, end):
        if rank == 0:
            total = potential.sum()
            if k > 0 and total > 0.0:
                find_rows(first, weight, apart, potential, uniform[k] * total, candidates)
            else:
                candidates[:] = anywhere[k]
            for c in range(candidates.size):
                if candidates[c] < 0:  # rounding of the sum, in a block whose rows are all centres
                    candidates[c] = apart[0].argmax()
                t, r = candidates[c] // LANES, candidates[c] % LANES
                for j in range(points.shape[1]):
                    points[c, j] = tiles[t, j, r]
        if not meet(sync, team):
            return
        try_candidates(sync, first, tiles, weight, points, apart, distance, left)
        if not meet(sync, team):
            return
        best = left.sum(axis=0).argmin() if k > 0 else 0
        if rank == 0:
            chosen[k] = candidates[best]
            potential[:] = left[:, best]
        enter_centre(sync, first, distance[best], np.int32(k), near, apart)
        if not meet(sync, team):
            return


@compiled
def try_candidates(sync, first, tiles, weight, candidates, apart, distance, potential):
    """distance[c, i] = |z_i - candidate c|^2; potential[b, c] is what c would leave of the sum."""
    lane, left = np.empty(LANES, np.float32), np.empty((candidates.shape[0], LANES))
    b = take(sync)
    while b < first.size - 1:
        left[:] = 0.0
        for start in range(first[b], first[b + 1], LANES):
            end = min(start + LANES, first[b + 1])
            for c in range(candidates.shape[0]):
                square_to_tile(tiles[start // LANES], candidates[c], lane)
                add_nearer(
                    lane, apart[0, start:end], weight[start:end], distance[c, start:end], left[c]
                )
        for c in range(candidates.shape[0]):
            potential[b, c] = left[c].sum()
        b = take(sync)


@compiled
def add_nearer(lane, apart, weight, distance, left):
    """Distances of a tile's rows to a candidate; left[r] += weight times the lesser distance.

    A function of its own, as in `tiles`: built into its caller it was twice as slow.
    """
    for r in range(apart.size):
        d, near = lane[r], apart[r]
        distance[r] = d
        left[r] += weight[r] * np.float64(d if d < near else near)


@compiled
def enter_centre(sync, first, distance, k, near, apart):
    """Centre k, at these distances, joins the others."""
    b = take(sync)
    while b < first.size - 1:
        for i in range(first[b], first[b + 1]):
            d = distance[i]
            if d < apart[0, i]:
                apart[1, i], near[1, i] = apart[0, i], near[0, i]
                apart[0, i], near[0, i] = d, k
            elif d < apart[1, i]:
                apart[1, i], near[1, i] = d, k
        b = take(sync)


@compiled
def find_two_nearest(sync, first, tiles, weight, centres, near, apart, potential):
    """The nearest two of these centres; potential[b] is the sum of the distances to the nearest."""
    lane = np.empty(LANES, np.float32)
    least, second = np.empty(LANES, np.float32), np.empty(LANES, np.float32)
    label, other = np.empty(LANES, np.int32), np.empty(LANES, np.int32)
    b = take(sync)
    while b < first.size - 1:
        potential[b] = 0.0
        for start in range(first[b], first[b + 1], LANES):
            filled = min(LANES, first[b + 1] - start)
            least[:], second[:] = np.float32(np.inf), np.float32(np.inf)
            label[:], other[:] = np.int32(-1), np.int32(-1)
            for k in range(centres.shape[0]):
                square_to_tile(tiles[start // LANES], centres[k], lane)
                for r in range(LANES):
                    d = lane[r]
                    first_now, second_now = d < least[r], d < second[r]
                    second[r] = least[r] if first_now else (d if second_now else second[r])
                    other[r] = label[r] if first_now else (np.int32(k) if second_now else other[r])
                    least[r] = d if first_now else least[r]
                    label[r] = np.int32(k) if first_now else label[r]
            for r in range(filled):
                i = start + r
                apart[0, i], apart[1, i] = least[r], second[r]
                near[0, i], near[1, i] = label[r], other[r]
                potential[b] += weight[i] * np.float64(least[r])
        b = take(sync)


@compiled
def square_to_tile(tile, point, lane):
    """Squared distances of a point to the rows of a tile."""
    lane[:] = np.float32(0.0)
    for j in range(point.size):
        centre = point[j]
        for r in range(LANES):
            gap = tile[j, r] - centre
            lane[r] = fused_multiply_add(gap, gap, lane[r])


@compiled
def find_rows(first, weight, apart, potential, targets, found):
    """The rows at which the running sum of weight * apart[0] passes the targets."""
    for c in range(targets.size):
        b, before = np.int64(0), 0.0
        while b < potential.size - 1 and before + potential[b] <= targets[c]:
            before += potential[b]
            b += 1
        last = np.int64(-1)
        for i in range(first[b], first[b + 1]):
            here = weight[i] * np.float64(apart[0, i])
            if here > 0.0:
                last = np.int64(i)
                before += here
                if before > targets[c]:
                    break
        found[c] = last


@compiled
def weigh_exchanges(sync, first, weight, distance, near, apart, kept, extra):
    """For each block what is left of the sum if a candidate joins, and if centre k also leaves.

    kept[b] + extra[b, k] is the sum without k and with the candidate at these distances.
    """
    b = take(sync)
    while b < first.size - 1:
        kept[b] = 0.0
        extra[b] = 0.0
        for i in range(first[b], first[b + 1]):
            d = distance[i]
            kept[b] += weight[i] * np.float64(min(d, apart[0, i]))
            if d > apart[0, i]:
                more = np.float64(min(d, apart[1, i])) - np.float64(apart[0, i])
                extra[b, near[0, i]] += weight[i] * more
        b = take(sync)


@compiled
def miss_centres(sync, first, tiles, weight, points, near, apart, extra):
    """extra[c, k]: what the sum loses if centre k leaves after point c joined, beside the same."""
    lane = np.empty(LANES, np.float32)
    c = take(sync)
    while c < points.shape[0]:
        extra[c] = 0.0
        for start in range(0, first[-1], LANES):
            square_to_tile(tiles[start // LANES], points[c], lane)
            for i in range(start, min(start + LANES, first[-1])):
                d = lane[i - start]
                if d > apart[0, i]:
                    more = np.float64(min(d, apart[1, i])) - np.float64(apart[0, i])
                    extra[c, near[0, i]] += weight[i] * more
        c = take(sync)


@compiled
def exchange_centre(sync, first, tiles, weight, centres, distance, k, near, apart, potential):
    """Centre k has gone elsewhere, to these distances: the nearest two of each row again.

    Rows that had k among their two look at all centres; the others at the new place alone.
    """
    K, p = centres.shape
    z = np.empty(p, np.float32)
    b = take(sync)
    while b < first.size - 1:
        total = 0.0
        for i in range(first[b], first[b + 1]):
            if near[0, i] == k or near[1, i] == k:
                apart[0, i], apart[1, i] = np.float32(np.inf), np.float32(np.inf)
                for j in range(p):
                    z[j] = tiles[i // LANES, j, i % LANES]
                for m in range(K):
                    d = np.float32(0.0)
                    if m == k:
                        d = distance[i]
                    else:
                        for j in range(p):
                            gap = z[j] - centres[m, j]
                            d = fused_multiply_add(gap, gap, d)
                    if d < apart[0, i]:
                        apart[1, i], near[1, i] = apart[0, i], near[0, i]
                        apart[0, i], near[0, i] = d, m
                    elif d < apart[1, i]:
                        apart[1, i], near[1, i] = d, m
            else:
                d = distance[i]
                if d < apart[0, i]:
                    apart[1, i], near[1, i] = apart[0, i], near[0, i]
                    apart[0, i], near[0, i] = d, k
                elif d < apart[1, i]:
                    apart[1, i], near[1, i] = d, k
            total += weight[i] * np.float64(apart[0, i])
        potential[b] = total
        b = take(sync)
