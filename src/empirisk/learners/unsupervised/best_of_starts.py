"""The best of several starts of k-means, and what can be made of them together.

Independent starts end in different local minima, each of which has some clusters right and others
not. So the minima are recombined (Gribel & Vidal 2019): the centres of the best and of another one
are matched, of each pair one is taken, a row far from its centre takes the place of one more (of
the one that is missed least, Lattanzi & Sohler 2019, or of any, Fränti 2018), and Lloyd's
iterations follow, as long as they may come below the worst of the minima, whose place is taken
then. There are rounds of as many trials as there were starts, until
the best has not been improved by a number of trials that grows with the number of different minima
among the starts' ends: where there are many, better ones are likely.

Not too far above the best, single rows are moved as well (Hartigan 1975), until none of them can
lower W. Where clusters are small, many of Lloyd's minima are none of these moves, and what is
recombined is better by far.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

from empirisk.learners.team import Team
from empirisk.learners.unsupervised.lloyd import Assignment, Partition, Stopping
from empirisk.learners.unsupervised.placed_rows import PlacedRows, team_for
from empirisk.learners.unsupervised.seeding import Seeds
from empirisk.runtime.arrays import Array, Floats
from empirisk.runtime.streams import generator, spawn

ROUGH = 1e-6  # of W: an iteration that lowers it by less is the last
NEAR = 1e-4  # of W: above the best, from where single rows are moved, and at least
PULLS = 3.0  # the same, times K / n: the part of a row in its own centre
ALIKE = 1e-6  # of W: ends that are one minimum
GAIN = 1e-9  # of W: more than the rounding of sums
PATIENCE = 6  # trials without a gain, for each of the different minima among the starts' ends
LEAST_PATIENCE = 20  # and trials, at least
ROUNDS = 15  # of trials, at most


@dataclass(frozen=True, eq=False)
class Descent:
    """Ways down to local minima."""

    placed: PlacedRows
    n_clusters: int
    max_iter: int
    keep: bool

    def rough(self, centres: Floats, bar: float = np.inf) -> Assignment:
        """Lloyd's iterations while they gain more than little, and may come below the bar."""
        stopping = Stopping("gain", ROUGH, self.max_iter)
        return Assignment(self.placed, centres, Team(1)).iterate(stopping, keep=self.keep, bar=bar)

    def settle(self, end: Assignment, best: float) -> Assignment:
        """Down to where no single row can lower W, if the end is near the best W."""
        near = max(NEAR, PULLS * self.n_clusters / len(self.placed.X))
        return self.refine(end) if end.within < best * (1 + near) else end

    def refine(self, end: Assignment) -> Assignment:
        """Down to where no single row can lower W."""
        return end.refine(Stopping("stability", 0.0, self.max_iter), keep=self.keep)


def best_partition(
    placed: PlacedRows,
    n_clusters: int,
    start: Callable[[int], Floats],
    seeds: list[int],
    max_iter: int,
    *,
    n_jobs: int | None,
    keep: bool,
    tell: Callable[[Sequence[Assignment]], None],
) -> Partition:
    """The best that starts, one for each seed, lead to; `tell` hears of their ends."""
    team, down = Team(n_jobs), Descent(placed, n_clusters, max_iter, keep)
    ends = team.map(lambda seed: down.rough(start(seed)), seeds)
    tell(ends)
    least = min(end.within for end in ends)
    minima = different(team.map(lambda end: down.settle(end, least), ends), len(seeds))
    patience, idle = max(LEAST_PATIENCE, PATIENCE * len(minima)), 0
    for seed in spawn(seeds[0], ROUNDS):
        around = Seeds.about(placed, minima[0].centres, Team(1), generator(seed))
        if idle >= patience or not around.potential.sum() > 0:  # every row is a centre
            break
        tried = Round(down, around, minima)
        trials = team.map(tried.end_of, tried.drawn(len(seeds)))
        best, minima = minima[0].within, different([*minima, *trials], len(seeds))
        idle = 0 if minima[0].within < best * (1 - GAIN) else idle + len(seeds)
    found = minima[0]
    found.team = team_for(placed.X, n_jobs)
    return down.refine(found).settled()


class Trial(NamedTuple):
    """What is random about one trial."""

    other: int  # minimum, beside the best
    mixed: Array  # for each centre, whether it is that of the other minimum
    row: int  # where one centre goes
    leaves: int  # which one; -1 for the one that is missed least


@dataclass(frozen=True, eq=False)
class Round:
    """Trials about the best of some minima."""

    down: Descent
    around: Seeds
    minima: list[Assignment]

    def drawn(self, n: int) -> list[Trial]:
        """The trials of the round."""
        K, rng = self.down.n_clusters, self.around.rng
        others = rng.integers(min(1, len(self.minima) - 1), len(self.minima), size=n)
        mixed, rows = rng.random((n, K, 1)) < 0.5, self.around.draw(n)
        leaves = np.where(rng.random(n) < 0.5, -1, rng.integers(K, size=n))
        return list(map(Trial, others, mixed, rows, leaves))

    def end_of(self, trial: Trial) -> Assignment:
        """Where a trial leads."""
        end = self.down.rough(self.recombined(trial), bar=self.minima[-1].within)
        return self.down.settle(end, self.minima[0].within)

    def recombined(self, trial: Trial) -> Floats:
        """Centres of the best and of another minimum, one of which has gone to a row."""
        best, other = self.minima[0].centres, self.minima[trial.other].centres
        _, matched = linear_sum_assignment(cdist(best, other, "sqeuclidean"))
        centres = np.where(trial.mixed, other[matched], best)
        leaves = trial.leaves
        if leaves < 0:
            leaves = self.around.best_exchange(trial.row, Team(1))[0]
        centres[leaves] = self.down.placed.at(trial.row)
        return centres


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
