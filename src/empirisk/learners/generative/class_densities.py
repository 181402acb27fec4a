"""The Gaussian densities of the classes: rows with missing features, and new rows.

A marginal of a Gaussian is the Gaussian of the features that are left, with their means and their
part of the covariance. So a row of which only the features o are known has

    f_k(x) = log pi_k - log det Sigma_oo / 2 - (x_o - m_o)' Sigma_oo^-1 (x_o - m_o) / 2.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import eigh

from empirisk.learners.generative.complete_rows import has_missing
from empirisk.learners.generative.covariance import Covariance, Factor, rounding_of
from empirisk.learners.generative.density_soundness import check_densities
from empirisk.learners.generative.quadratic import (
    MODERATE,
    Bundle,
    QuadraticDiscriminants,
    excess_exponent,
    measured,
)
from empirisk.runtime.arrays import Bools, Floats, Ints
from empirisk.runtime.parallel import slices

NUMBERS_AT_ONCE = 2**20
"""In the covariances of some patterns of missing features together: 8 MB."""


@dataclass(frozen=True, eq=False)
class ClassDensities:
    """pi_k, m_k and Sigma_k of columns measured in units of 2^unit.

    Parameters
    ----------
    priors : array of shape (K,)
    mean : array of shape (K, p)
    covariance : array of shape (K, p, p), or (p, p) for one that all classes share
    unit : array of int of shape (p,)
    instead : array of shape (p,)
        By what a column that is constant in a class is measured; 0 leaves it out.
    tol : float
        See `Covariance`.
    cholesky : bool
        Factor by Cholesky where a covariance is far from singular.
    """

    priors: Floats
    mean: Floats
    covariance: Floats
    unit: Ints
    instead: Floats
    tol: float
    cholesky: bool

    def check_loaded(self) -> None:
        """Raise a DataError unless these are densities of classes."""
        check_densities(self)

    @property
    def log_priors(self) -> Floats:
        with np.errstate(divide="ignore"):
            return np.log(self.priors)

    @cached_property
    def rule(self) -> QuadraticDiscriminants:
        """For rows without missing features."""
        every = np.ones(len(self.unit), bool)
        factors = [self._factor(k, every) for k in range(len(self._covariances))]
        bundle = Bundle.of([0], [[factor] for factor in self._each(factors)])
        # With one value, the variances go into the basis.
        basis = bundle.basis * np.sqrt(bundle.inverse).transpose(0, 2, 1)
        bundle = bundle._replace(basis=basis, inverse=np.ones_like(bundle.inverse))
        return QuadraticDiscriminants(self.mean, self.unit, self.log_priors, [bundle])

    def values(self, X: Floats) -> Floats:
        """f_k at the rows of X, features that are NaN left out: an array (rows, K, 1)."""
        if not has_missing(X):
            return self.rule.values(X)
        incomplete = np.isnan(X).any(axis=1)
        values = np.empty((len(X), len(self.mean), 1))
        values[~incomplete] = self.rule.values(X[~incomplete])
        values[incomplete, :, 0] = self.marginal_values(X[incomplete])
        return values

    def marginal_values(self, X: Floats) -> Floats:
        """f_k at rows with missing features: an array (rows, K)."""
        found = np.empty((len(X), len(self.mean)))
        X = measured(X, self.unit)
        down = excess_exponent(X)
        for seen, factors, rows in self._patterns(~np.isnan(X)):
            away = np.where(seen, X[rows][:, None] - self.mean, 0.0)
            away = np.ldexp(away, -down[rows][:, None, None])
            basis = np.stack([factor.basis for factor in factors])
            along = np.matmul(away.transpose(1, 0, 2), basis)
            inverse = np.stack([1 / factor.variances for factor in factors])
            squared = np.einsum("kij,kij,kj->ik", along, along, inverse, optimize=False)
            squared = np.ldexp(squared, np.minimum(2 * down[rows], MODERATE)[:, None])
            determinant = np.array([factor.log_determinant for factor in factors])
            found[rows] = self.log_priors - (squared + determinant) / 2
        return found

    def _patterns(self, seen: Bools) -> Iterator[tuple[Bools, list[Factor], Ints]]:
        """Which features are seen, the factor of each class for them, and the rows that is so of.

        Factors are those of all features, with unit variances for those that are not seen.
        """
        packed = np.packbits(seen, axis=1)
        _, first, which = np.unique(packed, axis=0, return_index=True, return_inverse=True)
        which = which.reshape(-1)
        order = np.argsort(which, kind="stable")
        groups = np.split(order, np.cumsum(np.bincount(which))[:-1])
        at_once = max(1, NUMBERS_AT_ONCE // self._covariances.size)
        for part in slices(len(groups), at_once):
            patterns = seen[first[part]]
            by_triangles = self._by_triangles(patterns) if self._regular else None
            for g, rows in enumerate(groups[part]):
                if by_triangles is not None:
                    factors = by_triangles[g]
                else:
                    factors = [self._factor(k, patterns[g]) for k in range(len(self._covariances))]
                yield patterns[g], self._each(factors), rows

    def _each(self, factors: list[Factor]) -> list[Factor]:
        """One factor for each class, if all share one."""
        return factors * len(self.mean) if len(factors) == 1 else factors

    @property
    def _covariances(self) -> Floats:
        return self.covariance if self.covariance.ndim == 3 else self.covariance[None]

    @cached_property
    def _deviation(self) -> Floats:
        return np.sqrt(np.einsum("kjj->kj", self._covariances))

    @cached_property
    def _regular(self) -> bool:
        """Whether no covariance is near a singular one; then no part of it is either."""
        every = np.ones(len(self.unit), bool)
        parts = (self._part(k, every) for k in range(len(self._covariances)))
        return self.cholesky and all(part.by_cholesky() is not None for part in parts)

    def _part(self, k: int, seen: Bools) -> Covariance:
        """The covariance of class k, of the features that are seen."""
        return Covariance(
            self._covariances[k][np.ix_(seen, seen)],
            self.unit[seen],
            self.tol,
            rounding_of(self.mean)[seen],
            self.instead[seen],
            compared=self.covariance.ndim == 3,
        )

    def _factor(self, k: int, seen: Bools) -> Factor:
        """Of the features that are seen; those that are not have no part in it."""
        p = len(seen)
        if not seen.any():
            return Factor(np.zeros((p, 1)), np.ones(1), 0.0)
        part = self._part(k, seen)
        found = part.by_cholesky() if self.cholesky else None
        found = part.factor(0.0) if found is None else found
        basis = np.zeros((p, found.basis.shape[1]))
        basis[seen] = found.basis
        return Factor(basis, found.variances, found.log_scale)

    def _by_triangles(self, patterns: Bools) -> list[list[Factor]]:
        """The factors of several patterns together: features that are not seen become independent
        ones of variance 1."""
        P, p = patterns.shape
        inverse = 1 / self._deviation
        correlation = self._covariances * (inverse[:, :, None] * inverse[:, None, :])
        both = patterns[:, :, None] & patterns[:, None, :]
        matrices = np.where(both[:, None], correlation, 0.0)
        np.einsum("gkjj->gkj", matrices)[:] = 1.0
        lower = np.linalg.cholesky(matrices)
        logs = np.log(np.einsum("gkjj->gkj", lower)).sum(axis=2)
        logs += np.einsum("gj,kj->gk", patterns, np.log(self._deviation))
        basis = np.linalg.inv(lower).swapaxes(2, 3) * inverse[:, :, None]
        ones = np.ones(p)
        return [
            [Factor(basis[g, k], ones, 2 * float(logs[g, k])) for k in range(basis.shape[1])]
            for g in range(P)
        ]

    def sample(self, counts: Ints, random: np.random.Generator) -> Floats:
        """So many new rows of each class, one class after the other, in the units of the data."""
        n, p = int(counts.sum()), len(self.unit)
        X = random.standard_normal((n, p))
        end = np.cumsum(counts)
        for k, count in enumerate(counts):
            own = slice(end[k] - count, end[k])
            X[own] = X[own] @ self.root(k).T + self.mean[k]
        return np.ldexp(X, self.unit)

    def root(self, k: int) -> Floats:
        """R with R R' = Sigma_k, also where that is singular."""
        return self._roots[k % len(self._roots)]

    @cached_property
    def _roots(self) -> list[Floats]:
        return [_root(covariance) for covariance in self._covariances]


def _root(covariance: Floats) -> Floats:
    """R with R R' = Sigma. Columns without variance get exactly none."""
    deviation = np.sqrt(np.diagonal(covariance))
    inverse = np.divide(1.0, deviation, out=np.zeros_like(deviation), where=deviation > 0)
    variances, vectors = eigh(covariance * np.outer(inverse, inverse))
    return deviation[:, None] * vectors * np.sqrt(np.maximum(variances, 0.0))
