"""Lloyd's algorithm (1957, 1982): rows to their nearest centres, centres to their rows' means.

Both steps lower W = sum_i w_i |x_i - c_{z_i}|^2, so it ends, at a local minimum. In the centred
space W after either step follows from the sums of the clusters alone: with S_k and m_k the sum and
the weight of cluster k, W = sum_i w_i |x_i|^2 - 2 sum_k c_k'S_k + sum_k m_k |c_k|^2.
"""

from dataclasses import dataclass
from typing import Literal, NamedTuple, Self

import numpy as np

from empirisk.compiled.clustering.assigning import assign_blocks
from empirisk.compiled.clustering.iterating import (
    CONVERGED,
    GAIN,
    GOING_ON,
    MOVEMENT,
    STABILITY,
    UNCHANGED,
    lloyd_iterations,
    move_centres,
    score_centres,
)
from empirisk.compiled.clustering.single_rows import move_single_rows
from empirisk.compiled.clustering.tiles import STEP
from empirisk.learners.team import Team
from empirisk.learners.unsupervised.placed_rows import PRODUCTS, PlacedRows, share, share_meetings
from empirisk.runtime.arrays import Array, Floats, Int32s
from empirisk.runtime.deadlines import check_deadline

Criterion = Literal["movement", "stability", "unchanged"]
CODES = {"movement": MOVEMENT, "stability": STABILITY, "unchanged": UNCHANGED, "gain": GAIN}


class Partition(NamedTuple):
    """Where Lloyd's algorithm ended; everything is in the space of `PlacedRows`.

    steps[t] are W when rows have gone to their centres, W when centres have moved, and the weight
    of the rows that changed their cluster; kept[t] the centres that rows went to, if they were.
    """

    centres: Floats
    labels: Int32s
    within: float
    n_iter: int
    converged: bool
    steps: Floats
    kept: Floats


@dataclass(frozen=True)
class Stopping:
    """When iterations end: always when no row changes its cluster, which is stability.

    Attributes
    ----------
    criterion : {"movement", "stability", "unchanged", "gain"}
        "movement" also where the squared moves of the centres sum to at most `tol`; "unchanged"
        also where at most a share `tol` of the weight changes its cluster; "gain" where W falls by
        at most a share `tol`.
    tol : float
    max_iter : int
    """

    criterion: Criterion | Literal["gain"]
    tol: float
    max_iter: int


class Assignment:
    """The clusters of rows while centres move: labels, what bounds them, and the clusters' sums."""

    def __init__(self, placed: PlacedRows, centres: Floats, team: Team) -> None:
        n, (K, p) = len(placed.X), centres.shape
        self.placed, self.team = placed, team
        self.centres = centres.copy()
        self.labels = np.full(n, -1, np.int32)
        self.slack = np.full(n, -np.inf, np.float32)
        self.spent = np.zeros(K)
        self.first = placed.starts(K)
        B = len(self.first) - 1
        self.blocks = (
            np.empty((B, K, p)), np.empty((B, K)), np.empty((B, K), np.int64), np.empty(B)
        )  # fmt: skip
        self.sums = np.zeros((K, p)), np.zeros(K), np.zeros(K, np.int64)
        self.scored = scored_centres(centres)
        self.steps, self.kept = np.empty((0, 3)), np.empty((0, K, p))
        self.converged = False

    def moved(self, centres: Floats) -> "Assignment":
        """The same clusters, to begin with, and other centres."""
        other = Assignment(self.placed, centres, self.team)
        other.labels[:] = self.labels
        for mine, its in zip(self.sums, other.sums, strict=True):
            its[:] = mine
        return other

    def assign(self) -> Int32s:
        """Each row to its nearest centre, the first of equally near ones."""
        placed = self.placed
        share(
            self.team, assign_blocks, self.first, placed.X, placed.unit, placed.shift,
            placed.weight, placed.tiles, self.centres, *self.scored, self.spent, self.labels,
            self.slack, *self.blocks,
        )  # fmt: skip
        return self.labels

    def iterate(self, stopping: Stopping, *, keep: bool = False, bar: float = np.inf) -> Self:
        """Rows to centres and centres to means, until that stops; `keep` the centres of each.

        It also stops where W is not going to fall below `bar`. Steps are added to those before.
        """
        placed, (K, p), most = self.placed, self.centres.shape, stopping.max_iter
        steps, kept = np.zeros((most, 3)), np.empty((most if keep else 0, K, p))
        progress = np.array([0, GOING_ON])
        at_once = max(1, int(PRODUCTS / (placed.X.size * K)))
        while progress[1] == GOING_ON and progress[0] < most:
            share_meetings(
                self.team, lloyd_iterations, self.first, min(most, progress[0] + at_once),
                placed.X, placed.unit, placed.shift, placed.weight, placed.tiles, placed.total,
                placed.mass, CODES[stopping.criterion], float(stopping.tol), bar, self.centres,
                *self.scored, self.spent, self.labels, self.slack, *self.blocks, *self.sums, steps,
                kept, progress,
            )  # fmt: skip
        self.steps = np.concatenate([self.steps, steps[: progress[0]]])
        self.kept = np.concatenate([self.kept, kept[: progress[0]]])
        self.converged = bool(progress[1] == CONVERGED)
        return self

    def refine(self, stopping: Stopping, *, keep: bool = False) -> Self:
        """Moves of single rows and iterations in turn, until there are none of the former."""
        for _ in range(stopping.max_iter):
            if self._move_single_rows(stopping.max_iter) == 0:
                break
            self.iterate(stopping, keep=keep)
        return self

    def _move_single_rows(self, most: int) -> int:
        """Passes of single moves until one has none; the number of all."""
        placed, moves = self.placed, 0
        for _ in range(most):
            check_deadline()
            last = move_single_rows(
                placed.X, placed.unit, placed.shift, placed.weight, placed.tiles, self.centres,
                *self.scored, self.spent, self.labels, self.slack, *self.sums,
            )  # fmt: skip
            moves += last
            if last == 0:
                break
        return moves

    @property
    def within(self) -> float:
        """W, up to the rounding of the sums."""
        return float(self.steps[-1, 1])

    def settled(self) -> Partition:
        """Centroids from all rows, without what rounding adds as rows come and go; labels and W."""
        placed = self.placed
        means, mass = placed.means(self.labels, len(self.centres), self.team)
        means = np.where((mass > 0)[:, np.newaxis], means, self.centres)
        self._move(means)
        self.assign()
        distance = placed.distances(self.labels, self.centres, self.team)
        within, n_iter = float(placed.weight @ distance), len(self.steps)
        return Partition(
            self.centres, self.labels, within, n_iter, self.converged, self.steps, self.kept
        )

    def _move(self, means: Floats) -> None:
        move_centres(self.centres, means, self.spent)
        score_centres(self.centres, *self.scored)


def nearest(placed: PlacedRows, centres: Floats, team: Team) -> Int32s:
    """The nearest centre of each row, the first of equally near ones."""
    return Assignment(placed, centres, team).assign()


def scored_centres(centres: Floats) -> tuple[Array, Array, Array]:
    """What `compiled.clustering.tiles` takes: -c_k and |c_k|^2 / 2, padded, and the largest |c_k|.

    Centres that pad are infinitely far.
    """
    K, p = centres.shape
    minus = np.zeros((-(-K // STEP) * STEP, -(-p // STEP) * STEP), np.float32)
    half, radius = np.full(len(minus), np.inf, np.float32), np.empty(1, np.float32)
    score_centres(centres, minus, half, radius)
    return minus, half, radius
