"""Ensembles whose members say what they are told to: for tests of what follows from members."""

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils import ClassifierTags


class Told(RegressorMixin, BaseEstimator):
    """A member that predicts told[i] for a row whose first entry is i."""

    def __init__(self, told):
        self.told = np.asarray(told)

    def predict(self, X):
        return self.told[np.asarray(X)[:, 0].astype(int)]

    predict_proba = predict


class ToldEnsemble(RegressorMixin, BaseEstimator):
    """Members that drew the rows counts[b] times each and predict each[b]."""

    def __init__(self, counts, each, classes=None, bootstrap=None):
        self.counts, self.each, self.classes = counts, each, classes
        counts = np.asarray(counts)
        self.max_samples = 0.5  # not the number of rows: that is not to be inferred from it
        self.estimators_ = [Told(each_b) for each_b in each]
        self.estimators_samples_ = [np.repeat(np.arange(len(row)), row) for row in counts]
        self._n_samples = counts.shape[1]
        self.bootstrap = bootstrap  # None: to be seen from the counts
        if classes is not None:
            self.classes_ = np.asarray(classes)
            for member in self.estimators_:
                member.classes_ = np.arange(len(classes))

    def fit(self, X, y):
        return self

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        if self.classes is not None:
            tags.estimator_type, tags.classifier_tags = "classifier", ClassifierTags()
        return tags

    def __repr__(self):
        return f"ToldEnsemble of {len(self.each)}"

    def rows(self):
        """X of the rows that the members were told of."""
        return np.arange(len(self.each[0]))[:, None]


class Constant(RegressorMixin, BaseEstimator):
    """A member that predicts one number, or one vector, wherever."""

    def __init__(self, value):
        self.value = value

    def predict(self, X):
        return np.repeat(np.asarray(self.value)[None], len(X), axis=0)


class BaggedMean(RegressorMixin, BaseEstimator):
    """Means of resamples: what bagging of a constant gives, quickly."""

    def __init__(self, n_estimators=10, random_state=None):
        self.n_estimators = n_estimators
        self.random_state = random_state

    def fit(self, X, y):
        rng, n = np.random.default_rng(self.random_state), len(y)
        self.estimators_samples_ = list(rng.integers(n, size=(self.n_estimators, n)))
        self.estimators_ = [Constant(y[rows].mean()) for rows in self.estimators_samples_]
        return self
