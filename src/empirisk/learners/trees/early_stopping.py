"""Early stopping: growth ends where the loss on a validation part stops falling.

The tree grows best first on the other rows. The number of splits that it keeps is the one with the
least loss on the validation part; the search for it ends after so many splits without a lower one.
All numbers of splits are judged in one walk of the validation rows: split s changes only the rows
that pass its node.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.model_selection import train_test_split

from empirisk.data.rank_coding import RankCoding
from empirisk.learners.trees.limits import ROUNDING
from empirisk.learners.trees.tree import Tree
from empirisk.learners.trees.tree_path import TreePath
from empirisk.runtime.arrays import Array, Floats
from empirisk.runtime.errors import DataError, ParameterError
from empirisk.runtime.scalars import real, whole
from empirisk.runtime.streams import seed32, spawn


class StoppedPath(TreePath):
    """The path of a tree that is grown on a part of the rows and judged on the others."""

    def __init__(
        self,
        learner: Any,
        coding: RankCoding,
        y: Array,
        weight: Floats,
        values: Sequence[Any],
        n_classes: int,
    ) -> None:
        train, held_out = _parts(learner, y, n_classes)
        self._judges = coding[held_out].places(), y[held_out], weight[held_out]
        super().__init__(learner, coding[train], y[train], weight[train], values, n_classes)
        del self._judges

    def _grown(self, y: Array, weight: Floats) -> Tree:
        learner, n_classes, changes = self.learner, self.n_classes, {}
        if learner.max_leaf_nodes is None:
            changes["max_leaves"] = max(len(y), 2)  # any number: they are opened best first
        tree = learner._grown(self.coding, y, weight, n_classes, **changes)
        losses = _node_losses(learner, tree, *self._judges, n_classes)
        kept = best_size(tree, losses, learner.n_iter_no_change)
        return tree.cut_back(tree.split_order >= kept)


def best_size(tree: Tree, losses: Floats, patience: int) -> int:
    """The number of splits with the least loss, the first of equals.

    losses[t] >= 0 is the loss of the rows that pass node t, were it a leaf. Losses that differ by
    no more than ROUNDING of the largest so far, which they were added up from, are equal.
    """
    order = np.argsort(np.where(tree.is_leaf, tree.node_count, tree.split_order), kind="stable")
    inner = order[: tree.node_count - tree.n_leaves]
    right = tree.children_right[inner]
    change = losses[inner + 1] + losses[right] - losses[inner]
    path = np.concatenate([[losses[0]], losses[0] + np.cumsum(change)])
    margin = ROUNDING * np.maximum.accumulate(path)
    best = 0
    for size in range(1, len(path)):
        if path[size] + margin[size] < path[best]:
            best = size
        elif size - best >= patience:
            break
    return best


def _node_losses(
    learner: Any, tree: Tree, places: Floats, y: Array, weight: Floats, n_classes: int
) -> Floats:
    passed = tree.decision_path(places).tocoo()
    rows, nodes = passed.coords
    losses = (weight / weight.max())[rows] * learner._losses(tree, nodes, y[rows], n_classes)
    return np.bincount(nodes, losses, minlength=tree.node_count).astype(np.float64)


def _parts(learner: Any, y: Array, n_classes: int) -> tuple[Array, Array]:
    share = real(learner.validation_fraction)
    if share is None or not 0 < share < 1:
        raise ParameterError(
            f"validation_fraction is {learner.validation_fraction!r}; it must be between 0 and 1"
        )
    if (whole(learner.n_iter_no_change) or 0) < 1:
        raise ParameterError(
            f"n_iter_no_change is {learner.n_iter_no_change!r}; it must be a whole number from 1"
        )
    if len(y) < 2:
        raise DataError("early_stopping needs at least 2 rows, this is 1 sample: switch it off")
    stratified = n_classes > 1 and np.bincount(y).min() > 1
    enough = stratified and min(share, 1 - share) * len(y) >= n_classes
    return train_test_split(
        np.arange(len(y)),
        test_size=share,
        random_state=seed32(spawn(learner.random_state, 1)[0]),
        stratify=y if enough else None,
    )
