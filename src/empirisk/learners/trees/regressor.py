"""Regression trees."""

from typing import Any

import numpy as np
from scipy.special import kl_div
from sklearn.base import RegressorMixin
from sklearn.utils import Tags

from empirisk.data.rank_coding import RankCoding
from empirisk.data.scaling import power_of_two
from empirisk.data.table_door import check_places
from empirisk.learners.trees.decision_tree import DecisionTree
from empirisk.learners.trees.pruning import impurity_risks
from empirisk.learners.trees.targets import Problem, regression_problem
from empirisk.learners.trees.tree import Tree
from empirisk.learners.trees.tree_sums import TreeSums
from empirisk.runtime.arrays import Array, Floats


class DecisionTreeRegressor(RegressorMixin, DecisionTree):
    """A tree of splits x_j <= s with a constant in each leaf (Breiman et al. 1984).

    Grown greedily: each node is split by the feature and threshold with the least

        sum over both sides of sum_i w_i L(y_i, c), c the best constant of the side,

    thresholds half way between neighbouring values in the node. Pruned by cost complexity: of all
    subtrees the one with the least R(T) + ccp_alpha |leaves|.

    Complexity axis: `ccp_alpha`; `Tuned(DecisionTreeRegressor())` chooses it among the whole
    pruning sequence, with one growth for each fold.

    Parameters
    ----------
    criterion : {"squared_error", "absolute_error", "poisson"}
        The loss L: squares about the mean, absolute values about the median (of one output),
        Poisson deviance about the mean.
    splitter : {"best", "random"}
        The best threshold of each feature, or one that is drawn uniformly between the least and
        the largest value in the node, as in extremely randomised trees; of these splits the best is
        taken. Missing values then go to a side by a fair coin, and of the levels of a category a
        random subset goes left.
    max_depth : int, optional
    min_samples_split, min_samples_leaf : int or float
        Rows that a node must have to be split, and that each of its sides must have; floats are
        shares of all rows. Where all of `sample_weight` are whole numbers a row counts as so many
        rows, else each row once.
    min_weight_fraction_leaf : float
        The least part of all weight on each side.
    max_features : int, float, "sqrt", "log2" or None
        Features drawn at each node; more, until one of them is not constant.
    random_state : int, RandomState, Generator or None
        For the draw of features, thresholds and the validation part; without these nothing is
        random.
    max_leaf_nodes : int, optional
        Growth is best first then: the split with the largest gain of all leaves comes next.
    min_impurity_decrease : float
        The least gain of a split, in impurity times the node's part of the weight.
    ccp_alpha : float
        The price of a leaf when pruning, in the units of the impurity: for squared errors squares
        of those of y; 0 prunes nothing.
    monotonic_cst : array of -1, 0, 1, or dict of names, optional
        The prediction may only fall, is free, or may only grow with a feature. Of one output.
    categorical_features : "from_dtype", None, or names, numbers or truth values of columns
        Categories are split into two sets of levels: the best cut of the levels in the order of
        their means. For squared error no two sets are better where each side may have any size
        (`min_samples_leaf=1`, no `min_weight_fraction_leaf`), nor for Poisson where moreover each
        level in the node, and what is missing, has a count: no side may be without any. Else it is
        the best cut that is allowed, and two other sets that are allowed may be better. By default
        those of a frame that are words or categories.
    early_stopping : bool
        Grow best first on a part of the rows, and stop where the loss on the rest is least.
    validation_fraction : float
        The rest.
    n_iter_no_change : int
        The search for the least loss ends after so many splits without a lower one.

    Attributes
    ----------
    tree_ : Tree
        Arrays with an entry for each node.
    feature_importances_ : array of shape (p,)
    max_features_, n_outputs_, n_features_in_, feature_names_in_
        As in scikit-learn.
    columns_ : list of CodedColumn
        What the columns are: numbers, or categories with their levels.

    Notes
    -----
    Missing values go to the side where they lower the loss more; where a node saw none, to the
    heavier side, and so do levels that it did not see. Thresholds are exact: features are compared
    as float64 (scikit-learn rounds to float32), integers beyond 2^53 as integers. Of equal splits
    the one of the first feature (where features are drawn, of the one drawn first), then of the
    lowest threshold, is taken; as in scikit-learn a split may have no gain.

    References
    ----------
    L. Breiman, J. Friedman, R. Olshen & C. Stone (1984), Classification and Regression Trees.

    Examples
    --------
    >>> X = [[1.0], [2.0], [3.0], [4.0], [5.0], [6.0]]
    >>> tree = DecisionTreeRegressor(max_depth=1).fit(X, [1.0, 1.0, 2.0, 7.0, 8.0, 8.0])
    >>> print(tree.tree_.threshold[0], tree.predict([[0.0], [3.5], [9.0]]).round(3))
    3.5 [1.333 1.333 7.667]
    """

    def __init__(
        self,
        *,
        criterion: str = "squared_error",
        splitter: str = "best",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: int | float | str | None = None,
        random_state: Any = None,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        ccp_alpha: float = 0.0,
        monotonic_cst: Any = None,
        categorical_features: Any = "from_dtype",
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 10,
    ) -> None:
        self.criterion = criterion
        self.splitter = splitter
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.random_state = random_state
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.ccp_alpha = ccp_alpha
        self.monotonic_cst = monotonic_cst
        self.categorical_features = categorical_features
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change

    def predict(self, X: Any) -> Floats:
        """The value of the leaf that each row comes to."""
        places = check_places(self, X)
        values = self.tree_.value[:, :, 0][self.tree_.apply(places)]
        return values[:, 0] if self.n_outputs_ == 1 else values

    def _problem(self, coding: RankCoding, y: Array, weight: Floats, n_classes: int) -> Problem:
        return regression_problem(self.criterion, coding, y, weight)

    def _node_risks(self, tree: Tree, n_classes: int) -> Floats:
        return impurity_risks(tree)

    def _losses(self, tree: Tree, nodes: Array, y: Array, n_classes: int) -> Floats:
        """What each value of y costs in its node, were it a leaf, up to a common factor."""
        value = tree.value[nodes, :, 0]
        y = y.reshape(value.shape)
        unit = power_of_two(np.maximum(np.abs(y).max(), np.abs(value).max()))
        value, y = value / unit, y / unit  # squares neither overflow nor vanish
        if self.criterion == "absolute_error":
            return np.abs(y - value).sum(axis=1)
        if self.criterion == "poisson":
            return kl_div(y, value).sum(axis=1)
        return ((y - value) ** 2).sum(axis=1)

    def _tree_sums(self) -> TreeSums:
        return TreeSums.of_tree(self.tree_)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = self.criterion == "squared_error"
        tags.target_tags.positive_only = self.criterion == "poisson"
        return tags
