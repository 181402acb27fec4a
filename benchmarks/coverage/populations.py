"""The populations of the certificate."""

import numpy as np

from empirisk.risk.populations import (
    Bernoulli,
    Gaussian,
    GaussianClasses,
    LinearModel,
    Noise,
    Regression,
)
from empirisk.runtime.arrays import Array, Floats


def linear(p: int, noise: Noise | float = 1.0, correlation: float = 0.0) -> LinearModel:
    """y = x1 + x2/2 + x3/4 + ... + noise, x Gaussian with correlation^|j - k|."""
    lag = np.abs(np.subtract.outer(np.arange(p), np.arange(p)))
    features = Gaussian(np.zeros(p), np.float64(correlation) ** lag)
    return LinearModel(0.5 ** np.arange(p), features=features, noise=noise)


def two_classes(p: int, distance: float = 2.0, prior: float = 0.5) -> GaussianClasses:
    """N(0, I) and N(m, I), |m| = distance."""
    means = np.zeros((2, p))
    means[1] = distance / np.sqrt(p)
    return GaussianClasses(means, priors=[1 - prior, prior])


def corners(K: int, p: int, distance: float = 2.5) -> GaussianClasses:
    """K classes N(m_k, I), their means equally far from each other."""
    means = np.zeros((K, p))
    means[np.arange(K), np.arange(K)] = distance / np.sqrt(2)
    return GaussianClasses(means)


def logit(p: int, curved: bool = False) -> Bernoulli:
    """P(Y = 1 | x) = 1 / (1 + exp(-x1 - x2)), or with x1 x2 added: no linear logit."""

    def probability(X: Array) -> Floats:
        score = X[:, 0] + X[:, 1] + (X[:, 0] * X[:, 1] if curved else 0.0)
        return 1 / (1 + np.exp(-score))

    return Bernoulli(probability, Gaussian(n_features=p))


def crossed(sure: float = 0.9) -> Bernoulli:
    """P(Y = 1 | x) = `sure` where x1 x2 > 0, else 1 - `sure`: neither says anything alone."""

    def probability(X: Array) -> Floats:
        return np.where(X[:, 0] * X[:, 1] > 0, sure, 1 - sure)

    return Bernoulli(probability, Gaussian(n_features=4))


def uneven_noise() -> Regression:
    def f(X: Array) -> Floats:
        return X[:, 0] + X[:, 1] / 2

    return Regression(f, Gaussian(n_features=5), noise=lambda X: np.abs(X[:, 0]))


def unequal_classes() -> GaussianClasses:
    means = np.zeros((2, 5))
    means[1] = 1.0
    return GaussianClasses(means, np.stack([np.eye(5), 4 * np.eye(5)]))


def some_informative(distance: float) -> GaussianClasses:
    """40 features, of which the means of the first ten differ, from `distance` to half of it."""
    means = np.zeros((2, 40))
    means[1, :10] = distance * np.linspace(1.0, 0.5, 10)
    return GaussianClasses(means)


def few_informative(distance: float) -> GaussianClasses:
    """20 features, of which the means of the first four differ by `distance`."""
    means = np.zeros((2, 20))
    means[1, :4] = distance
    return GaussianClasses(means)
