"""Learning curves and double descent: sizes, levels and losses that do not do."""

import warnings

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB

from empirisk import risk
from empirisk.runtime.errors import DataError, ParameterError, PlanError

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 2))
Y = X[:, 0] + RNG.normal(size=120)
SIZES = [10, 20, 40, 80]


def curve(y=Y, **given):
    given = {"sizes": SIZES, "random_state": 0, **given}
    return risk.learning_curve(LinearRegression(), X, y, **given)


def test_a_curve_of_equal_losses_is_not_carried_on():
    zero = curve(np.zeros(120))
    with pytest.raises(DataError, match="losses are equal, so their spread is unknown"):
        zero.extrapolate()
    assert "not carried on: at each size all held-out losses are equal" in zero.sentence
    assert zero.estimates[0].interval is None


@pytest.mark.parametrize("n", ["a", None, [3], True, np.nan, 0])
def test_a_curve_is_carried_on_to_numbers_of_rows(n):
    with pytest.raises(ParameterError, match="give a number of rows > 0"):
        curve().extrapolate().at(n)


def test_a_size_that_holds_one_class_is_at_fault_not_the_classes():
    labels = np.where(np.arange(120) % 20 == 0, "rare", "common")
    with pytest.raises(PlanError, match=r"of 2 row\(s\) has one class only: give larger sizes"):
        risk.learning_curve(GaussianNB(), X, labels, sizes=[2, 60], random_state=0)


def test_risks_of_different_sizes_have_no_difference():
    estimates = curve().estimates
    with pytest.raises(PlanError, match=r"n = 10 and .* n = 20 have training sets of different"):
        estimates[0] - estimates[1]
    assert (estimates[0] - estimates[0]).value == 0


@pytest.mark.parametrize("sizes", [[[1], [2, 3]], [], "a", [None], [0.5, 2.5]])
def test_sizes_are_numbers_of_rows(sizes):
    with pytest.raises(ParameterError, match="sizes"):
        curve(sizes=sizes)


@pytest.mark.parametrize(
    "several", [[5.7, 8.2], [np.nan, 8.2], [np.inf], [[5, 6], [7]], [[5]], [1e30], ["a"], [0, 1]]
)
def test_numbers_of_features_are_whole(several):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ParameterError, match="must be whole, and 1"):
            risk.linear_double_descent(20, several)


def test_the_level_is_checked_where_there_is_no_interval():
    with pytest.raises(ParameterError, match="level is 2"):
        risk.linear_double_descent(20, [20], level=2)  # the risk is infinite there
    with pytest.raises(ParameterError, match="level is 2"):
        risk.double_descent(X, Y, features=[3], level=2)


def test_targets_beyond_the_range_have_infinite_risks_without_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = risk.double_descent(X, 1e200 * Y, features=[3, 200], n_draws=2, random_state=0)
    assert np.isinf(found.risk).all()
