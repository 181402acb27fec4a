"""The covariance that all classes share, shrunken, and its inverse.

    Sigma(s) = (1 - s) S + s (trace S / p) I,    S = scatter within classes / n

One eigendecomposition S = U L U' gives the inverse for every s > 0,

    Sigma(s)^-1 = U ((1 - s) L + s (trace S / p))^-1 U'.

At s = 0 the columns are first scaled to unit variance, so that their units do not matter. There a
direction in which the rows of a class do not vary has no inverse variance; it gets the variance
tol^2, the least that counts as variation. Where the class means agree in that direction nothing
follows from it, as with the pseudo-inverse. Where they differ, the classes are perfectly separated
and it decides almost alone, as when the scaled columns are shrunken less and less.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import eigh

from empirisk.data.class_moments import ClassMoments
from empirisk.learners.generative.discriminants import LinearDiscriminants
from empirisk.runtime.arrays import Bools, Floats, Ints

LARGEST_CONDITION = 1e8
"""Of a covariance, that is 1e4 of the design. Up to it, what a subtraction leaves is as exact as
the covariance of a training part itself: both give probabilities with a relative error of about
1e-15 times the condition number."""

EPS = np.finfo(float).eps
MOST_NAMES = 5


@dataclass(frozen=True, eq=False)
class Factor:
    """A covariance whose inverse is basis diag(1 / variances) basis'."""

    basis: Floats
    variances: Floats

    @property
    def condition(self) -> float:
        """The largest over the smallest variance."""
        least = float(self.variances.min())
        return float(self.variances.max()) / least if least > 0 else np.inf


class TiedCovariance:
    """The pooled covariance within classes, of maximum likelihood (divisor n).

    Parameters
    ----------
    moments : ClassMoments
        Of columns measured in units of 2^unit.
    unit : array of int of shape (p,)
    tol : float
        A direction has no variance if its standard deviation, after scaling the columns to unit
        variance, is at most tol; taken for sqrt(10 p eps) if smaller, which is rounding.
    """

    def __init__(self, moments: ClassMoments, unit: Ints, tol: float) -> None:
        self.covariance = moments.scatter / moments.weight.sum()
        self.freedom = int((moments.rows - 1).sum())
        self.mean = moments.mean
        self.unit = unit
        self.least_variance = least_variance(tol, len(unit))

    def condition(self, s: float) -> float:
        """The condition number of Sigma(s); at s = 0, after scaling the columns."""
        return self.standardised.condition if s == 0 else self._shrunken(s).condition

    def solve(self, s: float, directions: Floats) -> Floats:
        """Rows d' Sigma(s)^-1 for the rows d' of `directions`, differences of class means."""
        if s > 0 and self.mean_variance > 0:
            factor = self._shrunken(s)
            if factor.condition <= LARGEST_CONDITION:
                return (directions @ factor.basis / factor.variances) @ factor.basis.T
            return self._floored(self._scaled_to_unit_variance(s), directions)
        return self._floored(self.standardised, directions)

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
        nothing = np.maximum(self._rounding @ np.abs(basis), 1e-3 * np.sqrt(self.least_variance))
        return np.where(np.abs(along) > nothing, along, 0.0)

    @cached_property
    def standardised(self) -> Factor:
        """Sigma(0) of columns with unit variance within classes.

        A column that is constant within classes is measured by the distance of the class means
        from each other, one that is constant altogether is left out.
        """
        deviation = np.sqrt(np.diagonal(self.covariance))
        scale = np.where(self.constant_within, self._distance, deviation)
        inverse = np.divide(1.0, scale, out=np.zeros_like(scale), where=~self.constant)
        correlation = self.covariance * np.outer(inverse, inverse)
        correlation[self.constant_within] = 0.0
        correlation[:, self.constant_within] = 0.0
        variances, vectors = eigh(correlation)
        return Factor(inverse[:, None] * vectors, variances)

    @cached_property
    def spherical(self) -> Factor:
        """S with all columns in the unit of the largest: what shrinkage compares them in."""
        variances, vectors = eigh(self._in_common_unit)
        return Factor(self._to_common_unit[:, None] * vectors, np.maximum(variances, 0.0))

    def _shrunken(self, s: float) -> Factor:
        variances = (1 - s) * self.spherical.variances + s * self.mean_variance
        return Factor(self.spherical.basis, variances)

    def _scaled_to_unit_variance(self, s: float) -> Factor:
        """Sigma(s) factored by itself: for an s so small that the shared factor is inexact."""
        shrunken = (1 - s) * self._in_common_unit
        np.fill_diagonal(shrunken, np.diagonal(shrunken) + s * self.mean_variance)
        inverse = 1.0 / np.sqrt(np.diagonal(shrunken))
        variances, vectors = eigh(shrunken * np.outer(inverse, inverse))
        return Factor((self._to_common_unit * inverse)[:, None] * vectors, variances)

    def shrunken(self, s: float) -> Floats:
        """Sigma(s) in the units of the data; infinite where that is beyond a double."""
        with np.errstate(over="ignore"):
            covariance = (1 - s) * np.ldexp(self.covariance, self.unit[:, None] + self.unit)
            towards = s * np.ldexp(self.mean_variance, 2 * self.unit.max())
        np.fill_diagonal(covariance, np.diagonal(covariance) + towards)
        return covariance

    @property
    def _to_common_unit(self) -> Floats:
        return np.ldexp(1.0, self.unit - self.unit.max())

    @cached_property
    def _in_common_unit(self) -> Floats:
        return self.covariance * self._to_common_unit[:, None] * self._to_common_unit

    @cached_property
    def mean_variance(self) -> float:
        """trace S / p in the common unit."""
        return float(np.trace(self._in_common_unit)) / len(self.unit)

    @cached_property
    def _rounding(self) -> Floats:
        """Of the class means in each column."""
        return 4 * EPS * np.abs(self.mean).max(axis=0)

    @cached_property
    def _distance(self) -> Floats:
        """The largest difference of class means in each column."""
        return np.ptp(self.mean, axis=0)

    @cached_property
    def constant_within(self) -> Bools:
        """Columns that do not vary within any class."""
        return np.sqrt(np.diagonal(self.covariance)) <= self._rounding

    @cached_property
    def constant(self) -> Bools:
        """Columns that do not vary at all."""
        return self.constant_within & (self._distance <= self._rounding)

    def dependent(self) -> Ints:
        """Columns that, within classes, are linear combinations of columns before them: those
        at which Cholesky's decomposition of the correlation has nothing left."""
        columns = np.flatnonzero(~self.constant_within)
        inverse = 1 / np.sqrt(np.diagonal(self.covariance)[columns])
        correlation = self.covariance[np.ix_(columns, columns)] * np.outer(inverse, inverse)
        lower = np.zeros_like(correlation)
        rank, found = 0, []
        for j in range(len(columns)):
            rest = correlation[j:, j] - lower[j:, :rank] @ lower[j, :rank]
            if rest[0] <= self.least_variance:
                found.append(columns[j])
            else:
                lower[j:, rank] = rest / np.sqrt(rest[0])
                rank += 1
        return np.array(found, dtype=np.int64)

    def why_singular(self, names: Sequence[Any] | None) -> str | None:
        """In words, which columns leave Sigma(0) without an inverse; None if it has one."""
        if self.standardised.variances[0] > self.least_variance:
            return None
        clauses = []
        if self.constant.any():
            clauses.append(f"{_named(np.flatnonzero(self.constant), names)} constant")
        within = np.flatnonzero(self.constant_within & ~self.constant)
        if len(within):
            clauses.append(f"{_named(within, names)} constant within each class")
        varying = int((~self.constant_within).sum())
        if varying > self.freedom:
            clauses.append(f"{varying} columns vary in {self.freedom} dimensions within classes")
        elif len(dependent := self.dependent()):
            clauses.append(f"{_named(dependent, names)} dependent on others within classes")
        if self._along_flat(self.standardised, self.mean - self.mean[0]).any():
            clauses.append("classes are perfectly separated on the training rows")
        return "; ".join(clauses or ["some columns depend on others within classes"])


def _named(columns: Ints, names: Sequence[Any] | None) -> str:
    shown = [repr(names[j]) if names is not None else str(j) for j in columns[:MOST_NAMES]]
    more = len(columns) - len(shown)
    listed = ", ".join(shown) + (f" and {more} more" if more else "")
    return f"column {listed} is" if len(columns) == 1 else f"columns {listed} are"


def least_variance(tol: float, p: int) -> float:
    """The least that counts as variation of columns with unit variance."""
    return max(tol**2, 10 * p * EPS)


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
