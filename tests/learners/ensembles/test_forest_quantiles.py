"""Quantiles from the leaves of a random forest."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from empirisk import (
    DecisionTreeRegressor,
    RandomForestRegressor,
)
from empirisk.runtime.errors import ParameterError
from forest_rows import counts_of, frame, regression
from tolerances import SUMMED


def quantile_twin(forest, X, y, new, level):
    """By weights over all training rows, one new row after the other."""
    here, there = forest.apply(X), forest.apply(new)
    weight = np.zeros((len(new), len(y)))
    for b in range(here.shape[1]):
        counts = counts_of(forest, b, len(y))
        for i in range(len(new)):
            inside = counts * (here[:, b] == there[i, b])
            weight[i] += inside / inside.sum() / here.shape[1]
    order = np.argsort(y)
    reached = np.cumsum(weight[:, order], axis=1) >= level - 1e-12
    return weight, y[order][reached.argmax(axis=1)]


@pytest.mark.parametrize("leaf", [1, 8])
def test_quantiles_are_those_of_the_training_values_in_the_leaves(leaf):
    X, y = frame(150)
    forest = RandomForestRegressor(
        25, min_samples_leaf=leaf, keep_members=True, random_state=0
    ).fit(X, y)
    new = X[:20]
    levels = [0.5, 0.05, 0.95]
    found = forest.predict_quantiles(new, levels)
    for q, level in enumerate(levels):
        weight, wanted = quantile_twin(forest, X, y, new, level)
        assert_array_equal(found[:, q], wanted)
    assert_allclose(weight @ y, forest.predict(new), rtol=SUMMED)
    assert_array_equal(found[:, 0], forest.predict_quantiles(new, 0.5))
    assert_array_equal(forest.predict_quantiles(new, [0.0]) >= y.min(), True)


def test_a_row_of_a_weight_too_small_to_count_is_in_no_quantile():
    """Its part of a leaf is 0; noted once for each tree, it would take more room than there is."""
    X, y = frame(40)
    weight = np.where(np.arange(40) % 4, 1.0, 5e-324)
    forest = RandomForestRegressor(9, bootstrap=False, max_depth=1, keep_members=True)
    forest.fit(X, y, sample_weight=2.0 * weight)
    found = forest.predict_quantiles(X, [0.0, 0.5, 1.0])
    assert np.isin(found, y[weight == 1.0]).all()
    tree = DecisionTreeRegressor(max_depth=1).fit(X, y, sample_weight=2.0 * weight)
    for leaf in np.unique(tree.apply(X)):
        inside = (tree.apply(X) == leaf) & (weight == 1.0)
        assert_array_equal(found[tree.apply(X) == leaf, 0], y[inside].min())
        assert_array_equal(found[tree.apply(X) == leaf, 2], y[inside].max())


def test_quantiles_cover_new_values():
    """90 % of 2,000 new values lie between; the chance of less than 0.85 is below 1e-6, and the
    forest has 1,000 rows to learn the spread from."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(3000, 2))
    y = X[:, 0] + (1 + X[:, 1]) * rng.normal(size=3000)
    forest = RandomForestRegressor(100, min_samples_leaf=10, keep_members=True, random_state=0)
    low, high = forest.fit(X[:1000], y[:1000]).predict_quantiles(X[1000:], [0.05, 0.95]).T
    inside = (low <= y[1000:]) & (y[1000:] <= high)
    assert 0.85 < inside.mean() < 0.95
    assert np.corrcoef(high - low, X[1000:, 1])[0, 1] > 0.8  # where y spreads more


def test_quantiles_need_members():
    X, y = regression()
    forest = RandomForestRegressor(3, random_state=0).fit(X, y)
    with pytest.raises(ParameterError, match="fit with keep_members=True"):
        forest.predict_quantiles(X)
    forest.set_params(keep_members=True).fit(X, y)
    with pytest.raises(ParameterError, match="give numbers from 0 to 1"):
        forest.predict_quantiles(X, [0.5, 50])
