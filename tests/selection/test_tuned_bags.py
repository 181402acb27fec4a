"""Bags of any estimator, tuned along their columns by folds."""

import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from bagged_rows import bag_of, sample
from empirisk import Ridge, Tuned
from tolerances import SUMMED


def test_a_bag_is_tuned_along_its_columns():
    X, y = sample(False)
    model = Tuned(bag_of(None, False), cv=3).fit(X, y)
    assert list(model.path_.values) == [1, 2, 4]
    again = bag_of(None, False, max_features=model.best_value_).fit(X, y)
    assert_array_equal(model.predict(X), again.predict(X))


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_bags_of_any_estimator_are_cross_validated_on_frames(frame):
    X, y = sample(False)
    table = frame(dict(zip("abcd", X.T, strict=True)))
    bag = bag_of(Ridge(), False, n_estimators=3)
    plain, framed = (Tuned(bag, cv=3).fit(each, y) for each in (X, table))
    assert framed.risk_.value == plain.risk_.value
    assert_allclose(framed.predict(table), plain.predict(X), rtol=SUMMED)
