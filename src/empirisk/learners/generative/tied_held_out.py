"""Held-out predictions of linear discriminant analysis.

At one shrinkage all splits are learned at once: see `fold_sums`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from empirisk.data.blocks import ROWS_PER_BLOCK
from empirisk.data.class_moments import ClassMoments
from empirisk.learners.generative.discriminants import decide
from empirisk.learners.generative.fold_sums import trained_discriminants
from empirisk.learners.generative.held_out import (
    Fitted,
    TrainingParts,
    predict_by_folds,
    refuse_condition,
)
from empirisk.learners.generative.tied_covariance import (
    TiedCovariance,
    shares,
    tied_discriminants,
)
from empirisk.risk.axis import Block, Output
from empirisk.risk.plans.parts import parts_of
from empirisk.risk.plans.plan import Plan
from empirisk.runtime.arrays import Floats, Ints
from empirisk.runtime.parallel import one_blas_thread


@dataclass(frozen=True, eq=False)
class TiedParts(TrainingParts):
    """Training parts whose classes share one covariance, at some shrinkages."""

    shrinkages: Sequence[float]

    def decisive(self) -> list[float]:
        """The shrinkages at which the covariance is worst conditioned, in its two scalings."""
        kinds = [s for s in self.shrinkages if s == 0], [s for s in self.shrinkages if s > 0]
        return [min(kind) for kind in kinds if kind]

    @property
    def numbers_in_a_rule(self) -> int:
        return len(self.shrinkages) * self.total.mean.size

    def learn(self, train: ClassMoments, where: str) -> Fitted:
        """The discriminants of a training part; refuses an ill-conditioned covariance."""
        present, priors = self.present(train, where)
        lost = float(self.variation_lost(train))
        train = train.present()
        covariance = TiedCovariance(train, self.unit, self.tol, lost=self.lost)
        for s in self.decisive():
            refuse_condition(covariance.condition(s) * lost, where)
        rule = tied_discriminants(covariance, shares(priors, train), self.shrinkages)
        return Fitted(rule, present, len(self.total.rows))


def predict_folds(
    parts: TiedParts, plan: Plan, output: Output, rows_per_block: int
) -> Iterator[Block]:
    """Predictions of the held-out rows of a partition, each fold by its own rule."""
    with one_blas_thread():
        values = _by_parts(parts, plan, min(rows_per_block, ROWS_PER_BLOCK))
    if values is not None:
        return ((r, rows, decide(value[:, :, None], output)) for r, rows, value in values)
    return predict_by_folds(parts, plan, output, rows_per_block)


def _by_parts(
    training: TiedParts, plan: Plan, rows_per_block: int
) -> Iterator[tuple[int, Ints, Floats]] | None:
    """All splits at once, at one shrinkage; None where there is no exact way."""
    parts = parts_of(plan)
    if parts is None or len(training.shrinkages) > 1 or training.fold_map is not None:
        return None
    shrinkage = training.shrinkages[0]
    if shrinkage > 0 and training.unit.any():  # columns are shrunken in a common unit
        return None
    rules = trained_discriminants(
        training.rows,
        training.total,
        parts,
        shrinkage,
        training.priors,
        training.tol,
        training.lost,
    )
    return None if rules is None else parts.linear(training.rows.X, *rules, rows_per_block)
