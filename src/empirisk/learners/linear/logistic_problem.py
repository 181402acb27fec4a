"""Logistic rules on one training set, at one penalty after the other."""

from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import qr

from empirisk.data.blocks import Rows, compilable
from empirisk.data.scaling import ordinary_rows, scaled_penalty
from empirisk.learners.linear.logistic_columns import fit_columns
from empirisk.learners.linear.logistic_cost import Cost, rotation
from empirisk.learners.linear.logistic_fit import (
    DEAR,
    MOST_COEFFICIENTS,
    Fit,
    by_gradients,
    by_hessians,
    first_point,
)
from empirisk.learners.linear.logistic_loss import LogisticLoss
from empirisk.learners.linear.logistic_objective import Penalty
from empirisk.runtime.arrays import Floats
from empirisk.runtime.parallel import one_blas_thread
from empirisk.solvers.inverse_hessian import InverseHessian, inverse_hessian
from empirisk.solvers.quasi_newton import Inverse, Minimum

LARGEST = float(np.finfo(float).max)
FAR = 1e3
"""Distances from 0, in ranges of the column, beyond which columns are centred beforehand."""


NEAR = 4.0
"""Ratios of penalties at which one Hessian serves for both: its decrement errs by the root."""


LEAST = float(np.finfo(float).smallest_subnormal)
"""Of a weight, which may vanish beside the largest one: each class keeps some."""


class Last(NamedTuple):
    """What the last fit leaves to the next one on a path."""

    l2: float = 0.0
    n_gradients: int = 0
    inverse: InverseHessian | None = None
    made_at: float = 0.0  # the penalty of the inverse

    def inverse_near(self, l2: float) -> InverseHessian | None:
        return self.inverse if near(l2, self.made_at) else None


def near(l2: float, other: float) -> bool:
    """Whether both are penalties, of about the same strength."""
    return 0 < l2 <= NEAR * other and other <= NEAR * l2


class LogisticProblem:
    """A training set, brought to ordinary numbers, on which rules are fitted.

    X, positive weights, and class codes of which all occur. Without a penalty each column is
    scaled by itself, else all by one number.
    """

    def __init__(
        self,
        rows: Rows,
        n_classes: int,
        *,
        fit_intercept: bool,
        l1_ratio: float,
        penalised: bool,
        n_jobs: int | None = None,
        solver: str = "auto",
    ) -> None:
        self.l1_ratio, self.penalised, self.solver = l1_ratio, penalised, solver
        self.last = Last()
        scaled, self.scales = ordinary_rows(
            Rows(rows.X, np.zeros((len(rows.X), 0)), rows.weight), each=not penalised
        )
        X, weight = compilable(scaled.X), np.maximum(compilable(scaled.weight), LEAST)
        centre = (weight / weight.sum()) @ X if fit_intercept else np.zeros(X.shape[1])
        self.centre = centre
        if fit_intercept:
            low, high = X.min(axis=0), X.max(axis=0)
            constant = low == high
            centre[constant] = low[constant]  # their mean may differ in the last bit
            if (np.abs(centre) > FAR * (high - low)).any():  # scores would lose digits
                X, centre = X - centre, np.zeros_like(centre)
        y = compilable(rows.y.astype(np.int64))
        symmetric = l1_ratio > 0
        self.loss = LogisticLoss(
            X, y, weight, n_classes, centre, bool(fit_intercept), n_jobs, symmetric
        )

    def start(self) -> Floats:
        """No coefficients; the constants that fit the shares of the classes."""
        theta = np.zeros((self.loss.n_scores, self.loss.width))
        if self.loss.fit_intercept:
            share = np.bincount(self.loss.y, self.loss.weight, self.loss.n_classes)
            score = np.log(share)
            score -= score.mean()
            basis = self.loss.basis
            theta[:, -1] = score[1] - score[0] if self.loss.n_classes == 2 else score @ basis
        return theta.reshape(-1)

    def penalty(self, C: float, loss: LogisticLoss | None = None) -> Penalty:
        """That of C, for the loss of the rows or for the rotated one."""
        with np.errstate(divide="ignore", over="ignore", under="ignore"):
            strength = min(1.0 / C, LARGEST)  # times an l1_ratio of 0 or 1 no NaN
            scale, weight = float(self.scales.X[0]), self.scales.weight
            l2 = float(scaled_penalty(strength * (1 - self.l1_ratio), scale, weight))
            l1 = min(strength * self.l1_ratio / weight / scale, 1e300)
        loss = self.loss if loss is None else loss
        on = np.ones((loss.n_scores, loss.width))
        if loss.fit_intercept:
            on[:, -1] = 0.0
        return Penalty(l2, l1, on.reshape(-1))

    @cached_property
    def rotated(self) -> tuple[Floats, LogisticLoss]:
        """Q and the loss on X Q, as many columns as rows: all that rows can tell of coefficients.

        With an L2 penalty the solution is in their span.
        """
        Q, R = qr((self.loss.X - self.loss.centre).T, mode="economic", check_finite=False)
        centre = np.zeros(R.shape[1])
        return Q, replace(self.loss, X=np.ascontiguousarray(R.T), centre=centre)

    def fit(self, C: float, start: Floats | None, *, tol: float, max_iter: int) -> Fit:
        """The minimiser at C, from a start or from the shares of the classes."""
        penalty = self.penalty(C)
        limits: Any = {"tol": tol, "max_iter": max_iter}
        with one_blas_thread():
            if penalty.l1 > 0:
                theta = self.start() if start is None else start
                return fit_columns(self.loss, penalty, theta, **limits)
            found = self._smooth(C, penalty, start, **limits)
            theta, null = found.point, np.zeros((len(found.point), 0))
            if penalty.l2 == 0 and self._maybe_singular(found.inverse):
                # Far out, curvature may vanish along columns that are independent.
                null = inverse_hessian(self.loss.hessian(np.zeros_like(theta))).null
                theta = theta - null @ (null.T @ theta)  # the solution of least norm
        accuracy = found.decrement / np.sqrt(found.value) if found.value > 0 else 0.0
        return Fit(theta, found.n_iter, found.ending, accuracy, null)

    def rule(self, theta: Floats) -> tuple[Floats, Floats]:
        """Coefficients (classes or 1, p) of the columns as given and constants at the centre."""
        coef, constant = self.loss.rule(theta)
        if self.loss.n_classes > 2:
            coef, constant = self.loss.basis @ coef, self.loss.basis @ constant
        with np.errstate(over="ignore", under="ignore"):
            coef = coef / self.scales.X
        return np.clip(coef, -LARGEST, LARGEST), constant

    def theta(self, coef: Floats, constant: Floats) -> Floats:
        """The coordinates of a rule: the inverse of `rule`."""
        with np.errstate(over="ignore", under="ignore"):
            coef = coef * self.scales.X
        matrix = np.column_stack([coef, constant]) if self.loss.fit_intercept else coef
        if self.loss.n_classes > 2:
            matrix = self.loss.basis.T @ matrix
        return np.ascontiguousarray(matrix).reshape(-1)

    @property
    def raw_centre(self) -> Floats:
        """The centre of the columns as given."""
        return self.centre * self.scales.X

    def _smooth(
        self, C: float, penalty: Penalty, start: Floats | None, *, tol: float, max_iter: int
    ) -> Minimum:
        loss, begun = self.loss, 0
        point, inverse = self.start() if start is None else start, None
        size = self._least_size(penalty)
        if self.solver == "limited-memory" or (self.solver == "auto" and size > MOST_COEFFICIENTS):
            return by_gradients(loss, penalty, point, tol=tol, max_iter=max_iter)
        if self.solver == "auto" and start is None:
            point, inverse = first_point(loss, penalty, point)
        if self.solver == "auto" and inverse is None and size >= DEAR:
            if start is not None and self._shares(penalty):
                inverse = self.last.inverse_near(penalty.l2)
            else:
                tried = by_gradients(
                    loss, penalty, point, max_calls=self._trial(penalty), tol=tol, max_iter=max_iter
                )
                if tried.ending != "max_iter" or tried.n_iter >= max_iter:
                    self.last = Last(penalty.l2, tried.n_iter)
                    return tried
                point, begun = tried.point, tried.n_iter
        Q = None
        if size < loss.size:
            Q, loss = self.rotated
            penalty, point = self.penalty(C, loss), self._turn(point, Q)
        cost = -np.inf if self.solver == "newton" else Cost.of(loss).hessian
        found = by_hessians(
            loss, penalty, point, inverse, cost=cost, tol=tol, max_iter=max_iter - begun
        )
        if isinstance(found.inverse, InverseHessian):
            made = self.last.made_at if found.inverse is self.last.inverse else penalty.l2
            self.last = Last(penalty.l2, 0, found.inverse, made)
        point = found.point if Q is None else self._turn(found.point, Q.T)
        return found._replace(point=point, n_iter=found.n_iter + begun)

    def _trial(self, penalty: Penalty) -> float:
        """Steps of L-BFGS that cost as much as Newton's method, which goes on after them."""
        loss, cost = self.loss, self._least_cost(penalty)
        turned = cost.size < loss.size and "rotated" not in self.__dict__
        whole = cost.newton + (rotation(*loss.X.shape) if turned else 0.0)
        return whole / Cost.of(loss).gradient_step

    def _shares(self, penalty: Penalty) -> bool:
        """Whether Newton's method goes on from the last fit on the path: a Hessian is there, or
        L-BFGS took longer."""
        if not near(penalty.l2, self.last.l2):
            return False
        if self.last.inverse is not None:
            return True
        by_gradients = self.last.n_gradients * Cost.of(self.loss).gradient_step
        return by_gradients > self._least_cost(penalty).on_a_path

    def _least_cost(self, penalty: Penalty) -> Cost:
        size = self._least_size(penalty)
        return Cost(len(self.loss.X), size // self.loss.n_scores, self.loss.n_classes, size)

    def _maybe_singular(self, inverse: Inverse) -> bool:
        if isinstance(inverse, InverseHessian):
            return inverse.null.shape[1] > 0
        return self.loss.size <= MOST_COEFFICIENTS

    def _least_size(self, penalty: Penalty) -> int:
        """Coordinates that suffice: with an L2 penalty, as many as there are rows."""
        loss, n = self.loss, len(self.loss.X)
        if penalty.l1 > 0 or penalty.l2 == 0 or loss.X.shape[1] <= n:
            return loss.size
        return loss.n_scores * (n + loss.fit_intercept)

    def _turn(self, theta: Floats, Q: Floats) -> Floats:
        """Coordinates of b Q; the constants stay."""
        matrix = theta.reshape(self.loss.n_scores, -1)
        p = len(Q)
        return np.column_stack([matrix[:, :p] @ Q, matrix[:, p:]]).reshape(-1)
