"""Logistic loss with its penalty: what is minimised."""

from dataclasses import dataclass

import numpy as np

from empirisk.learners.linear.logistic_loss import LogisticLoss
from empirisk.runtime.arrays import Floats
from empirisk.solvers.inverse_hessian import InverseHessian, inverse_hessian


@dataclass(frozen=True, eq=False)
class Penalty:
    """l2 |b|^2 / 2 + l1 |b|_1, of all coordinates but the constants."""

    l2: float
    l1: float
    on: Floats  # 1 where a coordinate is penalised, else 0

    def smooth(self, loss: LogisticLoss, theta: Floats) -> tuple[float, Floats]:
        value, gradient = loss.value_and_gradient(theta)
        pull = self.l2 * self.on * theta
        return value + 0.5 * float(pull @ theta), gradient + pull

    def hessian(self, loss: LogisticLoss, theta: Floats) -> Floats:
        H = loss.hessian(theta)
        H[np.diag_indices_from(H)] += self.l2 * self.on
        return H

    def inverse(self, loss: LogisticLoss, theta: Floats) -> InverseHessian:
        return inverse_hessian(self.hessian(loss, theta))

    def diagonal(self, loss: LogisticLoss) -> Floats:
        """A bound of the diagonal of the Hessian: p (1 - p) <= 1/4."""
        squares = np.einsum("i,ij,ij->j", loss.weight, loss.X, loss.X)
        squares -= loss.weight.sum() * loss.centre**2
        if loss.fit_intercept:
            squares = np.append(squares, loss.weight.sum())
        bound = 0.25 * np.tile(np.maximum(squares, 0.0), loss.n_scores) + self.l2 * self.on
        return np.where(bound > 0, bound, 1.0)
