"""Weights of rows and classes in a random forest, and the rows that its trees draw."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from empirisk import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from forest_rows import classes, counts_of, frame, regression
from tolerances import SUMMED


def test_rows_of_a_class_that_weighs_twice_are_two():
    X, y = classes(K=2)
    heavy = RandomForestClassifier(4, bootstrap=False, class_weight={"b": 2.0}, random_state=0)
    twice = RandomForestClassifier(4, bootstrap=False, random_state=0)
    twice.fit(X, y, sample_weight=np.where(y == "b", 2.0, 1.0))
    assert_allclose(heavy.fit(X, y).predict_proba(X), twice.predict_proba(X), rtol=SUMMED)


@pytest.mark.parametrize("class_weight", ["balanced", "balanced_subsample"])
def test_balanced_classes_weigh_the_same(class_weight):
    X, y = classes(K=3)
    y = np.where((y == "a") & (np.arange(len(y)) % 4 > 0), "b", y)
    forest = RandomForestClassifier(6, class_weight=class_weight, random_state=0).fit(X, y)
    shares = np.array([tree.tree_.value[0, 0] for tree in forest.estimators_])
    if class_weight == "balanced":  # before rows are drawn
        drawn = [counts_of(forest, b, len(y)) for b in range(6)]
        factor = {k: len(y) / 3 / (y == k).sum() for k in "abc"}
        twin = [[factor[k] * c[y == k].sum() for k in "abc"] for c in drawn]
        assert_allclose(shares, twin / np.sum(twin, axis=1, keepdims=True), rtol=SUMMED)
    else:
        assert_allclose(shares, 1 / 3, rtol=SUMMED)


def test_a_class_of_nearly_no_weight_is_balanced_to_finite_numbers():
    X, y = classes(K=3)
    weight = np.where(y == "a", 1e-200, 1e200)
    forest = RandomForestClassifier(2, class_weight="balanced", bootstrap=False, random_state=0)
    shares = forest.fit(X, y, sample_weight=weight).predict_proba(X)
    assert_allclose(shares.sum(axis=1), 1.0, rtol=SUMMED)


def test_a_tree_draws_as_many_rows_as_asked_for():
    X, y = frame()
    for asked, size in [(None, 300), (40, 40), (0.5, 150)]:
        forest = RandomForestRegressor(3, max_samples=asked, random_state=0).fit(X, y)
        assert [len(rows) for rows in forest.estimators_samples_] == [size] * 3
        root = [tree.tree_.weighted_n_node_samples[0] for tree in forest.estimators_]
        assert_array_equal(root, size)


def test_groups_are_drawn_as_a_whole():
    X, y = frame()
    group = np.repeat(np.arange(60), 5)
    forest = RandomForestRegressor(5, random_state=0).fit(X, y, groups=group)
    for rows in forest.estimators_samples_:
        counts = np.bincount(rows, minlength=300).reshape(60, 5)
        assert_array_equal(counts, counts[:, :1].repeat(5, axis=1))


def test_weights_are_copies_in_distribution():
    """Means over 200 forests of 5 trees; of six differences one beyond 5 standard errors has a
    chance of 4e-6."""
    X, y = regression(30)
    weight = np.random.default_rng(2).integers(0, 4, size=30)
    copies = np.repeat(np.arange(30), weight)
    found = [
        [
            RandomForestRegressor(5, random_state=s).fit(X, y, sample_weight=weight).predict(X[:6]),
            RandomForestRegressor(5, random_state=s + 999).fit(X[copies], y[copies]).predict(X[:6]),
        ]
        for s in range(200)
    ]
    difference = np.subtract(*np.moveaxis(found, 1, 0))
    error = difference.std(axis=0, ddof=1) / np.sqrt(200)
    assert (np.abs(difference.mean(axis=0)) < 5 * error).all()


def test_a_class_of_nearly_no_weight_has_nearly_no_entropy():
    """Its share of the weight is 0 in floating point, and 0 log 0 is 0."""
    X, y = classes(K=3)
    y = np.where((y == "a") & (np.arange(len(y)) % 5 > 0), "b", y)
    weight = np.where(y == "a", 5e-324, 1.0)
    forest = RandomForestClassifier(1, criterion="entropy", bootstrap=False, max_features=None)
    forest.fit(X, y, sample_weight=weight)
    assert np.isfinite(forest.feature_importances_).all()
    assert np.isfinite(forest.predict_proba(X)).all()
    assert_array_equal(forest.predict(X)[y != "a"], y[y != "a"])


def test_classes_of_groups_are_balanced_by_the_weights_that_their_rows_keep():
    X, y = classes(K=3)
    weight = np.where(y == "a", 0.25, 1.5)
    group = np.arange(len(y)) // 3
    forest = RandomForestClassifier(4, class_weight="balanced_subsample", random_state=0)
    forest.fit(X, y, sample_weight=weight, groups=group)
    roots = [tree.tree_.value[0, 0] for tree in forest.estimators_]
    assert_allclose(roots, 1 / 3, rtol=1e-12)  # sums in another order


@pytest.mark.parametrize(
    ("settings", "target"), [({"criterion": "poisson"}, -1.0), ({}, 1e300), ({}, -1e300)]
)
@pytest.mark.parametrize("bootstrap", [True, False])
def test_rows_of_weight_zero_may_have_any_target(settings, target, bootstrap):
    X, y = regression()
    y = np.abs(y)
    weight = np.where(np.arange(len(y)) % 5 == 0, 0.0, 1.0)
    forest = RandomForestRegressor(3, bootstrap=bootstrap, random_state=0, **settings)
    usual = forest.fit(X, y, sample_weight=weight).predict(X)
    strange = forest.fit(X, np.where(weight > 0, y, target), sample_weight=weight).predict(X)
    assert_array_equal(strange, usual)


LIMITS = [{"min_samples_leaf": 5}, {"min_samples_split": 0.2}, {"min_weight_fraction_leaf": 0.1}]


@pytest.mark.parametrize("limits", LIMITS, ids=str)
def test_a_tree_of_all_rows_is_the_single_tree_whose_weights_are_copies(limits):
    X, y = regression(120)
    weight = np.random.default_rng(2).integers(0, 4, size=120)
    copies = np.repeat(np.arange(120), weight)
    forest = RandomForestRegressor(1, bootstrap=False, **limits).fit(X, y, sample_weight=weight)
    single = DecisionTreeRegressor(**limits).fit(X, y, sample_weight=weight)
    assert_array_equal(forest.predict(X), single.predict(X))
    again = forest.fit(X[copies], y[copies])
    assert_allclose(again.predict(X), single.predict(X), rtol=SUMMED)


@pytest.mark.parametrize("limits", LIMITS, ids=str)
@pytest.mark.parametrize("K", [2, 3])
def test_a_tree_of_all_rows_has_factors_of_classes_as_the_single_tree(limits, K):
    X, y = classes(120, K=K)
    weight = np.random.default_rng(2).integers(0, 4, size=120)
    limits = {**limits, "class_weight": {"a": 3.0}}
    forest = RandomForestClassifier(1, bootstrap=False, max_features=None, **limits)
    single = DecisionTreeClassifier(**limits).fit(X, y, sample_weight=weight)
    forest.fit(X, y, sample_weight=weight)
    assert_allclose(forest.predict_proba(X), single.predict_proba(X), rtol=SUMMED)


def test_shares_of_the_rows_do_not_count_those_of_weight_zero():
    X, y = regression(100)
    weight = (np.arange(100) < 50).astype(float)
    forest = RandomForestRegressor(4, min_samples_leaf=0.1, random_state=0)
    leaves = [
        [tree.tree_.n_node_samples.min() for tree in model.estimators_]
        for model in (forest.fit(X, y, weight), clone(forest).fit(X[:50], y[:50]))
    ]
    assert 5 in leaves[0]
    assert min(*leaves[0], *leaves[1]) == 5
