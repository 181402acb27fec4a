"""The rows that are set aside first, and the risk of the chosen model on them."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from empirisk.losses import Loss
from empirisk.risk.cross_validation import evaluate
from empirisk.risk.estimate import RiskEstimate
from empirisk.risk.plans.dealing import copies_of_rows
from empirisk.risk.plans.plan import Plan
from empirisk.risk.plans.splitters import kind_of
from empirisk.risk.problem import Problem
from empirisk.runtime.arrays import Ints

FOLDS = 10
DISTINCT_IN_A_FOLD = 10
FEW_COPIES = 0.2


@dataclass(frozen=True, eq=False)
class Parts:
    """All rows, those that train, with the plan of their folds, and those that take no part."""

    whole: Problem
    train: Problem
    plan: Plan
    test: Problem
    test_rows: Ints
    time_order: bool


def set_aside(
    problem: Problem, cv: Any, test_size: float, *, split_seed: int, fold_seed: int
) -> Parts:
    """Set a test part aside, then plan the folds of the rest."""
    counted = cv is None or isinstance(cv, int | np.integer)
    time_order = is_in_time_order(cv)
    together = not time_order and copies_stay_together(problem)
    dealt = with_copies_as_groups(problem) if together else problem
    split = dealt.holdout(
        test_size,
        random_state=split_seed,
        keep_copies_together=together,
        time_order=time_order,
    )
    whole = dealt if counted else problem  # given folds may have copies on both sides
    train = whole.rows(split.train(0))
    plan = train.plan(
        cv,
        random_state=fold_seed if counted else None,
        keep_copies_together=together and counted,
    )
    test_rows = split.test(0) if problem.kept is None else problem.kept[split.test(0)]
    return Parts(whole, train, plan, dealt.rows(split.test(0)), test_rows, time_order)


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


def with_copies_as_groups(problem: Problem) -> Problem:
    """Rows that are dealt together are drawn together: one loss tells what those of its copies are.

    Where few rows have copies it makes no difference, and rows remain what intervals count.
    """
    units = copies_of_rows(problem.X)
    few = len(np.unique(units)) > (1 - FEW_COPIES) * len(np.unique(problem.unit))
    return problem if few else replace(problem, groups=units)


def copies_stay_together(problem: Problem) -> bool:
    """Equal rows stay in one fold, unless the table is so coarse that they are all there is.

    With fewer than ten distinct rows a fold, keeping them together would leave whole cells of the
    table unseen in training. Who gives groups has said what stays together: rows that groups share
    would join these, in the end to one.
    """
    if problem.groups is not None:
        return False
    distinct = len(np.unique(copies_of_rows(problem.X)))
    return DISTINCT_IN_A_FOLD * FOLDS <= distinct < problem.n
