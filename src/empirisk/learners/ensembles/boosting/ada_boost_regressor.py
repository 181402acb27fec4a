"""AdaBoost.R2: the weighted median of regressors, each fitted to rows that were predicted badly."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.metrics import r2_score

from empirisk.learners.ensembles.boosting.ada_boost import AdaBoost
from empirisk.learners.ensembles.boosting.ada_boost_members import Asked
from empirisk.learners.ensembles.boosting.r2 import LOSSES, adaboost_r2, weak_regressors
from empirisk.learners.ensembles.boosting.samme import Boosted
from empirisk.learners.trees.regressor import DecisionTreeRegressor
from empirisk.risk.axis import Output
from empirisk.runtime.arrays import Array, Floats, Ints
from empirisk.runtime.errors import ParameterError
from empirisk.runtime.scalars import is_flag


class AdaBoostRegressor(RegressorMixin, AdaBoost):
    """The weighted median of regressors h_t (AdaBoost.R2, Drucker 1997):

        inf {z : sum_t a_t 1[h_t(x) <= z] >= 1/2 sum_t a_t},  a_t = rate log((1 - e_t) / e_t),

    e_t = sum_i w_i l_i being the mean loss of h_t in the weights of round t, l_i the error of row i
    as a part of the largest, |y_i - h_t(x_i)| / max: itself (linear), its square, or 1 - exp of it
    with a minus (exponential). After a round w_i is multiplied by (e_t / (1 - e_t))^(rate (1 -
    l_i)), and all are divided by their sum.

    A member without error gets the weight 1 and is the last one; one with e_t >= 1/2 is left out,
    unless it is the first, and ends the rounds.

    Complexity axis: `n_estimators`; `Tuned(AdaBoostRegressor())` chooses it, with one fit for each
    fold.

    Parameters
    ----------
    estimator : estimator, optional
        The weak learner, of any origin; None is `DecisionTreeRegressor(max_depth=3)`. A draw
        reaches it as counts in `sample_weight` where its `fit` takes that, else as repeated rows.
        Every `random_state` in it is set to a seed of the round.
    n_estimators, learning_rate
        As in `AdaBoostClassifier`.
    loss : {"linear", "square", "exponential"}
    random_state : int, RandomState, Generator or None
        Of the draws, and of weak learners that are random.
    bootstrap : bool
        True: each member is fitted to as many rows as there are, drawn in proportion to their
        weights, as in scikit-learn and in Drucker's paper. False: to all rows with the weights
        themselves, of sum 1, which nothing random enters; the weak learner has to take weights.
    n_jobs : int, optional
        Threads that share the rows in predictions of trees. The result does not depend on it.

    Attributes
    ----------
    estimators_, trees_, columns_, estimator_weights_, estimator_errors_, estimator_, \
feature_importances_, n_features_in_, feature_names_in_
        As in `AdaBoostClassifier`. A first member with e_t >= 1/2 has the weight 0, and predicts
        alone.

    Notes
    -----
    With `bootstrap` a row of weight w is drawn like w copies of it: the same in distribution, with
    as many draws as rows, or as the sum of the weights where these are whole numbers. Without it
    weights are copies exactly, but for limits of a tree that count rows.

    References
    ----------
    H. Drucker (1997), Improving regressors using boosting techniques, International Conference on
    Machine Learning.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(200, 1))
    >>> y = np.sin(6 * X[:, 0]) + 0.1 * rng.normal(size=200)
    >>> model = AdaBoostRegressor(n_estimators=100, bootstrap=False).fit(X, y)
    >>> print(f"{model.score(X, y):.2f}")
    0.96
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_estimators: int = 50,
        learning_rate: float = 1.0,
        loss: str = "linear",
        random_state: Any = None,
        bootstrap: bool = True,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.loss = loss
        self.random_state = random_state
        self.bootstrap = bootstrap
        self.n_jobs = n_jobs

    def predict(self, X: Any) -> Floats:
        """The weighted median of the members' predictions."""
        return self._asked(X).medians(self._last_stage())[:, 0]

    def staged_predict(self, X: Any) -> Iterator[Floats]:
        """`predict` after each round."""
        members = self._asked(X)
        yield from members.medians(np.arange(1, len(self.estimator_weights_) + 1)).T

    def staged_score(self, X: Any, y: Any, sample_weight: Any = None) -> Iterator[float]:
        """R squared after each round."""
        for prediction in self.staged_predict(X):
            yield float(r2_score(y, prediction, sample_weight=sample_weight))

    def _checked(self) -> Any:
        if not (isinstance(self.loss, str) and self.loss in LOSSES):
            raise ParameterError(f"loss is {self.loss!r}; it must be one of {', '.join(LOSSES)}")
        if not is_flag(self.bootstrap):
            raise ParameterError(f"bootstrap is {self.bootstrap!r}; give True or False")
        return super()._checked()

    def _staged(self, members: Asked, stages: Ints, output: Output) -> Array:
        return members.medians(stages)

    def _rounds(
        self, X: Any, y: Array, weight: Floats, labels: Array | None, seeds: list[int]
    ) -> Boosted:
        return adaboost_r2(
            weak_regressors(self._prototype(), X, y),
            y,
            weight,
            learning_rate=self.learning_rate,
            loss=self.loss,
            bootstrap=bool(self.bootstrap),
            seeds=seeds,
        )

    def _needs_weights(self) -> bool:
        return not self.bootstrap

    def _default_estimator(self) -> Any:
        return DecisionTreeRegressor(max_depth=3)
