"""Quadratic discriminant analysis: twins, and what it does at the edges."""

import inspect
import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn.discriminant_analysis as peers
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import softmax
from scipy.stats import multivariate_normal
from sklearn.covariance import oas
from sklearn.model_selection import KFold, LeaveOneOut

import empirisk
from empirisk import (
    QuadraticDiscriminantAnalysis,
    RegularizedDiscriminantAnalysis,
    Tuned,
    load,
    risk,
    save,
)
from empirisk.runtime.errors import DataError, ParameterError, RankWarning
from tolerances import SOLVED, SUMMED


def sample(n=150, p=4, n_classes=3, seed=0):
    """Classes whose means and covariances differ."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % n_classes)
    mix = np.eye(p) + 0.4 * rng.normal(size=(n_classes, p, p))
    X = np.einsum("ij,ijl->il", rng.normal(size=(n, p)), mix[y])
    return X + rng.normal(size=(n_classes, p))[y], y


def naive_values(X, y, at, weight, priors=None, lost=0.0, shrink=0.0):
    """log pi_k + log phi(x; m_k, S_k), one class at a time, by SciPy."""
    classes, p = np.unique(y), X.shape[1]
    values = np.empty((len(at), len(classes)))
    for j, k in enumerate(classes):
        own, w = X[y == k], weight[y == k]
        share = w.sum() / weight.sum() if priors is None else priors[j]
        S = np.cov(own.T, aweights=w, ddof=0).reshape(p, p) * w.sum() / (w.sum() - lost)
        S = (1 - shrink) * S + shrink * np.eye(p)
        m = np.average(own, axis=0, weights=w)
        values[:, j] = np.log(share) + multivariate_normal(m, S).logpdf(at)
    return values + p * np.log(2 * np.pi) / 2


@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("solver", ["auto", "eigen"])
def test_it_agrees_with_scikit_learn(n_classes, solver):
    X, y = sample(n_classes=n_classes)
    ours = QuadraticDiscriminantAnalysis(solver=solver, store_covariance=True).fit(X, y)
    twin = peers.QuadraticDiscriminantAnalysis(store_covariance=True).fit(X, y)
    # Condition numbers below 1e3, double precision.
    assert_allclose(ours.predict_proba(X), twin.predict_proba(X), rtol=1e-9, atol=1e-13)
    assert_allclose(ours.decision_function(X), twin.decision_function(X), rtol=1e-9, atol=1e-11)
    assert_allclose(ours.covariance_, twin.covariance_, rtol=1e-11, atol=1e-13)
    assert_array_equal(ours.predict(X), twin.predict(X))
    assert_array_equal(ours.rank_, 4)


@pytest.mark.parametrize("name", ["LinearDiscriminantAnalysis", "QuadraticDiscriminantAnalysis"])
def test_code_for_scikit_learn_works_with_the_import_switched(name):
    ours, twin = getattr(empirisk, name), getattr(peers, name)
    given, wanted = (inspect.signature(cls).parameters for cls in (ours, twin))
    assert set(wanted) <= set(given)
    for parameter in set(wanted) - {"solver"}:
        assert given[parameter].default == wanted[parameter].default
    X, y = sample()
    for solver in ("svd", "lsqr", "eigen"):
        ours(solver=solver).fit(X, y)
    fitted, peer = ours().fit(X, y), twin().fit(X, y)
    for attribute in ("classes_", "priors_", "means_", "n_features_in_"):
        assert_allclose(getattr(fitted, attribute), getattr(peer, attribute), rtol=SUMMED)


@pytest.mark.parametrize("priors", [None, [0.2, 0.5, 0.3]])
@pytest.mark.parametrize("unbiased", [False, True])
@pytest.mark.parametrize("reg_param", [0.0, 0.2])
def test_weights_priors_and_divisors_follow_the_formulas(priors, unbiased, reg_param):
    X, y = sample()
    weight = np.random.default_rng(1).uniform(0.1, 3, len(y))
    ours = QuadraticDiscriminantAnalysis(priors=priors, unbiased=unbiased, reg_param=reg_param)
    ours.fit(X, y, weight)
    naive = naive_values(X, y, X, weight, priors, lost=float(unbiased), shrink=reg_param)
    assert_allclose(ours.decision_function(X), naive, rtol=SOLVED, atol=SOLVED)
    assert_allclose(ours.predict_proba(X), softmax(naive, axis=1), rtol=SOLVED, atol=SUMMED)
    by_log = np.exp(ours.predict_log_proba(X))
    # A log of -700 is rounded to 1e-13; numbers below 2e-308 have fewer digits.
    assert_allclose(by_log, ours.predict_proba(X), rtol=1e-12, atol=1e-300)


@pytest.mark.parametrize("shrinkage", [0.3, "auto"])
@pytest.mark.parametrize("p", [4, 30])
def test_shrinkage_is_that_of_scikit_learn(shrinkage, p):
    X, y = sample(n=90, p=p)
    ours = QuadraticDiscriminantAnalysis(
        solver="eigen", shrinkage=shrinkage, store_covariance=True
    ).fit(X, y)
    twin = peers.QuadraticDiscriminantAnalysis(
        solver="eigen", shrinkage=shrinkage, store_covariance=True
    ).fit(X, y)
    assert_allclose(ours.covariance_, twin.covariance_, rtol=SOLVED, atol=SUMMED)
    assert_allclose(ours.predict_proba(X), twin.predict_proba(X), rtol=SOLVED, atol=SUMMED)
    problem = risk.Problem.of(ours, X, y, loss="log")
    plan = problem.plan(KFold(3))
    fast = risk.out_of_fold(ours, problem, plan)
    slow = risk.out_of_fold(ours, problem, plan, rung="generic")
    assert fast.rung == ("path" if shrinkage == "auto" else "plan")
    assert_allclose(fast.losses, slow.losses, rtol=SOLVED, atol=SOLVED)


def test_shrinkage_by_oas_and_an_unbiased_divisor():
    X, y = sample(n=90, p=10)
    model = QuadraticDiscriminantAnalysis(shrinkage="oas", unbiased=True, store_covariance=True)
    model.fit(X, y)
    for k in range(3):
        own = X[y == k]
        scale = own.std(axis=0)
        covariance, share = oas(own / scale)
        wanted = np.outer(scale, scale) * covariance * 30 / 29
        assert_allclose(model.covariance_[k], wanted, rtol=SUMMED)
        assert_allclose(model.shrinkage_[k], share, rtol=SUMMED)


def test_one_kind_of_shrinkage_at_a_time():
    X, y = sample()
    with pytest.raises(ParameterError, match="set one of them"):
        QuadraticDiscriminantAnalysis(shrinkage="auto", reg_param=0.1).fit(X, y)


def test_the_divisor_of_light_weights_is_refused():
    X, y = sample()
    with pytest.raises(DataError, match="unbiased"):
        QuadraticDiscriminantAnalysis(unbiased=True).fit(X, y, np.full(len(y), 0.01))
    QuadraticDiscriminantAnalysis().fit(X, y, np.full(len(y), 0.01))


def test_units_of_columns_and_offsets_do_not_matter():
    X, y = sample()
    one = QuadraticDiscriminantAnalysis().fit(X, y).predict_proba(X)
    units = 2.0 ** np.array([600, -600, 0, 30])
    other = QuadraticDiscriminantAnalysis().fit(X * units, y).predict_proba(X * units)
    # Powers of two: only the logarithms of determinants, of about 1e2, are rounded otherwise.
    assert_allclose(other, one, rtol=1e-11)
    far = X + 1e9
    other = QuadraticDiscriminantAnalysis().fit(far, y).predict_proba(far)
    # The offset leaves numbers of size 1 a rounding error of 1e-7, and log odds are up to 1e2.
    assert_allclose(other, one, rtol=0, atol=0.0001)


@pytest.mark.parametrize("power", [-290, -200, 200, 290])
@pytest.mark.parametrize("reg_param", [0.0, 0.5, 1.0])
def test_numbers_of_any_size(power, reg_param):
    X, y = sample()
    X = X * 10.0**power
    model = QuadraticDiscriminantAnalysis(reg_param=reg_param).fit(X, y)
    assert np.isfinite(model.predict_proba(X)).all()
    assert np.isfinite(model.predict_proba(np.sign(X) * 1e300)).all()
    assert np.isfinite(model.decision_function(np.sign(X) * 1e300)).all()


def test_rows_far_from_everything_go_to_the_widest_class():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(50, 2)), 3 * rng.normal(size=(50, 2))])
    model = QuadraticDiscriminantAnalysis().fit(X, np.repeat(["near", "far"], 50))
    assert_array_equal(model.predict([[1e200, 1e200], [-1e308, 1e308]]), ["far", "far"])


def deficient(X):
    table = pd.DataFrame(X, columns=list("abcd"))
    return table.assign(copy=table["a"], same=7.3)


@pytest.mark.parametrize("solver", ["cholesky", "eigen"])
def test_dependent_and_constant_columns_have_no_say_and_are_named(solver):
    X, y = sample()
    with pytest.warns(RankWarning, match="class 0 .and of 2 more. is singular") as caught:
        ours = QuadraticDiscriminantAnalysis(solver=solver).fit(deficient(X), y)
    message = str(caught[0].message)
    assert "column 'same' is constant" in message
    assert "column 'copy' is dependent" in message
    assert "tol^2 = 1.0e-08" in message
    assert_array_equal(ours.rank_, 4)
    full_rank = QuadraticDiscriminantAnalysis().fit(X, y)
    # All classes have the same directions without variance; of 2^-53, 1e4 are lost beside them.
    assert_allclose(
        ours.predict_proba(deficient(X)), full_rank.predict_proba(X), rtol=1e-7, atol=1e-9
    )


def test_more_columns_than_rows_of_a_class():
    X, y = sample(n=24, p=10)
    with pytest.warns(RankWarning, match="10 columns vary in 7 dimensions"):
        ours = QuadraticDiscriminantAnalysis().fit(X, y)
    assert_array_equal(ours.rank_, 7)
    assert ours.score(X, y) == 1.0  # each row lies in the plane of its class, and in no other
    assert np.isfinite(ours.predict_proba(X + 1)).all()


def test_a_column_constant_in_one_class_only_gets_the_least_variance_there():
    X, y = sample()
    X[y == 1, 2] = 0.5
    with pytest.warns(RankWarning, match="class 1 is singular: column 2 is constant"):
        ours = QuadraticDiscriminantAnalysis().fit(X, y)
    assert_array_equal(ours.rank_, [4, 3, 4])
    assert_array_equal(ours.predict(X[y == 1]), 1)
    moved = X[y == 1] + [0, 0, 0.1, 0]
    assert not np.isin(1, ours.predict(moved))


@pytest.mark.parametrize(
    "model",
    [QuadraticDiscriminantAnalysis(shrinkage=0.2), RegularizedDiscriminantAnalysis(1.0, 0.2)],
    ids=lambda model: type(model).__name__,
)
def test_a_class_of_one_row_has_the_least_variance_with_shrinkage_too(model):
    X, y = sample()
    X, y = np.column_stack([X, np.full(len(X), 2.0)])[y != 2], y[y != 2]  # and varies nowhere
    X, y = np.vstack([X, X[:1] + 0.5]), np.append(y, 2)
    with pytest.warns(RankWarning, match="class 2 is 0, and stays so when shrunken"):
        model.fit(X, y)
    assert_array_equal(model.rank_, [5, 5, 0])
    within = sum((y == k).sum() * np.cov(X[y == k].T, ddof=0) for k in (0, 1)) / len(y)
    scale = np.diag(within).copy()
    scale[4] = scale[:4].sum() / 5  # the mean over all columns, as shrinkage has it
    at = X[-3:] + np.outer([0.0, 1e-4, 0.0], np.ones(5))
    expected = np.empty((3, 3))
    for k in range(3):
        S = np.cov(X[y == k].T, ddof=0) if k < 2 else np.diag(1e-8 * scale)  # tol^2
        S = 0.8 * S + 0.2 * np.trace(S) / 5 * np.eye(5) if k < 2 else S
        log_density = multivariate_normal(X[y == k].mean(axis=0), S).logpdf(at)
        expected[:, k] = np.log(np.mean(y == k)) + log_density
    assert_allclose(model.predict_proba(at), softmax(expected, axis=1), rtol=SOLVED, atol=SUMMED)


def test_regularisation_is_tuned_where_a_training_part_has_one_row_of_a_class():
    X, y = sample(n=40)
    X, y = np.column_stack([X, np.full(len(X), 2.0)])[y != 2], y[y != 2]
    X, y = np.vstack([X, X[:1] + 0.5]), np.append(y, 2)
    with pytest.warns(RankWarning):
        tuned = Tuned(RegularizedDiscriminantAnalysis(), cv=3, random_state=0).fit(X, y)
    assert np.isfinite(tuned.predict_proba(X)).all()


@pytest.mark.parametrize(
    "X", [np.ones((6, 2)), np.arange(6.0)[:, None] // 3, np.zeros((6, 1))], ids=str
)
def test_columns_without_any_variation_within_classes(X):
    y = np.array([0, 0, 0, 1, 1, 1])
    with pytest.warns(RankWarning):
        model = QuadraticDiscriminantAnalysis().fit(X, y)
    probability = model.predict_proba(X)
    assert np.isfinite(probability).all()
    assert_array_equal(model.predict(X), y if X[0, 0] != X[5, 0] else 0)


def test_a_class_of_one_row():
    X, y = sample()
    y[0] = 7
    with pytest.warns(RankWarning, match="class 7"):
        model = QuadraticDiscriminantAnalysis().fit(X, y)
    assert model.predict(X[:1]) == 7
    assert np.isfinite(model.predict_proba(X)).all()


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("unbiased", [False, True])
@pytest.mark.parametrize("cv", [KFold(5), LeaveOneOut()], ids=["folds", "one"])
def test_held_out_predictions_are_those_of_refitting(cv, unbiased, weighted):
    X, y = sample(n=90)
    weight = np.random.default_rng(1).uniform(0.5, 2, 90) if weighted else None
    learner = QuadraticDiscriminantAnalysis(unbiased=unbiased)
    problem = risk.Problem.of(learner, X, y, loss="log", sample_weight=weight)
    plan = problem.plan(cv)
    slow = risk.out_of_fold(learner, problem, plan, rung="generic")
    fast = risk.out_of_fold(learner, problem, plan)
    assert fast.rung == "plan"
    assert_allclose(fast.losses, slow.losses, rtol=SOLVED, atol=SUMMED)


def test_a_singular_training_part_is_fitted_by_itself():
    X, y = sample(n=40, p=6)
    learner = QuadraticDiscriminantAnalysis()
    problem = risk.Problem.of(learner, X, y, loss="zero_one")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RankWarning)
        found = risk.out_of_fold(learner, problem, problem.plan(KFold(2)))
    assert found.rung == "path"
    assert "condition number" in found.why


def test_a_class_is_named_by_its_label_in_every_fold():
    X, y = sample(n=40, p=6)
    learner = QuadraticDiscriminantAnalysis()
    with pytest.warns(RankWarning, match="class '(red|rose|white)'"):
        risk.cross_validate(learner, X, np.array(["red", "white", "rose"])[y], cv=2)


def test_priors_go_with_their_classes_where_a_training_part_lacks_one():
    X, y = sample(n=60)
    y[:30][y[:30] == 2] = 1
    learner = QuadraticDiscriminantAnalysis(priors=[0.5, 0.2, 0.3])
    problem = risk.Problem.of(learner, X, y, loss="zero_one")
    plan = problem.plan([(np.arange(30), np.arange(30, 60))])
    found = risk.out_of_fold(learner, problem, plan)
    assert found.rung == "path"
    two = QuadraticDiscriminantAnalysis(priors=[5 / 7, 2 / 7]).fit(X[:30], y[:30])
    assert_array_equal(found.predictions(0), two.predict(X[30:]))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("reg_param", 1.5),
        ("shrinkage", 2),
        ("solver", "lu"),
        ("unbiased", 1),
        ("tol", 2.0),
        ("priors", [1.0]),
    ],
)
def test_wrong_settings_are_refused(name, value):
    X, y = sample()
    with pytest.raises(ParameterError, match=name):
        QuadraticDiscriminantAnalysis(**{name: value}).fit(X, y)


def test_a_saved_model_says_the_same(tmp_path):
    X, y = sample()
    model = QuadraticDiscriminantAnalysis(store_covariance=True).fit(X, np.array(list("abc"))[y])
    save(model, tmp_path / "model.empirisk")
    again = load(tmp_path / "model.empirisk")
    X[::3, 1] = np.nan
    assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    assert_array_equal(again.covariance_, model.covariance_)
    assert_array_equal(again.sample(5, random_state=0)[0], model.sample(5, random_state=0)[0])


@pytest.mark.parametrize("reg_param", [0.0, 0.2])
def test_principal_axes_and_their_variances_are_scikit_learns(reg_param):
    X, y = sample()
    ours = QuadraticDiscriminantAnalysis(reg_param=reg_param).fit(X, y)
    twin = peers.QuadraticDiscriminantAnalysis(reg_param=reg_param).fit(X, y)
    # Condition numbers below 1e3, double precision; the sign of an axis is free.
    for variances, wanted in zip(ours.scalings_, twin.scalings_, strict=True):
        assert_allclose(variances, wanted, rtol=SUMMED)
    for axes, wanted in zip(ours.rotations_, twin.rotations_, strict=True):
        assert_allclose(np.abs(axes.T @ wanted), np.eye(len(axes)), rtol=0, atol=SUMMED)
    assert not hasattr(QuadraticDiscriminantAnalysis(), "rotations_")


@pytest.mark.parametrize("power", [-200, 200])
def test_principal_axes_do_not_depend_on_the_unit(power):
    X, y = sample()
    plain = QuadraticDiscriminantAnalysis().fit(X, y)
    scaled = QuadraticDiscriminantAnalysis().fit(X * 10.0**power, y)
    for axes, wanted in zip(scaled.rotations_, plain.rotations_, strict=True):
        assert_allclose(np.abs(axes.T @ wanted), np.eye(len(axes)), rtol=0, atol=1e-09)  # as above
    assert np.isfinite(scaled.scalings_).all()


@pytest.mark.parametrize("shrinkage", [0.0, 0.5, 1.0])
def test_a_covariance_beyond_a_double_is_infinite_and_not_nan(shrinkage):
    X, y = sample()
    given = {"shrinkage": shrinkage, "store_covariance": True}
    for cls in (QuadraticDiscriminantAnalysis, empirisk.LinearDiscriminantAnalysis):
        plain, large = cls(**given).fit(X, y), cls(**given).fit(X * 1e200, y)
        beyond = np.abs(plain.covariance_) > 1e-60
        assert_array_equal(np.isinf(large.covariance_), beyond)
        assert (large.covariance_[~beyond] == 0).all()
