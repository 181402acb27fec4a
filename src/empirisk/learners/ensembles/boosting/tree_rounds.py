"""Trees as weak learners: one coding of the table, and one room to grow in, for all rounds."""

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass

import numpy as np

from empirisk.compiled.boosting.additive_sums import add_stages
from empirisk.data.rank_coding import RankCoding
from empirisk.data.scaling import power_of_two
from empirisk.learners.ensembles.forest_trees import ForestTrees
from empirisk.learners.trees.growth import Grower
from empirisk.learners.trees.limits import limits_of
from empirisk.learners.trees.monotone import checked_signs
from empirisk.learners.trees.regressor import DecisionTreeRegressor
from empirisk.learners.trees.soundness import check_array
from empirisk.learners.trees.targets import Problem, regression_problem
from empirisk.learners.trees.tree_path import checked_alpha
from empirisk.runtime.arrays import Floats, WritableArrays
from empirisk.runtime.errors import DataError
from empirisk.runtime.parallel import parallel, slices
from empirisk.runtime.streams import seed32, spawn

ROWS_AT_ONCE = 2**13  # so that a tree is read for many rows


class TreeRounds:
    """Grows trees on the rows of a coding.

    Where a tree has plain limits, the grower and its room are those of the rounds before, and what
    is kept of it is what it takes to predict. Either way it is bit for bit the tree that a fit of
    the estimator to the same rows, targets and weights has.

    Parameters
    ----------
    tree : DecisionTreeRegressor
        Its `random_state` is that of the round.
    coding : RankCoding
        The training rows.
    copies : bool
        Whether a row whose weight is a whole number counts as so many rows for the limits of rows:
        it does where weights are those of the rows, and stay.
    """

    def __init__(self, tree: DecisionTreeRegressor, coding: RankCoding, *, copies: bool) -> None:
        self.tree, self.coding, self.copies = tree, coding, copies
        self.places = coding.places()
        self._idle: list[Grower] = []

    def fit(self, target: Floats, weight: Floats, seed: int) -> tuple[ForestTrees, Floats]:
        """A tree for a target, and the values of the leaves that the rows come to."""
        trees = (
            self._grown(target, weight, seed) if self._plain else self._path(target, weight, seed)
        )
        return trees, trees.value[trees.leaves(0, self.places), 0]

    def stages(self, members: list[ForestTrees], weights: Floats) -> "StagedTrees":
        return StagedTrees(ForestTrees.of(members), weights)

    @property
    def _plain(self) -> bool:
        """Whether no limit depends on the weights, and trees are not cut back."""
        tree = self.tree
        shares = tree.min_weight_fraction_leaf != 0 or tree.min_impurity_decrease != 0
        whole = checked_alpha(tree.ccp_alpha) > 0 or tree.early_stopping is not False
        return not shares and not whole and tree.criterion == "squared_error"

    def _grown(self, target: Floats, weight: Floats, seed: int) -> ForestTrees:
        problem = regression_problem("squared_error", self.coding, target, weight)
        try:
            grower = self._idle.pop()
        except IndexError:
            grower = self._grower(problem, weight)
        grower.aim(problem.target)
        grower.grow(spawn(_random_state(seed), 1)[0] if self._draws else 0)
        tree = grower.packed()
        self._idle.append(grower)
        return ForestTrees.of_packed(problem.packed_in_units(tree))

    def _grower(self, problem: Problem, weight: Floats) -> Grower:
        p = len(self.coding.columns)
        return Grower(
            self.coding,
            problem.target,
            limits_of(self.tree, problem.weight, weight, p, copies=self.copies),
            checked_signs(self.tree.monotonic_cst, self.coding, problem.target),
            problem.gain_scale,
            self.tree._draws_thresholds(),
        )

    @property
    def _draws(self) -> bool:
        p = len(self.coding.columns)
        return self.tree._draws_thresholds() or self.tree._features_drawn(p) < p

    def _path(self, target: Floats, weight: Floats, seed: int) -> ForestTrees:
        """Any tree; where limits look at weights, these count as they are."""
        tree = copy(self.tree)
        tree.random_state = _random_state(seed)
        path = tree._path(self.coding, target, weight, [tree.ccp_alpha], 0)
        medians = tree.criterion == "absolute_error"
        return ForestTrees.of_tree(path.write(0, tree, None).tree_, medians=medians)


@dataclass(frozen=True, eq=False)
class StagedTrees(WritableArrays):
    """The trees of all rounds and what each counts in the sum.

    Attributes
    ----------
    trees : ForestTrees
        Round after round; within a round one for each column of the sum.
    weights : float64 array of shape (trees,)
    """

    trees: ForestTrees
    weights: Floats

    def check_loaded(self) -> None:
        """Raise a DataError unless each tree, from a file, has a weight and one value a leaf."""
        if not isinstance(self.trees, ForestTrees):
            raise DataError("trees are not those of a forest")
        check_array("weights", self.weights, np.float64, (len(self.trees),))
        if not np.isfinite(self.weights).all() or self.trees.value.shape[1] != 1:
            raise DataError("weights are not finite, or leaves have more than one value")

    def staged(
        self, X: Floats, start: Floats, rounds: Sequence[int], n_jobs: int | None
    ) -> Iterator[Floats]:
        """As `Stages` has it; X as trees compare it."""
        total, K = np.tile(start, (len(X), 1)), len(start)
        done = 0
        for t in rounds:
            self._add(X, total, done * K, t * K, n_jobs)
            done = t
            yield total

    def _add(self, X: Floats, total: Floats, first: int, stop: int, n_jobs: int | None) -> None:
        trees = self.trees

        def add(part: slice) -> None:
            block = X[part]
            leaves = np.empty(len(block), np.int32)
            add_stages(
                *trees._walks(), trees.first_node, trees.first_subset, trees.first_leaf,
                trees.value, self.weights, block, leaves, first, stop, total[part],
            )  # fmt: skip

        parallel(add, slices(len(X), ROWS_AT_ONCE), n_jobs=n_jobs)

    def first(self, rounds: int, columns: int) -> "StagedTrees":
        stop = rounds * columns
        return StagedTrees(self.trees.first(stop), self.weights[:stop])

    def importances(self) -> Floats:
        """What splits by each feature take away of the squared errors of all rounds, as parts.

        The relative influence of Friedman (2001): a tree counts by what it explains. Of trees that
        are grown by absolute errors it is these.
        """
        trees = self.trees
        errors = _absolute_errors(trees) if len(trees.medians) else _squared_errors(trees)
        total = errors @ trees.gains
        return total / total.sum() if total.sum() > 0 else total


def _squared_errors(trees: ForestTrees) -> Floats:
    """At the root of each tree, up to a common factor: those within the leaves and between them."""
    ends, number = trees.first_leaf, np.repeat(np.arange(len(trees)), np.diff(trees.first_leaf))
    unit = power_of_two(np.abs(trees.value).max())
    value, within = trees.value[:, 0] / unit, trees.impurity / unit / unit
    weight = np.add.reduceat(trees.weight, ends[:-1])
    mean = np.add.reduceat(trees.weight * value, ends[:-1]) / weight
    spread = trees.weight * (within + (value - mean[number]) ** 2)
    return np.add.reduceat(spread, ends[:-1])


def _absolute_errors(trees: ForestTrees) -> Floats:
    """The same of absolute errors, which inner nodes keep; a tree without any has no gains."""
    root = np.minimum(trees.first_node - trees.first_leaf, len(trees.medians) - 1)[:-1]
    mean = trees.medians[root, 1] / power_of_two(trees.medians[:, 1].max())
    return np.add.reduceat(trees.weight, trees.first_leaf[:-1]) * mean


def _random_state(seed: int) -> int:
    """As `AnyRounds` gives it to an estimator with one random_state."""
    return seed32(spawn(seed, 1)[0])
