"""Whether what a file has of a fitted naive Bayes belongs together."""

from typing import Any

import numpy as np

from empirisk.data.coded_column import check_column
from empirisk.data.column_moments import ColumnMoments, LevelCounts
from empirisk.data.column_samples import ColumnSamples
from empirisk.learners.generative.bayes_rule import ClassStatistics
from empirisk.learners.generative.column_distributions import Smoothing
from empirisk.learners.generative.mixed_rows import DISTRIBUTIONS, ColumnBlock, blocks_of, groups_of
from empirisk.runtime.errors import DataError


def check_fitted(learner: Any) -> None:
    """Raise a DataError unless columns, blocks, classes and statistics fit together."""
    k, p = len(learner.classes_), len(learner.columns_)
    if not isinstance(learner.classes_, np.ndarray) or learner.classes_.shape != (k,) or k < 2:
        raise DataError("classes_ are not an array of at least two labels")
    if learner.n_features_in_ != p:
        raise DataError(f"there are {p} columns_, and n_features_in_ is {learner.n_features_in_!r}")
    for column in learner.columns_:
        check_column(column)
    _check_blocks(learner.blocks_, learner.columns_)
    _check_numbers("class_prior_", learner.class_prior_, (k,), least=0.0)
    if abs(learner.class_prior_.sum() - 1) > 1e-9:
        raise DataError("class_prior_ does not sum to 1")
    how = learner.smoothing_
    if not isinstance(how, Smoothing):
        raise DataError("smoothing_ is no Smoothing")
    if not (0 <= how.alpha < np.inf and 0 < how.variance_floor <= 1 and how.ddof >= 0):
        raise DataError("smoothing_ is beyond what a learner takes")
    _check_statistics(learner.statistics_, learner.blocks_, k)


def _check_blocks(blocks: Any, columns: Any) -> None:
    for block in blocks:
        if not isinstance(block, ColumnBlock) or block.distribution not in DISTRIBUTIONS:
            raise DataError("blocks_ are not of known distributions")
        own = block.columns
        if own.dtype != np.int64 or own.ndim != 1 or (np.diff(own) <= 0).any():
            raise DataError("columns of a block are not integers in order")
    places = np.concatenate([block.columns for block in blocks])
    if not np.array_equal(np.sort(places), np.arange(len(columns))):
        raise DataError("blocks_ do not have each column once")
    for block, again in zip(blocks, blocks_of(groups_of(blocks), columns), strict=True):
        if block.first.dtype != np.int64 or not np.array_equal(block.first, again.first):
            raise DataError("first of a block is not where the levels of its columns begin")
        category = {columns[j].kind == "category" for j in block.columns}
        if category != {block.distribution == "categorical"}:
            raise DataError("a block mixes categories and numbers")


def _check_statistics(statistics: Any, blocks: Any, k: int) -> None:
    if not isinstance(statistics, ClassStatistics) or len(statistics.columns) != len(blocks):
        raise DataError("statistics_ are not those of the blocks")
    _check_numbers("weight", statistics.weight, (k,), least=0.0)
    rows = statistics.rows
    if not isinstance(rows, np.ndarray) or rows.dtype != np.int64 or rows.shape != (k,):
        raise DataError(f"rows are not {k} integers")
    if (rows < 0).any() or ((rows > 0) != (statistics.weight > 0)).any():
        raise DataError("rows and weight of the classes disagree")
    for own, block in zip(statistics.columns, blocks, strict=True):
        if block.has_levels:
            _check_counts(own, block, k)
        elif block.keeps_cells:
            _check_samples(own, k, len(block.columns))
        else:
            _check_moments(own, (k, len(block.columns)))


def _check_counts(own: Any, block: ColumnBlock, k: int) -> None:
    if not isinstance(own, LevelCounts) or not np.array_equal(own.first, block.first):
        raise DataError("counts are not those of the levels of the block")
    _check_numbers("counts", own.counts, (k, int(block.first[-1])), least=0.0)


def _check_samples(own: Any, k: int, p: int) -> None:
    if not isinstance(own, ColumnSamples) or own.n_classes != k:
        raise DataError("values of a block are no ColumnSamples of the classes")
    first = own.first
    sound = (
        isinstance(first, np.ndarray) and first.dtype == np.int64 and first.shape == (k * p + 1,)
    )
    if not sound or first[0] != 0 or (np.diff(first) < 0).any():
        raise DataError("first is not where the values of classes and columns begin")
    n = int(first[-1])
    _check_numbers("values", own.values, (n,))
    _check_numbers("weight", own.weight, (n,), least=0.0)
    rising = np.diff(own.values) > 0
    rising[first[(first > 0) & (first < n)] - 1] = True  # from one sample to the next
    if not rising.all() or not (own.weight > 0).all():
        raise DataError("values of a class and column are not different ones with weights")


def _check_moments(own: Any, shape: tuple[int, int]) -> None:
    if not isinstance(own, ColumnMoments):
        raise DataError("moments of a block are no ColumnMoments")
    _check_numbers("weight", own.weight, shape, least=0.0)
    _check_numbers("mean", own.mean, shape)
    _check_numbers("variance", own.variance, shape, least=0.0)
    if own.unit.dtype != np.int64 or own.unit.shape != shape[1:] or (abs(own.unit) > 1100).any():
        raise DataError("unit is not a power of two for each column")


def _check_numbers(name: str, array: Any, shape: tuple[int, ...], least: float = -np.inf) -> None:
    sound = isinstance(array, np.ndarray) and array.dtype == np.float64 and array.shape == shape
    if not sound or not np.isfinite(array).all() or (array < least).any():
        raise DataError(f"{name} is not an array {shape} of finite numbers in their range")
