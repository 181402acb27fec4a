"""What a fitted ensemble says of itself by the rows that its members did not draw."""

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.metrics import accuracy_score, r2_score

from empirisk.learners.ensembles.draws import Draws
from empirisk.losses import Loss
from empirisk.risk.bagging.out_of_bag_curve import OutOfBagCurve
from empirisk.risk.bagging.out_of_bag_scores import OutOfBag
from empirisk.risk.cross_validation import is_measure
from empirisk.risk.problem import Problem
from empirisk.runtime.arrays import Array, Ints
from empirisk.runtime.errors import DataError, ParameterError
from empirisk.runtime.parallel import stream
from empirisk.runtime.scalars import is_flag

ATTRIBUTES = ("risk_", "risk_curve_", "oob_score_", "oob_prediction_", "oob_decision_function_")


def asked_loss(oob_score: Any) -> Loss | str | None:
    """The loss that `oob_score` asks for, None for the usual one."""
    if isinstance(oob_score, Loss) or (
        isinstance(oob_score, str) and not is_measure(oob_score, {})
    ):
        return oob_score
    if is_flag(oob_score) or callable(oob_score):
        return None
    raise ParameterError(
        f"oob_score is {oob_score!r}; give True, False, a loss or its name, or a function of y and "
        "predictions; for a measure such as 'auc' use risk.out_of_bag"
    )


def forget_judgement(ensemble: Any) -> None:
    """What an earlier fit was judged to be is not true of the next."""
    for name in ATTRIBUTES:
        vars(ensemble).pop(name, None)


def tell(
    bag: OutOfBag,
    members: Any,
    draws: Draws,
    seeds: Sequence[int],
    *,
    kept: Ints | None = None,
    n_jobs: int | None = None,
) -> None:
    """Hand to a bag what each member says of the rows that it did not draw, in order.

    `members` is what `members_of` gives; `kept` are the rows that the bag has, None for all.
    """

    def judge(b: int) -> tuple[Ints, Array]:
        lacks = draws.left_out(draws.counts(seeds[b]))
        if kept is not None:
            lacks = lacks[np.isin(lacks, kept)]
        rows = lacks if kept is None else np.searchsorted(kept, lacks)
        return rows, members.scores(b, lacks)

    for rows, scores in stream(judge, range(len(seeds)), n_jobs=n_jobs):
        bag.add(rows, scores)


def note_judgement(
    ensemble: Any, bag: OutOfBag, problem: Problem, kept: Ints | None, n: int
) -> None:
    """Write the out-of-bag risk and predictions of an ensemble that was fitted to n rows.

    The bag has the rows `kept` of them, None for all.
    """
    ensemble.risk_ = bag.estimate(problem)
    ensemble.risk_curve_ = OutOfBagCurve.of(bag, ensemble.risk_)
    rows = np.flatnonzero(bag.judged)
    scores, target, weight = bag.scores[rows], problem.target, problem.weight[rows]
    assert target is not None
    everywhere = _of_all_rows(bag, scores, kept, n, type(ensemble).__name__)
    if problem.classes is None:
        if len(rows) < 2:
            raise DataError(
                "one row is out of bag, and a score needs two: fit more members (n_estimators)"
            )
        ensemble.oob_prediction_ = everywhere
        usual, prediction, true = r2_score, scores, target[rows]
    else:
        ensemble.oob_decision_function_ = everywhere
        best = scores.argmax(axis=1)
        usual, prediction, true = (
            accuracy_score, problem.classes[best], problem.classes[target[rows]],
        )  # fmt: skip
    own = callable(ensemble.oob_score) and not isinstance(ensemble.oob_score, Loss)
    ensemble.oob_score_ = float(
        ensemble.oob_score(true, prediction)
        if own
        else usual(true, prediction, sample_weight=weight)
    )


def _of_all_rows(bag: OutOfBag, scores: Any, kept: Ints | None, n: int, name: str) -> Any:
    """Scores of all n rows: masked, NaN beneath, where no member left a row out or its weight is 0.

    So a mean over them is one over the rows that have a prediction.
    """
    kept = np.arange(n) if kept is None else kept
    there = kept[bag.judged]
    found = np.full((n, *scores.shape[1:]), np.nan)
    found[there] = scores
    never = len(kept) - len(there)
    if never:
        warnings.warn(
            f"{never} of {len(kept)} rows were drawn by every member of this {name}, and have no "
            "out-of-bag prediction (they are masked): fit more members (n_estimators)",
            UserWarning,
            stacklevel=5,
        )
    if len(there) == n:
        return found
    mask = np.ones(found.shape, dtype=bool)
    mask[there] = False
    return np.ma.MaskedArray(found, mask)
