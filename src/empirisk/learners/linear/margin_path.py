"""Linear classifiers by a margin loss at several strengths of the penalty."""

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn.base import clone

from empirisk.learners.generative.discriminants import LinearDiscriminants, largest
from empirisk.learners.linear.row_influence import Scores, row_influence, score_slopes
from empirisk.losses import Loss
from empirisk.losses.margin import Hinge, Perceptron, as_margin_loss
from empirisk.losses.margin_loss import MarginLoss
from empirisk.risk.axis import Output
from empirisk.risk.intervals.influence import Influence
from empirisk.runtime.arrays import Array, Floats, Ints
from empirisk.runtime.errors import ConvergenceWarning, ParameterError
from empirisk.runtime.parallel import one_blas_thread
from empirisk.runtime.scalars import is_number
from empirisk.solvers.margin_risk import (
    Arrival,
    MarginRisk,
    has_second_derivative,
    lasso_margin,
    ridge_margin,
)
from empirisk.solvers.margin_rows import MarginRows
from empirisk.solvers.perceptron import distinct_rows, perceptron
from empirisk.solvers.sparse_support_vectors import SparseSupportVectors
from empirisk.solvers.support_vectors import SupportVectors


class MarginPath:
    """One-against-rest problems at all strengths, each begun where the last one ended."""

    def __init__(
        self,
        learner: Any,
        X: Floats,
        y: Ints,
        weight: Floats,
        values: Sequence[Any],
        n_classes: int,
    ) -> None:
        self.learner, self.values, self.n_classes = learner, values, n_classes
        self.loss = checked_loss(learner.loss, learner.penalty)
        self.strengths = [checked_C(value) for value in values]
        self.weight, self.y = weight, y
        with one_blas_thread():
            self.rows = MarginRows.of(
                X, weight, fit_intercept=learner.fit_intercept, rotate=learner.penalty == "l2"
            )
            if isinstance(self.loss, Perceptron):
                self.distinct = distinct_rows(X, y)
            self.signs = one_against_rest(y, n_classes)
            solved = [self._solve(sign) for sign in self.signs]
        q, shape = self.rows.X.shape[1], (len(self.signs), len(values))
        self.points = points = np.array([[found.point for found in along] for along in solved])
        coef = np.array([[self.rows.raw(point[:q]) for point in along] for along in points])
        offset = points[:, :, -1] if learner.fit_intercept else np.zeros(shape)
        self.rule = LinearDiscriminants(coef, offset, self.rows.centre)
        self.n_iter = np.array([[arrival.n_iter for arrival in along] for along in solved])
        self.converged = np.array([[arrival.converged for arrival in along] for along in solved])
        self._warn(solved)

    def predict_path(self, X: Floats, output: Output) -> Array:
        """Class codes (rows, V), or probabilities (rows, V, K)."""
        with one_blas_thread():
            scores = self.rule.values(X)
        if output == "value":
            return largest(scores)
        if output == "probability":
            return probabilities(self.loss, scores)
        raise ParameterError(f"margin losses give a class or its probability, not {output!r}")

    @property
    def degrees_of_freedom(self) -> Floats:
        """A coefficient for each column and one for the intercept, shrunken or not."""
        p = self.rule.coef.shape[2]
        return np.full(len(self.values), p + float(self.learner.fit_intercept))

    def influence(self, j: int, loss: Loss, weight: Floats) -> Influence | None:
        """How rows of such weights move the risk through the coefficients at the j-th strength.

        None where the margin loss has no second derivative, or a kink that it leaves out.
        """
        if isinstance(self.loss, Hinge | Perceptron) or not has_second_derivative(self.loss):
            return None
        rows, theta = self.rows, self.points[:, j].reshape(-1)
        scores = Scores(rows.X, np.zeros(rows.X.shape[1]), len(self.signs), rows.fit_intercept)
        basis = np.array([[0.0], [1.0]]) if len(self.signs) == 1 else np.eye(self.n_classes)
        sign, share = np.column_stack(self.signs), rows.share[:, np.newaxis]
        penalised = np.ones((len(self.signs), rows.n_coefficients))
        penalised[:, rows.X.shape[1] :] = 0.0
        is_sparse = self.learner.penalty == "l1"
        strength = 0.0 if is_sparse else rows.penalty(self.strengths[j], 2)
        with one_blas_thread():
            f = scores.of(theta)

            def predict(f: Floats) -> Floats:
                return probabilities(self.loss, f[:, :, np.newaxis])[:, 0]

            slopes = score_slopes(loss, self.y, f, basis, predict)
            if slopes is None:
                return None
            curvature = share * self.loss.second_derivative(sign * f)
            return row_influence(
                scores,
                slopes,
                weight / weight.sum(),
                share * sign * self.loss.derivative(sign * f),
                lambda change: curvature * change,
                strength * penalised.reshape(-1),
                (theta != 0) | (penalised.reshape(-1) == 0) | (not is_sparse),
            )

    def at(self, j: int) -> Any:
        """The fitted learner at the j-th strength."""
        learner = clone(self.learner).set_params(C=self.values[j])
        learner.n_features_in_ = self.rule.coef.shape[2]
        return self.write(j, learner, np.arange(self.n_classes))

    def write(self, j: int, learner: Any, classes: Array) -> Any:
        """The fitted attributes at the j-th strength."""
        learner.classes_ = classes
        learner.coef_ = self.rule.coef[:, j].copy()
        # Kept beside the intercept, which for columns with a large mean has fewer digits.
        learner._offset, learner._centre = self.rule.offset[:, j].copy(), self.rule.centre
        learner.intercept_ = intercept_of(learner)
        learner.n_iter_ = int(self.n_iter[:, j].max())
        learner.converged_ = bool(self.converged[:, j].all())
        learner._rows_seen, learner._steps = len(self.weight), 0
        learner._fitted_loss = learner.loss
        learner._unit = learner._square = None  # measured by `partial_fit`
        return learner

    def _solve(self, sign: Floats) -> list[Arrival]:
        """The optima of one problem in the order of the values."""
        max_iter = self.learner.max_iter
        if isinstance(self.loss, Perceptron):
            found = perceptron(self.rows, sign, self.weight, *self.distinct, max_iter)
            return [found] * len(self.strengths)
        power = 1 if self.learner.penalty == "l1" else 2
        arrivals: list[Any] = [None] * len(self.strengths)
        solve = self._solver(sign, power)
        for j in np.argsort(self.strengths, kind="stable"):
            arrivals[j] = solve(self.rows.penalty(self.strengths[j], power))
        return arrivals

    def _solver(self, sign: Floats, power: int) -> Callable[[float], Arrival]:
        """From a strength to the optimum; the next one begins at the last."""
        max_iter = self.learner.max_iter
        if isinstance(self.loss, Hinge):
            machine = SparseSupportVectors if power == 1 else SupportVectors
            return machine(self.rows, sign, max_iter).at
        risk = MarginRisk(self.rows, sign, self.loss)
        minimum = lasso_margin if power == 1 else ridge_margin
        last = risk.zero

        def solve(strength: float) -> Arrival:
            nonlocal last
            arrival = minimum(risk, strength, last, max_iter)
            last = arrival.point
            return arrival

        return solve

    def _warn(self, solved: list[list[Arrival]]) -> None:
        """Of the perceptron nothing is said: that no rule is without mistakes is no failure."""
        if self.converged.all() or isinstance(self.loss, Perceptron):
            return
        k, j = np.argwhere(~self.converged)[0]
        arrival = solved[k][j]
        warnings.warn(
            f"the minimum at C = {self.values[j]:g} was not reached: {arrival.reason}; "
            f"{arrival.advice}",
            ConvergenceWarning,
            stacklevel=4,
        )


def one_against_rest(y: Ints, n_classes: int) -> list[Floats]:
    """Signs +1 of the class and -1 of the others, for each class; of two, for the second alone."""
    positive = [1] if n_classes == 2 else range(n_classes)
    return [np.where(y == k, 1.0, -1.0) for k in positive]


def probabilities(loss: MarginLoss, scores: Floats) -> Floats:
    """P(class) from scores (rows, K or 1, V): those of each class against the rest, divided by
    their sum; equal ones where all are 0."""
    p = loss.probability(scores)
    if scores.shape[1] == 1:
        return np.stack([1.0 - p[:, 0], p[:, 0]], axis=-1)
    p = np.moveaxis(p, 1, -1)
    total = p.sum(axis=-1, keepdims=True)
    return np.where(total > 0, p / np.where(total > 0, total, 1.0), 1.0 / p.shape[-1])


def intercept_of(learner: Any) -> Floats:
    """The functions at x = 0."""
    with np.errstate(over="ignore", invalid="ignore"):
        return np.nan_to_num(learner._offset - learner.coef_ @ learner._centre)


def checked_loss(loss: Any, penalty: Any) -> MarginLoss:
    """The loss, next to a penalty that there is."""
    if not (isinstance(penalty, str) and penalty in ("l1", "l2")):
        raise ParameterError(f'penalty is {penalty!r}; it must be "l1" or "l2"')
    return as_margin_loss(loss)


def checked_C(C: Any) -> float:
    """C as a number above 0."""
    if is_number(C) and C > 0:
        return float(C)
    raise ParameterError(f"C is {C!r}; it must be a number above 0")
