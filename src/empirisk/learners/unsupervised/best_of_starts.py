"""The best of several starts of k-means, and what can be made of them together.

Independent starts end in different local minima, each of which has some clusters right and others
not. So the minima are recombined (Gribel & Vidal 2019): the centres of the best and of another one
are matched, of each pair one is taken, a row far from its centre takes the place of one more (of
the one that is missed least, Lattanzi & Sohler 2019, or of any, Fränti 2018), and Lloyd's
iterations follow, as long as they may come below the worst of the minima, whose place is taken
then. A third of the trials start anew. For each start there are as many trials as there are
different minima among the starts' ends.

Near the best, single rows are moved as well (Hartigan 1975), until none of them can lower W. What
is found is still a local minimum, if mostly a better one than those of the starts.
"""

from collections.abc import Callable, Iterable, Sequence

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

from empirisk.learners.team import Team
from empirisk.learners.unsupervised.lloyd import Assignment, Partition, Stopping
from empirisk.learners.unsupervised.placed_rows import PlacedRows, team_for
from empirisk.learners.unsupervised.seeding import Seeds, plus_plus
from empirisk.runtime.arrays import Floats
from empirisk.runtime.parallel import parallel
from empirisk.runtime.streams import generator, spawn

ROUGH = 1e-6  # of W: an iteration that lowers it by less is the last
NEAR = 1e-4  # of W: above the best, from where iterations go on, and single rows are moved
ALIKE = 1e-6  # of W: ends that are one minimum
AFRESH = 1 / 3  # of the trials: they start anew
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
    """The best that starts of k-means++, one for each seed, lead to; `tell` hears of their ends."""
    team, rng = team_for(placed.X, n_jobs), generator(spawn(seeds[0], 1)[0])
    rough, stable = Stopping("gain", ROUGH, max_iter), Stopping("stability", 0.0, max_iter)

    def followed(seed: int) -> Assignment:
        alone = Team(1)
        centres = plus_plus(placed, n_clusters, generator(seed), alone, exchanges=False)
        return Assignment(placed, centres, alone).iterate(rough, keep=keep)

    def settle(end: Assignment, best: float) -> Assignment:
        if end.within < best * (1 + NEAR):
            end.iterate(stable, keep=keep).refine(stable, keep=keep)
        return end

    ends = parallel(followed, seeds, n_jobs=team.size)
    least = min(end.within for end in ends)
    for end in ends:
        end.team = team
    tell(ends)
    minima = different((settle(end, least) for end in ends), len(seeds))
    around = Seeds.about(placed, minima[0].centres, team, rng)
    for _ in range(len(seeds) * len(minima)):
        if not around.potential.sum() > 0:
            break  # every row is a centre
        best, bar = minima[0], minima[-1].within
        if rng.random() < AFRESH:
            centres = plus_plus(placed, n_clusters, rng, team, exchanges=False)
        else:
            centres = recombined(around, [end.centres for end in minima])
        found = best.moved(centres).iterate(rough, keep=keep, bar=bar)
        minima = different([*minima, settle(found, best.within)], len(seeds))
        if minima[0] is found:
            around = Seeds.about(placed, minima[0].centres, team, rng)
    return minima[0].iterate(stable, keep=keep).refine(stable, keep=keep).settled()


def different(ends: Iterable[Assignment], most: int) -> list[Assignment]:
    """The lowest of these, in order; of those that are alike, the first, but for real gains."""
    found: list[Assignment] = []
    for end in ends:
        same = [k for k, other in enumerate(found) if are_alike(end, other)]
        if not same:
            found.append(end)
        elif end.within < found[same[0]].within * (1 - GAIN):
            found[same[0]] = end
    return sorted(found, key=lambda end: end.within)[:most]


def are_alike(one: Assignment, other: Assignment) -> bool:
    """Whether they seem to be one minimum."""
    return abs(one.within - other.within) <= ALIKE * other.within


def recombined(around: Seeds, parents: list[Floats]) -> Floats:
    """Centres of the first and of one more of the parents, one of which has gone to a row."""
    rng, best = around.rng, parents[0]
    other = parents[rng.integers(min(1, len(parents) - 1), len(parents))]
    _, matched = linear_sum_assignment(cdist(best, other, "sqeuclidean"))
    centres = np.where(rng.random((len(best), 1)) < 0.5, best, other[matched])
    row, k, _, _ = around.best_exchange()
    centres[k if rng.random() < 0.5 else rng.integers(len(best))] = around.placed.at(row)
    return centres
