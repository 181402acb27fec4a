"""Learners without labels along their complexity axis: the loss of each row is their prediction."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from empirisk.losses import Loss
from empirisk.risk.axis import Output, Path, PathMixin
from empirisk.risk.curves import RiskPath
from empirisk.risk.out_of_fold import out_of_fold
from empirisk.risk.problem import Problem
from empirisk.risk.rungs import default_values
from empirisk.runtime.arrays import Array, Floats
from empirisk.runtime.streams import settled


class FittedPath(Path):
    """A fitted learner for each value of an axis, where there is no shorter way to them.

    Parameters
    ----------
    learners : sequence of fitted learners
    """

    def __init__(self, learners: Sequence[Any]) -> None:
        self.learners = learners

    def predict_path(self, X: Array, output: Output) -> Floats:
        """The loss of each row, a column for each value."""
        return np.column_stack([learner.losses_of_rows(X, output) for learner in self.learners])

    def at(self, j: int) -> BaseEstimator:
        """The fitted learner at the j-th value."""
        return self.learners[j]


def risk_along_axis(
    learner: PathMixin,
    X: Any,
    values: Sequence[Any] | None,
    loss: Loss,
    *,
    cv: Any,
    sample_weight: Any,
    groups: Any,
    n_jobs: int | None,
    random_state: Any,
) -> RiskPath:
    """The risk at all values of the axis, on the same held-out rows, and the training risk.

    The value that is marked has the least risk, ties going to the simpler; without values, they
    are those of the default grid.
    """
    problem = Problem.of(
        learner, X, None, loss=loss, sample_weight=sample_weight, groups=groups
    ).designed(learner)
    random_state = settled(random_state)
    plan = problem.plan(cv, random_state=random_state)
    if values is None:
        values = default_values(learner, problem, plan.n_train)
    losses = out_of_fold(
        learner, problem, plan, values=list(values), n_jobs=n_jobs, random_state=random_state
    )
    return RiskPath.of(losses, losses.choose("best"))
