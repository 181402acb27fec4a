"""Bayes' rule for independent columns: the shares of the classes times densities of single columns.

    f_k(x) = log pi_k + sum_j log g_kj(x_j),    P(k | x) = exp f_k(x) / sum_l exp f_l(x)

A cell that is missing is marginalised: its term is left out.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from empirisk.learners.generative.column_distributions import ColumnDistribution, Smoothing
from empirisk.learners.generative.kernel_columns import KernelColumns
from empirisk.learners.generative.mixed_rows import ColumnBlock, MixedRows, Statistics
from empirisk.runtime.arrays import Floats, Ints
from empirisk.runtime.errors import DataError
from empirisk.runtime.parallel import slices

NUMBERS_AT_ONCE = 2**18
"""Cells of one block of rows, so that the arrays it takes stay in the cache."""


@dataclass(frozen=True, eq=False)
class ClassStatistics:
    """Rows and weight of each class, and the statistics of each block of columns; they add up."""

    rows: Ints
    weight: Floats
    columns: tuple[Statistics, ...]

    @classmethod
    def of(cls, rows: MixedRows, y: Ints, weight: Floats, n_classes: int) -> "ClassStatistics":
        """Of rows with class codes y and positive weights."""
        total: Any = np.bincount(y, weight, minlength=n_classes)
        return cls(
            np.bincount(y, minlength=n_classes),
            total,
            tuple(block.statistics(rows.X, y, weight, n_classes) for block in rows.blocks),
        )

    @classmethod
    def empty(cls, blocks: Sequence[ColumnBlock], n_classes: int) -> "ClassStatistics":
        """Of no rows."""
        return cls(
            np.zeros(n_classes, np.int64),
            np.zeros(n_classes),
            tuple(block.no_statistics(n_classes) for block in blocks),
        )

    def __add__(self, other: "ClassStatistics") -> "ClassStatistics":
        both: Any = zip(self.columns, other.columns, strict=True)
        return ClassStatistics(
            self.rows + other.rows,
            self.weight + other.weight,
            tuple(one + another for one, another in both),
        )

    def shares(self, priors: Floats | None) -> Floats:
        """Of the classes that have rows: the given priors, or else their shares of the weight."""
        share = self.weight if priors is None else np.where(self.rows > 0, priors, 0.0)
        if not share.any():
            raise DataError(
                f"priors are {priors}, and the classes that have rows get 0: give one of them more"
            )
        return share / share.sum()


@dataclass(frozen=True, eq=False)
class BayesRule:
    """Log-shares of the classes, and the distributions of blocks of columns."""

    log_prior: Floats
    blocks: tuple[ColumnBlock, ...]
    distributions: tuple[ColumnDistribution | KernelColumns, ...]

    @classmethod
    def learned(
        cls,
        blocks: tuple[ColumnBlock, ...],
        statistics: ClassStatistics,
        priors: Floats | None,
        how: Smoothing,
    ) -> "BayesRule":
        """What statistics say."""
        both = zip(blocks, statistics.columns, strict=True)
        distributions = tuple(block.learned(own, how) for block, own in both)
        with np.errstate(divide="ignore"):
            return cls(np.log(statistics.shares(priors)), blocks, distributions)

    def values(self, X: Floats) -> Floats:
        """f_k at the rows of X, an array (rows, K)."""
        return self.made_possible(self.log_prior + self.log_likelihoods(X), X)

    def log_likelihoods(self, X: Floats) -> Floats:
        """The sums without the log-shares of the classes."""
        sums = np.zeros((len(X), len(self.log_prior)))
        for part in slices(len(X), max(1, NUMBERS_AT_ONCE // X.shape[1])):
            for block, distribution in self._both():
                distribution.add_log_likelihoods(block.of(X[part]), sums[part])
        return sums

    def made_possible(self, values: Floats, X: Floats) -> Floats:
        """Rows that are impossible in every class go by the classes in which the fewest of their
        cells are impossible, and there by the other cells."""
        lost = np.flatnonzero(~np.isfinite(values).any(axis=1))
        for part in slices(len(lost), max(1, NUMBERS_AT_ONCE // (values.shape[1] * X.shape[1]))):
            values[lost[part]] = least_impossible(self.log_prior, self.cells(X[lost[part]]))
        return values

    def cells(self, X: Floats) -> Floats:
        """log g_kj(x_j) of each cell, up to what all classes share: (rows, K, columns)."""
        cells = np.zeros((len(X), len(self.log_prior), X.shape[1]))
        for block, distribution in self._both():
            cells[:, :, block.columns] = distribution.cells(block.of(X))
        return cells

    def sample(self, y: Ints, rng: np.random.Generator) -> Floats:
        """New rows of these classes."""
        X = np.empty((len(y), sum(len(block.columns) for block in self.blocks)))
        for block, distribution in self._both():
            X[:, block.columns] = distribution.sample(y, rng)
        return X

    def parameters(self, j: int) -> dict[str, Floats]:
        """Of the j-th column, each an array with a row for each class."""
        for block, distribution in self._both():
            place = np.flatnonzero(block.columns == j)
            if len(place):
                return distribution.parameters(int(place[0]))
        raise IndexError(j)

    def _both(self) -> Any:
        return zip(self.blocks, self.distributions, strict=True)


def least_impossible(base: Floats, cells: Floats) -> Floats:
    """Sums (rows, K) of rows that no class can have: minus infinity but for the classes in which
    the fewest cells (rows, K, columns) are impossible, where it is base plus the other cells."""
    impossible = np.isneginf(cells)
    n = np.where(np.isneginf(base), cells.shape[2] + 1, impossible.sum(axis=2))
    rest = base + np.where(impossible, 0.0, cells).sum(axis=2)
    return np.where(n == n.min(axis=1, keepdims=True), rest, -np.inf)
