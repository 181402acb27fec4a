"""Logistic regression by gradient descent and by stochastic gradient, with the way they took."""

from dataclasses import replace
from typing import Any

import numpy as np

from empirisk.learners.linear.logistic_fit import Fit
from empirisk.learners.linear.logistic_problem import LogisticProblem
from empirisk.runtime.arrays import Floats, Ints
from empirisk.runtime.errors import ParameterError
from empirisk.runtime.parallel import one_blas_thread
from empirisk.solvers.descent import Descent
from empirisk.solvers.gradient import gradient_descent
from empirisk.solvers.steps import Decaying
from empirisk.solvers.stochastic import stochastic_gradient

BATCH = 32


def fit_by_gradient(
    problem: LogisticProblem,
    C: float,
    solver: str,
    *,
    tol: float,
    max_iter: int,
    random_state: Any,
) -> tuple[Fit, Descent]:
    """The fit, and the trajectory of coefficients of the columns as given.

    What descends is the objective divided by the sum of the weights; each point of the
    trajectory has, for each score, the coefficients and then the intercept.
    """
    penalty, loss = problem.penalty(C), problem.loss
    if penalty.l1 > 0:
        raise ParameterError(
            f"solver={solver!r} needs a smooth penalty, but l1_ratio is {problem.l1_ratio}: "
            "set l1_ratio=0 or solver='auto'"
        )
    total = float(loss.weight.sum())

    def value(theta: Floats) -> float:
        return penalty.smooth(loss, theta)[0] / total

    def gradient(theta: Floats) -> Floats:
        return penalty.smooth(loss, theta)[1] / total

    mean_weight = total / len(loss.X)

    def of_rows(theta: Floats, rows: Ints) -> Floats:
        few = replace(loss, X=loss.X[rows], y=loss.y[rows], weight=loss.weight[rows], n_jobs=1)
        own = few.value_and_gradient(theta)[1] / (len(rows) * mean_weight)
        return own + penalty.l2 * penalty.on * theta / total

    start = problem.start()
    with one_blas_thread():
        if solver == "gradient":
            way = gradient_descent(value, gradient, start, max_iter=max_iter, tol=tol)
        else:
            way = stochastic_gradient(
                of_rows,
                start,
                len(loss.X),
                objective=value,
                step=Decaying(eta=1.0 / _curvature(loss, penalty, total), t0=len(loss.X), a=0.75),
                batch_size=min(BATCH, len(loss.X)),
                max_epochs=max_iter,
                tol=tol,
                random_state=random_state,
            )
    ending = "converged" if way.converged else "max_iter"
    none = np.zeros((len(start), 0))
    fit = Fit(way.minimiser, way.n_iter, ending, np.inf, none)  # its accuracy is not known
    raw = np.array([_raw(problem, point) for point in way.points])
    return fit, replace(way, minimiser=_raw(problem, way.minimiser), points=raw)


def _curvature(loss: Any, penalty: Any, total: float) -> float:
    """The mean squared length of a row over 4: about the largest curvature of a row's loss."""
    spread = loss.weight @ ((loss.X - loss.centre) ** 2).sum(axis=1) / total
    return 0.25 * (spread + loss.fit_intercept) + penalty.l2 / total


def _raw(problem: LogisticProblem, theta: Floats) -> Floats:
    coef, constant = problem.rule(theta)
    intercept = constant - coef @ problem.raw_centre
    return np.column_stack([coef, intercept]).reshape(-1)
