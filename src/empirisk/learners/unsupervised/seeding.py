"""Starts of k-means: k-means++ with exchanges, random rows, the means of a random partition.

k-means++ (Arthur & Vassilvitskii 2007) draws each centre among the rows with probability
proportional to weight times squared distance to the nearest centre so far; the greedy form draws
2 + log K candidates and keeps the one that leaves least. Then, as often as there are clusters,
another row is drawn in the same way and takes the place of that centre whose exchange lowers the
sum most, if one does (Lattanzi & Sohler 2019): starts in which two centres share one cluster and
one centre two, out of which Lloyd's algorithm never comes, are mended.

A row of weight w is drawn as w copies of it are.
"""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from empirisk.compiled.clustering.seeding import (
    exchange_centre,
    find_rows,
    find_two_nearest,
    miss_centres,
    spread_centres,
    try_candidates,
    weigh_exchanges,
)
from empirisk.learners.team import Team
from empirisk.learners.unsupervised.placed_rows import (
    PRODUCTS,
    PlacedRows,
    block_starts,
    share,
    share_items,
    share_meetings,
)
from empirisk.runtime.arrays import Array, Floats, Ints
from empirisk.runtime.conversion import numbers
from empirisk.runtime.errors import ParameterError

STARTS = ("k-means++", "random", "random_partition")

WORTH = 1e-6  # an exchange must lower the sum by this share: what single precision can tell


@dataclass(eq=False)
class Seeds:
    """Centres among the rows, and the nearest two of each row."""

    placed: PlacedRows
    n_clusters: int
    team: Team
    rng: np.random.Generator
    chosen: Ints = field(init=False)

    def __post_init__(self) -> None:
        n = len(self.placed.X)
        self.first = block_starts(n, self.n_clusters)
        B = len(self.first) - 1
        self.chosen = np.full(self.n_clusters, -1, np.int64)
        self.near = np.full((2, n), -1, np.int32)
        self.apart = np.full((2, n), np.inf, np.float32)
        self.potential = np.zeros(B)

    def draw(self, m: int) -> Ints:
        """m rows, each with probability proportional to weight times distance."""
        total = self.potential.sum()
        if not total > 0:  # every row lies on a centre
            return draw_rows(self.placed.weight, self.rng.random(m))
        found = np.empty(m, np.int64)
        targets = self.rng.random(m) * total
        find_rows(self.first, self.placed.weight, self.apart, self.potential, targets, found)
        if (found < 0).any():  # rounding of the sum, in a block whose rows are all centres
            found[found < 0] = int(self.apart[0].argmax())
        return found

    def distances(self, rows: Ints) -> tuple[Array, Floats]:
        """To each of these rows, and what would be left of the sum if it were a centre."""
        distance = np.empty((len(rows), len(self.placed.X)), np.float32)
        potential = np.empty((len(self.first) - 1, len(rows)))
        share(
            self.team, try_candidates, self.first, self.placed.tiles, self.placed.weight,
            self.placed.at(rows).astype(np.float32), self.apart, distance, potential,
        )  # fmt: skip
        return distance, potential.sum(axis=0)

    def spread(self) -> None:
        """Choose all centres by greedy k-means++."""
        tiles, weight, trials = (
            self.placed.tiles,
            self.placed.weight,
            2 + int(np.log(self.n_clusters)),
        )
        uniform = self.rng.random((self.n_clusters, trials))
        anywhere = draw_rows(weight, uniform.ravel()).reshape(uniform.shape)
        working = (
            np.empty(trials, np.int64), np.empty((trials, self.placed.X.shape[1]), np.float32),
            np.empty((trials, len(weight)), np.float32), np.empty((len(self.first) - 1, trials)),
        )  # fmt: skip
        at_once = max(1, int(PRODUCTS / (tiles.size * trials)))
        for start in range(0, self.n_clusters, at_once):
            share_meetings(
                self.team, spread_centres, self.first, start,
                min(self.n_clusters, start + at_once), tiles, weight, uniform, anywhere,
                self.chosen, *working, self.near, self.apart, self.potential,
            )  # fmt: skip

    @classmethod
    def about(
        cls, placed: PlacedRows, centres: Floats, team: Team, rng: np.random.Generator
    ) -> "Seeds":
        """With all these centres, which need not be rows."""
        seeds = cls(placed, len(centres), team, rng)
        share(
            team, find_two_nearest, seeds.first, placed.tiles, placed.weight,
            centres.astype(np.float32), seeds.near, seeds.apart, seeds.potential,
        )  # fmt: skip
        return seeds

    def best_exchange(self) -> tuple[int, int, Array, float]:
        """Draw a row: it, the centre whose place it best takes, its distances, the sum then."""
        row = self.draw(1)
        distance, _ = self.distances(row)
        B = len(self.first) - 1
        kept, extra = np.empty(B), np.empty((B, self.n_clusters))
        share(
            self.team, weigh_exchanges, self.first, self.placed.weight, distance[0], self.near,
            self.apart, kept, extra,
        )  # fmt: skip
        sums = kept.sum() + extra.sum(axis=0)
        k = int(sums.argmin())
        return int(row[0]), k, distance[0], float(sums[k])

    def missed_least(self, rows: Ints) -> Ints:
        """For each of these rows the centre whose place it best takes."""
        extra = np.empty((len(rows), self.n_clusters))
        points, placed = self.placed.at(rows).astype(np.float32), self.placed
        share_items(
            self.team, miss_centres, self.first, placed.tiles, placed.weight, points, self.near,
            self.apart, extra,
        )  # fmt: skip
        return extra.argmin(axis=1)

    def members(self, m: int) -> Ints:
        """A row of each cluster (of another, where it has none), m times."""
        order, running, begin, end = self.in_clusters
        targets = begin + self.rng.random((m, self.n_clusters)) * (end - begin)
        found = np.searchsorted(running, targets, side="right")
        return order[np.minimum(found, len(order) - 1)]

    @cached_property
    def in_clusters(self) -> tuple[Ints, Floats, Floats, Floats]:
        """Rows in the order of their clusters, their running weight, where each begins and ends."""
        order = np.argsort(self.near[0], kind="stable")
        running = np.cumsum(self.placed.weight[order])
        last = np.searchsorted(self.near[0][order], np.arange(self.n_clusters), side="right")
        end = np.concatenate([[0.0], running])[last]
        return order, running, np.concatenate([[0.0], end[:-1]]), end

    def exchange(self) -> None:
        """Draw a row and let it take the place of a centre if that lowers the sum."""
        total = self.potential.sum()
        if not total > 0:
            return
        row, k, distance, left = self.best_exchange()
        if not left < total * (1 - WORTH):
            return
        self.chosen[k] = row
        placed = self.placed
        share(
            self.team, exchange_centre, self.first, placed.tiles, placed.weight,
            placed.at(self.chosen).astype(np.float32), distance, np.int32(k), self.near,
            self.apart, self.potential,
        )  # fmt: skip


def start(
    name: str,
    placed: PlacedRows,
    n_clusters: int,
    rng: np.random.Generator,
    team: Team,
    *,
    exchanges: bool = True,
) -> Floats:
    """Centres to start from, by the rule of this name; k-means++ with exchanges or without."""
    if name == "k-means++":
        return plus_plus(placed, n_clusters, rng, team, exchanges=exchanges)
    if name == "random":
        return random_rows(placed, n_clusters, rng)
    return random_partition(placed, n_clusters, rng, team)


def given(init: Any, placed: PlacedRows, n_clusters: int) -> Floats:
    """Centres of the space of X that were given, in that of z."""
    centres, wanted = numbers(init, "init"), (n_clusters, placed.X.shape[1])
    if centres.shape != wanted:
        raise ParameterError(f"init has shape {centres.shape}; wanted {wanted}")
    return placed.place(centres)


def plus_plus(
    placed: PlacedRows,
    n_clusters: int,
    rng: np.random.Generator,
    team: Team,
    *,
    exchanges: bool = True,
) -> Floats:
    """Greedy k-means++, and exchanges."""
    seeds = Seeds(placed, n_clusters, team, rng)
    seeds.spread()
    if n_clusters > 1 and exchanges:
        for _ in range(n_clusters):
            seeds.exchange()
    return placed.at(seeds.chosen)


def random_rows(placed: PlacedRows, n_clusters: int, rng: np.random.Generator) -> Floats:
    """Different rows, each next one drawn with probability proportional to its weight."""
    # The K first of clocks that ring after an exponential time, faster for larger weights.
    times = rng.exponential(size=len(placed.X)) / placed.weight
    rows = np.argpartition(times, n_clusters - 1)[:n_clusters]
    return placed.at(rows[np.argsort(times[rows])])


def random_partition(
    placed: PlacedRows, n_clusters: int, rng: np.random.Generator, team: Team
) -> Floats:
    """The means of clusters to which rows are dealt at random."""
    labels = rng.integers(n_clusters, size=len(placed.X), dtype=np.int32)
    labels[rng.permutation(len(labels))[:n_clusters]] = np.arange(n_clusters)  # none is empty
    return placed.means(labels, n_clusters, team)[0]


def draw_rows(weight: Floats, uniform: Floats) -> Ints:
    """Rows with probability proportional to weight, from uniform numbers."""
    running = np.cumsum(weight)
    rows = np.searchsorted(running, uniform * running[-1], side="right")
    return np.minimum(rows, len(weight) - 1)
