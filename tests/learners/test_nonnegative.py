"""Coefficients that must not be negative: against SciPy, scikit-learn, and what makes them best."""

import warnings

import numpy as np
import pytest
import sklearn.linear_model as peers
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import nnls
from sklearn.model_selection import KFold, LeaveOneOut
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from empirisk import Encoder, LinearRegression, Plan, Ridge, Tuned, load, risk, save
from empirisk.learners.linear import nonnegative
from empirisk.risk.axis import CannotSubtractError
from empirisk.runtime.errors import ParameterError
from empirisk.solvers.active_set import settle
from empirisk.solvers.nonnegative_ridge import nonnegative_ridge
from tolerances import SOLVED, SUMMED

SHAPES = [(60, 5), (9, 9), (12, 30), (1, 1), (1, 4), (2, 3)]


def sample(n=60, p=5, outputs=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) * rng.uniform(0.5, 3, p) + rng.normal(size=p)
    y = X @ rng.normal(0.4, 1, size=(p, outputs)) + rng.normal(size=(n, outputs)) + 2
    weight = rng.integers(0, 4, n) + 0.0
    weight[0] = 1.0
    return X, y, weight


def augmented(X, y, weight, penalty, intercept):
    """Rows whose nonnegative least squares are those wanted, with the mean of X and y."""
    x_mean, y_mean = (np.average(part, axis=0, weights=weight) * intercept for part in (X, y))
    root = np.sqrt(weight)[:, np.newaxis]
    p, outputs = X.shape[1], y.shape[1]
    A = np.vstack([(X - x_mean) * root, np.sqrt(penalty) * np.eye(p)])
    return A, np.vstack([(y - y_mean) * root, np.zeros((p, outputs))]), x_mean, y_mean


@pytest.mark.parametrize("penalty", [0.0, 1e-3, 0.7, 100.0])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("shape", SHAPES)
def test_the_minimiser_is_that_of_scipy(shape, intercept, penalty):
    X, y, weight = sample(*shape)
    model = Ridge(penalty, positive=True, fit_intercept=intercept).fit(X, y, weight)
    assert (model.coef_ >= 0).all()
    A, b, x_mean, y_mean = augmented(X, y, weight, penalty, intercept)
    for k in range(2):
        twin, length = nnls(A, b[:, k])
        assert np.linalg.norm(A @ model.coef_[k] - b[:, k]) <= length * (1 + SUMMED) + SUMMED
        if penalty > 0 or shape[0] > shape[1]:  # else there may be others
            assert_allclose(model.coef_[k], twin, rtol=1e-8, atol=1e-9)  # condition below 1e3
        assert_allclose(
            model.intercept_[k], y_mean[k] - x_mean @ model.coef_[k], rtol=0, atol=SUMMED
        )


@pytest.mark.parametrize("outputs", [1, 3])
def test_the_minimiser_is_that_of_scikit_learn(outputs):
    X, y, weight = sample(outputs=outputs)
    y = y[:, 0] if outputs == 1 else y
    ours = LinearRegression(positive=True).fit(X, y, weight)
    peer = peers.LinearRegression(positive=True).fit(X, y, weight)
    assert_allclose(ours.coef_, peer.coef_, rtol=SUMMED, atol=SUMMED)
    assert_allclose(ours.intercept_, peer.intercept_, rtol=SUMMED)
    assert ours.coef_.shape == peer.coef_.shape
    ours = Ridge(2.0, positive=True).fit(X, y, weight)
    peer = peers.Ridge(2.0, positive=True, tol=1e-14, max_iter=10**6).fit(X, y, weight)
    assert_allclose(ours.coef_, peer.coef_, rtol=1e-6, atol=1e-6)  # L-BFGS-B stops at about 1e-7


def test_without_a_binding_constraint_nothing_changes():
    X = np.random.default_rng(1).normal(size=(200, 4))
    y = X @ [1.0, 2.0, 3.0, 4.0] + np.random.default_rng(2).normal(size=200)
    for free, bound in [
        (LinearRegression(), LinearRegression(positive=True)),
        (Ridge(3.0), Ridge(3.0, positive=True)),
    ]:
        one, two = free.fit(X, y), bound.fit(X, y)
        assert_array_equal(one.coef_, two.coef_)  # the last step is the same least squares
        assert_allclose(one.degrees_of_freedom_, two.degrees_of_freedom_, rtol=SUMMED)


def test_nothing_is_left_where_all_slopes_are_negative():
    X = np.arange(12.0).reshape(6, 2) ** 2
    for learner in (LinearRegression(positive=True), Ridge(positive=True)):
        model = learner.fit(X, -X.sum(axis=1))
        assert_array_equal(model.coef_, 0.0)
        assert model.degrees_of_freedom_ == 1.0
        assert_allclose(model.predict(X), -X.sum(axis=1).mean(), rtol=SUMMED)


def paired(n, p, noise, seed):
    """Half of the columns equal the others, or nearly so."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    half = p // 2
    X[:, :half] = X[:, half : 2 * half] + noise * rng.normal(size=(n, half))
    return X, X @ rng.normal(size=p) + rng.normal(size=n)


def assert_best(X, y, penalty):
    """The conditions that the minimiser meets, and no other point does."""
    coef = Ridge(penalty, positive=True, fit_intercept=False).fit(X, y).coef_
    assert (coef >= 0).all()
    slope = X.T @ (y - X @ coef) - penalty * coef
    rounding = 1e-11 * np.linalg.norm(X, axis=0) * np.linalg.norm(y)  # sums of up to 40 terms
    assert (slope <= rounding).all()
    assert (np.abs(slope[coef > 0]) <= rounding[coef > 0]).all()


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(2, 40),
    p=st.integers(1, 25),
    noise=st.sampled_from([0.0, 1e-4, 1.0]),
    penalty=st.sampled_from([0.0, 1e-6, 1e-2, 1.0]),
)
def test_the_objective_falls_in_no_direction(seed, n, p, noise, penalty):
    assert_best(*paired(n, p, noise, seed), penalty)


@pytest.mark.parametrize(
    ("p", "noise", "seed", "penalty"), [(4, 0.0, 0, 1e-9), (16, 1e-4, 23, 1e-6)]
)
def test_a_zero_that_costs_next_to_nothing_is_found_wrong(p, noise, seed, penalty):
    """The objective is within rounding of its minimum while coefficients are a third off."""
    assert_best(*paired(p + 3, p, noise, seed), penalty)


@pytest.mark.parametrize("shape", [(40, 6), (12, 30)])
@pytest.mark.parametrize("flat", [True, False])
def test_a_path_is_single_fits(shape, flat):
    X, y, weight = sample(*shape)
    y = y[:, 0] if flat else y
    keep = weight > 0
    X, y, weight = X[keep], y[keep], weight[keep]
    values = [0.01, 100.0, 1.0, 0.0][: 4 if shape[0] > shape[1] else 3]
    path = Ridge(positive=True).fit_path(X, y, weight, values)
    for j, alpha in enumerate(values):
        single, at = Ridge(alpha, positive=True).fit(X, y, weight), path.at(j)
        assert_allclose(at.coef_, single.coef_, rtol=1e-9, atol=1e-11)  # condition below 1e3
        assert_allclose(path.predict_path(X)[:, j], single.predict(X), rtol=1e-9, atol=1e-11)
        assert_allclose(at.degrees_of_freedom_, single.degrees_of_freedom_, rtol=1e-12)


@pytest.mark.parametrize("penalty", [0.0, 0.5])
@pytest.mark.parametrize("shape", [(60, 5), (12, 30)])
def test_degrees_of_freedom_are_the_trace_on_positive_coefficients(shape, penalty):
    X, y, _ = sample(*shape)
    model = Ridge(penalty, positive=True).fit(X, y)
    traces = []
    for coef in model.coef_:
        Z = (X - X.mean(axis=0))[:, coef > 0]
        hat = Z @ np.linalg.pinv(Z.T @ Z + penalty * np.eye(Z.shape[1])) @ Z.T
        traces.append(np.trace(hat))
    assert_allclose(model.degrees_of_freedom_, np.mean(traces) + 1, rtol=SUMMED)
    if penalty == 0:
        assert model.degrees_of_freedom_ == (model.coef_ > 0).sum(axis=1).mean() + 1


def test_degrees_of_freedom_estimate_the_covariance_with_the_outcomes():
    """sum_i cov(prediction_i, y_i) / variance is their mean (Stein 1981)."""
    rng = np.random.default_rng(0)
    X, sets = rng.normal(size=(30, 6)), 500
    mean = X @ [1.0, 0.3, 0.0, 0.0, -0.3, -1.0]
    noise = rng.normal(size=(30, sets))
    many = Ridge(1.0, positive=True).fit(X, mean[:, np.newaxis] + noise)
    covariance = ((many.predict(X) - mean[:, np.newaxis]) * noise).sum(axis=0)
    # Five standard errors: false alarms are below 1e-6.
    error = covariance.std() / np.sqrt(sets)
    assert abs(covariance.mean() - many.degrees_of_freedom_) < 5 * error


@pytest.mark.parametrize("learner", [LinearRegression(positive=True), Ridge(positive=True)])
@pytest.mark.parametrize("shape", [(9000, 3), (12, 30)])
def test_blocks_give_the_same_bits(learner, shape):
    X, y, weight = sample(*shape)
    whole = learner.fit(X, y, weight).coef_.copy()
    cuts = np.array_split(np.arange(len(X)), 5)
    blocks = learner.fit_blocks([(X[cut], y[cut], weight[cut]) for cut in cuts])
    assert_array_equal(blocks.coef_, whole)


@pytest.mark.parametrize("cv", [KFold(4), LeaveOneOut()])
@pytest.mark.parametrize("learner", [Ridge(positive=True), LinearRegression(positive=True)])
def test_folds_are_fitted_by_themselves(learner, cv):
    X, y, weight = sample(n=20, outputs=1)
    problem = risk.Problem.of(learner, X, y[:, 0], sample_weight=weight)
    plan = Plan.of(cv, problem.X, problem.target)
    values = None if learner.axis is None else [10.0, 0.1]
    found = risk.out_of_fold(learner, problem, plan, values=values)
    slow = risk.out_of_fold(learner, problem, plan, values=values, rung="generic")
    assert found.rung == "path"
    assert "must not be negative" in found.why
    assert_allclose(found.losses, slow.losses, rtol=1e-9)  # condition below 1e3


def test_a_whole_plan_is_declined():
    X, y, weight = sample(outputs=1)
    plan = Plan.of(KFold(4), X, y[:, 0])
    more = {"n_classes": 0, "output": "value", "rows_per_block": 10}
    for learner, values in [(Ridge(positive=True), [1.0]), (LinearRegression(positive=True), [0])]:
        with pytest.raises(CannotSubtractError, match="must not be negative"):
            learner.out_of_fold(X, y[:, 0], weight + 1, plan, values, **more)


def test_tuned_chooses_among_nonnegative_rules(tmp_path):
    X, y, _ = sample(outputs=1)
    y = y[:, 0]
    for learner in (Ridge(positive=True), make_pipeline(Encoder(), Ridge(positive=True))):
        tuned = Tuned(learner, cv=3, values=[0.1, 1.0, 10.0]).fit(X, y)
        model = tuned.best_estimator_
        rule = model[-1] if hasattr(model, "steps") else model
        assert (rule.coef_ >= 0).all()
        assert rule.alpha == tuned.best_value_
        save(tuned, tmp_path / "model")
        assert_array_equal(load(tmp_path / "model").predict(X), tuned.predict(X))


def test_it_is_not_linear_in_y():
    X, *_ = sample(outputs=1)
    with pytest.raises(ParameterError, match="not linear in y"):
        risk.hat_matrix(LinearRegression(positive=True), X)


def test_the_rank_is_that_of_a_fit_without_constraint():
    X, y, _ = sample()
    model = LinearRegression().fit(X, y)
    assert model.rank_ == 5
    assert not hasattr(model.set_params(positive=True).fit(X, y), "rank_")


@pytest.mark.parametrize("shape", [(40, 3), (3, 5)])
@pytest.mark.parametrize("y_size", [1e-150, 1e-90, 1e90, 1e150])
@pytest.mark.parametrize("x_size", [1e-150, 1e-90, 1.0, 1e90, 1e150])
def test_units_do_not_matter(shape, x_size, y_size):
    X, y, _ = sample(*shape, outputs=1)
    assert (Ridge(2.0, positive=True).fit(X, y).coef_ > 0).any()
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        for ours, scaled in [
            (Ridge(2.0, positive=True), Ridge(2.0 * x_size * x_size, positive=True)),
            (Ridge(2.0, positive=True), Ridge(2.0 * x_size, positive=True)),
            (LinearRegression(positive=True), LinearRegression(positive=True)),
        ]:
            plain, other = ours.fit(X, y[:, 0]), scaled.fit(X * x_size, y[:, 0] * y_size)
            assert np.isfinite(other.predict(X * x_size)).all()
            if scaled.get_params().get("alpha", 0) != 2.0 * x_size:
                # The sizes are no powers of two: sums of rounded numbers.
                found = other.predict(X * x_size) / y_size
                assert_allclose(found, plain.predict(X), rtol=SUMMED)
    weight = np.full(len(X), x_size)
    heavy = Ridge(2.0 * x_size, positive=True).fit(X, y[:, 0], weight)
    assert_allclose(heavy.coef_, Ridge(2.0, positive=True).fit(X, y[:, 0]).coef_, rtol=SUMMED)


def test_columns_of_all_sizes_and_constant_ones():
    X, y, _ = sample(n=50, p=4, outputs=1)
    wanted = LinearRegression(positive=True).fit(X, y[:, 0]).coef_
    scale = np.array([1e-180, 1.0, 1e180, 1e-5])
    wide = np.column_stack([X * scale, np.full(50, 7.0), np.zeros(50)])
    model = LinearRegression(positive=True).fit(wide, y[:, 0])
    assert_allclose(model.coef_[:4] * scale, wanted, rtol=SUMMED)
    assert_array_equal(model.coef_[4:], 0.0)


@pytest.mark.parametrize("p", [1, 3])
@pytest.mark.parametrize(
    "learner", [LinearRegression(positive=True), Ridge(positive=True)], ids=str
)
def test_of_constant_columns_alone_only_the_mean_is_left(learner, p):
    X, y = np.full((20, p), 2.0), np.arange(20.0)
    fitted = learner.fit(X, y)
    assert_array_equal(fitted.coef_, np.zeros(p))
    assert fitted.intercept_ == y.mean()


@pytest.mark.parametrize("layout", ["fortran", "strided", "read-only"])
def test_layouts_do_not_matter(layout):
    X, y, _ = sample()
    other = {
        "fortran": np.asfortranarray(X),
        "strided": np.repeat(X, 2, axis=1)[:, ::2],
        "read-only": X.copy(),
    }[layout]
    other.flags.writeable = layout != "read-only"
    for learner in (LinearRegression(positive=True), Ridge(positive=True, copy_X=False)):
        assert_array_equal(learner.fit(X, y).coef_.copy(), learner.fit(other, y).coef_)


def test_a_design_that_is_close_to_singular_keeps_its_digits():
    """Hilbert's matrix, of condition 1.6e9: sums of squares have no correct digit of it."""
    p = 8
    X = 1.0 / (np.arange(12)[:, np.newaxis] + np.arange(p) + 1)
    model = LinearRegression(positive=True, fit_intercept=False).fit(X, X.sum(axis=1))
    assert_allclose(model.coef_, np.ones(p), rtol=1e-6)  # roundings times the condition: 4e-7


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("condition", [1e5, 1e7, 1e8])
def test_which_coefficients_are_zero_is_told_of_columns_that_all_but_depend(
    condition, fit_intercept
):
    rng = np.random.default_rng(0)
    left, right = (np.linalg.qr(rng.normal(size=shape))[0] for shape in ((50, 6), (6, 6)))
    X = left @ np.diag(np.logspace(0, -np.log10(condition), 6)) @ right + fit_intercept * 3.0
    y = X @ [1, 2, 0, 0, 3, 0.5] + 1e-3 / condition * rng.normal(size=50)
    model = LinearRegression(positive=True, fit_intercept=fit_intercept).fit(X, y)
    A, b = (X - X.mean(axis=0), y - y.mean()) if fit_intercept else (X, y)
    twin = nnls(A, b)[0]
    assert_array_equal(model.coef_ > 0, twin > 0)
    # Roundings of numbers of size 3, and of the twin, times the condition.
    assert_allclose(model.coef_, twin, rtol=0, atol=1e-14 * condition)


@pytest.mark.parametrize("penalty", [0.0, 1e-9, 5.0])
def test_many_columns_come_in_as_needed(monkeypatch, penalty):
    monkeypatch.setattr(nonnegative, "FEW_COLUMNS", 3)
    rng = np.random.default_rng(4)
    X = rng.normal(size=(40, 300))
    y = X[:, :4].sum(axis=1) - 5 * X[:, 4] + rng.normal(size=40)
    model = Ridge(penalty, positive=True).fit(X, y)
    A, b, *_ = augmented(X, y[:, np.newaxis], np.ones(40), penalty, True)
    twin, length = nnls(A, b[:, 0], maxiter=10_000)
    assert np.linalg.norm(A @ model.coef_ - b[:, 0]) <= length + 1e-9  # of a length of 30
    if penalty == 5.0:
        assert_allclose(model.coef_, twin, rtol=SOLVED, atol=SOLVED)


def test_the_dual_is_exact_or_says_that_it_is_not():
    rng = np.random.default_rng(3)
    columns, y = np.abs(rng.normal(size=(100, 60))), rng.normal(size=60)
    columns -= columns.mean(axis=1, keepdims=True)
    y = y - y.mean() + columns[:5].sum(axis=0) - columns[5:20].sum(axis=0)
    largest = np.linalg.norm(columns, 2) ** 2
    ridges = largest * np.array([1e-9, 0.0, 1e-18, 1e-3, 1.0])
    found = nonnegative_ridge(columns, y, ridges)
    assert_array_equal(found.exact, [True, False, False, True, True])
    for at in np.flatnonzero(found.exact):
        A = np.vstack([columns.T, np.sqrt(ridges[at]) * np.eye(100)])
        twin, _ = nnls(A, np.append(y, np.zeros(100)), maxiter=10_000)
        # Of the first, X'v alone has seven digits: v is the residuals, 1e9 times as large.
        assert_allclose(found.coef[at], twin, rtol=1e-9, atol=1e-10 * twin.max())


def test_active_sets_reach_the_minimum_from_anywhere():
    rng = np.random.default_rng(6)
    for _ in range(50):
        A, b = rng.normal(size=(15, 8)), rng.normal(size=15)
        A, b = A / np.linalg.norm(A, axis=0), b / np.linalg.norm(b)
        start = np.maximum(rng.normal(size=8), 0.0)
        coef, settled = settle(A.T @ A, A.T @ b, start)
        assert settled
        assert_allclose(coef, nnls(A, b)[0], rtol=0, atol=1e-12)  # condition below 1e2


@parametrize_with_checks([LinearRegression(positive=True), Ridge(positive=True)])
def test_check_estimator(estimator, check):
    check(estimator)
