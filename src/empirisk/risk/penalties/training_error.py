"""The error of a learner on the rows it was fitted to, to which penalties are added."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from empirisk.risk.estimate import Estimand, RiskEstimate
from empirisk.risk.foreign import fit_foreign, foreign_prediction
from empirisk.risk.intervals.interval import Interval
from empirisk.risk.intervals.loss_table import LossTable
from empirisk.risk.plans.fingerprints import data_key, digest
from empirisk.risk.problem import Problem
from empirisk.runtime.arrays import Array, Floats

TOO_GOOD = "the same rows trained the model, so that it is too good"
FIXED_ROWS = "it is for new outcomes at the same rows, and no valid interval is known"


@dataclass(frozen=True, eq=False)
class TrainingFit:
    """Predictions and losses of a learner at its own training rows."""

    problem: Problem
    prediction: Array
    losses: Floats

    @classmethod
    def of(cls, learner: Any, problem: Problem, seed: int | None) -> "TrainingFit":
        prediction = fitted_values(learner, problem, seed)
        losses = problem.row_losses(prediction)
        return cls(problem, prediction, losses)

    @property
    def n(self) -> float:
        """A row of weight w counts as w copies."""
        return float(self.problem.weight.sum())

    @property
    def error(self) -> float:
        return float(np.average(self.losses, weights=self.problem.weight))

    def training(self) -> RiskEstimate:
        """The training error itself."""
        return self.estimate(0.0, "none", TOO_GOOD, estimates="this model")

    def estimate(
        self,
        added: float,
        method: str,
        reason: str,
        *,
        estimates: Estimand = "the procedure at this n",
    ) -> RiskEstimate:
        """The training error and what a penalty adds to it, without an interval."""
        problem = self.problem
        table = LossTable(
            losses=self.losses + added,
            weight=problem.weight,
            unit=np.arange(problem.n),
            split=np.zeros(problem.n, dtype=np.int64),
            n_train=float(problem.n),
            kind="training",
            bounds=problem.loss.bounds,
        )
        low, high = problem.loss.bounds
        value = min(max(table.mean(), low), high)
        return RiskEstimate.of(
            table,
            loss=str(problem.loss),
            estimates=estimates,
            fingerprint=digest(data_key(problem.y, problem.weight), "training"),
            found=Interval(value, None, None, method, reason),
        )


def fitted_values(learner: Any, problem: Problem, seed: int | None) -> Array:
    """Predictions at the training rows; where all outcomes are of one class, that class."""
    output = problem.loss.output
    codes = problem.target
    if codes is not None and problem.classes is not None and (codes == codes[0]).all():
        sure = np.tile(np.eye(problem.n_classes)[codes[0]], (problem.n, 1))
        return codes.copy() if output == "value" else sure
    model = fit_foreign(learner, problem, seed)
    return foreign_prediction(model, problem.X, problem, output)
