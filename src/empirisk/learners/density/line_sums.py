"""Sums of Gaussian kernels over rows on a line, by moments of boxes."""

from functools import cache, lru_cache
from math import exp, factorial

import numpy as np
from numpy.polynomial import Polynomial

from empirisk.compiled.densities.line_boxes import (
    BINS,
    NODES,
    TERMS,
    add_bin_moments,
    add_moments,
    box_reaches,
    box_sums,
    finish_moments,
    interpolated_sums,
    targets_of_boxes,
)
from empirisk.learners.density.leaf_sums import BLOCKS, shared
from empirisk.runtime.arrays import Floats
from empirisk.runtime.parallel import slices

ROWS_AT_ONCE = 2**18  # less is done before threads have started
MOST_BOXES = 2**14  # on a line, or twice as many as there are rows
BOXES_AT_ONCE = 128  # whose windows of moments stay in the cache
FEW = 64  # rows or targets for which boxes do not pay
STEPS_OF_ONE = 256  # widths of boxes are multiples, so that tables for them are used again
ROWS_OF_BIN = 8  # on average, from which bins pay
BEYOND = 4.0  # bandwidths from the rows up to which boxes serve


class LineSums:
    """Sums of Gaussian kernels on a line, by moments of boxes (`compiled.densities.line_boxes`).

    A quarter of the tolerance is for the terms that are left out, one for the boxes that are, one
    for interpolation, one for bins. Targets further than some bandwidths from all rows are left to
    `LeafSums`.

    Parameters
    ----------
    x : array of shape (n,)
    weight : array of shape (n,), or None for ones
    bandwidth, tolerance : float
    ends : (float, float), optional
        The least and the largest of x, where they are known.
    """

    def __init__(
        self,
        x: Floats,
        weight: Floats | None,
        bandwidth: float,
        tolerance: float,
        n_jobs: int | None = None,
        ends: tuple[float, float] | None = None,
    ) -> None:
        self.x, self.weight, self.bandwidth = x, weight, bandwidth
        total, lightest = (float(len(x)), 1.0) if weight is None else (weight.sum(), weight.min())
        self.low, high = (float(x.min()), float(x.max())) if ends is None else ends
        self.ends = self.low, high
        largest = _largest_exponent(tolerance / 4)
        away = np.sqrt(2 * np.log(4 * total / (tolerance * lightest)) + BEYOND**2)
        step = np.sqrt(away**2 / 4 + 2 * largest) - away / 2  # (away + step) step / 2 is largest
        self.step = float(np.floor(step * STEPS_OF_ONE) / STEPS_OF_ONE)
        self.width = self.step * bandwidth
        self.reach = int(2 * largest / self.step**2 - 0.5)
        boxes = int((high - self.low) / self.width) + 1
        rounding = 1e-14 * max(-self.low, high) / bandwidth  # of centres, at the end of the reach
        coarse = _bin_error(self.step, self.reach) + rounding <= tolerance / 4
        if coarse and len(x) > ROWS_OF_BIN * boxes * BINS:
            self.moments = self._moments_by_bins(boxes)
        else:
            self.moments = self._moments(boxes, n_jobs)
        self.mass = np.empty(len(self.moments))
        finish_moments(self.moments, self.mass)
        self.reaches = np.empty(len(self.mass) + 2 * self.reach, np.int64)
        box_reaches(self.mass, total, tolerance / 4, self.step, self.reach, self.reaches)
        enough = _interpolates(largest, tolerance / 4) and rounding < tolerance / 4
        self.coefficients = self._interpolation() if enough else None

    @staticmethod
    def pays(n: int, ends: tuple[float, float], bandwidth: float, n_targets: int) -> bool:
        """Whether there are rows and targets enough, and boxes not too many."""
        low, high = ends
        return min(n, n_targets) > FEW and (high - low) / bandwidth * 20 < max(MOST_BOXES, 2 * n)

    def _moments(self, boxes: int, n_jobs: int | None) -> Floats:
        def add(part: slice) -> Floats:
            moments = np.zeros((boxes, TERMS))
            weight = np.empty(0) if self.weight is None else self.weight[part]
            add_moments(self.x[part], weight, self.low, self.width, self.bandwidth, moments)
            return moments

        total = np.zeros((boxes, TERMS))
        for moments in shared(add, slices(len(self.x), ROWS_AT_ONCE), n_jobs):
            total += moments
        return total

    def _moments_by_bins(self, boxes: int) -> Floats:
        """A map of the moments of the bins of a box, the same for all boxes."""
        bins = np.zeros((boxes * BINS, 4))
        weight = np.empty(0) if self.weight is None else self.weight
        add_bin_moments(self.x, weight, self.low, self.width / BINS, self.bandwidth, bins)
        return bins.reshape(boxes, BINS * 4) @ _bins_to_box(self.step)

    def _interpolation(self) -> Floats:
        """The coefficients of the polynomial of each target box.

        The value at a node is the same linear map of the moments of the boxes around for all
        target boxes, so that a matrix product does for many of them.
        """
        k = self.reach
        around = np.zeros((len(self.moments) + 4 * k, TERMS))
        around[2 * k : 2 * k + len(self.moments)] = self.moments
        shape = len(self.moments) + 2 * k, (2 * k + 1) * TERMS
        windows: Floats = np.ndarray(shape, np.float64, around, strides=around.strides)
        to_powers = _boxes_to_powers(self.step, k)
        found = np.empty((len(windows), NODES))
        for part in slices(len(windows), BOXES_AT_ONCE):
            np.dot(np.ascontiguousarray(windows[part]), to_powers, out=found[part])
        return found

    def sums(self, targets: Floats, n_jobs: int | None = None) -> Floats:
        """The sum at each target; NaN where boxes do not serve."""
        found = np.empty(len(targets))
        if self.coefficients is not None:
            interpolated_sums(
                targets, self.low, self.width, self.step, self.coefficients, self.reaches,
                self.reach, found,
            )  # fmt: skip
            return found
        found.fill(np.nan)
        first = np.empty(len(self.reaches) + 3, np.int64)
        order = np.empty(len(targets), np.int64)
        targets_of_boxes(targets, self.low, self.width, self.reach, first, order)

        def find(part: slice) -> None:
            box_sums(
                targets, order, first, self.low, self.width, self.bandwidth, self.moments,
                self.mass, self.reaches, part.start, part.stop, found,
            )  # fmt: skip

        shared(find, slices(len(self.reaches), -(-len(self.reaches) // BLOCKS)), n_jobs)
        return found


@cache
def _largest_exponent(tolerance: float) -> float:
    """The largest a for which a^TERMS / TERMS! exp(a) is within the tolerance."""
    low, high = 0.0, 3.0
    for _ in range(50):
        a = (low + high) / 2
        low, high = (a, high) if a**TERMS / factorial(TERMS) * exp(a) <= tolerance else (low, a)
    return low


def _interpolates(a: float, tolerance: float) -> bool:
    """Whether NODES Chebyshev nodes are enough for exponents up to a."""
    return a**NODES * exp(2 * a) / (factorial(NODES) * 2.0 ** (NODES - 1)) <= tolerance


@cache
def _chebyshev() -> tuple[Floats, Floats]:
    """Chebyshev nodes, and the matrix from values at them to coefficients of powers."""
    nodes = np.cos(np.pi * (np.arange(NODES) + 0.5) / NODES)
    return nodes, np.linalg.inv(np.vander(nodes, increasing=True))


@lru_cache(maxsize=64)
def _boxes_to_powers(step: float, k: int) -> Floats:
    """From the moments of 2k + 1 boxes to the coefficients of the middle one's polynomial."""
    nodes, to_powers = _chebyshev()
    f = nodes * (step / 2)
    d = f - np.arange(-k, k + 1)[:, None] * step  # (boxes around, nodes)
    terms = np.empty((2 * k + 1, TERMS, NODES))
    terms[:, 0] = np.exp((f**2 - d**2) / 2)
    for j in range(1, TERMS):
        terms[:, j] = terms[:, j - 1] * d
    return terms.reshape(-1, NODES) @ to_powers.T


@lru_cache(maxsize=64)
def _bins_to_box(step: float) -> Floats:
    """From moments of orders 0 to 3 of the bins of a box to its own: cubics of e^l exp(-e^2/2)."""
    centre = ((np.arange(BINS) + 0.5) / BINS - 0.5) * step
    found = np.empty((BINS, 4, TERMS))
    for term in range(TERMS):
        factor = Polynomial.basis(term)  # of the derivatives, before exp(-e^2/2)
        for k in range(4):
            found[:, k, term] = factor(centre) * np.exp(-(centre**2) / 2) / factorial(k)
            factor = factor.deriv() - Polynomial([0, 1]) * factor
    return found.reshape(BINS * 4, TERMS)


def _bin_error(step: float, reach: int) -> float:
    """Of a row that is counted in a bin, relative to its kernel; twice, for the terms left out."""
    d, e = (reach + 1) * step, step / BINS / 2
    return 2 * (d**4 + 6 * d**2 + 3) * e**4 / 24 * exp(2 * d * e)
