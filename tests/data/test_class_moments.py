"""Class moments are those of the definition, add up, and subtract."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from empirisk.data.blocks import Blocks, Rows
from empirisk.data.class_moments import ClassMoments, Units, class_moments, measured_moments
from tolerances import SUMMED

FIELDS = ("rows", "weight", "mean", "scatter")


def sample(n=60, p=3, n_classes=3, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    return rng.normal(size=(n, p)) + y[:, None], y, rng.uniform(0.1, 3.0, n)


def assert_same(one, other, rtol):
    for field in FIELDS:
        assert_allclose(getattr(one, field), getattr(other, field), rtol=rtol, atol=rtol)


def test_they_are_those_of_the_definition():
    X, y, weight = sample()
    moments = ClassMoments.of(X, y, weight, 4)
    scatter = np.zeros((3, 3))
    for k in range(3):
        of_class, w = X[y == k], weight[y == k]
        assert moments.rows[k] == len(of_class)
        # Sums of 20 terms: a few rounding errors of 1e-16.
        assert_allclose(moments.weight[k], w.sum(), rtol=1e-14)
        assert_allclose(moments.mean[k], np.average(of_class, axis=0, weights=w), rtol=1e-13)
        scatter += np.cov(of_class.T, aweights=w, ddof=0) * w.sum()
    assert_allclose(moments.scatter, scatter, rtol=SUMMED)
    assert moments.rows[3] == moments.weight[3] == 0
    assert_array_equal(moments.mean[3], 0)


def test_a_scatter_for_each_class_sums_to_that_of_all():
    X, y, weight = sample()
    each, pooled = (ClassMoments.of(X, y, weight, 4, tied=tied) for tied in (False, True))
    for k in range(3):
        of_class = np.cov(X[y == k].T, aweights=weight[y == k], ddof=0) * weight[y == k].sum()
        assert_allclose(each.scatter[k], of_class, rtol=SUMMED)
    assert_array_equal(each.scatter[3], 0)
    assert_allclose(each.within, pooled.within, rtol=SUMMED)
    assert_allclose(each.pooled().scatter, pooled.pooled().scatter, rtol=SUMMED)
    A, b = np.random.default_rng(1).normal(size=(3, 2)), np.array([1.0, -1.0])
    mapped = ClassMoments.of(X @ A + b, y, weight, 4, tied=False)
    assert_same(each.mapped(A, b).present(), mapped.present(), rtol=SUMMED)
    assert each.present().scatter.shape == (3, 3, 3)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 40), st.integers(1, 4), st.booleans())
def test_parts_add_up_and_one_subtracts(seed, n, n_classes, tied):
    X, y, weight = sample(n, 2, n_classes, seed)
    cut = seed % (n - 1) + 1
    left = ClassMoments.of(X[:cut], y[:cut], weight[:cut], n_classes, tied=tied)
    right = ClassMoments.of(X[cut:], y[cut:], weight[cut:], n_classes, tied=tied)
    both = ClassMoments.of(X, y, weight, n_classes, tied=tied)
    # Weights differ by a factor 30 and classes by a few rows: at most four digits cancel.
    assert_same(left + right, both, rtol=1e-12)
    assert_same(both - right, left, rtol=1e-10)
    assert_array_equal((both - right).rows > 0, (both - right).weight > 0)


def test_an_offset_costs_no_digits():
    X, y, weight = sample(500)
    X = np.round(X * 2**20) / 2**20
    shifted = X + 2.0**30  # both exactly representable
    near = class_moments(Blocks.of_arrays(X, y, weight), 3, 3)
    far = class_moments(Blocks.of_arrays(shifted, y, weight), 3, 3)
    # The mean itself is rounded to 2^-23, of which the scatter feels the square.
    assert_allclose(far.mean - 2.0**30, near.mean, rtol=0, atol=2.0 ** (-22))
    assert_allclose(far.scatter, near.scatter, rtol=1e-9)


@pytest.mark.parametrize("constant", [0.1, 1e8 / 3, -7e-9])
def test_columns_constant_within_classes_have_no_scatter_at_all(constant):
    X, y, weight = sample(9000)
    X[:, 1] = constant * (1 + y)
    total = class_moments(Blocks.of_arrays(X, y, weight), 3, 3)
    part = ClassMoments.of(X[:100], y[:100], weight[:100], 3)
    for moments in (total, total - part):
        assert_array_equal(moments.scatter[1], 0)
        assert_array_equal(moments.mean[:, 1], constant * (1 + np.arange(3)))


def test_a_class_that_is_subtracted_leaves_nothing():
    X, y = np.arange(8.0)[:, None], np.array([0, 0, 0, 0, 0, 1, 1, 1])
    weight = np.array([1.0, 1, 1, 1, 1, 0.1, 0.2, 0.3])  # 0.1 + 0.2 + 0.3 depends on the order
    both = ClassMoments.of(X, y, weight, 2)
    part = ClassMoments.of(X[5:6], y[5:6], weight[5:6], 2) + ClassMoments.of(
        X[:5:-1], y[:5:-1], weight[:5:-1], 2
    )
    rest = both - part
    assert rest.weight[1] == 0
    assert_array_equal(rest.mean[1], 0)
    assert_array_equal(rest.present().rows, [5])
    assert_allclose(rest.scatter, 10.0, rtol=1e-14)  # integers 0..4, rounding of the thirds


def test_the_order_of_magnitude_is_a_power_of_two():
    X, y, weight = sample(20)
    X = X * [1e200, 1.0, 1e-250]
    rows = Rows(X, y, weight * 1e-300)
    units = Units.of([rows])
    measured = units.measure(rows)
    assert units.column[1] == 0
    assert_array_equal(np.ldexp(measured.X, units.column), X)
    assert_array_equal(np.ldexp(measured.weight, units.weight), rows.weight)
    assert (np.abs(measured.X).max(axis=0) < 2.0**200).all()
    assert measured.X[:, 2].any()
    assert 0.5 <= measured.weight.max() <= 1


@pytest.mark.parametrize("scale", [1e-300, 1e-200, 1.0, 1e9, 1e200, 1e300])
@pytest.mark.parametrize("tied", [False, True])
def test_moments_of_any_size_come_with_their_units(scale, tied):
    X, y, weight = sample(500)
    X[:, 2] = 0.0
    moments, units = measured_moments(Blocks.of_arrays(X * scale, y, weight), 3, tied=tied)
    assert (units.column[:2] != 0).all() == (abs(np.log2(scale)) > 200)
    near = class_moments(Blocks.of_arrays(X, y, weight), 3, 3, tied=tied)
    unit = np.where(X.any(axis=0), np.ldexp(1.0, units.column) / scale, 1.0)
    # Powers of ten are rounded, and the numbers with them.
    assert_allclose(moments.mean * unit, near.mean, rtol=1e-11, atol=1e-12)
    assert_allclose(moments.scatter * np.outer(unit, unit), near.scatter, rtol=1e-11, atol=1e-11)


def test_ordinary_rows_are_gone_through_once():
    rows, passes = Rows(*sample(500)), []
    blocks = Blocks(lambda: passes.append(1) or iter([rows]))
    measured_moments(blocks, 3)
    assert len(passes) == 2  # one of them looks at the first block, for the number of columns


def test_ordinary_rows_are_not_copied():
    rows = Rows(*sample(20))
    assert Units.of([rows]).measure(rows).X is rows.X
