"""Sums of kernels over rows, at any targets, by the way that is fast for them."""

import numpy as np

from empirisk.compiled.densities.kernels import GAUSSIAN
from empirisk.learners.density.leaf_sums import LeafSums
from empirisk.learners.density.line_sums import LineSums
from empirisk.learners.density.pair_sums import rates_of
from empirisk.runtime.arrays import Floats

EXACT = 1e-14  # relative; where no tolerance is given
HUGE_WEIGHT = 1e20  # from which weights are divided by the largest


class KernelSums:
    """Sums of kernels over weighted rows, within a relative tolerance.

    Parameters
    ----------
    rows : array of shape (n, d)
    weight : array of shape (n,), or None for ones
    kind, shape : the kernel's number and constant
    bandwidth : float
    tolerance : float
        Relative; 0 is rounding.
    ends : (float, float), optional
        The least and the largest row on a line, where they are known.
    """

    def __init__(
        self,
        rows: Floats,
        weight: Floats | None,
        kind: int,
        shape: float,
        bandwidth: float,
        tolerance: float,
        n_jobs: int | None = None,
        ends: tuple[float, float] | None = None,
    ) -> None:
        self.rows, self.weight, self.n_jobs, self._ends = rows, weight, n_jobs, ends
        self.kind, self.shape, self.bandwidth = kind, shape, bandwidth
        self.tolerance = min(max(tolerance, EXACT), 0.1)
        self.log_unit = 0.0
        if weight is not None and not 1 / HUGE_WEIGHT < weight.max() < HUGE_WEIGHT:
            self.weight = weight / weight.max()  # sums are told from rounding by their size
            self.log_unit = float(np.log(weight.max()))
        self._line: LineSums | None = None
        self._leaves: LeafSums | None = None

    def logs(self, targets: Floats) -> Floats:
        """log of the sum at each target."""
        return self._logs(targets) + self.log_unit

    def _logs(self, targets: Floats) -> Floats:
        x = self.rows[:, 0]
        on_line = self.rows.shape[1] == 1 and self.kind == GAUSSIAN
        if not on_line:
            return self._by_leaves(targets)
        if self._ends is None:
            self._ends = float(x.min()), float(x.max())
        if not LineSums.pays(len(x), self._ends, self.bandwidth, len(targets)):
            return self._by_leaves(targets)
        if self._line is None:
            self._line = LineSums(
                x, self.weight, self.bandwidth, self.tolerance, self.n_jobs, self._ends
            )
        with np.errstate(divide="ignore"):
            logs = np.log(self._line.sums(targets[:, 0], self.n_jobs))
        far = np.flatnonzero(~np.isfinite(logs))
        if len(far):
            logs[far] = self._by_leaves(targets[far])
        return logs

    def _by_leaves(self, targets: Floats) -> Floats:
        if self._leaves is None:
            rate = float(rates_of(self.bandwidth))
            weight = np.ones(len(self.rows)) if self.weight is None else self.weight
            self._leaves = LeafSums(self.rows, weight, self.kind, self.shape, rate, self.tolerance)
        return self._leaves.logs(targets, self.n_jobs)
