"""Moves of single rows from one cluster to another that lower W (Hartigan 1975).

Lloyd's algorithm ends where each row is with its nearest centre. But a row draws its own centre
towards itself: taking it out of cluster k lowers W by m_k / (m_k - w) |z - c_k|^2, and cluster l
takes it for m_l / (m_l + w) |z - c_l|^2. Where no row can go, each is with its nearest centre, too.

Tiles of rows are looked at in single precision, and the few that may gain in double precision.
"""

import numpy as np

from empirisk.compiled.clustering.assigning import NEVER
from empirisk.compiled.clustering.iterating import ROUNDED_UP, SAME, score_centre
from empirisk.compiled.clustering.tiles import LANES, LEAST, ULP, score_tile, square_tile, two_least
from empirisk.compiled.decorator import compiled

ALONE = 1e-12  # of the weight of a cluster: no other row counts
WORTH = 1.0 - 1e-9  # what a move costs, of what it gains, at most
MORE = 1.0 + 1e-6  # than the rounding of a few products
TWO = np.float32(2.0)


@compiled
def move_single_rows(
    X, unit, shift, weight, tiles, centres, minus, half, radius, spent, labels, slack, sums, mass,
    count,
):  # fmt: skip
    """One pass over the rows, each of which goes where it lowers W most; centres follow at once.

    The slack of rows that move is gone, and as centres move they use up that of all rows (see
    `assigning`). Returns the number of moves.
    """
    n, p = X.shape
    moves, z, label = 0, np.empty(p), np.empty(LANES, np.int32)
    score, lanes = np.empty((minus.shape[0], LANES), np.float32), np.empty((4, LANES), np.float32)
    least, second, square, room = lanes[0], lanes[1], lanes[2], lanes[3]
    lightest = mass[mass > 0.0].min()
    for start in range(0, n, LANES):
        tile = tiles[start // LANES]
        score_tile(tile, minus, half, score)
        two_least(score, least, second, label)
        square_tile(tile, p, square)
        room_of_tile(square, radius[0], minus.shape[1], room)
        for i in range(start, min(start + LANES, n)):
            r, k, w = i - start, np.int64(labels[i]), weight[i]
            rest = mass[k] - w
            own = square[r] + TWO * score[k, r] + room[r]
            other = square[r] + TWO * (second[r] if label[r] == k else least[r]) - room[r]
            safe = other * rest * lightest > own * mass[k] * (lightest + w) * MORE
            if rest <= ALONE * mass[k] or safe:
                continue
            for j in range(p):
                z[j] = X[i, j] * unit - shift[j]
            best = best_cluster(z, w, k, centres, mass)
            if best != k:
                labels[i], slack[i] = np.int32(best), NEVER
                moves += 1
                lightest = min(lightest, rest)
                drift = carry(z, -w, k, centres, minus, half, radius, sums, mass, count)
                drift += carry(z, w, best, centres, minus, half, radius, sums, mass, count)
                for l in range(mass.size):  # noqa: E741  (centre l)
                    spent[l] = (spent[l] + drift) * ROUNDED_UP
    return moves


@compiled(inner=True)
def room_of_tile(square, radius, terms, room):
    """What rounding may do to the squared distances of rows (see `tiles.gap_tile`)."""
    unit = np.float32(terms + 16) * ULP
    for r in range(LANES):
        both = TWO * unit * radius * (np.float32(0.5) * radius + np.sqrt(square[r])) + TWO * LEAST
        room[r] = both + unit * square[r]


@compiled(inner=True)
def best_cluster(z, w, k, centres, mass):
    """The cluster where a row of cluster k costs least; k unless another one is worth the move."""
    own = square_between(z, centres[k])
    best, cost = np.int64(k), WORTH * mass[k] / (mass[k] - w) * own
    if own <= SAME * z.size:
        return best
    for l in range(mass.size):  # noqa: E741  (centre l)
        if l != k and mass[l] > 0.0:
            into = mass[l] / (mass[l] + w) * square_between(z, centres[l])
            if into < cost:
                best, cost = np.int64(l), into
    return best


@compiled(inner=True)
def square_between(z, centre):
    """|z - c|^2."""
    d = 0.0
    for j in range(z.size):
        d += (z[j] - centre[j]) ** 2
    return d


@compiled(inner=True)
def carry(z, w, k, centres, minus, half, radius, sums, mass, count):
    """Put a row into cluster k, or take it out with weight -w; returns how far its centre goes."""
    mass[k] += w
    count[k] += 1 if w > 0.0 else -1
    square = 0.0
    for j in range(z.size):
        sums[k, j] += w * z[j]
        mean = sums[k, j] / mass[k]
        square += (mean - centres[k, j]) ** 2
        centres[k, j] = mean
    size = score_centre(centres, k, minus, half)
    radius[0] = max(radius[0], np.float32(np.sqrt(size) * (1.0 + 1e-6)))
    return np.sqrt(square) * ROUNDED_UP
