"""Lasso and ElasticNet: peers, paths, what is reported and refused."""

import pickle

import numpy as np
import pandas as pd
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
from empirisk.runtime.errors import ParameterError
from lasso_rows import sample
from tolerances import LAST_BITS, SUMMED


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
        ({"penalty_factor": "large"}, "penalty_factor"),
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


def test_a_path_of_no_penalties_is_refused():
    X, y = np.arange(6.0).reshape(3, 2), np.arange(3.0)
    with pytest.raises(ParameterError, match="values is empty"):
        Lasso().path(X, y, values=[])
    with pytest.raises(ParameterError, match=r"values is 0\.5"):
        Lasso().path(X, y, values=0.5)


@pytest.mark.parametrize("t", ["one", None, np.nan, -1.0])
def test_a_constraint_that_is_no_number_is_named(t):
    X, y = sample()
    with pytest.raises(ParameterError, match="t is"):
        Lasso().penalty_for_norm(X, y, t)
    with pytest.raises(ParameterError, match="alpha is"):
        Lasso().norm_for_penalty(X, y, "one")


def test_a_penalty_that_rounding_loses_leaves_the_rank_as_degrees_of_freedom():
    rng = np.random.default_rng(1)
    columns = rng.normal(size=(5, 4)) * [1e3, 1e3, 1.0, 1.0]
    X = np.repeat(columns, 5, axis=1)  # of 20 columns 4 are different
    task = ElasticNet(1e-14, l1_ratio=0.0)._task(X, X[:, 0], np.ones(5))
    freedom = task.degrees_of_freedom(1e-14, np.ones((1, 20)))
    assert_allclose(freedom, 4, rtol=1e-6)  # what is shrunk of singular values from 1 on: 1e-14


@pytest.mark.parametrize(
    "ask",
    [
        lambda model, X, y: model.path(X, y),
        lambda model, X, y: model.norm_for_penalty(X, y, 0.1),
        lambda model, X, y: model.penalty_for_norm(X, y, 1.0),
    ],
    ids=["path", "norm_for_penalty", "penalty_for_norm"],
)
def test_a_question_about_other_rows_leaves_the_learner_as_it_was(ask):
    X, y = sample()
    names = [f"column {j}" for j in range(10)]
    table = pd.DataFrame(X, columns=names)
    fitted, fresh = Lasso(0.1).fit(table, y), Lasso(0.1)
    ask(fitted, table[names[::-1]], y)
    assert list(fitted.feature_names_in_) == names
    ask(fresh, table, y)
    assert vars(fresh) == vars(Lasso(0.1))
