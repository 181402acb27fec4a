"""Rows that are bagged, small bags of any estimator, and ways to draw."""

import numpy as np

from empirisk import BaggingClassifier, BaggingRegressor

SETTINGS = [
    {},
    {"max_features": 3, "max_samples": 0.6},
    {"bootstrap": False, "max_samples": 50},
    {"bootstrap_features": True},
]


def sample(classifier, n=90, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    y = X @ [1.0, -0.5, 2.0, 0.0] + rng.normal(size=n)
    return X, (np.array(["a", "b", "c"])[np.digitize(y, [-1, 1])] if classifier else y)


def bag_of(estimator, classifier, **settings):
    bag = BaggingClassifier if classifier else BaggingRegressor
    return bag(estimator, **{"n_estimators": 5, "random_state": 0, **settings})
