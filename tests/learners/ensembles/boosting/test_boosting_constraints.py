"""Monotone and interaction constraints of boosted trees."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit
from sklearn.base import clone

import boosting_twins as twins
from boosted_rows import sample
from empirisk import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from empirisk.learners.ensembles.boosting.constraints import interaction_groups
from empirisk.runtime.errors import ParameterError
from tolerances import SUMMED

rng = np.random.default_rng(0)
X = rng.uniform(-1, 1, size=(400, 3))
Y = np.sin(4 * X[:, 0]) + X[:, 0] - X[:, 1] ** 2 + 0.5 * X[:, 2] + 0.3 * rng.normal(size=400)
GRID = np.linspace(-1, 1, 101)
HOW = {"max_iter": 25, "min_samples_leaf": 5}


def along(model, j, method="predict"):
    """What a model says while feature j goes up and the others stay: (places, grid)."""
    rows = np.repeat(rng.uniform(-1, 1, size=(40, 3)), len(GRID), axis=0)
    rows[:, j] = np.tile(GRID, 40)
    return getattr(model, method)(rows).reshape(40, len(GRID))


@pytest.mark.parametrize(
    "loss", ["squared_error", "absolute_error", "quantile", "huber", "poisson", "gamma"]
)
def test_monotone_features_go_one_way(loss):
    y = np.exp(Y) if loss in ("poisson", "gamma") else Y
    learner = HistGradientBoostingRegressor(loss, quantile=0.7, monotonic_cst=[1, -1, 0], **HOW)
    model = clone(learner).fit(X, y)
    free = learner.set_params(monotonic_cst=None).fit(X, y)
    for j, sign in enumerate([1, -1]):
        steps = sign * np.diff(along(model, j), axis=1)
        assert steps.min() >= -1e-12 * np.abs(y).max()  # sums of 25 values, in another order
        assert (sign * np.diff(along(free, j), axis=1)).min() < -0.01


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("kind", ["numbers", "missing", "category"])
@pytest.mark.parametrize("loss", ["squared", "log"])
def test_monotone_trees_are_those_of_the_twin(seed, kind, loss):
    table, score = sample(seed=seed, missing=kind != "numbers", category=kind == "category")
    table = table.round(1)  # few values: the twin tries every split
    signs, categories = [1, 0, -1, 0], [1] if kind == "category" else []
    how = {"min_samples_leaf": 4, "max_leaf_nodes": 9}
    settings = {"max_iter": 2, "learning_rate": 0.5, "l2_regularization": 0.5, **how}
    if loss == "squared":
        y, start, learner = score, score.mean(), HistGradientBoostingRegressor
        slopes = {"gradient": lambda y, f: f - y, "curvature": lambda y, f: np.ones(len(y))}
    else:
        y, start, learner = (score > 1).astype(int), np.nan, HistGradientBoostingClassifier
        start = np.log(y.mean() / (1 - y.mean()))
        slopes = {
            "gradient": lambda y, f: expit(f) - y,
            "curvature": lambda y, f: expit(f) * expit(-f),
        }
    model = learner(monotonic_cst=signs, categorical_features=categories, **settings)
    model.fit(table, y)
    how |= {"rounds": 2, "learning_rate": 0.5, "l2": 0.5, "categories": categories, **slopes}
    staged, trees = twins.boost(table, y, start, monotone=signs, **how)
    found = model.staged_predict if loss == "squared" else model.staged_decision_function
    # Bounds come from gradients that are rounded to 2^-40 of the largest.
    np.testing.assert_allclose(list(found(table)), staged, rtol=1e-9, atol=1e-10)
    leaves = [leaf for tree in trees for leaf in tree.leaves()]
    assert any(leaf.value in leaf.bounds for leaf in leaves)  # bounds matter


@pytest.mark.parametrize("groups", [[[0, 1], [1, 2], [2, 3]], [[3], [0, 1, 2]], "pairwise"])
def test_trees_whose_features_meet_in_groups_are_those_of_the_twin(groups):
    table, _ = sample(missing=True)
    table = table.round(1)  # few values: the twin tries every split
    filled = np.nan_to_num(table)
    y = filled[:, 0] * filled[:, 1] / 6 + filled[:, 1] * filled[:, 2] / 3 + filled[:, 3] ** 2
    how = {"min_samples_leaf": 4, "max_leaf_nodes": 10}
    model = HistGradientBoostingRegressor(interaction_cst=groups, max_iter=2, **how).fit(table, y)
    how |= {"rounds": 2, "gradient": lambda y, f: f - y, "curvature": lambda y, f: np.ones(len(y))}
    sets = interaction_groups(groups, "abcd")
    staged, _ = twins.boost(table, y, y.mean(), groups=sets, **how)
    free, _ = twins.boost(table, y, y.mean(), **how)
    assert np.abs(staged[-1] - free[-1]).max() > 0.01  # groups matter
    # The same sums in another order.
    np.testing.assert_allclose(list(model.staged_predict(table)), staged, rtol=1e-10, atol=1e-12)


def test_the_probability_of_the_second_class_goes_one_way():
    model = HistGradientBoostingClassifier(monotonic_cst=[1, 0, 0], **HOW).fit(X, Y > 0)
    assert np.diff(along(model, 0, "decision_function"), axis=1).min() >= -1e-12


def test_names_say_which_features_are_monotone():
    frame = pd.DataFrame(X, columns=list("abc"))
    named = HistGradientBoostingRegressor(monotonic_cst={"b": -1}, **HOW).fit(frame, Y)
    listed = HistGradientBoostingRegressor(monotonic_cst=[0, -1, 0], **HOW).fit(X, Y)
    np.testing.assert_array_equal(named.predict(frame), listed.predict(X))


@pytest.mark.parametrize("place", [0, 4, 8])
@pytest.mark.parametrize("sign", [-1, 1])
def test_a_monotone_split_is_found_after_any_value(sign, place):
    x = np.repeat(np.arange(10.0), 20)
    y = sign * (x > place)
    model = HistGradientBoostingRegressor(max_iter=1, learning_rate=1.0, monotonic_cst=[sign])
    np.testing.assert_allclose(model.fit(x[:, None], y).predict(x[:, None]), y, rtol=0, atol=SUMMED)


def test_features_of_different_groups_never_meet():
    """Then f(x) is a sum of functions of the groups: mixed differences vanish."""
    target = X[:, 0] * X[:, 1] + X[:, 1] * X[:, 2]
    how = {**HOW, "max_leaf_nodes": 15}
    for groups, apart in [
        ([[0, 1], [2]], [(0, 2), (1, 2)]),
        ([[0, 1]], [(0, 2), (1, 2)]),
        ("no_interactions", [(0, 1), (0, 2), (1, 2)]),
    ]:
        model = HistGradientBoostingRegressor(interaction_cst=groups, **how).fit(X, target)
        for pair in apart:
            assert np.abs(mixed_differences(model, *pair)).max() < SUMMED
    free = HistGradientBoostingRegressor(**how).fit(X, target)
    assert np.abs(mixed_differences(free, 0, 2)).max() > 0.01
    pairs = HistGradientBoostingRegressor(interaction_cst="pairwise", **how).fit(X, target)
    assert np.abs(mixed_differences(pairs, 0, 1)).max() > 0.1


def test_the_order_of_the_groups_says_nothing():
    target = X[:, 0] * X[:, 1] + X[:, 2]
    one, other = (
        HistGradientBoostingRegressor(interaction_cst=groups, **HOW).fit(X, target).predict(X)
        for groups in ([[0, 1], [2]], [[2], [0, 1]])
    )
    np.testing.assert_array_equal(one, other)


def mixed_differences(model, i, j):
    """f(x) - f(x with x_i changed) - f(x with x_j changed) + f(x with both changed)."""
    corners = [rng.uniform(-1, 1, size=(200, 3))]
    other = rng.uniform(-1, 1, size=(200, 3))
    for changed in ([i], [j], [i, j]):
        corners.append(corners[0].copy())
        corners[-1][:, changed] = other[:, changed]
    f = [model.predict(rows) for rows in corners]
    return f[0] - f[1] - f[2] + f[3]


def test_groups_are_completed_by_what_they_do_not_name():
    assert interaction_groups([["a", 1]], "abcd") == [{0, 1}, {2, 3}]
    assert interaction_groups([[0, 1], [1, 2, 3]], "abcd") == [{0, 1}, {1, 2, 3}]
    assert len(interaction_groups("pairwise", "abcd")) == 6
    assert interaction_groups(None, "abcd") is None


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"monotonic_cst": [1, 0]}, "give 3 values -1, 0 or 1"),
        ({"monotonic_cst": [2, 0, 0]}, "give 3 values -1, 0 or 1"),
        ({"monotonic_cst": {"z": 1}}, "monotonic_cst names 'z'"),
        ({"interaction_cst": [[0, 7]]}, "feature 7; the columns are 0 to 2"),
        ({"interaction_cst": [["z"]]}, "feature 'z'"),
        ({"interaction_cst": "triples"}, "interaction_cst is 'triples'"),
        ({"interaction_cst": [0, 1]}, "list of lists"),
        ({"monotonic_cst": [0, 1, 0], "categorical_features": [1]}, "category without an order"),
    ],
)
def test_constraints_are_checked(settings, message):
    with pytest.raises(ParameterError, match=message):
        HistGradientBoostingRegressor(**settings).fit(X.round(1), Y)


def test_of_many_classes_none_goes_one_way():
    with pytest.raises(ParameterError, match="two classes; here are 3"):
        HistGradientBoostingClassifier(monotonic_cst=[1, 0, 0]).fit(X, np.digitize(Y, [-1, 1]))


@pytest.mark.parametrize("levels", [6, 30])
def test_a_constraint_on_a_feature_that_is_constant_changes_no_split_by_levels(levels):
    draw = np.random.default_rng(levels)
    table = np.column_stack(
        [draw.integers(levels, size=900), X[:, 0].repeat(3)[:900], np.ones(900)]
    )
    y = np.sin(table[:, 0]) * table[:, 1] + 0.3 * draw.normal(size=900)
    learner = HistGradientBoostingRegressor(categorical_features=[0], **HOW)
    free = clone(learner).fit(table, y).predict(table)
    bound = learner.set_params(monotonic_cst=[0, 0, 1]).fit(table, y).predict(table)
    np.testing.assert_allclose(bound, free, rtol=1e-10, atol=1e-12)  # sums in another order
