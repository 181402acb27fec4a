"""Tables that bags hand on: sparse rows, several outputs, frames, some of their columns."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.datasets import load_iris
from sklearn.linear_model import LinearRegression as ForeignLinearRegression
from sklearn.linear_model import Ridge as ForeignRidge

from bagged_rows import SETTINGS, bag_of, sample
from empirisk import BaggingClassifier, KernelRegressor, NaiveBayes, Ridge
from tolerances import SUMMED


def test_sparse_rows_and_several_outputs_go_to_members_that_take_them():
    X, y = sample(False)
    dense, sparse = (
        bag_of(ForeignLinearRegression(), False).fit(each, y).predict(each)
        for each in (X, csr_array(X))
    )
    assert_allclose(dense, sparse, rtol=1e-4)  # another solver
    trees = [bag_of(None, False).fit(each, y).predict(each) for each in (X, csr_array(X))]
    assert_array_equal(*trees)
    with pytest.raises(TypeError, match=r"[Ss]parse"):
        bag_of(KernelRegressor(), False).fit(csr_array(X), y)
    two = bag_of(None, False, oob_score=True, n_estimators=40).fit(X, np.column_stack([y, -y]))
    one = bag_of(None, False, oob_score=True, n_estimators=40).fit(X, y)
    assert two.predict(X).shape == two.oob_prediction_.shape == (90, 2)
    assert_allclose(two.predict(X)[:, 0], -two.predict(X)[:, 1], rtol=SUMMED)
    assert one.predict(X).shape == (90,)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
@pytest.mark.parametrize("settings", SETTINGS)
def test_members_get_frames_as_they_came_in(frame, settings):
    X, y = sample(False)
    table = frame(dict(zip("abcd", X.T, strict=True)))
    for estimator in (ForeignRidge(), Ridge()):
        bag = bag_of(estimator, False, **settings).fit(table, y)
        assert list(bag.feature_names_in_) == list("abcd")
        columns = bag.estimators_features_[0]
        names = [name[0] for name in bag.estimators_[0].feature_names_in_]
        assert names == ["abcd"[j] for j in columns]
        plain = bag_of(estimator, False, **settings).fit(X, y).predict(X)
        assert_allclose(bag.predict(table), plain, rtol=SUMMED)


def test_distributions_by_number_follow_the_columns():
    X, y = load_iris(return_X_y=True)
    X = np.floor(X)
    bayes = NaiveBayes(distributions={0: "poisson", (2, 3): "multinomial"})
    bag = BaggingClassifier(bayes, 5, max_features=2, random_state=0).fit(X, y)
    wanted = ["poisson", "gaussian", "multinomial", "multinomial"]
    for member, seen in zip(bag.estimators_, bag.estimators_features_, strict=True):
        assert member.distributions_ == [wanted[j] for j in seen]
