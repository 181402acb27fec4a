"""Statistics of single columns by class that add up: moments of numbers, counts of levels.

Cells that are missing are left out, so each column has its own weight in each class. Nothing is
ever subtracted: what is learned without a fold is the sum over the other folds.
"""

from dataclasses import dataclass

import numpy as np

from empirisk.compiled.column_moments import add_column_moments
from empirisk.compiled.column_scores import add_level_counts
from empirisk.data.blocks import compilable
from empirisk.runtime.arrays import Bools, Floats, Ints

LEAST, LARGEST = 2.0**-400, 2.0**400
"""Sums of squares between these were taken without overflow, and nothing has vanished."""
MODERATE = 200
"""Numbers between 2^-200 and 2^200 are taken as they are: squares of them, times weights that are
so, too, are far from overflow."""


@dataclass(frozen=True, eq=False)
class ColumnMoments:
    """Weight, mean and variance of the cells that are there, for each class and column.

    Of a class without a cell all three are 0. A column that is constant in a class has there the
    variance 0 exactly.

    Attributes
    ----------
    weight : array of shape (K, p)
    mean : array of shape (K, p)
        In units of 2^unit.
    variance : array of shape (K, p)
        Divided by the weight, in units of 4^unit.
    unit : int array of shape (p,)
        0 unless the numbers are huge or tiny.

    Examples
    --------
    >>> X, y = np.array([[1.0], [3.0], [np.nan], [8.0]]), np.array([0, 0, 0, 1])
    >>> some = ColumnMoments.of(X[:2], y[:2], np.ones(2), n_classes=2)
    >>> rest = ColumnMoments.of(X[2:], y[2:], np.ones(2), n_classes=2)
    >>> both = some + rest
    >>> both.weight, both.mean, both.variance
    (array([[2.],
           [1.]]), array([[2.],
           [8.]]), array([[1.],
           [0.]]))
    """

    weight: Floats
    mean: Floats
    variance: Floats
    unit: Ints

    @classmethod
    def empty(cls, n_classes: int, n_columns: int) -> "ColumnMoments":
        """The moments of no rows."""
        nothing = np.zeros((n_classes, n_columns))
        return cls(nothing, nothing, nothing, np.zeros(n_columns, np.int64))

    @classmethod
    def of(cls, X: Floats, y: Ints, weight: Floats, n_classes: int) -> "ColumnMoments":
        """The moments of rows with class codes y and positive weights; no cell is infinite."""
        weight_unit = int(extreme_exponent(np.array(weight.max(initial=0.0))))
        if weight_unit:
            weight = np.ldexp(weight, -weight_unit)
        X, y, weight = compilable(X), compilable(y), compilable(weight)
        unit = np.zeros(X.shape[1], np.int64)
        total, mean, scatter = (np.zeros((n_classes, X.shape[1])) for _ in range(3))
        with np.errstate(over="ignore", invalid="ignore"):
            add_column_moments(X, y, weight, total, mean, scatter)
            spread = scatter.sum(axis=0) + (total * np.square(mean - mean[0])).sum(axis=0)
        odd = np.flatnonzero(~((spread > LEAST) & (spread < LARGEST)) & (total > 0).any(axis=0))
        if len(odd):  # huge, tiny or constant: measured by the largest
            unit[odd] = _exponents(X[:, odd])
            scaled = compilable(np.ldexp(X[:, odd], -unit[odd]))
            again = [np.zeros((n_classes, len(odd))) for _ in range(3)]
            add_column_moments(scaled, y, weight, *again)
            total[:, odd], mean[:, odd], scatter[:, odd] = again
        variance = np.divide(scatter, total, out=np.zeros_like(total), where=total > 0)
        return cls(np.ldexp(total, weight_unit), mean, variance, unit)

    def __add__(self, other: "ColumnMoments") -> "ColumnMoments":
        if not (self.unit == other.unit).all():
            unit = np.maximum(self.unit, other.unit)
            unit = np.where(self._is_zero(), other.unit, unit)
            unit = np.where(other._is_zero(), self.unit, unit)
            return self._in_unit(unit) + other._in_unit(unit)
        weight = self.weight + other.weight
        share = np.divide(other.weight, weight, out=np.zeros_like(weight), where=weight > 0)
        apart = other.mean - self.mean
        # Where only one has cells, its own numbers: a rounding error would look like variation.
        mean = np.where(share == 1, other.mean, self.mean + share * apart)
        between = np.square(apart) * share
        variance = (self.variance + between) * (1 - share) + other.variance * share
        return ColumnMoments(weight, mean, variance, self.unit)

    def _is_zero(self) -> Bools:
        """Columns that are 0 where they are there: they have no unit."""
        return ~((self.mean != 0) | (self.variance > 0)).any(axis=0)

    def _in_unit(self, unit: Ints) -> "ColumnMoments":
        down = self.unit - unit
        mean, variance = np.ldexp(self.mean, down), np.ldexp(self.variance, 2 * down)
        return ColumnMoments(self.weight, mean, variance, unit)

    def pooled(self) -> tuple[Floats, Floats, Floats]:
        """Weight, mean and variance of each column, whatever the class."""
        weight = self.weight.sum(axis=0)
        share = np.divide(self.weight, weight, out=np.zeros_like(self.weight), where=weight > 0)
        # About the mean of a class that has cells: equal class means leave no rounding error.
        first = np.take_along_axis(self.mean, self.weight.argmax(axis=0)[None], axis=0)
        apart = np.where(self.weight > 0, self.mean - first, 0.0)
        shift = (share * apart).sum(axis=0)
        variance = (share * (self.variance + np.square(apart - shift))).sum(axis=0)
        return weight, first[0] + shift, variance


@dataclass(frozen=True, eq=False)
class LevelCounts:
    """The weight of each level of each column, for each class.

    Attributes
    ----------
    counts : array of shape (K, levels of all columns)
    first : int array of shape (q + 1,)
        Where the levels of each column begin, and how many there are in all.

    Examples
    --------
    >>> codes, y = np.array([[0.0, 1.0], [np.nan, 1.0], [0.0, 0.0]]), np.array([0, 0, 1])
    >>> LevelCounts.of(codes, y, np.ones(3), 2, np.array([0, 1, 3])).counts
    array([[1., 0., 2.],
           [1., 1., 0.]])
    """

    counts: Floats
    first: Ints

    @classmethod
    def empty(cls, n_classes: int, first: Ints) -> "LevelCounts":
        """The counts of no rows."""
        return cls(np.zeros((n_classes, int(first[-1]))), first)

    @classmethod
    def of(cls, X: Floats, y: Ints, weight: Floats, n_classes: int, first: Ints) -> "LevelCounts":
        """The counts of rows of codes, NaN where a cell is missing."""
        counts = np.zeros((n_classes, int(first[-1])))
        add_level_counts(*map(compilable, (X, first, y, weight)), counts)
        return cls(counts, first)

    def __add__(self, other: "LevelCounts") -> "LevelCounts":
        return LevelCounts(self.counts + other.counts, self.first)

    @property
    def column(self) -> Ints:
        """The column of each level."""
        return np.repeat(np.arange(len(self.first) - 1), np.diff(self.first))

    def by_column(self, values: Floats) -> Floats:
        """Sums over the levels of each column: (K, levels) -> (K, q)."""
        sums = np.zeros((len(values), len(self.first) - 1))
        some = np.flatnonzero(np.diff(self.first))  # a column without any value has no levels
        if len(some):
            sums[:, some] = np.add.reduceat(values, self.first[some], axis=1)
        return sums


def extreme_exponent(largest: Floats) -> Ints:
    """The exponent of numbers beyond 2^-200 and 2^200; 0 of others."""
    exponent = np.frexp(largest)[1].astype(np.int64)
    return np.where((np.abs(exponent) > MODERATE) & (largest > 0), exponent, 0)


def _exponents(X: Floats) -> Ints:
    """Of the largest cell of each column."""
    return extreme_exponent(np.nanmax(np.abs(X), axis=0))
