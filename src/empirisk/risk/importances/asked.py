"""What is asked: data, and how they are judged; columns, and how they are permuted."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from empirisk.losses import Loss
from empirisk.risk.estimate import RiskEstimate
from empirisk.risk.importances.error import Rise
from empirisk.risk.importances.features import Features
from empirisk.risk.importances.judging import Judge
from empirisk.risk.importances.permuting import with_columns
from empirisk.risk.importances.result import How, Importance
from empirisk.risk.importances.words import covered, done, what_rises
from empirisk.risk.measures.of_classifier import Kind, kind_of, refuse_no_classifier
from empirisk.risk.problem import Problem


@dataclass(frozen=True, eq=False)
class Asked:
    """The data and how they are judged, as they came; `measure` is a name or False."""

    X: Any
    y: Any
    loss: Loss | str | None
    sample_weight: Any
    groups: Any
    level: float
    measure: str | bool
    options: dict[str, Any]

    def problem(self, estimator: Any, loss: Loss | str | None = None, **known: Any) -> Problem:
        if self.measure:
            loss = self.by_scores(estimator)
        return Problem.of(
            estimator,
            with_columns(self.X),
            self.y,
            loss=self.loss if loss is None else loss,
            sample_weight=self.sample_weight,
            groups=self.groups,
            **known,
        )

    def kind(self, estimator: Any) -> Kind | None:
        """The measure, which is one of classifiers."""
        if not self.measure:
            return None
        refuse_no_classifier(estimator, str(self.measure))
        return kind_of(str(self.measure), self.options)

    def by_scores(self, estimator: Any) -> str:
        """The loss that stands in for a measure, where members are asked for probabilities."""
        kind = self.kind(estimator)
        scores = kind is not None and kind.asks == "score" and hasattr(estimator, "predict_proba")
        return "log" if scores else "zero_one"


@dataclass(frozen=True, eq=False)
class Permutations:
    """Of which columns, by which seeds, and how they are judged."""

    how: How
    features: Any
    seeds: Sequence[int]
    n_jobs: int | None

    def result(
        self, found: Features, rises: list[Rise], judge: Judge, baseline: RiskEstimate
    ) -> Importance:
        repeats = np.stack([rise.repeats for rise in rises], axis=1)
        quantity = what_rises(judge.measure is not None, baseline)
        return Importance(
            names=found.names,
            values=np.array([rise.value for rise in rises]),
            standard_error=np.array([rise.standard_error for rise in rises]),
            interval=np.array([rise.ends for rise in rises]),
            level=judge.level,
            repeats=repeats,
            baseline=baseline,
            columns=found.members,
            quantity=quantity,
            method=done(self.how, quantity),
            covers=covered(self.how, judge.table, len(self.seeds)),
            how=self.how,
        )
