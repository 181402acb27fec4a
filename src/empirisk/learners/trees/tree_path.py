"""A tree at all values of ccp_alpha, from one growth."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import clone

from empirisk.data.rank_coding import RankCoding
from empirisk.data.table_door import kept_columns
from empirisk.learners.trees.pruning import PruningSequence, threshold_of
from empirisk.learners.trees.tree import Tree
from empirisk.risk.axis import Output, Path
from empirisk.runtime.arrays import Array, Floats
from empirisk.runtime.errors import ParameterError
from empirisk.runtime.scalars import real

FOUND_BY_CHANCE = (
    "a split of the tree gains more than twice what one above it does: trees from other rows may "
    "miss it, and simulated intervals at 90 % of such trees covered 71 to 94 %; rows kept for a "
    "test tell the risk of the tree at hand (risk.holdout)"
)


class TreePath(Path):
    """The nested trees of one training set; the path of a learner along `ccp_alpha`."""

    same_as_fit = True

    def __init__(
        self,
        learner: Any,
        coding: RankCoding,
        y: Array,
        weight: Floats,
        values: Sequence[Any],
        n_classes: int,
    ) -> None:
        self.learner, self.values = learner, [checked_alpha(value) for value in values]
        self.n_classes, self.coding, self.flat = n_classes, coding, y.ndim == 1
        self.tree = self._grown(y, weight)
        self.sequence: PruningSequence | None = None
        if any(value > 0 for value in self.values):
            self.sequence = learner._pruning(self.tree, n_classes)

    def _grown(self, y: Array, weight: Floats) -> Tree:
        """The tree before pruning."""
        return self.learner._grown(self.coding, y, weight, self.n_classes)

    def predict_path(self, X: Any, output: Output) -> Array:
        leaves = self._leaves(X.places())
        if self.n_classes == 0:
            values = self.tree.value[:, :, 0][leaves]
            return values[..., 0] if self.flat else values
        if output == "value":
            return self.learner._labels_of(self.tree, self.n_classes)[leaves]
        return self.tree.value[:, 0][leaves]

    def _leaves(self, places: Floats) -> Array:
        if self.sequence is None:
            return np.repeat(self.tree.apply(places)[:, None], len(self.values), axis=1)
        thresholds = np.array([threshold_of(value) for value in self.values])
        order = np.argsort(thresholds, kind="stable")
        leaves = self.tree.apply_pruned(places, self.sequence.alpha, thresholds[order])
        return leaves[:, np.argsort(order, kind="stable")]

    def at(self, j: int) -> Any:
        classes = np.arange(self.n_classes) if self.n_classes else None
        return self.write(j, clone(self.learner).set_params(ccp_alpha=self.values[j]), classes)

    def doubts(self, j: int, output: Output) -> tuple[str, ...]:
        """What makes intervals of the j-th tree doubtful, as clauses that can follow "but"."""
        return (FOUND_BY_CHANCE,) if self._pruned(j).is_found_by_chance else ()

    def _pruned(self, j: int) -> Tree:
        if self.sequence is None or self.values[j] == 0:
            return self.tree
        return self.tree.cut_back(self.sequence.leaves(self.values[j]))

    def write(self, j: int, learner: Any, classes: Array | None) -> Any:
        """The fitted attributes at the j-th value."""
        tree, learner._split_alphas = self._pruned(j), None
        if self.sequence is not None and self.values[j] > 0:
            learner._split_alphas = self.sequence.split_alphas()
        learner.tree_ = tree
        learner.columns_ = kept_columns(self.coding, tree.feature, tree.threshold)
        learner.n_features_in_ = len(self.coding.columns)
        learner.max_features_ = learner._features_drawn(len(self.coding.columns))
        learner.n_outputs_ = 1 if self.flat else tree.value.shape[1]
        if classes is not None:
            learner.classes_, learner.n_classes_ = classes, len(classes)
            learner._labels = self.learner._labels_of(tree, len(classes))
        return learner


def checked_alpha(value: Any) -> float:
    """The price of a leaf, checked."""
    alpha = real(value)
    if alpha is None or not alpha >= 0:
        raise ParameterError(f"ccp_alpha is {value!r}; it must be a number >= 0")
    return alpha
