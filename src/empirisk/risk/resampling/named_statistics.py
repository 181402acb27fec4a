"""Statistics by name, computed for many resamples at once from the counts of the rows."""

from collections.abc import Callable
from math import ceil, floor
from typing import Any

import numpy as np

from empirisk.compiled.resampling import resample_sums
from empirisk.compiled.weighted_statistics import (
    leave_one_out_moments,
    unit_moments,
    weighted_correlations,
    weighted_deviations,
    weighted_quantiles,
)
from empirisk.losses.weighted import TIED
from empirisk.risk.resampling.sample import Resamples, Sample
from empirisk.risk.resampling.statistic import RowStatistic, Statistic
from empirisk.runtime.arrays import Floats
from empirisk.runtime.errors import DataError, ParameterError
from empirisk.runtime.parallel import parallel
from empirisk.runtime.streams import generator


class ColumnStatistic(Statistic):
    """A number for each column.

    The columns are scaled by powers of two, so that sums of squares stay in range, and centred at
    their medians: neither an outlier nor a large common part of the values costs digits.
    """

    def __init__(self, sample: Sample, name: str) -> None:
        self.sample, self.name = sample, name
        values, self.names, flat = sample.columns(name)
        self.shape = () if flat else (values.shape[1],)
        self.exponent = np.frexp(np.abs(values).max(axis=0))[1]
        scaled = np.ldexp(values, -self.exponent)
        self.centre = np.median(scaled, axis=0)
        self.values = np.ascontiguousarray(scaled - self.centre)
        # Weights matter up to a factor: scaled too, so that sums of copies stay in range.
        self.weight = np.ldexp(sample.weights, -np.frexp(sample.weights.max())[1])

    def row_weights(self, copies: Floats) -> Floats:
        """From copies of the units (resamples, units) to weights of the rows (resamples, rows)."""
        of_rows = copies if self.sample.unit is None else copies[:, self.sample.unit]
        if self.sample.weight is not None:
            of_rows = of_rows * self.weight
        return np.ascontiguousarray(of_rows)

    def weights_and_means(self, copies: Floats) -> tuple[Floats, Floats, Floats]:
        """The weights of the rows, the means of the columns under them, and their totals."""
        weights = self.row_weights(copies)
        totals = weights.sum(axis=1)
        return weights, weights @ self.values / totals[:, None], totals

    def restored(self, values: Floats) -> Floats:
        """Locations in the unit of the data."""
        return np.ldexp(values + self.centre, self.exponent)

    @property
    def is_plain_column(self) -> bool:
        """One column of rows that are drawn one by one, each of weight one."""
        return self.sample.weight is None and self.sample.unit is None and len(self.exponent) == 1


class Mean(ColumnStatistic):
    """sum_i w_i x_i / sum_i w_i."""

    def __init__(self, sample: Sample) -> None:
        super().__init__(sample, "mean")
        sums = np.column_stack([self.values, np.ones(len(self.values))]) * self.weight[:, None]
        if sample.unit is not None:
            sums = np.stack([np.bincount(sample.unit, column) for column in sums.T], axis=1)
        self.sums, self.weights = np.ascontiguousarray(sums[:, :-1]), sums[:, -1].copy()

    def of(self, copies: Floats) -> Floats:
        return self.restored(copies @ self.sums / (copies @ self.weights)[:, None])

    def replicates(self, resamples: Resamples, n_jobs: int | None = None) -> Floats:
        if not self.is_plain_column:
            return super().replicates(resamples, n_jobs)

        def sums_of(block: slice) -> Floats:
            sums = np.empty(block.stop - block.start)
            resample_sums(self.values[:, 0], resamples.seed, block.start, resamples.m, sums)
            return sums

        blocks = self.blocks(resamples.number, resamples.m)
        sums = np.concatenate(parallel(sums_of, blocks, n_jobs=n_jobs))
        return self.restored(sums[:, None] / resamples.m)

    def leave_one_out(self, copies: Floats, n_jobs: int | None = None) -> Floats:
        """From sums over the units before and after each, which do not cancel."""
        each = np.column_stack([self.sums, self.weights])
        taken = each * copies[:, None]
        left = each * (copies[:, None] - 1)
        left[1:] += np.cumsum(taken[:-1], axis=0)
        left[:-1] += np.cumsum(taken[:0:-1], axis=0)[::-1]
        with np.errstate(invalid="ignore", divide="ignore"):
            values = self.restored(left[:, :-1] / left[:, -1:])
        return np.where(copies[:, None] > 0, values, np.nan)

    def standard_errors(self, copies: Floats) -> Floats:
        """sqrt(m/(m-1) sum_u (sum_{i in u} w_i (x_i - mean))^2) / sum_i w_i over the m units."""
        total, m = copies @ self.weights, copies.sum(axis=1)
        errors = np.empty((len(copies), len(self.exponent)))
        for j in range(errors.shape[1]):
            mean = copies @ self.sums[:, j] / total
            residual = self.sums[:, j] - mean[:, None] * self.weights
            squares = np.einsum("bu,bu,bu->b", copies, residual, residual)
            errors[:, j] = np.sqrt(m / (m - 1) * squares) / total
        return np.ldexp(errors, self.exponent)


class Quantile(ColumnStatistic):
    """The middle of the interval of q-quantiles; the median at q = 1/2, the maximum at q = 1."""

    def __init__(self, sample: Sample, name: str, q: float) -> None:
        super().__init__(sample, name)
        self.q = q
        self.order = np.ascontiguousarray(np.argsort(self.values, axis=0, kind="stable").T)

    def of(self, copies: Floats) -> Floats:
        found = np.empty((len(copies), len(self.exponent)))
        weighted_quantiles(self.values, self.order, self.row_weights(copies), self.q, TIED, found)
        return self.restored(found)

    def replicates(self, resamples: Resamples, n_jobs: int | None = None) -> Floats:
        """One column of plain rows: from the law of the order statistics, a few numbers for each.

        The ranks of a resample are floor(n U_i) with m uniform U_i. So its k-th smallest value has
        the rank floor(n U_(k)), with U_(k) from the beta distribution (k, m + 1 - k); the next one
        above it is the least of m - k uniform numbers on (U_(k), 1).
        """
        if not self.is_plain_column:
            return super().replicates(resamples, n_jobs)
        n, m, size = resamples.n, resamples.m, resamples.number
        low, high = order_statistics(self.q, m)
        rng = generator(resamples.seed)
        u = rng.beta(low, m + 1 - low, size)
        first = self._at_rank(n * u)
        if high == low:
            return self.restored(first)
        u -= np.expm1(-rng.standard_exponential(size) / (m - low)) * (1 - u)
        return self.restored(0.5 * first + 0.5 * self._at_rank(n * u))

    def _at_rank(self, rank: Floats) -> Floats:
        last = self.sample.n - 1
        return self.values[self.order[0][np.minimum(rank.astype(np.int64), last)]]

    def leave_one_out(self, copies: Floats, n_jobs: int | None = None) -> Floats:
        n = self.sample.n
        if not (self.is_plain_column and (copies == 1).all()):
            return super().leave_one_out(copies, n_jobs)
        low, high = order_statistics(self.q, n - 1)
        rank = np.empty(n, np.int64)
        rank[self.order[0]] = np.arange(n)
        # Counted from 0 among n - 1 values; those from the missing one on have moved down.
        first = self._at_rank((low - 1) + (low - 1 >= rank).astype(float))
        last = self._at_rank((high - 1) + (high - 1 >= rank).astype(float))
        return self.restored(0.5 * first + 0.5 * last)


class Deviation(ColumnStatistic):
    """The standard deviation with divisor n, or its square."""

    def of(self, copies: Floats) -> Floats:
        found = np.empty((len(copies), len(self.exponent)))
        weighted_deviations(self.values, *self.weights_and_means(copies), found)
        return self._finished(found)

    def leave_one_out(self, copies: Floats, n_jobs: int | None = None) -> Floats:
        columns = range(self.values.shape[1])
        moments = [left_out_moments(self, copies, j, j) for j in columns]
        with np.errstate(invalid="ignore"):
            found = np.stack([np.sqrt(each[:, 3] / each[:, 0]) for each in moments], axis=1)
        return np.where(copies[:, None] > 0, self._finished(found), np.nan)

    def _finished(self, deviation: Floats) -> Floats:
        deviation = np.ldexp(deviation, self.exponent)
        with np.errstate(over="ignore", under="ignore"):
            return np.square(deviation) if self.name == "variance" else deviation


class Correlation(ColumnStatistic):
    """Pearson's correlation of two columns."""

    def __init__(self, sample: Sample) -> None:
        super().__init__(sample, "correlation")
        if self.values.shape[1] != 2:
            raise DataError(
                f"a correlation needs two columns, or two arrays in a tuple; there "
                f"are {self.values.shape[1]}"
            )
        self.shape, self.names = (), None

    def of(self, copies: Floats) -> Floats:
        found = np.empty(len(copies))
        weighted_correlations(self.values, *self.weights_and_means(copies), found)
        return found[:, None]

    def leave_one_out(self, copies: Floats, n_jobs: int | None = None) -> Floats:
        moments = left_out_moments(self, copies, 0, 1)
        with np.errstate(invalid="ignore", divide="ignore"):
            found = moments[:, 5] / np.sqrt(moments[:, 3]) / np.sqrt(moments[:, 4])
        return np.where(copies > 0, found, np.nan)[:, None]


def left_out_moments(statistic: ColumnStatistic, copies: Floats, j: int, k: int) -> Floats:
    """The moments of columns j and k without one copy of each unit in turn."""
    x, y = (np.ascontiguousarray(statistic.values[:, column]) for column in (j, k))
    of_units, left = np.empty((2, statistic.sample.n, 6))
    unit_moments(x, y, statistic.weight, statistic.sample.units, of_units)
    leave_one_out_moments(of_units, copies, left)
    return left


def order_statistics(q: float, n: int) -> tuple[int, int]:
    """Between which two order statistics of n, counted from 1, the q-quantile is the middle."""
    low = max(1, ceil((q - TIED) * n))
    return low, max(low, min(n, floor((q + TIED) * n) + 1))


NAMED: dict[str, Callable[[Sample], Statistic]] = {
    "mean": Mean,
    "median": lambda sample: Quantile(sample, "median", 0.5),
    "min": lambda sample: Quantile(sample, "min", 0.0),
    "max": lambda sample: Quantile(sample, "max", 1.0),
    "std": lambda sample: Deviation(sample, "std"),
    "variance": lambda sample: Deviation(sample, "variance"),
    "correlation": Correlation,
}
OF_NUMPY = (
    (np.mean, "mean"),
    (np.median, "median"),
    (np.min, "min"),
    (np.max, "max"),
    (np.std, "std"),
    (np.var, "variance"),
)


def as_statistic(statistic: Any, sample: Sample, vectorized: bool | None = None) -> Statistic:
    """The statistic that a name spells, or that a function is, on a sample."""
    if callable(statistic):
        known = [name for function, name in OF_NUMPY if function is statistic]
        if not known or vectorized is not None:
            return RowStatistic(sample, statistic, vectorized)
        return NAMED[known[0]](sample)
    if isinstance(statistic, str) and statistic in NAMED:
        return NAMED[statistic](sample)
    level = _level(statistic)
    if level is None:
        raise ParameterError(
            f"there is no statistic {statistic!r}; there are {', '.join(NAMED)} and quantile:Q, and"
            " any function of the rows"
        )
    return Quantile(sample, statistic, level)


def _level(statistic: Any) -> float | None:
    """The q of "quantile:q"."""
    word, colon, rest = statistic.partition(":") if isinstance(statistic, str) else ("", "", "")
    try:
        q = float(rest)
    except ValueError:
        return None
    return q if word == "quantile" and colon and 0 <= q <= 1 else None
