"""Gradient boosting of classification trees on features in bins."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin

from empirisk.learners.class_weights import ClassWeightMixin
from empirisk.learners.ensembles.boosting.boosted_path import probabilities
from empirisk.learners.ensembles.boosting.boosting_loss import BoostingLoss
from empirisk.learners.ensembles.boosting.classification_losses import classification_loss
from empirisk.learners.ensembles.boosting.hist_gradient_boosting import HistGradientBoosting
from empirisk.runtime.arrays import Array, Floats


class HistGradientBoostingClassifier(ClassWeightMixin, ClassifierMixin, HistGradientBoosting):
    """The sum of many small trees, each a step down the log loss of those before it.

    Of two classes, a score f says P(1 | x) = 1 / (1 + exp(-f(x))), and round t adds a tree with the
    values -G / (H + l2) in its leaves, times `learning_rate`: G is the sum of p - y, H that of
    p (1 - p). Of K > 2 classes each has a score, P(k | x) = exp(f_k(x)) / sum_l exp(f_l(x)), and
    each round has K trees. See `HistGradientBoostingRegressor` for how trees are grown.

    Complexity axis: `max_iter`, the number of rounds; `Tuned(HistGradientBoostingClassifier())`
    chooses it, from one fit on each training set, whose bins all folds share.

    Parameters
    ----------
    loss : "log_loss" or object
        An object is a loss of your own, as in `HistGradientBoostingRegressor`. Its y are 0 and 1,
        or codes 0 to K - 1, and its `inverse_link` gives the probability of 1, or those of all K
        classes along the last axis. Of K > 2 classes no step is halved.
    learning_rate, max_iter, max_leaf_nodes, max_depth, min_samples_leaf, l2_regularization, \
min_gain_to_split, max_features, subsample, max_bins, categorical_features, interaction_cst, \
warm_start, early_stopping, validation_fraction, n_iter_no_change, tol, verbose, n_jobs, \
random_state
        As in `HistGradientBoostingRegressor`.
    monotonic_cst : array of -1, 0, 1, or dict of names, optional
        How the probability of the second class may depend on each feature. For two classes.
    scoring : "loss", str, callable or None
        By what held-out rows are judged; a name or callable of scikit-learn, None for accuracy.
    class_weight : dict, "balanced" or None
        Factors of the weights of the rows of each class, above 0 (scikit-learn takes 0, too);
        "balanced" gives the classes equal totals of weight. Unlike `sample_weight` they do not
        change how many rows a row counts for, in the ends of the bins and in `min_samples_leaf`.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    n_trees_per_iteration_ : int
        1 for two classes, else their number.
    n_iter_, trees_, do_early_stopping_, train_score_, validation_score_, is_categorical_, \
feature_importances_, n_features_in_, feature_names_in_, columns_
        As in `HistGradientBoostingRegressor`.

    Notes
    -----
    Leaves have Newton's step, as in scikit-learn, LightGBM and XGBoost. Of K > 2 classes, whose
    scores move at once, H is the sum of 2 p (1 - p), as in XGBoost: the matrix of curvatures is
    bounded by that. scikit-learn leaves out the 2 and goes twice as far in each round. On weights,
    missing values and categories see `HistGradientBoostingRegressor`.

    References
    ----------
    J. Friedman (2001), Greedy function approximation: a gradient boosting machine, Annals of
    Statistics 29, 1189-1232. G. Ke et al. (2017), LightGBM.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = HistGradientBoostingClassifier(max_iter=30).fit(X, y)
    >>> model.predict(X[[0, 60, 120]])
    array([0, 1, 2])
    >>> model.predict_proba(X[[0]]).round(1)
    array([[1., 0., 0.]])
    """

    def __init__(
        self,
        loss: Any = "log_loss",
        *,
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
        class_weight: Any = None,
    ) -> None:
        self.loss = loss
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
        self.class_weight = class_weight

    def decision_function(self, X: Any) -> Floats:
        """The scores: (rows,) of two classes, for the second, else (rows, classes)."""
        raw = self._raw(X)
        return raw[:, 0] if raw.shape[1] == 1 else raw

    def predict_proba(self, X: Any) -> Floats:
        """The probabilities of the classes."""
        return probabilities(self._inverse_link, self._raw(X))

    def predict_log_proba(self, X: Any) -> Floats:
        """The logarithms of the probabilities."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def predict(self, X: Any) -> Array:
        """The most probable class of each row; of equal ones the first."""
        best = self.predict_proba(X).argmax(axis=1)
        return self.classes_[best]

    def staged_decision_function(self, X: Any) -> Iterator[Floats]:
        """The scores after each round."""
        for raw in self._staged_raw(X):
            yield raw[:, 0] if raw.shape[1] == 1 else raw

    def staged_predict_proba(self, X: Any) -> Iterator[Floats]:
        """The probabilities after each round."""
        for raw in self._staged_raw(X):
            yield probabilities(self._inverse_link, raw)

    def staged_predict(self, X: Any) -> Iterator[Array]:
        """The predicted classes after each round."""
        for probability in self.staged_predict_proba(X):
            yield self.classes_[probability.argmax(axis=1)]

    def _loss(self, n_classes: int) -> BoostingLoss:
        return classification_loss(self.loss, n_classes)
