"""The Gaussian densities of the classes: rows with missing features, and new rows.

A marginal of a Gaussian is the Gaussian of the features that are left, with their means and their
part of the covariance. So a row of which only the features o are known has

    f_k(x) = log pi_k - log det Sigma_oo / 2 - (x_o - m_o)' Sigma_oo^-1 (x_o - m_o) / 2.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import eigh

from empirisk.learners.generative.complete_rows import has_missing
from empirisk.learners.generative.covariance import Covariance, Factor, rounding_of
from empirisk.learners.generative.density_soundness import check_densities
from empirisk.learners.generative.quadratic import Bundle, QuadraticDiscriminants, measured
from empirisk.runtime.arrays import Bools, Floats, Ints
from empirisk.runtime.parallel import slices

NUMBERS_AT_ONCE = 2**18
"""In the covariances of some patterns of missing features together: 2 MB."""

FEW_ROWS = 8
"""Up to so many rows of a pattern, its covariances are taken together with those of others."""


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
        return self._rule_of(np.ones(len(self.unit), bool), self.log_priors)

    def _rule_of(self, seen: Bools, log_prior: Floats) -> QuadraticDiscriminants:
        """For rows of which these features, one or more, are seen."""
        parts = [self._part(k, seen) for k in range(len(self._covariances))]
        factors = [self._factor(part) for part in parts]
        if len(factors) == 1:
            factors *= len(self.mean)
        bundle = Bundle.of([0], [[factor] for factor in factors])
        # With one value, the variances go into the basis.
        basis = bundle.basis * np.sqrt(bundle.inverse).transpose(0, 2, 1)
        bundle = bundle._replace(basis=basis, inverse=np.ones_like(bundle.inverse))
        return QuadraticDiscriminants(self.mean[:, seen], self.unit[seen], log_prior, [bundle])

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
        """f_k at rows with missing features: an array (rows, K).

        Rows with the same features are looked at together; patterns that few rows have, many
        patterns together.
        """
        found = np.zeros((len(X), len(self.mean)))
        patterns, groups = _patterns(~np.isnan(X))
        few = np.array([len(rows) <= FEW_ROWS for rows in groups])
        alone = np.flatnonzero(few & patterns.any(axis=1) & self._regular)
        with np.errstate(over="ignore", invalid="ignore"):
            for part in slices(len(alone), max(1, NUMBERS_AT_ONCE // self._covariances.size)):
                some = alone[part]
                rows = np.concatenate([groups[g] for g in some])
                which = np.repeat(np.arange(len(some)), [len(groups[g]) for g in some])
                found[rows] = self._by_triangles(patterns[some], which, X[rows])
        done = np.zeros(len(groups), bool)
        done[alone] = [np.isfinite(found[groups[g]].sum()) for g in alone]
        for g in np.flatnonzero(~done & patterns.any(axis=1)):
            seen, rows = patterns[g], groups[g]
            rule = self._rule_of(seen, np.zeros(len(self.mean)))
            found[rows] = rule.values(X[np.ix_(rows, seen)])[:, :, 0]
        return found + self.log_priors

    def _by_triangles(self, patterns: Bools, which: Ints, X: Floats) -> Floats:
        """f_k without the priors, of rows of several patterns: Cholesky's decomposition of their
        covariances, in which a feature that is not seen is independent and of variance 1."""
        inverse = 1 / self._deviation
        correlation = self._covariances * (inverse[:, :, None] * inverse[:, None, :])
        both = patterns[:, :, None] & patterns[:, None, :]
        matrices = np.where(both[:, None], correlation, 0.0)
        np.einsum("gkjj->gkj", matrices)[:] = 1.0
        lower = np.linalg.cholesky(matrices)
        logs = np.log(np.einsum("gkjj->gkj", lower)).sum(axis=2)
        logs += np.einsum("gj,kj->gk", patterns, np.log(self._deviation))
        away = (measured(X, self.unit)[:, None] - self.mean) * inverse
        away = np.where(patterns[which][:, None], away, 0.0)
        if lower.shape[1] == 1:
            along = np.linalg.solve(lower[which, 0], away.swapaxes(1, 2)).swapaxes(1, 2)
        else:
            along = np.linalg.solve(lower[which], away[..., None])[..., 0]
        return -logs[which] - np.einsum("ikj,ikj->ik", along, along) / 2

    @property
    def _covariances(self) -> Floats:
        return self.covariance if self.covariance.ndim == 3 else self.covariance[None]

    @cached_property
    def _deviation(self) -> Floats:
        return np.sqrt(np.einsum("kjj->kj", self._covariances))

    @cached_property
    def _regular(self) -> bool:
        """Whether no covariance is near a singular one; then no part of it is either."""
        return self.cholesky and all(part.by_cholesky() is not None for part in self._whole)

    @cached_property
    def principal_axes(self) -> list[tuple[Floats, Floats]]:
        """Of each covariance the variances along its principal axes, falling, and these axes."""
        return [part.principal_axes() for part in self._whole]

    @property
    def _whole(self) -> list[Covariance]:
        """The covariances of all features."""
        every = np.ones(len(self.unit), bool)
        return [self._part(k, every) for k in range(len(self._covariances))]

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

    def _factor(self, part: Covariance) -> Factor:
        found = part.by_cholesky() if self.cholesky else None
        return part.factor(0.0) if found is None else found

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


def _patterns(seen: Bools) -> tuple[Bools, list[Ints]]:
    """The sets of features that are seen in some row, and the rows of each."""
    packed = np.packbits(seen, axis=1)
    _, first, which = np.unique(packed, axis=0, return_index=True, return_inverse=True)
    which = which.reshape(-1)
    order = np.argsort(which, kind="stable")
    return seen[first], np.split(order, np.cumsum(np.bincount(which))[:-1])


def _root(covariance: Floats) -> Floats:
    """R with R R' = Sigma. Columns without variance get exactly none."""
    deviation = np.sqrt(np.diagonal(covariance))
    inverse = np.divide(1.0, deviation, out=np.zeros_like(deviation), where=deviation > 0)
    variances, vectors = eigh(covariance * np.outer(inverse, inverse))
    return deviation[:, None] * vectors * np.sqrt(np.maximum(variances, 0.0))
