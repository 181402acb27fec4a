"""Weak learners in rounds: one estimator fitted again and again to the same rows, weighted anew.

Trees of this library share one coding of the table; what they grow to is kept in flat arrays.
"""

from typing import Any, Protocol

import numpy as np

from empirisk.data.rank_coding import RankCoding
from empirisk.learners.ensembles.bagged_trees import are_trees
from empirisk.learners.ensembles.boosting.ada_boost_members import (
    MemberEstimators,
    Members,
    MemberTrees,
    codes_or_numbers,
)
from empirisk.learners.ensembles.forest_trees import ForestTrees
from empirisk.learners.ensembles.members import fresh, random_states, rows_of, rows_to_fit
from empirisk.learners.trees.tree import Tree
from empirisk.runtime.arrays import Array, Floats


class WeakLearners(Protocol):
    """What a round of boosting asks for."""

    def fit(self, weight: Floats, seed: int) -> Array:
        """Fit one to the rows of positive weight; its predictions of all rows.

        Of classes these are their codes.
        """

    def keep(self) -> None:
        """The last one belongs to the ensemble."""

    def members(self) -> Members:
        """Those that were kept."""


def are_flat_trees(estimator: Any) -> bool:
    """Whether weak learners share a coding and are kept in flat arrays.

    Not with costs of mistakes, which flat arrays do not know.
    """
    return are_trees(estimator) and getattr(estimator, "cost_matrix", None) is None


class WeakTrees:
    """Trees of this library, for classes 0..n_classes-1 or, where n_classes is 0, for numbers."""

    def __init__(self, tree: Any, coding: RankCoding, y: Array, n_classes: int) -> None:
        self.tree, self.coding, self.y, self.n_classes = tree, coding, y, n_classes
        self._random_states = random_states(tree)
        self._places = coding.places()
        self._kept: list[ForestTrees] = []
        self._labels: list[Array] = []
        self._last: tuple[Tree, Array] | None = None

    def fit(self, weight: Floats, seed: int) -> Array:
        learner = fresh(self.tree, self._random_states, seed)
        coding, y = self.coding, self.y
        if not (weight > 0).all():
            rows = np.flatnonzero(weight > 0)
            coding, y, weight = coding[rows], y[rows], weight[rows]
        path = learner._path(coding, y, weight, [learner.ccp_alpha], self.n_classes)
        tree = path.tree
        if path.sequence is not None:
            tree = tree.cut_back(path.sequence.leaves(learner.ccp_alpha))
        says = tree.value[:, 0, 0]
        if self.n_classes:
            says = learner._labels_of(tree, self.n_classes)
        self._last = tree, says
        return says[tree.apply(self._places)]

    def keep(self) -> None:
        assert self._last is not None
        tree, says = self._last
        medians = self.tree.criterion == "absolute_error"
        self._kept.append(ForestTrees.of_tree(tree, classes=self.n_classes, medians=medians))
        if self.n_classes:
            self._labels.append(says[tree.is_leaf])

    def members(self) -> MemberTrees:
        labels = np.concatenate(self._labels) if self.n_classes else None
        return MemberTrees.of(ForestTrees.of(self._kept), labels, self.coding)


class WeakEstimators:
    """Estimators of any origin.

    Parameters
    ----------
    estimator : estimator
    X : array, sparse matrix or frame
    y : float array, or codes of the labels
    labels : array or None
        What the codes stand for; None for numbers.
    """

    def __init__(self, estimator: Any, X: Any, y: Array, labels: Array | None) -> None:
        self.estimator, self.X, self.y, self.labels = estimator, X, y, labels
        self._random_states = random_states(estimator)
        self._kept: list[Any] = []
        self._last: Any = None

    def fit(self, weight: Floats, seed: int) -> Array:
        self._last = fresh(self.estimator, self._random_states, seed)
        rows, arguments = rows_to_fit(self._last, weight)
        y = self.y[rows] if self.labels is None else self.labels[self.y[rows]]
        self._last.fit(rows_of(self.X, rows), y, **arguments)
        return codes_or_numbers(self._last, self.X, self.labels)

    def keep(self) -> None:
        self._kept.append(self._last)

    def members(self) -> MemberEstimators:
        return MemberEstimators(self._kept)
