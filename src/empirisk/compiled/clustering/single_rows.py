"""Moves of single rows from one cluster to another that lower W (Hartigan 1975).

Lloyd's algorithm ends where each row is with its nearest centre. But a row draws its own centre
towards itself: taking it out of cluster k lowers W by m_k / (m_k - w) |z - c_k|^2, and cluster l
takes it for m_l / (m_l + w) |z - c_l|^2. Where no row can go, each is with its nearest centre, too.
"""

import numpy as np

from empirisk.compiled.clustering.iterating import square_to
from empirisk.compiled.decorator import compiled

ALONE = 1e-12  # of the weight of a cluster: no other row counts
WORTH = 1.0 - 1e-9  # what a move costs, of what it gains, at most


@compiled
def move_single_rows(
    X, unit, shift, weight, centres, spent, labels, slack, sums, mass, count
):  # fmt: skip
    """One pass over the rows, each of which goes where it lowers W most; centres follow at once.

    Rows whose slack says that no other centre can be near enough are passed over; that of rows
    that move, and of all rows as centres move, is for the caller to see to. Returns the number of
    moves.
    """
    moves = 0
    lightest = mass[mass > 0.0].min()
    for i in range(X.shape[0]):
        k, w = np.int64(labels[i]), weight[i]
        if mass[k] - w <= ALONE * mass[k]:
            continue
        own = square_to(X[i], unit, shift, centres[k])
        out = mass[k] / (mass[k] - w) * own
        furthest = np.sqrt(out * (1.0 + w / lightest)) - np.sqrt(own)
        if slack[i] - spent[k] > furthest:
            continue
        best, cost = k, WORTH * out
        for l in range(mass.size):  # noqa: E741
            if l != k and mass[l] > 0.0:
                into = mass[l] / (mass[l] + w) * square_to(X[i], unit, shift, centres[l])
                if into < cost:
                    best, cost = l, into
        if best != k:
            labels[i] = np.int32(best)
            slack[i] = np.float32(-np.inf)
            moves += 1
            carry(X[i], unit, shift, -w, k, centres, sums, mass, count)
            carry(X[i], unit, shift, w, best, centres, sums, mass, count)
    return moves


@compiled(inner=True)
def carry(x, unit, shift, w, k, centres, sums, mass, count):
    """Put a row into cluster k, or take it out with weight -w; the centre follows."""
    mass[k] += w
    count[k] += 1 if w > 0.0 else -1
    for j in range(x.size):
        sums[k, j] += w * (x[j] * unit - shift[j])
        centres[k, j] = sums[k, j] / mass[k]
