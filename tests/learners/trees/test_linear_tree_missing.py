"""Linear trees and missing values: search, models and predictions put them at one place."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from empirisk import LinearTreeClassifier, LinearTreeRegressor, Tuned, load, save
from empirisk.learners.trees import linear_growth
from empirisk.learners.trees.linear_nodes import Workshop
from linear_tree_twins import assert_splits_are_the_best_of_all, in_standard_units, sides_error
from tolerances import SOLVED, SUMMED

SHAPES = {
    "hinge": lambda x: np.where(x < 7, 0, 10 * (x - 7)),
    "vee": lambda x: abs(x - 5),
    "step": lambda x: 5.0 * (x > 8),
    "zigzag": lambda x: np.where(x < 2, -x, x),
    "two lines": lambda x: np.where(x > 8, -3 * x, x),
}


def one_column(shape, n, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.uniform(0, 10, n)
    y = SHAPES[shape](x) + 0.3 * rng.normal(size=n)
    return np.where(rng.random(n) < 0.2, np.nan, x)[:, None], y


def with_gaps(seed, n=90, p=3, part=0.2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    X[:, 1:] += X[:, :1]
    y = np.where(X[:, 0] > 0.3, 2 * X[:, -1] + 1, -X[:, 0]) + 0.3 * rng.normal(size=n)
    X[rng.random(X.shape) < part] = np.nan
    return X, y + (seed % 2) * np.isnan(X[:, 0]), rng


@pytest.mark.parametrize("n", [80, 300])
@pytest.mark.parametrize("shape", SHAPES)
def test_one_column_is_split_where_refits_err_least(shape, n):
    X, y = one_column(shape, n)
    model = LinearTreeRegressor(max_bins=1000, max_depth=2, min_samples_leaf=15).fit(X, y)
    assert model.get_n_leaves() > 1
    assert_splits_are_the_best_of_all(model, X, y[:, None], np.ones(n))


@pytest.mark.parametrize("alpha", [0.0, 0.1, 100.0])
@pytest.mark.parametrize("part", [0.05, 0.3, 0.8])
@pytest.mark.parametrize("weighted", [False, True])
def test_several_columns_are_split_where_refits_err_least(alpha, part, weighted):
    X, y, rng = with_gaps(round(10 * part), part=part)
    w = rng.uniform(0.3, 2, size=90) if weighted else np.ones(90)
    model = LinearTreeRegressor(alpha=alpha, max_bins=100, max_depth=3, min_samples_leaf=4)
    model.fit(X, y, sample_weight=w)
    assert model.get_n_leaves() > 2
    assert_splits_are_the_best_of_all(model, X, y[:, None], w)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_classes_are_split_where_refits_err_least(n_classes):
    X, y, _ = with_gaps(3)
    codes = np.digitize(y, np.quantile(y, np.arange(1, n_classes) / n_classes))
    model = LinearTreeClassifier(max_bins=100, max_depth=3, min_samples_leaf=6).fit(X, codes)
    assert model.get_n_leaves() > 2
    assert_splits_are_the_best_of_all(model, X, np.eye(n_classes)[codes], np.ones(90))


def test_missing_values_go_where_they_lower_the_error_more():
    X, y = one_column("step", 1000)
    model = LinearTreeRegressor(max_depth=1, clip=None).fit(X, y)
    tree, Z, missing = model.tree_, in_standard_units(X, np.ones(1000)), np.isnan(X[:, 0])
    left, right = (
        sides_error(np.where(missing, side, X[:, 0] <= tree.threshold[0]), Z, y[:, None], y**0, 1.0)
        for side in (True, False)
    )
    assert (round(left, 1), round(right, 1)) == (1028.5, 2471.5)
    assert tree.missing_go_to_left[0]
    assert_allclose(tree.impurity[1:] @ tree.n_node_samples[1:], left, rtol=SUMMED)
    classes = LinearTreeClassifier(max_depth=1).fit(X, y > 2.5)
    assert classes.tree_.missing_go_to_left[0]


def test_a_node_is_split_where_any_split_lowers_the_error():
    X, y = one_column("zigzag", 200)
    tree = LinearTreeRegressor(max_depth=1).fit(X, y).tree_
    assert_allclose(tree.impurity[0] * 200, 611.3, rtol=0, atol=0.05)  # one digit
    assert_allclose(tree.impurity[1:] @ tree.n_node_samples[1:], 557.1, rtol=0, atol=0.05)


@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_the_search_finds_the_error_of_the_refits(alpha, monkeypatch):
    """So a best split that gains nothing when its sides are fitted means that no split gains."""
    found, taken = [], []

    def best_split(workshop, node):
        found.append(search(workshop, node))
        return found[-1]

    def split(growth, node, cut):
        taken.append(abs(node.error - cut.split["error"] - cut.gain) / node.error)
        return divide(growth, node, cut)

    search, divide = Workshop.best_split, linear_growth._Growth._split
    monkeypatch.setattr(Workshop, "best_split", best_split)
    monkeypatch.setattr(linear_growth._Growth, "_split", split)
    for seed in range(4):
        X, y, _ = with_gaps(seed, n=200, p=4)
        LinearTreeRegressor(alpha=alpha, min_samples_leaf=8).fit(X, y)
    assert len(taken) > 20
    assert len(taken) == sum(cut["feature"] >= 0 for cut in found)  # none was refused
    assert max(taken) < 1e-9  # columns of condition numbers below 1e3


@pytest.mark.parametrize("learner", [LinearTreeRegressor, LinearTreeClassifier])
def test_predictions_put_missing_values_at_the_mean_of_the_leaf(learner):
    X, y, _ = with_gaps(4, n=300)
    y = y if learner is LinearTreeRegressor else (y > 0).astype(int)
    model = learner(max_depth=2).fit(X, y)
    values = model.predict if learner is LinearTreeRegressor else model.predict_proba
    leaves, predicted = model.apply(X), values(X)
    for leaf in np.unique(leaves):
        own = np.flatnonzero(leaves == leaf)
        assert np.isnan(X[own]).any()
        z = in_standard_units(X, np.ones(300))[own]
        models = model.models_
        at = np.searchsorted(models.nodes, leaf)
        assert_allclose(models.centre[at], np.nanmean(z, axis=0), rtol=SUMMED, atol=SUMMED)
        filled = np.where(np.isnan(X[own]), np.nanmean(X[own], axis=0), X[own])
        same = model.apply(filled) == leaf  # the mean may lie beyond a threshold
        assert same.sum() > 10
        assert_allclose(values(filled)[same], predicted[own][same], rtol=SUMMED)


@pytest.mark.parametrize("learner", [LinearTreeRegressor, LinearTreeClassifier])
def test_whole_weights_are_copies(learner):
    X, y, rng = with_gaps(6, n=200)
    y = y if learner is LinearTreeRegressor else (y > 0).astype(int)
    w = rng.integers(0, 4, size=200)
    copies = np.repeat(np.arange(200), w)
    how = {"alpha": 0.1, "min_samples_leaf": 12, "max_bins": 16}
    a = learner(**how).fit(X, y, sample_weight=w)
    b = learner(**how).fit(X[copies], y[copies])
    for name in ("children_right", "feature", "threshold", "missing_go_to_left"):
        assert_array_equal(getattr(a.tree_, name), getattr(b.tree_, name))
    assert a.get_n_leaves() > 2
    # Sums of the same terms; iterations end when scores are right to about 1e-10.
    assert_allclose(a.models_.offset, b.models_.offset, rtol=1e-7, atol=1e-7)


def test_units_change_nothing():
    X, y, _ = with_gaps(7, n=200)
    model = LinearTreeRegressor(min_samples_leaf=10).fit(X, y)
    powers = 2.0 ** np.array([600, -600, 3])
    other = LinearTreeRegressor(min_samples_leaf=10).fit(X * powers, y * 2.0**-700)
    assert model.get_n_leaves() > 2
    assert_array_equal(other.predict(X * powers), model.predict(X) * 2.0**-700)
    moved = LinearTreeRegressor(min_samples_leaf=10).fit(X * [1e5, 3e-3, 7.0] - [1, 2, 3], y)
    assert_array_equal(moved.tree_.missing_go_to_left, model.tree_.missing_go_to_left)
    assert_allclose(moved.predict(X * [1e5, 3e-3, 7.0] - [1, 2, 3]), model.predict(X), rtol=SOLVED)


def test_a_column_without_any_value_changes_nothing():
    X, y, _ = with_gaps(8, n=200)
    empty = np.column_stack([X, np.full(200, np.nan)])
    a = LinearTreeRegressor(min_samples_leaf=10).fit(X, y)
    b = LinearTreeRegressor(min_samples_leaf=10).fit(empty, y)
    assert_array_equal(a.tree_.feature, b.tree_.feature)
    assert_allclose(b.predict(empty), a.predict(X), rtol=SUMMED)


@pytest.mark.parametrize("learner", [LinearTreeRegressor, LinearTreeClassifier])
def test_tuned_trees_and_files_of_mixed_tables(learner, tmp_path):
    X, y, rng = with_gaps(9, n=240)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    level = rng.choice(["u", "v", "w"], 240)
    y = y + 2 * (level == "v") * np.nan_to_num(X[:, 1])
    frame["level"] = np.where(rng.random(240) < 0.1, None, level)
    y = y if learner is LinearTreeRegressor else np.digitize(y, [-0.5, 1.0])
    fitted = [Tuned(learner(), cv=3, n_jobs=jobs, random_state=0).fit(frame, y) for jobs in (1, 2)]
    assert_array_equal(fitted[0].predict(frame), fitted[1].predict(frame))
    model = fitted[0].best_estimator_
    save(model, tmp_path / "model.empirisk")
    again = load(tmp_path / "model.empirisk")
    assert_array_equal(again.predict(frame), model.predict(frame))
    if learner is LinearTreeClassifier:
        assert_array_equal(again.predict_proba(frame), model.predict_proba(frame))


def test_levels_are_parted_where_refits_err_least():
    X, y, rng = with_gaps(10, n=120)
    level = rng.integers(0, 2, 120)
    y = np.where(level == 1, y, 3 * np.nan_to_num(X[:, 2]))
    frame = pd.DataFrame(X).assign(level=np.array(["u", "v"])[level]).rename(columns=str)
    tree = LinearTreeRegressor(max_depth=1).fit(frame, y).tree_
    Z = in_standard_units(X, np.ones(120))
    error = sides_error(level == 1, Z, y[:, None], np.ones(120), 1.0)
    assert tree.feature[0] == 3
    assert_allclose(tree.impurity[1:] @ tree.n_node_samples[1:], error, rtol=SUMMED)


def test_a_column_that_a_leaf_never_saw_says_nothing_there():
    rng = np.random.default_rng(20)
    X = rng.normal(size=(200, 2))
    y = np.where(X[:, 0] > 0, 10.0 + X[:, 1], 0.1 * X[:, 0])
    X[(X[:, 0] <= 0) | (rng.random(200) < 0.5), 1] = np.nan
    model = LinearTreeRegressor(max_depth=1).fit(X, y)
    new = np.array([[-1.0, np.nan], [-1.0, 5.0]])
    assert model.tree_.feature[0] == 0
    assert np.isfinite(model.predict(new)).all()
    assert_array_equal(*model.predict(new))
