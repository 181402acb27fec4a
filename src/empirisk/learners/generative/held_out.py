"""Held-out predictions of discriminant analysis without fitting each split.

The class moments of a training part are those of all rows minus those of the fold.
"""

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Protocol, Self

import numpy as np

from empirisk.data.blocks import ROWS_PER_BLOCK, Blocks, Rows
from empirisk.data.class_moments import ClassMoments, Units, measured_moments
from empirisk.data.encode import FoldMap
from empirisk.learners.generative.covariance import LARGEST_CONDITION
from empirisk.learners.generative.discriminants import among_all, decide
from empirisk.risk.axis import Block, CannotSubtractError, Output
from empirisk.risk.plans.plan import Plan
from empirisk.runtime.arrays import Array, Floats, Ints
from empirisk.runtime.deadlines import check_deadline
from empirisk.runtime.parallel import one_blas_thread, slices

LEAST_SHARE = 1e-4
"""Of the weight of a class that must remain, so that subtraction keeps 12 digits of its mean."""


MOST_NUMBERS = 2**24
"""In the rules of all folds that are there together: 128 MB."""


class Discriminants(Protocol):
    """Functions of which the largest decides."""

    def values(self, X: Floats) -> Floats:
        """At the rows of X: (rows, classes, values of the axis)."""


@dataclass(frozen=True, eq=False)
class Fitted:
    """The discriminants of the classes that a training part has.

    Behind an encoder they are for X A + b, and `encoding` is (A, b).
    """

    rule: Discriminants
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
    """All rows, measured so that no square overflows, and what to learn from parts of them.

    `lost` is what each class takes from the divisor of a covariance: 0, or the weight of one row.
    """

    rows: Rows
    unit: Ints
    total: ClassMoments
    priors: Floats | None
    tol: float
    lost: float
    fold_map: FoldMap | None

    @classmethod
    def of(
        cls,
        rows: Rows,
        n_classes: int,
        *,
        priors: Floats | None,
        tol: float,
        tied: bool,
        unbiased: bool = False,
        fold_map: FoldMap | None = None,
        **others: Any,
    ) -> Self:
        with one_blas_thread():
            total, units = measured_moments(Blocks.of_arrays(*rows), n_classes, tied=tied)
        lost = row_weight(units) if unbiased else 0.0
        return cls(units.measure(rows), units.column, total, priors, tol, lost, fold_map, **others)

    @abstractmethod
    def learn(self, train: ClassMoments, where: str) -> Fitted:
        """What a training part gives; refuses an ill-conditioned covariance."""

    def without(self, test: Ints, split: int) -> Fitted:
        """What is learned without the rows `test`; refuses where subtraction is inexact."""
        check_deadline()
        tied = self.total.tied
        fold = ClassMoments.empty(len(self.total.rows), len(self.unit), tied=tied)
        X, y, weight = self.rows
        for part in slices(len(test), ROWS_PER_BLOCK):
            i = test[part]
            fold = fold + ClassMoments.of(X[i], y[i], weight[i], len(fold.rows), tied=tied)
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

    @property
    @abstractmethod
    def numbers_in_a_rule(self) -> int:
        """How many it takes to keep what a training part gives."""

    def present(self, train: ClassMoments, where: str) -> tuple[Ints, Floats | None]:
        """The classes of a training part, and their priors where these are given."""
        present = np.flatnonzero(train.rows)
        if len(present) < 2:
            raise CannotSubtractError(f"{where} trains on one class only")
        priors = None if self.priors is None else self.priors[present]
        if priors is not None and not priors.any():
            raise CannotSubtractError(f"{where} trains on classes of prior probability 0 only")
        return present, priors

    def variation_lost(self, train: ClassMoments) -> Floats:
        """The largest ratio of a column's scatter in all rows to that in the training part, of
        each scatter matrix there is."""
        before, after = (np.einsum("...jj->...j", m.scatter) for m in (self.total, train))
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.where(before > 0, before / after, 1.0)
        return ratio.max(axis=-1)


def row_weight(units: Units) -> float:
    """The weight of one row in the unit of the weights."""
    return float(np.ldexp(1.0, -units.weight))


def refuse_condition(
    condition: float,
    where: str,
    of: str = "within classes",
    limit: float = LARGEST_CONDITION,
) -> None:
    """Beyond the limit the statistics left by a subtraction are too inexact to invert."""
    if condition > limit:
        raise CannotSubtractError(
            f"{where}: the covariance {of} has condition number {condition:.1e}, "
            f"subtraction is exact enough up to {limit:.0e}"
        )


def predict_by_folds(
    parts: TrainingParts, plan: Plan, output: Output, rows_per_block: int
) -> Iterator[Block]:
    """Predictions of the held-out rows of a partition, each fold by its own rule.

    Whether a fold is refused is known before the first prediction. Where the rules of all folds
    are too many to be kept, each is learned again when its turn comes.
    """
    several = plan.n_splits * parts.numbers_in_a_rule <= MOST_NUMBERS
    fitted: list[Fitted | None] = []
    with one_blas_thread():
        for s in range(plan.n_splits):
            found = parts.without(plan.test(s), s)
            fitted.append(found if several else None)
    return _blocks(parts, fitted, plan, output, rows_per_block)


def _blocks(
    parts: TrainingParts,
    fitted: list[Fitted | None],
    plan: Plan,
    output: Output,
    rows_per_block: int,
) -> Iterator[Block]:
    for s, kept in enumerate(fitted):
        test = plan.test(s)
        with one_blas_thread():
            fit = parts.without(test, s) if kept is None else kept
        for part in slices(len(test), min(rows_per_block, ROWS_PER_BLOCK)):
            check_deadline()
            with one_blas_thread():
                prediction = fit.predict(parts.rows.X[test[part]], output)
            yield plan.repeat(s), test[part], prediction
