"""Lasso and ElasticNet: twins, edges of the input, what is reported."""

import pickle
import warnings

import numpy as np
import pytest
import sklearn.linear_model as peers
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline

from empirisk import Encoder, Tuned, load, losses, risk, save
from empirisk.data.blocks import Rows
from empirisk.learners.linear.elastic_net import ElasticNet
from empirisk.learners.linear.lasso import Lasso
from empirisk.learners.linear.lasso_problem import Columns
from empirisk.learners.linear.sparse_lines import SparseLines
from empirisk.runtime.errors import ConvergenceWarning, DataError, ParameterError
from empirisk.solvers import lasso_columns as solver
from empirisk.solvers.lasso import GramProblem, Penalty, Stopping, gram_path
from empirisk.solvers.lasso_columns import columns_path
from tolerances import LAST_BITS, SUMMED


def sample(n=60, p=10, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) @ (np.eye(p) + 0.3) * np.geomspace(0.3, 3, p) + 1
    return X, X[:, :3] @ [2.0, -1.0, 0.5] + rng.normal(size=n)


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


def test_columns_about_their_means():
    X, y = sample(12, 5)
    weight = np.arange(1.0, 13)
    found = Columns.of(Rows(X, y[:, np.newaxis], weight), True)
    share = weight / weight.sum()
    centred = (X - share @ X) * np.sqrt(share)[:, np.newaxis]
    assert_allclose(found.columns.T @ found.columns, centred @ centred.T, rtol=0, atol=SUMMED)


def test_scikit_learn_at_a_tight_tolerance():
    X, y = sample()
    weight = np.random.default_rng(1).uniform(0, 2, size=len(y))
    ours = Lasso(0.1).fit(X, y, weight)
    theirs = peers.Lasso(0.1, tol=1e-13, max_iter=100_000).fit(X, y, weight)
    assert_allclose(
        ours.coef_, theirs.coef_, rtol=0, atol=1e-08
    )  # the square root of their gap, and more
    assert ours.intercept_ == pytest.approx(theirs.intercept_, abs=1e-7)


def test_several_outputs_are_so_many_fits():
    X, y = sample()
    Y = np.column_stack([y, X[:, 4] ** 2, np.zeros(len(y))])
    both = ElasticNet(0.05).fit(X, Y)
    assert both.coef_.shape == (3, 10)
    assert both.dual_gap_.shape == (3,)
    for k in range(3):
        alone = ElasticNet(0.05).fit(X, Y[:, k])
        assert_allclose(both.coef_[k], alone.coef_, rtol=0, atol=SUMMED)
        assert both.intercept_[k] == pytest.approx(alone.intercept_, abs=SUMMED)


def test_several_outputs_of_more_columns_than_fit_into_a_gram_matrix():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(20, 2100)), rng.normal(size=(20, 2))
    both = Lasso(0.3).fit(X, Y)
    assert np.count_nonzero(both.coef_, axis=1).min() > 3
    for k in range(2):
        assert_allclose(both.coef_[k], Lasso(0.3).fit(X, Y[:, k]).coef_, rtol=0, atol=LAST_BITS)


@pytest.mark.parametrize("shape", [(9000, 3), (30, 2100)], ids=["blocks", "columns"])
def test_the_same_bits_for_every_number_of_threads(shape):
    X, y = np.random.default_rng(0).normal(size=shape), np.arange(shape[0]) % 7.0
    one, two = (ElasticNet(0.1, n_jobs=n_jobs).fit(X, y) for n_jobs in (None, 2))
    assert_array_equal(one.coef_, two.coef_)
    assert one.degrees_of_freedom_ == two.degrees_of_freedom_
    one, two = (risk.cross_validate(Lasso(0.1, n_jobs=n_jobs), X, y, cv=3) for n_jobs in (None, 2))
    assert_array_equal(one.losses, two.losses)


def test_predictions_use_the_columns_that_have_coefficients():
    rng = np.random.default_rng(0)
    X, intercept = rng.normal(size=(7, 30)), rng.normal(size=(45, 2))
    coef = rng.normal(size=(45, 2, 30))
    coef[:30, :, 3:] = 0
    coef[20:, :, 1] = 0
    coef[:, :, 17] = 0
    wanted = np.einsum("ij,vkj->ivk", X, coef) + intercept
    for order in (slice(None), slice(None, None, -1)):
        lines = SparseLines(coef[order], intercept[order])
        assert len(lines.runs) > 1
        assert_allclose(lines.predict(X, flat=False), wanted[:, order], rtol=0, atol=SUMMED)
        one = SparseLines(coef[order, :1], intercept[order, :1])
        assert_allclose(one.predict(X, flat=True), wanted[:, order, 0], rtol=0, atol=SUMMED)


@pytest.mark.parametrize("shape", [(40, 10), (20, 2100)], ids=["tall", "wide"])
def test_the_degrees_of_freedom_are_the_trace_of_the_hat_matrix(shape):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=shape) * rng.uniform(0.5, 2, size=shape[1]), rng.normal(size=shape[0])
    path = ElasticNet(l1_ratio=0.7).path(X, y, values=[0.3, 0.1])
    for j, alpha in enumerate(path.values):
        used = X[:, path.coef[j, 0] != 0]
        used = used - used.mean(axis=0)
        ridge = len(y) * alpha * 0.3 * np.eye(used.shape[1])
        hat = used @ np.linalg.solve(used.T @ used + ridge, used.T)
        assert path.degrees_of_freedom[j] == pytest.approx(1 + np.trace(hat), rel=SUMMED)
        assert path.at(j).degrees_of_freedom_ == path.degrees_of_freedom[j]


def test_a_saved_model_and_a_pickled_one_predict_the_same(tmp_path):
    X, y = sample()
    model = ElasticNet(0.1, penalty_factor=np.arange(10.0)).fit(X, np.column_stack([y, -y]))
    save(model, tmp_path / "model.empirisk")
    for again in (load(tmp_path / "model.empirisk"), pickle.loads(pickle.dumps(model))):
        assert_array_equal(again.predict(X), model.predict(X))
        assert_array_equal(again.dual_gap_, model.dual_gap_)
        assert repr(again) == repr(model)


def test_columns_free_of_penalty_stay_and_the_grid_knows():
    X, y = sample()
    learner = Lasso(penalty_factor=[0, 0, *[1] * 8])
    path = learner.path(X, y)
    assert (path.coef[:, 0, :2] != 0).all()
    assert not path.coef[0, 0, 2:].any()
    assert path.coef[1, 0, 2:].any()


def test_the_default_grid_is_that_of_scikit_learn():
    X, y = sample()
    theirs = peers.lasso_path(X - X.mean(axis=0), y - y.mean())[0]
    assert_allclose(Lasso().path(X, y).values, theirs, rtol=SUMMED)
    assert not Lasso().path(X, y).coef[0].any()


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


def test_an_encoder_in_each_fold_keeps_the_fast_rung():
    X, y = sample(40, 4)
    model = make_pipeline(Encoder(), Lasso())
    problem = risk.Problem.of(model, X, y, loss="squared")
    plan = problem.plan(KFold(4))
    values = [0.5, 0.1, 0.01]
    fast = risk.out_of_fold(model, problem, plan, values=values)
    slow = risk.out_of_fold(model, problem, plan, values=values, rung="path")
    assert fast.rung == "plan", fast.why
    assert_allclose(fast.losses, slow.losses, rtol=SUMMED, atol=SUMMED)


def test_blocks_give_the_bits_of_fit():
    X, y = sample(50)
    pieces = [(X[:20], y[:20]), (X[20:], y[20:])]
    assert_array_equal(Lasso(0.1).fit_blocks(pieces).coef_, Lasso(0.1).fit(X, y).coef_)


def test_a_path_is_printed_in_a_line():
    X, y = sample()
    path = Lasso().fit_path(X, np.column_stack([y, y]), np.ones(len(y)), [1.0, 0.25])
    expected = "<SparsePath of Lasso(): 2 penalties from 1 to 0.25, 10 columns, 2 output(s)>"
    assert str(path) == repr(path) == expected


def test_the_picture_has_a_line_for_each_coefficient_that_moves():
    X, y = sample()
    path = Lasso().path(X, y)
    ax = path.plot(names=[f"column {j}" for j in range(10)])
    moving = np.count_nonzero(path.coef[:, 0].any(axis=0))
    assert len(ax.lines) == moving + 1
    assert ax.get_xscale() == "log"


@pytest.mark.parametrize(
    ("parameters", "named"),
    [
        ({"alpha": -1.0}, "alpha"),
        ({"tol": -1.0}, "tol"),
        ({"max_iter": 0}, "max_iter"),
        ({"l1_ratio": 1.5}, "l1_ratio"),
        ({"penalty_factor": [1.0, 2.0]}, "penalty_factor"),
        ({"penalty_factor": [-1.0] * 10}, "penalty_factor"),
    ],
)
def test_parameters_that_make_no_sense_are_named(parameters, named):
    with pytest.raises(ParameterError, match=named):
        ElasticNet(**parameters).fit(*sample())


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("learner", [Lasso(), ElasticNet(), Lasso(fit_intercept=False)], ids=str)
def test_the_training_risk_from_sums_is_that_of_the_predictions(learner, weighted):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 4)) * [1, 100, 1e-3, 1] + [5, 0, 0, 0]
    Y = np.column_stack([X[:, 0] + rng.normal(size=50), 1e3 * rng.normal(size=50)])
    weight = rng.uniform(0.1, 3, 50) if weighted else np.ones(50)
    values = learner.axis_values(X, Y, weight, n_train=50)[::10]
    path = learner.fit_path(X, Y, weight, values)
    twin = weight @ ((path.predict_path(X) - Y[:, None]) ** 2).mean(axis=2) / weight.sum()
    assert_allclose(path.training_risk(losses.Squared()), twin, rtol=1e-9)  # 1e-16 / LEAST_LEFT
    assert path.training_risk(losses.Absolute()) is None
    perfect = learner.fit_path(X, X[:, 0] * 1e-9 + X[:, 1], weight, [1e-12])
    assert perfect.training_risk(losses.Squared()) is None


def test_the_grid_of_the_elastic_net_reaches_small_penalties_whatever_the_unit_of_y():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 5))
    y = X @ [3.0, -2, 1, 0, 0] + rng.normal(size=200)
    one, large = (Tuned(ElasticNet(), cv=5).fit(X, unit * y).path_.risk for unit in (1.0, 1e6))
    # At 1e6 the grid of the lasso would end with all coefficients shrunk to nearly nothing.
    assert large.min() / 1e12 < 1.01 * one.min()


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


def test_a_path_of_no_penalties_is_refused():
    X, y = np.arange(6.0).reshape(3, 2), np.arange(3.0)
    with pytest.raises(ParameterError, match="values is empty"):
        Lasso().path(X, y, values=[])
