"""Classification trees."""

from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin, clone

from empirisk.data.rank_coding import RankCoding
from empirisk.data.scaling import power_of_two
from empirisk.data.table_door import check_places
from empirisk.learners.class_weights import ClassWeightMixin
from empirisk.learners.trees.decision_tree import DecisionTree
from empirisk.learners.trees.pruning import cost_risks, impurity_risks
from empirisk.learners.trees.targets import Problem, altered_priors, classification_problem
from empirisk.learners.trees.tree import Tree
from empirisk.learners.trees.tree_sums import TreeSums
from empirisk.losses import Costs
from empirisk.losses.costs import checked_costs
from empirisk.runtime.arrays import Array, Floats, Ints
from empirisk.runtime.errors import ParameterError


class DecisionTreeClassifier(ClassWeightMixin, ClassifierMixin, DecisionTree):
    """A tree of splits x_j <= s with the shares of the classes in each leaf (Breiman et al. 1984).

    Grown greedily: each node is split where the impurity of the two sides, each times its weight,
    is least. With shares p_k of the classes in a node the impurity is

        gini               1 - sum_k p_k^2
        entropy            -sum_k p_k log2 p_k
        misclassification  1 - max_k p_k, or the least expected cost

    Pruned by cost complexity: of all subtrees the one with the least R(T) + ccp_alpha |leaves|.

    Complexity axis: `ccp_alpha`; `Tuned(DecisionTreeClassifier())` chooses it among the whole
    pruning sequence, with one growth for each fold.

    Parameters
    ----------
    criterion : {"gini", "entropy", "log_loss", "misclassification"}
        "log_loss" is "entropy", in bits as in scikit-learn.
    splitter, max_depth, min_samples_split, min_samples_leaf, min_weight_fraction_leaf, \
max_features, random_state, max_leaf_nodes, min_impurity_decrease, monotonic_cst, \
categorical_features, early_stopping, validation_fraction, n_iter_no_change
        As in `DecisionTreeRegressor`. A monotone constraint is on the probability of the second of
        two classes. The split of a category is the best one for two classes, if the limits allow
        sides of any size; for more its levels are put in the order of the first principal component
        of their class shares.
    class_weight : dict, "balanced" or None
        Factors of the weights of the rows of each class, above 0 (scikit-learn takes 0, too). They
        do not change how many rows a row counts for, only its part in `min_weight_fraction_leaf`.
        "balanced" gives the classes equal totals of weight; scikit-learn's does so without
        `sample_weight`, whose rows it only counts.
    ccp_alpha : float
        The price of a leaf when pruning; 0 prunes nothing.
    ccp_risk : {"impurity", "cost"}
        The risk R of pruning: the impurity that the tree is grown by, as in scikit-learn, or the
        expected cost of mistakes (the share of them, without `cost_matrix`), as in R's rpart.
    cost_matrix : array of shape (K, K), Costs or None
        C(i | j), the cost of predicting class i when j is true, classes in the order of
        `classes_`. Each leaf has the label of least expected cost, and the tree is judged by these
        costs (`Tuned`, `risk.cross_validate`, `select`, ...) unless another loss is given.
    cost_growth : {"priors", "gini"}
        How costs enter the growth: by altered priors, weights of class j in proportion to
        sum_i C(i | j), or by the generalised Gini index sum_ij C(i | j) p_i p_j. By altered priors
        a class whose mistakes cost nothing counts like that whose mistakes cost least. The
        criterion "misclassification" takes the costs themselves.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    tree_ : Tree
        Arrays with an entry for each node.
    feature_importances_ : array of shape (p,)
    n_classes_, max_features_, n_outputs_, n_features_in_, feature_names_in_
        As in scikit-learn.
    columns_ : list of CodedColumn
        What the columns are: numbers, or categories with their levels.

    Notes
    -----
    See `DecisionTreeRegressor` for missing values, thresholds and equal splits. Of classes with
    equal shares, or equal costs, a leaf predicts the first. A row has one label; for a y of several
    columns, which scikit-learn's trees and forests take, put the learner into its
    `MultiOutputClassifier`.

    References
    ----------
    L. Breiman, J. Friedman, R. Olshen & C. Stone (1984), Classification and Regression Trees.

    Examples
    --------
    >>> X = [[1.0], [2.0], [3.0], [4.0], [5.0], [6.0]]
    >>> tree = DecisionTreeClassifier(max_leaf_nodes=2).fit(X, ["a", "a", "b", "b", "b", "b"])
    >>> tree.predict([[2.2], [2.8]])
    array(['a', 'b'], dtype='<U1')
    >>> careful = DecisionTreeClassifier(max_depth=1, cost_matrix=[[0, 9], [1, 0]])
    >>> careful.fit(X, ["a", "a", "b", "a", "b", "a"]).predict([[2.0], [4.0]])
    array(['a', 'b'], dtype='<U1')
    """

    def __init__(
        self,
        *,
        criterion: str = "gini",
        splitter: str = "best",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: int | float | str | None = None,
        random_state: Any = None,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        class_weight: Any = None,
        ccp_alpha: float = 0.0,
        monotonic_cst: Any = None,
        ccp_risk: str = "impurity",
        cost_matrix: Any = None,
        cost_growth: str = "priors",
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
        self.class_weight = class_weight
        self.ccp_alpha = ccp_alpha
        self.monotonic_cst = monotonic_cst
        self.ccp_risk = ccp_risk
        self.cost_matrix = cost_matrix
        self.cost_growth = cost_growth
        self.categorical_features = categorical_features
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change

    @property
    def own_loss(self) -> Costs | None:
        """The costs of mistakes, if they were given."""
        costs = self.cost_matrix
        return costs if costs is None or isinstance(costs, Costs) else Costs(costs)

    def for_classes(self, labels: Array) -> Self:
        """The same learner for codes 0..K-1 of these labels."""
        learner = super().for_classes(labels)
        if learner.cost_matrix is None:
            return learner
        costs: Any = checked_costs(learner.cost_matrix, labels)
        bound = Costs(costs, classes=range(len(labels)))
        return clone(learner).set_params(cost_matrix=bound)

    def predict(self, X: Any) -> Array:
        """The label of the leaf that each row comes to."""
        places = check_places(self, X)
        leaves = self.tree_.apply(places)
        return self.classes_[self._labels[leaves]]

    def predict_proba(self, X: Any) -> Floats:
        """The weighted shares of the classes in the leaf that each row comes to."""
        places = check_places(self, X)
        return self.tree_.value[:, 0][self.tree_.apply(places)]

    def predict_log_proba(self, X: Any) -> Floats:
        """The logarithms of the shares."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def _problem(self, coding: RankCoding, y: Array, weight: Floats, n_classes: int) -> Problem:
        weight = self._class_weighted(y, weight, np.arange(n_classes))
        costs = checked_costs(self.cost_matrix, np.arange(n_classes))
        return classification_problem(
            self.criterion, coding, y, weight, n_classes, costs, self.cost_growth
        )

    def _labels_of(self, tree: Tree, n_classes: int) -> Ints:
        """The label of each node: the largest share, or the least expected cost."""
        costs = checked_costs(self.cost_matrix, np.arange(n_classes))
        shares = tree.value[:, 0]
        return shares.argmax(axis=1) if costs is None else (shares @ costs.T).argmin(axis=1)

    def _node_risks(self, tree: Tree, n_classes: int) -> Floats:
        if self.ccp_risk == "impurity":
            return impurity_risks(tree, self._altered_priors(tree, n_classes))
        if self.ccp_risk != "cost":
            raise ParameterError(f"ccp_risk is {self.ccp_risk!r}; it must be 'impurity' or 'cost'")
        return cost_risks(tree, self._labels_of(tree, n_classes), self._costs(n_classes))

    def _altered_priors(self, tree: Tree, n_classes: int) -> Floats | None:
        """The factors of the classes with which the tree was grown, if they had some."""
        costs = checked_costs(self.cost_matrix, np.arange(n_classes))
        by_costs = self.criterion == "misclassification" or self.cost_growth != "priors"
        if costs is None or by_costs or n_classes < 2:
            return None
        return altered_priors(costs, tree.value[0, 0])

    def _losses(self, tree: Tree, nodes: Array, y: Array, n_classes: int) -> Floats:
        """What each label costs in its node, were it a leaf, up to a common factor."""
        costs = self._costs(n_classes)
        costs = costs / power_of_two(costs.max())  # their sums do not overflow
        return costs[self._labels_of(tree, n_classes)[nodes], y]

    def _tree_sums(self) -> TreeSums:
        return TreeSums.of_tree(self.tree_, classes=self.n_classes_)

    def _costs(self, n_classes: int) -> Floats:
        costs = checked_costs(self.cost_matrix, np.arange(n_classes))
        return 1.0 - np.eye(n_classes) if costs is None else costs
