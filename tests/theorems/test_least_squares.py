"""Statements about least squares and ridge, checked on the learners themselves."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from empirisk import LinearRegression, Ridge
from empirisk.runtime.errors import RankWarning
from tolerances import LAST_BITS, SUMMED

ERROR_PROBABILITY = 1e-6  # of each statistical test here; the seeds are fixed, so once for all


def design(n=30, p=4, seed=0):
    return np.random.default_rng(seed).normal(size=(n, p)) + 2


def hat_matrix(learner, X, sample_weight=None):
    """Column i is the prediction at the training points when y is the i-th unit vector."""
    return learner.fit(X, np.eye(len(X)), sample_weight).predict(X)


@pytest.mark.parametrize("intercept", [True, False])
def test_the_hat_matrix_is_a_projection_and_its_trace_counts_the_parameters(intercept):
    X = design()
    H = hat_matrix(LinearRegression(fit_intercept=intercept), X)
    assert_allclose(H, H.T, rtol=0, atol=LAST_BITS)
    assert_allclose(H @ H, H, rtol=0, atol=LAST_BITS)
    assert np.trace(H) == pytest.approx(4 + intercept, rel=LAST_BITS)


def test_dependent_columns_do_not_count():
    X = np.column_stack([design(), design()[:, 0] - design()[:, 1]])
    with pytest.warns(RankWarning):
        H = hat_matrix(LinearRegression(), X)
    assert np.trace(H) == pytest.approx(5, rel=SUMMED)


@pytest.mark.parametrize("alpha", [0.1, 10.0])
def test_the_trace_of_ridge_is_the_sum_of_its_shrinkage_factors(alpha):
    X = design()
    square = np.linalg.svd(X - X.mean(0))[1] ** 2
    learner = Ridge(alpha)
    trace = np.trace(hat_matrix(learner, X))
    assert trace == pytest.approx(1 + (square / (square + alpha)).sum(), rel=SUMMED)
    assert learner.degrees_of_freedom_ == pytest.approx(trace, rel=SUMMED)


def test_the_excess_risk_over_the_training_points_is_noise_times_parameters_over_n():
    """E |H e|^2 / n = sigma^2 |H|_F^2 / n = sigma^2 d / n; d counts the intercept."""
    n, sigma, draws = 30, 1.5, 2000
    X = design(n)
    H = hat_matrix(LinearRegression(), X)
    assert sigma**2 * (H**2).sum() / n == pytest.approx(sigma**2 * 5 / n, rel=LAST_BITS)
    truth = X @ [1.0, -2.0, 0.0, 3.0] + 4
    noise = np.random.default_rng(1).normal(size=(draws, n)) * sigma
    prediction = LinearRegression().fit(X, (truth + noise).T).predict(X)
    excess = ((prediction.T - truth) ** 2).mean(axis=1)
    # n excess / sigma^2 is chi-square with 5 degrees of freedom; so is its sum, with 5 draws.
    low, high = stats.chi2(5 * draws).interval(1 - ERROR_PROBABILITY)
    assert low < excess.sum() * n / sigma**2 < high


def test_the_excess_risk_with_a_random_gaussian_design():
    """Without an intercept E |b - b*|^2 = sigma^2 d / (n - d - 1), more than sigma^2 d / n."""
    n, d, draws = 15, 3, 1000
    rng = np.random.default_rng(2)
    truth = np.array([1.0, 0.0, -2.0])
    excess = np.empty(draws)
    for b in range(draws):
        X = rng.normal(size=(n, d))
        model = LinearRegression(fit_intercept=False).fit(X, X @ truth + rng.normal(size=n))
        excess[b] = ((model.coef_ - truth) ** 2).sum()
    margin = stats.norm.isf(ERROR_PROBABILITY / 2) * excess.std() / np.sqrt(draws)
    assert abs(excess.mean() - d / (n - d - 1)) < margin
    assert excess.mean() - d / n > margin / 2  # the test tells the two laws apart


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("learner", [LinearRegression(), Ridge(2.0)], ids=str)
def test_leave_one_out_by_the_hat_matrix_equals_refitting(learner, weighted):
    rng = np.random.default_rng(3)
    X, y = design(12), rng.normal(size=12)
    w = rng.integers(1, 4, 12) + 0.0 if weighted else np.ones(12)
    H = hat_matrix(learner, X, w)
    residual = y - learner.fit(X, y, w).predict(X)
    for i in range(12):
        rest = np.arange(12) != i
        alone = learner.fit(X[rest], y[rest], w[rest]).predict(X[i : i + 1])[0]
        assert y[i] - alone == pytest.approx(residual[i] / (1 - H[i, i]), rel=SUMMED)


def test_least_squares_is_maximum_likelihood_with_gaussian_noise():
    rng = np.random.default_rng(4)
    X, y = design(), rng.normal(size=30)
    model = LinearRegression().fit(X, y)
    best = np.append(model.coef_, model.intercept_)
    scale = np.sqrt(((y - model.predict(X)) ** 2).mean())

    def likelihood(b, sigma):
        return stats.norm(X @ b[:-1] + b[-1], sigma).logpdf(y).sum()

    for step in (1e-3, 0.1):
        for _ in range(20):
            other = best + step * rng.normal(size=5)
            assert likelihood(other, scale) < likelihood(best, scale)
        assert likelihood(best, scale * (1 + step)) < likelihood(best, scale)
        assert likelihood(best, scale * (1 - step)) < likelihood(best, scale)


def test_residuals_are_orthogonal_to_the_columns():
    X, y = design(), np.random.default_rng(5).normal(size=30)
    residual = y - LinearRegression().fit(X, y).predict(X)
    assert_allclose(np.column_stack([np.ones(30), X]).T @ residual, 0, rtol=0, atol=SUMMED)


@pytest.mark.parametrize("shape", [(6, 10), (30, 5)])
def test_ridge_tends_to_the_solution_of_least_norm(shape):
    X, y = design(*shape), np.random.default_rng(6).normal(size=shape[0])
    if shape[0] > shape[1]:
        X = np.round(X * 64) / 64  # few binary digits, so that the sum is exact
        X[:, 4] = X[:, 0] + X[:, 1]
    with pytest.warns(RankWarning):
        limit = LinearRegression().fit(X, y).coef_
    gaps = [np.linalg.norm(Ridge(alpha).fit(X, y).coef_ - limit) for alpha in (1e-4, 1e-6, 1e-8)]
    assert gaps[0] < 1e-3
    assert_allclose(gaps[1:] / np.array(gaps[:-1]), 0.01, rtol=0.02)  # the gap goes as alpha


def test_ridge_shrinks_the_norm_but_not_every_coefficient():
    X = np.array([[1.0, 0.9], [0.9, 1.0], [-1.0, -1.0], [-0.9, -0.9]])
    y = np.array([1.0, 0.0, -1.0, 0.0])
    values = [0.0, 0.01, 0.1, 1.0, 10.0]
    coef = np.array([Ridge(alpha).fit(X, y).coef_ for alpha in values])
    assert (np.diff(np.linalg.norm(coef, axis=1)) < 0).all()
    assert (np.diff(coef, axis=0) > 0).any()


def test_of_the_constant_feature_the_coefficient_is_the_mean():
    rng = np.random.default_rng(7)
    y, w = rng.normal(size=20), rng.integers(1, 5, 20)
    model = LinearRegression(fit_intercept=False).fit(np.ones((20, 1)), y, w)
    assert model.coef_[0] == pytest.approx(np.average(y, weights=w), rel=LAST_BITS)
