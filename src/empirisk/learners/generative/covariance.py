"""A covariance, shrunken, and its inverse where it has one and where it has none.

    Sigma(s) = (1 - s) S + s t I,    t = trace S / p, or 1

One eigendecomposition S = U L U' gives the inverse for every s > 0,

    Sigma(s)^-1 = U ((1 - s) L + s t)^-1 U'.

At s = 0 the columns are first scaled to unit variance, so that their units do not matter. There a
direction in which the rows do not vary has no inverse variance; it gets the variance tol^2, the
least that counts as variation.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.linalg import eigh, solve_triangular
from scipy.linalg.lapack import dpocon, dpotrf, dtrtri

from empirisk.runtime.arrays import Bools, Floats, Ints
from empirisk.runtime.column_names import named

LARGEST_CONDITION = 1e8
"""Of a covariance, that is 1e4 of the design. Up to it, what a subtraction leaves is as exact as
the covariance of a training part itself: both give probabilities with a relative error of about
1e-15 times the condition number."""

EPS = np.finfo(float).eps
SMALLEST_UNIT, LARGEST_UNIT = -800, 800
"""Powers of two whose inverse, times a square, is far from overflow."""


@dataclass(frozen=True, eq=False)
class Factor:
    """A covariance whose inverse is basis diag(1 / variances) basis'.

    Its determinant is the product of the variances times exp(log_scale).
    """

    basis: Floats
    variances: Floats
    log_scale: float

    @property
    def condition(self) -> float:
        """The largest over the smallest variance."""
        least = float(self.variances.min(initial=np.inf))
        return float(self.variances.max(initial=0.0)) / least if least > 0 else np.inf

    @property
    def log_determinant(self) -> float:
        return float(np.log(self.variances).sum()) + self.log_scale

    @property
    def whitening(self) -> Floats:
        """W with W' Sigma W = I."""
        return self.basis / np.sqrt(self.variances)

    def floored(self, least: float) -> "Factor":
        """With the least variance wherever there is less."""
        return Factor(self.basis, np.maximum(self.variances, least), self.log_scale)


class Covariance:
    """A covariance S of columns measured in units of 2^unit.

    Parameters
    ----------
    covariance : array of shape (p, p)
    unit : array of int of shape (p,)
    tol : float
        A direction has no variance if its standard deviation, after scaling the columns to unit
        variance, is at most tol; taken for sqrt(10 p eps) if smaller, which is rounding.
    rounding : array of shape (p,)
        Standard deviations up to which a column is constant.
    instead : array of shape (p,)
        By what a column that is constant here is measured; 0 leaves it out where s = 0.
    scaled : bool
        Whether t is trace S / p, or 1.
    compared : bool
        Whether it will be compared with other covariances: a direction without variance is then
        measured by `instead`, which is common to all of them, and has no say if all lack it.
    """

    def __init__(
        self,
        covariance: Floats,
        unit: Ints,
        tol: float,
        rounding: Floats,
        instead: Floats,
        *,
        scaled: bool = True,
        compared: bool = False,
    ) -> None:
        self.covariance = covariance
        self.unit = unit
        self.least_variance = least_variance(tol, len(unit))
        self.rounding = rounding
        self.instead = instead
        self.scaled = scaled
        self.compared = compared

    def largest_condition(self, s: float) -> float:
        """Up to which parts may be subtracted: at s = 0 no direction is then given tol^2."""
        return LARGEST_CONDITION if s > 0 else min(LARGEST_CONDITION, 1 / self.least_variance)

    def condition(self, s: float) -> float:
        """The condition number of Sigma(s); at s = 0, after scaling the columns."""
        if s > 0:
            return self.shared(s).condition
        return np.inf if self.constant_within.any() else self.standardised.condition

    def factor(self, s: float) -> Factor:
        """Of Sigma(s), with tol^2 in directions without variance."""
        if s == 0:
            return self.standardised.floored(self.least_variance)
        if self.target == 0:
            nothing, everywhere = self.covariance, np.ones(len(self.unit), bool)
            measured = self._of_unit_variances(nothing, self.instead_shrunken, everywhere)
            return measured.floored(self.least_variance)
        factor = self.shared(s)
        if factor.condition <= LARGEST_CONDITION:
            return factor
        return self.scaled_to_unit_variance(s).floored(self.least_variance)

    def by_cholesky(self) -> Factor | None:
        """Of S, scaled to unit variances and factored by Cholesky; None where it is singular."""
        if self.constant_within.any():
            return None
        inverse = 1 / self._deviation
        correlation = self.covariance * np.outer(inverse, inverse)
        lower, failed = dpotrf(correlation, lower=1, clean=1)
        if failed:
            return None
        norm = float(np.abs(correlation).sum(axis=0).max())
        # LAPACK's estimate of a condition number may be too small, hardly ever tenfold.
        reciprocal = dpocon(lower, norm, uplo="L")[0]
        if not reciprocal > 10 * self.least_variance:
            return None
        root = np.diagonal(lower)
        log_scale = 2 * float(np.log(self._deviation).sum() + np.log(root).sum())
        basis = inverse[:, None] * dtrtri(lower, lower=1)[0].T
        return Factor(basis, np.ones(len(root)), log_scale)

    @cached_property
    def standardised(self) -> Factor:
        """S of columns with unit variance, or where they have none, in the unit given instead."""
        scale = np.where(self.constant_within, self.instead, self._deviation)
        return self._of_unit_variances(self.covariance, scale, self.constant_within)

    @cached_property
    def instead_shrunken(self) -> Floats:
        """By what a column that is constant here is measured where s > 0. There other covariances
        count a column that varies in none of them, too: it gets the root mean square of all."""
        common = self.instead * self._to_common_unit
        average = np.sqrt(np.square(common).mean())
        # In the unit of a column of much smaller numbers this is as good as infinite.
        exponent = np.minimum(self.unit.max() - self.unit, LARGEST_UNIT // 2)
        return np.where(self.instead > 0, self.instead, np.ldexp(average, exponent))

    def scaled_to_unit_variance(self, s: float) -> Factor:
        """Sigma(s) factored by itself: for an s so small that the shared factor is inexact."""
        shrunken = self.measured(s)
        scale = np.sqrt(np.diagonal(shrunken))
        return self._of_unit_variances(shrunken, scale, np.zeros(len(scale), bool))

    def _of_unit_variances(self, matrix: Floats, scale: Floats, constant: Bools) -> Factor:
        kept = np.flatnonzero(scale > 0)
        inverse = 1 / scale[kept]
        correlation = matrix[np.ix_(kept, kept)] * np.outer(inverse, inverse)
        correlation[constant[kept]] = 0.0
        correlation[:, constant[kept]] = 0.0
        variances, vectors = np.linalg.eigh(correlation)
        log_scale = -2 * float(np.log(inverse).sum())
        vectors *= inverse[:, None]
        flat = variances <= self.least_variance
        if self.compared and flat.any():
            log_scale += _compare(vectors, flat, self.instead[kept], scale[kept])
        basis = np.zeros((len(scale), len(kept)))
        basis[kept] = vectors
        return Factor(basis, variances, log_scale)

    @cached_property
    def spherical(self) -> Factor:
        """S with all columns in the unit of the largest: what shrinkage compares them in."""
        variances, vectors = self._principal
        basis = self._to_common_unit[:, None] * vectors
        return Factor(basis, np.maximum(variances, 0.0), self._log_common_unit)

    def shared(self, s: float) -> Factor:
        """Sigma(s) by the eigenvectors that serve every s > 0."""
        variances = (1 - s) * self.spherical.variances + s * self.target
        return Factor(self.spherical.basis, variances, self._log_common_unit)

    def measured(self, s: float) -> Floats:
        """Sigma(s) of the columns as they are measured."""
        covariance = (1 - s) * self.covariance
        # In the unit of a column of much smaller numbers this is as good as infinite.
        exponent = np.minimum(2 * (self.unit.max() - self.unit), LARGEST_UNIT)
        towards = np.ldexp(s * self.target, exponent)
        np.fill_diagonal(covariance, np.diagonal(covariance) + towards)
        return covariance

    def in_units(self, s: float) -> Floats:
        """Sigma(s) in the units of the data; infinite where that is beyond a double."""
        with np.errstate(over="ignore"):
            covariance = np.ldexp((1 - s) * self.covariance, self.unit[:, None] + self.unit)
            towards = np.ldexp(s * self.target, 2 * self.unit.max())
        np.fill_diagonal(covariance, np.diagonal(covariance) + towards)
        return covariance

    def principal_axes(self) -> tuple[Floats, Floats]:
        """The variances of S along its principal axes, falling, in the units of the data, and the
        axes as columns."""
        variances, vectors = self._principal
        with np.errstate(over="ignore", under="ignore"):
            raw = np.ldexp(np.maximum(variances, 0.0), 2 * self.unit.max())
        return np.minimum(raw, np.finfo(float).max)[::-1], vectors[:, ::-1]

    def largest_variance(self, covariance: Floats) -> float:
        """Of columns measured as these are, in the common unit."""
        return float((np.diagonal(covariance) * self._to_common_unit**2).max())

    @cached_property
    def _to_common_unit(self) -> Floats:
        return np.ldexp(1.0, self.unit - self.unit.max())

    @cached_property
    def _log_common_unit(self) -> float:
        return 2 * float(np.log(2.0) * (self.unit.max() - self.unit).sum())

    @cached_property
    def _in_common_unit(self) -> Floats:
        return self.covariance * self._to_common_unit[:, None] * self._to_common_unit

    @cached_property
    def _principal(self) -> tuple[Floats, Floats]:
        """Eigenvalues of S in the common unit, rising, and eigenvectors."""
        return eigh(self._in_common_unit)

    @cached_property
    def target(self) -> float:
        """t in the common unit."""
        if self.scaled:
            return float(np.trace(self._in_common_unit)) / len(self.unit)
        exponent = np.clip(-2 * self.unit.max(), SMALLEST_UNIT, LARGEST_UNIT)
        return float(np.ldexp(1.0, exponent))

    @cached_property
    def _deviation(self) -> Floats:
        return np.sqrt(np.diagonal(self.covariance))

    @cached_property
    def constant_within(self) -> Bools:
        """Columns that do not vary."""
        return self._deviation <= self.rounding

    @cached_property
    def rank(self) -> int:
        """The number of directions with variance at s = 0."""
        return int((self.standardised.variances > self.least_variance).sum())

    def dependent(self) -> Ints:
        """Columns that are linear combinations of columns before them: those at which Cholesky's
        decomposition of the correlation has nothing left."""
        columns = np.flatnonzero(~self.constant_within)
        inverse = 1 / self._deviation[columns]
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

    def why_dependent(self, freedom: int, where: str, names: Sequence[Any] | None) -> list[str]:
        """In words, why the columns that vary have no inverse, if they vary in so few dimensions:
        nothing, or one clause."""
        varying = int((~self.constant_within).sum())
        if varying > freedom:
            return [f"{varying} columns vary in {freedom} dimensions{where}"]
        dependent = self.dependent()
        if len(dependent) == 0:
            return []
        return [f"{columns_are(dependent, names)} dependent on others{where}"]


def _compare(vectors: Floats, flat: Bools, instead: Floats, scale: Floats) -> float:
    """Measure the directions without variance by what is common to all covariances, in place;
    returns by how much the logarithm of the determinant grows."""
    common = np.where(instead > 0, instead, scale)
    triangle = np.linalg.qr(common[:, None] * vectors[:, flat], mode="r")
    vectors[:, flat] = solve_triangular(triangle, vectors[:, flat].T, trans="T").T
    return 2 * float(np.log(np.abs(np.diagonal(triangle))).sum())


def columns_are(columns: Ints, names: Sequence[Any] | None) -> str:
    """Some columns by name, with the verb that follows."""
    told = named(columns, names)
    return f"column {told} is" if len(columns) == 1 else f"columns {told} are"


def least_variance(tol: float, p: int) -> float:
    """The least that counts as variation of columns with unit variance."""
    return max(tol**2, 10 * p * EPS)


def rounding_of(mean: Floats) -> Floats:
    """Of class means (K, p), in each column."""
    return 4 * EPS * np.abs(mean).max(axis=0)
