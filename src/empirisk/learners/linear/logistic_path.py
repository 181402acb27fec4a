"""Logistic regression at several values of C from one training set, each from the last one."""

import warnings
from collections.abc import Sequence
from numbers import Real
from typing import Any

import numpy as np
from sklearn.base import clone

from empirisk.data.blocks import Rows
from empirisk.learners.generative.discriminants import LinearDiscriminants
from empirisk.learners.linear.logistic_descent import fit_by_gradient
from empirisk.learners.linear.logistic_fit import Fit, LogisticProblem
from empirisk.learners.linear.separation import Separation, SeparationWarning, separation_of
from empirisk.risk.axis import Output
from empirisk.runtime.arrays import Array, Floats
from empirisk.runtime.errors import ConvergenceWarning, ParameterError, RankWarning
from empirisk.runtime.parallel import one_blas_thread
from empirisk.solvers.descent import Descent

NAMED = 5  # columns that a warning names
NOTICEABLE = 1e-6
"""The part that a column must have in a direction without curvature to be named."""


class LogisticPath:
    """Rules at all values of C, fitted from the most to the least penalised.

    `start`, a function of the problem, gives the point from which the first one is reached.
    """

    def __init__(
        self,
        learner: Any,
        rows: Rows,
        values: Sequence[Any],
        n_classes: int,
        names: Sequence[str] | None,
        start: Any = None,
    ) -> None:
        self.learner, self.values, self.n_classes = learner, values, n_classes
        strengths = [checked_C(value) for value in values]
        self.problem = LogisticProblem(
            rows,
            n_classes,
            fit_intercept=learner.fit_intercept,
            l1_ratio=checked_ratio(learner.l1_ratio),
            penalised=not all(np.isinf(strengths)),
            n_jobs=learner.n_jobs,
            solver=learner._smooth_solver,
        )
        self.fits: list[Fit] = [None] * len(values)  # type: ignore[list-item]
        self.solutions: dict[int, Descent] = {}
        self.separations: list[Separation | None] = [None] * len(values)
        point = None if start is None else start(self.problem)
        for j in np.argsort(strengths, kind="stable"):
            self.fits[j] = fit = self._fit(j, strengths[j], point)
            point = fit.theta
            if np.isinf(strengths[j]):
                self.separations[j] = self._report(fit, names)
            elif not fit.converged and learner.solver != "stochastic":  # which never comes to rest
                self._warn_not_converged(f"C = {strengths[j]:g}")
        rules = [self.problem.rule(fit.theta) for fit in self.fits]
        coef = np.stack([rule[0] for rule in rules], axis=1)
        constant = np.stack([rule[1] for rule in rules], axis=1)
        self.rule = LinearDiscriminants(coef, constant, self.problem.raw_centre)

    def _fit(self, j: int, C: float, start: Floats | None) -> Fit:
        learner = self.learner
        limits: Any = {
            "tol": checked_tol(learner.tol),
            "max_iter": checked_count(learner.max_iter),
        }
        if learner.solver not in ("gradient", "stochastic"):
            return self.problem.fit(C, start, **limits)
        fit, self.solutions[j] = fit_by_gradient(
            self.problem, C, learner.solver, random_state=learner.random_state, **limits
        )
        return fit

    def _report(self, fit: Fit, names: Sequence[str] | None) -> Separation | None:
        """Say why a fit without penalty has no solution, if it has none."""
        found = separation_of(self.problem, fit.theta, fit.step)
        if found is not None:
            warnings.warn(found.message(names), SeparationWarning, stacklevel=4)
            return found
        if not fit.converged:
            self._warn_not_converged("no penalty")
        used = np.abs(fit.null).reshape(self.problem.loss.n_scores, self.problem.loss.width, -1)
        dependent = np.flatnonzero(used.max(axis=(0, 2), initial=0.0) > NOTICEABLE)
        dependent = dependent[dependent < len(self.problem.centre)]
        if len(dependent):
            shown = [str(j) if names is None else repr(str(names[j])) for j in dependent[:NAMED]]
            more = f" and {len(dependent) - NAMED} more" if len(dependent) > NAMED else ""
            warnings.warn(
                f"column(s) {', '.join(shown)}{more} are constant or depend on one another: of "
                "the coefficients that fit equally well those of least norm are returned",
                RankWarning,
                stacklevel=4,
            )
        return None

    def _warn_not_converged(self, at: str) -> None:
        warnings.warn(
            f"at {at} the solver did not reach tol = {self.learner.tol:g} in max_iter = "
            f"{self.learner.max_iter} iterations: scale the columns alike, or raise max_iter",
            ConvergenceWarning,
            stacklevel=4,
        )

    def predict_path(self, X: Floats, output: Output) -> Array:
        with one_blas_thread():
            return self.rule.predict(X, output)

    @property
    def degrees_of_freedom(self) -> Floats:
        """trace (H + P)^-1 H, H the Hessian of the loss and P that of the penalty; with an L1
        penalty of the coefficients that are not zero."""
        with one_blas_thread():
            pairs = zip(self.values, self.fits, strict=True)
            return np.array([self.problem.freedom(checked_C(C), fit.theta) for C, fit in pairs])

    def at(self, j: int) -> Any:
        learner = clone(self.learner).set_params(C=self.values[j])
        learner.n_features_in_ = len(self.rule.centre)
        return self.write(j, learner, np.arange(self.n_classes))

    def write(self, j: int, learner: Any, classes: Array) -> Any:
        """The fitted attributes at the j-th value."""
        rule = self.rule.at(j)
        learner.classes_ = classes
        learner.coef_ = np.ascontiguousarray(rule.coef[:, 0])
        # Kept beside the intercept, which for columns with a large mean has fewer digits.
        learner._centre, learner._offset = rule.centre, np.ascontiguousarray(rule.offset[:, 0])
        learner.intercept_ = learner._offset - learner.coef_ @ learner._centre
        learner.n_iter_ = np.array([self.fits[j].n_iter], dtype=np.int32)
        learner.separation_ = self.separations[j]
        if j in self.solutions:
            learner.solution_ = self.solutions[j]
        return learner


def checked_C(value: Any) -> float:
    """C as a float above 0; infinite is no penalty."""
    if isinstance(value, Real) and not isinstance(value, bool) and float(value) > 0:
        return float(value)
    raise ParameterError(
        f"C is {value!r}; it must be a number above 0, the inverse of the penalty (np.inf: none)"
    )


def checked_ratio(value: Any) -> float:
    if isinstance(value, Real) and 0 <= float(value) <= 1:
        return float(value)
    raise ParameterError(f"l1_ratio is {value!r}; it must lie between 0 (L2) and 1 (L1)")


def checked_tol(value: Any) -> float:
    if isinstance(value, Real) and 0 <= float(value) < 1:
        return float(value)
    raise ParameterError(f"tol is {value!r}; it must be a number from 0 to below 1")


def checked_count(value: Any) -> int:
    if isinstance(value, int | np.integer) and not isinstance(value, bool) and value >= 0:
        return int(value)
    raise ParameterError(f"max_iter is {value!r}; it must be a whole number, 0 or more")
