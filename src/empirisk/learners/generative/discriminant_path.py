"""Linear discriminant analysis at several shrinkages from one training set."""

import warnings
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from sklearn.base import clone

from empirisk.data.blocks import Blocks
from empirisk.data.class_moments import measured_moments
from empirisk.learners.generative.class_densities import ClassDensities
from empirisk.learners.generative.complete_rows import has_missing
from empirisk.learners.generative.discriminants import decide
from empirisk.learners.generative.estimated_covariance import check_alone, estimated_within
from empirisk.learners.generative.fisher import fisher_coordinates
from empirisk.learners.generative.held_out import MOST_NUMBERS, row_weight
from empirisk.learners.generative.settings import (
    BY_THE_DATA,
    by_cholesky,
    checked_components,
    checked_flag,
    checked_priors,
    checked_shrinkage,
    checked_tol,
)
from empirisk.learners.generative.shrinkage import ShrunkenClasses, shrunken_classes
from empirisk.learners.generative.tied_covariance import (
    TiedCovariance,
    pooled_divisor,
    shares,
    tied_discriminants,
)
from empirisk.risk.axis import Output
from empirisk.runtime.arrays import Array, Floats
from empirisk.runtime.errors import ParameterError, RankWarning
from empirisk.runtime.parallel import one_blas_thread

KEEPING = ("eigen", "lsqr")
"""Solvers of scikit-learn that leave `covariance_` whatever `store_covariance` is."""


class DiscriminantPath:
    """Linear discriminant analysis at several shrinkages, from one pass over the moments.

    A shrinkage by the data is the only one of its path.
    """

    def __init__(
        self,
        learner: Any,
        blocks: Blocks,
        values: Sequence[float | str | None],
        classes: Array,
        names: Sequence[str] | None,
    ) -> None:
        self.learner, self.values, self.classes = learner, values, classes
        self._kept: list[Any] | None = None
        check_alone(learner, values)
        self.by_the_data = _asks_the_data(values)
        self.shrinkages = [0.0] if self.by_the_data else [checked_shrinkage(v) for v in values]
        priors = checked_priors(learner.priors, len(classes))
        self.tol = checked_tol(learner.tol)
        self.cholesky = by_cholesky(learner.solver)
        unbiased = checked_flag(learner.unbiased, "unbiased")
        checked_flag(learner.store_covariance, "store_covariance")
        with one_blas_thread():
            self.moments, self.units = measured_moments(
                blocks, len(classes), tied=not self.by_the_data
            )
            self.priors = shares(priors, self.moments)
            lost = row_weight(self.units) if unbiased else 0.0
            self.covariance = self._covariance(blocks, lost)
            rule = tied_discriminants(self.covariance, self.priors, self.shrinkages)
        self.rule = rule.in_units(self.units.column)
        if 0 in self.shrinkages:
            self._warn_if_singular(names)

    def _covariance(self, blocks: Blocks, lost: float) -> TiedCovariance:
        moments, unit = self.moments, self.units.column
        self.shrunken: ShrunkenClasses | None = None
        estimate = None
        if self.by_the_data:
            measured = blocks.map(self.units.measure)
            self.shrunken = shrunken_classes(moments, measured, self.units, str(self.values[0]))
            grown = moments.weight.sum() / pooled_divisor(moments.weight, lost)
            estimate = self.shrunken.pooled * grown
        elif self.learner.covariance_estimator is not None:
            estimate = estimated_within(
                self.learner.covariance_estimator, moments, blocks, self.units
            )
        return TiedCovariance(
            moments, unit, self.tol, lost=lost, cholesky=self.cholesky, estimate=estimate
        )

    def predict_path(self, X: Floats, output: Output) -> Array:
        with one_blas_thread():
            if not has_missing(X):
                return self.rule.predict(X, output)
            values = [learner._values(X) for learner in self._at_all_values()]
            return decide(np.concatenate(values, axis=2), output)

    def _at_all_values(self) -> Iterable[Any]:
        """The learner at all shrinkages; kept, unless they are too large."""
        if len(self.values) * len(self.units.column) ** 2 > MOST_NUMBERS:
            return map(self.at, range(len(self.values)))
        if self._kept is None:
            self._kept = [self.at(j) for j in range(len(self.values))]
        return self._kept

    @property
    def degrees_of_freedom(self) -> Floats:
        """A coefficient for each column and one for the intercept, shrunken or not."""
        return np.full(len(self.values), len(self.units.column) + 1.0)

    def at(self, j: int) -> Any:
        learner = clone(self.learner).set_params(shrinkage=self.values[j])
        learner.n_features_in_ = len(self.units.column)
        return self.write(j, learner)

    def write(self, j: int, learner: Any) -> Any:
        """The fitted attributes at the j-th shrinkage."""
        rule, s = self.rule.at(j), self.shrinkages[j]
        learner.classes_ = self.classes
        learner.priors_ = self.priors
        learner.means_ = np.ldexp(self.moments.mean, self.units.column)
        learner.xbar_ = rule.centre
        learner.coef_ = rule.coef[:, 0]
        learner.intercept_ = rule.offset[:, 0] - learner.coef_ @ learner.xbar_
        # Kept beside the intercept, which for columns with a large mean has fewer digits.
        learner._offset = rule.offset[:, 0]
        learner.shrinkage_ = s if self.shrunken is None else self.shrunken.shrinkage
        learner.rank_ = self.covariance.rank if s == 0 else len(self.units.column)
        learner._densities = ClassDensities(
            self.priors,
            self.moments.mean,
            self.covariance.measured(s),
            self.units.column,
            self.covariance.instead,
            self.tol,
            self.cholesky,
        )
        vars(learner).pop("covariance_", None)  # of an earlier fit
        if learner.store_covariance or learner.solver in KEEPING:
            learner.covariance_ = self.covariance.in_units(s)
        self._write_coordinates(s, learner)
        return learner

    def _write_coordinates(self, s: float, learner: Any) -> None:
        p = len(self.units.column)
        wanted = checked_components(learner.n_components, min(len(self.priors) - 1, p))
        triangles = self.covariance.by_triangles if s == 0 else None
        factor = self.covariance.factor(s) if triangles is None else triangles
        found = fisher_coordinates(factor.whitening, self.moments.mean, self.priors, self.tol)
        with np.errstate(over="ignore"):
            scalings = np.ldexp(found.scalings, -self.units.column[:, None])
        total = found.separability.sum()
        learner.scalings_ = np.nan_to_num(scalings[:, :wanted])
        learner.separability_ = found.separability[:wanted]
        learner.explained_variance_ratio_ = learner.separability_ / (total if total > 0 else 1.0)

    def _warn_if_singular(self, names: Sequence[str] | None) -> None:
        why = self.covariance.why_singular(names)
        if why is not None:
            given = self.learner.covariance_estimator is not None
            advice = "give an estimator that shrinks" if given else "set shrinkage above 0"
            warnings.warn(
                f"the covariance within classes is singular: {why}; directions without variance "
                f"get the variance tol^2 = {self.covariance.least_variance:.1e}: drop columns, or "
                f"{advice}",
                RankWarning,
                stacklevel=5,
            )


def _asks_the_data(values: Sequence[Any]) -> bool:
    asks = [isinstance(value, str) and value in BY_THE_DATA for value in values]
    if any(asks) and len(values) > 1:
        raise ParameterError(
            f"values are {list(values)!r}: a shrinkage found from the data is one of its own; "
            "give numbers between 0 and 1"
        )
    return any(asks)
