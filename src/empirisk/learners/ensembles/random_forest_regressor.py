"""Random forests for regression."""

from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils import Tags

from empirisk.data.table_door import check_places
from empirisk.learners.ensembles.forest import Forest
from empirisk.learners.ensembles.forest_growing import ForestGrowing
from empirisk.learners.ensembles.leaf_members import LeafMembers
from empirisk.learners.trees.regressor import DecisionTreeRegressor
from empirisk.runtime.arrays import Array, Floats
from empirisk.runtime.errors import ParameterError
from empirisk.runtime.streams import spawn


class RandomForestRegressor(RegressorMixin, Forest):
    """The mean of many regression trees, each grown on rows drawn at random (Breiman 2001).

    Each tree T_b is grown on a bootstrap of the rows and not pruned; at each split only
    `max_features` features, drawn anew, may be used. The prediction is

        f(x) = 1/B sum_b T_b(x),

    whose variance is rho s^2 + (1 - rho) s^2 / B for trees of variance s^2 and correlation rho:
    drawing features lowers rho.

    Complexity axis: `max_features`; `Tuned(RandomForestRegressor())` chooses it by the rows out of
    bag. The number of trees is a budget: more are never worse but for chance.

    Parameters
    ----------
    n_estimators : int
        The number of trees B.
    criterion, max_depth, min_samples_split, min_samples_leaf, min_weight_fraction_leaf, \
max_leaf_nodes, min_impurity_decrease, ccp_alpha, monotonic_cst, splitter, categorical_features
        Of each tree, as in `DecisionTreeRegressor`; `splitter="random"` gives extremely randomised
        trees. A row that a tree drew several times is one row to `min_samples_leaf` and
        `min_samples_split`, as in scikit-learn.
    max_features : int, float, "sqrt", "log2" or None
        Features drawn at each split; more, until one of them is not constant. All by default: then
        it is bagging. A third of them is a common choice.
    bootstrap : bool
        Whether each tree has its own draw of rows, with replacement; else each has all.
    oob_score : bool, Loss, str or callable
        Whether to judge the forest by the rows out of bag (`risk_`, `oob_score_`), with the squared
        error or another loss. A function of y and predictions gives `oob_score_`, as in
        scikit-learn.
    n_jobs : int, optional
        Threads for growing and predicting; the result does not depend on it.
    random_state : int, RandomState, Generator or None
    verbose
        Has no effect: progress shows by itself.
    warm_start : bool
        Whether `fit` keeps the trees that there are, and adds those that `n_estimators` lacks,
        from the same rows: which of them judge a tree is found by drawing again.
    max_samples : int, float or None
        Rows that each tree draws: as many as there are by default, a number, or a share of them;
        with weights, of their sum, as in scikit-learn 1.9.
    keep_members : bool
        Whether to keep which rows are in the leaves, and their y: for `predict_quantiles`.

    Attributes
    ----------
    trees_ : ForestTrees
        All trees in flat arrays.
    estimators_ : sequence of DecisionTreeRegressor
        Made when asked for.
    estimator_ : the tree, not fitted, that all of them are like
    estimators_samples_ : sequence of arrays
        The rows that each tree drew.
    feature_importances_ : array of shape (p,)
        Mean decrease of the impurity; see `risk.importance` for better ones.
    oob_score_, oob_prediction_ : float, array
        With `oob_score`: R^2 and predictions out of bag, as in scikit-learn.
    risk_, risk_curve_ : RiskEstimate, OutOfBagCurve
        With `oob_score`: the risk out of bag, and that after every tree.
    n_outputs_, n_features_in_, feature_names_in_, columns_
        As in `DecisionTreeRegressor`.

    Notes
    -----
    A row of weight w is drawn w times as often as one of weight 1; where all weights are whole
    numbers so many rows are drawn as their sum, so that weights are copies, in distribution (but
    `min_samples_leaf` and `min_samples_split` see the rows that were drawn, not their copies).
    Without `bootstrap` weights are those of a single tree. Missing values and categories are as in
    `DecisionTreeRegressor`.

    References
    ----------
    L. Breiman (2001), Random forests, Machine Learning 45, 5-32.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 3))
    >>> y = X[:, 0] ** 2 + X[:, 1] + 0.1 * rng.normal(size=300)
    >>> forest = RandomForestRegressor(50, random_state=0).fit(X, y)
    >>> bool(forest.score(X, y) > 0.9)
    True
    >>> forest.feature_importances_.round(1)
    array([0.6, 0.3, 0. ])
    """

    _tree_type = DecisionTreeRegressor

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        criterion: str = "squared_error",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: int | float | str | None = 1.0,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        bootstrap: bool = True,
        oob_score: Any = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        warm_start: bool = False,
        ccp_alpha: float = 0.0,
        max_samples: int | float | None = None,
        monotonic_cst: Any = None,
        splitter: str = "best",
        categorical_features: Any = "from_dtype",
        keep_members: bool = False,
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
        self.ccp_alpha = ccp_alpha
        self.max_samples = max_samples
        self.monotonic_cst = monotonic_cst
        self.splitter = splitter
        self.categorical_features = categorical_features
        self.keep_members = keep_members

    def predict(self, X: Any) -> Floats:
        """The mean over the trees of the values of the leaves that each row comes to."""
        return self._mean_scores(check_places(self, X))

    def predict_quantiles(self, X: Any, quantiles: Any = (0.05, 0.5, 0.95)) -> Floats:
        """Quantiles of y given X (Meinshausen 2006), of a forest with `keep_members`.

        A training row counts by the part of the leaves that it shares with a row of X: the mean of
        y by these weights is what `predict` says, unless leaves have medians ("absolute_error") or
        `monotonic_cst` moves their values. Leaves of single rows make rough distributions;
        `min_samples_leaf` from 5 on is common here.

        Parameters
        ----------
        X : array-like or frame of shape (rows, p)
        quantiles : number or sequence of numbers from 0 to 1

        Returns
        -------
        array of shape (rows,) for a number, else (rows, quantiles)
            Values of y: the least one that has at least this part of the weight up to it.
        """
        places = check_places(self, X)
        if self._members is None:
            raise ParameterError(
                "quantiles need the rows of the leaves: fit with keep_members=True, and one output"
            )
        levels = np.asarray(quantiles, dtype=np.float64)
        if levels.ndim > 1 or not ((levels >= 0) & (levels <= 1)).all():
            raise ParameterError(f"quantiles is {quantiles!r:.60}; give numbers from 0 to 1")
        found = self._members.quantiles(self.trees_, places, levels.reshape(-1), n_jobs=self.n_jobs)
        return found[:, 0] if levels.ndim == 0 else found

    def _note_members(self, growing: ForestGrowing) -> None:
        if not self.keep_members or self.n_outputs_ > 1:
            self._members = None
            return
        seeds = spawn(self._seed, len(self.trees_))
        places = growing.coding.places()
        self._members = LeafMembers.of(
            self.trees_, places, growing.y.reshape(-1), map(growing.weights, seeds)
        )

    def _shape(self, y: Array, classes: Array | None) -> None:
        self.n_outputs_ = 1 if y.ndim == 1 else y.shape[1]

    def _scores(self, value: Floats) -> Floats:
        return value[:, 0] if self.n_outputs_ == 1 else value

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = self.criterion == "squared_error"
        tags.target_tags.positive_only = self.criterion == "poisson"
        return tags
