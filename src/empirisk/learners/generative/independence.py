"""A test of the assumption of naive Bayes: that columns are independent within each class.

Every pair of columns is tested in every class: see `pair_tests`. The p-values of all pairs and
classes are adjusted together by Holm's method (1979): the probability that any independent pair is
called dependent is at most the level, as nearly as the p-values are exact. What is not seen:
dependence in which numbers neither rise nor fall with one another and are not higher in one level
than in another, and that of three columns that are pairwise independent.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from empirisk.data.table import Table
from empirisk.learners.generative.pair_tests import pair_tests
from empirisk.runtime.arrays import Array, Floats, Ints
from empirisk.runtime.errors import DataError
from empirisk.runtime.parallel import one_blas_thread

MOST_COLUMNS = 1_000
LEVEL = 0.05
MOST_NAMED = 3
NUMBERS, LEVELS = ("gaussian", "poisson", "kernel"), ("categorical", "bernoulli")


class Pair(NamedTuple):
    """Two columns in one class: the strength of their dependence, from 0 to 1, and its p-value.

    The strength is the absolute correlation of the ranks, the root of the part of their variance
    that levels explain, or Cramér's V.
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
        Pairs in classes in which a column has one value only, or nearly so, or both are there in
        too few rows.

    Examples
    --------
    >>> from empirisk import NaiveBayes
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 3))
    >>> X[:, 1] += X[:, 0]
    >>> y = (X[:, 2] > 0).astype(int)
    >>> print(NaiveBayes().fit(X, y).independence_test(X, y))
    Of 3 pairs of columns, dependent within a class are (5 % level, 6 tests, Holm):
      class 0: 1, the strongest x0 and x1 (0.66)
      class 1: 1, the strongest x0 and x1 (0.70)
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
            found = [*pair_tests(X[own], weight[own], numbers, levels)]
        for i, j, rows, strength, p in sorted(found):
            pairs.append(Pair(label, names[i], names[j], rows, strength, p))
    every = len(classes) * n_columns * (n_columns - 1) // 2
    adjusted = holm(np.array([pair.p_value for pair in pairs]))
    return IndependenceTest(pairs, adjusted, classes.tolist(), every - len(pairs))


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
