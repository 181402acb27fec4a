"""A test of the assumption of naive Bayes: that columns are independent within each class.

Every pair of columns is tested in every class, on the rows in which both are there:

    numbers, numbers   their correlation r;                  1 - r^2 ~ Beta((n - 2) / 2, 1 / 2)
    numbers, levels    the part of the variance between levels (one-way analysis of variance), R^2:
                                              1 - R^2 ~ Beta((n - g) / 2, (g - 1) / 2), g levels
    levels, levels     Pearson's chi-squared with (r - 1)(c - 1) degrees of freedom

The first two are exact for Gaussian columns and close for others unless there are few rows. Levels
too rare for the approximation are taken together, by their margins alone, which say nothing of
dependence: those with fewer than 5 rows in the second test; in the third so that no cell of the
table is expected to have fewer than 5. The p-values of all pairs and classes are adjusted together
by Holm's method (1979): the probability that any independent pair is called dependent is at most
the level. What is not seen: dependence without correlation or differences of means, and that of
three columns that are pairwise independent.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any, NamedTuple

import numpy as np
from scipy.special import betainc, chdtrc

from empirisk.data.column_moments import extreme_exponent
from empirisk.data.table import Table
from empirisk.runtime.arrays import Array, Floats, Ints
from empirisk.runtime.deadlines import check_deadline
from empirisk.runtime.errors import DataError
from empirisk.runtime.parallel import one_blas_thread

FEWEST = 5  # rows that a level, or a cell of a table, is expected to have
MOST_COLUMNS = 1_000
LEVEL = 0.05
MOST_NAMED = 3
NUMBERS, LEVELS = ("gaussian", "poisson"), ("categorical", "bernoulli")


class Pair(NamedTuple):
    """Two columns in one class: the strength of their dependence, from 0 to 1, and its p-value.

    The strength is the absolute correlation, the root of the part of variance that levels explain,
    or Cramér's V.
    """

    label: Any
    one: str
    other: str
    rows: float
    strength: float
    p_value: float


@dataclass(frozen=True, eq=False)
class IndependenceTest:
    """Whether columns are independent within classes: a test of each pair in each class.

    Attributes
    ----------
    pairs : list of Pair
        Those that could be tested, class by class. Columns of one multinomial are not: their
        counts depend on one another by its very definition.
    adjusted : array of shape (pairs,)
        p-values adjusted for the number of all tests, by Holm's method.
    classes : list
        The labels.
    untested : int
        Pairs in classes in which a column has one value only, or both are there in too few rows.

    Examples
    --------
    >>> from empirisk import NaiveBayes
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 3))
    >>> X[:, 1] += X[:, 0]
    >>> y = (X[:, 2] > 0).astype(int)
    >>> print(NaiveBayes().fit(X, y).independence_test(X, y))
    Of 3 pairs of columns, dependent within a class are (5 % level, 6 tests, Holm):
      class 0: 1, the strongest x0 and x1 (0.69)
      class 1: 1, the strongest x0 and x1 (0.72)
    """

    pairs: list[Pair]
    adjusted: Floats
    classes: list[Any]
    untested: int

    @property
    def p_value(self) -> float:
        """Of the hypothesis that all pairs are independent in all classes."""
        return float(self.adjusted.min(initial=1.0))

    @property
    def by_class(self) -> dict[Any, float]:
        """The smallest adjusted p-value of each class; 1 where nothing could be tested."""
        return {
            label: float(min((p for _, p in self._of_class(label)), default=1.0))
            for label in self.classes
        }

    def dependent(self, level: float = LEVEL) -> list[Pair]:
        """The pairs that are dependent at a level, the strongest first."""
        found = [pair for pair, p in zip(self.pairs, self.adjusted, strict=True) if p <= level]
        return sorted(found, key=lambda pair: -pair.strength)

    def to_table(self) -> Table:
        """A row for each test, in the order of `pairs`."""
        columns: dict[str, Any] = {
            "class": [str(pair.label) for pair in self.pairs],
            "one": [pair.one for pair in self.pairs],
            "other": [pair.other for pair in self.pairs],
            "rows": [float(pair.rows) for pair in self.pairs],
            "strength": [float(pair.strength) for pair in self.pairs],
            "p_value": [float(pair.p_value) for pair in self.pairs],
            "adjusted": self.adjusted,
        }
        kinds: Any = {"class": "category", "one": "category", "other": "category"}
        return Table.of(columns, kinds=kinds)

    @property
    def sentence(self) -> str:
        """The finding in words that can be read out."""
        found = self.dependent()
        tests = f"{len(self.pairs)} tests of pairs of columns within classes"
        if not self.pairs:
            return "No pair of columns could be tested for independence within a class."
        if not found:
            return (
                f"None of {tests} speaks against independence "
                f"({100 * LEVEL:g} % level, least adjusted p-value {self.p_value:.2g})."
            )
        named = "; ".join(
            f"{pair.one} and {pair.other} in {pair.label} ({pair.strength:.2f})"
            for pair in found[:MOST_NAMED]
        )
        return (
            f"{len(found)} of {tests} find dependence ({100 * LEVEL:g} % level for all together), "
            f"the strongest: {named}. What dependent columns share is counted more than once, so "
            "probabilities tend to be too extreme; the classes predicted may still be right."
        )

    def __str__(self) -> str:
        n_pairs = len({(pair.one, pair.other) for pair in self.pairs})
        lines = [
            f"Of {n_pairs} pairs of columns, dependent within a class are ({100 * LEVEL:g} % level,"
            f" {len(self.pairs)} tests, Holm):"
        ]
        found = self.dependent()
        for label in self.classes:
            own = [pair for pair in found if pair.label == label]
            best = [f", the strongest {p.one} and {p.other} ({p.strength:.2f})" for p in own[:1]]
            lines.append(f"  class {label}: {len(own)}{''.join(best)}")
        return "\n".join(lines)

    def _of_class(self, label: Any) -> Iterator[tuple[Pair, float]]:
        for pair, p in zip(self.pairs, self.adjusted, strict=True):
            if pair.label == label:
                yield pair, float(p)


def independence_of(
    X: Floats,
    y: Ints,
    weight: Floats,
    distributions: Sequence[str],
    names: Sequence[str],
    classes: Array,
) -> IndependenceTest:
    """All tests, of cells as `NaiveBayes` has them."""
    if X.shape[1] > MOST_COLUMNS:
        raise DataError(
            f"X has {X.shape[1]:,} columns, and each is tested with each: give at most "
            f"{MOST_COLUMNS:,} of them"
        )
    numbers = [j for j, name in enumerate(distributions) if name in NUMBERS]
    levels = [j for j, name in enumerate(distributions) if name in LEVELS]
    pairs: list[Pair] = []
    n_columns = len(numbers) + len(levels)
    for k, label in enumerate(classes.tolist()):
        own = np.flatnonzero((y == k) & (weight > 0))
        with one_blas_thread():
            found = [*_tests(X[own], weight[own], numbers, levels)]
        for i, j, rows, strength, p in sorted(found):
            pairs.append(Pair(label, names[i], names[j], rows, strength, p))
    every = len(classes) * n_columns * (n_columns - 1) // 2
    adjusted = holm(np.array([pair.p_value for pair in pairs]))
    return IndependenceTest(pairs, adjusted, classes.tolist(), every - len(pairs))


Test = tuple[int, int, float, float, float]
"""Two columns, rows, strength, p-value."""


def _tests(X: Floats, weight: Floats, numbers: list[int], levels: list[int]) -> Iterator[Test]:
    """Of the rows of one class."""
    if not len(X):
        return
    Z, there = _standardised(X[:, numbers], weight)
    for a, b, test in _correlations(Z, there, weight):
        yield _ordered(numbers[a], numbers[b], *test)
    for place, i in enumerate(levels):
        check_deadline()
        if numbers:
            for a, test in _between_levels(X[:, i], Z, there, weight):
                yield _ordered(i, numbers[a], *test)
        for j in levels[place + 1 :]:
            found = _chi_squared(X[:, i], X[:, j], weight)
            if found is not None:
                yield _ordered(i, j, *found)


def _ordered(i: int, j: int, rows: float, strength: float, p: float) -> Test:
    return min(i, j), max(i, j), rows, strength, p


def _standardised(X: Floats, weight: Floats) -> tuple[Floats, Floats]:
    """Columns about their means in standard deviations, 0 where missing or constant, and 1 where
    they are there and vary."""
    there = ~np.isnan(X)
    filled = np.where(there, X, 0.0)
    filled = np.ldexp(filled, -extreme_exponent(np.abs(filled).max(axis=0, initial=0.0)))
    total = weight @ there
    with np.errstate(divide="ignore", invalid="ignore"):
        first = filled[there.argmax(axis=0), np.arange(X.shape[1])]
        filled = np.where(there, filled - first, 0.0)
        filled = np.where(there, filled - (weight @ filled) / total, 0.0)
        deviation = np.sqrt((weight @ np.square(filled)) / total)
        Z = filled / deviation
    varies = deviation > 0
    return np.where(there & varies, Z, 0.0), (there & varies).astype(float)


def _correlations(
    Z: Floats, there: Floats, weight: Floats
) -> Iterator[tuple[int, int, tuple[float, float, float]]]:
    """Of every pair of numbers, on the rows where both are there."""
    weighted, mask = Z * weight[:, None], there * weight[:, None]
    n = mask.T @ there
    first, square, product = weighted.T @ there, (weighted * Z).T @ there, weighted.T @ Z
    with np.errstate(divide="ignore", invalid="ignore"):
        variance = square - first**2 / n
        r2 = (product - first * first.T / n) ** 2 / (variance * variance.T)
    for a, b in zip(*np.triu_indices(len(n), 1), strict=True):
        # Of columns in standard deviations less than 1e-10 is rounding.
        if n[a, b] > 2 and min(variance[a, b], variance[b, a]) > 1e-10 * n[a, b]:
            found = float(min(r2[a, b], 1.0))
            p = float(betainc((n[a, b] - 2) / 2, 0.5, 1 - found))
            yield int(a), int(b), (float(n[a, b]), sqrt(found), p)


def _between_levels(
    codes: Floats, Z: Floats, there: Floats, weight: Floats
) -> Iterator[tuple[int, tuple[float, float, float]]]:
    """Of one column of levels and every column of numbers."""
    rows = np.flatnonzero(~np.isnan(codes))
    if not len(rows):
        return
    group = codes[rows].astype(np.int64)
    count = np.bincount(group, weight[rows])
    rare = count < FEWEST
    group = np.where(rare, len(count), np.arange(len(count)))[group]
    group = np.unique(group, return_inverse=True)[1]
    member = (group == np.arange(group.max() + 1)[:, None]) * weight[rows]
    n, sums = member @ there[rows], member @ Z[rows]
    squares = weight[rows] @ np.square(Z[rows])
    total, some = n.sum(axis=0), (n > 0).sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        middle = sums.sum(axis=0) ** 2 / total
        between = np.where(n > 0, sums**2 / n, 0.0).sum(axis=0) - middle
        whole = squares - middle
        part = np.clip(between / whole, 0.0, 1.0)
    for a in range(Z.shape[1]):
        if some[a] > 1 and total[a] > some[a] and whole[a] > 1e-10 * total[a]:
            p = betainc((total[a] - some[a]) / 2, (some[a] - 1) / 2, 1 - part[a])
            yield a, (float(total[a]), sqrt(part[a]), float(p))


def _chi_squared(
    one: Floats, other: Floats, weight: Floats
) -> tuple[float, float, float] | None:
    """Of two columns of levels."""
    rows = np.flatnonzero(~(np.isnan(one) | np.isnan(other)))
    if not len(rows):
        return None
    a, b = one[rows].astype(np.int64), other[rows].astype(np.int64)
    shape = int(a.max()) + 1, int(b.max()) + 1
    table = np.bincount(a * shape[1] + b, weight[rows], shape[0] * shape[1]).reshape(shape)
    n = table.sum()
    table = _pooled(_pooled(table, n).T, n).T
    if min(table.shape) < 2:
        return None
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / n
    statistic = float((np.square(table - expected) / expected).sum())
    freedom = (table.shape[0] - 1) * (table.shape[1] - 1)
    strength = sqrt(min(statistic / n / (min(table.shape) - 1), 1.0))
    return float(n), strength, float(chdtrc(freedom, statistic))


def _pooled(table: Floats, n: float) -> Floats:
    """Rows of a table of which each has at least sqrt(5 n), the rare ones added up.

    Where both margins are so large, no cell is expected to have fewer than 5.
    """
    margin = table.sum(axis=1)
    least = sqrt(FEWEST * n)
    common, rare = table[margin >= least], table[margin < least].sum(axis=0)
    if rare.sum() >= least:
        return np.vstack([common, rare])
    if len(common):
        common[common.sum(axis=1).argmin()] += rare
    return common


def holm(p_values: Floats) -> Floats:
    """p-values adjusted so that rejecting those up to a level errs at all with that probability.

    Examples
    --------
    >>> holm(np.array([0.01, 0.04, 0.03]))
    array([0.03, 0.06, 0.06])
    """
    order = np.argsort(p_values, kind="stable")
    steps = (len(order) - np.arange(len(order))) * p_values[order]
    adjusted = np.empty(len(order))
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return adjusted
