"""Rounds of stumps for two classes: the table is sorted and cut into bins once for all of them.

A stump is the tree that `DecisionTreeClassifier(max_depth=1)` grows to the same weights: which
split is best, and which of equal ones is taken, does not depend on the way it is found
(`compiled.boosting.stumps`).
"""

from typing import Any

import numpy as np

from empirisk.compiled.boosting.stumps import (
    FEATURE,
    GAIN,
    LEFT,
    MISSING_LEFT,
    MOST_BINS,
    N_LEFT,
    RIGHT,
    SPLIT,
    THRESHOLD,
    bin_rows,
    divide,
    find_split,
    reweigh,
    weigh_bins,
)
from empirisk.compiled.trees import criteria
from empirisk.compiled.trees.layout import UNSEEN
from empirisk.data.rank_coding import RankCoding
from empirisk.learners.ensembles.boosting.members import BoostedTrees
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
SMALL_WORK = 2**19  # rows times features of a round: less is not worth to share out
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


def are_stumps(tree: Any, coding: RankCoding, n_classes: int) -> bool:
    """Whether such trees are splits of the rows of two classes by a number, which has to vary."""
    if type(tree) is not DecisionTreeClassifier or n_classes != 2:
        return False
    for name, wanted in STUMP.items():
        given = getattr(tree, name)
        if type(given) is not type(wanted) or given != wanted:
            return False
    numbers = all(column.kind == "number" for column in coding.columns)
    known = isinstance(tree.criterion, str) and tree.criterion in KINDS
    return numbers and known and any(_varies(coding.codes(j)) for j in range(coding.shape[1]))


def _varies(codes: Array) -> bool:
    return bool((codes != codes[0]).any())


class WeightedStumps:
    """Stumps in rounds, and the weights of the rows (as `samme.WeightedRows` has them).

    Parameters
    ----------
    tree : DecisionTreeClassifier
    coding : RankCoding
    y : int array of class codes 0 and 1
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
        self._coding, self._n_first = coding, int((y == 0).sum())
        self._rows = coding.row_numbers()[by_class]
        self._weight, self._floor = weight[by_class], floor[by_class]
        ends = (0, self._n_first), (self._n_first, len(y))
        self._totals = np.array([self._weight[a:b].sum() for a, b in ends])
        self._kind = KINDS[tree.criterion]
        self._costs = np.ascontiguousarray(1.0 - np.eye(2))
        self._goes_left = np.empty(len(y), bool)
        self._split, self._labels = np.zeros(SPLIT), np.zeros(2, np.int64)
        self._kept: list[tuple[Floats, Ints]] = []
        n, p = coding.shape
        self._n_jobs = n_jobs if n * p > SMALL_WORK else 1
        self._parts = slices(p, FEATURES_AT_ONCE)
        self._make_bins(n, p)

    def _make_bins(self, n: int, p: int) -> None:
        self._order, self._bins = np.empty((p, n), np.uint32), np.empty((p, n), np.uint8)
        self._ends = np.empty((p, MOST_BINS), np.int64)
        self._n_bins, self._fine = np.empty(p, np.int64), np.empty(p, bool)
        self._cells = np.empty((p, 2, MOST_BINS + 1))
        self._reach, self._ceiling = np.empty((2, p))
        coding = self._coding

        def cut(part: slice) -> None:
            bin_rows(
                coding.small, coding.medium, coding.large, coding.features, self._rows, part.start,
                self._order[part], self._bins[part], self._ends[part], self._n_bins[part],
                self._fine[part],
            )  # fmt: skip

        parallel(cut, self._parts, n_jobs=self._n_jobs)

    def fit(self, seed: int) -> float:
        """Find the stump for the weights there are; its weighted error."""
        parallel(self._weigh, self._parts, n_jobs=self._n_jobs)
        coding, split = self._coding, self._split
        table = coding.small, coding.medium, coding.large, coding.features
        find_split(
            *table, coding.points, self._rows, self._order, self._ends, self._n_bins, self._fine,
            self._kind, self._costs, self._weight, self._n_first, self._totals,
            2.0 if self._kind == criteria.GINI_TWO else 1.0, self._cells, self._reach,
            self._ceiling, split,
        )  # fmt: skip
        divide(*table, self._rows, self._n_first, self._weight, split, self._goes_left)
        sides = split[[[RIGHT, LEFT], [RIGHT + 1, LEFT + 1]]]  # of each class, right and left
        shares = sides[1] / sides.sum(axis=0)
        self._labels = (shares > 1.0 - shares).astype(np.int64)
        self._wrong = self._labels != np.array([[0], [1]])
        return float(sides[self._wrong].sum() / sides.sum())

    def _weigh(self, part: slice) -> None:
        weigh_bins(
            self._bins[part], self._weight, self._n_first, self._n_bins[part], self._fine[part],
            self._kind, self._costs, self._totals, self._cells[part], self._reach[part],
            self._ceiling[part],
        )  # fmt: skip

    def keep(self) -> None:
        """The last stump belongs to the ensemble."""
        self._kept.append((self._split.copy(), self._labels))

    def reweigh(self, factor: float, error: float) -> None:
        """Multiply the weights of the rows that the last stump has right, and make the sum 1."""
        factors = np.where(self._wrong, 1.0, factor)
        norm = float(self._totals.sum()) * (error + (1.0 - error) * factor)
        reweigh(
            self._weight, self._floor, self._n_first, self._goes_left, factors, norm, self._totals
        )

    def members(self) -> BoostedTrees:
        """The stumps that were kept."""
        splits = np.array([split for split, _ in self._kept])
        labels = np.array([labels[::-1] for _, labels in self._kept])  # left ones first
        trees = packed_stumps(splits, *self._coding.shape)
        return BoostedTrees.of(trees, labels.reshape(-1), self._coding)


def packed_stumps(splits: Floats, n: int, p: int) -> ForestTrees:
    """Splits of n rows by p features as trees: a root and two leaves each."""
    T = len(splits)
    sides = splits[:, LEFT : RIGHT + 2].reshape(2 * T, 2)
    weight = sides.sum(axis=1)
    on_left, on_right = weight.reshape(T, 2).T
    missing = splits[:, MISSING_LEFT]
    missing_left = np.where(missing == UNSEEN, on_left > on_right, missing == 1.0)
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
        value=sides[:, 1:] / weight[:, None],
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
