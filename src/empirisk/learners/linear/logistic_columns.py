"""Fitting logistic rules with an L1 penalty, on the columns that are needed.

Newton steps by coordinate descent fit the columns in use. Those that violate the optimality
conditions |dL/db_j| <= l1 then join them, until none does.
"""

from functools import partial

import numpy as np

from empirisk.learners.linear.logistic_fit import Fit
from empirisk.learners.linear.logistic_loss import LogisticLoss
from empirisk.learners.linear.logistic_objective import Penalty
from empirisk.runtime.arrays import Floats, Ints
from empirisk.solvers.proximal_newton import PenalisedMinimum, proximal_newton

ROUNDS = 100  # of adding columns to those in use
LEAST_JOINING = 100
"""Columns that may join at once, or as many as are in use."""
HOLD = 1e-6
"""Curvature, relative to that of one coefficient, along what is added to all scores alike."""


def fit_columns(
    loss: LogisticLoss, penalty: Penalty, start: Floats, *, tol: float, max_iter: int
) -> Fit:
    """The minimiser, from a start."""
    theta, steps, p = start, 0, loss.X.shape[1]
    shape = (loss.n_scores, loss.width)
    used = np.flatnonzero((theta.reshape(shape)[:, :p] != 0).any(axis=0))
    found: PenalisedMinimum | None = None
    for _ in range(ROUNDS):
        _, gradient = penalty.smooth(loss, theta)
        steep = np.abs(gradient.reshape(shape)[:, :p]).max(axis=0)
        steep[used] = 0.0
        needed = np.flatnonzero(steep > penalty.l1 * (1 + 1e-9))
        if found is not None and (len(needed) == 0 or found.ending == "max_iter"):
            break
        most = max(LEAST_JOINING, len(used))
        used = np.union1d(used, needed[np.argsort(-steep[needed], kind="stable")[:most]])
        theta, found = _with_columns(loss, penalty, theta, used, tol, max_iter - steps)
        steps += found.n_iter
    else:
        found = found and found._replace(ending="max_iter")
    assert found is not None
    accuracy = float(np.sqrt(found.gap / found.value)) if found.value > 0 else 0.0
    return Fit(theta, steps, found.ending, accuracy, np.zeros((len(start), 0)))


def _with_columns(
    loss: LogisticLoss, penalty: Penalty, theta: Floats, used: Ints, tol: float, max_iter: int
) -> tuple[Floats, PenalisedMinimum]:
    """The best rule that uses these columns alone."""
    few = loss.columns(used)
    own = np.append(used, loss.X.shape[1]) if loss.fit_intercept else used
    result = np.zeros_like(theta)
    if len(own) == 0:
        value, _ = few.value_and_gradient(np.zeros(0))
        return result, PenalisedMinimum(np.zeros(0), value, 0.0, 0, "converged")
    where = (np.arange(loss.n_scores)[:, np.newaxis] * loss.width + own).reshape(-1)
    part = Penalty(penalty.l2, penalty.l1, penalty.on[where])

    def hessian(own_theta: Floats) -> Floats:
        H = part.hessian(few, own_theta)
        if loss.n_scores > 1:
            _hold_shifts(H, len(own))
        return H

    def same_scores(own_theta: Floats) -> Floats:
        matrix = own_theta.reshape(loss.n_scores, -1)
        return least_penalty(matrix, part).reshape(-1) if loss.n_scores > 1 else own_theta

    found = proximal_newton(
        partial(part.smooth, few),
        hessian,
        part.l1 * part.on,
        theta[where],
        lowered=same_scores,
        tol=tol,
        max_iter=max_iter,
    )
    result[where] = found.point
    return result, found


def _hold_shifts(H: Floats, width: int) -> None:
    """Give curvature to what is added to all scores alike, which changes no probability.

    `least_penalty` sees to these directions.
    """
    for j in range(width):
        alike = np.arange(j, len(H), width)
        H[np.ix_(alike, alike)] += HOLD * float(np.diagonal(H)[alike].mean())


def least_penalty(matrix: Floats, penalty: Penalty) -> Floats:
    """Of all rules with the same probabilities, that of least penalty (classes, coordinates).

    They differ by a number m taken from the coefficients b of all classes in a column, and
    l1 sum_k |b_k - m| + l2 sum_k (b_k - m)^2 / 2 is least where m is the median of the K numbers
    b_k and of the K + 1 zeros of the derivative between them, mean + (l1 / l2) (K - 2i) / K (Li &
    Osher 2009). Without an L2 penalty it is the median of b. Constants sum to zero.

    Examples
    --------
    >>> l1 = Penalty(l2=0.0, l1=1.0, on=np.array([1.0]))
    >>> least_penalty(np.array([[3.0], [2.0], [-1.0]]), l1).T
    array([[ 1.,  0., -3.]])
    """
    K, width = matrix.shape
    mean = matrix.mean(axis=0)
    candidates = matrix
    if penalty.l2 > 0:
        between = penalty.l1 / penalty.l2 * (K - 2.0 * np.arange(K + 1)) / K
        candidates = np.vstack([matrix, mean + between[:, np.newaxis]])
    middle = np.median(candidates, axis=0)
    return matrix - np.where(penalty.on[:width] > 0, middle, mean)
