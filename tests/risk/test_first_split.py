import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_diabetes, load_iris
from sklearn.ensemble import BaggingClassifier, RandomForestRegressor
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier as TheirClassifier
from sklearn.tree import DecisionTreeRegressor as TheirRegressor

from empirisk import DecisionTreeClassifier, DecisionTreeRegressor
from empirisk.data.table import Table
from empirisk.risk import first_split
from empirisk.runtime.errors import ParameterError
from tolerances import SUMMED


def test_our_trees_and_those_of_scikit_learn_split_alike():
    X, y = load_diabetes(return_X_y=True)
    ours, theirs = (
        first_split(tree(max_depth=1, random_state=0), X, y, n_resamples=40, random_state=0)
        for tree in (DecisionTreeRegressor, TheirRegressor)
    )
    assert ours.features == theirs.features
    assert_array_equal(ours.shares, theirs.shares)
    for name, cuts in ours.thresholds.items():
        assert_allclose(cuts, theirs.thresholds[name], rtol=1e-6)  # theirs are of float32


def test_shares_thresholds_and_errors_are_those_of_the_trees_of_an_ensemble():
    X, y = load_iris(return_X_y=True, as_frame=True)
    bag = BaggingClassifier(n_estimators=40, max_features=2, random_state=0).fit(X.to_numpy(), y)
    found = first_split(bag, X, y)
    roots = [
        (X.columns[columns[tree.tree_.feature[0]]], tree.tree_.threshold[0])
        for tree, columns in zip(bag.estimators_, bag.estimators_features_, strict=True)
    ]
    assert found.n_trees == 40
    assert found.on_all is None
    assert_allclose(found.shares.sum(), 1, rtol=SUMMED)
    assert (np.diff(found.shares) <= 0).all()
    for name, share, error in zip(found.features, found.shares, found.standard_errors, strict=True):
        cuts = [at for feature, at in roots if feature == name]
        assert share == len(cuts) / 40
        assert_allclose(error, np.sqrt(share * (1 - share) / 40), rtol=SUMMED)
        assert_array_equal(found.thresholds[name], np.sort(cuts))
        assert_allclose(found.spread[name], np.quantile(cuts, [0.05, 0.5, 0.95]), rtol=SUMMED)


def test_a_clear_split_is_stable_and_a_tie_is_not():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(200, 3))
    clear = first_split(TheirClassifier(max_depth=1), X, X[:, 1] > 0.5, n_resamples=50)
    assert clear.features == ["x1"]
    assert clear.shares == [1.0]
    assert clear.standard_errors == [0.0]
    assert clear.spread["x1"][2] - clear.spread["x1"][0] < 0.05
    mirrored = np.concatenate([X, X[:, [1, 0, 2]]])
    y = mirrored[:, 0] + mirrored[:, 1]  # both features tell as much of it
    tie = first_split(TheirRegressor(max_depth=1), mirrored, y, n_resamples=100, random_state=0)
    assert set(tie.features) == {"x0", "x1"}
    assert tie.shares[0] < 0.75  # half of them: beyond with probability 1e-6
    assert tie.spread["x0"][2] - tie.spread["x0"][0] > 0.05


def test_categories_have_no_threshold_and_leaves_no_split():
    rng = np.random.default_rng(1)
    colour = rng.choice(["red", "green", "blue"], size=100)
    table = Table.of({"colour": colour, "size": rng.normal(size=100)})
    found = first_split(DecisionTreeClassifier(max_depth=1), table, colour == "red", n_resamples=8)
    assert found.features == ["colour"]
    assert found.spread == {}
    assert found.on_all_threshold is None
    assert "100 ± 0 % split first on colour; the tree of all rows has colour, and" in str(found)
    with pytest.raises(ParameterError, match="on which no tree splits first at a threshold"):
        found.plot_thresholds()
    none = first_split(TheirRegressor(), np.zeros((9, 2)), np.arange(9.0), n_resamples=5)
    assert none.features == ["no split"]
    assert "do not split" in none.sentence


def test_groups_are_drawn_whole_and_weights_reach_the_tree():
    X = np.repeat([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]], 10, axis=0)
    y = np.repeat([0.0, 1.0, 2.0], 10)
    found = first_split(
        TheirRegressor(max_depth=1), X, y, groups=np.repeat([0, 1, 2], 10), n_resamples=100,
        random_state=0,
    )  # fmt: skip
    assert "no split" in found.features  # one group three times: 3 of 27 resamples
    # More than 26 of 100 have probability 9e-6; the seed is fixed.
    assert abs(found.shares[found.features.index("no split")] - 1 / 9) < 0.15
    heavy = np.r_[np.full(20, 1.0), np.full(10, 1e-9)]
    weighted = first_split(TheirRegressor(max_depth=1), X, y, sample_weight=heavy, n_resamples=20)
    assert weighted.features == ["x0"]


def test_pipelines_name_their_own_columns():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    tree = make_pipeline(StandardScaler(), TheirRegressor(max_depth=1))
    found = first_split(tree, X, y, n_resamples=10, random_state=0)
    assert set(found.features) <= {"bmi", "s5"}
    assert abs(found.on_all_threshold) < 0.5  # of a column with deviation 1


def test_words_and_pictures():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    forest = RandomForestRegressor(30, max_features=3, random_state=0).fit(X, y)
    found = first_split(forest, X, y)
    lines = str(found).splitlines()
    assert lines[0].startswith("Of 30 trees of RandomForestRegressor, ")
    assert len(lines) == 1 + len(found.features)
    ax = found.plot()
    assert [label.get_text() for label in ax.get_yticklabels()] == found.features
    assert found.plot_thresholds("bmi").get_xlabel() == "bmi"


def test_what_is_no_tree_is_refused():
    X, y = load_diabetes(return_X_y=True)
    with pytest.raises(ParameterError, match="LinearRegression has no tree_"):
        first_split(LinearRegression(), X, y)
    with pytest.raises(ParameterError, match="n_resamples is 0"):
        first_split(TheirRegressor(), X, y, n_resamples=0)
