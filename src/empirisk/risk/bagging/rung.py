"""Out-of-bag predictions of bagged ensembles in scikit-learn's form, at all values of an axis."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from empirisk.losses import Loss
from empirisk.risk.axis import Axis, HeldOut, Output, PathMixin
from empirisk.risk.bagging.out_of_bag_scores import OutOfBag, judged_by_members
from empirisk.risk.bagging.path import held_out_of_bags
from empirisk.risk.foreign import (
    at_value,
    fit_foreign,
    foreign_prediction,
    mean_loss,
    under_deadline,
)
from empirisk.risk.learner import learner_of
from empirisk.risk.plans.out_of_bag import OUT_OF_BAG
from empirisk.risk.predictor import name_of
from empirisk.risk.problem import Problem
from empirisk.runtime.arrays import Array, Floats
from empirisk.runtime.deadlines import check_deadline
from empirisk.runtime.errors import ParameterError
from empirisk.runtime.parallel import parallel
from empirisk.runtime.progress import track


def bagged_rung(
    estimator: Any,
    axis: Axis | None,
    problem: Problem,
    values: Sequence[Any],
    output: Output,
    *,
    rows_per_block: int,
    seed: int | None,
    n_jobs: int | None,
) -> HeldOut:
    """One fit per value on all rows, each with the same seed; the fitted models come along."""
    refuse_no_bagging(estimator)
    work = under_deadline(partial(_fit_and_judge, estimator, axis, problem, seed))
    fitted = parallel(work, track(list(values), "values"), n_jobs=n_jobs)
    models, bags = [model for model, _ in fitted], [bag for _, bag in fitted]
    path = FittedModels(models, problem)
    return held_out_of_bags(bags, path, problem.n_classes, output, rows_per_block)


def fit_and_judge(estimator: Any, problem: Problem, seed: int | None) -> tuple[Any, OutOfBag]:
    """The ensemble fitted on all rows, and what its members say of the rows that they lack."""
    check_deadline()
    model = fit_foreign(estimator, problem, seed)
    whole = replace(problem, kept=None)  # the model was fitted on the rows that are left
    return model, judged_by_members(model, whole, problem.n, n_jobs=None)


def _fit_and_judge(
    estimator: Any, axis: Axis | None, problem: Problem, seed: int | None, value: Any
) -> tuple[Any, OutOfBag]:
    return fit_and_judge(at_value(estimator, axis, value), problem, seed)


def refuse_no_bagging(estimator: Any) -> None:
    """Learners whose members do not tell which rows they drew, and steps that saw all rows."""
    learner, instead = learner_of(estimator), "give folds, such as cv=10"
    bags = hasattr(type(learner), "estimators_samples_") or own_plan(learner) == OUT_OF_BAG
    if not bags:
        raise ParameterError(
            f"cv='{OUT_OF_BAG}' is for bagged ensembles, whose members leave out rows, and "
            f"{name_of(learner)} is none: {instead}"
        )
    if learner is not estimator:
        raise ParameterError(
            f"cv='{OUT_OF_BAG}' would judge rows that the steps before {name_of(learner)} were "
            f"fitted to: {instead}, or put the steps inside, as in "
            "BaggingClassifier(make_pipeline(...))"
        )


def own_plan(estimator: Any) -> str | None:
    """The `cv` that a learner of this library takes where none is given, if not folds."""
    return estimator.own_plan if isinstance(estimator, PathMixin) else None


@dataclass(frozen=True, eq=False)
class FittedModels:
    """Models that were fitted to the labels of a problem, one for each value: a path."""

    models: Sequence[Any]
    problem: Problem

    def predict_path(self, X: Any, output: Output) -> Array:
        each = [foreign_prediction(model, X, self.problem, output) for model in self.models]
        return np.stack(each, axis=1)

    def at(self, j: int) -> Any:
        return self.models[j]

    def training_risk(self, loss: Loss) -> Floats:
        """The mean loss of each on the rows that trained."""
        problem = replace(self.problem, loss=loss)
        return np.array([mean_loss(model, problem) for model in self.models])

    @property
    def degrees_of_freedom(self) -> Floats:
        raise NotImplementedError("those of a smoother")
