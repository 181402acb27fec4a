"""Lloyd's algorithm (1957, 1982): rows to their nearest centres, centres to their rows' means.

Both steps lower W = sum_i w_i |x_i - c_{z_i}|^2, so it ends, at a local minimum. In the centred
space W after either step follows from the sums of the clusters alone: with S_k and m_k the sum and
the weight of cluster k, W = sum_i w_i |x_i|^2 - 2 sum_k c_k'S_k + sum_k m_k |c_k|^2.
"""

from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np

from empirisk.compiled.clustering.assigning import assign_blocks
from empirisk.compiled.clustering.tiles import STEP
from empirisk.learners.team import Team
from empirisk.learners.unsupervised.placed_rows import PlacedRows, share
from empirisk.runtime.arrays import Array, Floats, Int32s

Criterion = Literal["movement", "stability", "unchanged"]

ROUNDED_UP = 1.0 + 1e-12
SAME = 4e-30  # a squared distance, of numbers up to 1, that may be rounding: for each feature


class Step(NamedTuple):
    """One iteration: the centres that rows went to, if kept; W before and after they are moved.

    `moved` is the weight of the rows that changed their cluster.
    """

    centres: Floats | None
    assigned: float
    updated: float
    moved: float


class Partition(NamedTuple):
    """Where Lloyd's algorithm ended; everything is in the space of `PlacedRows`."""

    centres: Floats
    labels: Int32s
    within: float
    n_iter: int
    converged: bool
    steps: list[Step]


@dataclass(frozen=True)
class Stopping:
    """When iterations end: always when no row changes its cluster, which is stability.

    Attributes
    ----------
    criterion : {"movement", "stability", "unchanged"}
        "movement" also where the squared moves of the centres sum to at most `tol`; "unchanged"
        also where at most a share `tol` of the weight changes its cluster.
    tol : float
    max_iter : int
    """

    criterion: Criterion
    tol: float
    max_iter: int

    def met(self, movement: float, moved: float) -> bool:
        """Of the centres' squared moves, and the share of the weight that changed its cluster."""
        if self.criterion == "movement":
            return movement <= self.tol
        return self.criterion == "unchanged" and moved <= self.tol


@dataclass(eq=False)
class Assignment:
    """The clusters of rows while centres move: labels, what bounds them, and the clusters' sums."""

    placed: PlacedRows
    n_clusters: int
    team: Team
    labels: Int32s = field(init=False)

    def __post_init__(self) -> None:
        n, p = self.placed.X.shape
        K = self.n_clusters
        self.labels = np.full(n, -1, np.int32)
        self.slack = np.full(n, -np.inf, np.float32)
        self.spent = np.zeros(K)
        self.sums, self.mass, self.count = np.zeros((K, p)), np.zeros(K), np.zeros(K, np.int64)
        self.first = self.placed.starts(K)
        B = len(self.first) - 1
        self._sums, self._mass = np.empty((B, K, p)), np.empty((B, K))
        self._count, self._moved = np.empty((B, K), np.int64), np.empty(B)

    def assign(self, centres: Floats) -> float:
        """Each row to its nearest centre; returns the weight of those that change."""
        placed = self.placed
        minus, half, radius = scored_centres(centres)
        share(
            self.team, assign_blocks, self.first, placed.X, placed.unit, placed.shift,
            placed.weight, placed.rows, centres, minus, half, radius, self.spent,
            self.labels, self.slack, self._sums, self._mass, self._count, self._moved,
        )  # fmt: skip
        self.sums += self._sums.sum(axis=0)
        self.mass += self._mass.sum(axis=0)
        self.count += self._count.sum(axis=0)
        empty = self.count == 0  # exactly, where rounding may have left a little
        self.sums[empty], self.mass[empty] = 0.0, 0.0
        return float(self._moved.sum())

    def means(self, centres: Floats) -> Floats:
        """The mean of each cluster; an empty one keeps its centre."""
        empty = self.mass <= 0
        means = self.sums / np.where(empty, 1.0, self.mass)[:, np.newaxis]
        means[empty] = centres[empty]
        return means

    def sum_again(self) -> None:
        """The sums from all rows: without what rounding adds as rows come and go."""
        means, self.mass = self.placed.means(self.labels, self.n_clusters, self.team)
        self.sums = means * self.mass[:, np.newaxis]

    def move(self, old: Floats, new: Floats) -> float:
        """Centres move, which uses up the slack of rows; returns the sum of the squared moves."""
        square = np.einsum("kj,kj->k", new - old, new - old)
        move = np.sqrt(square) * ROUNDED_UP
        others = np.zeros_like(move)
        if len(move) > 1:
            second, largest = np.partition(move, -2)[-2:]
            others = np.where(move == largest, second, largest)
            if (move == largest).sum() > 1:
                others[:] = largest
        self.spent = (self.spent + move + others) * ROUNDED_UP
        return float(square.sum())

    def within(self, centres: Floats) -> float:
        """W of these labels and centres, from the sums."""
        cross = float(np.einsum("kj,kj->", centres, self.sums))
        squares = float(self.mass @ np.einsum("kj,kj->k", centres, centres))
        return max(0.0, self.placed.total - 2.0 * cross + squares)


def lloyd(
    placed: PlacedRows, centres: Floats, stopping: Stopping, team: Team, *, keep: bool = False
) -> Partition:
    """Lloyd's iterations from these centres, until they stop; `keep` the centres of each."""
    state, steps, converged = Assignment(placed, len(centres), team), [], False
    for _ in range(stopping.max_iter):
        moved = state.assign(centres)
        means = state.means(centres)
        before = state.within(centres)
        seeded = reseed(state, means)
        steps.append(Step(centres if keep else None, before, state.within(means), moved))
        movement = state.move(centres, means)
        centres = means
        converged = (moved == 0 and not seeded) or stopping.met(movement, moved / placed.mass)
        if converged:
            break
    state.sum_again()
    means = state.means(centres)
    state.move(centres, means)
    state.assign(means)
    within = float(placed.weight @ placed.distances(state.labels, means, team))
    return Partition(means, state.labels, within, len(steps), converged, steps)


def reseed(state: Assignment, means: Floats) -> bool:
    """Put the centres of empty clusters, in place, on the rows furthest from theirs, one by one.

    Of rows equally far the first is taken. Where every row lies on a centre there is nothing to
    gain, and a cluster stays empty. The rows change their clusters in the next iteration.
    """
    empty = np.flatnonzero(state.count == 0)
    if not len(empty):
        return False
    placed = state.placed
    distance = placed.distances(state.labels, means, state.team)
    for done, k in enumerate(empty):
        i = int(distance.argmax())
        if distance[i] <= SAME * means.shape[1]:
            return done > 0
        means[k] = placed.at(i)
        here = np.full(len(distance), k, np.int32)
        distance = np.minimum(distance, placed.distances(here, means, state.team))
    return True


def nearest(placed: PlacedRows, centres: Floats, team: Team) -> Int32s:
    """The nearest centre of each row, the first of equally near ones."""
    state = Assignment(placed, len(centres), team)
    state.assign(centres)
    return state.labels


def scored_centres(centres: Floats) -> tuple[Array, Array, np.float32]:
    """What `compiled.clustering.tiles` takes: -c_k and |c_k|^2 / 2, padded, and the largest |c_k|.

    Centres that pad are infinitely far.
    """
    K, p = centres.shape
    square = np.einsum("kj,kj->k", centres, centres)
    minus = np.zeros((-(-K // STEP) * STEP, -(-p // STEP) * STEP), np.float32)
    half = np.full(len(minus), np.inf, np.float32)
    minus[:K, :p], half[:K] = -centres, 0.5 * square
    return minus, half, np.float32(np.sqrt(square.max()) * (1 + 1e-6))
