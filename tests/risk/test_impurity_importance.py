"""What trees tell of themselves, its error over trees, and its bias towards many values."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.ensemble import (
    BaggingRegressor,
    ExtraTreesClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures

from empirisk import DecisionTreeRegressor
from empirisk.risk import importance
from empirisk.runtime.errors import DataError
from tolerances import SUMMED

rng = np.random.default_rng(0)
FRAME = pd.DataFrame(rng.normal(size=(200, 3)), columns=["a", "b", "c"])
Y = (2 * FRAME["a"] + FRAME["b"] + rng.normal(size=200)).to_numpy()


@pytest.mark.parametrize(
    "forest", [RandomForestRegressor(20, random_state=0), ExtraTreesClassifier(20, random_state=0)]
)
def test_a_forest_has_the_mean_of_its_trees_and_their_standard_error(forest):
    forest.fit(FRAME, Y if "Reg" in type(forest).__name__ else Y > 0)
    found = importance(forest, how="impurity")
    trees = np.array([tree.feature_importances_ for tree in forest.estimators_])
    assert found.names == ("a", "b", "c")
    assert_allclose(found.values, forest.feature_importances_, rtol=SUMMED)
    assert_allclose(found.standard_error, trees.std(axis=0, ddof=1) / np.sqrt(20), rtol=SUMMED)
    assert_array_equal(found.repeats, trees)
    assert (found.interval[:, 0] < found.values).all()
    assert (found.values < found.interval[:, 1]).all()
    assert "biased towards features of many different values" in str(found)
    assert "20 trees alone" in str(found)


@pytest.mark.slow
def test_the_interval_covers_what_very_many_trees_would_show():
    """95 % of 60 forests of 30 trees: 50 or fewer covered has probability 0.0005."""
    options = {"max_features": 1, "max_depth": 4}
    limit = RandomForestRegressor(1500, random_state=99, **options).fit(FRAME, Y)
    covered = 0
    for seed in range(60):
        forest = RandomForestRegressor(30, random_state=seed, **options).fit(FRAME, Y)
        low, high = importance(forest, how="impurity").interval[0]
        covered += low <= limit.feature_importances_[0] <= high
    assert covered > 50


def test_members_that_see_some_columns_are_put_in_place():
    bag = BaggingRegressor(max_features=2, n_estimators=8, random_state=0).fit(FRAME, Y)
    expected = np.zeros((8, 3))
    for b, (member, columns) in enumerate(
        zip(bag.estimators_, bag.estimators_features_, strict=True)
    ):
        expected[b, columns] = member.feature_importances_
    found = importance(bag, how="impurity")
    assert_allclose(found.values, expected.mean(axis=0), rtol=SUMMED)


def test_groups_add_up():
    forest = RandomForestRegressor(10, random_state=0).fit(FRAME, Y)
    alone = importance(forest, how="impurity")
    groups = importance(forest, how="impurity", features={"ab": ["a", "b"], "c": "c"})
    assert_allclose(groups["ab"], alone["a"] + alone["b"], rtol=SUMMED)
    assert groups["c"] == alone["c"]
    together = FRAME.assign(b=FRAME["a"] ** 3)
    forest.fit(together, Y)
    found = importance(forest, together, how="impurity", features="correlated")
    assert found.names == ("a + b", "c")
    with pytest.raises(DataError, match="give it, too"):
        importance(forest, how="impurity", features="correlated")


def test_boosting_and_a_single_tree_have_no_interval():
    for model in (GradientBoostingRegressor(n_estimators=5), DecisionTreeRegressor(max_depth=3)):
        found = importance(model.fit(FRAME, Y), how="impurity")
        assert_allclose(found.values, model.feature_importances_, rtol=SUMMED)
        assert np.isnan(found.interval).all()
        assert "There are no intervals" in str(found)
        trees = "tree" if hasattr(model, "tree_") else "trees"
        assert f"the splits of the {trees} by a feature" in str(found)
        assert "no row changed" not in str(found)
    with pytest.raises(NotFittedError):
        importance(RandomForestRegressor(), how="impurity")


def test_behind_a_pipeline_columns_have_the_names_that_the_trees_see():
    pipeline = make_pipeline(
        PolynomialFeatures(2, include_bias=False), RandomForestRegressor(5, random_state=0)
    )
    found = importance(pipeline.fit(FRAME, Y), how="impurity")
    assert found.names[:4] == ("a", "b", "c", "a^2")


def test_noise_of_many_values_has_impurity_but_no_importance_out_of_bag():
    """The bias of impurity (Strobl et al. 2007): both columns are noise."""
    own = np.random.default_rng(1)
    X = pd.DataFrame({"binary": own.integers(2, size=300), "numbers": own.normal(size=300)})
    y = own.integers(2, size=300)
    forest = RandomForestClassifier(60, max_features=1, random_state=0).fit(X, y)
    impurity = importance(forest, how="impurity")
    assert impurity["numbers"] > 5 * impurity["binary"]
    honest = importance(forest, X, y, how="out_of_bag", random_state=0)
    low, high = honest.interval[1]
    assert low < 0 < high
