"""The vote, or the mean probabilities, of a classifier over many draws of the rows."""

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from empirisk.learners.ensembles.bagging import Bagging
from empirisk.learners.trees.classifier import DecisionTreeClassifier
from empirisk.risk.suitable_loss import common_loss
from empirisk.runtime.arrays import Array, Floats


def _members_decide(bag: "BaggingClassifier") -> bool:
    member = bag.estimator_ if hasattr(bag, "estimator_") else bag._prototype()
    return hasattr(member, "decision_function")


class BaggingClassifier(ClassifierMixin, Bagging):
    """One classifier fitted to B draws of the rows, which predict together (Breiman 1996):

        argmax_k 1/B sum_b p_b(k | x),  or the class of most votes.

    A draw may lack a class: its member gives that class the probability 0. With `max_features`
    below 1 each member sees some columns (random subspaces, Ho 1998), and with `bootstrap=False`
    some rows, none twice (pasting).

    Complexity axis: `max_features`; `Tuned(BaggingClassifier())` chooses it.

    Parameters
    ----------
    estimator : estimator, optional
        As in `BaggingRegressor`; None is `DecisionTreeClassifier()`. Members are fitted to class
        codes, the places in `classes_`; what it says by label (`class_weight`) is translated. One
        that refuses a draw with one class is replaced by the constant that this class is.
    n_estimators, max_samples, max_features, bootstrap, bootstrap_features, oob_score, \
warm_start, n_jobs, random_state, verbose, block_size
        As in `BaggingRegressor`.
    voting : {"soft", "hard"}
        "soft": the mean of the members' probabilities, or of their votes where they have none, as
        in scikit-learn. "hard": votes. Members with costs of mistakes (`cost_matrix`) vote, since
        their labels know the costs and their probabilities do not.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    n_classes_ : int
    estimators_, estimators_samples_, estimators_features_, estimator_, risk_, \
risk_curve_, n_features_in_, feature_names_in_
        As in `BaggingRegressor`.
    oob_score_ : float
        The weighted share of rows that the members which did not draw them classify right.
    oob_decision_function_ : array of shape (n, n_classes)
        Their mean probabilities or votes. A masked array where some row has none.

    References
    ----------
    L. Breiman (1996), Bagging predictors, Machine Learning 24.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> bag = BaggingClassifier(n_estimators=100, oob_score=True, random_state=0).fit(X, y)
    >>> bag.predict_proba(X[:1])
    array([[1., 0., 0.]])
    >>> print(bag.risk_)
    The zero_one risk of the procedure at this n is 0.0..., 95 % interval ... to ... (...).
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
        voting: str = "soft",
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
        self.voting = voting

    def predict(self, X: Any) -> Array:
        """The class of the highest mean probability, or of most votes; the first of equals."""
        chosen = self.predict_proba(X).argmax(axis=1)
        return self.classes_[chosen]

    def predict_proba(self, X: Any) -> Floats:
        """The mean of the members' probabilities, or their shares of votes."""
        return self._mean(X)

    def predict_log_proba(self, X: Any) -> Floats:
        """The logarithms of the mean probabilities."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    @available_if(_members_decide)
    def decision_function(self, X: Any) -> Floats:
        """The mean of the members' decision functions; (rows,) for two classes."""
        check_is_fitted(self)
        return self.members_of(X).decisions(self.n_jobs)

    def _default_estimator(self) -> Any:
        return DecisionTreeClassifier()

    def _members_vote(self) -> bool:
        return self.voting == "hard" or common_loss([self.estimator_]) is not None
