"""Gaussian classes with covariances of their own, at several points (alpha, delta)."""

import warnings
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.base import clone

from empirisk.data.blocks import Blocks
from empirisk.data.class_moments import measured_moments
from empirisk.learners.generative.class_covariances import (
    ClassCovariances,
    Point,
    all_bundles,
)
from empirisk.learners.generative.class_densities import ClassDensities
from empirisk.learners.generative.complete_rows import has_missing
from empirisk.learners.generative.discriminants import decide
from empirisk.learners.generative.estimated_covariance import estimated_classes
from empirisk.learners.generative.held_out import MOST_NUMBERS, row_weight
from empirisk.learners.generative.quadratic import QuadraticDiscriminants
from empirisk.learners.generative.settings import (
    by_cholesky,
    checked_flag,
    checked_priors,
    checked_tol,
)
from empirisk.learners.generative.shrinkage import shrunken_classes
from empirisk.learners.generative.tied_covariance import divisor, shares
from empirisk.risk.axis import Output
from empirisk.runtime.arrays import Array, Floats
from empirisk.runtime.errors import RankWarning
from empirisk.runtime.parallel import one_blas_thread

DIFFERENT_ROWS = (
    "give the class rows that differ, or use RegularizedDiscriminantAnalysis with alpha below 1"
)
"""The remedy for a class whose rows are all the same, or that has one only."""


class QuadraticPath:
    """Regularised discriminant analysis at several points, from one pass over the moments.

    Parameters
    ----------
    learner : QuadraticDiscriminantAnalysis or RegularizedDiscriminantAnalysis
    blocks : Blocks
        The training rows; y are class codes.
    points : sequence of Point
    values : sequence
        What stands for the points along the axis of the learner.
    classes : array
    names : names of the columns, or None
    scaled : bool
        Whether shrinkage is towards a multiple of the identity, or the identity itself.
    by_the_data : str, optional
        How S_k is shrunken before, by "auto" or "oas".
    estimator : estimator, optional
        Of S_k, given by the user.
    """

    def __init__(
        self,
        learner: Any,
        blocks: Blocks,
        points: Sequence[Point],
        values: Sequence[Any],
        classes: Array,
        names: Sequence[str] | None,
        *,
        scaled: bool,
        by_the_data: str | None = None,
        estimator: Any = None,
    ) -> None:
        self.learner, self.points, self.values = learner, points, values
        self.classes = classes
        self._kept: list[ClassDensities] | None = None
        priors = checked_priors(learner.priors, len(classes))
        self.tol, self.cholesky = checked_tol(learner.tol), by_cholesky(learner.solver)
        unbiased = checked_flag(learner.unbiased, "unbiased")
        checked_flag(learner.store_covariance, "store_covariance")
        with one_blas_thread():
            self.moments, self.units = measured_moments(blocks, len(classes), tied=False)
            self.priors = shares(priors, self.moments)
            lost = row_weight(self.units) if unbiased else 0.0
            estimates = self._shrunken(blocks, by_the_data, lost)
            if estimator is not None:
                estimates = estimated_classes(estimator, self.moments, blocks, self.units)
            self.mixtures = {
                alpha: ClassCovariances(
                    self.moments,
                    alpha,
                    self.units.column,
                    self.tol,
                    lost=lost,
                    scaled=scaled,
                    cholesky=self.cholesky,
                    estimates=estimates,
                )
                for alpha in dict.fromkeys(point.alpha for point in points)
            }
            self._warn_if_singular(names)

    def _shrunken(self, blocks: Blocks, by_the_data: str | None, lost: float) -> Floats | None:
        self.shrinkage: Floats | None = None
        if by_the_data is None:
            return None
        measured = blocks.map(self.units.measure)
        found = shrunken_classes(self.moments, measured, self.units, by_the_data)
        grown = self.moments.weight / divisor(self.moments.weight, lost)
        self.shrinkage = found.shrinkage
        return found.each * grown[:, None, None]

    def predict_path(self, X: Floats, output: Output) -> Array:
        with one_blas_thread():
            if len(self.values) > 1 and not has_missing(X):
                return self._rule.predict(X, output)
            values = [densities.values(X) for densities in self._at_all_points()]
            return decide(np.concatenate(values, axis=2), output)

    def _at_all_points(self) -> Iterable[ClassDensities]:
        """Kept, unless they are too many."""
        if len(self.values) * self.moments.scatter.size > MOST_NUMBERS:
            return map(self.densities, range(len(self.values)))
        if self._kept is None:
            self._kept = [self.densities(j) for j in range(len(self.values))]
        return self._kept

    @cached_property
    def _rule(self) -> QuadraticDiscriminants:
        bundles = all_bundles(self.points, self.mixtures)
        log_prior = self.densities(0).log_priors
        return QuadraticDiscriminants(self.moments.mean, self.units.column, log_prior, bundles)

    def at(self, j: int) -> Any:
        learner = clone(self.learner)
        if learner.axis is not None:
            learner.set_params(**learner.axis.settings(self.values[j]))
        learner.n_features_in_ = len(self.units.column)
        return self.write(j, learner)

    def write(self, j: int, learner: Any) -> Any:
        """The fitted attributes at the j-th point."""
        alpha, delta = self.points[j]
        mixture = self.mixtures[alpha]
        learner.classes_ = self.classes
        learner.priors_ = self.priors
        learner.means_ = np.ldexp(self.moments.mean, self.units.column)
        learner.rank_ = mixture.rank_after(delta)
        learner._densities = self.densities(j)
        for of_last_fit in ("shrinkage_", "covariance_"):
            vars(learner).pop(of_last_fit, None)
        if self.shrinkage is not None:
            learner.shrinkage_ = self.shrinkage
        if learner.store_covariance:
            learner.covariance_ = mixture.in_units(delta)
        return learner

    def densities(self, j: int) -> ClassDensities:
        """Of the classes at the j-th point."""
        alpha, delta = self.points[j]
        first = self.mixtures[alpha].each[0]
        return ClassDensities(
            self.priors,
            self.moments.mean,
            self.mixtures[alpha].measured(delta),
            self.units.column,
            first.instead if delta == 0 else first.instead_shrunken,
            self.tol,
            self.cholesky,
        )

    def _warn_if_singular(self, names: Sequence[str] | None) -> None:
        """Of the largest alpha, whose covariances have the least rank."""
        plain = [point.alpha for point in self.points if point.delta == 0]
        mixture = self.mixtures[max(plain or self.mixtures)]
        labels = getattr(self.learner, "_labels", self.classes).tolist()
        why = mixture.why_singular(labels, names) if plain else mixture.why_zero(labels)
        remedy = f"drop columns, {self.learner.remedy}" if plain else DIFFERENT_ROWS
        if why is not None:
            least = mixture.each[0].least_variance
            warnings.warn(
                f"the covariance {why}; directions without variance get the variance "
                f"tol^2 = {least:.1e}: {remedy}",
                RankWarning,
                stacklevel=5,
            )
