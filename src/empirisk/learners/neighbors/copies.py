"""The nearest copies of training rows, and what each of them counts for."""

from copy import copy
from typing import Any

import numpy as np

from empirisk.compiled.neighbors.averaging import (
    average_targets,
    class_shares,
    class_votes,
    neighbor_shares,
)
from empirisk.data.scaling import power_of_two
from empirisk.learners.neighbors.searching import Folds, Nearest, Search
from empirisk.risk.axis import Output
from empirisk.runtime.arrays import Array, Floats, Ints
from empirisk.runtime.errors import ParameterError

LARGE = 1e290  # targets whose sums over many rows may overflow


class Copies:
    """The training rows with their weights and targets, to be asked for neighbours.

    Parameters
    ----------
    search : Search
        Of the mapped rows.
    weight : array (n,)
    y : array (n,)
        Numbers, also several of each row, (n, outputs); or codes of `n_classes` classes.
    weighting : None, "distance", or a function of distances
        What a copy counts for.
    scale : float
        The user's distances are so many times those of the search.
    """

    def __init__(
        self, search: Search, weight: Floats, y: Array, n_classes: int, weighting: Any, scale: float
    ) -> None:
        self.search, self.weight, self.y, self.n_classes = search, weight, y, n_classes
        self.weighting, self.scale = weighting, scale
        self.ones = bool((weight >= 1).all())
        largest = 0.0 if n_classes else float(np.abs(y).max())
        self.huge = float(power_of_two(np.array(largest))) if largest > LARGE else None

    def weighted(self, weighting: Any) -> "Copies":
        """The same rows, of which a copy counts so much."""
        if weighting == self.weighting:
            return self
        other = copy(self)
        other.weighting = weighting
        return other

    def predict(
        self,
        points: Floats,
        ks: Floats,
        output: Output,
        *,
        folds: Folds | None = None,
        n_jobs: int | None = None,
    ) -> Array:
        """For all k: numbers or codes (points, ks), or shares of classes (points, ks, classes).

        Of several targets (points, ks, outputs).
        """
        near = self.nearest(points, float(ks.max()), folds=folds, n_jobs=n_jobs)
        order = np.argsort(ks, kind="stable")
        if callable(self.weighting):
            found = [self._say(near, ks[v : v + 1], output) for v in order]
            said = np.concatenate(found, axis=1)
        else:
            said = self._say(near, np.ascontiguousarray(ks[order]), output)
        return said if (np.diff(order) == 1).all() else said[:, np.argsort(order)]

    def shares(
        self, points: Floats, k: float, *, folds: Folds | None = None, n_jobs: int | None = None
    ) -> tuple[Ints, Floats]:
        """The neighbours of each point, -1 for none, and their shares, which sum to one."""
        near = self.nearest(points, k, folds=folds, n_jobs=n_jobs)
        near = self._first(near, k)
        found = np.empty(near.rows.shape)
        neighbor_shares(near.rows, self._share(near, k), self.weight, k, found)
        return near.rows, found

    def nearest(
        self, points: Floats, k: float, *, folds: Folds | None = None, n_jobs: int | None = None
    ) -> Nearest:
        """So many of the nearest rows that their weights make k, or all of them."""
        n = len(self.weight)
        wanted = k if self.ones else k / float(self.weight.mean()) * 1.2 + 2
        width = int(min(n, np.ceil(wanted)))
        near = self.search.nearest(points, width, folds=folds, n_jobs=n_jobs)
        if self.ones:
            return near
        short = self._short(near, k)
        while len(short) and width < n:
            width = min(n, 2 * width)
            own = None if folds is None else Folds(folds.rows, folds.points[short])
            more = self.search.nearest(points[short], width, folds=own, n_jobs=n_jobs)
            near = _widened(near, short, more)
            short = short[self._short(more, k)]
        return near

    def _short(self, near: Nearest, k: float) -> Ints:
        """Points whose neighbours do not make k, while there are more."""
        weight = np.where(near.rows >= 0, self.weight[near.rows], np.inf)
        return np.flatnonzero(weight.sum(axis=1) < k)

    def _say(self, near: Nearest, ks: Floats, output: Output) -> Array:
        near = self._first(near, float(ks[-1]))
        m, share = len(near.rows), self._share(near, float(ks[-1]))
        if self.n_classes == 0:
            return self._means(near.rows, share, ks)
        if output == "value":
            codes = np.empty((m, len(ks)), np.int64)
            class_votes(near.rows, share, self.weight, self.y, ks, codes)
            return codes
        shares = np.empty((m, len(ks), self.n_classes))
        class_shares(near.rows, share, self.weight, self.y, ks, shares)
        return shares

    def _means(self, rows: Ints, share: Floats, ks: Floats) -> Floats:
        """Means of targets, of which a few together may be too large for float64."""
        y = self.y if self.huge is None else self.y / self.huge
        found = np.empty((*y.shape[1:], len(rows), len(ks)))
        for each, out in [(y, found)] if y.ndim == 1 else zip(y.T.copy(), found, strict=True):
            average_targets(rows, share, self.weight, each, ks, out)
        if self.huge is not None:
            found = found.clip(y.min(), y.max()) * self.huge
        return found if y.ndim == 1 else np.moveaxis(found, 0, -1)

    def _first(self, near: Nearest, k: float) -> Nearest:
        """The neighbours that may count among k."""
        if not self.ones or near.rows.shape[1] <= k:
            return near
        width = int(np.ceil(k))
        distances, rows = near.distances[:, :width], near.rows[:, :width]
        return Nearest(np.ascontiguousarray(distances), np.ascontiguousarray(rows))

    def _share(self, near: Nearest, k: float) -> Floats:
        """What a copy of each neighbour counts for, relative to the others of its point."""
        if self.weighting is None:
            return np.ones(near.rows.shape)
        distance = near.distances
        if callable(self.weighting):
            return self._asked(near, distance * self.scale, k)
        first = distance[:, :1]
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.where(first > 0, first / distance, distance == 0)
        return np.where(np.isfinite(first), share, 1.0)

    def _asked(self, near: Nearest, distance: Floats, k: float) -> Floats:
        """By a function; where all neighbours of a point count nothing, they count the same."""
        none = near.rows < 0
        largest = np.where(none, 0.0, distance).max(axis=1, keepdims=True)
        share = np.asarray(self.weighting(np.where(none, largest, distance)), dtype=np.float64)
        if share.shape != distance.shape or not np.isfinite(share).all() or (share < 0).any():
            raise ParameterError(
                f"the function weights gave an array of shape {share.shape} for distances of shape "
                f"{distance.shape}; wanted finite numbers >= 0, one for each distance"
            )
        weight = np.where(none, 0.0, self.weight[near.rows])
        before = np.cumsum(weight, axis=1) - weight
        counted = np.minimum(weight, np.maximum(k - before, 0.0))
        nothing = (counted * share).sum(axis=1, keepdims=True) == 0
        return np.where(nothing, 1.0, share)


def _widened(near: Nearest, at: Ints, more: Nearest) -> Nearest:
    """Some points with more neighbours; the others have none there."""
    shape = len(near.rows), more.rows.shape[1]
    wide = Nearest(np.full(shape, np.inf), np.full(shape, -1))
    wide.distances[:, : near.rows.shape[1]], wide.rows[:, : near.rows.shape[1]] = near
    wide.distances[at], wide.rows[at] = more
    return wide
