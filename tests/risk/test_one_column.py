"""A target of one column is its numbers, whatever the shape in which a learner answers."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.ensemble import RandomForestRegressor as PeerForest
from sklearn.linear_model import LinearRegression as Foreign

from empirisk import (
    BaggingRegressor,
    KNeighborsRegressor,
    LogisticRegression,
    MLPRegressor,
    RandomForestRegressor,
    Ridge,
    Tuned,
    risk,
)
from empirisk.runtime.errors import DataError

X = np.random.default_rng(0).normal(size=(80, 3))
y = X[:, 0] + np.random.default_rng(1).normal(size=80)
LEARNERS = [
    RandomForestRegressor(10, random_state=0),
    BaggingRegressor(n_estimators=5, random_state=0),
    MLPRegressor(hidden_layer_sizes=(4,), max_iter=5, n_iter_no_change=None, random_state=0),
    KNeighborsRegressor(),
    Ridge(),
    Foreign(),
    PeerForest(10, random_state=0),
]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.DataConversionWarning")
@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: type(learner).__name__)
def test_rows_held_out_cost_the_same(learner):
    flat, column = (
        risk.cross_validate(learner, X, target, cv=4, random_state=0) for target in (y, y[:, None])
    )
    assert_array_equal(column.losses, flat.losses)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.DataConversionWarning")
@pytest.mark.parametrize("forest", [RandomForestRegressor, PeerForest], ids=["ours", "peer"])
def test_rows_out_of_bag_cost_the_same(forest):
    model = forest(40, random_state=0).fit(X, y)
    flat, column = (risk.out_of_bag(model, X, target) for target in (y, y[:, None]))
    assert_array_equal(column.losses, flat.losses)
    own = RandomForestRegressor(40, oob_score=True, random_state=0)
    assert own.fit(X, y).risk_.value == own.fit(X, y[:, None]).risk_.value


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.DataConversionWarning")
def test_a_forest_is_tuned_out_of_bag():
    flat, column = (
        Tuned(RandomForestRegressor(20, random_state=0), values=[1, 3]).fit(X, target)
        for target in (y, y[:, None])
    )
    assert_array_equal(column.path_.risk, flat.path_.risk)


def test_labels_without_an_order_are_refused():
    labels = np.array(["a", 1] * 40, dtype=object)
    with pytest.raises(DataError, match="label"):
        risk.cross_validate(LogisticRegression(), X, labels)
