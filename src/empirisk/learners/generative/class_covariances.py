"""The covariances of the classes, between one for each and one for all, and shrunken.

    S_k = scatter_k / n_k,    S = sum_k scatter_k / n
    A_k = alpha S_k + (1 - alpha) S
    Sigma_k = (1 - delta) A_k + delta t_k I,    t_k = trace A_k / p, or 1

alpha = 1 is quadratic, alpha = 0 linear discriminant analysis (Friedman 1989). For each alpha one
eigendecomposition of each A_k serves all delta > 0: they only move the eigenvalues.
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
from empirisk.learners.generative.quadratic import Bundle
from empirisk.learners.generative.tied_covariance import divisor, pooled_divisor
from empirisk.runtime.arrays import Floats, Ints

EASY_CONDITION = 1e4
"""Of a covariance whose columns need not be scaled to unit variance first."""


class Point(NamedTuple):
    """A value of the axis of regularised discriminant analysis."""

    alpha: float
    delta: float


class ClassCovariances:
    """A_k of all classes, for one alpha.

    Parameters
    ----------
    moments : ClassMoments
        With a scatter for each class, of columns measured in units of 2^unit.
    alpha : float
    unit : array of int of shape (p,)
    tol : float
    lost : float
        What each class takes from its weight, the divisor of maximum likelihood: 0, or the weight
        of one row, so that covariances are unbiased.
    scaled : bool
        Whether t_k is trace A_k / p, or 1.
    cholesky : bool
        Factor by Cholesky where there is no shrinkage and A_k is far from singular.
    estimates : array of shape (K, p, p), optional
        Other estimates of S_k, to be taken instead.
    """

    def __init__(
        self,
        moments: ClassMoments,
        alpha: float,
        unit: Ints,
        tol: float,
        *,
        lost: float = 0.0,
        scaled: bool = True,
        cholesky: bool = True,
        estimates: Floats | None = None,
    ) -> None:
        self.alpha, self.cholesky, self.rows = alpha, cholesky, moments.rows
        pooled = moments.within / pooled_divisor(moments.weight, lost)
        if alpha == 0:
            mixed = np.broadcast_to(pooled, moments.scatter.shape)
        else:
            below = divisor(moments.weight, lost)[:, None, None]
            own = moments.scatter / below if estimates is None else estimates
            mixed = alpha * own + (1 - alpha) * pooled
        rounding = rounding_of(moments.mean)
        instead = fallback_scale(pooled, mixed, moments.mean)
        self.each = [
            Covariance(matrix, unit, tol, rounding, instead, scaled=scaled, compared=True)
            for matrix in mixed
        ]

    def factors(self, delta: float) -> list[Factor]:
        """Of Sigma_k, each by itself."""
        return [self._factor(covariance, delta) for covariance in self.each]

    def _factor(self, covariance: Covariance, delta: float) -> Factor:
        found = covariance.by_cholesky() if delta == 0 and self.cholesky else None
        return covariance.factor(delta) if found is None else found

    def condition(self, delta: float) -> Floats:
        """The condition numbers of Sigma_k."""
        return np.array([covariance.condition(delta) for covariance in self.each])

    def condition_after(self, before: Floats, delta: float) -> float:
        """The largest condition number of Sigma_k with shrinkage, where rounding errors are those
        of the covariances (K, p, p) from which a part was taken away."""
        numbers = []
        for covariance, own in zip(self.each, before, strict=True):
            variances = covariance.shared(delta).variances
            largest = max(variances.max(), covariance.largest_variance(own))
            numbers.append(largest / variances.min() if variances.min() > 0 else np.inf)
        return float(max(numbers))

    def bundles(self, deltas: dict[int, float]) -> list[Bundle]:
        """All delta, by their places; those that share their eigenvectors together."""
        together = [j for j, delta in deltas.items() if self._shares(delta, len(deltas))]
        found = []
        if together:
            factors = [[c.shared(deltas[j]) for j in together] for c in self.each]
            found.append(Bundle.of(together, factors))
        for j, delta in deltas.items():
            if j not in together:
                found.append(Bundle.of([j], [[factor] for factor in self.factors(delta)]))
        return found

    def _shares(self, delta: float, several: int) -> bool:
        if delta == 0:
            easy = several > 1 and not any(c.constant_within.any() for c in self.each)
            return easy and all(
                c.shared(0.0).condition <= min(EASY_CONDITION, c.largest_condition(0.0))
                for c in self.each
            )
        return all(
            c.target > 0 and c.shared(delta).condition <= LARGEST_CONDITION for c in self.each
        )

    def measured(self, delta: float) -> Floats:
        """Sigma_k of the columns as they are measured: (K, p, p)."""
        return np.stack([covariance.measured(delta) for covariance in self.each])

    def in_units(self, delta: float) -> Floats:
        """Sigma_k in the units of the data: (K, p, p)."""
        return np.stack([covariance.in_units(delta) for covariance in self.each])

    @cached_property
    def rank(self) -> Ints:
        """Of A_k, the number of directions with variance."""
        return np.array([_rank(covariance) for covariance in self.each])

    def rank_after(self, delta: float) -> Ints:
        """Of Sigma_k: with shrinkage all directions have variance, unless A_k is 0."""
        if delta == 0:
            return self.rank
        return np.array([len(c.unit) if c.target > 0 else 0 for c in self.each])

    def why_zero(self, classes: Sequence[Any]) -> str | None:
        """In words, which Sigma_k is 0 with all shrinkage; None if none is."""
        zero = np.flatnonzero(self.rank_after(1.0) == 0)
        if len(zero) == 0:
            return None
        more = f" (and of {len(zero) - 1} more)" if len(zero) > 1 else ""
        return f"of class {classes[zero[0]]!r}{more} is 0, and stays so when shrunken"

    def why_singular(self, classes: Sequence[Any], names: Sequence[str] | None) -> str | None:
        """In words, which A_k has no inverse and why; None if all have one."""
        p = len(self.each[0].unit)
        singular = np.flatnonzero(self.rank < p)
        if len(singular) == 0:
            return None
        k = int(singular[0])
        freedom = int(self.rows[k] - 1 if self.alpha == 1 else (self.rows - 1).sum())
        reasons = "; ".join(_why(self.each[k], freedom, names))
        more = f" (and of {len(singular) - 1} more)" if len(singular) > 1 else ""
        return f"of class {classes[k]!r}{more} is singular: {reasons}"


def _rank(covariance: Covariance) -> int:
    return len(covariance.unit) if covariance.by_cholesky() is not None else covariance.rank


def _why(covariance: Covariance, freedom: int, names: Sequence[str] | None) -> list[str]:
    constant = np.flatnonzero(covariance.constant_within)
    clauses = [f"{columns_are(constant, names)} constant"] if len(constant) else []
    clauses += covariance.why_dependent(freedom, "", names)
    return clauses or ["some columns depend on others"]


def fallback_scale(pooled: Floats, each: Floats, mean: Floats) -> Floats:
    """By what a column that is constant in a class is measured: its deviation within the others,
    or else the distance of the class means; 0 if it does not vary at all.

    One that varies in few rows only is measured by its deviation in the class where that is
    largest: what counts as variation in one class must be measured in all.
    """
    deviation, distance = np.sqrt(np.diagonal(pooled)), np.ptp(mean, axis=0)
    largest = np.sqrt(np.einsum("kjj->kj", each).max(axis=0))
    rounding = rounding_of(mean)
    rare = np.where(largest > rounding, largest, 0.0)
    apart = np.where(distance > rounding, distance, rare)
    return np.where(deviation > rounding, deviation, apart)


def all_bundles(
    points: Sequence[Point], covariances: dict[float, ClassCovariances]
) -> list[Bundle]:
    """Of all points, from the covariances at each alpha."""
    found: list[Bundle] = []
    for alpha, own in covariances.items():
        found += own.bundles({j: p.delta for j, p in enumerate(points) if p.alpha == alpha})
    return found
