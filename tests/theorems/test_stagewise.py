"""Statements of the notes on forward stagewise boosting (B9.3.2), and of the papers they cite.

AdaBoost has its own file.
"""

from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats
from scipy.special import expit

from empirisk import (
    DecisionTreeRegressor,
    LinearRegression,
    LogisticRegression,
    LogitBoostClassifier,
    Ridge,
    StagewiseRegressor,
)
from empirisk.risk import bias_variance, hat_matrix, populations
from tolerances import LAST_BITS, SOLVED, SUMMED

ERROR_PROBABILITY = 1e-6  # of each statistical test here; the seeds are fixed, so once for all


def data(n=30, p=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) + 1.0
    return X, X @ np.arange(1.0, p + 1) + rng.normal(size=n)


@pytest.mark.parametrize("rate", [1.0, 0.3])
@pytest.mark.parametrize("rounds", [1, 2, 5, 40])
def test_boosting_a_linear_smoother_is_one_minus_a_power(rounds, rate):
    # Buehlmann & Yu (2003), Proposition 1: f_m = (I - (I - S)^m) y; with shrinkage, rate S.
    X, y = data()
    S = hat_matrix(Ridge(alpha=20.0), X)
    B = np.eye(30) - np.linalg.matrix_power(np.eye(30) - rate * S, rounds)
    model = StagewiseRegressor(Ridge(alpha=20.0), rounds, learning_rate=rate, init="zero")
    model.fit(X, y)
    # 40 products of matrices with norm up to 1.
    assert_allclose(model.predict(X), B @ y, rtol=1e-9)
    assert_allclose(model.degrees_of_freedom_[-1], np.trace(B), rtol=1e-9)


def test_boosting_from_the_mean_leaves_the_power_of_what_the_mean_leaves():
    X, y = data()
    left = np.linalg.matrix_power(np.eye(30) - 0.5 * hat_matrix(Ridge(20.0), X), 6)
    B = np.eye(30) - left @ (np.eye(30) - 1 / 30)
    model = StagewiseRegressor(Ridge(20.0), 6, learning_rate=0.5).fit(X, y)
    assert_allclose(model.predict(X), B @ y, rtol=SUMMED)
    assert_allclose(model.degrees_of_freedom_[-1], np.trace(B), rtol=SUMMED)


def test_componentwise_boosting_is_a_product_of_what_single_columns_leave():
    X, y = data(p=5)
    model = StagewiseRegressor("least_squares", 25, learning_rate=0.4).fit(X, y)
    left, centred = np.eye(30) - 1 / 30, X - X.mean(axis=0)
    for t, j in enumerate(model.selected_, start=1):
        x = centred[:, j]
        left = (np.eye(30) - 0.4 * np.outer(x, x) / (x @ x)) @ left
        assert_allclose(model.degrees_of_freedom_[t], 30 - np.trace(left), rtol=SUMMED)
    assert_allclose(model.predict(X), y - left @ y, rtol=SUMMED)


def test_boosting_a_smoother_for_ever_gives_the_projection():
    # (I - S)^m -> 0 on the span of the columns: least squares.
    X, y = data()
    model = StagewiseRegressor(Ridge(5.0), 300, learning_rate=1.0, init="zero").fit(X, y)
    assert_allclose(model.predict(X), LinearRegression().fit(X, y).predict(X), rtol=SUMMED)
    columns = StagewiseRegressor("least_squares", 5000, learning_rate=0.5).fit(X, y)
    assert_allclose(columns.coef_, LinearRegression().fit(X, y).coef_, rtol=SUMMED)


def test_squared_loss_fits_the_residuals_of_the_rounds_before():
    X, y = data(n=100)
    model = StagewiseRegressor(n_estimators=6, learning_rate=0.7).fit(X, y)
    f = np.full(100, y.mean())
    for member in model.estimators_:
        tree = DecisionTreeRegressor(max_depth=3).fit(X, y - f)
        assert_allclose(member.predict(X), tree.predict(X), rtol=SUMMED, atol=LAST_BITS)
        f = f + 0.7 * tree.predict(X)
    assert_allclose(model.predict(X), f, rtol=SUMMED)


def classes(n=60, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    return X, (rng.uniform(size=n) < expit(X[:, 0] - X[:, 1] + 0.5)).astype(int)


def test_a_round_of_logit_boost_is_a_newton_step_on_the_log_likelihood():
    # The likelihood of f + Z b, with Z = (1, X), by its derivatives in b, taken numerically.
    X, y = classes()
    Z = np.column_stack([np.ones(60), X])
    model = LogitBoostClassifier(LinearRegression(), 3, z_max=1e9).fit(X, y)

    def log_likelihood(f):
        return float(np.sum(y * f - np.logaddexp(0, f)))

    f, h = np.zeros(60), 1e-4
    for after in model.staged_decision_function(X):
        steps = [f + s * h * Z[:, j] for j in range(3) for s in (1, -1)]
        up = np.array([log_likelihood(step) for step in steps]).reshape(3, 2)
        gradient = (up[:, 0] - up[:, 1]) / (2 * h)
        hessian = np.array(
            [
                [
                    log_likelihood(f + h * (Z[:, j] + Z[:, k]))
                    - log_likelihood(f + h * (Z[:, j] - Z[:, k]))
                    - log_likelihood(f - h * (Z[:, j] - Z[:, k]))
                    + log_likelihood(f - h * (Z[:, j] + Z[:, k]))
                    for k in range(3)
                ]
                for j in range(3)
            ]
        ) / (4 * h**2)
        newton = f - Z @ np.linalg.solve(hessian, gradient)
        # Second differences of numbers about 40 lose 40 * 1e-16 / h^2 = 4e-7 of about 10.
        assert_allclose(after, newton, rtol=1e-5, atol=1e-6)
        f = after


def test_logit_boost_of_a_linear_rule_ends_at_the_logistic_fit():
    X, y = classes()
    model = LogitBoostClassifier(LinearRegression(), 12, z_max=1e9).fit(X, y)
    logistic = LogisticRegression(C=np.inf).fit(X, y)
    assert_allclose(model.decision_function(X), logistic.decision_function(X), rtol=SOLVED)


def test_componentwise_logit_boost_goes_to_the_logistic_fit():
    X, y = classes()
    model = LogitBoostClassifier("least_squares", 300, z_max=1e9).fit(X, y)
    logistic = LogisticRegression(C=np.inf).fit(X, y)
    found, wanted = model.decision_function(X), logistic.decision_function(X)
    assert_allclose(found, wanted, rtol=0, atol=SUMMED)


def test_boosting_cuts_bias():
    # Decomposed over training sets: stumps of a curved surface have much bias and little variance;
    # rounds take the bias away and add variance, less than they take.
    population = populations.friedman(5)
    found = [
        bias_variance(
            StagewiseRegressor(DecisionTreeRegressor(max_depth=1), rounds, learning_rate=0.2),
            population,
            n=100,
            n_sets=60,
            random_state=0,
        )
        for rounds in (1, 20, 200)
    ]
    least = stats.norm.isf(ERROR_PROBABILITY)
    for part, sign in (("bias_squared", -1), ("variance", 1), ("total", -1)):
        for before, after in pairwise(found):
            error = np.hypot(before.standard_error[part], after.standard_error[part])
            assert sign * (after.parts[part] - before.parts[part]) > least * error


def test_the_trace_is_too_small_where_columns_were_selected_by_y():
    # Freedom as covariance, sum_i cov(f_i, y_i) / sigma^2, of pure noise and 20 columns: having
    # looked for the column costs more than the trace of its hat matrix says.
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 20))
    noise = rng.normal(size=(400, 50))
    fits = [StagewiseRegressor("least_squares", 10, learning_rate=0.5).fit(X, y) for y in noise]
    each = np.array([model.predict(X) @ y for model, y in zip(fits, noise, strict=True)])
    trace = np.array([model.degrees_of_freedom_[-1] for model in fits])
    excess = each - trace
    error = excess.std(ddof=1) / np.sqrt(400)
    assert excess.mean() > stats.norm.isf(ERROR_PROBABILITY) * error
