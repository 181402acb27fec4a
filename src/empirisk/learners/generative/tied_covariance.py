"""The covariance that all classes share, and the linear discriminants it gives.

S is the scatter within classes / n, or / (n - K) if it is to be unbiased. In a direction in which
the rows of a class do not vary it has the variance tol^2. Where the class means agree in that
direction nothing follows from it, as with the pseudo-inverse. Where they differ, the classes are
perfectly separated and it decides almost alone, as when the scaled columns are shrunken less and
less.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from empirisk.data.class_moments import ClassMoments
from empirisk.learners.generative.covariance import (
    LARGEST_CONDITION,
    Covariance,
    Factor,
    columns_are,
    rounding_of,
)
from empirisk.learners.generative.discriminants import LinearDiscriminants
from empirisk.runtime.arrays import Bools, Floats, Ints
from empirisk.runtime.errors import DataError


class TiedCovariance(Covariance):
    """The pooled covariance within classes.

    Parameters
    ----------
    moments : ClassMoments
        Of columns measured in units of 2^unit.
    unit : array of int of shape (p,)
    tol : float
    lost : float
        What each class takes from n, the divisor of maximum likelihood: 0, or the weight of one
        row, so that the covariance is unbiased.
    cholesky : bool
        Factor S by Cholesky where it is far from singular.
    estimate : array of shape (p, p), optional
        Another estimate of the covariance, to be taken instead.
    """

    def __init__(
        self,
        moments: ClassMoments,
        unit: Ints,
        tol: float,
        *,
        lost: float = 0.0,
        cholesky: bool = True,
        estimate: Floats | None = None,
    ) -> None:
        if estimate is None:
            estimate = moments.within / pooled_divisor(moments.weight, lost)
        self.freedom = int((moments.rows - 1).sum())
        self.mean = moments.mean
        self.cholesky = cholesky
        rounding = rounding_of(moments.mean)
        instead = np.where(self.distance > rounding, self.distance, 0.0)
        super().__init__(estimate, unit, tol, rounding, instead)

    @property
    def distance(self) -> Floats:
        """The largest difference of class means in each column."""
        return np.ptp(self.mean, axis=0)

    def solve(self, s: float, directions: Floats) -> Floats:
        """Rows d' Sigma(s)^-1 for the rows d' of `directions`, differences of class means."""
        if s > 0 and self.target > 0:
            factor = self.shared(s)
            if factor.condition <= LARGEST_CONDITION:
                return (directions @ factor.basis / factor.variances) @ factor.basis.T
            return self._floored(self.scaled_to_unit_variance(s), directions)
        if self.by_triangles is not None:
            return directions @ self.by_triangles.basis @ self.by_triangles.basis.T
        return self._floored(self.standardised, directions)

    @cached_property
    def by_triangles(self) -> Factor | None:
        """S by Cholesky, if that is wanted and possible."""
        return self.by_cholesky() if self.cholesky else None

    def _floored(self, factor: Factor, directions: Floats) -> Floats:
        flat = factor.variances <= self.least_variance
        along = directions @ factor.basis
        along[:, flat] = self._along_flat(factor, directions)
        return (along / np.where(flat, self.least_variance, factor.variances)) @ factor.basis.T

    def _along_flat(self, factor: Factor, directions: Floats) -> Floats:
        """The directions' parts without variance; 0 where they are as small as rounding errors
        of the means, or a thousandth of the least standard deviation and so without effect."""
        basis = factor.basis[:, factor.variances <= self.least_variance]
        along = directions @ basis
        nothing = np.maximum(self.rounding @ np.abs(basis), 1e-3 * np.sqrt(self.least_variance))
        return np.where(np.abs(along) > nothing, along, 0.0)

    @cached_property
    def constant(self) -> Bools:
        """Columns that do not vary at all."""
        return self.constant_within & (self.instead == 0)

    @cached_property
    def rank(self) -> int:
        """The number of directions with variance at s = 0."""
        return len(self.unit) if self.by_triangles is not None else super().rank

    def why_singular(self, names: Sequence[Any] | None) -> str | None:
        """In words, which columns leave Sigma(0) without an inverse; None if it has one."""
        if self.rank == len(self.unit):
            return None
        clauses = []
        if self.constant.any():
            clauses.append(f"{columns_are(np.flatnonzero(self.constant), names)} constant")
        within = np.flatnonzero(self.constant_within & ~self.constant)
        if len(within):
            clauses.append(f"{columns_are(within, names)} constant within each class")
        clauses += self.why_dependent(self.freedom, " within classes", names)
        if self._along_flat(self.standardised, self.mean - self.mean[0]).any():
            clauses.append("classes are perfectly separated on the training rows")
        return "; ".join(clauses or ["some columns depend on others within classes"])


def pooled_divisor(weight: Floats, lost: float) -> Any:
    """What the scatter within classes is divided by: the weight of all (..., K), less what each
    class takes from it."""
    below = weight.sum(axis=-1) - lost * weight.shape[-1]
    if lost and np.min(below) <= 0:
        K = weight.shape[-1]
        raise DataError(
            f"there are rows of weight {np.min(below) / lost + K:.6g} for {K} classes, and an "
            "unbiased covariance divides by the difference: give more rows, or set unbiased=False"
        )
    return below


def divisor(weight: Floats, lost: float) -> Floats:
    """What the scatter of each class is divided by: its weight, less that of one row if lost."""
    if lost and (weight <= lost).any():
        raise DataError(
            f"a class has rows of weight {weight.min() / lost:.6g} only, and an unbiased "
            "covariance divides by that minus 1: give more rows, or set unbiased=False"
        )
    return weight - lost


def shares(priors: Floats | None, moments: ClassMoments) -> Floats:
    """Of the classes that have rows: the given priors, or else their shares of the weight."""
    share = moments.weight if priors is None else np.where(moments.rows > 0, priors, 0.0)
    return share / share.sum()


class ClassMeans(NamedTuple):
    """What class means m_k and shares pi_k enter the functions with, of one or many training sets.

    Means and x are taken about the common mean sum_k pi_k m_k, which changes all f_k alike. Of two
    classes there is the difference f_1 - f_0 only.
    """

    directions: Floats  # (..., K or 1, p), to be multiplied by Sigma^-1
    halfway: Floats  # (..., K or 1, p), where the functions have the value log_prior
    log_prior: Floats  # (..., K or 1)
    common: Floats  # (..., p)

    @classmethod
    def of(cls, mean: Floats, priors: Floats) -> "ClassMeans":
        """From means (..., K, p) and shares (..., K)."""
        # Differences first: where the class means are equal they are exactly 0.
        apart = mean - mean[..., :1, :]
        common = np.einsum("...k,...kj->...j", priors, apart)
        about = apart - common[..., None, :]
        with np.errstate(divide="ignore"):
            log_prior = np.log(priors)
        common = mean[..., 0, :] + common
        if mean.shape[-2] == 2:
            halfway = about.mean(axis=-2, keepdims=True)
            return cls(apart[..., 1:, :], halfway, np.diff(log_prior), common)
        return cls(about, about / 2, log_prior, common)


def tied_discriminants(
    covariance: TiedCovariance, priors: Floats, shrinkages: Sequence[float]
) -> LinearDiscriminants:
    """f_k(x) = log pi_k - m_k' Sigma(s)^-1 m_k / 2 + m_k' Sigma(s)^-1 x, for all s."""
    means = ClassMeans.of(covariance.mean, priors)
    coef = np.stack([covariance.solve(s, means.directions) for s in shrinkages], axis=1)
    offset = means.log_prior[:, None] - np.einsum("kj,kvj->kv", means.halfway, coef)
    return LinearDiscriminants(coef, offset, means.common)
