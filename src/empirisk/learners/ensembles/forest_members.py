"""The single trees of an ensemble, as learners, made when they are asked for.

An ensemble keeps the leaves alone (`ForestTrees`). The weight and the value of an inner node are
those of the leaves below it, and so are impurities: of classes by their shares, of squared errors
and of Poisson deviances by those within the two sides and the one between them; medians, and
absolute deviations about them, are kept. The order of the splits is that of growth depth first.
"""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, overload

import numpy as np
from scipy.special import kl_div, xlogy

from empirisk.compiled.trees.summing_up import sum_up
from empirisk.data.scaling import power_of_two
from empirisk.learners.ensembles.draws import Draws
from empirisk.learners.ensembles.forest_trees import ForestTrees
from empirisk.learners.trees.tree import LEAF, NO_FEATURE, Tree
from empirisk.runtime.arrays import Array, Floats, Ints


class OfEachTree(Sequence[Any]):
    """What belongs to each tree of an ensemble, made when it is asked for."""

    @abstractmethod
    def _of_tree(self, b: int) -> Any:
        """Of tree b."""

    @overload
    def __getitem__(self, b: int) -> Any: ...
    @overload
    def __getitem__(self, b: slice) -> list[Any]: ...
    def __getitem__(self, b: int | slice) -> Any:
        if isinstance(b, slice):
            return [self[i] for i in range(*b.indices(len(self)))]
        if not -len(self) <= b < len(self):
            raise IndexError(f"tree {b} of {len(self)}")
        return self._of_tree(b % len(self))


class ForestMembers(OfEachTree):
    """The trees of an ensemble, each a fitted tree learner; what they say is bit for bit the same.

    Parameters
    ----------
    ensemble : estimator
        Its `columns_`, the number of its features and their names are those of the members.
    trees : ForestTrees
    learner : callable
        From the number of a tree to the learner that it is to be, not yet fitted.
    classes : array or None
        Of the members; None where they predict numbers.
    """

    def __init__(
        self,
        ensemble: Any,
        trees: ForestTrees,
        learner: Callable[[int], Any],
        classes: Array | None = None,
    ) -> None:
        self._ensemble, self._trees = ensemble, trees
        self._learner, self._classes = learner, classes

    def __len__(self) -> int:
        return len(self._trees)

    def _of_tree(self, b: int) -> Any:
        ensemble, classes, member = self._ensemble, self._classes, self._learner(b)
        n_classes = 0 if classes is None else len(classes)
        tree = unpacked(self._trees[b : b + 1], n_classes, member.criterion)
        member.tree_, member.columns_, member._split_alphas = tree, ensemble.columns_, None
        member.n_features_in_, member.n_outputs_ = ensemble.n_features_in_, tree.value.shape[1]
        member.max_features_ = member._features_drawn(ensemble.n_features_in_)
        if hasattr(ensemble, "feature_names_in_"):
            member.feature_names_in_ = ensemble.feature_names_in_
        if classes is not None:
            member.classes_, member.n_classes_ = classes, n_classes
            member._labels = member._labels_of(tree, n_classes)
        return member


class DrawnRows(OfEachTree):
    """The rows that each tree of a forest drew, with repeats, drawn again when asked for."""

    def __init__(self, draws: Draws | None, seeds: Sequence[int], n: int) -> None:
        self._draws, self._seeds, self._n = draws, seeds, n

    def __len__(self) -> int:
        return len(self._seeds)

    def _of_tree(self, b: int) -> Ints:
        rows = np.arange(self._n)
        return rows if self._draws is None else np.repeat(rows, self._draws.counts(self._seeds[b]))


def unpacked(trees: ForestTrees, n_classes: int, criterion: str) -> Tree:
    """The one tree of these, with all that a single tree has; n_classes is 0 for numbers."""
    leaf = trees.is_leaf()
    right = np.where(leaf, LEAF, trees.nodes[:, 1] >> 32).astype(np.int32)
    kind = np.where(leaf, 0, trees.nodes[:, 1] & 0x7FFFFFFF)
    category = kind & 2 == 2
    cut = np.where(leaf, np.nan, trees.nodes.view(np.float64)[:, 0])
    inner = np.flatnonzero(~leaf)
    gain = np.zeros(len(leaf))
    with np.errstate(over="ignore", invalid="ignore"):  # squares of large values are infinite
        rows, weight, value, impurity = _of_nodes(trees, leaf, right, n_classes, criterion)
        total = weight * impurity
        gain[inner] = total[inner] - total[inner + 1] - total[right[inner]]
        gain = np.maximum(gain, 0.0) / (total[0] if total[0] > 0 else 1.0)
    order = np.full(len(leaf), -1, np.int32)
    order[inner] = np.arange(len(inner))
    return Tree(
        children_right=right,
        feature=np.where(leaf, NO_FEATURE, kind >> 2).astype(np.int32),
        threshold=np.where(category, np.nan, cut),
        cut=np.where(category, np.nan, cut),
        missing_go_to_left=(kind & 1 == 1) & ~leaf,
        subset=np.where(category, np.nan_to_num(cut), -1).astype(np.int32),
        subsets=trees.subsets,
        n_node_samples=rows,
        weighted_n_node_samples=weight,
        impurity=impurity,
        gain=gain,
        split_order=order,
        value=value,
        n_features=trees.gains.shape[1],
    )


def _of_nodes(
    trees: ForestTrees, leaf: Array, right: Array, n_classes: int, criterion: str
) -> tuple[Array, Floats, Floats, Floats]:
    """Rows, weights, values and impurities of all nodes.

    Sums are of weights and values divided by powers of two, which changes no digit: those of large
    ones would overflow.
    """
    at_leaf = trees.value
    if n_classes == 2:
        at_leaf = np.column_stack([1.0 - at_leaf[:, 0], at_leaf[:, 0]])
    table = np.zeros((len(leaf), 2 + at_leaf.shape[1]))
    weight_unit, unit = power_of_two(trees.weight.max()), power_of_two(np.abs(at_leaf).max())
    table[leaf, 0], table[leaf, 1] = trees.rows, trees.weight / weight_unit
    table[leaf, 2:] = at_leaf / unit * table[leaf, 1, None]
    sum_up(right, table)
    weight = table[:, 1] * weight_unit
    value = table[:, 2:] / table[:, 1, None] * unit
    value[leaf] = at_leaf
    if n_classes:
        impurity = _impurity_of_classes(value, criterion)
        value = value[:, None, :]
    elif criterion == "absolute_error":
        impurity = np.empty(len(leaf))
        impurity[leaf], value[~leaf, 0] = trees.impurity, trees.medians[:, 0]
        impurity[~leaf] = trees.medians[:, 1]
        value = value[:, :, None]
    else:
        impurity = _impurity_of_values(trees, leaf, right, weight, value, criterion)
        value = value[:, :, None]
    return table[:, 0].astype(np.int32), weight, value, impurity


def _impurity_of_classes(shares: Floats, criterion: str) -> Floats:
    if criterion == "gini":
        return 1.0 - (shares**2).sum(axis=1)
    if criterion == "misclassification":
        return 1.0 - shares.max(axis=1)
    return np.maximum(-xlogy(shares, shares).sum(axis=1) / np.log(2), 0.0)


def _impurity_of_values(
    trees: ForestTrees, leaf: Array, right: Array, weight: Floats, value: Floats, criterion: str
) -> Floats:
    """From within the leaves, and between the two sides of each split above them."""
    inner = np.flatnonzero(~leaf)
    total = np.zeros((len(leaf), 1))
    total[leaf, 0] = trees.impurity * trees.weight
    for child in (inner + 1, right[inner].astype(np.int64)):
        if criterion == "poisson":
            distance = kl_div(value[child], value[inner]).mean(axis=1)
        else:
            distance = ((value[child] - value[inner]) ** 2).mean(axis=1)
        total[inner, 0] += weight[child] * distance
    sum_up(right, total)
    return total[:, 0] / weight
