"""The whole way from starts of k-means down to minima, without a word of Python between."""

import numpy as np

from empirisk.compiled.clustering.iterating import (
    GAIN,
    STABILITY,
    lloyd_iterations,
    score_centres,
)
from empirisk.compiled.clustering.single_rows import move_single_rows
from empirisk.compiled.clustering.tiles import STEP
from empirisk.compiled.decorator import compiled
from empirisk.compiled.team import SYNC_SIZE, take


@compiled
def descend(
    sync, first, X, unit, shift, weight, tiles, total, everything, rough, bar, near, most, centres,
    within, iterations,
):  # fmt: skip
    """From centres[t] in place to a minimum, its W and the iterations it took, for one t after the
    other.

    Lloyd's iterations, at most so many, until one lowers W by a share of at most `rough`, or until
    W is not going to fall below `bar`; then, where W is below `near`, moves of single rows and
    iterations in turn, until there are none of the former.
    """
    (n, p), (T, K), B = X.shape, centres.shape[:2], first.size - 1
    labels, slack, spent = np.empty(n, np.int32), np.empty(n, np.float32), np.empty(K)
    minus = np.zeros((-(-K // STEP) * STEP, tiles.shape[1]), np.float32)
    half, radius = np.full(minus.shape[0], np.float32(np.inf)), np.empty(1, np.float32)
    block_sums, block_mass, block_moved = np.empty((B, K, p)), np.empty((B, K)), np.empty(B)
    block_count, count = np.empty((B, K), np.int64), np.empty(K, np.int64)
    sums, mass = np.empty((K, p)), np.empty(K)
    steps, kept, progress = np.empty((most, 3)), np.empty((0, K, p)), np.empty(2, np.int64)
    # Numbers of a type, and no constants, for which callees would be compiled once more.
    alone, rank, team = np.zeros(SYNC_SIZE, np.int64), np.int64(0), np.int64(1)
    t = take(sync)
    while t < T:
        labels[:], slack[:], spent[:] = -1, -np.inf, 0.0
        sums[:], mass[:], count[:] = 0.0, 0.0, 0
        score_centres(centres[t], minus, half, radius)
        iterations[t] = 0
        criterion, tol, limit = np.int64(GAIN), rough, bar
        for _ in range(most):
            progress[:] = 0
            lloyd_iterations(
                alone, rank, team, first, most, X, unit, shift, weight, tiles, total, everything,
                criterion, tol, limit, centres[t], minus, half, radius, spent, labels, slack,
                block_sums, block_mass, block_count, block_moved, sums, mass, count, steps, kept,
                progress,
            )  # fmt: skip
            iterations[t] += progress[0]
            within[t] = steps[progress[0] - 1, 1]
            moves = 0
            for _ in range(most if within[t] < near else 0):
                last = move_single_rows(
                    X, unit, shift, weight, tiles, centres[t], minus, half, radius, spent, labels,
                    slack, sums, mass, count,
                )  # fmt: skip
                moves += last
                if last == 0:
                    break
            if moves == 0:
                break
            criterion, tol, limit = np.int64(STABILITY), 0.0, np.inf
        t = take(sync)
