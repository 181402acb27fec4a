"""Moments of columns and counts of levels are those of the definition, and add up."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from empirisk.data.column_moments import ColumnMoments, LevelCounts
from tolerances import LAST_BITS, SUMMED


def sample(n=60, p=4, holes=0.3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) * [1.0, 5.0, 0.1, 2.0][:p] + 3
    X[rng.random((n, p)) < holes] = np.nan
    return X, rng.integers(0, 3, n), rng.uniform(0.5, 2, n)


def in_data_units(moments):
    return (
        moments.weight,
        np.ldexp(moments.mean, moments.unit),
        np.sqrt(moments.variance) * np.ldexp(1.0, moments.unit),
    )


def assert_same(one, other, rtol=1e-12):
    for mine, theirs in zip(in_data_units(one), in_data_units(other), strict=True):
        assert_allclose(mine, theirs, rtol=rtol)


@given(st.lists(st.integers(0, 59), max_size=6), st.sampled_from([1.0, 1e-200, 1e200]))
@settings(max_examples=30, deadline=None)
def test_they_add_up_wherever_the_rows_are_cut(cuts, scale):
    X, y, weight = sample()
    X = X * scale
    whole = ColumnMoments.of(X, y, weight, 3)
    total = ColumnMoments.empty(3, 4)
    for part in np.split(np.arange(60), sorted(cuts)):
        total = total + ColumnMoments.of(X[part], y[part], weight[part], 3)
    assert_same(total, whole)  # sums of 60 terms


def test_they_are_those_of_the_definition_at_any_scale():
    X, y, weight = sample()
    for scale in (1.0, 1e-250, 1e250):
        found = in_data_units(ColumnMoments.of(X * scale, y, weight, 3))
        for k in range(3):
            for j in range(4):
                own = (y == k) & ~np.isnan(X[:, j])
                mean = np.average(X[own, j], weights=weight[own])
                variance = np.average((X[own, j] - mean) ** 2, weights=weight[own])
                known = weight[own].sum(), mean * scale, np.sqrt(variance) * scale
                assert_allclose([each[k, j] for each in found], known, rtol=SUMMED)


def test_pooled_over_classes():
    X, y, weight = sample()
    pooled = ColumnMoments.of(X, y, weight, 3).pooled()
    alone = ColumnMoments.of(X, np.zeros(60, np.int64), weight, 1)
    for found, known in zip(pooled, (alone.weight, alone.mean, alone.variance), strict=True):
        assert_allclose(found, known[0], rtol=SUMMED)
    constant = ColumnMoments.of(np.full((9, 1), 0.1), np.arange(9) % 3, np.ones(9), 3)
    assert_array_equal(constant.pooled()[2], 0.0)


@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_extreme_weights(scale):
    X, y, weight = sample()
    one, other = ColumnMoments.of(X, y, weight, 3), ColumnMoments.of(X, y, weight * scale, 3)
    assert_allclose(other.weight, one.weight * scale, rtol=LAST_BITS)
    assert_allclose(other.variance, one.variance, rtol=SUMMED)


def test_parts_of_different_scale():
    X, y, weight = sample()
    X[:30, 0] *= 1e200
    X[:30, 1] = 0.0
    X[30:, 1] *= 1e-200  # zeros have no unit
    parts = [ColumnMoments.of(X[p], y[p], weight[p], 3) for p in (slice(30), slice(30, 60))]
    assert_same(parts[0] + parts[1], ColumnMoments.of(X, y, weight, 3))
    assert (in_data_units(parts[0] + parts[1])[2][:, 1] > 0).all()


def test_counts_of_levels_and_their_sums_by_column():
    first = np.array([0, 2, 2, 5])  # the second column has no levels
    codes = np.array([[0.0, np.nan, 2.0], [1.0, np.nan, np.nan], [0.0, np.nan, 0.0]])
    y, weight = np.array([0, 1, 0]), np.array([1.0, 2.0, 4.0])
    counts = LevelCounts.of(codes, y, weight, 2, first)
    assert_array_equal(counts.counts, [[5, 0, 4, 0, 1], [0, 2, 0, 0, 0]])
    assert_array_equal(counts.by_column(counts.counts), [[5, 0, 5], [2, 0, 0]])
    assert_array_equal(counts.column, [0, 0, 2, 2, 2])
    halves = LevelCounts.of(codes[:1], y[:1], weight[:1], 2, first) + LevelCounts.of(
        codes[1:], y[1:], weight[1:], 2, first
    )
    assert_array_equal(halves.counts, counts.counts)
