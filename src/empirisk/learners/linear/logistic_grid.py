"""The default grid of C."""

import numpy as np

from empirisk.data.blocks import Rows
from empirisk.learners.linear.logistic_problem import LogisticProblem
from empirisk.runtime.arrays import Floats

STEPS = 50
L2_RANGE = (10.0, 1e-6)
"""Penalties relative to the trace of the Hessian at no coefficients, and to its mean eigenvalue."""
L1_RANGE = (1e-4, 1e-2)
"""The smallest L1 penalty relative to that which leaves no coefficient: n > p, and else."""
C_RANGE = (1e-300, 1e300)


def grid_of_C(rows: Rows, n_classes: int, fit_intercept: bool, l1_ratio: float) -> list[float]:
    """C in 50 log steps, from the strongest penalty to the weakest.

    L2: from coefficients all but zero to all but unpenalised. With a share of L1: from the
    smallest penalty at which all coefficients are zero, down to a fraction of it (Friedman,
    Hastie & Tibshirani 2010).
    """
    problem = LogisticProblem(
        rows, n_classes, fit_intercept=fit_intercept, l1_ratio=l1_ratio, penalised=True
    )
    loss, scale, weight = problem.loss, float(problem.scales.X[0]), problem.scales.weight
    with np.errstate(over="ignore", under="ignore", divide="ignore"):
        if l1_ratio > 0 and n_classes > 1:  # of one class nothing is learned: it is refused later
            _, gradient = loss.value_and_gradient(problem.start())
            steepest = float(np.abs(gradient[problem.penalty(1.0).on > 0]).max())
            strongest = steepest / max(l1_ratio, 1e-3) * (scale * weight)
            weakest = strongest * L1_RANGE[loss.X.shape[1] >= len(loss.X)]
        else:
            trace = float(_spread(loss.X, loss.centre, loss.weight).sum()) / 4
            unit = scale * (scale * weight)
            strongest = L2_RANGE[0] * trace * unit
            weakest = L2_RANGE[1] * trace / min(loss.X.shape) * unit
        low = np.clip(1.0 / strongest, C_RANGE[0], C_RANGE[1] / 1e9) if strongest > 0 else 1.0
        high = np.clip(1.0 / weakest, low, C_RANGE[1]) if weakest > 0 else 1e9 * low
    return [float(C) for C in np.geomspace(low, high, STEPS)]


def _spread(X: Floats, centre: Floats, weight: Floats) -> Floats:
    """sum_i w_i (x_ij - centre_j)^2."""
    return np.einsum("i,ij,ij->j", weight, X - centre, X - centre, optimize=True)
