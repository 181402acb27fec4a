"""The mean of a regressor over many draws of the rows."""

from typing import Any

from sklearn.base import RegressorMixin

from empirisk.learners.ensembles.bagging import Bagging
from empirisk.learners.trees.regressor import DecisionTreeRegressor
from empirisk.runtime.arrays import Floats


class BaggingRegressor(RegressorMixin, Bagging):
    """The mean of one regressor fitted to B draws of the rows (Breiman 1996):

        f(x) = 1/B sum_b f_b(x),  f_b fitted to draw b.

    Bagging makes an unstable estimator, such as a tree, smoother: its squared loss is never above
    the mean squared loss of its members. With `max_features` below 1 each member sees some columns
    (random subspaces, Ho 1998), and with `bootstrap=False` some rows, none twice (pasting).

    Complexity axis: `max_features`; `Tuned(BaggingRegressor())` chooses it.

    Parameters
    ----------
    estimator : estimator, optional
        Ours, scikit-learn's or any with its interface; None is `DecisionTreeRegressor()`. A draw
        reaches it as counts in `sample_weight` where its `fit` takes that, else as repeated rows.
        Every `random_state` in it is set to a seed of the member. Trees of this library settle
        equal splits by lot.
    n_estimators : int
        B, the number of members.
    max_samples : int, float or None
        How many rows a member draws: None as many as there are, where all weights are whole numbers
        their sum; an int so many; a float that share, of the sum of the weights where rows are
        drawn by these, as in scikit-learn 1.9. Of groups where `groups` are given.
    max_features : int or float
        How many columns a member draws: a number, or a share of them.
    bootstrap : bool
        Whether rows are drawn with replacement.
    bootstrap_features : bool
        Whether columns are.
    oob_score : bool, Loss, str or callable
        Whether to judge each row by the members that did not draw it (`risk_`, `oob_score_`), with
        the usual loss or another one. A function of y and predictions gives `oob_score_`.
    warm_start : bool
        Whether `fit` goes on from the members there are, with the same rows.
    n_jobs : int, optional
        In threads where the estimator is of this library or of scikit-learn, else in processes.
        The result does not depend on it.
    random_state : int, RandomState, Generator or None
    verbose : int
        Without effect, for scikit-learn's sake: on a terminal, work that takes long shows a bar.
    block_size : int, optional
        Draw blocks of so many consecutive rows of a time series (moving blocks, Kuensch 1989). A
        row is then out of bag for the members that drew nothing of its run of `block_size` rows.

    Attributes
    ----------
    estimators_ : list of fitted estimators
    estimators_samples_, estimators_features_ : lists of int arrays
        The rows, with repeats, and the columns of each member.
    estimator_ : the estimator that members are clones of
    risk_, risk_curve_ : RiskEstimate, OutOfBagCurve
        Out-of-bag: an honest estimate from the same fit, and that after every member. With
        `oob_score=True`.
    oob_score_ : float
        R squared of the out-of-bag predictions, weighted.
    oob_prediction_ : array of shape (n,) or (n, outputs)
        A masked array where some row has no such prediction, since every member drew it.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    Weights: with replacement rows are drawn in proportion to their weights, as in scikit-learn 1.9.
    Without it a row whose weight is a whole number w is w copies, each drawn or not; where some
    weight is no whole number, rows are drawn alike and members get the weights. Rows of a group
    keep their weights.

    References
    ----------
    L. Breiman (1996), Bagging predictors, Machine Learning 24. H. Kuensch (1989), The jackknife and
    the bootstrap for general stationary observations, Annals of Statistics 17.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(200, 1))
    >>> y = np.sin(6 * X[:, 0]) + 0.3 * rng.normal(size=200)
    >>> bag = BaggingRegressor(n_estimators=100, oob_score=True, random_state=0).fit(X, y)
    >>> print(bag.risk_)
    The squared risk of the procedure at this n is 0.1..., 95 % interval ... to ... (...).
    """

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 10,
        *,
        max_samples: int | float | None = None,
        max_features: int | float = 1.0,
        bootstrap: bool = True,
        bootstrap_features: bool = False,
        oob_score: Any = False,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        block_size: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.max_samples = max_samples
        self.max_features = max_features
        self.bootstrap = bootstrap
        self.bootstrap_features = bootstrap_features
        self.oob_score = oob_score
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.block_size = block_size

    def predict(self, X: Any) -> Floats:
        """The mean of the members' predictions."""
        return self._mean(X)

    def _default_estimator(self) -> Any:
        return DecisionTreeRegressor()
