"""A selection as one procedure that can itself be judged: nested selection."""

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin
from sklearn.model_selection import TimeSeriesSplit
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if

from empirisk.losses import Loss
from empirisk.risk.axis import Output
from empirisk.risk.choosing import Rule
from empirisk.risk.foreign import at_value, fit_foreign, losses_of_rows
from empirisk.risk.learner import along_axis
from empirisk.risk.plans.plan import Plan
from empirisk.risk.problem import Problem
from empirisk.runtime.arrays import Array
from empirisk.runtime.streams import spawn
from empirisk.selection.judging import choice_by, judge, winner_of


def _all_have_probabilities(procedure: "SelectionProcedure") -> bool:
    return all(hasattr(rival, "predict_proba") for rival in procedure.rivals.values())


class SelectionProcedure(MetaEstimatorMixin, BaseEstimator):
    """Cross-validate the rivals, choose one and its value, fit it on all rows.

    Judged by cross-validation, every training part chooses anew: the risk of the whole procedure,
    with nothing chosen on the rows that judge.
    """

    chooses: ClassVar[bool] = True

    def __init__(
        self,
        rivals: Mapping[str, Any],
        *,
        loss: Loss | str | None = None,
        cv: Any = None,
        rule: Rule = "best",
        random_state: Any = None,
    ) -> None:
        self.rivals = rivals
        self.loss = loss
        self.cv = cv
        self.rule = rule
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, groups: Any = None) -> Self:
        first = next(iter(self.rivals.values()))
        problem = Problem.of(
            first, X, y, loss=self.loss, sample_weight=sample_weight, groups=groups
        )
        fold_seed, fit_seed = spawn(0 if self.random_state is None else self.random_state, 2)
        plan = problem.plan(self.cv, random_state=fold_seed)
        choices, _ = judge(self.rivals, problem, plan, choice_by(self.rule), seed=fit_seed)
        self.name_ = winner_of(choices)
        chosen = choices[self.name_]
        winner = along_axis(self.rivals[self.name_], chosen.axis)
        winner = at_value(winner, chosen.axis, chosen.value)
        self.model_ = fit_foreign(winner, problem, fit_seed)
        return self

    def predict(self, X: Any) -> Array:
        return self.model_.predict(X)

    @available_if(_all_have_probabilities)
    def predict_proba(self, X: Any) -> Array:
        return self.model_.predict_proba(X)

    def losses_of_rows(self, X: Any, output: Output) -> Array:
        """Of rivals without labels: the loss of each row."""
        return losses_of_rows(self.model_, X, output)

    @property
    def classes_(self) -> Array:
        return self.model_.classes_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(next(iter(self.rivals.values())))
        tags.estimator_type = inner.estimator_type
        tags.classifier_tags = inner.classifier_tags
        tags.regressor_tags = inner.regressor_tags
        tags.input_tags = inner.input_tags
        tags.target_tags = inner.target_tags
        return tags


def inner_folds(cv: Any, plan: Plan) -> Any:
    """The folds of each training part of a plan that `cv` made: in time order where it is."""
    if plan.kind == "time":
        return TimeSeriesSplit(max(plan.n_splits, 2)) if isinstance(cv, Plan) else cv
    return cv if isinstance(cv, int | np.integer) else None
