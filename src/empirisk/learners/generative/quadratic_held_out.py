"""Held-out predictions of Gaussian classes with covariances of their own."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from empirisk.data.blocks import Rows
from empirisk.data.class_moments import ClassMoments
from empirisk.learners.generative.class_covariances import (
    ClassCovariances,
    Point,
    all_bundles,
)
from empirisk.learners.generative.held_out import (
    Fitted,
    TrainingParts,
    predict_by_folds,
    refuse_condition,
)
from empirisk.learners.generative.quadratic import QuadraticDiscriminants
from empirisk.learners.generative.quadratic_leave_one_out import predict_left_out
from empirisk.learners.generative.settings import (
    by_cholesky,
    checked_flag,
    checked_priors,
    checked_tol,
)
from empirisk.learners.generative.tied_covariance import shares
from empirisk.risk.axis import Block, Output
from empirisk.risk.plans.plan import Plan


@dataclass(frozen=True, eq=False)
class UntiedParts(TrainingParts):
    """Training parts whose classes have covariances of their own, at some points."""

    points: Sequence[Point]
    scaled: bool
    cholesky: bool

    @classmethod
    def of_learner(
        cls,
        learner: Any,
        rows: Rows,
        n_classes: int,
        points: Sequence[Point],
        *,
        scaled: bool,
        fold_map: Any,
    ) -> Self:
        """Those of a learner at these points; `fold_map` is that of an encoder, or None."""
        return cls.of(
            rows,
            n_classes,
            priors=checked_priors(learner.priors, n_classes),
            tol=checked_tol(learner.tol),
            tied=False,
            unbiased=checked_flag(learner.unbiased, "unbiased"),
            fold_map=fold_map,
            points=points,
            scaled=scaled,
            cholesky=by_cholesky(learner.solver),
        )

    @property
    def numbers_in_a_rule(self) -> int:
        alphas = {point.alpha for point in self.points}
        return 2 * len(alphas) * self.total.scatter.size  # bases by themselves and side by side

    def learn(self, train: ClassMoments, where: str) -> Fitted:
        """The discriminants of a training part; refuses ill-conditioned covariances."""
        present, priors = self.present(train, where)
        lost = self.variation_lost(train)[present]
        before = self.total.scatter[present] / train.weight[present][:, None, None]
        train = train.present()
        mixtures = {
            alpha: ClassCovariances(
                train,
                alpha,
                self.unit,
                self.tol,
                lost=self.lost,
                scaled=self.scaled,
                cholesky=self.cholesky,
            )
            for alpha in dict.fromkeys(point.alpha for point in self.points)
        }
        for alpha, mixture in mixtures.items():
            deltas = {point.delta for point in self.points if point.alpha == alpha}
            if 0 in deltas:
                condition = float((mixture.condition(0.0) * lost).max())
                refuse_condition(condition, where, "of a class")
            if deltas - {0}:
                condition = mixture.condition_after(before, min(deltas - {0}))
                refuse_condition(condition, where, "of a class")
        with np.errstate(divide="ignore"):
            log_prior = np.log(shares(priors, train))
        bundles = all_bundles(self.points, mixtures)
        rule = QuadraticDiscriminants(train.mean, np.zeros_like(self.unit), log_prior, bundles)
        return Fitted(rule, present, len(self.total.rows))


def predict_folds(
    parts: UntiedParts, plan: Plan, output: Output, rows_per_block: int
) -> Iterator[Block]:
    """Predictions of the held-out rows of a partition, each fold by its own rule."""
    if plan.leaves_one_out and list(parts.points) == [Point(1.0, 0.0)]:
        return predict_left_out(parts, output, rows_per_block)
    return predict_by_folds(parts, plan, output, rows_per_block)
