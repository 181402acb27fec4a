"""Held-out predictions of naive Bayes without going through the training rows again.

The statistics of a training part are the sum of those of the other folds: of the folds before the
held-out one, and of those after it.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import accumulate
from typing import NamedTuple

from empirisk.data.blocks import ROWS_PER_BLOCK
from empirisk.learners.generative.bayes_path import BayesRules
from empirisk.learners.generative.bayes_rule import ClassStatistics
from empirisk.learners.generative.column_distributions import Smoothing
from empirisk.learners.generative.mixed_rows import MixedRows
from empirisk.risk.axis import Block, CannotSubtractError, Output
from empirisk.risk.plans.plan import Plan
from empirisk.runtime.arrays import Floats, Ints, slice_if_in_a_row
from empirisk.runtime.deadlines import check_deadline
from empirisk.runtime.parallel import slices

MOST_NUMBERS = 2**24
"""Statistics of all folds that are there together: 128 MB."""


class TrainingRows(NamedTuple):
    """All rows of a problem, and what to learn from parts of them."""

    rows: MixedRows
    y: Ints
    weight: Floats
    n_classes: int
    priors: Floats | None
    smoothings: Sequence[Smoothing]

    def statistics(self, index: Ints) -> ClassStatistics:
        """Of some rows."""
        found = ClassStatistics.empty(self.rows.blocks, self.n_classes)
        for part in slices(len(index), ROWS_PER_BLOCK):
            check_deadline()
            i = slice_if_in_a_row(index[part])
            found = found + ClassStatistics.of(
                self.rows[i], self.y[i], self.weight[i], self.n_classes
            )
        return found

    def learned(self, statistics: ClassStatistics, split: int) -> BayesRules:
        """What a training part says; refuses one that cannot be learned from."""
        present = statistics.rows > 0
        if present.sum() < 2:
            raise CannotSubtractError(f"split {split} trains on one class only")
        if self.priors is not None and not self.priors[present].any():
            raise CannotSubtractError(f"split {split} trains on classes of prior 0 only")
        return BayesRules(self.rows.blocks, statistics, self.priors, self.smoothings)


def predict_folds(
    training: TrainingRows, plan: Plan, output: Output, rows_per_block: int
) -> Iterator[Callable[[], Block]]:
    """Predictions of the held-out rows of a partition, each fold by its own rule."""
    _refuse_many(training, plan)
    rules: list[BayesRules] = []
    for r in range(plan.repeats):
        splits = [s for s in range(plan.n_splits) if plan.repeat(s) == r]
        folds = [training.statistics(plan.test(s)) for s in splits]
        parts = zip(splits, _without_each(folds), strict=True)
        rules += [training.learned(own, s) for s, own in parts]
    return _blocks(training, rules, plan, output, rows_per_block)


def _without_each(folds: list[ClassStatistics]) -> Iterator[ClassStatistics]:
    """Of each fold, the sum over the others."""
    before = [None, *accumulate(folds[:-1], ClassStatistics.__add__)]
    after = [*accumulate(folds[:0:-1], ClassStatistics.__add__)][::-1] + [None]
    for one, other in zip(before, after, strict=True):
        both = one + other if one is not None and other is not None else one or other
        assert both is not None
        yield both


def _blocks(
    training: TrainingRows, rules: list[BayesRules], plan: Plan, output: Output, size: int
) -> Iterator[Callable[[], Block]]:
    for s, rule in enumerate(rules):
        test = plan.test(s)
        for part in slices(len(test), min(size, ROWS_PER_BLOCK)):
            yield partial(_predict, training, rule, plan.repeat(s), test[part], output)


def _predict(
    training: TrainingRows, rule: BayesRules, repeat: int, index: Ints, output: Output
) -> Block:
    return repeat, index, rule.predict(training.rows.X[slice_if_in_a_row(index)], output)


def _refuse_many(training: TrainingRows, plan: Plan) -> None:
    n_levels = sum(int(block.first[-1]) for block in training.rows.blocks if block.has_levels)
    numbers = 3 * training.rows.shape[1] + n_levels
    size = plan.n_splits * training.n_classes * numbers * (1 + len(training.smoothings))
    kept = sum(len(block.columns) for block in training.rows.blocks if block.keeps_cells)
    size += 2 * plan.n_splits * kept * len(training.y)
    if size > MOST_NUMBERS:
        raise CannotSubtractError(
            f"the statistics of {plan.n_splits} folds take {8 * size / 2**20:,.0f} MB, more than "
            f"{8 * MOST_NUMBERS / 2**20:,.0f}"
        )
