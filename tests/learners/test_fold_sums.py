"""All splits at once from sums over parts of the rows, against fitting each split."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import multivariate_normal
from sklearn.linear_model import Ridge as Peer

from empirisk import LinearDiscriminantAnalysis, Plan, Ridge
from empirisk.learners.generative import held_out as discriminants
from empirisk.learners.linear import held_out as linear
from empirisk.risk.intervals.refits import paired
from tolerances import LAST_BITS, SOLVED, SUMMED

rng = np.random.default_rng(0)
n, p = 64, 4
X = rng.normal(size=(n, p)) @ (np.eye(p) + 0.3 * rng.normal(size=(p, p))) + [0, 5, -50, 500]
w = rng.uniform(0.5, 2.0, size=n)


def plan_of(kind, y):
    plan = Plan.of(5, X, y, sample_weight=w, random_state=0)
    return plan if kind == "folds" else paired(plan)[0]


def held_out(learner, X, y, plan, value, *, n_classes=0, output="value", weight=w):
    """(repeats, rows, ...), every row once in each repeat."""
    blocks = list(
        learner.out_of_fold(
            X, y, weight, plan, [value], n_classes=n_classes, output=output, rows_per_block=50
        ).blocks
    )
    found = np.full((plan.repeats, len(y), *blocks[0][2].shape[2:]), np.nan)
    for repeat, rows, prediction in blocks:
        assert np.isnan(found[repeat, rows]).all()
        found[repeat, rows] = prediction[:, 0]
    return found


def refuse(*_):
    raise AssertionError("each split was fitted by itself")


@pytest.mark.parametrize("kind", ["folds", "pairs"])
@pytest.mark.parametrize("outputs", [(), (2,)], ids=str)
@pytest.mark.parametrize("intercept", [True, False])
def test_ridge_at_one_penalty_equals_fitting_each_split(kind, outputs, intercept, monkeypatch):
    monkeypatch.setattr(linear, "_folds", refuse)
    y = rng.normal(size=(n, *outputs)) + 1e3
    plan = plan_of(kind, y)
    columns = X / [1, 1, 10, 100]
    found = held_out(Ridge(fit_intercept=intercept), columns, y, plan, 0.7)
    for s in range(plan.n_splits):
        train, test = plan.train(s), plan.test(s)
        peer = Peer(0.7, fit_intercept=intercept, solver="svd")
        peer.fit(columns[train], y[train], w[train])
        # Condition numbers up to 1e2, of normal equations 1e4.
        assert_allclose(found[plan.repeat(s), test], peer.predict(columns[test]), rtol=1e-10)


def posterior(X, y, weight, at, shrinkage, priors):
    """Bayes' rule with SciPy's normal densities."""
    K = int(y.max()) + 1
    means = [np.average(X[y == k], axis=0, weights=weight[y == k]) for k in range(K)]
    rest = X - np.array(means)[y]
    S = (rest * weight[:, None]).T @ rest / weight.sum()
    S = (1 - shrinkage) * S + shrinkage * np.trace(S) / p * np.eye(p)
    share = np.bincount(y, weight) / weight.sum() if priors is None else priors
    density = [multivariate_normal(mean, S).pdf(at) for mean in means]
    joint = share * np.column_stack(density)
    return joint / joint.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("kind", ["folds", "pairs"])
@pytest.mark.parametrize("shrinkage", [0.0, 0.3, 1.0])
@pytest.mark.parametrize(
    ("K", "priors"), [(2, None), (2, [0.3, 0.7]), (3, None), (3, [0.2, 0.8, 0.0])]
)
def test_lda_at_one_shrinkage_equals_fitting_each_split(kind, shrinkage, K, priors, monkeypatch):
    monkeypatch.setattr(discriminants, "_blocks", refuse)
    y = np.arange(n) % K
    apart = X + rng.normal(size=(K, p))[y]
    plan = plan_of(kind, y)
    learner = LinearDiscriminantAnalysis(priors=priors)
    found = held_out(learner, apart, y, plan, shrinkage, n_classes=K, output="probability")
    code = held_out(learner, apart, y, plan, shrinkage, n_classes=K)
    for s in range(plan.n_splits):
        train, test = plan.train(s), plan.test(s)
        expected = posterior(apart[train], y[train], w[train], apart[test], shrinkage, priors)
        # Offsets of 500 cost SciPy's densities three digits.
        assert_allclose(found[plan.repeat(s), test], expected, rtol=1e-9, atol=1e-14)
        assert_array_equal(code[plan.repeat(s), test], expected.argmax(axis=1))


def test_a_row_with_nearly_all_the_weight_of_its_class_can_be_left_out():
    y = np.arange(n) % 3
    heavy = w.copy()
    heavy[3] = 1e12
    plan = Plan.of(4, X, y, sample_weight=heavy)
    learner = LinearDiscriminantAnalysis()
    found = held_out(learner, X, y, plan, 0.0, n_classes=3, output="probability", weight=heavy)
    train, test = plan.train(0), plan.test(0)
    assert 3 in test
    expected = posterior(X[train], y[train], heavy[train], X[test], 0.0, None)
    assert_allclose(found[0, test], expected, rtol=SUMMED)


@pytest.mark.parametrize("shrinkage", [0.0, 0.3])
def test_a_class_that_a_training_part_lacks_is_never_predicted_there(shrinkage):
    y = np.arange(n) % 2
    y[:3] = 2
    tests = np.split(np.arange(n), [3, 20, 40])
    plan = Plan.of([(np.setdiff1d(np.arange(n), test), test) for test in tests], X, y)
    plan = paired(plan)[0]
    found = held_out(
        LinearDiscriminantAnalysis(), X, y, plan, shrinkage, n_classes=3, output="probability"
    )
    for s in range(plan.n_splits):
        test, train = plan.test(s), plan.train(s)
        some = found[plan.repeat(s), test]
        if 0 in test:
            assert (some[:, 2] == 0).all()
            some = some[:, :2]
        expected = posterior(X[train], y[train], w[train], X[test], shrinkage, None)
        assert_allclose(some, expected, rtol=SOLVED, atol=LAST_BITS)
