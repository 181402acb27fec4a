"""Statements of the lecture notes on the in-sample error and its optimism (C2.3.2), checked on the
library's own estimates. Each statistical test fails with probability 1e-6; the seeds are fixed."""

import numpy as np
import pytest
from scipy import stats
from sklearn.neighbors import KNeighborsRegressor

from empirisk import LinearRegression, Ridge
from empirisk.risk.penalties.optimism import optimism

SIGMA = 1.5


def margin(values):
    """Half-width of an interval for the mean that misses it with probability 1e-6."""
    return stats.norm.isf(5e-7) * np.std(values, ddof=1) / np.sqrt(len(values))


@pytest.mark.parametrize(
    "learner", [LinearRegression(), Ridge(30.0), KNeighborsRegressor(4)], ids=lambda x: str(x)[:8]
)
def test_the_expected_optimism_is_twice_the_mean_covariance(learner):
    """E(in-sample - training error | X) = (2/N) sum_k cov(Y_k, f(X_k) | X), the sum over k."""
    rng = np.random.default_rng(0)
    n, draws = 25, 250
    X = rng.normal(size=(n, 3))
    truth = np.sin(X[:, 0]) + X[:, 1]
    y, fresh = truth + SIGMA * rng.normal(size=(2, draws, n))
    fitted = np.stack([learner.fit(X, outcome).predict(X) for outcome in y])
    seen = ((fresh - fitted) ** 2 - (y - fitted) ** 2).mean(axis=1)
    covariances = ((y - truth) * (fitted - fitted.mean(axis=0))).sum(axis=0) / (draws - 1)
    assert abs(seen.mean() - 2 * covariances.mean()) < margin(seen)
    # And what the library says of any one of these data sets, with the noise given, is that too.
    said = optimism(learner, X, y[0], noise_variance=SIGMA**2)
    assert abs(seen.mean() - said.value) < margin(seen)


def test_the_training_error_with_the_optimism_estimates_the_in_sample_error():
    """Unbiased for least squares, with the noise variance estimated from the residuals."""
    rng = np.random.default_rng(1)
    n, draws = 20, 150
    X = rng.normal(size=(n, 4))
    truth = X @ [1.0, -1.0, 0.0, 0.0]
    corrected, training, in_sample = np.empty((3, draws))
    for b in range(draws):
        y = truth + SIGMA * rng.normal(size=n)
        found = optimism(LinearRegression(), X, y)
        fitted = LinearRegression().fit(X, y).predict(X)
        corrected[b], training[b] = found.in_sample.value, found.training.value
        in_sample[b] = SIGMA**2 + ((truth - fitted) ** 2).mean()
    assert abs(np.mean(corrected - in_sample)) < margin(corrected - in_sample)
    assert np.mean(in_sample - training) > margin(in_sample - training)


def test_the_in_sample_error_is_less_than_the_error_at_new_rows():
    """New rows lie farther out than those the model was fitted to: d/n against d/(n - d - 1)."""
    rng = np.random.default_rng(2)
    n, d, draws = 20, 5, 200
    gap = np.empty(draws)
    for b in range(draws):
        X = rng.normal(size=(n, d))
        y = SIGMA * rng.normal(size=n)
        model = LinearRegression(fit_intercept=False).fit(X, y)
        in_sample = (model.predict(X) ** 2).mean()
        gap[b] = (model.coef_**2).sum() - in_sample
    expected = SIGMA**2 * (d / (n - d - 1) - d / n)
    assert abs(gap.mean() - expected) < margin(gap)
    assert gap.mean() > margin(gap)
