"""What a parameter may be."""

from fractions import Fraction

import numpy as np
import pytest

from empirisk import (
    GaussianMixture,
    HistGradientBoostingRegressor,
    KernelDensity,
    KMeans,
    KNeighborsClassifier,
    Lasso,
    MLPClassifier,
    RandomForestClassifier,
)
from empirisk.runtime.errors import ParameterError
from empirisk.runtime.scalars import (
    MOST,
    check_whole,
    is_flag,
    is_number,
    is_whole,
    real,
    real_numbers,
    whole,
)


@pytest.mark.parametrize("value", [True, False, np.True_])
def test_flags_are_no_numbers(value):
    assert is_flag(value)
    assert not is_whole(value)
    assert not is_number(value)
    assert whole(value) is real(value) is None


@pytest.mark.parametrize("value", [3, np.int8(3), np.uint64(3)])
def test_integers_of_any_kind_are_whole_numbers(value):
    assert is_whole(value, 3)
    assert not is_whole(value, 4)
    assert is_number(value)
    assert type(whole(value)) is int


@pytest.mark.parametrize("value", [3.0, np.float32(3.0), Fraction(1, 3)])
def test_numbers_that_are_not_integers(value):
    assert is_number(value)
    assert not is_whole(value)
    assert whole(value) is None
    assert type(real(value)) is float


@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan])
def test_infinite_numbers_are_real_and_no_finite_numbers(value):
    assert not is_number(value)
    assert type(real(value)) is float


@pytest.mark.parametrize("value", ["3", None, [3], np.array([3]), 3j])
def test_what_is_no_number(value):
    assert not is_flag(value)
    assert not is_whole(value)
    assert not is_number(value)
    assert whole(value) is real(value) is None


def test_a_flag_is_refused_where_a_number_is_wanted():
    X = np.random.default_rng(0).normal(size=(20, 1))
    with pytest.raises(ParameterError, match="max_iter is True"):
        Lasso(max_iter=True).fit(X, X[:, 0])
    with pytest.raises(ParameterError, match="n_samples is True"):
        KernelDensity().fit(X).sample(True)
    with pytest.raises(ParameterError, match="n_components"):
        GaussianMixture(True).fit(X)


def test_whole_numbers_are_those_of_64_bits():
    assert is_whole(MOST)
    assert not is_whole(MOST + 1)
    with pytest.raises(ParameterError, match=r"^n is 9223372036854775808; give a whole number"):
        check_whole(MOST + 1, "n", 1)


@pytest.mark.parametrize(
    "learner",
    [
        RandomForestClassifier(10**30),
        HistGradientBoostingRegressor(max_iter=10**30),
        KNeighborsClassifier(10**30),
        Lasso(max_iter=10**30),
        KMeans(max_iter=10**30),
        MLPClassifier(max_iter=10**30),
    ],
    ids=lambda learner: type(learner).__name__,
)
def test_a_count_beyond_64_bits_is_refused_by_its_name(learner):
    name = "n_neighbors" if isinstance(learner, KNeighborsClassifier) else "n_estimators|max_iter"
    with pytest.raises(ParameterError, match=f"({name}) is 10{{30}}[;:,]"):
        learner.fit([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1])


@pytest.mark.parametrize("value", ["x", b"1", "1", {}, [1, "a"], object(), np.datetime64("now")])
def test_what_is_no_array_of_numbers_is_refused_by_its_name(value):
    with pytest.raises(ParameterError, match=r"^mean is .*; give a number or an array of numbers$"):
        real_numbers(value, "mean")
