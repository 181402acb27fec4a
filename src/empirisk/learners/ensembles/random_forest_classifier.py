"""Random forests for classification."""

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin

from empirisk.data.table_door import check_places
from empirisk.learners.class_weights import ClassWeightMixin, class_factors
from empirisk.learners.ensembles.forest import SUBSAMPLE, Forest
from empirisk.learners.ensembles.forest_growing import balancing
from empirisk.learners.trees.classifier import DecisionTreeClassifier
from empirisk.runtime.arrays import Array, Floats
from empirisk.runtime.errors import ParameterError


class RandomForestClassifier(ClassWeightMixin, ClassifierMixin, Forest):
    """The mean of many classification trees, each grown on rows drawn at random (Breiman 2001).

    Each tree is grown on a bootstrap of the rows and not pruned; at each split only `max_features`
    features, drawn anew, may be used. The probability of a class is the mean over the trees of its
    share in the leaf that a row comes to; the most probable class is predicted.

    Complexity axis: `max_features`; `Tuned(RandomForestClassifier())` chooses it by the rows out of
    bag. The number of trees is a budget: more are never worse but for chance.

    Parameters
    ----------
    n_estimators : int
        The number of trees.
    criterion, max_depth, min_samples_split, min_samples_leaf, min_weight_fraction_leaf, \
max_leaf_nodes, min_impurity_decrease, ccp_alpha, monotonic_cst, splitter, categorical_features
        Of each tree, as in `DecisionTreeClassifier`; `splitter="random"` gives extremely randomised
        trees. A row that a tree drew several times is one row to `min_samples_leaf` and
        `min_samples_split`, as in scikit-learn.
    max_features : int, float, "sqrt", "log2" or None
        Features drawn at each split; more, until one of them is not constant.
    bootstrap, n_jobs, random_state, verbose, warm_start, max_samples
        As in `RandomForestRegressor`.
    oob_score : bool, Loss, str or callable
        Whether to judge the forest by the rows out of bag (`risk_`, `oob_score_`), with the 0-1
        loss or another one. A function of labels and predictions gives `oob_score_`, as in
        scikit-learn.
    class_weight : dict, "balanced", "balanced_subsample" or None
        Factors of the weights of the rows of each class, above 0 (scikit-learn takes 0, too);
        "balanced" gives the classes equal totals of weight, "balanced_subsample" in the draw of
        each tree.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    n_classes_ : int
    trees_ : ForestTrees
        All trees in flat arrays.
    estimators_ : sequence of DecisionTreeClassifier
        Made when asked for; they know the classes by their codes, 0 to n_classes - 1.
    estimator_ : the tree, not fitted, that all of them are like
    estimators_samples_ : sequence of arrays
        The rows that each tree drew.
    feature_importances_ : array of shape (p,)
        Mean decrease of the impurity; see `risk.importance` for better ones.
    oob_score_, oob_decision_function_ : float, array of shape (n, n_classes)
        With `oob_score`: accuracy and probabilities out of bag, as in scikit-learn.
    risk_, risk_curve_ : RiskEstimate, OutOfBagCurve
        With `oob_score`: the risk out of bag, and that after every tree.
    n_outputs_, n_features_in_, feature_names_in_, columns_
        As in `DecisionTreeClassifier`.

    Notes
    -----
    See `RandomForestRegressor` on weights, `DecisionTreeRegressor` on missing values,
    `DecisionTreeClassifier` on a y of several columns.

    References
    ----------
    L. Breiman (2001), Random forests, Machine Learning 45, 5-32.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = RandomForestClassifier(50, random_state=0).fit(X, y)
    >>> forest.predict(X[[0, 60, 120]])
    array([0, 1, 2])
    >>> forest.predict_proba(X[[0]])
    array([[1., 0., 0.]])
    """

    _tree_type = DecisionTreeClassifier

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        criterion: str = "gini",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: int | float | str | None = "sqrt",
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        bootstrap: bool = True,
        oob_score: Any = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        warm_start: bool = False,
        class_weight: Any = None,
        ccp_alpha: float = 0.0,
        max_samples: int | float | None = None,
        monotonic_cst: Any = None,
        splitter: str = "best",
        categorical_features: Any = "from_dtype",
    ) -> None:
        self.n_estimators = n_estimators
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.bootstrap = bootstrap
        self.oob_score = oob_score
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.warm_start = warm_start
        self.class_weight = class_weight
        self.ccp_alpha = ccp_alpha
        self.max_samples = max_samples
        self.monotonic_cst = monotonic_cst
        self.splitter = splitter
        self.categorical_features = categorical_features

    def predict(self, X: Any) -> Array:
        """The most probable class of each row; of equal ones the first."""
        best = self.predict_proba(X).argmax(axis=1)
        return self.classes_[best]

    def predict_proba(self, X: Any) -> Floats:
        """The mean over the trees of the shares of the classes in the leaf of each row."""
        return self._mean_scores(check_places(self, X))

    def predict_log_proba(self, X: Any) -> Floats:
        """The logarithms of the probabilities."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def _class_factors(self, y: Array, weight: Floats, n_classes: int) -> Floats | None:
        given = self.class_weight
        words = isinstance(given, str)
        if given is None or (words and given == SUBSAMPLE and self.bootstrap):
            return None
        if words and given in ("balanced", SUBSAMPLE):
            return balancing(np.bincount(y, weight, minlength=n_classes))
        if not isinstance(given, dict):
            raise ParameterError(
                f"class_weight is {given!r}; it must be None, 'balanced', 'balanced_subsample' or "
                "a dict of labels"
            )
        return class_factors(given, np.arange(n_classes))

    def _shape(self, y: Array, classes: Array | None) -> None:
        assert classes is not None
        self.classes_, self.n_classes_, self.n_outputs_ = classes, len(classes), 1

    def _scores(self, value: Floats) -> Floats:
        if self.n_classes_ != 2:
            return value
        return np.column_stack([1.0 - value[:, 0], value[:, 0]])
