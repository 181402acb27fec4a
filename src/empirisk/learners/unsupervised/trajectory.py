"""The way of Lloyd's algorithm: W after each step, and the centres if they were kept."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from empirisk.charts.lloyd_steps import draw_lloyd_steps, draw_within
from empirisk.learners.unsupervised.lloyd import Step
from empirisk.runtime.arrays import Floats
from empirisk.runtime.errors import DataError
from empirisk.runtime.validation import numbers


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
    """

    assigned: Floats
    updated: Floats
    moved: Floats
    centers: Floats | None

    @classmethod
    def of(
        cls, steps: list[Step], scale: float, mass: float, centers: Floats | None
    ) -> "Trajectory":
        """Of steps whose W is to be multiplied by a scale, and whose rows have so much weight."""
        with np.errstate(over="ignore"):
            return cls(
                np.array([step.assigned for step in steps]) * scale,
                np.array([step.updated for step in steps]) * scale,
                np.array([step.moved for step in steps]) / mass,
                centers,
            )

    def check_loaded(self) -> None:
        """Raise a DataError unless what was read from a file has a number for each step."""
        steps = np.shape(self.assigned)
        for name in ("assigned", "updated", "moved"):
            array = getattr(self, name)
            sound = isinstance(array, np.ndarray) and array.dtype == np.float64
            if not sound or array.ndim != 1 or array.shape != steps:
                raise DataError(f"{name} is not an array of numbers, one for each step")
        if self.centers is not None:
            sound = isinstance(self.centers, np.ndarray) and self.centers.dtype == np.float64
            if not sound or self.centers.ndim != 3 or self.centers.shape[:1] != steps:
                raise DataError("centers are not an array of centres for each step")

    def plot(self, ax: Any = None) -> Any:
        """W after each half step, on the axes given or on new ones."""
        return draw_within(self.assigned, self.updated, ax=ax)

    def plot_steps(self, X: Any, *, most: int = 6) -> Any:
        """A figure with the clusters of the rows of X, two features of which are drawn, at steps.

        The first and the last step are among the `most` that are shown.
        """
        if self.centers is None:
            raise DataError("the steps were not kept: fit KMeans(keep_steps=True)")
        rows = numbers(X, "a picture of steps")
        if rows.shape[1] != self.centers.shape[2] or rows.shape[1] < 2:
            raise DataError(
                f"X has {rows.shape[1]} features; wanted {self.centers.shape[2]}, and 2 at least"
            )
        last = len(self.centers) - 1
        shown = np.unique(np.linspace(0, last, min(most, last + 1)).round().astype(int))
        return draw_lloyd_steps(rows, self.centers[shown], shown, self.assigned[shown])
