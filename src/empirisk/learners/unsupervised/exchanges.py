"""The best of several starts of k-means, and what exchanges of centres for rows make of it.

Independent starts end in different local minima; to come from one to a better one, it is often
enough to move a few centres elsewhere (Fränti 2018). So starts are followed roughly, and then as
long as each may still come below the best of them. Then, again and again, rows that are far from
their centres take the places of one, two or three of these: of the one that is missed least
(Lattanzi & Sohler 2019), or of any. Lloyd's iterations follow that in the same way.

Where they end, single rows are moved (Hartigan 1975), until none of them can lower W either.
"""

from collections.abc import Callable, Sequence

import numpy as np

from empirisk.learners.team import Team
from empirisk.learners.unsupervised.lloyd import Assignment, Partition, Stopping
from empirisk.learners.unsupervised.placed_rows import PlacedRows
from empirisk.learners.unsupervised.seeding import Seeds, plus_plus
from empirisk.runtime.arrays import Floats
from empirisk.runtime.parallel import parallel
from empirisk.runtime.streams import generator, spawn

ROUGH, FINER = 1e-2, 1e-6  # shares of W by which an iteration lowers it at least, or is the last
SINGLE = 3  # exchanges of one centre, for each cluster
TRIALS = 5  # exchanges at least, for each start: the others are of two or three centres
ALIKE = 1e-6  # of W: starts that come to one minimum, of which the first is taken
GAIN = 1e-9  # of W: more than the rounding of sums


def best_partition(
    placed: PlacedRows,
    n_clusters: int,
    seeds: list[int],
    max_iter: int,
    *,
    n_jobs: int | None,
    keep: bool,
    tell: Callable[[Sequence[Assignment]], None],
) -> Partition:
    """The best of a start of k-means++ for each seed, of which it is to `tell`, after exchanges."""
    stability = Stopping("stability", 0.0, max_iter)

    def followed(seed: int) -> Assignment:
        team = Team(n_jobs)
        centres = plus_plus(placed, n_clusters, generator(seed), team, exchanges=False)
        return Assignment(placed, centres, team).iterate(
            Stopping("gain", ROUGH, max_iter), keep=keep
        )

    team, rng = Team(n_jobs), generator(spawn(seeds[0], 1)[0])
    ends, finer = parallel(followed, seeds, n_jobs=n_jobs), Stopping("gain", FINER, max_iter)
    least = min(end.within for end in ends)
    best = next(end for end in ends if end.within <= least * (1 + ALIKE))
    for end in sorted(ends, key=lambda end: end is not best):
        end.team = team
        end.iterate(finer, keep=keep, bar=best.within)
        if end.within < best.within * (1 - GAIN):
            best = end
    tell(ends)
    around = Seeds.about(placed, best.centres, team, rng)
    single = SINGLE * n_clusters
    several = max(len(seeds), TRIALS * len(seeds) - single)
    for exchanges in rng.permutation(np.r_[np.ones(single, int), rng.integers(2, 4, several)]):
        if not around.potential.sum() > 0:
            break  # every row is a centre
        centres = elsewhere(around, best.centres, exchanges)
        found = Assignment(placed, centres, team).iterate(finer, keep=keep, bar=best.within)
        if found.within < best.within * (1 - GAIN):
            best = found
            around = Seeds.about(placed, best.centres, team, rng)
    return best.iterate(stability, keep=keep).refine(stability, keep=keep).settled()


def elsewhere(around: Seeds, centres: Floats, exchanges: int) -> Floats:
    """These centres, some of which have gone to rows that are drawn."""
    moved = centres.copy()
    if exchanges == 1:
        row, k, _, _ = around.best_exchange()
        moved[k] = around.placed.at(row)
    else:
        gone = around.rng.permutation(len(centres))[:exchanges]
        moved[gone] = around.placed.at(around.draw(len(gone)))
    return moved
