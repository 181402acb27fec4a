"""Statements of the notes on trees (A2.1, B9, D4)."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from empirisk import DecisionTreeClassifier, DecisionTreeRegressor, LinearRegression
from tree_twins import class_impurity, split_cost


def gain(criterion, left, right):
    """Of a split into sides with these numbers of rows of two classes."""
    y = np.repeat([0, 1, 0, 1], [*left, *right])
    mask = np.arange(len(y)) < sum(left)
    impurity = class_impurity(criterion, 2)
    w = np.ones(len(y))
    twin = impurity(y, w) - split_cost(y, w, mask, impurity) / len(y)
    tree = DecisionTreeClassifier(criterion=criterion).fit((~mask)[:, None].astype(float), y).tree_
    assert tree.gain[0] * tree.impurity[0] == pytest.approx(twin, abs=1e-15)
    return twin


def test_the_worked_splits_of_the_notes():
    assert gain("misclassification", (3, 1), (2, 4)) == pytest.approx(0.2)
    assert gain("gini", (3, 1), (2, 4)) == pytest.approx(0.08333, abs=5e-6)
    assert gain("entropy", (3, 1), (2, 4)) == pytest.approx(0.08630, abs=5e-6)
    assert gain("gini", (5, 2), (3, 0)) == pytest.approx(0.03429, abs=5e-6)
    assert gain("entropy", (5, 2), (3, 0)) == pytest.approx(0.08161, abs=5e-6)
    # The share of mistakes does not see a split after which both sides have one majority.
    assert gain("misclassification", (5, 2), (3, 0)) == pytest.approx(0.0, abs=1e-15)


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_no_split_makes_gini_or_entropy_worse(criterion):
    rng = np.random.default_rng(0)
    impurity = class_impurity(criterion, 3)
    for _ in range(300):
        y, w = rng.integers(0, 3, size=12), rng.uniform(size=12)
        left = np.arange(12) < rng.integers(1, 12)
        assert w.sum() * impurity(y, w) - split_cost(y, w, left, impurity) >= -1e-12
    X = rng.normal(size=(200, 3))
    tree = DecisionTreeClassifier(criterion=criterion).fit(X, rng.integers(0, 3, size=200)).tree_
    assert (tree.gain >= 0).all()


def test_a_tree_is_least_squares_on_the_indicators_of_its_leaves():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(120, 3))
    y = X[:, 0] + rng.normal(size=120)
    model = DecisionTreeRegressor(max_leaf_nodes=9).fit(X, y)
    indicators = (model.apply(X)[:, None] == np.unique(model.apply(X))).astype(float)
    line = LinearRegression(fit_intercept=False).fit(indicators, y)
    assert_allclose(line.predict(indicators), model.predict(X), rtol=1e-12)
    leaf = model.tree_.is_leaf
    rss = (model.tree_.impurity * model.tree_.weighted_n_node_samples)[leaf].sum()
    assert rss == pytest.approx(((y - model.predict(X)) ** 2).sum())


def test_the_majority_of_a_leaf_makes_the_fewest_mistakes_there():
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(150, 2)), rng.integers(0, 3, size=150)
    model = DecisionTreeClassifier(max_depth=3).fit(X, y)
    leaves, predicted = model.apply(X), model.predict(X)
    for leaf in np.unique(leaves):
        here = leaves == leaf
        mistakes = [(y[here] != k).sum() for k in range(3)]
        assert (y[here] != predicted[here]).sum() == min(mistakes)


def test_greedy_growth_is_not_optimal():
    # XOR of two features, and a third that seems to help: greedy growth splits it first, and two
    # levels then do not suffice.
    cells = np.array([[a, b, c] for a in (0, 1) for b in (0, 1) for c in (0, 1)], float)
    X = np.vstack([cells, [[0, 0, 1], [1, 1, 1]]])
    y = X[:, 0].astype(int) ^ X[:, 1].astype(int)
    greedy = DecisionTreeClassifier(max_depth=2).fit(X, y)
    assert greedy.tree_.feature[0] == 2
    assert greedy.score(X, y) < 1.0
    assert DecisionTreeClassifier(max_depth=2).fit(X[:, :2], y).score(X[:, :2], y) == 1.0


def test_only_the_two_new_regions_need_a_search():
    # A tree with J + 1 leaves is the tree with J leaves and one more split: what was found for the
    # other regions still holds.
    rng = np.random.default_rng(3)
    X = rng.normal(size=(200, 3))
    y = X[:, 0] * X[:, 1] + rng.normal(size=200)
    before = None
    for J in range(2, 12):
        model = DecisionTreeRegressor(max_leaf_nodes=J).fit(X, y)
        leaves = [frozenset(np.flatnonzero(model.apply(X) == leaf)) for leaf in set(model.apply(X))]
        if before is not None:
            assert len(set(before) - set(leaves)) == 1
            assert len(set(leaves) - set(before)) == 2
        before = leaves


def test_regions_are_a_partition():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(300, 2))
    model = DecisionTreeRegressor(max_depth=4).fit(X, X[:, 0])
    passed = model.decision_path(X).toarray()
    leaf = model.tree_.is_leaf
    assert_array_equal(passed[:, leaf].sum(axis=1), 1)
    assert_array_equal(passed[:, leaf].sum(axis=0), model.tree_.n_node_samples[leaf])
