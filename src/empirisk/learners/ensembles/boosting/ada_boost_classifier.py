"""AdaBoost: weak classifiers vote, each fitted to the rows that those before it have wrong."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils.validation import check_is_fitted

from empirisk.charts.margins import draw_margin_distributions
from empirisk.learners.class_codes import codes_among
from empirisk.learners.ensembles.boosting.ada_boost import AdaBoost
from empirisk.learners.ensembles.boosting.ada_boost_members import Asked
from empirisk.learners.ensembles.boosting.number_of_rounds import checked_rounds
from empirisk.learners.ensembles.boosting.samme import Boosted, boosted
from empirisk.learners.ensembles.boosting.votes import chosen, decisions, margins, probabilities
from empirisk.learners.trees.classifier import DecisionTreeClassifier
from empirisk.risk.axis import Output
from empirisk.runtime.arrays import Array, Floats, Ints
from empirisk.runtime.errors import DataError
from empirisk.runtime.targets import check_target


class AdaBoostClassifier(ClassifierMixin, AdaBoost):
    """A weighted vote of weak classifiers h_t (AdaBoost.M1, Freund & Schapire 1997; SAMME):

        argmax_k sum_t a_t 1[h_t(x) = k],  a_t = rate (log((1 - e_t) / e_t) + log(K - 1)),

    e_t being the error of h_t in the weights of round t. After a round the weights of the rows
    that h_t has wrong are multiplied by exp(a_t), and all are divided by their sum. Of two classes
    y = -1, +1 this minimises sum_i exp(-y_i f(x_i)) stage by stage, f = 1/2 sum_t a_t h_t: each a_t
    / 2 = 1/2 log((1 - e_t) / e_t) is the best step along h_t, by the new weights h_t is right half
    the time, and the best h_t is the one with the least weighted error. A stump is that with
    `criterion="misclassification"`; the default one, as in scikit-learn's, is split by the Gini
    index, and may have a larger error.

    A member without error gets the weight 1 and is the last one; one that is no better than a guess
    (e_t >= 1 - 1/K) is left out, and ends the rounds. Where the first is so, there is nothing to
    boost, and an error says so.

    Complexity axis: `n_estimators`; `Tuned(AdaBoostClassifier())` chooses it, with one fit for each
    fold.

    Parameters
    ----------
    estimator : estimator, optional
        The weak learner: ours, scikit-learn's or any whose `fit` takes `sample_weight`; of a
        pipeline every step has to. None is `DecisionTreeClassifier(max_depth=1)`, a stump. It is
        fitted to labels; every `random_state` in it is set to a seed of the round.
    n_estimators : int
        The most rounds.
    learning_rate : float
        The factor of the weights in the vote.
    random_state : int, RandomState, Generator or None
        For weak learners that are random.
    n_jobs : int, optional
        Threads that share the features where stumps are grown, and the rows in predictions of
        trees. The result does not depend on it.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    n_classes_ : int
    estimators_ : sequence of fitted estimators
        Trees of this library are kept in flat arrays, `trees_`, and made when they are asked for.
    estimator_weights_, estimator_errors_ : float arrays
        a_t and e_t of each member. In scikit-learn they go on with 0 and 1 to `n_estimators` where
        the rounds ended before.
    estimator_ : the estimator that members are clones of
    columns_ : list of CodedColumn
        Of trees of this library: what the columns are, numbers or categories with their levels.
    feature_importances_ : array of shape (p,)
        The mean of the members', weighted by a_t; of members that have them.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    Trees of this library share one coding of the table, with its categories and missing values.
    Stumps of a table of numbers, without further limits (of more than two classes by the Gini
    index), are found from sums over at most 255 bins of each feature, made once: they are the same
    stumps.

    The weights that a weak learner gets have the sum 1, so that limits such as `min_samples_leaf`
    of a tree count rows, not copies. A row keeps at least the part 2e-16 of its weight at the
    start. An error within 1e-12 of that of a guess is one.

    Probabilities are softmax(f_k / (K - 1)) of the decision function, the normalised vote, as in
    scikit-learn: they rank rows, and are far from calibrated.

    References
    ----------
    Y. Freund & R. Schapire (1997), A decision-theoretic generalization of on-line learning and an
    application to boosting, Journal of Computer and System Sciences 55. J. Zhu, H. Zou, S. Rosset &
    T. Hastie (2009), Multi-class AdaBoost, Statistics and Its Interface 2. J. Friedman, T. Hastie &
    R. Tibshirani (2000), Additive logistic regression, Annals of Statistics 28.

    Examples
    --------
    >>> from sklearn.datasets import make_gaussian_quantiles
    >>> X, y = make_gaussian_quantiles(n_samples=400, n_classes=2, random_state=0)
    >>> model = AdaBoostClassifier(n_estimators=200).fit(X, y)
    >>> print(model.score(X, y), len(model.estimators_))
    0.9975 200
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_estimators: int = 50,
        learning_rate: float = 1.0,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.random_state = random_state
        self.n_jobs = n_jobs

    def predict(self, X: Any) -> Array:
        """The class with the most votes, by weight; the first of equals."""
        members = self._asked(X)
        return self.classes_[self._staged(members, self._last_stage(), "value")[:, 0]]

    def predict_proba(self, X: Any) -> Floats:
        """softmax(f_k / (K - 1)) of the decision function f."""
        members = self._asked(X)
        return self._staged(members, self._last_stage(), "probability")[:, 0]

    def predict_log_proba(self, X: Any) -> Floats:
        """The logarithms of the probabilities."""
        return np.log(self.predict_proba(X))

    def decision_function(self, X: Any) -> Floats:
        """Normalised votes: (rows, classes), or, of two classes, (rows,) between -2 and 2.

        With v_k the share of the votes of class k, (K v_k - 1) / (K - 1); of two classes that of
        the second minus that of the first.
        """
        members = self._asked(X)
        votes = members.votes(self._last_stage())[:, 0]
        return decisions(votes, self._norm(-1), self.n_classes_)

    def staged_predict(self, X: Any) -> Iterator[Array]:
        """`predict` after each round."""
        for scores in self.staged_decision_function(X):
            yield self.classes_[chosen(scores, self.n_classes_)]

    def staged_predict_proba(self, X: Any) -> Iterator[Floats]:
        """`predict_proba` after each round."""
        for scores in self.staged_decision_function(X):
            yield probabilities(scores, self.n_classes_)

    def staged_decision_function(self, X: Any) -> Iterator[Floats]:
        """`decision_function` after each round."""
        for t, votes in enumerate(self._asked(X).staged_votes()):
            yield decisions(votes, self._norm(t), self.n_classes_)

    def staged_score(self, X: Any, y: Any, sample_weight: Any = None) -> Iterator[float]:
        """The share of rows that are classified right, after each round."""
        for prediction in self.staged_predict(X):
            yield float(accuracy_score(y, prediction, sample_weight=sample_weight))

    def margins(self, X: Any, y: Any, *, n_estimators: int | None = None) -> Floats:
        """By which share of the votes the true class leads all others, between -1 and 1.

        Of two classes y = -1, +1 that is y sum_t a_t h_t(x) / sum_t a_t. The prediction is right
        where it is positive; how large it is bounds the risk (Schapire et al. 1998).

        Parameters
        ----------
        X : array-like or frame of shape (n, p)
        y : array-like of shape (n,)
            Labels.
        n_estimators : int, optional
            After so many rounds; None, after all.
        """
        members = self._asked(X)
        stage = len(self.estimator_weights_)
        if n_estimators is not None:
            stage = min(checked_rounds(n_estimators), stage)
        votes = members.votes(np.array([stage]))[:, 0]
        return margins(votes, self._norm(stage - 1), self._codes(y, votes), self.n_classes_)

    def plot_margins(
        self, X: Any, y: Any, *, rounds: Any = None, sample_weight: Any = None, ax: Any = None
    ) -> Any:
        """The distribution of the margins after several rounds (Schapire et al. 1998).

        Parameters
        ----------
        X, y : as in `margins`
        rounds : sequence of int, optional
            The numbers of rounds; None is 1, 10, 100, ... and all.
        sample_weight : array-like of shape (n,), optional
        ax : Axes, optional
        """
        check_is_fitted(self)
        T = len(self.estimator_weights_)
        if rounds is None:
            rounds = [10**k for k in range(T) if 10**k < T] + [T]
        found = {int(t): self.margins(X, y, n_estimators=t) for t in rounds}
        _, weight = check_target(self, y, y, sample_weight, classifier=True)
        return draw_margin_distributions(found, weight, ax=ax)

    def _codes(self, y: Any, votes: Floats) -> Ints:
        labels, _ = check_target(self, y, votes, classifier=True)
        codes, strange = codes_among(labels, self.classes_)
        if strange.any():
            raise DataError(
                f"y has the label {labels[strange].tolist()[0]!r}, which training did not have"
            )
        return codes

    def _norm(self, t: int) -> float:
        return float(np.cumsum(self.estimator_weights_)[t])

    def _staged(self, members: Asked, stages: Ints, output: Output) -> Array:
        norms = np.cumsum(self.estimator_weights_)[stages - 1]
        scores = decisions(members.votes(stages), norms[:, None], self.n_classes_)
        form = chosen if output == "value" else probabilities
        return form(scores, self.n_classes_)

    def _rounds(
        self, X: Any, y: Array, weight: Floats, labels: Array | None, seeds: list[int]
    ) -> Boosted:
        assert labels is not None
        return boosted(
            self._prototype(),
            X,
            y,
            weight,
            labels,
            learning_rate=self.learning_rate,
            seeds=seeds,
            n_jobs=self.n_jobs,
        )

    def _needs_weights(self) -> bool:
        return True

    def _default_estimator(self) -> Any:
        return DecisionTreeClassifier(max_depth=1)
