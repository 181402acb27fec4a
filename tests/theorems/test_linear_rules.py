"""Statements about linear rules on given basis functions, and about interpolation."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from empirisk import BasisRegression, LinearRegression, Ridge, risk
from empirisk.runtime.errors import RankWarning


def sample(n=40, p=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, X @ rng.normal(size=p) + rng.normal(size=n)


@pytest.mark.parametrize("basis", ["polynomial", "spline", "natural_spline", "steps"])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_residual_is_orthogonal_to_every_basis_function(basis, weighted):
    X, y = sample()
    weight = np.random.default_rng(1).uniform(0.5, 2, 40) if weighted else np.ones(40)
    model = BasisRegression(basis, 2).fit(X, y, weight)
    residual = weight * (y - model.predict(X))
    columns = np.column_stack([np.ones(40), model.expansion_.transform(X)])
    assert_allclose(columns.T @ residual, 0, atol=1e-12)  # sums of 40 terms of size 1


@pytest.mark.parametrize("alpha", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("shape", [(40, 3), (5, 12)])
def test_ridge_is_the_solution_of_its_normal_equations(alpha, shape):
    """(X'X + alpha I) b = X'y, and through the rows b = X'(XX' + alpha I)^-1 y."""
    X, y = sample(*shape)
    coef = Ridge(alpha, fit_intercept=False).fit(X, y).coef_
    by_columns = np.linalg.solve(X.T @ X + alpha * np.eye(shape[1]), X.T @ y)
    by_rows = X.T @ np.linalg.solve(X @ X.T + alpha * np.eye(shape[0]), y)
    assert_allclose(coef, by_columns, rtol=1e-8)  # the matrix of 12 columns: condition 1e5
    assert_allclose(coef, by_rows, rtol=1e-10)


@pytest.mark.parametrize("intercept", [True, False])
def test_with_more_columns_than_rows_least_squares_interpolates_with_least_norm(intercept):
    X, y = sample(8, 30)
    model = LinearRegression(fit_intercept=intercept)
    with pytest.warns(RankWarning, match="minimum-norm"):
        model.fit(X, y)
    assert_allclose(model.predict(X), y, atol=1e-12)
    # Every other interpolation adds what no row sees, at a right angle to the coefficients.
    rng = np.random.default_rng(2)
    seen = X - X.mean(0) if intercept else X
    unseen = np.linalg.svd(seen)[2][np.linalg.matrix_rank(seen) :]
    for _ in range(5):
        other = model.coef_ + rng.normal(size=len(unseen)) @ unseen
        level = model.intercept_ - X[0] @ (other - model.coef_)
        assert_allclose(X @ other + level, y, atol=1e-11)
        assert np.linalg.norm(other) > np.linalg.norm(model.coef_)


def test_the_double_descent_of_the_notes_is_that_of_the_learner():
    """Far beyond p = n the risk of least norm falls below its peak again (B5.2, Example 5.13)."""
    curve = risk.linear_double_descent(20, [5, 20, 200], signal=4.0, n_draws=40, random_state=0)
    assert curve.peak == 20
    rng = np.random.default_rng(3)
    truth = rng.normal(size=200) * np.sqrt(4.0 / 200)
    risks = []
    for p in (5, 20, 200):
        X, Z = rng.normal(size=(20, 200)), rng.normal(size=(2000, 200))
        model = LinearRegression(fit_intercept=False)
        y = X @ truth + rng.normal(size=20)
        if p > 20:
            with pytest.warns(RankWarning):
                model.fit(X[:, :p], y)
        else:
            model.fit(X[:, :p], y)
        risks.append(((Z @ truth - model.predict(Z[:, :p])) ** 2).mean() + 1.0)
    # The peak stands out by an order of magnitude; the seeds are fixed.
    assert risks[1] > 3 * max(risks[0], risks[2])


def test_a_step_function_fitted_by_least_squares_is_the_mean_of_each_region():
    X, y = sample(p=1)
    model = BasisRegression("steps", 3).fit(X, y)
    region = model.expansion_.transform(X) @ np.arange(1, 4)
    for k in range(4):
        assert_allclose(model.predict(X)[region == k], y[region == k].mean(), rtol=1e-12)


def test_more_basis_functions_never_raise_the_training_risk():
    X, y = sample(p=1)
    risks = [
        ((y - BasisRegression(degree=d).fit(X, y).predict(X)) ** 2).mean() for d in range(1, 12)
    ]
    assert (np.diff(risks) <= 1e-15).all()
