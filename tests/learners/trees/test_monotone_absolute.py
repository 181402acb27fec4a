"""Monotone constraints on medians: trees by absolute errors."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from empirisk import DecisionTreeRegressor, Tuned
from tolerances import SUMMED
from tree_twins import left_sides

GRID = np.linspace(-3, 3, 50)
SETTINGS = [
    {},
    {"min_samples_leaf": 8},
    {"max_leaf_nodes": 10},
    {"max_depth": 3},
    {"ccp_alpha": 0.01},
    {"splitter": "random", "random_state": 0},
    {"max_features": 2, "random_state": 0},
    {"early_stopping": True, "random_state": 0},
    {"categorical_features": [2]},
]
WEIGHTS = {
    "no weights": lambda rng, n: None,
    "whole weights": lambda rng, n: rng.integers(0, 4, size=n),
    "weights": lambda rng, n: rng.uniform(0.5, 2, size=n),
}


def sample(seed, n=150, missing=0.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    X[:, 2] = rng.integers(0, 4, size=n)
    y = X[:, 0] - X[:, 1] + 2 * np.sin(4 * X[:, 0]) + 0.7 * X[:, 2] + 0.5 * rng.normal(size=n)
    X[rng.random(X.shape) < missing] = np.nan
    return X, y.round(1) if seed % 2 else y, rng


def breaks(model, X, signs):
    """How often a prediction goes the wrong way along a feature, all others as they are."""
    wrong = 0
    for j, sign in enumerate(signs):
        lines = np.repeat(X[:40], len(GRID), axis=0)
        lines[:, j] = np.tile(GRID, 40)
        steps = np.diff(model.predict(lines).reshape(40, -1), axis=1)
        wrong += int((sign * steps < 0).sum())
    return wrong


@pytest.mark.parametrize("how", SETTINGS, ids=str)
@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("missing", [0.0, 0.15])
def test_predictions_are_monotone_in_every_setting(how, weights, missing):
    free = 0
    for seed in range(4):
        X, y, rng = sample(seed, missing=missing)
        w = WEIGHTS[weights](rng, len(X))
        learner = DecisionTreeRegressor(criterion="absolute_error", **how)
        free += breaks(learner.fit(X, y, w), X, [1, -1, 0])
        model = learner.set_params(monotonic_cst=[1, -1, 0]).fit(X, y, w)
        assert breaks(model, X, [1, -1, 0]) == 0
        assert model.get_n_leaves() > 1
    assert free > 0 or "early_stopping" in how  # which may leave a stump


def median(y, w):
    """Half way between the two middle values where just half of the weight lies below."""
    order = np.argsort(y, kind="stable")
    below = np.cumsum(w[order])
    at = int(np.argmax(below >= 0.5 * below[-1]))
    other = min(at + 1, len(y) - 1) if below[at] == 0.5 * below[-1] else at
    return (y[order[at]] + y[order[other]]) / 2


def loss(y, w):
    return (w * abs(y - median(y, w))).sum()


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("sign", [1, -1])
def test_the_root_has_the_best_split_that_keeps_the_order(seed, sign):
    X, y, rng = sample(seed, n=40, missing=0.1 * (seed % 3))
    w = WEIGHTS["whole weights"](rng, 40) + 1.0
    signs = [sign, 0, -sign]
    model = DecisionTreeRegressor(
        criterion="absolute_error", max_depth=1, monotonic_cst=signs, min_weight_fraction_leaf=0.1
    ).fit(X, y, w)
    best, free = np.inf, np.inf
    for j in range(3):
        for left in left_sides(X[:, j], False):
            right = ~left
            if min(w[left].sum(), w[right].sum()) < 0.1 * w.sum():
                continue
            both = loss(y[left], w[left]) + loss(y[right], w[right])
            free = min(free, both)
            if signs[j] * (median(y[left], w[left]) - median(y[right], w[right])) <= 0:
                best = min(best, both)
    tree = model.tree_
    found = (tree.impurity * tree.weighted_n_node_samples)[1:].sum()
    assert_allclose(found, best, rtol=SUMMED)
    assert best >= free
    leaves = model.apply(X)
    for leaf in np.unique(leaves):
        rows = leaves == leaf
        assert tree.value[leaf, 0, 0] == median(y[rows], w[rows])


def test_values_stay_between_those_of_the_sides_above():
    X, y, _ = sample(3)
    free = DecisionTreeRegressor(criterion="absolute_error", max_depth=4).fit(X, y)
    model = DecisionTreeRegressor(
        criterion="absolute_error", max_depth=4, monotonic_cst=[1, 0, 0]
    ).fit(X, y)
    tree = model.tree_
    for node in np.flatnonzero(~tree.is_leaf & (tree.feature == 0)):
        right, end = tree.children_right[node], tree.relatives()[2]
        below = np.arange(tree.node_count)
        left = tree.value[(below > node) & (below < right) & tree.is_leaf, 0, 0]
        others = tree.value[(below >= right) & (below < end[node]) & tree.is_leaf, 0, 0]
        assert left.max() <= others.min()
    assert abs(free.predict(X) - y).mean() < abs(model.predict(X) - y).mean()


def test_all_prunings_keep_the_order():
    X, y, _ = sample(4)
    learner = DecisionTreeRegressor(criterion="absolute_error", monotonic_cst=[1, -1, 0])
    assert breaks(Tuned(learner, cv=4, loss="absolute").fit(X, y), X, [1, -1, 0]) == 0
