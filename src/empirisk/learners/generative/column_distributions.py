"""The distributions of single columns within the classes, as naive Bayes multiplies them.

Each class here has the columns of one kind of distribution, learned from statistics that add up:
`learned` (by maximum likelihood, smoothed), `add_log_likelihoods` (summed over its columns),
`cells` (of each column by itself), `sample` and `parameters`. Log-likelihoods are up to what all
classes share. A cell that is missing adds nothing.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.special import xlogy

from empirisk.compiled.column_scores import FARTHEST, add_gaussian_scores, add_level_scores
from empirisk.data.blocks import compilable
from empirisk.data.column_moments import ColumnMoments, LevelCounts
from empirisk.learners.density.poisson_mixture import poisson_counts
from empirisk.runtime.arrays import Bools, Floats, Ints

LARGEST = np.finfo(float).max
MOST_COUNTS = 2.0**900
"""Counts beyond are taken for so many: their sums, times a logarithm, do not overflow."""


@dataclass(frozen=True)
class Smoothing:
    """How parameters are learned: see the parameters of `NaiveBayes`."""

    alpha: float
    variance_floor: float
    ddof: int


@dataclass(frozen=True, eq=False)
class GaussianColumns:
    """Normal with the mean and the variance of the class:

        log g_k(x) = -log s_k - (x - m_k)^2 / 2 s_k^2.

    A variance below `variance_floor` times that of the column over all classes is raised to it. A
    column that does not vary at all says nothing. A class that has no cell of a column has there
    the mean and variance over all classes; where no class has one, nothing is `known`.
    """

    smoothed: ClassVar[bool] = False

    mean: Floats
    deviation: Floats
    inverse: Floats
    log_scale: Floats
    known: Bools

    @classmethod
    def learned(cls, moments: ColumnMoments, how: Smoothing) -> "GaussianColumns":
        weight, mean_of_all, variance_of_all = moments.pooled()
        mean, variance = gaussian_parameters(
            moments.weight, moments.mean, moments.variance, mean_of_all, variance_of_all, how
        )
        varies, deviation = variance > 0, np.sqrt(variance)
        with np.errstate(over="ignore", divide="ignore"):
            inverse = np.minimum(np.ldexp(1 / deviation, -moments.unit), LARGEST)
            log_scale = np.log(deviation) + moments.unit * np.log(2)
            deviation = np.minimum(np.ldexp(deviation, moments.unit), LARGEST)
        return cls(
            np.ldexp(mean, moments.unit),
            deviation,
            np.where(varies, inverse, 0.0),
            np.where(varies, log_scale, 0.0),
            weight > 0,
        )

    def add_log_likelihoods(self, X: Floats, out: Floats) -> None:
        own = map(compilable, (X, self.mean, self.inverse, self.log_scale))
        add_gaussian_scores(*own, out)

    def cells(self, X: Floats) -> Floats:
        with np.errstate(over="ignore", invalid="ignore"):
            z = np.clip((X[:, None] - self.mean) * self.inverse, -FARTHEST, FARTHEST)
        missing = np.isnan(X)[:, None] | (self.inverse == 0)
        return np.where(missing, 0.0, -self.log_scale - np.square(z) / 2)

    def sample(self, y: Ints, rng: np.random.Generator) -> Floats:
        X = self.mean[y] + self.deviation[y] * rng.standard_normal((len(y), self.mean.shape[1]))
        return np.where(self.known, X, np.nan)

    def parameters(self, j: int) -> dict[str, Floats]:
        found = {"mean": self.mean[:, j], "deviation": self.deviation[:, j]}
        return {name: np.where(self.known[j], own, np.nan) for name, own in found.items()}


def gaussian_parameters(
    weight: Floats,
    mean: Floats,
    variance: Floats,
    mean_of_all: Floats,
    variance_of_all: Floats,
    how: Smoothing,
) -> tuple[Floats, Floats]:
    """Means and variances, from those of the cells in each class and in all."""
    if how.ddof:
        freedom = weight - how.ddof
        grown = np.divide(weight, freedom, out=np.zeros_like(freedom), where=freedom > 0)
        variance = variance * grown
    mean = np.where(weight > 0, mean, mean_of_all)
    variance = np.where(weight > 0, variance, variance_of_all)
    return mean, np.maximum(variance, how.variance_floor * variance_of_all)


@dataclass(frozen=True, eq=False)
class LevelColumns:
    """Levels c with shares of the class, for categories and truth values:

        p_kc = (n_kc + alpha) / (n_k + alpha C),

    n_kc the weight of the level, n_k that of all levels, C the number of levels in training. A
    level that was not there in any class adds nothing. 0 / 0 is its limit for small alpha, 1 / C.
    """

    smoothed: ClassVar[bool] = True

    share: Floats
    log_share: Floats
    first: Ints

    @classmethod
    def learned(cls, counts: LevelCounts, how: Smoothing, *, fixed: bool = False) -> "LevelColumns":
        """`fixed` levels are levels whether they were there or not."""
        seen: Any = (counts.counts > 0).any(axis=0) | fixed
        n_levels = counts.by_column(seen[None].astype(float))
        total = counts.by_column(counts.counts) + how.alpha * n_levels
        # Of a column that a class has no cell of, all levels count alike.
        above = np.where(total[:, counts.column] > 0, counts.counts + how.alpha, 1.0) * seen
        below = np.where(total > 0, total, n_levels)[:, counts.column]
        share = np.divide(above, below, out=np.zeros_like(above), where=below > 0)
        with np.errstate(divide="ignore"):
            log_share = np.where(seen, np.log(share), 0.0)
        return cls(share, np.ascontiguousarray(log_share.T), counts.first)

    def add_log_likelihoods(self, X: Floats, out: Floats) -> None:
        add_level_scores(*map(compilable, (X, self.first, self.log_share)), out)

    def cells(self, X: Floats) -> Floats:
        missing = np.isnan(X)
        place = self.first[:-1] + np.where(missing, 0, X).astype(np.int64)
        place = np.minimum(place, max(len(self.log_share) - 1, 0))  # a last column without levels
        found = self.log_share[place] if len(self.log_share) else np.zeros((*X.shape, 1))
        return np.where(missing[:, :, None], 0.0, found).transpose(0, 2, 1)

    def sample(self, y: Ints, rng: np.random.Generator) -> Floats:
        X = np.full((len(y), len(self.first) - 1), np.nan)
        draws = rng.random(X.shape)
        for j in np.flatnonzero(np.diff(self.first)):
            ends = np.cumsum(self.share[:, self.first[j] : self.first[j + 1]], axis=1)
            for k in np.flatnonzero(ends[:, -1]):  # none where the column was always missing
                own = y == k
                last = np.flatnonzero(np.diff(ends[k], prepend=0.0) > 0)[-1]
                code = np.searchsorted(ends[k], draws[own, j], side="right")
                X[own, j] = np.minimum(code, last)
        return X

    def parameters(self, j: int) -> dict[str, Floats]:
        return {"share": self.share[:, self.first[j] : self.first[j + 1]]}


@dataclass(frozen=True, eq=False)
class PoissonColumns:
    """Counts x = 0, 1, 2, ... with the mean of the class, alpha rows like all classes added to it:

        log g_k(x) = x log r_k - r_k,    r_k = (sum of x + alpha m) / (n_k + alpha),

    m the mean over all classes. Nothing is `known` of a column of which no class has a cell.
    """

    smoothed: ClassVar[bool] = True

    rate: Floats
    known: Bools

    @classmethod
    def learned(cls, moments: ColumnMoments, how: Smoothing) -> "PoissonColumns":
        weight, mean_of_all, _ = moments.pooled()
        rate = poisson_rates(moments.weight, moments.mean, mean_of_all, how.alpha)
        return cls(np.minimum(np.ldexp(rate, moments.unit), MOST_COUNTS), weight > 0)

    def add_log_likelihoods(self, X: Floats, out: Floats) -> None:
        there = ~np.isnan(X)
        counts = counts_of(X)
        out += log_products(counts, self.rate) - there @ self.rate.T

    def cells(self, X: Floats) -> Floats:
        counts = counts_of(X)[:, None]
        with np.errstate(divide="ignore"):
            return xlogy(counts, self.rate) - ~np.isnan(X)[:, None] * self.rate

    def sample(self, y: Ints, rng: np.random.Generator) -> Floats:
        return np.where(self.known, poisson_counts(self.rate[y], rng), np.nan)

    def parameters(self, j: int) -> dict[str, Floats]:
        return {"rate": np.where(self.known[j], self.rate[:, j], np.nan)}


def poisson_rates(weight: Floats, mean: Floats, mean_of_all: Floats, alpha: float) -> Floats:
    """Means to which alpha rows like all classes are added."""
    total = weight + alpha
    share = np.divide(alpha, total, out=np.ones_like(total), where=total > 0)
    return np.maximum(np.where(share == 1, mean_of_all, mean + share * (mean_of_all - mean)), 0.0)


@dataclass(frozen=True, eq=False)
class MultinomialColumns:
    """Counts x_c that are given together, as of the words of a text, with shares of the class:

        log g_k(x) = sum_c x_c log p_kc,    p_kc = (n_kc + alpha) / (n_k + alpha C).

    How many counts a row has is not modelled. n_kc is the mean over the rows in which the count is
    there, times the largest weight of such rows. Given the sum of the counts that are there, these
    have the shares p_kc divided by their sum: so missing ones are marginalised.
    """

    smoothed: ClassVar[bool] = True

    share: Floats
    n_counts: Floats

    @classmethod
    def learned(cls, moments: ColumnMoments, how: Smoothing) -> "MultinomialColumns":
        mean = np.minimum(np.ldexp(moments.mean, moments.unit), MOST_COUNTS)
        return cls(multinomial_shares(moments.weight, mean, how.alpha), mean.sum(axis=1))

    def add_log_likelihoods(self, X: Floats, out: Floats) -> None:
        there = ~np.isnan(X)
        counts = counts_of(X)
        out += log_products(counts, self.share)
        some = np.flatnonzero(~there.all(axis=1))
        if len(some):
            out[some] -= counts[some].sum(axis=1)[:, None] * np.log(self._known(there[some]))

    def _known(self, there: Bools) -> Floats:
        """The share of the counts that are there; 1 where it is 0, and any count impossible."""
        known = there @ self.share.T
        return np.where(there.all(axis=1, keepdims=True) | (known == 0), 1.0, known)

    def cells(self, X: Floats) -> Floats:
        there = ~np.isnan(X)
        counts = counts_of(X)[:, None]
        with np.errstate(divide="ignore"):
            return xlogy(counts, self.share) - counts * np.log(self._known(there))[:, :, None]

    def sample(self, y: Ints, rng: np.random.Generator) -> Floats:
        # The parts of a Poisson number of counts are Poisson numbers by themselves.
        return poisson_counts(self.n_counts[y, None] * self.share[y], rng)

    def parameters(self, j: int) -> dict[str, Floats]:
        return {"share": self.share[:, j]}


def multinomial_shares(weight: Floats, mean: Floats, alpha: float) -> Floats:
    """p_kc from weights and means of counts along the last axis."""
    counts = mean * weight.max(axis=-1, keepdims=True) + alpha
    total = counts.sum(axis=-1, keepdims=True)
    even = np.full_like(counts, 1 / counts.shape[-1])
    return np.divide(counts, total, out=even, where=total > 0)


def counts_of(X: Floats) -> Floats:
    """Cells of counts, 0 where missing."""
    return np.where(np.isnan(X), 0.0, np.minimum(X, MOST_COUNTS))


def log_products(counts: Floats, share: Floats) -> Floats:
    """sum_c counts_ic log share_kc, where 0 log 0 = 0: minus infinity where a share is 0 that a
    row has counts of."""
    none: Any = share == 0
    logs = np.log(np.where(none, 1.0, share))
    sums: Any = counts @ logs.T
    if none.any():
        impossible: Any = (counts > 0) @ none.T.astype(float)
        sums[impossible > 0] = -np.inf
    return sums


ColumnDistribution = GaussianColumns | LevelColumns | PoissonColumns | MultinomialColumns
