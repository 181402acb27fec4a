"""Statistics of weighted rows equal those of repeated rows, at any scale."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from empirisk.compiled.weighted_statistics import (
    leave_one_out_moments,
    unit_moments,
    weighted_correlations,
    weighted_deviations,
    weighted_quantiles,
)
from tolerances import LAST_BITS, SUMMED


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    values = np.round(rng.normal(size=(9, 2)), 1)  # ties
    counts = rng.integers(0, 4, size=(30, 9)).astype(float)
    counts[:, :2] += 1  # two rows at least
    return values, counts


def means_of(values, weights):
    totals = weights.sum(axis=1)
    return weights @ values / totals[:, None], totals


def repeated(values, counts):
    return values.repeat(counts.astype(int), axis=0)


@pytest.mark.parametrize("q", [0.0, 0.1, 0.25, 0.5, 0.9, 1.0])
def test_quantiles_are_those_of_repeated_rows(rows, q):
    values, counts = rows
    found = np.empty((len(counts), 2))
    order = np.ascontiguousarray(np.argsort(values, axis=0, kind="stable").T)
    weighted_quantiles(values, order, counts, q, 1e-12, found)
    for each, count in zip(found, counts, strict=True):
        twin = np.quantile(repeated(values, count), q, axis=0, method="averaged_inverted_cdf")
        assert_allclose(each, twin, rtol=LAST_BITS)


def test_deviations_and_correlations_are_those_of_repeated_rows(rows):
    values, counts = rows
    deviations, correlations = np.empty((len(counts), 2)), np.empty(len(counts))
    weighted_deviations(values, counts, *means_of(values, counts), deviations)
    weighted_correlations(values, counts, *means_of(values, counts), correlations)
    for b, count in enumerate(counts):
        twin = repeated(values, count)
        assert_allclose(deviations[b], twin.std(axis=0), rtol=1e-12)  # a few roundings
        assert_allclose(correlations[b], np.corrcoef(twin.T)[0, 1], rtol=1e-12)


@pytest.mark.parametrize("scale", [1e-5, 1e-12, 1e-150])
def test_rows_close_to_one_another_beside_one_that_is_not_drawn(scale):
    # The first row sets the unit; the others differ by far less, where squares of plain deviations
    # would vanish, or be rounding.
    x = np.append(1.0, np.array([0.0, 1.0, 3.0]) * scale)
    y = np.append(1.0, np.array([0.0, 3.0, 1.0]) * scale)
    values, weights = np.column_stack([x, y]), np.array([[0.0, 1.0, 1.0, 2.0]])
    deviation, correlation = np.empty((1, 2)), np.empty(1)
    weighted_deviations(values, weights, *means_of(values, weights), deviation)
    weighted_correlations(values, weights, *means_of(values, weights), correlation)
    twin = np.array([[0.0, 0.0], [1.0, 3.0], [3.0, 1.0], [3.0, 1.0]])
    assert_allclose(deviation[0] / scale, twin.std(axis=0), rtol=SUMMED)
    assert_allclose(correlation, np.corrcoef(twin.T)[0, 1], rtol=SUMMED)


def test_equal_rows_have_no_spread_and_no_correlation():
    values, weights = np.full((3, 2), 0.1), np.array([[1.0, 1.0, 1.0]])
    deviation, correlation = np.empty((1, 2)), np.empty(1)
    weighted_deviations(values, weights, *means_of(values, weights), deviation)
    weighted_correlations(values, weights, *means_of(values, weights), correlation)
    assert (deviation == 0).all()
    assert np.isnan(correlation).all()


@pytest.mark.parametrize("constant", [0, 1])
def test_a_column_without_spread_beside_one_with_spread_has_no_correlation(constant):
    values, weights = np.full((3, 2), 0.1), np.array([[1.0, 1.0, 2.0]])
    values[:, 1 - constant] = [0.0, 0.5, 1.0]
    correlation = np.empty(1)
    weighted_correlations(values, weights, *means_of(values, weights), correlation)
    assert np.isnan(correlation).all()


def test_moments_without_one_copy_of_a_unit_are_those_of_the_rows_left():
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(2, 12))
    x[0] = 1e9  # what is left without it keeps its digits: nothing is subtracted
    unit = np.array([0, 1, 1, 2, 2, 2, 3, 4, 4, 5, 5, 5])
    weight, copies = rng.uniform(0.5, 2, size=12), np.array([1.0, 2.0, 0.0, 1.0, 3.0, 1.0])
    of_units, left = np.empty((2, 6, 6))
    unit_moments(x, y, weight, unit, of_units)
    leave_one_out_moments(of_units, copies, left)
    for u in np.flatnonzero(copies):
        w = weight * (copies - (np.arange(6) == u))[unit]
        dx, dy = x - np.average(x, weights=w), y - np.average(y, weights=w)
        twin = [w.sum(), np.average(x, weights=w), np.average(y, weights=w)]
        twin += [w @ dx**2, w @ dy**2, w @ (dx * dy)]
        assert_allclose(left[u], twin, rtol=SUMMED)
