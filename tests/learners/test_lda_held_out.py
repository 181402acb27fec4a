"""Folds by subtraction and leave-one-out by downdating equal fitting every split again."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import softmax
from sklearn.datasets import load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis as Twin
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    LeaveOneOut,
    RepeatedKFold,
    ShuffleSplit,
    TimeSeriesSplit,
)

from empirisk.learners.generative.lda import LinearDiscriminantAnalysis
from empirisk.risk.axis import CannotSubtractError
from empirisk.risk.plans.plan import Plan
from empirisk.runtime.errors import DataError
from tolerances import LAST_BITS, SUMMED

VALUES = [0.0, 0.001, 0.2, 1.0]


def sample(n=60, p=3, n_classes=3, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % n_classes)
    mix = np.eye(p) + 0.3 * rng.normal(size=(p, p))
    return rng.normal(size=(n, p)) @ mix + rng.normal(size=(n_classes, p))[y], y


def held_out(X, y, plan, values, *, output, weight=None, n_classes=None, size=7, **parameters):
    """Predictions (repeats, rows, ...) gathered from the blocks; every row exactly once."""
    weight = np.ones(len(y)) if weight is None else weight
    n_classes = len(np.unique(y)) if n_classes is None else n_classes
    shape = (plan.repeats, len(y), len(values)) + (n_classes,) * (output == "probability")
    gathered = np.full(shape, np.nan)
    for repeat, rows, prediction in (
        LinearDiscriminantAnalysis(**parameters)
        .out_of_fold(
            X, y, weight, plan, values, n_classes=n_classes, output=output, rows_per_block=size
        )
        .blocks
    ):
        assert len(rows) <= size
        assert np.isnan(gathered[repeat, rows]).all()
        gathered[repeat, rows] = prediction
    assert not np.isnan(gathered).any()
    return gathered


def refuse(X, y, plan, values=(0.0,), weight=None, **parameters):
    """The reason, which must come before any block is asked for."""
    weight = np.ones(len(y)) if weight is None else weight
    with pytest.raises(CannotSubtractError) as caught:
        LinearDiscriminantAnalysis(**parameters).out_of_fold(
            X, y, weight, plan, values, n_classes=3, output="value", rows_per_block=100
        )
    return str(caught.value)


def naive_probabilities(X, y, at, weight, shrinkage, n_classes):
    """The formulas, one class at a time; a class without rows gets 0."""
    n, p = weight.sum(), X.shape[1]
    score = np.full((len(at), n_classes), -np.inf)
    within = np.zeros((p, p))
    for k in np.unique(y):
        own, w = X[y == k], weight[y == k]
        away = own - np.average(own, axis=0, weights=w)
        within += (away * w[:, None]).T @ away / n
    within = (1 - shrinkage) * within + shrinkage * np.trace(within) / p * np.eye(p)
    for k in np.unique(y):
        away = at - np.average(X[y == k], axis=0, weights=weight[y == k])
        distance = np.sum(away @ np.linalg.inv(within) * away, axis=1)
        score[:, k] = np.log(weight[y == k].sum() / n) - distance / 2
    return softmax(score, axis=1)


PLANS = [
    KFold(4, shuffle=True, random_state=0),
    RepeatedKFold(n_splits=3, n_repeats=2, random_state=0),
    GroupKFold(5),
    KFold(60),
    LeaveOneOut(),
]


@pytest.mark.parametrize("cv", PLANS, ids=str)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_it_equals_refitting_scikit_learn(cv, n_classes):
    X, y = sample(n_classes=n_classes)
    groups = np.arange(60) % 7 if isinstance(cv, GroupKFold) else None
    plan = Plan.of(cv, X, y, groups=groups)
    probability = held_out(X, y, plan, VALUES, output="probability")
    value = held_out(X, y, plan, VALUES, output="value")
    for s in range(plan.n_splits):
        test, train = plan.test(s), plan.train(s)
        for j, shrinkage in enumerate(VALUES):
            twin = Twin(solver="lsqr", shrinkage=shrinkage).fit(X[train], y[train])
            got = probability[plan.repeat(s), test, j]
            # The contract: 1e-10 relative where condition numbers are below 1e4.
            assert_allclose(got, twin.predict_proba(X[test]), rtol=1e-10, atol=1e-14)
            assert_array_equal(value[plan.repeat(s), test, j], twin.predict(X[test]))


@pytest.mark.parametrize("cv", [KFold(4), LeaveOneOut()], ids=str)
@pytest.mark.parametrize("scale", [1.0, 2.0**700, 2.0**-700])
def test_weighted_rows_are_left_out_with_their_weight(cv, scale):
    X, y = sample(40)
    weight = np.random.default_rng(1).uniform(0.2, 5.0, 40)
    plan = Plan.of(cv, X, y, sample_weight=weight)
    got = held_out(X * scale, y, plan, VALUES, output="probability", weight=weight * 1e-200)[0]
    for s in range(plan.n_splits):
        test, train = plan.test(s), plan.train(s)
        for j, shrinkage in enumerate(VALUES):
            naive = naive_probabilities(X[train], y[train], X[test], weight[train], shrinkage, 3)
            assert_allclose(got[test, j], naive, rtol=SUMMED, atol=LAST_BITS)


def test_iris_left_out_as_in_r():
    """R 4.2.2, MASS 7.3-58.2: lda(x, Species, method = "mle", CV = TRUE) keeps the priors."""
    X, y = load_iris(return_X_y=True)
    rows = np.array([51, 71, 78, 84, 107, 120, 134, 139, 150]) - 1
    versicolor = [
        9.998931683487402e-01, 1.727194104023875e-01, 6.599519544619451e-01,
        9.526300087768126e-02, 8.416848054823330e-02, 2.997060571622851e-01,
        7.920937445093105e-01, 2.077334355094838e-01, 1.904724174517984e-02,
    ]  # fmt: skip
    setosa = [
        1.379694284148902e-18, 3.514353941444079e-29, 6.861764055864921e-28,
        2.383212185157886e-34, 2.673612233347347e-33, 6.877956960282302e-34,
        1.450111287982528e-29, 4.621898957243148e-30, 7.740185534409540e-34,
    ]  # fmt: skip
    plan = Plan.leave_one_out(X, y)
    got = held_out(X, y, plan, [None], output="probability", priors=[1 / 3, 1 / 3, 1 / 3])[0, :, 0]
    # R whitens twice and sums squares of about 1e2: eleven digits of the logarithms agree.
    assert_allclose(got[rows, 1], versicolor, rtol=1e-10)
    assert_allclose(got[rows, 0], setosa, rtol=1e-10)
    assert_array_equal(np.flatnonzero(got.argmax(axis=1) != y) + 1, [71, 84, 134])


@pytest.mark.parametrize("priors", [None, [0.2, 0.3, 0.4, 0.1]])
@pytest.mark.parametrize("cv", [KFold(4), LeaveOneOut()], ids=str)
def test_a_class_that_training_lacks_has_probability_0(cv, priors):
    X, y = sample(40)
    y[5] = 3  # the only row of its class
    plan = Plan.of(cv, X, y)
    probability = held_out(X, y, plan, VALUES, output="probability", priors=priors)[0]
    value = held_out(X, y, plan, VALUES, output="value", priors=priors)[0]
    s = plan.fold[0, 5]
    test, train = plan.test(s), plan.train(s)
    assert_array_equal(probability[test, :, 3], 0)
    assert not (value[test] == 3).any()
    assert (probability[plan.train(s), :, 3] > 0).all()
    given = None if priors is None else np.array(priors[:3]) / 0.9
    for j, shrinkage in enumerate(VALUES):
        refit = LinearDiscriminantAnalysis(shrinkage=shrinkage, priors=given).fit(
            X[train], y[train]
        )
        got = probability[test, j, :3]
        assert_allclose(got, refit.predict_proba(X[test]), rtol=SUMMED, atol=LAST_BITS)


@pytest.mark.parametrize("cv", [KFold(4), LeaveOneOut()], ids=str)
def test_a_class_without_any_row_has_probability_0(cv):
    X, y = sample(40)
    plan = Plan.of(cv, X, y)
    without = held_out(X, y, plan, VALUES, output="probability")
    among_more = held_out(X, 2 * y, plan, VALUES, output="probability", n_classes=6)
    assert_array_equal(among_more[..., [0, 2, 4]], without)
    assert_array_equal(among_more[..., [1, 3, 5]], 0)


@pytest.mark.parametrize("cv", [ShuffleSplit(3, random_state=0), TimeSeriesSplit(3)], ids=str)
def test_training_parts_that_are_no_complements_are_refused(cv):
    X, y = sample()
    assert "complements" in refuse(X, y, Plan.of(cv, X, y))


@pytest.mark.parametrize("cv", [KFold(4), LeaveOneOut()], ids=str)
def test_an_ill_conditioned_covariance_is_refused_with_its_condition_number(cv):
    X, y = sample()
    plan = Plan.of(cv, X, y)
    near = np.c_[X, X[:, 0] + 1e-6 * np.random.default_rng(1).normal(size=60)]
    reason = refuse(near, y, plan)
    number = float(reason.split("condition number ")[1].split(",")[0])
    assert 1e11 < number < 1e14  # of the covariance: 1e12 up to the other columns' correlations
    assert "inf" in refuse(np.c_[X, X[:, 0] * 0], y, plan)
    # Shrinkage makes it well conditioned again, unless it is nearly none.
    held_out(near, y, plan, [0.01], output="value")
    assert "condition number" in refuse(near, y, plan, values=[0.5, 1e-11])


@pytest.mark.parametrize("cv", [KFold(4), LeaveOneOut()], ids=str)
def test_it_is_exact_up_to_the_limit(cv):
    X, y = sample()
    plan = Plan.of(cv, X, y)
    near = np.c_[X, X[:, 0] + 1e-3 * np.random.default_rng(1).normal(size=60)]
    got = held_out(near, y, plan, [0.0], output="probability")[0, :, 0]
    for s in range(plan.n_splits):
        test, train = plan.test(s), plan.train(s)
        refit = LinearDiscriminantAnalysis().fit(near[train], y[train])
        # Condition number 1e3 of the design, 1e6 of the covariance: ten digits remain.
        assert_allclose(got[test], refit.predict_proba(near[test]), rtol=1e-8, atol=1e-11)


def test_variation_that_only_one_fold_has_is_refused():
    X, y = sample()
    X[:, 1] *= 1e-6
    X[7, 1] = 1.0
    plan = Plan.of(KFold(4), X, y)
    assert "split 0" in refuse(X, y, plan)
    assert "row 7" in refuse(X, y, Plan.leave_one_out(X, y))


@pytest.mark.parametrize("cv", [KFold(4), LeaveOneOut()], ids=str)
def test_a_row_with_nearly_all_the_weight_of_its_class_is_refused(cv):
    X, y = sample()
    weight = np.ones(60)
    weight[3] = 1e7
    plan = Plan.of(cv, X, y, sample_weight=weight)
    assert "weight" in refuse(X, y, plan, VALUES, weight=weight)


@pytest.mark.parametrize("cv", [KFold(2), LeaveOneOut()], ids=str)
def test_training_on_one_class_is_left_to_the_fit_that_complains(cv):
    X, y = sample(40, n_classes=2)
    y = np.zeros(40, dtype=np.int64)
    y[3] = 1
    assert "one class" in refuse(X, y, Plan.of(cv, X, y))


def test_classes_of_prior_0_alone_cannot_be_told_apart():
    X, y = sample()
    y = np.sort(y)
    assert "prior" in refuse(X, y, Plan.of(KFold(3), X, y), priors=[1.0, 0.0, 0.0])


def unbiased_probabilities(X, y, at, n_classes):
    """The scatter within classes over n - K; a class without rows gets 0."""
    present = np.unique(y)
    mean = np.array([X[y == k].mean(axis=0) for k in present])
    away = X - mean[np.searchsorted(present, y)]
    S = away.T @ away / (len(y) - len(present))
    distance = np.einsum("ikj,ikj->ik", (at[:, None] - mean) @ np.linalg.inv(S), at[:, None] - mean)
    found = np.zeros((len(at), n_classes))
    found[:, present] = softmax(np.log(np.bincount(y)[present] / len(y)) - distance / 2, axis=1)
    return found


@pytest.mark.parametrize("rows_of_last_class", [1, 2, 20])
@pytest.mark.parametrize("cv", [LeaveOneOut(), KFold(5, shuffle=True, random_state=0)])
def test_an_unbiased_covariance_loses_a_row_for_each_class_that_is_there(cv, rows_of_last_class):
    X, y = sample()
    few = np.flatnonzero(y == 2)[:rows_of_last_class]
    kept = np.sort(np.concatenate([np.flatnonzero(y != 2), few]))
    X, y = X[kept], y[kept]
    fitted = LinearDiscriminantAnalysis(unbiased=True).fit(X, y).predict_proba(X)
    # Condition numbers below 1e2, double precision.
    assert_allclose(fitted, unbiased_probabilities(X, y, X, 3), rtol=1e-10, atol=1e-13)
    plan = Plan.of(cv, X, y)
    found = held_out(X, y, plan, [0.0], output="probability", unbiased=True)[0, :, 0]
    for train, test in cv.split(X):
        wanted = unbiased_probabilities(X[train], y[train], X[test], 3)
        assert_allclose(found[test], wanted, rtol=SUMMED, atol=SUMMED)


def test_too_few_rows_for_an_unbiased_covariance():
    X, y = np.arange(4.0)[:, None] ** 2, np.array([0, 1, 2, 2])
    with pytest.raises(DataError, match="rows of weight 3 for 3 classes"):
        LinearDiscriminantAnalysis(unbiased=True).fit(X[:3], y[:3])
    assert "too few" in refuse(X, y, Plan.of(LeaveOneOut(), X, y), unbiased=True)
