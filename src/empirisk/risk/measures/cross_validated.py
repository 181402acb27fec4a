"""Measures of a procedure that fits a classifier, by cross-validation."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from empirisk.risk.intervals import NO_INTERVAL, none
from empirisk.risk.measures.judged import JudgedRows
from empirisk.risk.measures.measure import Measure, logit_interval
from empirisk.risk.measures.of_classifier import Kind, Name, kind_of, rows_of
from empirisk.risk.out_of_fold import OutOfFold, current_value
from empirisk.risk.plans import Plan
from empirisk.risk.problem import Problem, declared_axis
from empirisk.risk.work import Work
from empirisk.runtime.arrays import Array, Floats, Ints
from empirisk.runtime.deadlines import check_deadline
from empirisk.runtime.errors import DataError, ParameterError, PlanError
from empirisk.runtime.parallel import one_blas_thread
from empirisk.runtime.streams import settled


def cross_validate(
    estimator: Any,
    X: Any,
    y: Any,
    measure: Name = "auc",
    *,
    cv: Any = None,
    sample_weight: Any = None,
    groups: Any = None,
    level: float = 0.95,
    n_jobs: int | None = None,
    random_state: Any = None,
    **options: Any,
) -> Measure:
    """A measure of a procedure by cross-validation.

    Predicted classes are pooled over the splits (Forman and Scholz 2010). Scores of different
    models are not comparable, so AUC and average precision are found within each split and
    averaged with the weight of its rows. The standard error is that of the influences (LeDell,
    Petersen and van der Laan 2015), widened as for other cross-validated risks.

    Parameters
    ----------
    estimator : classifier or Pipeline
    X, y, cv, sample_weight, groups, level, n_jobs, random_state
        As in `risk.cross_validate`.
    measure, **options
        As in `evaluate`; AUC and average precision take `predict_proba`.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> print(cross_validate(LinearDiscriminantAnalysis(), X, y, "auc", random_state=0))
    The AUC (class 1) of the procedure at this n is 0.9906, 95 % interval 0.96... to 0.99...
    """
    kind = kind_of(measure)
    if kind.output == "probability" and not hasattr(estimator, "predict_proba"):
        raise ParameterError(
            f"the cross-validated {measure} takes class probabilities, and "
            f"{type(estimator).__name__} has no predict_proba"
        )
    loss = "zero_one" if kind.output == "value" else "log"
    problem = Problem.of(estimator, X, y, loss=loss, sample_weight=sample_weight, groups=groups)
    random_state = settled(random_state)
    plan = problem.plan(cv, random_state=random_state)
    losses, prediction = _held_out(estimator, problem, plan, n_jobs, random_state)
    rows = rows_of(problem, prediction, losses.row, plan.fingerprint)
    pseudo_losses, name, units = _by_split(kind, rows, losses.split, options)
    table = replace(losses.table(0), losses=pseudo_losses, bounds=(0.0, 1.0))
    found = logit_interval(table, level, units)
    if table.kind in NO_INTERVAL:
        found = none(table, found.centre, NO_INTERVAL[table.kind])
    return Measure.of(
        table,
        loss=name,
        estimates="this model" if table.is_model else "the procedure at this n",
        fingerprint=plan.fingerprint,
        level=level,
        found=found,
    )


def _held_out(
    estimator: Any, problem: Problem, plan: Plan, n_jobs: int | None, random_state: int | None
) -> tuple[OutOfFold, Array]:
    """The losses of a plan with the predictions that they come from, one for each entry."""
    values, axis = current_value(estimator, declared_axis(estimator))
    work = Work(estimator, axis, problem, None, random_state, n_jobs)
    if work.has_path:
        work = replace(work, problem=problem.designed(estimator))
    row, split = plan.entries
    shape = (len(row),) if problem.loss.output == "value" else (len(row), problem.n_classes)
    prediction = np.zeros(shape, dtype=np.int64 if problem.loss.output == "value" else float)
    check_deadline()
    with one_blas_thread():
        held_out, rung, why = work.held_out(plan, values)
        for r, rows, block in held_out.blocks:
            check_deadline()
            prediction[plan.place[r, rows]] = block[:, 0]
    losses = OutOfFold(
        values=values,
        complexity=np.zeros(1),
        plan=plan,
        row=row,
        split=split,
        losses=problem.losses(row, prediction[:, None]),
        weight=problem.weight[row],
        rung=rung,
        why=why,
        work=work,
        path=held_out.path,
    )
    return losses, prediction


def _by_split(
    kind: Kind, rows: JudgedRows, split: Ints, options: Mapping[str, Any]
) -> tuple[Floats, str, int]:
    """Value + influence of every entry, what is measured, and on how many units it rests."""
    if kind.output == "value":
        part, name = kind.of(rows, **options)
        return part.statistic.losses, name, part.units
    pseudo_losses = np.empty(rows.n)
    units = 0
    for s in np.unique(split):
        own = split == s
        try:
            part, name = kind.of(rows[own], **options)
        except DataError as error:
            raise PlanError(f"in split {s} {error}: use fewer or stratified folds") from error
        pseudo_losses[own] = part.statistic.losses
        units += part.units
    return pseudo_losses, name, min(units, rows.units)
