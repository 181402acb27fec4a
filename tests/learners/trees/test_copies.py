"""A row of weight w counts as w copies of it, whatever the limits, class weights and costs."""

import numpy as np
import pytest
import sklearn.tree as peer
from numpy.testing import assert_allclose, assert_array_equal

from empirisk import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    LinearTreeClassifier,
    LinearTreeRegressor,
)
from tolerances import SOLVED, SUMMED

COSTS = [[0, 5, 1], [1, 0, 2], [3, 0.7, 0]]
LIMITS = [
    {"min_samples_leaf": 7},
    {"min_samples_split": 25},
    {"min_samples_leaf": 0.04, "min_samples_split": 0.11},
    {"min_weight_fraction_leaf": 0.05},
    {"min_samples_leaf": 3, "max_leaf_nodes": 9},
    {"min_samples_leaf": 5, "min_impurity_decrease": 0.01},
    {"min_samples_leaf": 4, "ccp_alpha": 0.004},
    {"min_samples_leaf": 9, "max_depth": 4},
]
DRAWN = [
    {"min_samples_leaf": 6, "max_features": 2, "random_state": 3},
    {"min_samples_leaf": 6, "splitter": "random", "random_state": 3},
]
FACTORS = [
    {"class_weight": "balanced"},
    {"class_weight": {0: 2, 1: 1, 2: 3}},
    {"class_weight": {0: 0.13, 1: 17.3, 2: 1.1}},
    {"cost_matrix": "costs"},
    {"cost_matrix": "costs", "class_weight": "balanced"},
    {"cost_matrix": "costs", "class_weight": "balanced", "cost_growth": "gini"},
    {"cost_matrix": "costs", "criterion": "entropy"},
    {"cost_matrix": "costs", "criterion": "misclassification", "class_weight": {0: 3}},
]


def sample(seed, n=160):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    X[:, 1], X[:, 2] = X[:, 1].round(1), rng.integers(0, 5, size=n)
    score = X[:, 0] + np.sin(3 * X[:, 1]) + 0.4 * X[:, 2] + 0.6 * rng.normal(size=n)
    X[rng.random(X.shape) < 0.08] = np.nan
    weight = rng.integers(0, 4, size=n)
    return X, score, weight, np.repeat(np.arange(n), weight)


def check_copies(learner, X, y, weight, copies):
    a = learner.fit(X, y, sample_weight=weight).tree_
    b = learner.fit(X[copies], y[copies]).tree_
    assert_array_equal(a.feature, b.feature)
    assert_array_equal(a.threshold, b.threshold)
    assert_array_equal(a.children_right, b.children_right)
    assert_array_equal(a.missing_go_to_left, b.missing_go_to_left)
    assert_allclose(a.weighted_n_node_samples, b.weighted_n_node_samples, rtol=SUMMED)
    assert_allclose(a.value, b.value, rtol=SOLVED, atol=SUMMED)
    return a, b


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("factors", FACTORS, ids=str)
@pytest.mark.parametrize("limits", [*LIMITS, *DRAWN], ids=str)
def test_in_classification_with_factors_of_classes(limits, factors, n_classes):
    X, score, weight, copies = sample(n_classes)
    y = np.digitize(score, [0.8] if n_classes == 2 else [0.2, 1.5])
    factors = dict(factors)
    if "cost_matrix" in factors:
        factors["cost_matrix"] = np.array(COSTS)[:n_classes, :n_classes]
    if isinstance(factors.get("class_weight"), dict):
        factors["class_weight"] = {k: v for k, v in factors["class_weight"].items() if k in y}
    learner = DecisionTreeClassifier(**limits, **factors, categorical_features=[2])
    _, b = check_copies(learner, X, y, weight, copies)
    assert b.n_leaves > 2 or limits.keys() & {"min_impurity_decrease", "ccp_alpha"}
    if isinstance(least := limits.get("min_samples_leaf"), int):
        assert b.n_node_samples.min() >= least


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error", "poisson"])
@pytest.mark.parametrize("limits", [*LIMITS, *DRAWN], ids=str)
def test_in_regression(limits, criterion):
    X, score, weight, copies = sample(4)
    learner = DecisionTreeRegressor(**limits, criterion=criterion, categorical_features=[2])
    check_copies(learner, X, np.exp(score / 2), weight, copies)


@pytest.mark.parametrize(
    ("n_classes", "factors"),
    [(0, {}), *((k, factors) for k in (2, 3) for factors in ({}, *FACTORS[:3]))],
    ids=str,
)
@pytest.mark.parametrize("limits", LIMITS, ids=str)
def test_in_linear_trees(limits, factors, n_classes):
    X, y, weight, copies = sample(5)
    learner = LinearTreeRegressor(**limits)
    if n_classes:
        y = np.digitize(y, [0.8] if n_classes == 2 else [0.2, 1.5])
        if isinstance(chosen := factors.get("class_weight"), dict):
            factors = {"class_weight": {k: v for k, v in chosen.items() if k in y}}
        learner = LinearTreeClassifier(**limits, **factors)
    _, b = check_copies(learner, X, y, weight, copies)
    if isinstance(least := limits.get("min_samples_leaf"), int):
        assert b.n_node_samples.min() >= least
    ours, theirs = (
        learner.fit(*data).models_.coefficients()
        for data in ((X, y, weight), (X[copies], y[copies]))
    )
    for one, other in zip(ours, theirs, strict=True):
        assert_allclose(one, other, rtol=1e-6, atol=1e-8)  # logistic models are iterated to 1e-8


@pytest.mark.parametrize("factors", [{}, {"class_weight": {0: 5}}], ids=str)
def test_weights_that_are_not_whole_count_rows_as_in_scikit_learn(factors):
    X, score, _, _ = sample(6)
    X = np.nan_to_num(X).astype(np.float32).astype(float)
    y, rng = (score > 0.8).astype(int), np.random.default_rng(0)
    weight = rng.uniform(0.5, 3, size=len(y))
    for limits in ({"min_samples_leaf": 9}, {"min_samples_split": 30, "max_depth": 5}):
        ours = DecisionTreeClassifier(**limits, **factors).fit(X, y, weight)
        theirs = peer.DecisionTreeClassifier(**limits, **factors, random_state=0).fit(X, y, weight)
        share = ours.predict_proba(X)[:, 1]
        assert_allclose(share, theirs.predict_proba(X)[:, 1], rtol=SUMMED)


def test_the_least_part_of_the_weight_has_the_factors_of_classes_as_in_scikit_learn():
    X, score, _, _ = sample(7)
    X, y = np.nan_to_num(X).astype(np.float32).astype(float), (score > 0.8).astype(int)
    for factor in (1, 40):
        how = {"class_weight": {0: factor, 1: 1}, "min_weight_fraction_leaf": 0.07}
        ours = DecisionTreeClassifier(**how).fit(X, y)
        theirs = peer.DecisionTreeClassifier(**how, random_state=0).fit(X, y)
        assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=SUMMED)
