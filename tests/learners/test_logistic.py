"""Logistic regression beside slow twins and scikit-learn; paths, weights, corners."""

import pickle

import numpy as np
import pytest
import sklearn.linear_model as peers
from numpy.testing import assert_allclose, assert_array_equal

from empirisk import LogisticRegression, Tuned, load, risk, save
from empirisk.data.blocks import Rows
from empirisk.learners.linear.logistic_problem import LogisticProblem
from empirisk.learners.linear.separation import SeparationWarning
from empirisk.runtime.errors import ConvergenceWarning, DataError, ParameterError, RankWarning
from tolerances import SOLVED, SUMMED


def sample(n=200, p=4, n_classes=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) * np.geomspace(0.5, 2, p) + 1
    B = rng.normal(size=(p, n_classes))
    scores = (X - 1) @ B + rng.gumbel(size=(n, n_classes))
    return X, scores.argmax(axis=1)


def objective(model, X, y, weight=None):
    """Written out: sum of log losses and the penalty."""
    own = -model.predict_log_proba(X)[np.arange(len(y)), np.searchsorted(model.classes_, y)]
    weight = np.ones(len(y)) if weight is None else weight
    b, ratio = model.coef_, model.l1_ratio
    penalty = (1 - ratio) / 2 * (b**2).sum() + ratio * np.abs(b).sum()
    return weight @ own + penalty / model.C


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("C", [1e-3, 1.0, 100.0])
@pytest.mark.parametrize("solver", ["auto", "newton", "limited-memory"])
def test_the_same_minimum_as_scikit_learn(n_classes, C, solver):
    X, y = sample(n_classes=n_classes)
    ours = LogisticRegression(C=C, solver=solver).fit(X, y)
    peer = peers.LogisticRegression(C=C, tol=1e-9, max_iter=10_000).fit(X, y)
    assert_allclose(ours.coef_, peer.coef_, rtol=1e-4, atol=1e-6)  # the gradient of lbfgs is 1e-9
    theirs = LogisticRegression(C=C).fit(X, y)
    theirs.coef_, theirs._offset, theirs._centre = peer.coef_, peer.intercept_, np.zeros(4)
    assert objective(ours, X, y) <= objective(theirs, X, y) * (1 + 1e-14)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("l1_ratio", [0.3, 1.0])
@pytest.mark.parametrize("shape", [(200, 6), (30, 50)])
def test_optimality_conditions_with_an_l1_penalty(n_classes, l1_ratio, shape):
    X, y = sample(*shape, n_classes=n_classes)
    C = {200: 0.02, 30: 0.3}[len(y)]
    model = LogisticRegression(C=C, l1_ratio=l1_ratio).fit(X, y)
    residual = model.predict_proba(X) - np.eye(n_classes)[y]
    residual = residual[:, 1:] if n_classes == 2 else residual
    slope = residual.T @ X + (1 - l1_ratio) / C * model.coef_
    used = model.coef_ != 0
    assert 0 < used.sum() < used.size
    # Converged to a relative 1e-10 of sums of up to 200 terms.
    assert_allclose(slope[used], -np.sign(model.coef_[used]) * l1_ratio / C, rtol=0, atol=1e-07)
    assert np.abs(slope[~used]).max() <= l1_ratio / C * (1 + 1e-8)
    assert_allclose(residual.sum(axis=0), 0, rtol=0, atol=SUMMED)


@pytest.mark.parametrize("C", [0.5, 1e6])
def test_more_columns_than_rows_are_rotated_without_loss(C):
    X, y = sample(n=20, p=60, n_classes=3)
    model = LogisticRegression(C=C).fit(X, y)
    residual = model.predict_proba(X) - np.eye(3)[y]
    assert_allclose(residual.T @ X + model.coef_ / C, 0, rtol=0, atol=1e-09)  # the gradient


@pytest.mark.parametrize("shape", [(600, 350), (320, 700)])
@pytest.mark.parametrize("correlation", [0.0, 0.99])
def test_many_columns_by_gradients_first_reach_the_minimum_of_newtons_method(shape, correlation):
    rng = np.random.default_rng(1)
    X = rng.normal(size=shape)
    X = np.sqrt(1 - correlation) * X + np.sqrt(correlation) * X[:, :1]
    y = (X[:, 1] - X[:, 2] + rng.logistic(size=len(X)) > 0).astype(int)
    ours = LogisticRegression().fit(X, y)
    newton = LogisticRegression(solver="newton").fit(X, y)
    scale = np.abs(newton.coef_).max()
    assert_allclose(ours.coef_, newton.coef_, rtol=0, atol=1e-08 * scale)  # decrements of 1e-10
    assert_array_equal(LogisticRegression(n_jobs=2).fit(X, y).coef_, ours.coef_)
    loose = LogisticRegression(tol=1e-2).fit(X, y)
    assert objective(loose, X, y) <= objective(newton, X, y) * (1 + 1e-3)  # tol^2, and slack


@pytest.mark.parametrize("n_classes", [2, 3])
def test_many_rows_begin_with_a_part_of_them(n_classes):
    X, y = sample(n=20_000, p=3, n_classes=n_classes)
    ours = LogisticRegression().fit(X, y)
    slow = LogisticRegression(solver="newton").fit(X, y)
    assert_allclose(ours.coef_, slow.coef_, rtol=1e-9)  # both to a relative 1e-10
    several = LogisticRegression(n_jobs=2).fit(X, y)
    assert_array_equal(several.coef_, ours.coef_)


def test_rows_sorted_by_class_and_a_rare_class_converge():
    X, y = sample(n=20_000, p=3)
    order = np.argsort(y, kind="stable")
    X, y = X[order], y[order]
    y[-5:] = 2
    model = LogisticRegression().fit(X, y)
    residual = model.predict_proba(X) - np.eye(3)[y]
    # A fit ends at a decrement of 1e-10 times the root of the objective, 14,000 at most; the
    # gradient is that times the root of an eigenvalue of the Hessian, 65,000 at most.
    assert_allclose(residual.T @ X + model.coef_, 0, rtol=0, atol=3e-6)


def test_class_weights_are_sample_weights():
    X, y = sample(n_classes=3)
    factor = {0: 2.0, 1: 0.5, 2: 1.0}
    by_class = LogisticRegression(class_weight=factor).fit(X, y)
    by_row = LogisticRegression().fit(X, y, sample_weight=[factor[k] for k in y])
    assert_array_equal(by_class.coef_, by_row.coef_)
    balanced = LogisticRegression(class_weight="balanced").fit(X, y)
    peer = peers.LogisticRegression(
        class_weight="balanced", solver="newton-cholesky", tol=1e-12
    ).fit(X, y)
    assert_allclose(balanced.coef_, peer.coef_, rtol=1e-9)  # its gradient is below 1e-12


@pytest.mark.parametrize("l1_ratio", [0.0, 0.5, 1.0])
@pytest.mark.parametrize(("n", "p", "n_classes"), [(200, 4, 3), (200, 4, 4), (40, 60, 2)])
def test_a_path_equals_single_fits_in_any_order(l1_ratio, n, p, n_classes):
    X, y = sample(n, p, n_classes)
    values = [3.0, 0.02, 0.5, 100.0]
    learner = LogisticRegression(l1_ratio=l1_ratio)
    path = learner.fit_path(X, y, np.ones(len(y)), values, n_classes=n_classes)
    for j, C in enumerate(values):
        alone = LogisticRegression(C=C, l1_ratio=l1_ratio).fit(X, y)
        assert_allclose(path.at(j).coef_, alone.coef_, rtol=0, atol=SOLVED)
        shares = path.predict_path(X, "probability")[:, j]
        # Probabilities err relatively as scores do: up to 60 coefficients that are so exact.
        assert_allclose(shares, alone.predict_proba(X), rtol=1e-9)


def test_tuned_chooses_c_and_a_class_may_miss_in_a_fold():
    X, y = sample(n=120, n_classes=3)
    tuned = Tuned(LogisticRegression(), cv=3).fit(X, y)
    assert tuned.best_value_ == tuned.best_estimator_.C
    X, y = X[:40], np.where(np.arange(40) == 7, 2, y[:40] % 2)
    found = risk.cross_validate(LogisticRegression(), X, y, cv=4, loss="zero_one")
    assert np.isfinite(found.value)


@pytest.mark.parametrize("l1_ratio", [0.0, 0.5, 1.0])
def test_the_grid_is_that_of_the_classes_that_have_rows(l1_ratio):
    X, learner = (
        np.random.default_rng(0).normal(size=(30, 4)),
        LogisticRegression(l1_ratio=l1_ratio),
    )
    code, weight = np.arange(30) % 3, np.ones(30)
    grid = learner.axis_values(X, code, weight, n_train=30)
    assert grid == learner.axis_values(X, 2 * code, weight, n_train=30)


def test_the_strongest_default_penalty_leaves_no_coefficient():
    X, y = sample()
    lasso = LogisticRegression(l1_ratio=1.0)
    grid = lasso.axis_values(X, y, np.ones(len(y)), n_train=len(y))
    assert len(grid) == 50
    path = lasso.fit_path(X, y, np.ones(len(y)), grid[:2], n_classes=2)
    assert_allclose(path.at(0).coef_, 0, rtol=0, atol=SUMMED)
    assert (path.at(1).coef_ != 0).any()


@pytest.mark.parametrize("n_classes", [2, 3])
def test_quasi_complete_separation_is_reported_with_its_direction(n_classes):
    X, y = sample(n_classes=n_classes)
    flag = np.arange(200) % 10 == 0
    X = np.column_stack([X, flag])
    y[flag] = 1
    with pytest.warns(SeparationWarning, match=r"20 row\(s\).*by column 4"):
        model = LogisticRegression(C=np.inf).fit(X, y)
    found = model.separation_
    assert (found.kind, found.n_separated) == ("quasi-complete", 20)
    assert_array_equal((found.coef != 0).any(axis=0), [False] * 4 + [True])
    with pytest.raises(DataError, match="separated"):
        model.coefficient_intervals(X, y)
    again = pickle.loads(pickle.dumps(model))
    assert_array_equal(again.separation_.coef, found.coef)


def test_data_that_are_nearly_separated_are_not_called_so():
    X = np.linspace(-10, 10, 201)[:, None]
    y = (X[:, 0] > 0).astype(int)
    y[[100, 101]] = y[[101, 100]]  # one swap: the maximum exists, and is steep
    model = LogisticRegression(C=np.inf).fit(X, y)
    assert model.separation_ is None
    residual = model.predict_proba(X)[:, 1] - y
    assert_allclose([residual.sum(), residual @ X[:, 0]], 0, rtol=0, atol=SUMMED)


def test_a_penalty_ends_separation():
    X, y = sample()
    y = (X[:, 0] > 1).astype(int)
    assert LogisticRegression(C=1e6).fit(X, y).separation_ is None


def test_without_penalty_its_kind_does_not_matter():
    X, y = sample(n_classes=3)
    ridge, net = (LogisticRegression(C=np.inf, l1_ratio=r).fit(X, y) for r in (0.0, 0.5))
    assert_allclose(net.coef_, ridge.coef_, rtol=1e-9)  # and no warning of dependent columns


def test_dependent_columns_get_the_solution_of_least_norm():
    X, y = sample()
    twice = np.column_stack([X, X[:, 1], np.full(len(y), 3.0)])
    with pytest.warns(RankWarning, match="1, 4, 5"):
        model = LogisticRegression(C=np.inf).fit(twice, y)
    one = LogisticRegression(C=np.inf).fit(X, y)
    assert_allclose(model.predict_proba(twice), one.predict_proba(X), rtol=SUMMED)
    assert_allclose(model.coef_[0, [1, 4]], one.coef_[0, 1] / 2, rtol=SUMMED)
    assert_allclose(model.coef_[0, 5], 0, rtol=0, atol=SUMMED)


def test_a_saved_model_is_the_same(tmp_path):
    X, y = sample()
    X = np.column_stack([X, np.arange(200) % 10 == 0])
    y[::10] = 1
    with pytest.warns(SeparationWarning):
        separated = LogisticRegression(C=np.inf).fit(X, y)
    descended = LogisticRegression(solver="gradient", max_iter=20, tol=0.1).fit(X, y)
    loaded = []
    for model in (separated, descended):
        save(model, tmp_path / "model.emp")
        loaded.append(load(tmp_path / "model.emp"))
        assert_array_equal(loaded[-1].predict_proba(X), model.predict_proba(X))
    found, way = loaded[0].separation_, loaded[1].solution_
    assert (found.kind, found.n_separated) == ("quasi-complete", 20)
    assert_array_equal(found.coef, separated.separation_.coef)
    assert_array_equal(found.intercept, separated.separation_.intercept)
    assert_array_equal(way.points, descended.solution_.points)
    assert way.converged == descended.solution_.converged


def test_no_intercept_passes_through_the_origin():
    X, y = sample()
    model = LogisticRegression(fit_intercept=False).fit(X, y)
    assert model.intercept_[0] == 0
    peer = peers.LogisticRegression(fit_intercept=False, tol=1e-9, max_iter=1000).fit(X, y)
    assert_allclose(model.coef_, peer.coef_, rtol=1e-7)  # the peer stops at gradients of 1e-9


def test_columns_far_from_zero_lose_no_digits():
    X, y = sample()
    near = LogisticRegression(C=np.inf).fit(X, y)
    far = LogisticRegression(C=np.inf).fit(X + 2.0**30, y)
    assert_allclose(far.coef_, near.coef_, rtol=1e-5)  # X itself lost 30 bits


def test_gradient_descent_keeps_its_way():
    X, y = sample(n_classes=3)
    exact = LogisticRegression().fit(X, y)
    model = LogisticRegression(solver="gradient", tol=1e-8, max_iter=5000).fit(X, y)
    way = model.solution_
    assert_allclose(
        model.coef_, exact.coef_, rtol=0, atol=1e-05
    )  # a gradient of 1e-8, curvature 1e-2
    assert (np.diff(way.objectives) <= 0).all()
    last = way.points[-1].reshape(3, 5)
    assert_allclose(last, np.column_stack([model.coef_, model.intercept_]), rtol=SUMMED)


def test_stochastic_gradient_comes_near_and_repeats():
    X, y = sample()
    learner = LogisticRegression(solver="stochastic", max_iter=60, tol=1e-6, random_state=0)
    model = learner.fit(X, y)
    exact = LogisticRegression().fit(X, y)
    # The objective is within 1 %: far above the noise of the last of 60 epochs at this seed.
    assert objective(model, X, y) < 1.01 * objective(exact, X, y)
    way = model.solution_
    assert way.n_iter == model.n_iter_[0]
    assert len(way.points) == len(way.objectives) > 10
    assert_allclose(way.points[-1], np.append(model.coef_, model.intercept_), rtol=SUMMED)
    again = LogisticRegression(solver="stochastic", max_iter=60, tol=1e-6, random_state=0)
    assert_array_equal(again.fit(X, y).coef_, model.coef_)


def test_too_few_iterations_are_told():
    X, y = sample()
    with pytest.warns(ConvergenceWarning, match="max_iter = 2"):
        LogisticRegression(max_iter=2).fit(X, y)


def test_a_warm_start_is_at_the_goal_at_once():
    X, y = sample(n_classes=3)
    model = LogisticRegression(warm_start=True).fit(X, y)
    assert model.fit(X, y).n_iter_[0] <= 1


@pytest.mark.parametrize(
    ("parameters", "match"),
    [
        ({"C": 0}, "C is 0"),
        ({"C": np.nan}, "C is nan"),
        ({"l1_ratio": 2}, "l1_ratio is 2"),
        ({"tol": -1}, "tol is -1"),
        ({"max_iter": 1.5}, "max_iter is 1.5"),
        ({"max_iter": 0}, "max_iter is 0; it must be an integer, 1 or more"),
        ({"solver": "adam"}, "solver is 'adam'; it must be one of"),
        ({"solver": "gradient", "l1_ratio": 1}, "smooth penalty"),
        ({"class_weight": {7: 2.0}}, "7"),
        ({"class_weight": "even"}, "class_weight is 'even'"),
        ({"penalty": ["l1"]}, "penalty is"),
    ],
)
def test_bad_parameters_are_named(parameters, match):
    X, y = sample()
    with pytest.raises(ParameterError, match=match):
        LogisticRegression(**parameters).fit(X, y)


def test_extreme_weights_and_units_change_what_they_must():
    X, y = sample()
    model = LogisticRegression(C=np.inf).fit(X, y)
    tiny = LogisticRegression(C=np.inf).fit(X * [1e-200, 1e200, 1, 1], y, sample_weight=1e-150)
    assert_allclose(tiny.coef_ * [1e-200, 1e200, 1, 1], model.coef_, rtol=SUMMED)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("n_classes", [2, 3])
def test_logarithms_of_probabilities_are_finite_for_all_finite_rows(n_classes):
    X, y = sample(n_classes=n_classes)
    model = LogisticRegression().fit(X, y)
    far = 1e308 * np.vstack([np.eye(4), -np.eye(4), np.ones((1, 4))])
    logarithms = model.predict_log_proba(far)
    assert np.isfinite(logarithms).all()
    assert_array_equal(logarithms.argmax(axis=1), model.predict(far))
    assert_allclose(np.exp(logarithms).sum(axis=1), 1, rtol=SUMMED)
    near = model.predict_log_proba(X)
    assert_allclose(near, np.log(model.predict_proba(X)), rtol=1e-9)  # log p near p = 1


@pytest.mark.filterwarnings("ignore:.*make them more alike")
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_class_whose_weight_vanishes_beside_another_has_probability_0(n_classes):
    X, y = sample(n_classes=n_classes)
    heavy = LogisticRegression().fit(X, y, np.where(y == 0, 1e-200, 1e200))
    assert np.isfinite(heavy.intercept_).all()
    assert heavy.predict_proba(X)[:, 0].max() < 1e-300  # 1e-400 in truth
    vanishing = LogisticRegression(class_weight={0: 1e-300}).fit(X, y, np.full(len(y), 1e-100))
    assert np.isfinite(vanishing.intercept_).all()


@pytest.mark.parametrize("l1_ratio", [0.0, 0.5, 1.0])
def test_a_penalty_beyond_all_numbers_leaves_no_coefficient(l1_ratio):
    X, y = sample()
    problem = LogisticProblem(
        Rows(X, y, np.ones(len(y))), 2, fit_intercept=True, l1_ratio=l1_ratio, penalised=True
    )
    penalty = problem.penalty(1e-310)
    assert np.isfinite([penalty.l1, penalty.l2]).all()
    coef = LogisticRegression(C=1e-310, l1_ratio=l1_ratio).fit(X, y).coef_
    assert np.abs(coef).max() < 1e-290  # a gradient of some hundreds over a penalty of 1e300


def test_the_way_of_another_solver_is_not_kept():
    X, y = sample()
    model = LogisticRegression(solver="gradient", tol=0.1).fit(X, y)
    assert not hasattr(model.set_params(solver="auto").fit(X, y), "solution_")
