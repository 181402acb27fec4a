"""Rows for the E-step of Gaussian mixtures: centred, of one size, in tiles; incomplete ones apart.

EM works on z = x * unit - shift: `shift` is about the mean of the rows, and `unit`, for each
feature or one for all, a power of two, which changes no digit. Then neither an offset of 1e9 nor a
unit of 1e200 is felt.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

from empirisk.compiled.mixtures.gaussian import full_step
from empirisk.compiled.mixtures.tiles import FAR, LANES, STEP, WIDTH, fill_tiles
from empirisk.compiled.team import SYNC_SIZE
from empirisk.learners.team import Team
from empirisk.learners.unsupervised.placed_rows import inverse_power
from empirisk.runtime.arrays import Floats, Ints
from empirisk.runtime.deadlines import check_deadline
from empirisk.runtime.errors import DataError
from empirisk.runtime.workers import nested

MOST_BLOCKS = 64
TILES = 16  # in a block, at least
PATTERNS = 16  # in a block of incomplete rows, at most about


@dataclass(frozen=True, eq=False)
class Place:
    """Where rows are put: z = x * unit - shift."""

    unit: Floats
    shift: Floats

    @classmethod
    def of(
        cls, X: Floats, weight: Floats, *, common: bool, names: Sequence[str] | None = None
    ) -> "Place":
        """Of rows that may have NaN; `common` is one unit for all features.

        A feature without two different values has no density, and is refused, by its name.
        """
        observed = ~np.isnan(X)
        with np.errstate(invalid="ignore"):
            low = np.where(observed, X, np.inf).min(axis=0)
            high = np.where(observed, X, -np.inf).max(axis=0)
        refuse_constant(low, high, len(X), names)
        unit = np.array([inverse_power(size) for size in np.maximum(np.abs(low), np.abs(high))])
        mean = np.array(
            [
                weight[here] @ (column[here] * u) / weight[here].sum()
                for column, here, u in zip(X.T, observed.T, unit, strict=True)
            ]
        )
        reach = np.maximum(np.abs(low * unit - mean), np.abs(high * unit - mean))
        closer = np.array([inverse_power(size) for size in reach])
        with np.errstate(over="ignore"):
            nearer = unit * closer
        fits = np.isfinite(nearer)
        unit, mean = np.where(fits, nearer, unit), np.where(fits, mean * closer, mean)
        if common:
            mean, unit = mean * (unit.min() / unit), np.full(len(unit), unit.min())
        return cls(unit, mean)

    def put(self, X: Floats) -> Floats:
        """Rows of X as rows z."""
        with np.errstate(over="ignore"):
            return X * self.unit - self.shift

    def put_back(self, Z: Floats) -> Floats:
        """Rows z as rows of X."""
        return (Z + self.shift) / self.unit

    @property
    def log_volume(self) -> float:
        """log f(x) = log f(z) + log_volume."""
        return float(np.log(self.unit).sum())


def refuse_constant(low: Floats, high: Floats, n: int, names: Sequence[str] | None) -> None:
    """Raise a DataError where a feature has one value alone, or none."""
    constant = np.flatnonzero(~(high > low))
    if len(constant):
        told = [str(j) if names is None else repr(names[j]) for j in constant[:5]]
        more = ", ..." if len(constant) > 5 else ""
        missing = ", or none at all" if (low > high)[constant].any() else ""
        raise DataError(
            f"column(s) {', '.join(told)}{more} of X have one value only{missing} "
            f"(n_samples={n}): there is no density of a constant; leave them out, or give more rows"
        )


@dataclass(frozen=True, eq=False)
class Incomplete:
    """Rows with missing values, those with the same ones together.

    Attributes
    ----------
    Z : float64 array of shape (m, p), NaN where missing
    rows : int64 array of shape (m,)
        Their places among all rows.
    patterns : int64 array
        Where each pattern begins, and m.
    first : int64 array
        Where blocks of patterns begin, and their number.
    """

    Z: Floats
    rows: Ints
    patterns: Ints
    first: Ints

    @classmethod
    def of(cls, Z: Floats, rows: Ints) -> "Incomplete":
        """Of rows with NaN."""
        missing = np.isnan(Z)
        codes = np.unique(missing, axis=0, return_inverse=True)[1].reshape(-1)
        order = np.argsort(codes, kind="stable")
        starts = np.flatnonzero(np.diff(codes[order], prepend=-1))
        blocks = min(MOST_BLOCKS, max(1, len(starts) // PATTERNS))
        first = np.linspace(0, len(starts), blocks + 1).astype(np.int64)
        Z = np.ascontiguousarray(Z[order])
        return cls(Z, rows[order], np.append(starts, len(Z)).astype(np.int64), first)


@dataclass(eq=False)
class TiledRows:
    """Rows z in tiles, and incomplete ones beside them.

    Attributes
    ----------
    place : Place
    tiles : float64 array of shape (tiles, p, 64), of complete rows
    rows : int64 array, the places of complete rows among all
    incomplete : Incomplete or None
    first : int64 array
        Where blocks of tiles begin: a partition that ignores the number of threads.
    n, p : int
    """

    place: Place
    tiles: Floats
    rows: Ints
    incomplete: Incomplete | None
    first: Ints
    n: int
    p: int
    team: Team = field(repr=False)

    @classmethod
    def of(cls, X: Floats, place: Place, team: Team) -> "TiledRows":
        """Put rows in their place."""
        n, p = X.shape
        gaps = np.isnan(X).any(axis=1) if np.isnan(X.min(initial=np.inf)) else np.zeros(n, bool)
        complete, other = np.flatnonzero(~gaps), np.flatnonzero(gaps)
        gappy = np.clip(place.put(X[other]), -FAR, FAR)
        incomplete = Incomplete.of(gappy, other) if len(other) else None
        number = -(-len(complete) // LANES)
        blocks = max(1, min(MOST_BLOCKS, number // TILES))
        first = np.linspace(0, number, blocks + 1).astype(np.int64)
        tiles = np.empty((number, p, LANES))
        source = X if not len(other) else np.ascontiguousarray(X[complete])
        share(team, fill_tiles, first, source, place.unit, place.shift, tiles)
        return cls(place, tiles, complete, incomplete, first, n, p, team)

    @property
    def wide(self) -> int:
        """The number of features, rounded up to fours."""
        return -(-self.p // STEP) * STEP

    def tiled(self, weight: Floats) -> Floats:
        """The weights of complete rows, in tiles; 0 behind the end."""
        out = np.zeros((len(self.tiles), LANES))
        out.reshape(-1)[: len(self.rows)] = weight[self.rows]
        return out

    def whole(self, X: Floats) -> Floats:
        """All rows z, with the mean where a value is missing."""
        Z = self.place.put(X)
        return Z if self.incomplete is None else np.where(np.isnan(Z), 0.0, Z)

    def covariance(self, weight: Floats) -> Floats:
        """Of all rows; of the observed values of each feature alone where some are missing."""
        B, wide, p = len(self.first) - 1, self.wide, self.p
        sums, products = np.empty((B, 1, p + 1, WIDTH)), np.empty((B, 1, p, wide, WIDTH))
        share(
            self.team, full_step, self.first, self.tiles, self.tiled(weight), np.zeros((1, p)),
            np.zeros((1, wide, wide)), np.zeros(1), sums, products, np.empty(B),
        )  # fmt: skip
        first = sums.sum(axis=(0, 3))[0]
        second = symmetric(products.sum(axis=(0, 4))[0, :, :p])
        if self.incomplete is None:
            mean = first[:p] / first[p]
            return second / first[p] - np.outer(mean, mean)
        return np.diag(self._observed_variances(weight, first, np.diagonal(second)))

    def _observed_variances(self, weight: Floats, first: Floats, second: Floats) -> Floats:
        assert self.incomplete is not None
        Z, w = self.incomplete.Z, weight[self.incomplete.rows]
        seen = ~np.isnan(Z)
        Z = np.where(seen, Z, 0.0)
        total = first[-1] + w @ seen
        mean = (first[:-1] + w @ Z) / total
        return (second + w @ (Z * Z)) / total - mean * mean


def symmetric(lower: Any) -> Floats:
    """The symmetric matrix, or matrices, with this lower triangle."""
    found = np.array(lower)
    i, j = _below_diagonal(found.shape[-1])
    found[..., j, i] = found[..., i, j]
    return found


@cache
def _below_diagonal(p: int) -> tuple[Ints, Ints]:
    return np.tril_indices(p, -1)


def share(team: Team, kernel: Callable[..., Any], first: Ints, *arguments: Any) -> None:
    """Have the team call a kernel that takes block after block; a worker of `parallel` is alone."""
    check_deadline()
    if len(first) == 2 or team.size == 1 or nested.get():
        kernel(np.zeros(SYNC_SIZE, np.int64), first, *arguments)
        return
    team.run(lambda rank: kernel(team.sync, first, *arguments))
