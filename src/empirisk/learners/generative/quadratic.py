"""Quadratic discriminant functions of Gaussian classes.

f_k(x) = log pi_k - log det Sigma_k / 2 - (x - m_k)' Sigma_k^-1 (x - m_k) / 2
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from empirisk.learners.generative.covariance import Factor
from empirisk.learners.generative.discriminants import decide
from empirisk.risk.axis import Output
from empirisk.runtime.arrays import Array, Floats, Ints
from empirisk.runtime.parallel import slices

MODERATE = 200
"""Numbers up to 2^200, divided by variances above 2^-400, have squares far from overflow."""

NUMBERS_AT_ONCE = 2**17
"""In an array of one block, so that the few arrays it takes stay in the cache."""

LARGEST_MEASURED = 2.0**900


class Bundle(NamedTuple):
    """Covariances of all classes at some values of the axis, of one basis for each class."""

    which: Ints  # (v,), places among the values
    basis: Floats  # (K, p, r), r = p but for columns that were left out
    inverse: Floats  # (K, r, v), 1 / variances
    log_determinant: Floats  # (K, v)

    @classmethod
    def of(cls, which: Sequence[int], factors: Sequence[Sequence[Factor]]) -> "Bundle":
        """From the factors of each class at each value, which share a basis within the class."""
        variances = np.array([[factor.variances for factor in own] for own in factors])
        return cls(
            np.asarray(which),
            np.stack([own[0].basis for own in factors]),
            np.ascontiguousarray(1 / variances.transpose(0, 2, 1)),
            np.array([[factor.log_determinant for factor in own] for own in factors]),
        )


@dataclass(frozen=True, eq=False)
class QuadraticDiscriminants:
    """The discriminant functions of K classes, for V values of the axis at once.

    Parameters
    ----------
    mean : array of shape (K, p)
    unit : array of int of shape (p,)
        Columns are measured in units of 2^unit.
    log_prior : array of shape (K,)
    bundles : sequence of Bundle
        Each value is in one of them.
    """

    mean: Floats
    unit: Ints
    log_prior: Floats
    bundles: Sequence[Bundle]

    def values(self, X: Floats) -> Floats:
        """f_k at the rows of X, in the units of the data: an array (rows, K, V).

        Where they would leave the range of floating point, all those of the row are scaled down
        by one power of two.
        """
        found = np.empty((len(X), len(self.mean), sum(len(b.which) for b in self.bundles)))
        size = max(1, NUMBERS_AT_ONCE // (len(self.bundles) * self.mean.shape[1]))
        with np.errstate(over="ignore", invalid="ignore"):
            for part in slices(len(X), size):
                self._fill(found[part], measured(X[part], self.unit), np.zeros(1, np.int64))
            overflown = ~np.isfinite(found.sum(axis=(1, 2)))
        if overflown.any():
            rows = measured(X[overflown], self.unit)
            again = np.empty((len(rows), *found.shape[1:]))
            self._fill(again, rows, excess_exponent(rows))
            found[overflown] = again
        found += self.log_prior[:, None]
        return found

    def predict(self, X: Floats, output: Output) -> Array:
        """Class codes (rows, V), or probabilities (rows, V, K)."""
        return decide(self.values(X), output)

    def _fill(self, found: Floats, X: Floats, down: Ints) -> None:
        """Without the priors; where `down` is above 0, X is divided by 2^down."""
        for k, mean in enumerate(self.mean):
            away = X - mean
            if down.any():
                away = np.ldexp(away, -down[:, None])
            along = away @ self._bases[k]
            np.square(along, out=along)
            end = 0
            for bundle in self.bundles:
                begin, end = end, end + bundle.basis.shape[2]
                squared = along[:, begin:end] @ bundle.inverse[k]
                if down.any():
                    squared = np.ldexp(squared, np.minimum(2 * down, MODERATE)[:, None])
                squared += bundle.log_determinant[k]
                squared *= -0.5
                found[:, k, bundle.which] = squared

    @cached_property
    def _bases(self) -> list[Floats]:
        """Of each class, those of all bundles side by side."""
        return [np.hstack([b.basis[k] for b in self.bundles]) for k in range(len(self.mean))]


def measured(X: Floats, unit: Ints) -> Floats:
    """X in units of 2^unit; of numbers beyond all measure only the sign is left."""
    if not unit.any():
        return X
    with np.errstate(over="ignore"):
        return np.clip(np.ldexp(X, -unit), -LARGEST_MEASURED, LARGEST_MEASURED)


def excess_exponent(X: Floats) -> Ints:
    """By how many powers of two each row is above what can safely be squared."""
    largest = np.nanmax(np.abs(X), axis=1, initial=0.0)
    return np.maximum(np.frexp(largest)[1].astype(np.int64) - MODERATE, 0)
