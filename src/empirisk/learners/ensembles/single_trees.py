"""What a fitted forest says of its single trees."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import hstack
from sklearn.utils.validation import check_is_fitted

from empirisk.data.table_door import check_places
from empirisk.learners.ensembles.draws import Draws
from empirisk.learners.ensembles.forest_members import DrawnRows, ForestMembers
from empirisk.learners.ensembles.forest_trees import ForestTrees
from empirisk.learners.ensembles.member_sequence import MemberSequence
from empirisk.learners.trees.decision_tree import DecisionTree
from empirisk.learners.trees.tree_sums import TreeSums
from empirisk.runtime.arrays import Floats, Ints
from empirisk.runtime.sparse_form import sparse_form
from empirisk.runtime.streams import spawn

OF_A_TREE = (
    "criterion",
    "splitter",
    "max_depth",
    "min_samples_split",
    "min_samples_leaf",
    "min_weight_fraction_leaf",
    "max_features",
    "max_leaf_nodes",
    "min_impurity_decrease",
    "ccp_alpha",
    "monotonic_cst",
    "categorical_features",
)
"""The parameters that a forest hands on to its trees."""


class MembersOf:
    """What each tree of a forest says of the rows of a table, which was prepared once."""

    def __init__(self, forest: Any, places: Floats) -> None:
        self._forest, self._places = forest, places

    def scores(self, b: int, rows: Ints) -> Floats:
        """Tree b's predictions of some rows; of classes, probabilities."""
        return self._forest._scores(self._forest.trees_.values(b, self._places, rows))


class SingleTrees(MemberSequence):
    """The parts of a forest, for a forest with `trees_`, `_criterion`, `_draws` and `_seed`."""

    _tree_type: ClassVar[type[DecisionTree]]
    trees_: ForestTrees
    n_jobs: int | None
    _criterion: str
    _draws: Draws | None
    _seed: int
    _n_samples: int

    def _tree(self) -> DecisionTree:
        """A tree with the parameters of the forest."""
        return self._tree_type(**{name: getattr(self, name) for name in OF_A_TREE})

    def _grown_tree(self) -> DecisionTree:
        """The same, by the criterion that the trees were grown by: it says what they kept."""
        tree = self._tree()
        tree.criterion = getattr(self, "_criterion", tree.criterion)  # older files lack it
        return tree

    def _mean_scores(self, places: Floats) -> Floats:
        """The mean over the trees, of rows as they compare them."""
        return self._scores(self.trees_.mean_value(places, n_jobs=self.n_jobs))  # type: ignore[attr-defined]  # of classifier or regressor

    @property
    def estimator_(self) -> DecisionTree:
        """The tree, not fitted, that all trees of the forest are like."""
        check_is_fitted(self)
        return self._tree()

    @property
    def estimators_(self) -> Sequence[Any]:
        """The trees as learners, made when they are asked for."""
        check_is_fitted(self)
        classes = np.arange(self.n_classes_) if hasattr(self, "n_classes_") else None
        return ForestMembers(self, self.trees_, lambda b: self._grown_tree(), classes)

    @property
    def estimators_samples_(self) -> Sequence[Ints]:
        """The rows that each tree drew, with repeats."""
        check_is_fitted(self)
        if not hasattr(self, "_draws"):
            raise AttributeError(
                "this forest is from a file, which does not keep what belongs to the rows of the "
                "training set: fit it to know the rows that its trees drew"
            )
        return DrawnRows(self._draws, spawn(self._seed, len(self.trees_)), self._n_samples)

    def members_of(self, X: Any) -> MembersOf:
        """What each tree says of the rows of X."""
        return MembersOf(self, check_places(self, X))

    def apply(self, X: Any) -> Ints:
        """(rows, trees): the number of the leaf, among the nodes of its tree, of each row."""
        places = check_places(self, X)
        leaves = self.trees_.all_leaves(places, n_jobs=self.n_jobs)
        nodes = np.flatnonzero(self.trees_.is_leaf())
        first = self.trees_.first_leaf[:-1]
        return nodes[first + leaves] - self.trees_.first_node[:-1]

    def decision_path(self, X: Any) -> tuple[Any, Ints]:
        """Sparse, of shape (rows, nodes of all trees): 1 where a row passes a node; and where the
        nodes of each tree begin."""
        places = check_places(self, X)
        paths = [tree.tree_.decision_path(places) for tree in self.estimators_]
        return sparse_form(hstack(paths, format="csr")), self.trees_.first_node

    @property
    def feature_importances_(self) -> Floats:
        """The impurity that splits by each feature take away, as parts of the sum; mean of trees.

        Features of many values are favoured: they offer more splits, also by chance. See
        `risk.importance` for measures that do not.
        """
        check_is_fitted(self)
        mean: Floats = self.trees_.importances().mean(axis=0)
        return mean / mean.sum() if mean.sum() > 0 else mean

    def _tree_sums(self) -> TreeSums:
        classes = getattr(self, "n_classes_", 0)
        return self.trees_.sums(
            scale=1 / len(self.trees_),
            quantity="probability" if classes else "prediction",
            mirrored=classes == 2,
        )

    def proximity(self, X: Any, other: Any = None) -> Floats:
        """(rows, rows of other): the share of trees in which two rows come to the same leaf.

        Parameters
        ----------
        X : array-like or frame
        other : array-like or frame, optional
            X itself unless given.
        """
        leaves = self.apply(X)
        others = leaves if other is None else self.apply(other)
        found = np.zeros((len(leaves), len(others)))
        for b in range(leaves.shape[1]):
            found += leaves[:, b, None] == others[:, b]
        return found / leaves.shape[1]
