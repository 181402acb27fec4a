"""Statements of the lecture notes on risk, training risk and cross-validation."""

import numpy as np
from numpy.testing import assert_allclose
from sklearn.model_selection import KFold, LeaveOneOut

from empirisk import BasisRegression, KNeighborsRegressor, LinearRegression, Ridge, Tuned, risk
from tolerances import SUMMED


def gaussian_linear(rng, n, d):
    """y = x'1 + noise of variance 1, standard normal x: R(h) = 1 + |coef - 1|^2."""
    X = rng.normal(size=(n, d))
    return X, X.sum(axis=1) + rng.normal(size=n)


def true_risk(model):
    return 1 + np.sum((model.coef_ - 1) ** 2)


def test_cross_validation_estimates_the_risk_at_the_smaller_sample_size():
    # A1.5: E CV = E R at n - n/v; for Gaussian least squares E R = 1 + d/(m - d - 1) at m rows.
    n, d, v, draws = 40, 4, 4, 600
    rng = np.random.default_rng(0)
    model = LinearRegression(fit_intercept=False)
    estimates = [
        risk.cross_validate(model, *gaussian_linear(rng, n, d), cv=v).value for _ in range(draws)
    ]
    m = n - n // v
    expected = 1 + d / (m - d - 1)
    at_n = 1 + d / (n - d - 1)
    error = np.std(estimates) / np.sqrt(draws)
    assert abs(np.mean(estimates) - expected) < 4 * error  # fails with probability 6e-5
    assert np.mean(estimates) - at_n > 2 * error  # and it is not the risk at n


def test_training_risk_is_below_the_best_in_class_and_that_below_the_fitted():
    # B5.2, mended: E R_n(h) <= R(h*_H) <= R(h). Here R(h*_H) = 1.
    rng = np.random.default_rng(1)
    training, fitted = [], []
    for _ in range(200):
        X, y = gaussian_linear(rng, 30, 5)
        model = LinearRegression(fit_intercept=False).fit(X, y)
        training.append(np.mean((y - model.predict(X)) ** 2))
        fitted.append(true_risk(model))
    assert np.mean(training) + 4 * np.std(training) / np.sqrt(200) < 1  # expected 1 - 5/30
    assert min(fitted) >= 1
    assert_allclose(np.mean(training), 1 - 5 / 30, rtol=0, atol=4 * np.std(training) / np.sqrt(200))


def test_a_small_test_set_is_noisy_not_biased():
    rng = np.random.default_rng(2)
    X, y = gaussian_linear(rng, 50, 3)
    model = LinearRegression().fit(X, y)
    truth = true_risk(model) + model.intercept_**2
    small = [risk.evaluate(model, *gaussian_linear(rng, 10, 3)).value for _ in range(400)]
    large = [risk.evaluate(model, *gaussian_linear(rng, 160, 3)).value for _ in range(400)]
    for values in (small, large):
        assert abs(np.mean(values) - truth) < 4 * np.std(values) / 20  # probability 6e-5
    assert_allclose(np.std(small) / np.std(large), 4, rtol=0.25)  # sqrt(160/10), +-5 se


def test_the_least_of_several_risks_is_biased_downwards():
    # E min_j R_j <= min_j E R_j: with 30 equally useless models the winner looks better than 1.
    rng = np.random.default_rng(3)
    winners = []
    for _ in range(100):
        y = rng.normal(size=40)
        guesses = 0.5 * rng.normal(size=(40, 30))
        winners.append(np.mean((y[:, None] - guesses) ** 2, axis=0).min())
    assert np.mean(winners) + 4 * np.std(winners) / 10 < 1.25  # the risk of each is 1 + 1/4


def test_the_excess_risk_of_a_finite_class_is_at_most_twice_the_largest_deviation():
    # A3: R(h_n) - R(h*) <= 2 max_h |R_n(h) - R(h)| for the empirical risk minimiser, always.
    rng = np.random.default_rng(4)
    truth = rng.uniform(0.2, 0.8, size=12)
    for _ in range(300):
        empirical = rng.binomial(25, truth) / 25
        excess = truth[np.argmin(empirical)] - truth.min()
        assert excess <= 2 * np.abs(empirical - truth).max() + 1e-15


def test_leave_one_out_is_n_fold():
    X, y = gaussian_linear(np.random.default_rng(5), 25, 3)
    one = risk.cross_validate(LinearRegression(), X, y, cv=LeaveOneOut())
    n_fold = risk.cross_validate(LinearRegression(), X, y, cv=KFold(25))
    assert_allclose(one.losses, n_fold.losses, rtol=SUMMED)


def test_training_risk_prefers_the_richest_model_and_honest_risk_need_not():
    X, y = gaussian_linear(np.random.default_rng(6), 40, 30)
    path = Tuned(Ridge()).fit(X, y).path_
    order = np.argsort(path.complexity)
    assert (np.diff(path.training_risk[order]) <= 0).all()
    assert path.complexity[path.chosen] < path.complexity.max()


def test_training_risk_picks_the_largest_degree_and_one_neighbour():
    rng = np.random.default_rng(8)
    X = rng.uniform(-1, 1, size=(60, 1))
    y = np.sin(3 * X[:, 0]) + 0.5 * rng.normal(size=60)
    degrees = Tuned(BasisRegression("polynomial"), values=range(1, 13), random_state=0).fit(X, y)
    assert np.argmin(degrees.path_.training_risk) == 11
    assert degrees.best_value_ < 12
    neighbours = Tuned(KNeighborsRegressor(), values=range(1, 31), random_state=0).fit(X, y)
    assert neighbours.path_.training_risk[0] == 0 < neighbours.path_.training_risk[1:].min()
    assert neighbours.best_value_ > 1


def test_optimism_of_least_squares_is_two_sigma_squared_d_over_n():
    # C2.3.2: E[in-sample error] - E[training error] = 2 sigma^2 d / N at fixed design.
    rng = np.random.default_rng(7)
    n, d, draws = 30, 6, 3000
    X = rng.normal(size=(n, d))
    mean = X.sum(axis=1)
    hat = X @ np.linalg.pinv(X)
    y, fresh = mean + rng.normal(size=(draws, n)), mean + rng.normal(size=(draws, n))
    fitted = y @ hat.T
    one = LinearRegression(fit_intercept=False).fit(X, y[0])
    assert_allclose(one.predict(X), fitted[0], rtol=SUMMED)
    optimism = ((fresh - fitted) ** 2 - (y - fitted) ** 2).mean(axis=1)
    error = optimism.std() / np.sqrt(draws)
    assert abs(optimism.mean() - 2 * d / n) < 4 * error  # probability 6e-5
