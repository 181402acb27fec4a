"""The way of Lloyd's algorithm: W after each step, and the centres if they were kept."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from empirisk.charts.lloyd_steps import draw_lloyd_steps, draw_within
from empirisk.learners.soundness import check_numbers, is_floats
from empirisk.learners.team import Team
from empirisk.learners.unsupervised.clusters import placed_together
from empirisk.learners.unsupervised.lloyd import nearest
from empirisk.learners.unsupervised.placed_rows import PlacedRows
from empirisk.runtime.arrays import Floats, Int32s
from empirisk.runtime.column_names import shown_names
from empirisk.runtime.conversion import numbers
from empirisk.runtime.errors import DataError


@dataclass(frozen=True, eq=False)
class Trajectory:
    """W = sum_i w_i |x_i - c_{z_i}|^2 at each iteration of Lloyd's algorithm.

    Attributes
    ----------
    assigned : float64 array of shape (n_iter,)
        W when rows have gone to their nearest centres.
    updated : float64 array of shape (n_iter,)
        W when centres have become the means of their rows: never larger than `assigned`, and
        never smaller than `assigned` of the next iteration, up to rounding.
    moved : float64 array of shape (n_iter,)
        The share of the weight that changed its cluster.
    centers : float64 array of shape (n_iter, n_clusters, n_features) or None
        The centres to which rows went; with `KMeans(keep_steps=True)` alone.
    whitening : float64 array of shape (n_features, n_features) or None
        A, where rows went by the length of (x - c) A.
    """

    assigned: Floats
    updated: Floats
    moved: Floats
    centers: Floats | None
    whitening: Floats | None

    @classmethod
    def of(
        cls, steps: Floats, rows: PlacedRows, centers: Floats | None, whitening: Floats | None
    ) -> "Trajectory":
        """Of steps with these rows, and the centres in the space of the rows as they came."""
        return cls(
            rows.in_squared_units(steps[:, 0]),
            rows.in_squared_units(steps[:, 1]),
            steps[:, 2] / rows.mass,
            centers,
            whitening,
        )

    def check_loaded(self) -> None:
        """Raise a DataError unless what was read from a file has a number for each step."""
        steps = np.shape(self.assigned)
        for name in ("assigned", "updated", "moved"):
            if len(steps) != 1 or not is_floats(getattr(self, name), steps):
                raise DataError(f"{name} is not an array of numbers, one for each step")
        if self.centers is not None:
            check_numbers("centers", self.centers, (*steps, None, None))
            if self.whitening is not None:
                p = self.centers.shape[2]
                check_numbers("whitening", self.whitening, (p, p))

    def plot(self, ax: Any = None) -> Any:
        """W after each half step, on the axes given or on new ones."""
        return draw_within(self.assigned, self.updated, ax=ax)

    def plot_steps(self, X: Any, *, most: int = 6) -> Any:
        """A figure with the clusters of the rows of X at steps, in their first two features.

        The first and the last step are among the `most` that are shown.
        """
        if self.centers is None:
            raise DataError("the steps were not kept: fit KMeans(keep_steps=True)")
        rows = numbers(X, "a picture of steps")
        p = self.centers.shape[2]
        if rows.shape[1] != p:
            raise DataError(
                f"X has {rows.shape[1]} column(s); KMeans was fitted to {p}: give these"
            )
        if p < 2:
            raise DataError(
                "KMeans was fitted to one column, and steps are drawn in the plane of two: plot() "
                "draws W along the steps"
            )
        last = len(self.centers) - 1
        shown = np.unique(np.linspace(0, last, min(most, last + 1)).round().astype(int))
        labels = [self._labels(rows, centres) for centres in self.centers[shown]]
        names = shown_names(X, rows.shape[1])[:2]
        return draw_lloyd_steps(
            rows, names, labels, self.centers[shown], shown, self.assigned[shown]
        )

    def _labels(self, rows: Floats, centres: Floats) -> Int32s:
        team = Team(1)
        placed, centres, _ = placed_together(rows, centres, self.whitening, team)
        return nearest(placed, centres, team)
