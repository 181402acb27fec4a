"""Moments, counts and log-likelihoods of single columns, compiled or not, beside NumPy."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from empirisk.compiled import column_moments as moments
from empirisk.compiled import column_scores as scores
from tolerances import LAST_BITS, SUMMED

FORMS = [lambda kernel: kernel, lambda kernel: kernel.py_func]
both = pytest.mark.parametrize("form", FORMS, ids=["compiled", "python"])


def sample(n=40, p=11, holes=0.0, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) + 5
    X[rng.random((n, p)) < holes] = np.nan
    return X, rng.integers(0, 3, n), rng.uniform(0.5, 2, n)


def by_definition(X, y, w, k):
    """Weight, mean and scatter of each column in class k."""
    found = []
    for column in X.T:
        own = (y == k) & ~np.isnan(column)
        mean = np.average(column[own], weights=w[own]) if own.any() else 0.0
        found.append((w[own].sum(), mean, (w[own] * (column[own] - mean) ** 2).sum()))
    return np.array(found).T


@both
@pytest.mark.parametrize("holes", [0.0, 0.4])
def test_moments_are_those_of_the_definition(form, holes, monkeypatch):
    if form(moments.add_column_moments) is moments.add_column_moments.py_func:
        monkeypatch.setattr(moments, "NUMBERS_AT_ONCE", 16)  # several parts
    X, y, w = sample(holes=holes)
    total, mean, scatter = (np.zeros((4, 11)) for _ in range(3))
    form(moments.add_column_moments)(X[:25], y[:25], w[:25], total, mean, scatter)
    form(moments.add_column_moments)(X[25:], y[25:], w[25:], total, mean, scatter)
    for k in range(4):
        known = by_definition(X, y, w, k)
        # Sums of some ten terms.
        assert_allclose([total[k], mean[k], scatter[k]], known, rtol=1e-12, atol=1e-12)


def test_many_rows_are_taken_in_parts_that_do_not_show():
    X, y, w = sample(n=9000, p=3, holes=0.01)
    total, mean, scatter = (np.zeros((3, 3)) for _ in range(3))
    moments.add_column_moments(X, y, w, total, mean, scatter)
    for k in range(3):
        assert_allclose([total[k], mean[k], scatter[k]], by_definition(X, y, w, k), rtol=SUMMED)


@both
def test_constant_columns_have_no_scatter_whatever_their_value(form):
    X = np.tile([0.1, 1e9 + 0.1, -1e-9], (50, 1))
    y, w = np.arange(50) % 2, np.linspace(0.1, 3, 50)
    total, mean, scatter = (np.zeros((2, 3)) for _ in range(3))
    form(moments.add_column_moments)(X, y, w, total, mean, scatter)
    assert_array_equal(mean, X[:2])
    assert_array_equal(scatter, 0.0)


@both
@pytest.mark.parametrize("holes", [0.0, 0.4])
def test_without_each_row(form, holes):
    X, y, w = sample(n=25, p=4, holes=holes)
    X[3, 0] = 1e12  # leaves no trace where it is left out
    total, mean, scatter = (np.empty(X.shape) for _ in range(3))
    form(moments.moments_without_each)(X, y, w, 3, total, mean, scatter)
    for i in range(25):
        others = np.arange(25) != i
        known = by_definition(X[others], y[others], w[others], y[i])
        assert_allclose([total[i], mean[i], scatter[i]], known, rtol=SUMMED, atol=SUMMED)


@both
@pytest.mark.parametrize("holes", [0.0, 0.4])
def test_gaussian_scores(form, holes):
    X, _, _ = sample(n=9, holes=holes)
    rng = np.random.default_rng(1)
    mean, inverse = rng.normal(size=(3, 11)) + 5, rng.uniform(0.5, 2, size=(3, 11))
    inverse[:, 4] = 0.0
    log_scale = np.where(inverse > 0, -np.log(np.where(inverse > 0, inverse, 1.0)), 0.0)
    out = np.ones((9, 3))
    form(scores.add_gaussian_scores)(X, mean, inverse, log_scale, out)
    for i in range(9):
        there = ~np.isnan(X[i])
        z = (X[i] - mean) * inverse
        known = 1 - np.sum((z**2 / 2 + log_scale)[:, there], axis=1)
        assert_allclose(out[i], known, rtol=SUMMED)


@both
def test_gaussian_scores_of_cells_very_far_away_are_finite(form):
    X = np.array([[1e308, 0.0], [-1e308, np.nan]])
    mean, inverse = np.array([[-1e308, 0.0]]), np.array([[1e-200, 1.0]])
    out = np.zeros((2, 1))
    with np.errstate(over="ignore", invalid="ignore"):
        form(scores.add_gaussian_scores)(X, mean, inverse, np.zeros((1, 2)), out)
    assert np.isfinite(out).all()
    assert out[0, 0] < out[1, 0] == 0.0


@both
def test_levels_are_counted_and_scored(form):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, size=(30, 4)).astype(float)
    X[rng.random((30, 4)) < 0.2] = np.nan
    first, y, w = 3 * np.arange(5), rng.integers(0, 2, 30), rng.uniform(size=30)
    counts = np.zeros((2, 12))
    form(scores.add_level_counts)(X, first, y, w, counts)
    for k in range(2):
        for j in range(4):
            known = [w[(y == k) & (X[:, j] == c)].sum() for c in range(3)]
            assert_allclose(counts[k, 3 * j : 3 * j + 3], known, rtol=LAST_BITS)
    table, out = rng.normal(size=(12, 2)), np.zeros((30, 2))
    form(scores.add_level_scores)(X, first, table, out)
    known = [
        sum((table[3 * j + int(X[i, j])] for j in range(4) if X[i, j] == X[i, j]), np.zeros(2))
        for i in range(30)
    ]
    assert_allclose(out, known, rtol=SUMMED, atol=LAST_BITS)
