"""Rounds of stumps: the table is sorted and cut into bins once for all of them.

A stump is the tree that `DecisionTreeClassifier(max_depth=1)` grows to the same weights: which
split is best, and which of equal ones is taken, does not depend on the way it is found
(`compiled.boosting.stumps`).
"""

from typing import Any

import numpy as np

from empirisk.compiled.boosting.split_terms import (
    FEATURE,
    GAIN,
    MISSING_LEFT,
    N_LEFT,
    SPLIT,
    THRESHOLD,
    WORTH,
)
from empirisk.compiled.boosting.stump_bins import MOST_BINS, bin_rows
from empirisk.compiled.boosting.stumps import divide, find_split, reweigh, weigh_bins
from empirisk.compiled.trees import criteria
from empirisk.compiled.trees.finishing import ROUNDING
from empirisk.compiled.trees.layout import UNSEEN
from empirisk.data.rank_coding import RankCoding
from empirisk.learners.ensembles.boosting.ada_boost_members import MemberTrees
from empirisk.learners.ensembles.forest_trees import NOT_A_NUMBER, ForestTrees
from empirisk.learners.trees.classifier import DecisionTreeClassifier
from empirisk.runtime.arrays import Array, Floats, Ints
from empirisk.runtime.parallel import parallel, slices

KINDS = {
    "gini": criteria.GINI_TWO,
    "entropy": criteria.ENTROPY_TWO,
    "log_loss": criteria.ENTROPY_TWO,
    "misclassification": criteria.COST_TWO,
}
FEATURES_AT_ONCE = 8
MOST_ROWS = 2**31  # one bit of a row's number is a mark
SMALL_WORK = 2**21  # rows times features of a round: less is not worth to share out
# What makes a tree a stump without further limits.
STUMP = {
    "splitter": "best",
    "max_depth": 1,
    "min_samples_split": 2,
    "min_samples_leaf": 1,
    "min_weight_fraction_leaf": 0.0,
    "max_features": None,
    "max_leaf_nodes": None,
    "min_impurity_decrease": 0.0,
    "class_weight": None,
    "ccp_alpha": 0.0,
    "monotonic_cst": None,
    "cost_matrix": None,
    "early_stopping": False,
}


class NoSplitError(Exception):
    """No split leaves weight on both sides, to the rounding of sums: the tree has no split."""


def are_stumps(tree: Any, coding: RankCoding, n_classes: int) -> bool:
    """Whether such trees are splits of the rows by a number, one of which has to vary."""
    if type(tree) is not DecisionTreeClassifier or n_classes < 2 or len(coding) >= MOST_ROWS:
        return False
    if not isinstance(tree.criterion, str) or tree.criterion not in KINDS:
        return False
    if n_classes > 2 and tree.criterion != "gini":
        return False
    for name, wanted in STUMP.items():
        given = getattr(tree, name)
        if type(given) is not type(wanted) or given != wanted:
            return False
    numbers = all(column.kind == "number" for column in coding.columns)
    return numbers and any(_varies(coding.codes(j)) for j in range(coding.shape[1]))


def _varies(codes: Array) -> bool:
    return bool((codes != codes[0]).any())


class WeightedStumps:
    """Stumps in rounds, and the weights of the rows (as `samme.WeightedRows` has them).

    Parameters
    ----------
    tree : DecisionTreeClassifier
    coding : RankCoding
    y : int array of class codes 0..K-1, each present
    weight : float64 array
        At the start, of sum 1.
    floor : float64 array
        What no weight falls below.
    n_jobs : int, optional
        Threads, which share the features.
    """

    def __init__(
        self,
        tree: Any,
        coding: RankCoding,
        y: Ints,
        weight: Floats,
        floor: Floats,
        n_jobs: int | None,
    ) -> None:
        by_class = np.argsort(y, kind="stable")
        K = int(y.max()) + 1
        self._coding, self._rows = coding, coding.row_numbers()[by_class]
        self._classes = y[by_class].astype(np.int32)
        self._starts = np.searchsorted(self._classes, np.arange(K + 1))
        self._weight, self._floor = weight[by_class], floor[by_class]
        self._totals = np.add.reduceat(self._weight, self._starts[:-1])
        self._kind = KINDS[tree.criterion]
        self._gain_scale = 2.0 if K == 2 and tree.criterion == "gini" else 1.0  # of one of two sums
        self._costs = np.ascontiguousarray(1.0 - np.eye(2))
        self._goes_left = np.empty(len(y), bool)
        self._split, self._sides = np.zeros(SPLIT), np.zeros((K, 2))
        self._labels, self._wrong = np.zeros(2, np.int64), np.zeros((K, 2), bool)
        self._kept: list[tuple[Floats, Floats, Ints]] = []
        n, p = coding.shape
        self._n_jobs = n_jobs if n * p > SMALL_WORK else 1
        self._parts = slices(p, FEATURES_AT_ONCE)
        self._make_bins(n, p)

    def fit(self, seed: int) -> float:
        """Find the stump for the weights there are; its weighted error."""
        parallel(self._weigh, self._parts, n_jobs=self._n_jobs)
        coding = self._coding
        table = coding.small, coding.medium, coding.large, coding.features
        find_split(
            *table, coding.points, self._rows, self._order, self._ends, self._n_bins, self._fine,
            self._kind, self._costs, self._weight, self._starts, self._classes, self._totals,
            self._gain_scale, self._cells, self._reach, self._ceiling, self._split,
        )  # fmt: skip
        if self._split[WORTH] == -np.inf:
            raise NoSplitError
        divide(
            *table, self._rows, self._starts, self._weight, self._split, self._goes_left,
            self._sides,
        )  # fmt: skip
        self._labels = shares_of(self._sides.T).argmax(axis=1)
        self._wrong = self._labels != np.arange(len(self._totals))[:, None]
        return float(self._sides[self._wrong].sum() / self._sides.sum())

    def keep(self) -> None:
        """The last stump belongs to the ensemble."""
        self._kept.append((self._split.copy(), self._sides.copy(), self._labels))

    def reweigh(self, factor: float, error: float) -> None:
        """Multiply the weights of the rows that the last stump has right, and make the sum 1."""
        factors = np.where(self._wrong, 1.0, factor)
        norm = float(self._totals.sum()) * (error + (1.0 - error) * factor)
        reweigh(
            self._weight, self._floor, self._starts, self._goes_left, factors, norm, self._totals
        )

    def members(self) -> MemberTrees:
        """The stumps that were kept."""
        splits, sides, labels = map(np.array, zip(*self._kept, strict=True))
        sides = sides.transpose(0, 2, 1)[:, ::-1].reshape(-1, len(self._totals))  # left ones first
        trees = packed_stumps(splits, sides, *self._coding.shape)
        return MemberTrees.of(trees, labels[:, ::-1].reshape(-1), self._coding)

    def _make_bins(self, n: int, p: int) -> None:
        self._order, self._bins = np.empty((p, n), np.uint32), np.empty((p, n), np.uint8)
        self._ends = np.empty((p, MOST_BINS), np.int64)
        self._n_bins, self._fine = np.empty(p, np.int64), np.empty(p, bool)
        self._cells = np.empty((p, len(self._totals), MOST_BINS + 1))
        self._reach, self._ceiling = np.empty((2, p))
        coding = self._coding

        def cut(part: slice) -> None:
            bin_rows(
                coding.small, coding.medium, coding.large, coding.features, self._rows, part.start,
                self._order[part], self._bins[part], self._ends[part], self._n_bins[part],
                self._fine[part],
            )  # fmt: skip

        parallel(cut, self._parts, n_jobs=self._n_jobs)

    def _weigh(self, part: slice) -> None:
        weigh_bins(
            self._bins[part], self._weight, self._starts, self._n_bins[part], self._fine[part],
            self._kind, self._costs, self._totals, self._cells[part], self._reach[part],
            self._ceiling[part],
        )  # fmt: skip


def shares_of(sides: Floats) -> Floats:
    """The shares of the classes in each row; of two classes the first is what is left, as in trees.

    Examples
    --------
    >>> shares_of(np.array([[1.0, 3.0], [2.0, 0.0]]))
    array([[0.25, 0.75],
           [1.  , 0.  ]])
    """
    shares: Floats = sides / sides.sum(axis=1, keepdims=True)
    if shares.shape[1] == 2:
        shares[:, 0] = 1.0 - shares[:, 1]
    return shares


def packed_stumps(splits: Floats, sides: Floats, n: int, p: int) -> ForestTrees:
    """Splits of n rows by p features as trees: a root and two leaves each.

    `sides` are the weights of the classes in the leaves: (leaves, classes).
    """
    T = len(splits)
    weight = sides.sum(axis=1)
    on_left, on_right = weight.reshape(T, 2).T
    shares, missing = shares_of(sides), splits[:, MISSING_LEFT]
    heavier = on_left > on_right * (1.0 + ROUNDING)  # to the heavier side, as in `finishing`
    missing_left = np.where(missing == UNSEEN, heavier, missing == 1.0)
    feature, n_left = splits[:, [FEATURE, N_LEFT]].T.astype(np.int64)
    nodes = np.empty((T, 3, 2), np.int64)
    nodes[:, 0, 0] = np.ascontiguousarray(splits[:, THRESHOLD]).view(np.int64)
    nodes[:, 0, 1] = (4 * feature + missing_left) | np.int64(2) << 32
    nodes[:, 1:, 0] = NOT_A_NUMBER | np.arange(2)
    nodes[:, 1:, 1] = np.arange(1, 3) << 32
    gains = np.zeros((T, p))
    gains[np.arange(T), feature] = splits[:, GAIN]
    return ForestTrees(
        nodes=nodes.reshape(3 * T, 2),
        value=np.ascontiguousarray(shares[:, 1:] if shares.shape[1] == 2 else shares),
        weight=weight,
        rows=np.column_stack([n_left, n - n_left]).reshape(-1).astype(np.int32),
        impurity=np.empty(0),
        subsets=np.empty(0, np.uint32),
        first_node=3 * np.arange(T + 1),
        first_leaf=2 * np.arange(T + 1),
        first_subset=np.zeros(T + 1, np.int64),
        gains=gains,
        medians=np.empty((0, 2)),
    )
