"""Held-out predictions of linear discriminant analysis without fitting each split.

The class moments of a training part are those of all rows minus those of the fold. At one
shrinkage all splits are learned at once: see `fold_sums`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from empirisk.data.blocks import ROWS_PER_BLOCK, Blocks, Rows
from empirisk.data.class_moments import ClassMoments, Units, class_moments
from empirisk.data.encode import FoldMap
from empirisk.learners.generative.discriminants import LinearDiscriminants, among_all, decide
from empirisk.learners.generative.fold_sums import trained_discriminants
from empirisk.learners.generative.tied_covariance import (
    LARGEST_CONDITION,
    TiedCovariance,
    shares,
    tied_discriminants,
)
from empirisk.risk.axis import Block, CannotSubtractError, Output
from empirisk.risk.parts import parts_of
from empirisk.risk.plans import Plan
from empirisk.runtime.arrays import Array, Floats, Ints
from empirisk.runtime.deadlines import check_deadline
from empirisk.runtime.parallel import one_blas_thread, slices

LEAST_SHARE = 1e-4
"""Of the weight of a class that must remain, so that subtraction keeps 12 digits of its mean."""


@dataclass(frozen=True, eq=False)
class Fitted:
    """The discriminants of the classes that a training part has.

    Behind an encoder they are for X A + b, and `encoding` is (A, b).
    """

    rule: LinearDiscriminants
    present: Ints
    n_classes: int
    encoding: tuple[Floats, Floats] | None = None

    def predict(self, X: Floats, output: Output) -> Array:
        """Predictions of all classes; those that were absent get probability 0."""
        if self.encoding is not None:
            X = X @ self.encoding[0] + self.encoding[1]
        return decide(among_all(self.rule.values(X), self.present, self.n_classes), output)


@dataclass(frozen=True, eq=False)
class TrainingParts:
    """All rows, measured so that no square overflows, and what to learn from parts of them."""

    rows: Rows
    unit: Ints
    total: ClassMoments
    shrinkages: Sequence[float]
    priors: Floats | None
    tol: float
    fold_map: FoldMap | None = None

    @classmethod
    def of(
        cls,
        rows: Rows,
        n_classes: int,
        shrinkages: Sequence[float],
        priors: Floats | None,
        tol: float,
        fold_map: FoldMap | None = None,
    ) -> "TrainingParts":
        units = Units.of(Blocks.of_arrays(*rows))
        rows = units.measure(rows)
        with one_blas_thread():
            total = class_moments(Blocks.of_arrays(*rows), n_classes, rows.X.shape[1])
        return cls(rows, units.column, total, shrinkages, priors, tol, fold_map)

    def decisive(self) -> list[float]:
        """The shrinkages at which the covariance is worst conditioned, in its two scalings."""
        kinds = [s for s in self.shrinkages if s == 0], [s for s in self.shrinkages if s > 0]
        return [min(kind) for kind in kinds if kind]

    def without(self, test: Ints, split: int) -> Fitted:
        """What is learned without the rows `test`; refuses where subtraction is inexact."""
        check_deadline()
        fold = ClassMoments.empty(len(self.total.rows), len(self.unit))
        X, y, weight = self.rows
        for part in slices(len(test), ROWS_PER_BLOCK):
            i = test[part]
            fold = fold + ClassMoments.of(X[i], y[i], weight[i], len(fold.rows))
        train = self.total - fold
        kept = train.rows > 0
        share = train.weight[kept] / self.total.weight[kept]
        if share.size and share.min() < LEAST_SHARE:
            raise CannotSubtractError(
                f"split {split} holds out all but {share.min():.1e} of the weight of a class"
            )
        return (
            self.learn(train, f"split {split}")
            if self.fold_map is None
            else self._encoded(train, self.fold_map, f"split {split}")
        )

    def _encoded(self, train: ClassMoments, fold_map: FoldMap, where: str) -> Fitted:
        """What is learned where the training part is encoded as X A + b."""
        A, b = fold_map(train.pooled())
        behind = replace(self, total=self.total.mapped(A, b), unit=np.zeros(A.shape[1], np.int64))
        return replace(behind.learn(train.mapped(A, b), where), encoding=(A, b))

    def learn(self, train: ClassMoments, where: str) -> Fitted:
        """The discriminants of a training part; refuses an ill-conditioned covariance."""
        present = np.flatnonzero(train.rows)
        if len(present) < 2:
            raise CannotSubtractError(f"{where} trains on one class only")
        priors = None if self.priors is None else self.priors[present]
        if priors is not None and not priors.any():
            raise CannotSubtractError(f"{where} trains on classes of prior probability 0 only")
        lost = self._variation_lost(train)
        train = train.present()
        covariance = TiedCovariance(train, self.unit, self.tol)
        for s in self.decisive():
            refuse_condition(covariance.condition(s) * lost, where)
        rule = tied_discriminants(covariance, shares(priors, train), self.shrinkages)
        return Fitted(rule, present, len(self.total.rows))

    def _variation_lost(self, train: ClassMoments) -> float:
        """The largest ratio of a column's scatter in all rows to that in the training part."""
        before, after = np.diagonal(self.total.scatter), np.diagonal(train.scatter)
        varying = before > 0
        with np.errstate(divide="ignore"):
            return float(np.max(before[varying] / after[varying], initial=1.0))


def refuse_condition(condition: float, where: str) -> None:
    """Beyond the limit the statistics left by a subtraction are too inexact to invert."""
    if condition > LARGEST_CONDITION:
        raise CannotSubtractError(
            f"{where}: the covariance within classes has condition number {condition:.1e}, "
            f"subtraction is exact enough up to {LARGEST_CONDITION:.0e}"
        )


def predict_folds(
    parts: TrainingParts, plan: Plan, output: Output, rows_per_block: int
) -> Iterator[Block]:
    """Predictions of the held-out rows of a partition, each fold by its own rule."""
    with one_blas_thread():
        values = _by_parts(parts, plan, min(rows_per_block, ROWS_PER_BLOCK))
        if values is not None:
            return ((r, rows, decide(value[:, :, None], output)) for r, rows, value in values)
        fitted = [parts.without(plan.test(s), s) for s in range(plan.n_splits)]
    return _blocks(parts, fitted, plan, output, rows_per_block)


def _by_parts(
    training: TrainingParts, plan: Plan, rows_per_block: int
) -> Iterator[tuple[int, Ints, Floats]] | None:
    """All splits at once, at one shrinkage; None where there is no exact way."""
    parts = parts_of(plan)
    if parts is None or len(training.shrinkages) > 1 or training.fold_map is not None:
        return None
    shrinkage = training.shrinkages[0]
    if shrinkage > 0 and training.unit.any():  # columns are shrunken in a common unit
        return None
    rules = trained_discriminants(
        training.rows, training.total, parts, shrinkage, training.priors, training.tol
    )
    return None if rules is None else parts.linear(training.rows.X, *rules, rows_per_block)


def _blocks(
    parts: TrainingParts, fitted: list[Fitted], plan: Plan, output: Output, rows_per_block: int
) -> Iterator[Block]:
    for s, fit in enumerate(fitted):
        test = plan.test(s)
        for part in slices(len(test), min(rows_per_block, ROWS_PER_BLOCK)):
            check_deadline()
            with one_blas_thread():
                prediction = fit.predict(parts.rows.X[test[part]], output)
            yield plan.repeat(s), test[part], prediction
