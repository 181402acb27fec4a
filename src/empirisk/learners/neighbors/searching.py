"""Which training rows are nearest: by a kd-tree, by matrix products, or by looking at all of them.

All ways find the same rows at the same distances, to the last bit: of two rows at the same distance
the earlier is nearer. Which one is taken is a matter of time alone.
"""

from collections.abc import Callable
from functools import cached_property, partial
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np

from empirisk.compiled.neighbors.distances import scan_distances, to_distances
from empirisk.compiled.neighbors.gaps import (
    CHEBYSHEV,
    EUCLIDEAN,
    MANHATTAN,
    MINKOWSKI,
    fill_buckets,
)
from empirisk.compiled.neighbors.gower import scan_mixed_rows
from empirisk.compiled.neighbors.kd_tree import FAN, STEP, find_boxes, halve_rows
from empirisk.compiled.neighbors.scanning import scan_rows
from empirisk.compiled.neighbors.screening import (
    POINTS,
    ROWS,
    farthest_from,
    fill_blocks,
    screen_rows,
)
from empirisk.compiled.neighbors.tree_search import leaves_of, search_tree
from empirisk.runtime.arrays import Array, Bools, Floats, Int32s, Ints
from empirisk.runtime.parallel import parallel, slices

Norm = Literal["euclidean", "manhattan", "chebyshev", "minkowski"]
NORMS = {
    "euclidean": EUCLIDEAN,
    "manhattan": MANHATTAN,
    "chebyshev": CHEBYSHEV,
    "minkowski": MINKOWSKI,
}
Algorithm = Literal["auto", "kd_tree", "brute"]

BUCKET = 256  # rows that are scanned together where there is no tree
LANES = 8  # rows of a bucket come in multiples of this
FEWEST_ROWS = 1000  # with fewer, a tree saves nothing
MOST_COLUMNS = 16  # beyond, boxes are near every point, unless asked for
PROBED = 64  # points whose search says how much of a tree is looked at
WORTH = {"euclidean": 0.12}  # the part of the rows up to which a tree pays; of other norms:
OTHER_WORTH = 0.4
POINTS_AT_ONCE = 256  # that a thread searches for; where products cost most, POINTS
FEW_POINTS = 16  # for which blocks of products are not made
FAR = 1e18  # a coordinate, in the unit of the rows, whose square is not within single precision
LEAST_SIZE = -400  # binary digits of the largest difference to the mean, if its square vanishes
NO_FOLDS = np.empty(0, np.int32)


class Nearest(NamedTuple):
    """Of each point the nearest rows in order, -1 where there are no more, and their distances."""

    distances: Floats
    rows: Ints


class Folds(NamedTuple):
    """The fold of each training row, and of each point, which looks past the rows of its own."""

    rows: Int32s
    points: Int32s


class Search(Protocol):
    """Rows, and the way to those nearest to a point."""

    rows: Floats

    def nearest(
        self, points: Floats, k: int, *, folds: Folds | None = None, n_jobs: int | None = None
    ) -> Nearest:
        """The k nearest rows of each point."""
        ...


class Buckets(NamedTuple):
    """Rows in an order, cut into pieces that begin at `begin`, feature-major in each."""

    cells: Floats
    order: Ints
    begin: Ints

    @classmethod
    def of(cls, rows: Floats, order: Ints, begin: Ints) -> "Buckets":
        most = int(np.diff(begin).max())
        width = -(-most // LANES) * LANES
        cells = np.full((len(begin) - 1, rows.shape[1], width), np.inf)
        fill_buckets(rows, order, begin, cells)
        return cls(cells, order, begin)

    @classmethod
    def in_order(cls, rows: Floats) -> "Buckets":
        begin = np.append(np.arange(0, len(rows), BUCKET), len(rows))
        return cls.of(rows, np.arange(len(rows)), begin)


class Tree(NamedTuple):
    """A kd-tree: the buckets of its leaves, and the boxes above them (`compiled.neighbors`)."""

    buckets: Buckets
    depths: Ints
    low: Floats
    high: Floats

    @classmethod
    def of(cls, rows: Floats, leaf_size: int) -> "Tree":
        n, p = rows.shape
        depth = max(int(np.ceil(np.log2(n / leaf_size))), 1) if n > 1 else 0
        first = depth % STEP or STEP
        depths = np.array([0, *range(first, depth + 1, STEP)] if depth else [0], np.int64)
        order = np.arange(n)
        halve_rows(rows, depth, order)
        low, high = np.full((2, max(int((1 << depths[:-1]).sum()), 1), p, FAN), np.inf)
        find_boxes(rows, order, depths, low, high)
        begin = (np.arange((1 << depth) + 1) * n) >> depth
        return cls(Buckets.of(rows, order, begin), depths, low, high)


class Blocks(NamedTuple):
    """Centred rows in single precision, for products (`compiled.neighbors.screening`)."""

    mean: Floats
    unit: float
    slack: float
    cells: Array

    @classmethod
    def of(cls, rows: Floats) -> "Blocks":
        n, p = rows.shape
        slack, mean = (p + 8) * 2.0**-24, rows.mean(axis=0)
        size = max(int(np.frexp(farthest_from(rows, mean))[1]), LEAST_SIZE)
        unit = float(np.ldexp(1.0, -size))
        cells = np.zeros((-(-n // ROWS), p + 1, ROWS), np.float32)
        cells[-1, p] = np.inf
        fill_blocks(rows, mean, unit, 1 - 2 * slack, cells)
        return cls(mean, unit, slack, cells)

    def point_side(self, points: Floats) -> tuple[Array, Floats]:
        """[-2x, 1] and (1 - c)|x|^2 of centred points."""
        centred = (points - self.mean) * self.unit
        sides = np.ones((len(points), points.shape[1] + 1), np.float32)
        with np.errstate(over="ignore"):  # a point far away looks at all rows
            sides[:, :-1] = np.clip(-2 * centred, -FAR, FAR)
            sizes = (1 - self.slack) * (centred * centred).sum(axis=1)
        far = (np.abs(centred) > FAR / 2).any(axis=1)
        return sides, np.where(far, -np.inf, sizes)


class PointSearch:
    """The rows of a table of points, to be searched by a norm of differences.

    Parameters
    ----------
    rows : float64 array (n, p)
        Of ordinary size: the squares of differences neither overflow nor vanish.
    norm, power
        Sums of so high a power for "minkowski".
    algorithm : {"auto", "kd_tree", "brute"}
    leaf_size : int
        The most rows of a leaf of the tree.
    """

    def __init__(
        self, rows: Floats, norm: Norm, power: float, algorithm: Algorithm, leaf_size: int
    ) -> None:
        self.rows, self.norm, self.power = rows, norm, power
        self.algorithm, self.leaf_size = algorithm, leaf_size
        self._seen: float | None = None

    @cached_property
    def _tree(self) -> Tree:
        return Tree.of(self.rows, self.leaf_size)

    @cached_property
    def _buckets(self) -> Buckets:
        return Buckets.in_order(self.rows)

    @cached_property
    def _blocks(self) -> Blocks:
        return Blocks.of(self.rows)

    def __getstate__(self) -> dict[str, Any]:
        """What does not follow from the rest."""
        found = {"_tree", "_buckets", "_blocks"}
        kept = {name: value for name, value in vars(self).items() if name not in found}
        return {**kept, "_seen": None}

    def nearest(
        self, points: Floats, k: int, *, folds: Folds | None = None, n_jobs: int | None = None
    ) -> Nearest:
        """The k nearest rows of each point."""
        found = self._by_gaps(points, k, folds, n_jobs)
        lost = np.empty(len(points), np.bool_)
        to_distances(*found, points, self.rows, NORMS[self.norm], self.power, lost)
        if lost.any():
            again = np.flatnonzero(lost)
            some = None if folds is None else Folds(folds.rows, folds.points[again])
            more = shared(self._by_distances, points[again], k, some, n_jobs)
            found.distances[again], found.rows[again] = more
        return found

    def _by_gaps(self, points: Floats, k: int, folds: Folds | None, n_jobs: int | None) -> Nearest:
        """By what orders the rows as distances do, for now in place of these."""
        if self._tree_pays(points, k):
            leaf = np.empty(len(points), np.int64)
            leaves_of(points, self._tree.depths, self._tree.low, self._tree.high, leaf)
            along = np.argsort(leaf, kind="stable")  # neighbours look at the same leaves
            return shared(self._by_tree, points, k, folds, n_jobs, along)
        if self.norm == "euclidean" and len(points) > FEW_POINTS:
            _ = self._blocks
            size = POINTS if points.shape[1] > MOST_COLUMNS else POINTS_AT_ONCE
            return shared(self._by_products, points, k, folds, n_jobs, size=size)
        _ = self._buckets
        return shared(self._by_scanning, points, k, folds, n_jobs)

    def _tree_pays(self, points: Floats, k: int) -> bool:
        if self.algorithm != "auto":
            return self.algorithm == "kd_tree"
        n, p = self.rows.shape
        if n < FEWEST_ROWS or p > MOST_COLUMNS or (self._seen is None and len(points) < PROBED):
            return False
        if self._seen is None:
            some = np.ascontiguousarray(points[:: max(1, len(points) // PROBED)][:PROBED])
            found = _room(len(some), min(k, n))
            self._seen = self._walk(some, None, found) / len(some) / n
        return self._seen < WORTH.get(self.norm, OTHER_WORTH)

    def _by_tree(self, points: Floats, folds: Folds | None, found: Nearest) -> None:
        self._walk(points, folds, found)

    def _walk(self, points: Floats, folds: Folds | None, found: Nearest) -> int:
        tree = self._tree
        fold, own = NO_FOLDS, NO_FOLDS
        if folds is not None:
            fold, own = folds.rows[tree.buckets.order], folds.points
        return search_tree(
            *tree.buckets, tree.depths, tree.low, tree.high, fold, points, own,
            NORMS[self.norm], self.power, *found,
        )  # fmt: skip

    def _by_products(self, points: Floats, folds: Folds | None, found: Nearest) -> None:
        fold, own = (NO_FOLDS, NO_FOLDS) if folds is None else folds
        blocks = self._blocks
        sides, sizes = blocks.point_side(points)
        screen_rows(
            points, sides, sizes, self.rows, blocks.cells, blocks.unit**2, blocks.slack, fold, own,
            *found,
        )  # fmt: skip

    def _by_scanning(self, points: Floats, folds: Folds | None, found: Nearest) -> None:
        fold, own = (NO_FOLDS, NO_FOLDS) if folds is None else folds
        scan_rows(*self._buckets, fold, points, own, NORMS[self.norm], self.power, *found)

    def _by_distances(self, points: Floats, folds: Folds | None, found: Nearest) -> None:
        fold, own = (NO_FOLDS, NO_FOLDS) if folds is None else folds
        scan_distances(self.rows, fold, points, own, NORMS[self.norm], self.power, *found)


class MixedSearch:
    """The rows of a mixed table, to be searched by Gower's distance."""

    def __init__(self, rows: Floats, category: Bools, span: Floats) -> None:
        self.rows, self.category, self.span = rows, category, span

    @cached_property
    def _buckets(self) -> Buckets:
        return Buckets.in_order(self.rows)

    def __getstate__(self) -> dict[str, Any]:
        """What does not follow from the rest."""
        return {name: value for name, value in vars(self).items() if name != "_buckets"}

    def nearest(
        self, points: Floats, k: int, *, folds: Folds | None = None, n_jobs: int | None = None
    ) -> Nearest:
        """The k nearest rows of each point."""
        _ = self._buckets
        return shared(self._scan, points, k, folds, n_jobs)

    def _scan(self, points: Floats, folds: Folds | None, found: Nearest) -> None:
        fold, own = (NO_FOLDS, NO_FOLDS) if folds is None else folds
        scan_mixed_rows(*self._buckets, fold, points, own, self.category, self.span, *found)


def _room(m: int, k: int) -> Nearest:
    return Nearest(np.empty((m, k)), np.empty((m, k), np.int64))


def shared(
    find: Callable[[Floats, Folds | None, Nearest], None],
    points: Floats,
    k: int,
    folds: Folds | None,
    n_jobs: int | None,
    along: Ints | None = None,
    size: int = POINTS_AT_ONCE,
) -> Nearest:
    """The points in pieces for threads, in an order in which those nearby come together."""
    found = _room(len(points), k)
    work = partial(_piece, find, points, folds, found, along)
    parallel(work, slices(len(points), size), n_jobs=n_jobs)
    return found


def _piece(
    find: Callable[[Floats, Folds | None, Nearest], None],
    points: Floats,
    folds: Folds | None,
    found: Nearest,
    along: Ints | None,
    part: slice,
) -> None:
    at = part if along is None else along[part]
    own = None if folds is None else Folds(folds.rows, np.ascontiguousarray(folds.points[at]))
    some = np.ascontiguousarray(points[at])
    if along is None:
        find(some, own, Nearest(found.distances[at], found.rows[at]))
        return
    mine = _room(len(some), found.rows.shape[1])
    find(some, own, mine)
    found.distances[at], found.rows[at] = mine
