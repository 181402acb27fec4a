"""Descent of the lasso: beside proximal gradients, by its conditions, where it is hard."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose

from empirisk.data.blocks import Rows
from empirisk.data.scaling import Scales
from empirisk.learners.linear.elastic_net import ElasticNet
from empirisk.learners.linear.lasso import Lasso
from empirisk.learners.linear.lasso_problem import Columns, Task, Terms
from empirisk.runtime.errors import ConvergenceWarning, DataError, ParameterError
from empirisk.solvers import lasso_columns as solver
from empirisk.solvers.lasso import GramProblem, Penalty, Stopping, gram_path
from empirisk.solvers.lasso_columns import columns_path
from lasso_rows import sample
from tolerances import LAST_BITS, SOLVED, SUMMED


def twin(X, y, alpha, ratio, *, positive=False, rounds=20_000):
    """Proximal gradient descent with momentum, restarted; X and y are centred."""
    n, p = X.shape
    step = 1 / (np.linalg.norm(X, 2) ** 2 / n + alpha * (1 - ratio))
    coef, ahead, t = np.zeros(p), np.zeros(p), 1.0
    for _ in range(rounds):
        slope = X.T @ (y - X @ ahead) / n - alpha * (1 - ratio) * ahead
        moved = ahead + step * slope
        new = np.sign(moved) * np.maximum(np.abs(moved) - step * alpha * ratio, 0)
        new = np.maximum(new, 0) if positive else new
        if (ahead - new) @ (new - coef) > 0:
            t = 1.0
        after = (1 + np.sqrt(1 + 4 * t * t)) / 2
        ahead, t, coef = new + (t - 1) / after * (new - coef), after, new
    return coef


@pytest.mark.parametrize("positive", [False, True])
@pytest.mark.parametrize("ratio", [1.0, 0.5])
@pytest.mark.parametrize("shape", [(30, 6), (10, 15)], ids=["tall", "wide"])
def test_proximal_gradient_descent_comes_to_the_same_coefficients(shape, ratio, positive):
    X, y = sample(*shape)
    X, y = (X - X.mean(axis=0)) / X.std(axis=0), y - y.mean()
    model = ElasticNet(0.2, l1_ratio=ratio, positive=positive).fit(X, y)
    wanted = twin(X, y, 0.2, ratio, positive=positive, rounds=5000)
    assert_allclose(model.coef_, wanted, rtol=0, atol=1e-08)  # the twin's own error
    assert model.dual_gap_ < 1e-13 * (y @ y)


@pytest.mark.parametrize("positive", [False, True])
def test_the_growing_gram_matrix_gives_the_coefficients_of_the_whole_one(positive):
    rng = np.random.default_rng(0)
    columns = rng.normal(size=(80, 30)) + 0.5 * rng.normal(size=30)
    y = columns[:4].sum(axis=0) + rng.normal(size=30)
    l1 = np.append(0.0, np.ones(79))  # the first is free
    penalty, stopping = Penalty(l1, np.zeros(80), positive), Stopping(1e-10, 1000)
    alphas = np.geomspace(0.8, 0.05, 12) * np.abs(columns @ y).max()
    whole = gram_path(columns @ columns.T, columns @ y, float(y @ y), alphas, penalty, stopping)
    grown = columns_path(columns, y, alphas, penalty, stopping)
    assert np.count_nonzero(whole.coef[-1]) > 5
    assert_allclose(grown.coef, whole.coef, rtol=0, atol=1e-10)  # condition numbers below 1e3


def test_where_the_gram_matrix_does_not_fit_residuals_serve(monkeypatch):
    rng = np.random.default_rng(0)
    columns, y = rng.normal(size=(50, 40)), rng.normal(size=40)
    penalty, stopping = Penalty(np.full(50, 0.7), np.full(50, 0.3), False), Stopping(1e-12, 5000)
    alphas = np.geomspace(1, 0.1, 5) * np.abs(columns @ y).max()
    exact = columns_path(columns, y, alphas, penalty, stopping)
    monkeypatch.setattr(solver, "MOST_COLUMNS", 5)
    rows = columns_path(columns, y, alphas, penalty, stopping)
    assert rows.reached.all()
    # The objective is strongly convex with modulus >= 0.3 alpha: a gap of 1e-12 |y|^2 bounds this.
    assert_allclose(rows.coef, exact.coef, rtol=0, atol=1e-05)


def test_orthogonal_columns_take_one_sweep_and_one_more_to_see_it():
    size, right = np.linspace(3.0, 0.5, 80), np.tile([7.0, -5.0], 40)
    problem = GramProblem(np.diag(size), right, 80 * 7.0**2 / 0.5)
    sweeps, gap, reached = problem.solve(np.ones(80), np.zeros(80), False, Stopping(1e-4, 100))
    assert_allclose(problem.coef, np.tile([6.0, -4.0], 40) / size, rtol=LAST_BITS)
    assert (sweeps, reached) == (2, True)
    assert gap <= 1e-14 * problem.square


def degenerate_design(seed):
    """Few distinct values, repeated columns, indicators, sums: many ties and dependent columns."""
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(2, 30)), int(rng.integers(2, 40))
    few = rng.normal(size=(n, p // 3 + 1))
    X = [
        rng.integers(0, 2, size=(n, p)).astype(float),
        rng.integers(-2, 3, size=(n, p)).astype(float),
        np.eye(p)[rng.integers(0, p, size=n)],
        few[:, rng.integers(0, few.shape[1], size=p)],
        few @ rng.integers(-1, 2, size=(few.shape[1], p)),
    ][seed % 5]
    y = np.round(2 * rng.normal(size=n)) if seed % 2 else rng.normal(size=n)
    factor = rng.integers(0, 3, size=p).astype(float) if seed % 3 else np.ones(p)
    return X, y, factor


@pytest.mark.parametrize("positive", [False, True])
@pytest.mark.parametrize("ratio", [1.0, 0.5])
def test_the_optimality_conditions_hold_where_columns_tie_and_depend(ratio, positive):
    for seed in range(60):
        X, y, factor = degenerate_design(seed)
        learner = ElasticNet(
            l1_ratio=ratio, positive=positive, penalty_factor=factor, fit_intercept=False, tol=0
        )
        high = np.abs(X.T @ y).max() / len(y) + 0.1
        path = learner.path(X, y, values=high * np.geomspace(1, 1e-4, 20))
        # The objective misses its minimum by rounding errors.
        assert path.dual_gap.max() <= 1e-13 * (y @ y)
        for alpha, coef in zip(path.values, path.coef[:, 0], strict=True):
            slope = X.T @ (y - X @ coef) / len(y) - alpha * (1 - ratio) * factor * coef
            limit, on = alpha * ratio * factor, coef != 0
            # Double precision, and factors of which condition numbers may reach 1e5.
            assert_allclose(slope[on], (limit * np.sign(coef))[on], rtol=0, atol=1e-09)
            assert ((slope if positive else np.abs(slope)) <= limit + 1e-9).all()


@pytest.mark.parametrize("near", [0.75, 1.0])
def test_columns_that_the_strong_rule_left_out_by_mistake_come_in(near, monkeypatch):
    """Down to where there are as many coefficients as rows, several penalties between two looks."""
    monkeypatch.setattr(solver, "NEAR", near)  # at 1 the strong rule and this one err all the time
    rng = np.random.default_rng(1)
    columns = rng.normal(size=(300, 40))
    y = 3 * columns[0] - 2 * columns[1] + rng.normal(size=40)
    penalty, stopping = Penalty(np.ones(300), np.zeros(300), False), Stopping(0.0, 1000)
    alphas = np.geomspace(1, 1e-4, 80) * np.abs(columns @ y).max()
    found = columns_path(columns, y, alphas, penalty, stopping)
    assert found.reached.all()
    assert np.count_nonzero(found.coef[-1]) == 40
    slope = (y - found.coef @ columns) @ columns.T
    at_limit = alphas[:, np.newaxis] * np.sign(found.coef)
    assert_allclose(np.where(found.coef != 0, slope, 0), at_limit, rtol=0, atol=SUMMED)
    assert (np.abs(slope) <= alphas[:, np.newaxis] + 1e-11).all()  # sums of 40 numbers of size 10


def test_equal_columns_share_a_coefficient_and_the_gap_is_kept():
    X, y = sample()
    twice = np.column_stack([X, X])
    model = Lasso(0.05).fit(twice, y)
    one = Lasso(0.05).fit(X, y)
    assert model.dual_gap_ <= 1e-4 * np.var(y)
    # A gap of 1e-4 of the variance bounds the mean squared difference of the two fits.
    assert np.mean((model.predict(twice) - one.predict(X)) ** 2) <= 2e-4 * np.var(y)


@pytest.mark.parametrize("alpha", [0.0, 1e-6])
def test_more_columns_than_rows_and_hardly_a_penalty_is_finite(alpha):
    X, y = sample(8, 20)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = Lasso(alpha, max_iter=20).fit(X, y)
    assert np.isfinite(model.predict(X)).all()
    # Never worse than the mean, from which the descent starts.
    assert np.mean((y - model.predict(X)) ** 2) <= np.var(y)


def test_a_descent_that_is_cut_short_says_so():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 1)) + 0.5 * rng.normal(size=(50, 80))
    y = X.sum(axis=1)
    high = Lasso().path(X, y).values[0]
    with pytest.warns(ConvergenceWarning, match="max_iter=1 "):
        Lasso(0.6 * high, max_iter=1, tol=0).fit(X, y)


def test_warm_starts_end_where_cold_ones_do():
    X, y = sample()
    warm = Lasso(0.5, warm_start=True).fit(X, y)
    warm.set_params(alpha=0.1).fit(X, y)
    assert_allclose(warm.coef_, Lasso(0.1).fit(X, y).coef_, rtol=0, atol=LAST_BITS)
    with pytest.raises(DataError, match="warm_start"):
        warm.fit(X[:, :4], y)


@pytest.mark.parametrize("apart", [1e-2, 1e-4])
def test_columns_free_of_penalty_that_all_but_agree_are_fitted_exactly(apart):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 6))
    X[:, 1] = X[:, 0] + apart * rng.normal(size=200)
    y = X @ [1, 2, 0, 0, 3, 0] + rng.normal(size=200)
    free = Lasso(alpha=0.1, penalty_factor=[0, 0, 1, 1, 1, 1]).fit(X, y)
    # The others see what a fit on the free columns leaves, and the free ones what the others leave.
    Q = np.linalg.qr(np.column_stack([np.ones(200), X[:, :2]]))[0]
    left, right = X[:, 2:] - Q @ (Q.T @ X[:, 2:]), y - Q @ (Q.T @ y)
    others = Lasso(alpha=0.1, fit_intercept=False).fit(left, right).coef_
    assert_allclose(
        free.coef_[2:], others, rtol=0, atol=1e-08
    )  # the squared condition number, at most 1e8
    residual = y - free.predict(X)
    # Coefficients err by 1 / apart^2 along the weakest direction, and what they fit by 1 / apart.
    assert_allclose(Q.T @ residual, 0.0, rtol=0, atol=SUMMED * np.linalg.norm(y) / apart)


def test_coefficients_whose_squares_vanish_keep_their_signs():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(50, 4)), rng.normal(size=50)
    ordinary, tiny = Lasso(alpha=0.05).fit(X, y), Lasso(alpha=0.05).fit(X * 1e90, y * 1e-90)
    assert ordinary.coef_.any()
    assert not tiny.coef_.any() or np.isfinite(tiny.coef_).all()
    scaled = Lasso(alpha=0.05 * 1e-90 * 1e90).fit(X * 1e90, y * 1e-90)
    assert_allclose(scaled.coef_ * 1e90 * 1e90, ordinary.coef_, rtol=SUMMED)


@pytest.mark.parametrize("free", [0, 3])
@pytest.mark.parametrize("alpha", [0.1, 1e-20, 1e-300])
def test_more_columns_in_use_than_rows_have_the_trace_of_their_hat_matrix(alpha, free):
    X, y = sample(12, 40)
    ratio, factors = 0.001, np.append(np.zeros(free), np.ones(40 - free))
    terms = Terms(factors, ratio, True, False, Stopping(1e-4, 1000))
    rows = Rows(X, y[:, np.newaxis], np.ones(12))
    task = Task(terms, Columns.of(rows, True), Scales.ones(40, 41))
    Z = (X - X.mean(axis=0)) / np.sqrt(12)
    strength = alpha * (1 - ratio)
    others = Z[:, free:] @ Z[:, free:].T / strength  # in the rows' space, where it has an inverse
    if free:
        basis = np.linalg.qr(Z[:, :free])[0]
        others -= basis @ (basis.T @ others)
        others -= others @ basis @ basis.T
    squares = np.linalg.eigvalsh(others)[free + 1 :]  # beside them and the intercept
    wanted = free + (squares / (squares + 1)).sum()
    assert_allclose(task.degrees_of_freedom(alpha, np.ones((1, 40))), wanted, rtol=SOLVED)


def test_free_columns_whose_gram_matrix_does_not_fit_are_refused(monkeypatch):
    X, y = sample(12, 40)
    penalty, stopping = Penalty(np.zeros(40), np.ones(40), False), Stopping(1e-4, 1000)
    columns = np.ascontiguousarray(X.T)
    columns_path(columns, y, np.array([1.0]), penalty, stopping)
    monkeypatch.setattr(solver, "MOST_NUMBERS", 39**2)
    with pytest.raises(ParameterError, match=r"40 columns have no penalty.* use Ridge"):
        columns_path(columns, y, np.array([1.0]), penalty, stopping)
