"""exp, the logistic function and tanh beside extended precision."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from empirisk.compiled.decorator import compiled
from empirisk.compiled.networks import exponentials

SPECIAL = [0.0, -0.0, 1e-30, -1e-30, 1e-8, -1e-8, 0.625, -0.625, 80.0, -80.0, 0.6249, 0.6251]


@compiled(signatures=2)
def all_three(a, b, c):
    """A door to them."""
    exponentials.exponentials(a)
    exponentials.sigmoids(b)
    exponentials.tanhs(c)


def ways(values, compiled):
    three = values.copy(), values.copy(), values.copy()
    with np.errstate(over="ignore", invalid="ignore"):
        (all_three if compiled else all_three.py_func)(*three)
    return three


def references(values):
    x = values.astype(np.longdouble)
    return np.exp(x), 1 / (1 + np.exp(-x)), np.tanh(x)


def apart(values, exact):
    """In units in the last place of the exact number."""
    unit = np.spacing(np.abs(exact).astype(values.dtype))
    return np.abs(values.astype(np.longdouble) - exact) / unit


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("compiled", [True, False])
def test_a_few_units_in_the_last_place(dtype, compiled):
    most = 86.0 if dtype == np.float32 else 690.0
    n = 200_000 if compiled else 300
    rng = np.random.default_rng(0)
    x = np.concatenate([
        SPECIAL, rng.uniform(-most, most, n), rng.uniform(-1, 1, n), rng.normal(size=n) * 1e-4,
    ]).astype(dtype)  # fmt: skip
    for values, exact, units in zip(ways(x, compiled), references(x), (3, 3, 3), strict=True):
        assert values.dtype == dtype
        assert apart(values, exact).max() <= units


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("compiled", [True, False])
def test_beyond_the_range_the_ends_are_kept(dtype, compiled):
    largest = np.finfo(dtype).max
    x = np.array([90.0, 710.0, 1e5, largest, np.inf], dtype)
    high, low = ways(x, compiled), ways(-x, compiled)
    for values in (*high, *low):
        assert np.isfinite(values).all()
    assert (high[0] >= np.exp(dtype(86))).all()
    assert (low[0] <= np.exp(-dtype(86))).all()
    assert (low[0] > 0).all()
    assert_array_equal(high[1], 1)
    assert (low[1] < 1e-36).all()
    assert_array_equal(high[2], 1)
    assert_array_equal(low[2], -1)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("compiled", [True, False])
def test_nan_stays_nan_and_tanh_is_odd(dtype, compiled):
    for values in ways(np.full(9, np.nan, dtype), compiled):
        assert np.isnan(values).all()
    for values, exact in zip(ways(np.zeros(9, dtype), compiled), (1, 0.5, 0), strict=True):
        assert_array_equal(values, exact)
    x = np.linspace(0, 9, 1001).astype(dtype)
    assert_array_equal(ways(x, compiled)[2], -ways(-x, compiled)[2])
