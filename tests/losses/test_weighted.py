"""Means and quantiles of weighted samples: weights are copies, at any scale."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from empirisk.losses import Absolute, Quantile, Squared
from empirisk.runtime.errors import DataError

values = st.lists(st.integers(-20, 20).map(float), min_size=1, max_size=12)
levels = st.sampled_from([0.05, 0.1, 0.25, 0.3, 1 / 3, 0.5, 0.55, 0.7, 0.9, 0.99])


@st.composite
def weighted_samples(draw):
    y = np.array(draw(values))
    weight = np.array(draw(st.lists(st.integers(0, 5), min_size=len(y), max_size=len(y))))
    weight[draw(st.integers(0, len(y) - 1))] += 1
    return y, weight


@given(weighted_samples(), levels)
@settings(max_examples=100, deadline=None)
def test_integer_weights_are_copies(sample, q):
    y, weight = sample
    copies = np.repeat(y, weight)
    assert Absolute().bayes_action(y, weight) == Absolute().bayes_action(copies)
    assert Quantile(q).bayes_action(y, weight) == Quantile(q).bayes_action(copies)
    # Sums of at most 72 numbers below 20, one correction: the last digit may differ.
    assert_allclose(
        Squared().bayes_action(y, weight), Squared().bayes_action(copies), rtol=4e-16, atol=1e-14
    )


@given(weighted_samples())
@settings(max_examples=100, deadline=None)
def test_mean_is_the_exact_rational_mean_rounded(sample):
    y, weight = sample
    exact = sum(Fraction(v) * int(w) for v, w in zip(y, weight, strict=True)) / int(weight.sum())
    # Values up to 20, and deviations from a mean of that size, carry a rounding error of 4e-15.
    assert_allclose(Squared().bayes_action(y, weight), float(exact), rtol=4e-16, atol=1e-14)


def test_the_mean_of_many_values_is_right_to_the_last_digit():
    rng = np.random.default_rng(4)
    for _ in range(20):
        y, weight = 1 + rng.uniform(size=2000), rng.uniform(size=2000)
        exact = sum(Fraction(v) * Fraction(w) for v, w in zip(y, weight, strict=True))
        exact /= sum(Fraction(w) for w in weight)
        # Summation alone errs by several units here; with the correction the nearest double or
        # its neighbour comes out.
        assert abs(Fraction(Squared().bayes_action(y, weight)) - exact) <= np.spacing(1.0)


@given(weighted_samples(), levels)
@settings(max_examples=100, deadline=None)
def test_quantile_is_the_middle_of_the_interval_of_quantiles(sample, q):
    y, weight = sample
    copies = np.repeat(y, weight)
    # q as the decimal or third that it stands for, so that ties are decided exactly
    level = Fraction(q).limit_denominator(1000)
    is_quantile = [
        v
        for v in copies
        if Fraction(int((copies < v).sum()), len(copies)) <= level
        and Fraction(int((copies <= v).sum()), len(copies)) >= level
    ]
    assert Quantile(q).bayes_action(y, weight) == (min(is_quantile) + max(is_quantile)) / 2


def test_ties_are_seen_through_rounding_errors():
    assert 0.55 * 100 > 55
    assert Quantile(0.55).best_constant(np.arange(100)) == 54.5
    assert np.cumsum(np.full(10, 0.1))[2] > 0.3
    assert Quantile(0.3).best_constant(np.arange(10), np.full(10, 0.1)) == 2.5


@pytest.mark.parametrize("q", [0.1, 0.25, 0.5, 0.77])
def test_quantile_agrees_with_numpy(q):
    sample = np.random.default_rng(0).normal(size=(7, 40))
    expected = np.quantile(sample, q, axis=1, method="averaged_inverted_cdf")
    assert_allclose(Quantile(q).bayes_action(sample), expected, rtol=1e-15)  # midpoints: rounding
    assert_allclose(Absolute().bayes_action(sample), np.median(sample, axis=1), rtol=1e-15)


@pytest.mark.parametrize("scale", [1e200, 1e-200, 1.5e308, 1e-307])
@pytest.mark.parametrize("weight_scale", [1.0, 1e200, 1e-200, 1.7e308])
def test_actions_scale_with_the_sample_and_not_with_the_weights(scale, weight_scale):
    rng = np.random.default_rng(1)
    sample, weight = rng.uniform(-1, 1, size=(5, 9)), rng.uniform(0, 1, size=(5, 9))
    for loss in (Squared(), Absolute(), Quantile(0.2)):
        action = loss.bayes_action(sample * scale, weight * weight_scale)
        assert np.isfinite(action).all()
        # Scaling rounds each value and weight once; 1e-307 leaves 15 digits above the subnormals.
        assert_allclose(action / scale, loss.bayes_action(sample, weight), rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize("constant", [0.1, -1 / 3, 0.0, 1e200, 5e-324, 1.7e308])
@pytest.mark.parametrize("n", [1, 2, 3, 10, 1001])
def test_a_constant_sample_gives_the_constant(constant, n):
    weight = np.random.default_rng(n).uniform(0.1, 1, n)
    for loss in (Squared(), Absolute(), Quantile(0.9)):
        assert loss.best_constant(np.full(n, constant)) == constant
        assert loss.best_constant(np.full(n, constant), weight) == constant


def test_values_of_weight_zero_are_not_there():
    y, weight = np.array([1e300, 1e-300, 2e-300, 4e-300, -1e300]), np.array([0, 1, 1, 1, 0])
    for loss in (Squared(), Absolute(), Quantile(1e-13), Quantile(1 - 1e-13)):
        assert loss.best_constant(y, weight) == loss.best_constant(y[1:4])
        assert 1e-300 <= loss.best_constant(y, weight) <= 4e-300


def test_rows_are_answered_one_by_one():
    rng = np.random.default_rng(2)
    sample, weight = rng.normal(size=(2, 3, 8)), rng.uniform(size=8)
    for loss in (Squared(), Absolute(), Quantile(0.7)):
        together = loss.bayes_action(sample, weight)
        assert together.shape == (2, 3)
        apart = [[loss.best_constant(row, weight) for row in block] for block in sample]
        assert_array_equal(together, apart)


def test_the_layout_of_the_input_does_not_matter():
    sample = np.random.default_rng(3).normal(size=(6, 10))
    frozen = sample.copy()
    frozen.setflags(write=False)
    for loss in (Squared(), Absolute(), Quantile(0.7)):
        expected = loss.bayes_action(sample)
        for other in (np.asfortranarray(sample), np.repeat(sample, 2, axis=1)[:, ::2], frozen):
            # The order of summation follows the layout, so the mean may differ in its last digit.
            assert_allclose(loss.bayes_action(other), expected, rtol=1e-14, atol=1e-16)


def test_large_offset_does_not_cost_digits():
    y = 1e15 + np.array([0.0, 1.0, 2.0, 5.0])
    assert Squared().best_constant(y) == 1e15 + 2


@pytest.mark.parametrize(
    "sample, weight, says",
    [
        ([], None, "no values"),
        (3.0, None, "no values"),
        ([1.0, np.nan], None, "NaN"),
        ([1.0, np.inf], None, "infinity"),
        ([1.0, 2.0], [1.0], "do not fit"),
        ([1.0, 2.0], 1.0, "do not fit"),
        ([1.0, 2.0], [1.0, 2.0, 3.0], "do not fit"),
        ([1.0, 2.0], [1.0, -1.0], "negative"),
        ([1.0, 2.0], [1.0, np.nan], "NaN"),
        ([1.0, 2.0], [0.0, 0.0], "zero"),
        ([[1.0, 2.0], [3.0, 4.0]], [[1.0, 0.0], [0.0, 0.0]], "zero"),
    ],
)
def test_unusable_samples_are_refused(sample, weight, says):
    for loss in (Squared(), Absolute(), Quantile(0.3)):
        with pytest.raises(DataError, match=says):
            loss.bayes_action(sample, weight)
