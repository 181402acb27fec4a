"""The best of several starts of k-means, and what can be made of them together.

Independent starts end in different local minima, each of which has some clusters right and others
not. Trials begin with the centres of the best of them, each of which gives way, in half of the
trials and by even chance, to that of another minimum with which it is matched (Gribel & Vidal
2019). Then a row far from its centre takes the place of a centre (of the one that is missed least,
Lattanzi & Sohler 2019, or of any, Fränti 2018); or each centre is pulled a part of the way to a row
of its cluster, out of minima that are narrow. A few trials are new starts, and the minima that are
kept differ in W, lest all that is known lies in one corner. Lloyd's iterations follow, as long as
they may come below the worst of the minima, whose place is taken then. Rounds of as many trials as
there were starts go on until many in a row have not lowered the best: the more, the more different
minima the starts found, and the cheaper they are.

Where Lloyd's algorithm comes near the best, single rows are moved as well (Hartigan 1975), until
none of them can lower W. A row draws its own centre towards itself by a share 1 / m of a cluster of
m rows, so Lloyd's minima may be above these by a share of about K / n of W, and so wide is "near".
What is found is still a local minimum, if mostly a better one than those of the starts.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

from empirisk.compiled.clustering.descending import descend
from empirisk.learners.team import Team
from empirisk.learners.unsupervised.lloyd import Assignment, Partition, Stopping
from empirisk.learners.unsupervised.placed_rows import PRODUCTS, PlacedRows, share_items, team_for
from empirisk.learners.unsupervised.seeding import Seeds
from empirisk.runtime.arrays import Floats
from empirisk.runtime.streams import generator, spawn

ROUGH = 1e-6  # of W: an iteration that lowers it by less is the last
NEAR = 1e-4  # of W: above the best, from where single rows are moved, and at least
PULLS = 3.0  # the same, times K / n: the part of a row in its own centre
ALIKE = 1e-6  # of W: ends that are one minimum
APART = 1e-3  # of W: the minima that are kept, lest all of them lie in one corner
GAIN = 1e-9  # of W: more than the rounding of sums
PATIENCE = 5, 40  # trials without a gain, for each different minimum among the starts' ends
PATIENT = 1.5e5  # products of rows, features and centres, in these trials, between the two
LEAST_PATIENCE = 40, 80  # such trials at least, where there is one minimum, and where more
TRIALS = 10  # for each start, at most, where patience is not longer
LEAST_TRIALS = 5  # in a round
ANEW, EXCHANGED = 0.2, 0.3  # of the trials; in the others centres are pulled
PULL = 0.2, 1.0  # parts of the way to a row
PRODUCTS_TO_SHARE = 2**15  # of rows, features and centres; with fewer, threads wait more than work
WAY = 30  # iterations of a way down, about


class Minimum(NamedTuple):
    """Where a way down ended, with its number, and where it began."""

    number: int
    within: float
    centres: Floats
    start: Floats
    bar: float


@dataclass(eq=False)
class Descent:
    """Ways down to local minima."""

    placed: PlacedRows
    max_iter: int
    team: Team
    n_ways: int = 0

    def minima(self, starts: Floats, bar: float, near: float) -> tuple[list[Minimum], list[int]]:
        """From each start to a minimum, and the iterations that took.

        Ways end where W is not going to fall below `bar`; single rows are moved where it is below
        `near`.
        """
        products = self.placed.X.size * starts.shape[1] * WAY
        if products > PRODUCTS:  # deadlines are to be looked at on the way
            ends = self.team.map(lambda start: self.step_by_step(start, bar, near), list(starts))
            found = [(end.within, end.centres, len(end.steps)) for end in ends]
        else:
            at_once = self.team.size * int(PRODUCTS / products)
            found = []
            for begin in range(0, len(starts), at_once):
                found += self.at_a_stroke(starts[begin : begin + at_once], bar, near)
        first, self.n_ways = self.n_ways, self.n_ways + len(starts)
        minima = [
            Minimum(first + t, within, centres, starts[t], bar)
            for t, (within, centres, _) in enumerate(found)
        ]
        return minima, [n_iter for _, _, n_iter in found]

    def at_a_stroke(
        self, starts: Floats, bar: float, near: float
    ) -> list[tuple[float, Floats, int]]:
        """W, centres and the number of iterations at the end of each way."""
        placed = self.placed
        centres, within = starts.copy(), np.empty(len(starts))
        iterations, blocks = np.empty(len(starts), np.int64), placed.starts(starts.shape[1])
        share_items(
            self.team, descend, blocks, placed.X, placed.unit, placed.shift, placed.weight,
            placed.tiles, placed.total, placed.mass, ROUGH, bar, near, self.max_iter, centres,
            within, iterations,
        )  # fmt: skip
        return list(zip(within.tolist(), centres, iterations.tolist(), strict=True))

    def step_by_step(
        self,
        start: Floats,
        bar: float,
        near: float,
        *,
        keep: bool = False,
        team: Team | None = None,
    ) -> Assignment:
        """The same way, bit by bit, with its steps."""
        way = Assignment(self.placed, start, Team(1) if team is None else team)
        way.iterate(Stopping("gain", ROUGH, self.max_iter), keep=keep, bar=bar)
        if way.within < near:
            way.refine(Stopping("stability", 0.0, self.max_iter), keep=keep)
        return way


def best_partition(
    placed: PlacedRows,
    n_clusters: int,
    start: Callable[[int], Floats],
    seeds: list[int],
    max_iter: int,
    *,
    n_jobs: int | None,
    keep: bool,
    tell: Callable[[Sequence[int]], None],
) -> Partition:
    """The best that starts, one for each seed, lead to; `tell` hears of their iterations."""
    products, n_starts = placed.X.size * n_clusters, len(seeds)
    team = Team(n_jobs if products >= PRODUCTS_TO_SHARE else 1)
    down = Descent(placed, max_iter, team)
    begin = Trials(generator(spawn(seeds[0], 1)[0]), start, max(n_starts, LEAST_TRIALS))
    ends, iterations = down.minima(np.stack(team.map(start, seeds)), np.inf, np.inf)
    tell(iterations)
    patience = patience_with(len(different(ends, n_starts, ALIKE)), n_starts, products)
    minima = different(ends, n_starts, APART)
    around = Seeds.about(placed, minima[0].centres, team, begin.rng)
    near = 1 + max(NEAR, PULLS * n_clusters / len(placed.X))
    done = idle = 0
    while idle < patience and done < max(TRIALS * n_starts, patience):
        if not around.potential.sum() > 0:  # every row is a centre
            break
        best, bar = minima[0], minima[-1].within
        trials, _ = down.minima(begin.centres(around, minima), bar, near * best.within)
        minima = different([*minima, *trials], n_starts, APART)
        done += len(trials)
        idle = 0 if minima[0].within < best.within * (1 - GAIN) else idle + len(trials)
        if minima[0] is not best:
            around = Seeds.about(placed, minima[0].centres, team, begin.rng)
    best, team = minima[0], team_for(placed.X, n_jobs)
    return down.step_by_step(best.start, best.bar, np.inf, keep=keep, team=team).settled()


def patience_with(n_minima: int, n_starts: int, products: int) -> float:
    """How many trials in a row may gain nothing."""
    unseen = np.clip(10 / n_starts, 1, 2)  # of few starts, more minima remain to be found
    by_minima = unseen * n_minima * np.clip(PATIENT / products, *PATIENCE)
    return float(max(LEAST_PATIENCE[n_minima > 1], by_minima))


@dataclass(eq=False)
class Trials:
    """Centres to begin a round of trials with."""

    rng: np.random.Generator
    start: Callable[[int], Floats]
    size: int
    matched: dict[tuple[int, int], Floats] = field(default_factory=dict)

    def centres(self, around: Seeds, minima: list[Minimum]) -> Floats:
        """New ones, and those of the best with one exchanged or all pulled about."""
        n_new, n_exchanged = round(ANEW * self.size), round(EXCHANGED * self.size)
        anew = around.team.map(self.start, self.rng.integers(2**63, size=n_new).tolist())
        centres = self.crossed(minima, self.size - n_new)
        self.exchange(around, centres[:n_exchanged])
        self.pull(around, minima[0], centres[n_exchanged:])
        return np.concatenate([anew, centres])

    def crossed(self, minima: list[Minimum], n: int) -> Floats:
        """The best's, in half of the trials crossed with another's."""
        best = minima[0]
        others = self.rng.integers(min(1, len(minima) - 1), len(minima), size=n)
        other = np.stack([self.in_order_of(best, minima[m]) for m in others])
        crossed = self.rng.random((n, len(best.centres), 1)) < 0.5
        return np.where(crossed & (self.rng.random((n, 1, 1)) < 0.5), other, best.centres)

    def exchange(self, around: Seeds, centres: Floats) -> None:
        """Put a row far from its centre in the place of one."""
        n, K, _ = centres.shape
        rows, anyone = around.draw(n), self.rng.random(n) < 0.5
        leaves = np.where(anyone, self.rng.integers(K, size=n), around.missed_least(rows))
        centres[np.arange(n), leaves] = around.placed.at(rows)

    def pull(self, around: Seeds, best: Minimum, centres: Floats) -> None:
        """Move each as its namesake of the best on a part of the way to a row of its cluster."""
        way = around.placed.at(around.members(len(centres))) - best.centres
        centres += self.rng.uniform(*PULL, size=(len(centres), 1, 1)) * way

    def in_order_of(self, best: Minimum, other: Minimum) -> Floats:
        """The centres of the other, each in the place of the one it is matched with."""
        pair = best.number, other.number
        if pair not in self.matched:
            square = cdist(best.centres, other.centres, "sqeuclidean")
            self.matched[pair] = other.centres[linear_sum_assignment(square)[1]]
        return self.matched[pair]


def different(ends: Sequence[Minimum], most: int, apart: float) -> list[Minimum]:
    """The lowest of these, in order; of those less apart the lowest, of equal ones the first."""
    found: list[int] = []
    lowest = -np.inf
    for k in sorted(range(len(ends)), key=lambda k: ends[k].within):
        if ends[k].within > lowest * (1 + apart):
            lowest = ends[k].within
            found.append(k)
        elif ends[k].within <= lowest * (1 + GAIN):
            found[-1] = min(found[-1], k)
    return [ends[k] for k in found[:most]]
