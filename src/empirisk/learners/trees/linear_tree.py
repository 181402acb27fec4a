"""What linear trees of both kinds share: growing, pruning, the path along `ccp_alpha`."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import _is_fitted

from empirisk.data.rank_coding import RankCoding
from empirisk.data.table_door import check_places
from empirisk.learners.linear.accepted_parameters import check_alpha
from empirisk.learners.trees.decision_tree import DecisionTree
from empirisk.learners.trees.limits import counts_rows, limits_of
from empirisk.learners.trees.linear_columns import ModelColumns
from empirisk.learners.trees.linear_growth import grow_linear_tree
from empirisk.learners.trees.linear_models import LeafModel, LeafModels
from empirisk.learners.trees.linear_nodes import LinearTarget
from empirisk.learners.trees.pruning import impurity_risks
from empirisk.learners.trees.soundness import check_models
from empirisk.learners.trees.targets import Problem
from empirisk.learners.trees.tree import Tree
from empirisk.learners.trees.tree_path import TreePath
from empirisk.risk.axis import Output
from empirisk.runtime.arrays import Array, Floats, Ints
from empirisk.runtime.errors import ParameterError
from empirisk.runtime.parallel import one_blas_thread
from empirisk.runtime.scalars import whole

LEAST_BINS = 8


class LinearTree(DecisionTree):
    """A tree with a linear model in each leaf."""

    max_features = None
    alpha: float
    max_bins: int
    max_model_columns: int
    models_: LeafModels

    @abstractmethod
    def _outputs(self, y: Array, weight: Floats, n_classes: int) -> "Outputs":
        """What the splits are chosen by."""

    @abstractmethod
    def _node_values(self, means: Floats, outputs: "Outputs") -> Floats:
        """`Tree.value` from the means (nodes, outputs) of the outputs."""

    @abstractmethod
    def _leaf_model(self, grown: "Grown", node: int) -> LeafModel:
        """The model of a node, were it a leaf."""

    @abstractmethod
    def _decided(self, values: Floats, output: Output) -> Array:
        """Predictions from the values (rows, values, outputs) of the models."""

    def check_loaded(self) -> None:
        """Raise a DataError unless what a file has of a fitted tree belongs together."""
        super().check_loaded()
        if _is_fitted(self):
            check_models(self)

    def _path(
        self, coding: RankCoding, y: Array, weight: Floats, values: Sequence[Any], n_classes: int
    ) -> "LinearTreePath":
        return LinearTreePath(self, coding, y, weight, values, n_classes)

    def _many_outputs(self, y: Any) -> bool:
        return False

    def _problem(self, coding: RankCoding, y: Array, weight: Floats, n_classes: int) -> Problem:
        raise NotImplementedError("linear trees have a grower of their own")

    def _node_risks(self, tree: Tree, n_classes: int) -> Floats:
        return impurity_risks(tree)

    def _values(self, X: Any) -> Floats:
        """The values (rows, 1, outputs) of the models of the leaves that the rows come to."""
        places = check_places(self, X)
        return self.models_.values(places, self.tree_.apply(places)[:, None])


class Outputs(NamedTuple):
    """Values (rows, outputs) over a unit, the weights of the rows, and what errors are over."""

    values: Floats
    weight: Floats
    unit: float
    error_units: tuple[float, float]  # their product may be beyond all numbers


class Grown:
    """A tree before pruning, and all that the models of its nodes are made from."""

    def __init__(
        self, learner: Any, coding: RankCoding, y: Array, weight: Floats, n_classes: int
    ) -> None:
        self.learner, self.y, self.n_classes = learner, y, n_classes
        self.alpha = check_alpha(learner.alpha)
        max_bins = whole(learner.max_bins)
        if max_bins is None or max_bins < LEAST_BINS:
            raise ParameterError(
                f"max_bins is {learner.max_bins!r}; it must be a whole number from {LEAST_BINS}"
            )
        self.places = coding.places()
        outputs = learner._outputs(y, weight, n_classes)
        self.weight, self.unit, (one, other) = outputs.weight, outputs.unit, outputs.error_units
        limits = limits_of(learner, self.weight, weight, len(coding.columns))
        limits = replace(
            limits,
            min_rows_split=max(limits.min_rows_split, int(limits.min_copies_split)),
            min_rows_leaf=max(limits.min_rows_leaf, int(limits.min_copies_leaf)),
            min_gain=limits.min_gain / one / other,
        )
        most = whole(learner.max_model_columns)
        if most is None or most < 1:
            raise ParameterError(
                f"max_model_columns is {learner.max_model_columns!r}; it must be a whole number "
                "from 1"
            )
        self.columns = ModelColumns.of(
            self.places, outputs.values, self.weight, coding.columns, most
        )
        self.Z = self.columns.standardised(self.places)
        self.copies = weight if counts_rows(weight) else np.ones(len(weight))
        target = LinearTarget(self.Z, outputs.values, self.weight, self.alpha, self.copies)
        tree, self.ridge = grow_linear_tree(coding, target, limits, max_bins)
        with np.errstate(over="ignore", under="ignore"):
            impurity = tree.impurity * one * other
            value = learner._node_values(tree.value, outputs)
        self.tree = replace(tree, impurity=impurity, value=value)
        self._models: dict[int, LeafModel] = {}
        self._leaves: Array | None = None

    def rows_of(self, node: int) -> Ints:
        """The training rows that come to a node: in preorder, those of a run of leaves."""
        if self._leaves is None:
            self._leaves, self._end = self.tree.apply(self.places), self.tree.relatives()[2]
        return np.flatnonzero((node <= self._leaves) & (self._leaves < self._end[node]))

    def model(self, node: int) -> LeafModel:
        """The model of a node; made when it is first asked for."""
        if node not in self._models:
            self._models[node] = self.learner._leaf_model(self, node)
        return self._models[node]

    def models(self, nodes: Array) -> LeafModels:
        """Those of these nodes, which are in order."""
        with one_blas_thread():
            return LeafModels.of(self.columns, nodes.tolist(), self.model, self.unit)

    def enough(self, node: int) -> bool:
        """Whether a node has more rows than a model has parameters."""
        return bool(self.copies[self.rows_of(node)].sum() >= self.Z.shape[1] + 2)


class LinearTreePath(TreePath):
    """The nested trees of one training set, with their models; the path along `ccp_alpha`."""

    def _grown(self, y: Array, weight: Floats) -> Tree:
        self.grown = Grown(self.learner, self.coding, y, weight, self.n_classes)
        return self.grown.tree

    def predict_path(self, X: Any, output: Output) -> Array:
        places = X.places()
        leaves = self._leaves(places)
        models = self.grown.models(np.unique(leaves))
        return self.learner._decided(models.values(places, leaves), output)

    def write(self, j: int, learner: Any, classes: Array | None) -> Any:
        """The fitted attributes at the j-th value."""
        pruned = self.tree.is_leaf
        if self.sequence is not None:
            pruned = self.sequence.leaves(self.values[j])
        parent = self.tree.parent
        leaves = np.flatnonzero(pruned & ~np.where(parent < 0, False, pruned[parent]))
        learner = super().write(j, learner, classes)
        # Both trees are in preorder: their leaves come in the same order.
        models = self.grown.models(leaves)
        learner.models_ = replace(models, nodes=np.flatnonzero(learner.tree_.is_leaf))
        return learner
