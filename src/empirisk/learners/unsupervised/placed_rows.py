"""Rows centred and brought to one size, in blocks that threads share out.

Squared distances of numbers beyond 1e±154 overflow or vanish, and far from the origin their digits
are lost. So k-means works on z = x * unit - shift: `shift` is the mean of the rows, and `unit` a
power of two, which changes no digit, so that no |z_j| exceeds 1. Where distances do not depend on
the units of columns, each of them is first brought to one size by a power of two of its own.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from empirisk.compiled.clustering.summing import (
    largest_entries,
    place_rows,
    square_distances,
    sum_clusters,
    sum_columns,
)
from empirisk.compiled.clustering.tiles import LANES, STEP
from empirisk.learners.team import Team
from empirisk.runtime.arrays import Array, Floats, Int32s, Ints
from empirisk.runtime.deadlines import check_deadline

BLOCK = 1024  # rows of a block, at least
MOST_BLOCKS = 64
SUMS = 2**22  # numbers in the sums of clusters of all blocks, about
FAR = 1e12  # for a centre, where no |z_j| of rows exceeds 1: single precision can square it
PRODUCTS = 2e9  # of a row and a centre, times features, until deadlines are looked at
NUMBERS_TO_SHARE = 2**17  # of rows; with fewer, a team would wait more than work


@dataclass(frozen=True, eq=False)
class PlacedRows:
    """Rows z = X * unit - shift, and their weights, the largest of which is at most 1.

    Attributes
    ----------
    X : float64 array of shape (n, p)
        As it came, each column divided by 2^powers.
    weight : float64 array of shape (n,)
    unit : float
    shift : float64 array of shape (p,)
    tiles : float32 array of shape (n / LANES, p and up to 3 more, LANES)
        z in single precision, LANES rows side by side; what no number fills is 0.
    scatter : float64 array of shape (p,)
        The weighted sum of squares of each column of z.
    mass : float
        The sum of the weights.
    heaviest : float
        What the weights were divided by.
    powers : int array of shape (p,)
    """

    X: Floats
    weight: Floats
    unit: float
    shift: Floats
    tiles: Array
    scatter: Floats
    mass: float
    heaviest: float
    powers: Ints

    @classmethod
    def of(
        cls,
        X: Floats,
        sample_weight: Floats,
        team: Team,
        *,
        beside: Floats | None = None,
        by_column: bool = False,
    ) -> "PlacedRows":
        """Centre and scale, in four passes over the rows; points `beside` them are to fit in."""
        powers = np.zeros(X.shape[1], np.int64)
        if by_column:
            powers = np.frexp(np.abs(X).max(axis=0))[1].astype(np.int64)
            X = np.ldexp(X, -powers)
        first, p = block_starts(len(X), X.shape[1]), X.shape[1]
        B = len(first) - 1
        heaviest = float(sample_weight.max())
        weight = sample_weight / heaviest
        largest, nothing = np.empty(B), np.zeros(p)
        share(team, largest_entries, first, X, 1.0, nothing, largest)
        points = np.zeros((1, p)) if beside is None else beside
        unit = inverse_power(max(float(largest.max()), float(np.abs(points).max())))
        sums, mass = np.empty((B, p)), np.empty(B)
        share(team, sum_columns, first, X, unit, weight, sums, mass)
        mean = sums.sum(axis=0) / mass.sum()
        share(team, largest_entries, first, X, unit, mean, largest)
        outlying = 0.0 if beside is None else float(np.abs(points * unit - mean).max())
        closer = inverse_power(max(float(largest.max()), outlying))
        if unit * closer < np.inf:
            unit, mean = unit * closer, mean * closer
        tiles = np.zeros((-(-len(X) // LANES), -(-p // STEP) * STEP, LANES), np.float32)
        scatter = np.empty((B, p))
        share(team, place_rows, first, X, unit, mean, weight, tiles, scatter)
        return cls(
            X, weight, unit, mean, tiles, scatter.sum(axis=0), float(mass.sum()), heaviest, powers
        )

    @property
    def total(self) -> float:
        """The weighted sum of |z|^2."""
        return float(self.scatter.sum())

    def starts(self, n_clusters: int) -> Ints:
        """Where blocks begin, fewer where the sums of many clusters would fill the memory."""
        return block_starts(len(self.X), n_clusters * self.X.shape[1])

    def at(self, i: Any) -> Floats:
        """z of row i, or of several rows, in double precision."""
        return self.X[i] * self.unit - self.shift

    def place(self, points: Floats) -> Floats:
        """Points of the space of the rows that came, in that of z; as far away as is of use."""
        with np.errstate(over="ignore"):
            placed = np.ldexp(points, -self.powers) * self.unit - self.shift
        return placed.clip(-FAR, FAR)

    def put_back(self, points: Floats) -> Floats:
        """Points z in the space of the rows that came."""
        return np.ldexp((points + self.shift) / self.unit, self.powers)

    def in_squared_units(self, squares: Any) -> Any:
        """Weighted sums of squares of z, as those of the rows that came; beyond 1e308 infinite."""
        with np.errstate(over="ignore"):
            return squares * np.float64(self.heaviest) / self.unit / self.unit

    def means(self, labels: Int32s, n_clusters: int, team: Team) -> tuple[Floats, Floats]:
        """The mean z and the weight of each cluster; an empty one has weight 0 and mean 0."""
        first = self.starts(n_clusters)
        sums = np.empty((len(first) - 1, n_clusters, self.X.shape[1]))
        mass = np.empty((len(first) - 1, n_clusters))
        share(
            team,
            sum_clusters,
            first,
            self.X,
            self.unit,
            self.shift,
            self.weight,
            labels,
            sums,
            mass,
        )
        total = mass.sum(axis=0)
        return sums.sum(axis=0) / np.where(total > 0, total, 1.0)[:, np.newaxis], total

    def distances(self, labels: Int32s, centres: Floats, team: Team) -> Floats:
        """|z_i - c_k|^2 of each row and its centre."""
        out = np.empty(len(self.X))
        first = block_starts(len(self.X), 1)
        share(team, square_distances, first, self.X, self.unit, self.shift, labels, centres, out)
        return out


def team_for(X: Floats, n_jobs: int | None) -> Team:
    """Threads for work on these rows: one alone if they are few."""
    return Team(n_jobs if X.size >= NUMBERS_TO_SHARE else 1)


def share(team: Team, kernel: Callable[..., Any], first: Ints, *arguments: Any) -> None:
    """Have the team call a kernel that takes block after block."""
    share_meetings(team, lambda sync, rank, size, *rest: kernel(sync, *rest), first, *arguments)


def share_meetings(team: Team, kernel: Callable[..., Any], first: Ints, *arguments: Any) -> None:
    """Have the team call a kernel in which threads, that know their rank and number, meet."""
    check_deadline()
    if len(first) == 2 or team.size == 1:
        team.sync[:] = 0
        kernel(team.sync, 0, 1, first, *arguments)
        return
    team.run(lambda rank: kernel(team.sync, rank, team.size, first, *arguments))


def share_items(team: Team, kernel: Callable[..., Any], *arguments: Any) -> None:
    """Have the team call a kernel that takes other items than blocks, one after the other."""
    check_deadline()
    team.run(lambda rank: kernel(team.sync, *arguments))


def block_starts(n: int, sums: int) -> Ints:
    """Where blocks of n rows begin, with a tile, and n: whatever the number of threads."""
    most = min(MOST_BLOCKS, max(2, SUMS // max(1, sums)))
    size = max(BLOCK, -(-n // (most * LANES)) * LANES)
    return np.append(np.arange(0, n, size), n).astype(np.int64)


def inverse_power(size: float) -> float:
    """The power of two that brings a size to 0.5..1; 1 for size 0."""
    if not size > 0:
        return 1.0
    return float(np.ldexp(1.0, max(-1020, min(1020, -int(np.frexp(size)[1])))))
