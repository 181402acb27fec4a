"""Degrees of freedom of L2-boosting: the trace of its hat matrix, round by round.

A weak learner that is linear in y, h = S y, gives f_t = B_t y with

    I - B_t = (I - rate S_t) ... (I - rate S_1) (I - B_0),

B_0 = 11'/n where the start is the mean of y, else 0; with one S it is (I - rate S)^t (I - B_0)
(Buehlmann & Yu 2003; Buehlmann & Hothorn 2007). The corrected AIC of Hurvich, Simonoff & Tsai
(1998), with n rows, mean squared residual s^2 and df = trace B_t,

    AICc = log s^2 + (1 + df/n) / (1 - (df + 2)/n),

is least after as many rounds as pay.
"""

from typing import Any

import numpy as np

from empirisk.compiled.boosting.columns import trace_of_hats
from empirisk.learners.ensembles.boosting.column_rounds import ColumnBoosting
from empirisk.learners.linear.least_squares import LinearRegression
from empirisk.learners.linear.ridge import Ridge
from empirisk.risk.penalties.linear_smoothers import MOST_ROWS, hat_matrix
from empirisk.runtime.arrays import Array, Floats
from empirisk.runtime.conversion import numbers
from empirisk.runtime.errors import ParameterError


def freedom_of_columns(boosting: ColumnBoosting, from_mean: bool) -> Floats:
    """After 0, 1, ... rounds, given the columns that were selected: as if they had been chosen
    before y was seen."""
    gram, number = boosting.products()
    trace = np.zeros(len(number) + 1)
    trace_of_hats(gram, number, boosting.rate, np.zeros_like(gram), trace)
    return trace + float(from_mean)


def is_linear_rule(estimator: Any) -> bool:
    """Whether an estimator is one whose hat matrix follows from few numbers, whatever n is."""
    return type(estimator) in (LinearRegression, Ridge) and not estimator.positive


def freedom_of_smoother(
    estimator: Any, X: Any, weight: Floats, *, rate: float, rounds: int, from_mean: bool
) -> Floats:
    """After 0, 1, ... rounds of a weak learner that is linear in y."""
    if is_linear_rule(estimator):
        return _of_linear_rule(estimator, X, weight, rate, rounds, from_mean)
    n = len(weight)
    if n > MOST_ROWS:
        raise ParameterError(
            f"stop is 'aic', and the hat matrix of {type(estimator).__name__} is found for up to "
            f"{MOST_ROWS} rows, of {n} here: use Tuned, or 'least_squares', Ridge or "
            "LinearRegression"
        )
    try:
        S = hat_matrix(estimator, X, sample_weight=None if (weight == 1).all() else weight)
    except ParameterError as error:
        raise ParameterError(
            f"stop is 'aic', and {type(estimator).__name__} is not linear in y, so its degrees "
            "of freedom are not known: use Tuned"
        ) from error
    return _freedom(S, np.ones(n), weight / weight.sum(), n, rate, rounds, from_mean)


def _of_linear_rule(
    rule: Any, X: Array, weight: Floats, rate: float, rounds: int, from_mean: bool
) -> Floats:
    """By the map of coefficients to those of the rule that is fitted to their predictions.

    It has the eigenvalues of S that are not zero, and as many rows as there are coefficients.
    """
    X = numbers(X, rule)
    scale = np.abs(X).max(axis=0)
    scale = np.where(scale > 0, scale, 1.0)
    targets = np.column_stack([np.ones(len(X)), X / scale])
    fitted = type(rule)(**rule.get_params()).fit(X, targets, sample_weight=weight)
    A = np.vstack([np.broadcast_to(fitted.intercept_, len(targets.T)), (fitted.coef_ * scale).T])
    one, share = np.eye(len(A))[0], weight / weight.sum()
    return _freedom(A, one, share @ targets, len(A), rate, rounds, from_mean)


def _freedom(
    S: Floats, one: Floats, mean: Floats, n: int, rate: float, rounds: int, from_mean: bool
) -> Floats:
    """n - trace (I - rate S)^t (I - B_0), by the eigenvalues of S; B_0 = one mean'."""
    left = 1.0 - rate * np.linalg.eigvals(S)
    powers = left[:, None] ** np.arange(rounds + 1)
    freedom: Floats = n - powers.sum(axis=0).real
    if from_mean:
        for t in range(rounds + 1):
            freedom[t] += mean @ one
            one = one - rate * (S @ one)
    return freedom


def corrected_aic(mean_squares: Floats, freedom: Floats, n: float) -> Floats:
    """AICc after each round; infinite where the rows do not allow so many degrees of freedom."""
    room = 1.0 - (freedom + 2.0) / n
    tiny = np.finfo(float).tiny
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.log(np.maximum(mean_squares, tiny)) + (1.0 + freedom / n) / room
    return np.where(room > 0, found, np.inf)
