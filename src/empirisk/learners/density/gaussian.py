"""The Gaussian density in p dimensions: its maximum likelihood, and shrinkage of its correlations.

    f(x) = (2 pi)^(-p/2) |S|^(-1/2) exp(-(x - m)' S^-1 (x - m) / 2),
    S = D ((1 - s) R + s I) D

with m the mean, D the standard deviations, divided by n, and R the correlations of the rows. s = 0
is maximum likelihood, s = 1 that of independent columns. All shrinkages have the axes of R. Where
rows lie in a plane the likelihood has no maximum: variances along axes are at least a floor.
"""

from dataclasses import dataclass
from typing import Any
from warnings import warn

import numpy as np
from scipy.linalg import eigh

from empirisk.runtime.arrays import Bools, Floats
from empirisk.runtime.errors import DataError, RankWarning
from empirisk.runtime.parallel import one_blas_thread, slices

LOG_2PI = float(np.log(2 * np.pi))
ORDINARY = 300  # powers of two within which squares are far from overflow and underflow
NUMBERS_AT_ONCE = 2**16  # of a block of rows, which stays in the cache
FARTHEST = 1e150  # a distance, in deviations, whose square is finite


@dataclass(frozen=True, eq=False)
class Gaussian:
    """Mean, deviations and correlations of weighted rows.

    Attributes
    ----------
    mean, deviation : array of shape (p,)
    correlation : array of shape (p, p)
    variances, axes : arrays of shape (p,) and (p, p)
        Eigenvalues of the correlations, and in the columns their eigenvectors.
    floor : float
        The least that an eigenvalue counts for.
    """

    mean: Floats
    deviation: Floats
    correlation: Floats
    variances: Floats
    axes: Floats
    floor: float

    @classmethod
    def fit(cls, X: Floats, weight: Floats, floor: float, names: Any = None) -> "Gaussian":
        """Of rows; a row of weight w counts as w rows."""
        share = weight / weight.sum()
        low, high = X.min(axis=0), X.max(axis=0)
        unit = _unit(np.maximum(np.abs(low), np.abs(high)))
        with one_blas_thread():
            mean = share @ X if (unit == 1).all() else share @ (X / unit)
            mean, scatter = _scatter(X, share, unit, mean)
            deviation = np.sqrt(np.maximum(np.diagonal(scatter), 0.0))  # rounding may be below 0
            constant = low == high
            if constant.any():
                _tell_of_constant(constant, X, floor, names)
                mean[constant] = (X[0] / unit)[constant]
                scatter[constant], scatter[:, constant] = 0.0, 0.0
                size = np.where(X[0] == 0, 1.0, np.abs(X[0] / unit))
                deviation = np.where(constant, np.sqrt(floor) * size, deviation)
            correlation = scatter / deviation[:, None] / deviation
            np.fill_diagonal(correlation, 1.0)
            variances, axes = eigh(correlation)
        return cls(mean * unit, deviation * unit, correlation, variances, axes, floor)

    def log_density(self, X: Floats, shrinkages: Floats) -> Floats:
        """log f of each row, a column for each shrinkage."""
        variances = self.shrunk(shrinkages)
        p = len(self.mean)
        constant = p * LOG_2PI + 2 * np.log(self.deviation).sum() + np.log(variances).sum(axis=0)
        turned, inverse = self.axes / self.deviation[:, None], 1 / variances
        found = np.empty((len(X), len(shrinkages)))
        with np.errstate(over="ignore", invalid="ignore"), one_blas_thread():
            for rows in slices(len(X), max(1, NUMBERS_AT_ONCE // p)):
                along = (X[rows] - self.mean) @ turned
                square = np.square(along, out=along) @ inverse
                if not np.isfinite(square).all():
                    square = self._far_squares(X[rows], inverse)
                found[rows] = (square + constant) / -2
        return found

    def shrunk(self, shrinkages: Floats) -> Floats:
        """Eigenvalues of the correlations after shrinkage, (p, values), none below the floor."""
        found = (1 - shrinkages) * self.variances[:, None] + shrinkages
        return np.maximum(found, self.floor)

    def warn_of_planes(self, shrinkage: float) -> None:
        """Say that the floor was needed, or, where there is none, that there is no density."""
        rounding = 10 * len(self.mean) * np.finfo(float).eps
        low = (1 - shrinkage) * self.variances + shrinkage < max(self.floor, rounding)
        if not low.any():
            return
        what = (
            f"the rows vary in {int((~low).sum())} of {len(low)} directions, as columns depend on "
            "one another, or there are no more rows than columns: the likelihood of a Gaussian has "
            "no maximum"
        )
        if self.floor < rounding:
            raise DataError(f"{what}; give a shrinkage or a variance_floor above 0")
        warn(f"{what}, and variance_floor={self.floor:g} takes its place", RankWarning)

    def root(self, shrinkage: float) -> Floats:
        """R with R R' = S, for drawing rows."""
        variances = self.shrunk(np.array([shrinkage]))[:, 0]
        return self.deviation[:, None] * (self.axes * np.sqrt(variances))

    def _far_squares(self, X: Floats, inverse: Floats) -> Floats:
        """Squared distances that are finite however far the rows are."""
        away = (X - self.mean) / self.deviation
        away = np.where(np.isfinite(away), away, np.sign(X) * FARTHEST)
        along = np.clip(away, -FARTHEST, FARTHEST) @ self.axes
        return np.minimum(np.minimum(along**2, FARTHEST**2) @ inverse, FARTHEST**2)


def _unit(size: Floats) -> Floats:
    """1, or for columns of huge or tiny numbers a power of two of their size."""
    exponent = np.frexp(size)[1]
    return np.where(np.abs(exponent) > ORDINARY, np.ldexp(1.0, np.minimum(exponent, 1023)), 1.0)


def _scatter(X: Floats, share: Floats, unit: Floats, mean: Floats) -> tuple[Floats, Floats]:
    """The mean without its rounding error, and the sums of products about it."""
    p = X.shape[1]
    rest, scatter = np.zeros(p), np.zeros((p, p))
    for rows in slices(len(X), max(1, NUMBERS_AT_ONCE // p)):
        away = X[rows] - mean if (unit == 1).all() else X[rows] / unit - mean
        rest += share[rows] @ away
        away *= np.sqrt(share[rows])[:, None]
        scatter += away.T @ away
    return mean + rest, scatter - np.outer(rest, rest)


def _tell_of_constant(constant: Bools, X: Floats, floor: float, names: Any) -> None:
    j = int(np.flatnonzero(constant)[0])
    what = (
        f"column {j if names is None else names[j]!r} has one value only, {X[0, j]:g}: the "
        "likelihood of a Gaussian has no maximum"
    )
    if floor == 0:
        raise DataError(f"{what}; leave the column out, or give a variance_floor above 0")
    warn(f"{what}, and variance_floor={floor:g} takes the place of its variance", RankWarning)
