"""How rows move the risk of a logistic rule through its coefficients."""

import numpy as np
from scipy.special import softmax

from empirisk.learners.linear.logistic_problem import LogisticProblem
from empirisk.learners.linear.row_influence import Scores, row_influence, score_slopes
from empirisk.losses import Loss
from empirisk.risk.intervals.influence import Influence
from empirisk.runtime.arrays import Floats


def logistic_influence(
    problem: LogisticProblem, theta: Floats, C: float, loss: Loss, weight: Floats
) -> Influence | None:
    """Of the risk by a loss, a mean with these weights; None of a loss without slopes."""
    trained, penalty = problem.loss, problem.penalty(C)
    basis, y, n = trained.basis, trained.y, len(weight)
    scores = Scores(trained.X, trained.centre, trained.n_scores, trained.fit_intercept)

    def probabilities(coordinates: Floats) -> Floats:
        return softmax(coordinates @ basis.T, axis=1)

    coordinates = scores.of(theta)
    slopes = score_slopes(loss, y, coordinates, basis, probabilities)
    if slopes is None:
        return None
    p, summed = probabilities(coordinates), trained.weight[:, np.newaxis]
    residual = p.copy()
    residual[np.arange(n), y] -= 1.0

    def bend(change: Floats) -> Floats:
        of_class = change @ basis.T
        mean = np.einsum("ik,ik->i", p, of_class)
        return (summed * p * (of_class - mean[:, np.newaxis])) @ basis

    free = (theta != 0) | (penalty.on == 0) if penalty.l1 > 0 else np.ones(len(theta), bool)
    share = weight / weight.sum()
    return row_influence(
        scores, slopes, share, summed * (residual @ basis), bend, penalty.l2 * penalty.on, free
    )
