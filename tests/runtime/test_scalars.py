"""What a parameter may be."""

from fractions import Fraction

import numpy as np
import pytest

from empirisk import GaussianMixture, KernelDensity, Lasso
from empirisk.runtime.errors import ParameterError
from empirisk.runtime.scalars import is_flag, is_number, is_whole, real, whole


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
