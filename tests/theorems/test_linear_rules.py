"""Statements about linear rules on given basis functions, and about interpolation."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.pipeline import make_pipeline

from empirisk import (
    BasisExpansion,
    BasisRegression,
    ElasticNet,
    Lasso,
    LinearRegression,
    LogisticRegression,
    MarginClassifier,
    Ridge,
    risk,
)
from empirisk.runtime.errors import RankWarning
from tolerances import SUMMED


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
    assert_allclose(columns.T @ residual, 0, rtol=0, atol=1e-12)  # sums of 40 terms of size 1


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


@pytest.mark.parametrize("delta", [0.0, 0.4, 1.0], ids=["ridge", "elastic net", "lasso"])
def test_the_penalties_of_the_notes_are_those_of_the_learners(delta):
    """|y - Xb|^2 + lambda (2 delta |b|_1 + (1 - delta) |b|^2), B5.2 Example 5.12."""
    X, y = sample(p=6)
    penalty, n = 20.0, len(y)
    model = {
        0.0: Ridge(penalty, fit_intercept=False),
        0.4: ElasticNet(penalty / n, l1_ratio=0.4, fit_intercept=False, tol=1e-12),
        1.0: Lasso(penalty / n, fit_intercept=False, tol=1e-12),
    }[delta]
    b = model.fit(X, y).coef_
    slope = X.T @ (y - X @ b) - penalty * (1 - delta) * b
    assert_allclose(slope[b != 0], penalty * delta * np.sign(b[b != 0]), rtol=0, atol=SUMMED)
    assert (np.abs(slope) <= penalty * delta + 1e-4).all()  # a gap of 1e-12 is slopes to 1e-5
    assert (b == 0).any() == (delta > 0)


def test_least_squares_is_the_plug_in_rule_of_a_joint_gaussian():
    """E[Y | X = x] under the Gaussian of maximum likelihood (B5.1: the generative plug-in)."""
    X, y = sample()
    weight = np.random.default_rng(1).uniform(0.5, 2, 40)
    joint = np.column_stack([X, y])
    mean = np.average(joint, axis=0, weights=weight)
    cov = np.cov(joint.T, aweights=weight, ddof=0)
    plug_in = mean[3] + (X - mean[:3]) @ np.linalg.solve(cov[:3, :3], cov[:3, 3])
    assert_allclose(LinearRegression().fit(X, y, weight).predict(X), plug_in, rtol=0, atol=SUMMED)


def test_two_features_and_terms_of_two_factors_are_six_with_the_constant():
    X, _ = sample(p=2)
    assert BasisExpansion("polynomial", 2).fit(X).n_output_features_ + 1 == 6


@pytest.mark.parametrize(
    "classifier", [LogisticRegression(C=1e3), MarginClassifier(C=1e3)], ids=["logistic", "hinge"]
)
def test_the_map_from_x_to_x_and_its_square_separates_what_no_point_does(classifier):
    """B7.2: outer points of one class, inner points of the other."""
    x = np.array([-3.0, -2.5, -2.0, -1.0, 0.0, 0.5, 1.0, 2.0, 2.6, 3.0])[:, None]
    y = np.abs(x[:, 0]) > 1.5
    assert classifier.fit(x, y).score(x, y) < 1
    assert make_pipeline(BasisExpansion(degree=2), classifier).fit(x, y).score(x, y) == 1


def test_softmax_forgets_a_shift_and_the_ratio_map_does_not():
    X, y = np.random.default_rng(0).normal(size=(30, 2)), np.arange(30) % 3
    model = LogisticRegression(fit_intercept=False).fit(X, y)
    model.coef_ = np.array([[1.0, 1.0], [2.0, 1.0], [3.0, 1.0]])
    near, far = np.array([[1.0, 0.0]]), np.array([[1.0, 100.0]])
    assert_allclose(model.decision_function(far)[0], [101, 102, 103], rtol=SUMMED)
    printed = [0.0900, 0.2447, 0.6652]
    assert_array_equal(model.predict_proba(near)[0].round(4), printed)
    assert_array_equal(model.predict_proba(far)[0].round(4), printed)
    ratios = [(f / f.sum()).round(3) for f in map(model.decision_function, (near, far))]
    assert_array_equal(np.concatenate(ratios), [[0.167, 0.333, 0.5], [0.330, 0.333, 0.337]])


@pytest.mark.parametrize("intercept", [True, False])
def test_with_more_columns_than_rows_least_squares_interpolates_with_least_norm(intercept):
    X, y = sample(8, 30)
    model = LinearRegression(fit_intercept=intercept)
    with pytest.warns(RankWarning, match="minimum-norm"):
        model.fit(X, y)
    assert_allclose(model.predict(X), y, rtol=0, atol=SUMMED)
    # Every other interpolation adds what no row sees, at a right angle to the coefficients.
    rng = np.random.default_rng(2)
    seen = X - X.mean(0) if intercept else X
    unseen = np.linalg.svd(seen)[2][np.linalg.matrix_rank(seen) :]
    for _ in range(5):
        other = model.coef_ + rng.normal(size=len(unseen)) @ unseen
        level = model.intercept_ - X[0] @ (other - model.coef_)
        assert_allclose(X @ other + level, y, rtol=0, atol=SUMMED)
        assert np.linalg.norm(other) > np.linalg.norm(model.coef_)


def test_in_a_feature_space_of_more_functions_than_rows_it_is_the_limit_of_ridge():
    """b = F'(FF')^-1 y, F the functions of the rows (B5.2 Example 5.13)."""
    X, y = sample(12, 3)
    F = BasisExpansion("polynomial", 3).fit_transform(X)
    assert F.shape == (12, 19)
    with pytest.warns(RankWarning, match="minimum-norm"):
        coef = LinearRegression(fit_intercept=False).fit(F, y).coef_
    assert_allclose(
        coef, F.T @ np.linalg.solve(F @ F.T, y), rtol=0, atol=1e-09
    )  # condition below 1e4
    gaps = [
        np.linalg.norm(Ridge(alpha, fit_intercept=False).fit(F, y).coef_ - coef)
        for alpha in (1e-4, 1e-5, 1e-6)
    ]
    assert_allclose(gaps[1:], np.array(gaps[:-1]) / 10, rtol=0.02)  # the gap goes as alpha
    assert gaps[0] > 1e-7


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
        assert_allclose(model.predict(X)[region == k], y[region == k].mean(), rtol=SUMMED)


@pytest.mark.parametrize("weighted", [False, True])
def test_each_orthogonal_polynomial_takes_its_squared_coefficient_off_the_training_risk(weighted):
    """Pythagoras; so it is in the sequential F tests of nested polynomials."""
    X, y = sample(p=1)
    weight = np.random.default_rng(1).uniform(0.5, 2, 40) if weighted else np.ones(40)
    models = [BasisRegression(degree=d).fit(X, y, weight) for d in range(1, 7)]
    risks = [np.average((y - model.predict(X)) ** 2, weights=weight) for model in models]
    assert_allclose(-np.diff(risks), models[-1].coef_[1:] ** 2, rtol=0, atol=SUMMED)
    for model in models:  # and no coefficient changes when others come in
        assert_allclose(model.coef_, models[-1].coef_[: len(model.coef_)], rtol=0, atol=SUMMED)


def test_more_basis_functions_never_raise_the_training_risk():
    X, y = sample(p=1)
    risks = [
        ((y - BasisRegression(degree=d).fit(X, y).predict(X)) ** 2).mean() for d in range(1, 12)
    ]
    assert (np.diff(risks) <= 1e-15).all()
