"""Gradient boosting of regression trees on features in bins."""

from collections.abc import Iterator
from typing import Any

from sklearn.base import RegressorMixin
from sklearn.utils import Tags

from empirisk.learners.ensembles.boosting.boosting_loss import BoostingLoss
from empirisk.learners.ensembles.boosting.hist_gradient_boosting import HistGradientBoosting
from empirisk.learners.ensembles.boosting.regression_losses import regression_loss
from empirisk.losses import Absolute, Loss, Quantile
from empirisk.runtime.arrays import Floats
from empirisk.runtime.scalars import real


class HistGradientBoostingRegressor(RegressorMixin, HistGradientBoosting):
    """The sum of many small regression trees, each a step down the loss of those before it.

    With the loss L(y, f), its gradient g and its curvature h in f, round t = 1, 2, ... grows a tree
    with leaves R_tl, best first, each split with the largest gain in sum_l G_l^2 / (H_l + l2), and
    adds its values to the score:

        f_t(x) = f_(t-1)(x) + learning_rate * v_tl  for x in R_tl,   v_tl = -G_l / (H_l + l2),

    where G_l and H_l are the sums of g and h in the leaf, f_0 is the best constant, and v_tl is
    replaced by a better step for some losses (see `loss`). Features are cut into at most 255 bins.

    Complexity axis: `max_iter`, the number of rounds; `Tuned(HistGradientBoostingRegressor())`
    chooses it, from one fit on each training set, whose bins all folds share.

    Parameters
    ----------
    loss : {"squared_error", "absolute_error", "huber", "quantile", "poisson", "gamma"} or object
        What is minimised. "squared_error", (y - f)^2 / 2: leaves have the means of the residuals.
        "absolute_error" and "quantile": their medians and quantiles. "huber": Friedman's step
        around their median. "poisson", for counts, and "gamma", for positive numbers, predict
        exp(f): leaves have the best step log r, where r is the sum of y to that of the predictions
        (poisson; but r - 1 where r < 1), or the mean of their ratio (gamma). Under
        `monotonic_cst`, the values of a tree for "absolute_error", "quantile" and "huber" have one
        common factor instead, the best. scikit-learn has no "huber" here, and Newton's step for
        all but the absolute error and quantiles.
        An object is a loss of your own, with `value`, `gradient`, `curvature`, `initial` and
        `inverse_link`: see the example of `BoostingLoss` in
        `empirisk.learners.ensembles.boosting.boosting_loss`. Where Newton's step would raise it in
        a leaf the step is halved.
    quantile : float
        The level of the loss "quantile".
    alpha : float
        Of the loss "huber": errors up to this quantile of their sizes count squared.
    learning_rate : float
        The factor of each step.
    max_iter : int
        The number of rounds.
    max_leaf_nodes, max_depth : int or None
        Limits of each tree.
    min_samples_leaf : int
        Rows that a leaf has at least. Where all weights are whole numbers, a row counts as so many.
    l2_regularization : float
        Added to the curvature of each leaf.
    min_gain_to_split : float
        A split must gain more than this in sum_l G_l^2 / (H_l + l2); twice what it lowers the
        quadratic approximation of the loss by.
    max_features : float
        The share of the features that is drawn at each split.
    subsample : float
        The share of the rows that is drawn in each round, without replacement: stochastic gradient
        boosting (Friedman 2002).
    max_bins : int
        Bins that a feature may have, besides one for missing values.
    categorical_features : "from_dtype", None, or names, numbers or truth values of columns
        Categories are split into two sets of levels: the best cut of the levels in the order of
        G / (H + 10). Levels with fewer than ten rows in a node are one level there, together
        with missing values. As the order is found from the same rows, such splits gain by
        chance: in a node with L > 8 levels, gains have 2 (L - 8) added to their l2. Where weights
        are no numbers of copies, this 10 and this 2 are times the power of two next above their
        mean. Of more levels than bins, neighbours in that order share a bin, for each tree anew.
        By default those of a frame that are words or categories.
    monotonic_cst : array of -1, 0, 1, or dict of names, optional
        The prediction may only fall, is free, or may only grow with a feature.
    interaction_cst : "pairwise", "no_interactions" or list of lists of features, optional
        Features that may meet on a way down a tree. Features in no list are one list more.
    warm_start : bool
        Whether `fit` keeps the rounds that there are, and adds those that `max_iter` lacks.
    early_stopping : "auto" or bool
        Whether rounds end once held-out rows are no longer predicted better; "auto" is for more
        than 10,000 rows. Along the complexity axis it is off.
    scoring : "loss", str, callable or None
        By what held-out rows are judged; a name or callable of scikit-learn, None for R^2.
    validation_fraction : float, int or None
        The share or number of rows that are held out, or of groups where `fit` is given some; None
        to judge by training rows.
    n_iter_no_change : int
        Rounds end when the last so many scores are not above the one before them.
    tol : float
        By how much they must be above.
    verbose
        Has no effect: progress shows by itself.
    n_jobs : int, optional
        Threads for growing and predicting; the result does not depend on it.
    random_state : int, RandomState, Generator or None
        For `subsample`, `max_features` and the rows that are held out.

    Attributes
    ----------
    n_iter_ : int
        The number of rounds. Early stopping keeps all that there were, as in scikit-learn.
    n_trees_per_iteration_ : int
    trees_ : BoostedTrees
        All trees in flat arrays.
    do_early_stopping_ : bool
    train_score_, validation_score_ : arrays of shape (n_iter_ + 1,), or empty
        With early stopping: scores before the first round and after each, by the loss with a minus.
        Rounds that `warm_start` goes on from have none if they were grown without it.
    is_categorical_ : array of shape (p,) or None
    feature_importances_ : array of shape (p,)
        Sums of the gains of splits; see `risk.importance` for better ones.
    n_features_in_, feature_names_in_, columns_
        As in `DecisionTreeRegressor`.

    Notes
    -----
    A row of weight w is w copies of it; where rows are drawn, in `subsample` and for early
    stopping, it is drawn as one. Missing values go to the side where they gain more; infinite ones,
    which scikit-learn takes, are refused. Targets beyond 2^100, or all below 2^-100,
    are divided by a power of two while fitting; scores and gains are those of the quotients then,
    and `min_gain_to_split` and `l2_regularization` are divided accordingly.
    From 16,384 rows on, splits are searched by gradients of 14 bits where curvatures vary and
    weights are no numbers of copies (none were given, or some is no whole number); the values of
    leaves come from all bits. There a weighted row and its copies may be split differently where
    two splits are worth nearly the same.

    References
    ----------
    J. Friedman (2001), Greedy function approximation: a gradient boosting machine, Annals of
    Statistics 29, 1189-1232. J. Friedman (2002), Stochastic gradient boosting. G. Ke et al. (2017),
    LightGBM.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-2, 2, size=(500, 3))
    >>> y = X[:, 0] ** 2 + X[:, 1] + 0.1 * rng.normal(size=500)
    >>> model = HistGradientBoostingRegressor().fit(X, y)
    >>> model.predict([[0.0, 0.0, 0.0], [1.5, 1.0, 0.0]]).round(0)
    array([0., 3.])
    >>> model.n_iter_
    100
    """

    def __init__(
        self,
        loss: Any = "squared_error",
        *,
        quantile: float | None = None,
        alpha: float = 0.9,
        learning_rate: float = 0.1,
        max_iter: int = 100,
        max_leaf_nodes: int | None = 31,
        max_depth: int | None = None,
        min_samples_leaf: int = 20,
        l2_regularization: float = 0.0,
        min_gain_to_split: float = 0.0,
        max_features: float = 1.0,
        subsample: float = 1.0,
        max_bins: int = 255,
        categorical_features: Any = "from_dtype",
        monotonic_cst: Any = None,
        interaction_cst: Any = None,
        warm_start: bool = False,
        early_stopping: Any = "auto",
        scoring: Any = "loss",
        validation_fraction: float | int | None = 0.1,
        n_iter_no_change: int = 10,
        tol: float = 1e-7,
        verbose: int = 0,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.loss = loss
        self.quantile = quantile
        self.alpha = alpha
        self.learning_rate = learning_rate
        self.max_iter = max_iter
        self.max_leaf_nodes = max_leaf_nodes
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.l2_regularization = l2_regularization
        self.min_gain_to_split = min_gain_to_split
        self.max_features = max_features
        self.subsample = subsample
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.monotonic_cst = monotonic_cst
        self.interaction_cst = interaction_cst
        self.warm_start = warm_start
        self.early_stopping = early_stopping
        self.scoring = scoring
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.random_state = random_state

    def predict(self, X: Any) -> Floats:
        """What the score of each row predicts: the score itself, or exp of it."""
        raw = self._raw(X)
        return self._inverse_link(raw[:, 0])

    def staged_predict(self, X: Any) -> Iterator[Floats]:
        """The predictions after each round."""
        for raw in self._staged_raw(X):
            yield self._inverse_link(raw[:, 0])

    @property
    def own_loss(self) -> Loss | None:
        """The loss of predictions at which the parameters aim, if it is not the squared error."""
        if not isinstance(self.loss, str):
            return None
        if self.loss == "quantile":
            share = real(self.quantile)
            return None if share is None or not 0 < share < 1 else Quantile(share)
        return Absolute() if self.loss == "absolute_error" else None

    def _loss(self, n_classes: int) -> BoostingLoss:
        return regression_loss(self.loss, self.quantile, self.alpha)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        named = self.loss if isinstance(self.loss, str) else ""
        tags.target_tags.positive_only = named in ("poisson", "gamma")
        return tags
