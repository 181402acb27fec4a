"""The true risk of a predictor in a known population, as a `RiskEstimate`: exact or Monte Carlo."""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import _num_samples

from empirisk.losses import Loss
from empirisk.risk.estimate import RiskEstimate
from empirisk.risk.foreign import foreign_prediction
from empirisk.risk.intervals.loss_table import LossTable
from empirisk.risk.plans.fingerprints import digest
from empirisk.risk.predictor import AnyPredictor, Task
from empirisk.risk.problem import Problem
from empirisk.runtime.arrays import Array, Floats
from empirisk.runtime.errors import ParameterError


class Known(NamedTuple):
    """A risk in closed form, and by which."""

    value: float
    reason: str


def prediction_of(predictor: Any, X: Any, loss: Loss, classes: Array | None) -> Array:
    """What the loss asks of a fitted predictor: numbers, class codes or probabilities."""
    if not hasattr(predictor, "predict"):
        if not callable(predictor):
            raise ParameterError(
                f"the predictor is {predictor!r}; give a fitted estimator or a function of X"
            )
        task: Task = "regression" if classes is None else "classification"
        predictor = AnyPredictor(predictor, task, loss.output)
    n = _num_samples(X)
    problem = Problem(
        X=X,
        y=None,
        target=np.zeros(n),
        classes=classes,
        weight=np.ones(n),
        weighted=False,
        groups=None,
        loss=loss,
    )
    return foreign_prediction(predictor, X, problem, loss.output)


def exact_risk(known: Known, loss: Loss, level: float) -> RiskEstimate:
    """A risk without error: the interval is the number itself."""
    return RiskEstimate(
        value=known.value,
        standard_error=0.0,
        interval=(known.value, known.value),
        level=level,
        estimates="this model",
        chosen_among=1,
        corrected=False,
        method="exact",
        reason=known.reason,
        loss=str(loss),
        table=None,
        fingerprint=digest("exact", str(known.value)),
    )


def monte_carlo_risk(
    losses: Floats, loss: Loss, level: float, *, reason: str, fingerprint: str
) -> RiskEstimate:
    """The mean of independent draws, whose mean is the risk, with its standard error."""
    n = len(losses)
    table = LossTable.of_test_rows(losses, np.ones(n), np.arange(n), loss.bounds)
    estimate = RiskEstimate.of(
        table, loss=str(loss), estimates="this model", fingerprint=fingerprint, level=level
    )
    if estimate.interval is None:
        return estimate
    return replace(estimate, method="Monte Carlo", reason=reason)
