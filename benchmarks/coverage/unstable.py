"""Learners whose risk moves from one training set to the next more than their rows tell.

By chance, as where no split says anything by itself or a network starts elsewhere each time, or
since they aim at another loss than the one by which they are judged.
"""

from collections.abc import Iterator

import numpy as np
import sklearn.linear_model as peers
import sklearn.neighbors as neighbours
import sklearn.tree as trees
from scipy import stats

from benchmarks.coverage.populations import crossed, linear
from benchmarks.coverage.sets import CrossValidated, Setting
from benchmarks.coverage.sources import Sampled
from empirisk import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    MLPClassifier,
    MLPRegressor,
)
from empirisk.risk.populations import Bernoulli, Gaussian, Noise, Regression
from empirisk.runtime.arrays import Array, Floats


def parity() -> Bernoulli:
    """P(Y = 1 | x) = 0.9 where x1 x2 x3 > 0, else 0.1: no two of them say anything."""

    def probability(X: Array) -> Floats:
        return np.where(X[:, :3].prod(axis=1) > 0, 0.9, 0.1)

    return Bernoulli(probability, Gaussian(n_features=5))


def ring() -> Bernoulli:
    """P(Y = 1 | x) = 0.95 where x1^2 + x2^2 < 1.4, else 0.05."""

    def probability(X: Array) -> Floats:
        return np.where(X[:, 0] ** 2 + X[:, 1] ** 2 < 1.4, 0.95, 0.05)

    return Bernoulli(probability, Gaussian(n_features=3))


def product() -> Regression:
    """y = x1 x2 + x3 - x4/2 + noise."""

    def f(X: Array) -> Floats:
        return X[:, 0] * X[:, 1] + X[:, 2] - X[:, 3] / 2

    return Regression(f, Gaussian(n_features=4), noise=1.0)


class Exponential(Noise):
    """exp(-x) for x > 0, moved to mean 0."""

    def __init__(self) -> None:
        super().__init__(stats.expon())

    def mean_below(self, t: Array) -> Floats:
        """-x exp(-x), x = t + 1."""
        x = np.maximum(t + self.centre, 0.0)
        return -x * np.exp(-x)


class Lognormal(Noise):
    """exp of a standard normal number, moved to mean 0."""

    def __init__(self) -> None:
        super().__init__(stats.lognorm(1.0))

    def mean_below(self, t: Array) -> Floats:
        """e^(1/2) (Phi(log x - 1) - Phi(log x)), x = t + e^(1/2)."""
        log = np.log(np.maximum(t + self.centre, np.finfo(float).tiny))
        return self.centre * (stats.norm.cdf(log - 1) - stats.norm.cdf(log))


def by_chance() -> Iterator[Setting]:
    classes = HistGradientBoostingClassifier(max_iter=20, max_leaf_nodes=8)
    numbers = HistGradientBoostingRegressor(max_iter=20)
    few_units = {"hidden_layer_sizes": (4,), "max_iter": 40, "n_iter_no_change": None}
    network, net = MLPClassifier(**few_units), MLPRegressor(**few_units)
    shallow = trees.DecisionTreeClassifier(max_depth=3)
    cases = (
        ("crossed-tree", "a shallow tree of scikit-learn where only x1 x2 says something", crossed,
         shallow, "zero_one", (500, 2000), 2000),
        ("parity-boosting", "20 boosted trees where only x1 x2 x3 says something", parity, classes,
         "zero_one", (2000,), 1000),
        ("crossed-boosting", "20 boosted trees where only x1 x2 says something", crossed, classes,
         "zero_one", (500, 2000), 1000),
        ("product-boosting", "20 boosted trees, y = x1 x2 + x3 - x4/2 + noise", product, numbers,
         "squared", (1000, 5000, 20_000), 400),
        ("ring-network", "a network of 4 units, class 1 in a circle", ring, network,
         "zero_one", (500, 2000), 600),
        ("product-network", "a network of 4 units, y = x1 x2 + x3 - x4/2 + noise", product, net,
         "squared", (500, 2000), 600),
    )  # fmt: skip
    for name, words, population, learner, loss, sizes, sets in cases:
        for n in sizes:
            source = Sampled(population(), loss)
            yield CrossValidated(f"{name}-n{n}", words, source, learner, n, loss, sets=sets)


def by_another_loss() -> Iterator[Setting]:
    learners = (
        ("least_squares", "least squares of scikit-learn", peers.LinearRegression()),
        ("knn-k30", "30 nearest neighbours of scikit-learn", neighbours.KNeighborsRegressor(30)),
        ("median", "median regression of scikit-learn", peers.QuantileRegressor(alpha=0.0)),
    )
    noises = (("exponential", Exponential()), ("lognormal", Lognormal()))
    for name, words, learner in learners:
        for noise, errors in noises:
            for n in (100, 400):
                yield CrossValidated(
                    f"absolute-{name}-{noise}-n{n}",
                    f"{words} under the absolute loss, 3 features, {noise} noise",
                    Sampled(linear(3, errors), "absolute"),
                    learner,
                    n,
                    "absolute",
                    sets=1000 if name != "median" else 400,
                )
