"""Linear discriminant analysis at several shrinkages from one training set."""

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from empirisk.data.blocks import Blocks
from empirisk.data.class_moments import Units, class_moments
from empirisk.learners.generative.tied_covariance import (
    TiedCovariance,
    shares,
    tied_discriminants,
)
from empirisk.risk.axis import Output
from empirisk.runtime.arrays import Array, Floats
from empirisk.runtime.errors import EmpiriskWarning, ParameterError, RankWarning
from empirisk.runtime.parallel import one_blas_thread


class DiscriminantPath:
    """Linear discriminant analysis at several shrinkages, from one pass over the moments."""

    def __init__(
        self,
        learner: Any,
        blocks: Blocks,
        values: Sequence[float | None],
        n_classes: int,
        names: Sequence[str] | None,
    ) -> None:
        self.learner, self.values = learner, values
        shrinkages = [checked_shrinkage(value) for value in values]
        priors = checked_priors(learner.priors, n_classes)
        tol = checked_tol(learner.tol)
        self.units = Units.of(blocks)
        with one_blas_thread():
            blocks = blocks.map(self.units.measure)
            self.moments = class_moments(blocks, n_classes, len(self.units.column))
            self.priors = shares(priors, self.moments)
            self.covariance = TiedCovariance(self.moments, self.units.column, tol)
            rule = tied_discriminants(self.covariance, self.priors, shrinkages)
        self.rule = rule.in_units(self.units.column)
        if 0 in shrinkages:
            self._warn_if_singular(names)

    def predict_path(self, X: Floats, output: Output) -> Array:
        with one_blas_thread():
            return self.rule.predict(X, output)

    @property
    def degrees_of_freedom(self) -> Floats:
        """A coefficient for each column and one for the intercept, shrunken or not."""
        return np.full(len(self.values), len(self.units.column) + 1.0)

    def at(self, j: int) -> Any:
        learner = clone(self.learner).set_params(shrinkage=self.values[j])
        learner.n_features_in_ = len(self.units.column)
        return self.write(j, learner, np.arange(len(self.priors)))

    def write(self, j: int, learner: Any, classes: Array) -> Any:
        """The fitted attributes at the j-th shrinkage."""
        rule = self.rule.at(j)
        learner.classes_ = classes
        learner.priors_ = self.priors
        learner.means_ = np.ldexp(self.moments.mean, self.units.column)
        learner.xbar_ = rule.centre
        learner.coef_ = rule.coef[:, 0]
        learner.intercept_ = rule.offset[:, 0] - learner.coef_ @ learner.xbar_
        # Kept beside the intercept, which for columns with a large mean has fewer digits.
        learner._offset = rule.offset[:, 0]
        if learner.store_covariance:
            learner.covariance_ = self.covariance.shrunken(checked_shrinkage(self.values[j]))
        return learner

    def _warn_if_singular(self, names: Sequence[str] | None) -> None:
        why = self.covariance.why_singular(names)
        if why is not None:
            warnings.warn(
                f"the covariance within classes is singular: {why}; directions without variance "
                f"get the variance tol^2 = {self.covariance.least_variance:.1e}: drop columns, or "
                "set shrinkage above 0",
                RankWarning,
                stacklevel=4,
            )


def checked_shrinkage(value: Any) -> float:
    """The shrinkage as a number; None is 0."""
    if value is None:
        return 0.0
    if not (_is_number(value) and 0 <= value <= 1):
        raise ParameterError(f"shrinkage is {value!r}; it must be None or lie between 0 and 1")
    return float(value)


def checked_tol(value: Any) -> float:
    """The tolerance, checked."""
    if not (_is_number(value) and 0 <= value < 1):
        raise ParameterError(f"tol is {value!r}; it must be a number from 0 to below 1")
    return float(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)


def checked_priors(priors: ArrayLike | None, n_classes: int) -> Floats | None:
    """The given shares of the classes, made to sum to one; None if they are to be learned."""
    if priors is None:
        return None
    given = np.asarray(priors, dtype=float)
    if given.shape != (n_classes,):
        raise ParameterError(
            f"priors has shape {given.shape}; with {n_classes} classes it needs {n_classes} numbers"
        )
    if not (np.isfinite(given).all() and (given >= 0).all() and given.any()):
        raise ParameterError(f"priors are {given}; they must be >= 0, finite and not all 0")
    if abs(given.sum() - 1) > 1e-5:
        warnings.warn(f"priors sum to {given.sum():.6g}: divided by it", EmpiriskWarning)
    return given / given.sum()
