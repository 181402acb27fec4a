"""The rows that are set aside first, and the risk of the chosen model on them."""

from dataclasses import replace
from typing import Any

import numpy as np

from empirisk.losses import Loss
from empirisk.risk.cross_validation import evaluate
from empirisk.risk.dealing import copies_of_rows
from empirisk.risk.estimate import RiskEstimate
from empirisk.risk.plans import Plan
from empirisk.risk.problem import Problem
from empirisk.risk.splitters import kind_of


def is_in_time_order(cv: Any) -> bool:
    """Whether the folds are later than the rows that train: then so is the test part."""
    return (cv.kind if isinstance(cv, Plan) else kind_of(cv)) == "time"


def certify(
    model: Any, test: Problem, *, loss: Loss | str | None, level: float, time_order: bool
) -> RiskEstimate:
    """The risk of the model on rows that took no part; without an interval where they depend."""
    found = evaluate(
        model, test.X, test.y,
        loss=loss, sample_weight=test.weight, groups=test.groups, level=level,
    )  # fmt: skip
    assert found.table is not None
    return RiskEstimate.of(
        replace(found.table, kind="time" if time_order else "holdout"),
        loss=found.loss,
        estimates=found.estimates,
        fingerprint=found.fingerprint,
        level=level,
    )


def copies_stay_together(problem: Problem, folds: int = 10) -> bool:
    """Equal rows stay in one fold, unless the table is so coarse that they are all there is.

    With fewer than ten distinct rows a fold, keeping them together would leave whole cells of the
    table unseen in training.
    """
    distinct = len(np.unique(copies_of_rows(problem.X)))
    return 10 * folds <= distinct < problem.n
