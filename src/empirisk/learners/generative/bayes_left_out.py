"""Leave-one-out of naive Bayes: the rule of all other rows at each row, without fitting it.

Only the class of a row, and what all classes share, is another one without it. Moments of the rows
before and after a row are joined, so that nothing is subtracted; of the counts of levels the weight
of the row is taken away.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from scipy.special import xlogy

from empirisk.compiled.column_moments import moments_without_each
from empirisk.compiled.column_scores import FARTHEST
from empirisk.data.blocks import compilable
from empirisk.data.column_moments import ColumnMoments, LevelCounts, extreme_exponent
from empirisk.data.column_samples import ColumnSamples
from empirisk.learners.generative.bayes_held_out import TrainingRows
from empirisk.learners.generative.bayes_rule import ClassStatistics, least_impossible
from empirisk.learners.generative.column_distributions import (
    LevelColumns,
    Smoothing,
    gaussian_parameters,
    multinomial_shares,
    poisson_rates,
)
from empirisk.learners.generative.discriminants import decide
from empirisk.learners.generative.mixed_rows import ColumnBlock
from empirisk.risk.axis import Block, CannotSubtractError, Output
from empirisk.runtime.arrays import Floats, Ints
from empirisk.runtime.deadlines import check_deadline
from empirisk.runtime.parallel import one_blas_thread, slices

NUMBERS_AT_ONCE = 2**18
"""In an array of one block of rows or columns."""
LEAST_SHARE = 1e-4
"""Of the weight of a class, or of a level in it, that must remain for 12 digits of it."""


def predict_left_out(
    training: TrainingRows, output: Output, rows_per_block: int
) -> Iterator[Callable[[], Block]]:
    """Predictions of each row by what is learned from all the others."""
    left_out = LeftOut(training)
    numbers = training.n_classes * max(training.rows.shape[1], 1)
    size = max(1, min(rows_per_block, NUMBERS_AT_ONCE // numbers))
    parts = slices(len(training.y), size)
    return (partial(left_out.predict, np.arange(p.start, p.stop), output) for p in parts)


class LeftOut:
    """The functions f_k at each row, learned without it."""

    def __init__(self, training: TrainingRows) -> None:
        self.training = training
        rows, y, weight, n_classes = training[:4]
        self.total = ClassStatistics.of(rows, y, weight, n_classes)
        self._refuse_extremes()
        self._refuse_few_rows()
        self.common = np.zeros((len(y), n_classes))
        self.blocks: list[LeftOutNumbers | LeftOutLevels] = []
        for block, own in zip(rows.blocks, self.total.columns, strict=True):
            check_deadline()
            if isinstance(own, ColumnSamples):
                raise CannotSubtractError("without a row the bandwidths of its class are others")
            if isinstance(own, LevelCounts) and not own.counts.size:
                continue  # columns without any value
            if isinstance(own, LevelCounts):
                self.blocks.append(LeftOutLevels(training, block, own))
            elif block.distribution == "gaussian":
                _add_gaussian(training, block, own, self.common)
            else:
                self.blocks.append(LeftOutNumbers(training, block, own))

    def predict(self, index: Ints, output: Output) -> Block:
        """Of some rows: (rows, smoothings), or (rows, smoothings, K)."""
        smoothings = self.training.smoothings
        base = self._log_priors(index) + self.common[index]
        values = np.empty((*base.shape, len(smoothings)))
        with one_blas_thread():
            for v, how in enumerate(smoothings):
                cells = [block.cells(index, how) for block in self.blocks]
                values[:, :, v] = base + sum((own.sum(axis=2) for own in cells), 0.0)
                lost = ~np.isfinite(values[:, :, v]).any(axis=1)
                if lost.any():
                    together = np.concatenate([own[lost] for own in cells], axis=2)
                    values[lost, :, v] = least_impossible(base[lost], together)
        return 0, index, decide(values, output)

    def _log_priors(self, index: Ints) -> Floats:
        """Of each row, without it."""
        y, weight, priors = self.training.y[index], self.training.weight, self.training.priors
        share = np.tile(self.total.weight if priors is None else priors, (len(index), 1))
        i = np.arange(len(index))
        if priors is None:
            share[i, y] -= weight[index]
        else:
            share[:, self.total.rows == 0] = 0.0
        share[i, y] = np.where(self.total.rows[y] > 1, share[i, y], 0.0)
        with np.errstate(divide="ignore"):
            return np.log(share / share.sum(axis=1, keepdims=True))

    def _refuse_extremes(self) -> None:
        moments = [own for own in self.total.columns if isinstance(own, ColumnMoments)]
        if any(own.unit.any() for own in moments):
            raise CannotSubtractError("a column has huge or tiny numbers")
        if extreme_exponent(self.training.weight.max(keepdims=True)).any():
            raise CannotSubtractError("the weights are huge or tiny")

    def _refuse_few_rows(self) -> None:
        rows, y, weight = self.total.rows, self.training.y, self.training.weight
        priors = self.training.priors
        for k in [None, *np.flatnonzero(rows == 1)]:
            present = (rows > 0) & (np.arange(len(rows)) != k)
            if present.sum() < 2:
                raise CannotSubtractError("without a row the plan trains on one class only")
            if priors is not None and not priors[present].any():
                raise CannotSubtractError("without a row only classes of prior 0 are left")
        share = 1 - weight / self.total.weight[y]
        _refuse_share(float(share[rows[y] > 1].min(initial=1.0)), "its class")


class LeftOutLevels:
    """Levels of categories: of its own class and level, each row is one fewer."""

    def __init__(self, training: TrainingRows, block: ColumnBlock, total: LevelCounts) -> None:
        self.training, self.block, self.total = training, block, total
        X, y = block.of(training.rows.X), training.y
        # Counted without weights: whether a row is the only one of its kind is then exact.
        self.rows = LevelCounts.of(X, y, np.ones(len(y)), training.n_classes, block.first)
        level, column = total.counts, total.by_column(total.counts)
        for part in slices(len(y), max(1, NUMBERS_AT_ONCE // max(X.shape[1], 1))):
            place, there = self._places(X[part])
            k, w = y[part, None], training.weight[part, None]
            for whole, only in [
                (level[k, place], self.rows.counts[k, place] == 1),
                (column[k, np.arange(X.shape[1])], np.zeros(place.shape, bool)),
            ]:
                left = np.where(there & ~only & (whole > w), 1 - w / np.maximum(whole, w), 1.0)
                _refuse_share(float(left.min(initial=1.0)), "a level")

    def _places(self, X: Floats) -> tuple[Ints, Floats]:
        there = ~np.isnan(X)
        place = self.block.first[:-1] + np.where(there, X, 0).astype(np.int64)
        return np.minimum(place, self.total.counts.shape[1] - 1), there

    def cells(self, index: Ints, how: Smoothing) -> Floats:
        """log g_kj of each cell: (rows, K, columns)."""
        fixed = self.block.distribution == "bernoulli"
        rule = LevelColumns.learned(self.total, how, fixed=fixed)
        X = self.block.of(self.training.rows.X[index])
        place, there = self._places(X)
        cells = np.where(there[:, :, None], rule.log_share[place], 0.0)
        k, w = self.training.y[index, None], self.training.weight[index, None]
        columns = np.arange(X.shape[1])
        seen: Any = rule.share.any(axis=0)
        n_levels = self.total.by_column(seen[None].astype(float))[0]
        n_levels = np.full(X.shape[1], 2.0) if fixed else n_levels
        of_level, of_column = self.rows.counts, self.rows.by_column(self.rows.counts)
        above = np.where(of_level[k, place] > 1, self.total.counts[k, place] - w, 0.0)
        column = self.total.by_column(self.total.counts)[k, columns]
        below = np.where(of_column[k, columns] > 1, column - w, 0.0) + how.alpha * n_levels
        even = np.broadcast_to(1 / np.maximum(n_levels, 1), below.shape).copy()
        share = np.divide(above + how.alpha, below, out=even, where=below > 0)
        with np.errstate(divide="ignore"):
            own = np.log(np.where(there, share, 1.0))
        cells[np.arange(len(index))[:, None], columns, k] = own
        if not fixed:  # a level that no other row has
            cells[of_level.sum(axis=0)[place] == 1] = 0.0
        return cells.transpose(0, 2, 1)


class LeftOutNumbers:
    """Counts, of Poisson's distribution or of a multinomial."""

    def __init__(self, training: TrainingRows, block: ColumnBlock, total: ColumnMoments) -> None:
        self.training, self.block, self.total = training, block, total
        self.X = compilable(block.of(training.rows.X))
        y, weight = compilable(training.y), compilable(training.weight)
        self.weight, self.mean, _ = _without_each(self.X, y, weight, training.n_classes)
        self.mean_of_all = _without_each(self.X, np.zeros_like(y), weight, 1)[1]

    def cells(self, index: Ints, how: Smoothing) -> Floats:
        """log g_kj of each cell: (rows, K, columns)."""
        i, k = np.arange(len(index)), self.training.y[index]
        weight = np.tile(self.total.weight, (len(index), 1, 1))
        mean = np.tile(self.total.mean, (len(index), 1, 1))
        weight[i, k], mean[i, k] = self.weight[index], self.mean[index]
        there = ~np.isnan(self.X[index])[:, None]
        counts = np.where(there, self.X[index][:, None], 0.0)
        with np.errstate(divide="ignore"):
            if self.block.distribution == "poisson":
                of_all = self.mean_of_all[index][:, None]
                rate = poisson_rates(weight, mean, of_all, how.alpha)
                return xlogy(counts, rate) - there * rate
            share = multinomial_shares(weight, mean, how.alpha)
            known = (there * share).sum(axis=2, keepdims=True)
            known = np.where(there.all(axis=2, keepdims=True) | (known == 0), 1.0, known)
            return xlogy(counts, share) - counts * np.log(known)


def _add_gaussian(
    training: TrainingRows, block: ColumnBlock, total: ColumnMoments, out: Floats
) -> None:
    """Add log g_kj of Gaussian columns, a few columns at a time."""
    y, weight, how = compilable(training.y), compilable(training.weight), training.smoothings[0]
    X, i = block.of(training.rows.X), np.arange(len(y))
    for part in slices(X.shape[1], max(1, NUMBERS_AT_ONCE // out.size)):
        check_deadline()
        cells = compilable(X[:, part])
        of_class = _without_each(cells, y, weight, training.n_classes)
        _, mean_of_all, variance_of_all = _without_each(cells, np.zeros_like(y), weight, 1)
        whole = (total.weight, total.mean, total.variance)
        given = [np.tile(each[:, part], (len(y), 1, 1)) for each in whole]
        for each, without in zip(given, of_class, strict=True):
            each[i, y] = without
        mean, variance = gaussian_parameters(
            given[0], given[1], given[2], mean_of_all[:, None], variance_of_all[:, None], how
        )
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            z = np.clip((cells[:, None] - mean) / np.sqrt(variance), -FARTHEST, FARTHEST)
            density = -np.square(z) / 2 - np.log(variance) / 2
        missing = np.isnan(cells)[:, None] | (variance == 0)
        out += np.where(missing, 0.0, density).sum(axis=2)


def _without_each(
    X: Floats, y: Ints, weight: Floats, n_classes: int
) -> tuple[Floats, Floats, Floats]:
    """Weight, mean and variance of the class of each row, without the row: (rows, columns)."""
    total, mean, scatter = (np.empty(X.shape) for _ in range(3))
    moments_without_each(X, y, weight, n_classes, total, mean, scatter)
    return total, mean, np.divide(scatter, total, out=np.zeros_like(total), where=total > 0)


def _refuse_share(share: float, of: str) -> None:
    if share < LEAST_SHARE:
        raise CannotSubtractError(f"a row has all but {share:.1e} of the weight of {of}")
