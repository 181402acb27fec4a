"""Logistic regression at several values of C from one training set."""

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import clone

from empirisk.data.blocks import Rows
from empirisk.learners.generative.discriminants import LinearDiscriminants
from empirisk.learners.linear.logistic_descent import fit_by_gradient
from empirisk.learners.linear.logistic_fit import Fit
from empirisk.learners.linear.logistic_influence import logistic_influence
from empirisk.learners.linear.logistic_penalty import (
    effective_C,
    effective_ratio,
    warn_of_penalty,
)
from empirisk.learners.linear.logistic_problem import Last, LogisticProblem
from empirisk.learners.linear.separation import FAR, Separation, SeparationWarning, separation_of
from empirisk.losses import Loss
from empirisk.risk.axis import Output
from empirisk.risk.intervals.influence import Influence
from empirisk.runtime.arrays import Array, Floats
from empirisk.runtime.column_names import named
from empirisk.runtime.errors import ConvergenceWarning, RankWarning
from empirisk.runtime.parallel import one_blas_thread
from empirisk.solvers.descent import Descent

ATTAINABLE = 1e-10
"""The accuracy that rounding errors allow, as a rule."""
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
        classes: Array | None = None,
    ) -> None:
        self.learner, self.values, self.n_classes = learner, values, n_classes
        self.classes = np.arange(n_classes) if classes is None else classes
        ratio = effective_ratio(learner)
        warn_of_penalty(learner)
        strengths = [effective_C(learner, value) for value in values]
        self.problem = LogisticProblem(
            rows,
            n_classes,
            fit_intercept=learner.fit_intercept,
            l1_ratio=ratio,
            penalised=not all(np.isinf(strengths)),
            n_jobs=learner.n_jobs,
            solver=learner._smooth_solver,
        )
        self.fits: list[Fit] = [None] * len(values)  # type: ignore[list-item]  # all are filled in
        self.solutions: dict[int, Descent] = {}
        self.separations: list[Separation | None] = [None] * len(values)
        point = None if start is None else start(self.problem)
        for j in np.argsort(strengths, kind="stable"):
            self.fits[j] = fit = self._fit(j, strengths[j], point)
            point = fit.theta
            if np.isinf(strengths[j]):
                self.separations[j] = self._report(fit, names)
            if self.separations[j] is None:
                self._say_if_short_of_tol(fit, strengths[j])
        self.problem.last = Last()  # a large matrix
        rules = [self.problem.rule(fit.theta) for fit in self.fits]
        coef = np.stack([rule[0] for rule in rules], axis=1)
        constant = np.stack([rule[1] for rule in rules], axis=1)
        self.rule = LinearDiscriminants(coef, constant, self.problem.raw_centre)

    def _fit(self, j: int, C: float, start: Floats | None) -> Fit:
        learner = self.learner
        limits: Any = {"tol": float(learner.tol), "max_iter": int(learner.max_iter)}
        if learner.solver not in ("gradient", "stochastic"):
            return self.problem.fit(C, start, **limits)
        fit, self.solutions[j] = fit_by_gradient(
            self.problem, C, learner.solver, random_state=learner.random_state, **limits
        )
        return fit

    def _report(self, fit: Fit, names: Sequence[str] | None) -> Separation | None:
        """Say why a fit without penalty has no solution, if it has none."""
        # Where a loose fit of separated rows ends, its decrement, about exp(-score), meets tol.
        far = min(FAR, -2 * np.log(max(fit.accuracy, 1e-300)) - np.log(len(self.problem.loss.X)))
        found = separation_of(self.problem, fit.theta, far)
        if found is not None:
            warnings.warn(found.message(names, self.classes), SeparationWarning, stacklevel=4)
            return found
        loss = self.problem.loss
        null = fit.null.reshape(loss.n_scores, loss.width, -1)
        if loss.n_scores == loss.n_classes:  # what is added to all scores says nothing of columns
            null = null - null.mean(axis=0)
        dependent = np.flatnonzero(np.abs(null).max(axis=(0, 2), initial=0.0) > NOTICEABLE)
        dependent = dependent[dependent < len(self.problem.centre)]
        if len(dependent):
            warnings.warn(
                f"column(s) {named(dependent, names)} are constant or depend on one another: of "
                "the coefficients that fit equally well those of least norm are returned",
                RankWarning,
                stacklevel=4,
            )
        return None

    def _say_if_short_of_tol(self, fit: Fit, C: float) -> None:
        tol, max_iter = self.learner.tol, self.learner.max_iter
        at = "no penalty" if np.isinf(C) else f"C = {C:g}"
        if fit.ending == "max_iter" and self.learner.solver != "stochastic":  # that never rests
            why = (
                f"did not reach tol = {tol:g} in max_iter = {max_iter} iterations: "
                "scale the columns alike, or raise max_iter"
            )
        elif fit.ending == "rounding" and fit.accuracy > max(tol, ATTAINABLE):
            why = (
                f"came to {fit.accuracy:.0e} instead of tol = {tol:g}, the limit of rounding "
                f"errors for {self._hard_to_add()}"
            )
        else:
            return
        warnings.warn(f"at {at} the solver {why}", ConvergenceWarning, stacklevel=4)

    def _hard_to_add(self) -> str:
        """What is too different to be added up, and what to do about it."""
        weight = self.problem.loss.weight
        ratio = weight.min() / weight.max()
        if ratio < np.finfo(float).eps:
            return f"rows whose weights are as {ratio:.0e} to 1: make them more alike"
        return "these columns: scale them alike, or drop some that nearly depend on others"

    def predict_path(self, X: Floats, output: Output) -> Array:
        with one_blas_thread():
            return self.rule.predict(X, output)

    def influence(self, j: int, loss: Loss, weight: Floats) -> Influence | None:
        """How rows of such weights move the risk through the coefficients at the j-th value."""
        C = effective_C(self.learner, self.values[j])
        if np.isinf(C):
            return None
        with one_blas_thread():
            return logistic_influence(self.problem, self.fits[j].theta, C, loss, weight)

    @property
    def degrees_of_freedom(self) -> Floats:
        """A coefficient for each column and one for the intercept, shrunken or not."""
        return np.full(len(self.values), len(self.rule.centre) + float(self.learner.fit_intercept))

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
        vars(learner).pop("solution_", None)  # of an earlier fit
        if j in self.solutions:
            learner.solution_ = self.solutions[j]
        return learner
