"""LogitBoost: an additive logistic model by Newton steps, for two and more classes."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from empirisk.learners.ensembles.boosting.additive_learner import AdditiveLearner
from empirisk.learners.ensembles.boosting.additive_path import Sum
from empirisk.learners.ensembles.boosting.forward_stagewise import forward_stagewise
from empirisk.learners.ensembles.boosting.likelihood_cost import LikelihoodCost, probabilities
from empirisk.learners.ensembles.members import refuse_without_weights
from empirisk.learners.trees.regressor import DecisionTreeRegressor
from empirisk.runtime.arrays import Array, Floats, Ints
from empirisk.runtime.errors import ParameterError
from empirisk.runtime.scalars import real

TIE = 1e-12


class LogitBoostClassifier(ClassifierMixin, AdditiveLearner):
    """An additive model of the log odds, by Newton steps (Friedman, Hastie & Tibshirani 2000).

    Two classes: f = log P(second) / P(first) starts at 0, and each round adds learning_rate * h_t,
    the weak learner that is fitted by least squares to the working response

        z_i = (y_i - p_i) / (p_i (1 - p_i)),  with weights w_i p_i (1 - p_i),  p = 1 / (1 + e^-f).

    K classes: each has a score f_k and p = softmax(f); each round fits a weak learner to each
    class's working response and adds learning_rate * (K - 1)/K * (h_k - mean over k of h_k).

    Complexity axis: `n_estimators`; `Tuned(LogitBoostClassifier())` chooses it from one run for
    each fold.

    Parameters
    ----------
    estimator : None, "least_squares" or estimator
        The weak learner. None is a stump, `DecisionTreeRegressor(max_depth=1)`; trees of this
        library share one coding of the table over rounds and classes, and take categories and
        missing values. "least_squares": of all lines a + b x_j in one column the best. Or any
        regressor whose `fit` takes `sample_weight`; every `random_state` in it is set to a seed of
        the round.
    n_estimators : int
        The number of rounds.
    learning_rate : float
        How much of each step is taken.
    z_max : float
        Working responses are cut off at -z_max and z_max: z is 1/p where a class came that is
        unlikely by now. Friedman et al. advise numbers from 2 to 4.
    n_jobs : int, optional
        Threads that share the classes of a round, and the rows of a prediction. The result does
        not depend on it.
    random_state : int, RandomState, Generator or None

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    n_classes_ : int
    n_estimators_ : int
        The number of rounds.
    estimators_ : sequence of estimators
        The weak learners, unless they are lines: for more than two classes, those of the first
        round, class after class, then those of the second.
    estimator_ : the estimator that these are clones of, or "least_squares"
    train_score_ : array of shape (rounds,)
        The mean log loss of the training rows after each round.
    feature_importances_ : array of shape (p,)
        Of trees: the squared error that splits by each feature take away, as parts of the sum.
    stages_ : the rounds, in flat arrays: from them `estimators_` are made when they are asked for
    columns_ : list of CodedColumn
        Of trees: what the columns are, numbers or categories with their levels.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    The working weights are no numbers of rows: for `min_samples_leaf` and `min_samples_split` of
    trees each row counts once, whatever its weight.

    References
    ----------
    J. Friedman, T. Hastie & R. Tibshirani (2000), Additive logistic regression: a statistical view
    of boosting, Annals of Statistics 28, Algorithms 3 and 6.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LogitBoostClassifier(n_estimators=20).fit(X, y)
    >>> print(model.predict_proba(X[:1]).round(3), model.score(X, y))
    [[1. 0. 0.]] 0.9933333333333333
    """

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 100,
        *,
        learning_rate: float = 1.0,
        z_max: float = 4.0,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.z_max = z_max
        self.n_jobs = n_jobs
        self.random_state = random_state

    def decision_function(self, X: Any) -> Floats:
        """The log odds (rows,) of two classes, or scores (rows, classes) that add up to 0."""
        return scores(self._last(X))

    def predict_proba(self, X: Any) -> Floats:
        """(rows, classes): the probabilities of the classes."""
        return probabilities(self._last(X))

    def predict_log_proba(self, X: Any) -> Floats:
        """The logarithms of the probabilities."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def predict(self, X: Any) -> Array:
        """The most probable class of each row; of equal ones, to rounding, the first."""
        codes = self._output(self._last(X), "value")
        return self.classes_[codes]

    def staged_decision_function(self, X: Any) -> Iterator[Floats]:
        """The decision function after 1, 2, ... rounds."""
        return (scores(f) for f in self._all_stages(X))

    def staged_predict_proba(self, X: Any) -> Iterator[Floats]:
        """The probabilities after 1, 2, ... rounds."""
        return (probabilities(f) for f in self._all_stages(X))

    def staged_predict(self, X: Any) -> Iterator[Array]:
        """The most probable classes after 1, 2, ... rounds."""
        return (self.classes_[self._output(f, "value")] for f in self._all_stages(X))

    def _all_stages(self, X: Any) -> Iterator[Floats]:
        check_is_fitted(self)
        return self._staged(X, range(1, self.n_estimators_ + 1))

    def _default_estimator(self) -> Any:
        return DecisionTreeRegressor(max_depth=1)

    def _sum(self, X: Any, y: Array, weight: Floats, rounds: int, n_classes: int) -> Sum:
        z_max = real(self.z_max)
        if z_max is None or not 1 <= z_max < np.inf:
            raise ParameterError(f"z_max is {self.z_max!r}; it must be a finite number from 1")
        prototype = self._prototype()
        if not isinstance(prototype, str):
            refuse_without_weights(prototype)
        cost = LikelihoodCost(y, weight, n_classes, z_max)
        f = np.zeros((len(y), cost.columns))
        stages, losses = forward_stagewise(
            self._weak(X, copies=False),
            cost,
            f,
            rounds=rounds,
            rate=float(self.learning_rate),
            random_state=self.random_state,
            n_jobs=self.n_jobs,
        )
        return Sum(np.zeros(cost.columns), stages, losses)

    def _output(self, f: Floats, output: str) -> Array:
        if output == "probability":
            return probabilities(f)
        return likeliest(f)


def likeliest(f: Floats) -> Ints:
    """The code of the class with the highest score; the first of those that are equal to rounding.

    Stumps often leave two classes with the same score, of sums in another order.
    """
    if f.shape[1] == 1:
        f = np.column_stack([np.zeros(len(f)), f])
    highest = f.max(axis=1, keepdims=True)
    return (f >= highest - TIE * np.maximum(np.abs(f).max(axis=1, keepdims=True), 1.0)).argmax(1)


def scores(f: Floats) -> Floats:
    """Log odds (rows,), or scores about their mean; softmax does not see the mean."""
    return f[:, 0].copy() if f.shape[1] == 1 else f - f.mean(axis=1, keepdims=True)
