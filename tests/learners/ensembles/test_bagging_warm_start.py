"""Bags that go on from the members there are, with the same rows."""

import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from bagged_rows import bag_of, sample
from empirisk import Ridge
from empirisk.runtime.errors import DataError, ParameterError
from tolerances import SUMMED


def test_more_members_with_warm_start_are_those_of_one_fit():
    X, y = sample(False)
    for settings in ({}, {"max_features": 2, "oob_score": True}):
        bag = bag_of(None, False, warm_start=True, n_estimators=20, **settings).fit(X, y)
        bag.set_params(n_estimators=50).fit(X, y)
        whole = bag_of(None, False, n_estimators=50, **settings).fit(X, y)
        assert_array_equal(bag.predict(X), whole.predict(X))
        assert_array_equal(bag.estimators_samples_, whole.estimators_samples_)
    assert_array_equal(bag.oob_prediction_, whole.oob_prediction_)
    with pytest.warns(UserWarning, match="no member was fitted"):
        bag.fit(X, y)
    for error, change, rows in [
        (ParameterError, {"n_estimators": 10}, 90),
        (ParameterError, {"n_estimators": 60, "max_features": 3}, 90),
        (ParameterError, {"n_estimators": 60, "max_samples": 0.5}, 90),
        (DataError, {"n_estimators": 60}, 80),
    ]:
        with pytest.raises(error, match="warm_start"):
            clone_fitted(bag).set_params(**change).fit(X[:rows], y[:rows])
    with pytest.raises(DataError, match=r"y is not that of the members.* warm_start=True"):
        bag.set_params(n_estimators=60).fit(X[::-1], y[::-1])


def test_members_are_added_for_the_same_columns_alone():
    X, y = sample(False)
    bag = bag_of(None, False, warm_start=True, n_estimators=2).fit(X, y)
    with pytest.raises(ValueError, match="X has 2 features"):
        clone_fitted(bag).set_params(n_estimators=3).fit(X[:, :2], y)
    named = pd.DataFrame(X, columns=list("abcd"))
    bag = bag_of(None, False, warm_start=True, n_estimators=2).fit(named, y)
    with pytest.raises(ValueError, match="feature names"):
        bag.set_params(n_estimators=3).fit(named.rename(columns={"a": "z"}), y)


def clone_fitted(model):
    return pickle.loads(pickle.dumps(model))


def test_trees_are_added_to_trees_alone():
    X, y = sample(False)
    bag = bag_of(Ridge(), False, warm_start=True, n_estimators=2).fit(X, y)
    with pytest.raises(ParameterError, match=r"members that are no trees .* warm_start=False"):
        bag.set_params(estimator=None, n_estimators=3).fit(X, y)
    bag = bag_of(None, False, warm_start=True, n_estimators=2).fit(X, y)
    bag.set_params(estimator=Ridge(), n_estimators=3).fit(X, y)
    mean = np.mean([member.predict(X) for member in bag.estimators_], axis=0)
    assert_allclose(bag.predict(X), mean, rtol=SUMMED)
