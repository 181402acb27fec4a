"""Shapley values beside their definition, and the laws that make them what they are."""

from copy import copy
from dataclasses import replace

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array

from empirisk import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    LinearRegression,
    LinearTreeRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    Tuned,
    load,
    save,
    shap_values,
)
from empirisk.charts.shapley import swarm_offsets
from empirisk.compiled.trees import shapley as kernel
from empirisk.data.table import Table
from empirisk.data.table_door import check_places
from empirisk.learners.trees.tree_sums import gauss_rules
from empirisk.runtime.errors import ParameterError
from shapley_twin import shapley
from tolerances import LAST_BITS, SOLVED, SUMMED

mpl.use("agg")
EXACT = {"rtol": 1e-11, "atol": 1e-12}  # sums of some hundred terms of size 1, in double precision

rng = np.random.default_rng(0)
X = rng.normal(size=(150, 5))
Y = X[:, 0] * X[:, 1] + np.sin(2 * X[:, 2]) + 0.3 * rng.normal(size=150)
LABEL = np.digitize(Y, [-0.7, 0.7])
WEIGHT = rng.integers(1, 4, size=150).astype(float)


def mixed(n=160):
    """Numbers, a category of many levels, and missing values in both."""
    draw = np.random.default_rng(1)
    size = draw.normal(size=n)
    town = draw.choice(list("abcdefgh"), size=n).astype(object)
    kind = pd.Categorical(draw.choice(["x", "y", "z"], size=n))
    y = size * (town < "d") + (kind == "y") + 0.2 * draw.normal(size=n)
    size[draw.random(n) < 0.2] = np.nan
    town[draw.random(n) < 0.1] = None
    return pd.DataFrame({"size": size, "town": pd.Categorical(town), "kind": kind}), y


@pytest.mark.parametrize("depth", [1, 2, 4, None])
def test_a_regression_tree_has_the_values_of_the_definition(depth):
    tree = DecisionTreeRegressor(max_depth=depth, min_samples_leaf=3).fit(X, Y, WEIGHT)
    found = shap_values(tree, X[:6])
    expected, base = shapley(tree.tree_, X[:6])
    assert_allclose(found.values, expected[:, :, 0], **EXACT)
    assert_allclose(found.base_value, base[0], **EXACT)


@pytest.mark.parametrize("classes", [2, 3])
def test_a_classification_tree_has_the_values_of_the_definition_for_every_class(classes):
    y = np.minimum(LABEL, classes - 1)
    tree = DecisionTreeClassifier(max_leaf_nodes=12).fit(X, y, WEIGHT)
    found = shap_values(tree, X[:5])
    expected, base = shapley(tree.tree_, X[:5])
    assert_allclose(found.values, expected, **EXACT)
    assert_allclose(found.base_value, base, **EXACT)
    assert found.outputs == tuple(range(classes))


def test_several_outputs_are_explained_each():
    both = np.column_stack([Y, X[:, 3] > 0])
    tree = DecisionTreeRegressor(max_leaf_nodes=8).fit(X, both)
    found = shap_values(tree, X[:4])
    assert_allclose(found.values, shapley(tree.tree_, X[:4])[0], **EXACT)
    assert_allclose(found.predictions, tree.predict(X[:4]), **EXACT)


def test_categories_and_missing_values_go_their_way_in_the_tree():
    frame, y = mixed()
    tree = DecisionTreeRegressor(min_samples_leaf=4).fit(frame, y)
    assert len(tree.tree_.subsets) > 0
    new = frame.iloc[:12].copy()
    new.loc[3, "size"] = np.nan
    found = shap_values(tree, new)
    expected, _ = shapley(tree.tree_, check_places(tree, new))
    assert_allclose(found.values, expected[:, :, 0], **EXACT)
    assert found.feature_names == ("size", "town", "kind")


@pytest.mark.parametrize("missing", [False, True], ids=["complete", "missing"])
def test_a_value_at_a_threshold_goes_the_way_it_goes_in_predict(missing):
    holed = X.copy()
    if missing:  # and to the left, where the small values are
        holed[X < -0.8] = np.nan
    tree = DecisionTreeRegressor(min_samples_leaf=4).fit(holed, Y)
    inner = (tree.tree_.feature >= 0) & np.isfinite(tree.tree_.cut)
    rows = np.zeros((inner.sum(), 5))
    rows[np.arange(len(rows)), tree.tree_.feature[inner]] = tree.tree_.cut[inner]
    found = shap_values(tree, rows)
    assert_allclose(found.values, shapley(tree.tree_, rows)[0][:, :, 0], **EXACT)
    assert_allclose(found.predictions, tree.predict(rows), **EXACT)


@pytest.mark.parametrize("labels", [None, LABEL, np.minimum(LABEL, 1)])
def test_a_forest_has_the_mean_of_the_values_of_its_trees(labels):
    kind = RandomForestRegressor if labels is None else RandomForestClassifier
    forest = kind(7, min_samples_leaf=5, random_state=0).fit(X, Y if labels is None else labels)
    found = shap_values(forest, X[:9])
    each = [shap_values(tree, X[:9]) for tree in forest.estimators_]
    assert_allclose(found.values, np.mean([one.values for one in each], axis=0), **EXACT)
    assert_allclose(found.base_value, np.mean([one.base_value for one in each], axis=0), **EXACT)
    assert_allclose(shapley(forest.estimators_[2].tree_, X[:2])[0].reshape(2, 5, -1),
                    each[2].values[:2].reshape(2, 5, -1), **EXACT)  # fmt: skip


@pytest.mark.parametrize("n", [1, 2, 63, 150])
def test_base_and_values_add_up_to_the_prediction(n):
    forest = RandomForestRegressor(20, random_state=0).fit(X, Y)
    found = shap_values(forest, X[:n])
    assert_allclose(found.predictions, forest.predict(X[:n]), **EXACT)
    classifier = RandomForestClassifier(10, random_state=0).fit(X, LABEL)
    explained = shap_values(classifier, X[:n])
    assert explained.values.shape == (n, 5, 3)
    assert_allclose(explained.predictions, classifier.predict_proba(X[:n]), **EXACT)
    assert_allclose(explained.values.sum(axis=2), 0, rtol=0, atol=1e-12)  # probabilities sum to 1


def test_sums_of_trees_by_class_have_the_sums_of_their_values_and_the_constants():
    """As boosting stores them: round by round, class by class, and a value to start from."""
    forest = RandomForestRegressor(6, min_samples_leaf=5, random_state=0).fit(X, Y)
    start, class_of = np.array([0.5, -2.0, 7.0]), np.arange(6) % 3
    sums = forest.trees_.sums(scale=0.1, quantity="score", constant=start, column=class_of)
    values, base = sums.shapley_values(X[:8], n_jobs=1)
    each = [shap_values(tree, X[:8]) for tree in forest.estimators_]
    for k in range(3):
        own = [each[b] for b in range(6) if b % 3 == k]
        assert_allclose(values[:, :, k], 0.1 * sum(one.values for one in own), **EXACT)
        assert_allclose(base[k], start[k] + 0.1 * sum(one.base_value for one in own), **EXACT)


def test_a_large_level_of_y_costs_no_digits():
    tree = DecisionTreeRegressor(max_depth=5).fit(X, Y)
    far = DecisionTreeRegressor(max_depth=5).fit(X, Y + 2.0**30)
    assert_array_equal(tree.tree_.feature, far.tree_.feature)
    # y itself is rounded to 2^-23; the sums are not
    assert_allclose(
        shap_values(far, X).values, shap_values(tree, X).values, rtol=0, atol=2.0 ** (-20)
    )


def test_deep_paths_with_many_features_keep_all_digits():
    draw = np.random.default_rng(3)
    Z = draw.normal(size=(3000, 40))
    y = Z.sum(axis=1)
    tree = DecisionTreeRegressor(splitter="random", random_state=0).fit(Z, y)
    found = shap_values(tree, Z[:100])
    assert_allclose(found.predictions, tree.predict(Z[:100]), rtol=SOLVED, atol=SOLVED)
    assert np.isfinite(found.values).all()


def test_a_feature_that_no_split_uses_has_the_value_0():
    Z = np.column_stack([X, rng.normal(size=150)])
    tree = DecisionTreeRegressor(max_depth=2).fit(Z[:, :5], Y)
    unused = np.setdiff1d(np.arange(5), tree.tree_.feature)
    assert unused.size
    assert_array_equal(shap_values(tree, X).values[:, unused], 0.0)


def test_features_that_play_the_same_part_have_the_same_value():
    table = np.array([[a, b] for a in (0.0, 1.0) for b in (0.0, 1.0)])
    tree = DecisionTreeRegressor().fit(table, table.prod(axis=1))
    values = shap_values(tree, table).values
    assert_allclose(values[[0, 3], 0], values[[0, 3], 1], **EXACT)
    assert_allclose(values[1], values[2, ::-1], **EXACT)


def test_values_do_not_depend_on_the_units_of_a_feature():
    tree = DecisionTreeRegressor(max_leaf_nodes=15).fit(X, Y)
    values = shap_values(tree, X).values
    warped = copy(tree)
    warped.tree_ = replace(tree.tree_, cut=np.exp(tree.tree_.cut / 4))  # the same splits
    assert_array_equal(shap_values(warped, np.exp(X / 4)).values, values)
    for scale in (1e200, 1e-200):
        scaled = DecisionTreeRegressor(max_leaf_nodes=15).fit(scale * X, Y)
        assert_allclose(shap_values(scaled, scale * X).values, values, **EXACT)


def test_weights_are_copies():
    copies = np.repeat(np.arange(150), WEIGHT.astype(int))
    once = DecisionTreeRegressor(max_leaf_nodes=10).fit(X, Y, WEIGHT)
    often = DecisionTreeRegressor(max_leaf_nodes=10).fit(X[copies], Y[copies])
    assert_allclose(shap_values(once, X).values, shap_values(often, X).values, **EXACT)


def test_a_row_has_the_same_bits_whatever_stands_beside_it_and_for_every_n_jobs():
    Z = np.tile(X, (8, 1))
    forest = RandomForestRegressor(10, random_state=0).fit(X, Y)
    found = shap_values(forest, Z).values
    assert_array_equal(found, shap_values(forest, Z, n_jobs=2).values)
    assert_array_equal(found[:150], found[150:300])
    assert_array_equal(found[7], shap_values(forest, X[[7]]).values[0])


def test_a_tree_without_a_split_is_its_base_value():
    tree = DecisionTreeRegressor().fit(X, np.full(150, 3.0))
    found = shap_values(tree, X[:3])
    assert found.base_value == 3.0
    assert_array_equal(found.values, np.zeros((3, 5)))


def test_the_loops_are_the_same_when_python_runs_them():
    tree = DecisionTreeRegressor(max_leaf_nodes=6).fit(X, Y)
    sums = tree._tree_sums()
    base, value = sums.base()
    points, rates = gauss_rules(3)
    block = np.ascontiguousarray(X[:64].T)[None]
    total, slow = np.zeros((2, 1, 1, 5, 64))
    arrays = (sums.thresholds, sums.links, sums.subsets, sums.first_node, sums.first_leaf,
              sums.first_subset, value, sums.weight, sums.column, points, rates, block)  # fmt: skip
    kernel.add_shapley_values(*arrays, total)
    kernel.add_shapley_values.py_func(*arrays, slow)
    assert_allclose(slow, total, rtol=LAST_BITS, atol=LAST_BITS)
    assert_allclose(total[0, 0].sum(axis=0) + base, tree.predict(X[:64]), **EXACT)


@pytest.mark.parametrize("q", [1, 2, 7, 20])
def test_gauss_rules_integrate_polynomials_of_degree_2q_minus_1(q):
    points, weights = gauss_rules(q)
    for power in range(2 * q):
        assert_allclose(points[-1] ** power @ weights[-1], 1 / (power + 1), rtol=SUMMED)


def test_tuned_trees_and_loaded_ones_are_explained(tmp_path):
    tuned = Tuned(DecisionTreeRegressor(), cv=3, random_state=0).fit(X, Y)
    assert_allclose(shap_values(tuned, X).predictions, tuned.predict(X), **EXACT)
    forest = RandomForestClassifier(5, random_state=0).fit(X, LABEL)
    save(forest, tmp_path / "forest.emp")
    again = load(tmp_path / "forest.emp")
    assert_array_equal(shap_values(again, X).values, shap_values(forest, X).values)


@pytest.mark.parametrize("learner", [DecisionTreeRegressor(), RandomForestRegressor(2)])
def test_a_sparse_matrix_is_the_array_that_it_stands_for(learner):
    thinned = X * (np.abs(X) > 0.5)
    model = learner.set_params(random_state=0, max_depth=3).fit(csr_array(thinned), Y)
    found, wanted = (shap_values(model, form) for form in (csr_array(thinned), thinned))
    assert_array_equal(found.values, wanted.values)
    assert found.data.names == wanted.data.names


@pytest.mark.parametrize("learner", [LinearRegression(), LinearTreeRegressor()])
def test_what_is_no_sum_of_trees_is_refused(learner):
    with pytest.raises(ParameterError, match=f"{type(learner).__name__} is no sum of trees"):
        shap_values(learner.fit(X, Y), X)


def test_outputs_are_not_read_as_numbers_of_rows():
    both = DecisionTreeRegressor(max_leaf_nodes=3).fit(X, np.column_stack([Y, -Y]))
    said = str(shap_values(both, X[:5]))
    assert "prediction of output 0 in 5 rows" in said
    assert "prediction of output 1 in 5 rows" in said
    assert shap_values(both, X[:5]).of_output(1).quantity == "prediction of output 1"


def test_words_tables_and_pictures(tmp_path):
    frame, y = mixed()
    label = np.where(y > np.median(y), "high", "low")
    tree = DecisionTreeClassifier(max_leaf_nodes=8).fit(frame, label)
    found = shap_values(tree, frame)
    one = found.of_output("low")
    assert f"probability of low in {len(y)} rows" in str(one)
    assert one.order[0] == np.abs(one.values).mean(axis=0).argmax()
    assert found.to_table().shape == (6, 6)
    assert one.to_table()["mean_absolute"].numbers()[0] == pytest.approx(
        one.importance.max(), rel=SUMMED
    )
    for ax in (found.plot(), found.plot(kind="bars"), found.plot_row(3), one.plot_row(-1)):
        ax.figure.savefig(tmp_path / "picture.svg")
    ax = found.plot_row(3, output="low")
    assert ax.get_title().endswith(f"{one.predictions[3]:.4g} with all")
    assert "size = " in " ".join(tick.get_text() for tick in ax.get_yticklabels())
    with pytest.raises(ParameterError, match="no output 'medium'"):
        found.of_output("medium")
    with pytest.raises(ParameterError, match="there is no row 160"):
        found.plot_row(160)
    three = shap_values(DecisionTreeClassifier(max_depth=2).fit(X, LABEL), X)
    with pytest.raises(ParameterError, match="say which output"):
        three.plot()


def test_times_that_python_has_not_are_written_in_pictures_of_a_row():
    days = np.array(["20000-01-01", "20001-01-01", "20002-01-01", "20003-01-01"], "M8[s]")
    table = Table.of({"day": days})
    tree = DecisionTreeRegressor().fit(table, [1.0, 2.0, 3.0, 4.0])
    ax = shap_values(tree, table).plot_row(1)
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["day = 20001-01-01 00:00:00"]


def test_a_swarm_keeps_every_point_within_its_row():
    offsets = swarm_offsets(rng.normal(size=500), 4.0)
    assert np.abs(offsets).max() == pytest.approx(0.4, rel=SUMMED)
