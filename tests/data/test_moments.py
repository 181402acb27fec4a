"""Moments add up, subtract, and lose no digits to an offset."""

from fractions import Fraction
from functools import reduce
from operator import add

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from empirisk.data.blocks import ROWS_PER_BLOCK, Blocks
from empirisk.data.moments import Moments, total_moments
from empirisk.data.scaling import Rows, ordinary_moments, ordinary_rows, power_of_two
from tolerances import SUMMED

RTOL = 1e-13  # sums of some hundred numbers in double precision


def sample(n=200, q=4, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, q)) + [0, 1, 100, -3][:q], rng.integers(1, 5, n).astype(float)


def assert_same(left, right, rtol=RTOL):
    assert left.rows == right.rows
    assert left.weight == pytest.approx(right.weight, rel=rtol)
    assert_allclose(left.mean, right.mean, rtol=rtol)
    unit = np.sqrt(np.diagonal(right.scatter))
    assert_allclose(
        left.scatter / unit / unit[:, None], right.scatter / unit / unit[:, None], rtol=0, atol=rtol
    )


def naive(Z, w):
    mean = (w[:, None] * Z).sum(0) / w.sum()
    return Moments(
        len(Z),
        w.sum(),
        mean,
        sum(wi * np.outer(z - mean, z - mean) for z, wi in zip(Z, w, strict=True)),
    )


def test_moments_are_weighted_mean_and_scatter():
    Z, w = sample()
    assert_same(Moments.of(Z, weight=w), naive(Z, w))


def test_a_weighted_row_is_so_many_copies():
    Z, w = sample()
    copies = Moments.of(np.repeat(Z, w.astype(int), axis=0))
    weighted = Moments.of(Z, weight=w)
    assert weighted.weight == copies.weight == copies.rows
    assert_allclose(weighted.scatter, copies.scatter, rtol=SUMMED)


@pytest.mark.parametrize("parts", [2, 3, 7, 200])
def test_moments_of_parts_add_up(parts):
    Z, w = sample()
    split = np.array_split(np.arange(len(Z)), parts)
    assert_same(
        reduce(add, (Moments.of(Z[i], weight=w[i]) for i in split)), Moments.of(Z, weight=w)
    )


def test_a_part_taken_away_leaves_the_rest():
    Z, w = sample()
    part, rest = Moments.of(Z[:50], weight=w[:50]), Moments.of(Z[50:], weight=w[50:])
    assert_same((part + rest) - part, rest)


def test_y_joins_the_columns():
    Z, w = sample()
    assert_same(Moments.of(Z[:, :3], Z[:, 3:].copy(), w), Moments.of(Z, weight=w))


@pytest.mark.parametrize("offset", [1e3, 1e9, 1e12])
def test_an_offset_costs_no_digits(offset):
    rng = np.random.default_rng(1)
    z = rng.normal(size=3 * ROWS_PER_BLOCK) + offset
    exact = [Fraction(v) for v in z.tolist()]
    mean = sum(exact) / len(exact)
    scatter = float(sum((v - mean) ** 2 for v in exact))
    blocks = Blocks.of_arrays(z[:, None].copy(), np.empty((len(z), 0)), np.ones(len(z)))
    total = total_moments(blocks)
    assert total.mean[0] == pytest.approx(float(mean), rel=2 * np.finfo(float).eps, abs=0)
    # Block means are off by up to a unit in the last place of the offset, which enters squared, or
    # times the difference of block means, spread / 64.
    assert total.scatter[0, 0] == pytest.approx(scatter, rel=1e-13 + offset * 2.3e-16 / 20)


@pytest.mark.parametrize("offset", [0.0, 0.5, 0.99, 1.01, 5.0])
def test_columns_near_zero_lose_no_digits_without_centring(offset):
    rng = np.random.default_rng(2)
    Z = np.hstack([rng.normal(size=(2000, 3)) + offset, np.zeros((2000, 1))])
    exact = [Fraction(v) for v in Z[:, 0].tolist()]
    mean = sum(exact) / len(exact)
    scatter = float(sum((v - mean) ** 2 for v in exact))
    found = Moments.of(Z[:, :3], Z[:, 3:].copy())
    # A sum of n rounded squares is off by sqrt(n) units in the last place, if not fewer.
    assert found.scatter[0, 0] == pytest.approx(scatter, rel=45 * 2.3e-16)
    assert found.mean[0] == pytest.approx(float(mean), rel=1e-13)
    assert_array_equal(found.scatter, found.scatter.T)
    assert not found.scatter[3].any()


def test_an_offset_that_few_rows_do_not_show_costs_no_digits():
    Z = np.full((2048, 1), 1e9) + np.random.default_rng(3).normal(size=(2048, 1))
    Z[:: 2048 // 64] -= 1e9  # the rows that are looked at
    centred = Z - Z.mean()
    assert Moments.of(Z).scatter[0, 0] == pytest.approx(
        float(centred[:, 0] @ centred[:, 0]), rel=SUMMED
    )


def test_the_scatter_of_a_constant_column_is_rounding_of_rounding():
    Z = np.full((2 * ROWS_PER_BLOCK + 1, 1), 0.1)
    total = total_moments(Blocks.of_arrays(Z, np.empty((len(Z), 0)), np.ones(len(Z))))
    assert total.scatter[0, 0] <= len(Z) * (0.1 * 4 * 2.0**-53) ** 2


def test_the_same_bits_for_every_n_jobs():
    Z, w = sample(3 * ROWS_PER_BLOCK + 7)
    blocks = Blocks.of_arrays(Z[:, :3].copy(), Z[:, 3:].copy(), w)
    one = total_moments(blocks)
    for n_jobs in (2, 4):
        many = total_moments(blocks, n_jobs=n_jobs)
        assert_array_equal(many.scatter, one.scatter)
        assert_array_equal(many.mean, one.mean)


@pytest.mark.parametrize("power", [-200, 150, 307])
def test_extreme_columns_are_scaled_by_powers_of_two(power):
    Z, w = sample()
    X, y = Z[:, :3] * [10.0**power, 1.0, 0.0], Z[:, 3:].copy()
    moments, blocks, scales = ordinary_moments(Blocks.of_arrays(X, y, w))
    assert np.isfinite(moments.scatter).all()
    (rows,) = blocks
    assert_array_equal(rows.X * scales.X, X)
    assert_array_equal(np.frexp(scales.X)[0], 0.5)
    assert_allclose(
        moments.mean * np.append(scales.X, scales.y),
        np.append(w @ (X / w.sum()), w @ y / w.sum()),
        rtol=SUMMED,
    )


def test_ordinary_columns_are_left_alone_beside_a_column_of_zeros():
    Z, w = sample()
    blocks = Blocks.of_arrays(Z * [1, 0, 1, 1], Z[:, :1].copy(), w)
    _, same, scales = ordinary_moments(blocks)
    assert same is blocks
    assert_array_equal(scales.X, np.ones(4))


def test_rows_are_scaled_by_one_number_or_each_column_by_itself():
    Z, w = sample()
    X = Z * [1e200, 1e-200, 1, 1]
    rows, scales = ordinary_rows(Rows(X, Z[:, :1].copy(), w))
    assert len(set(scales.X)) == 1
    assert np.abs(rows.X).max() <= 1
    rows, scales = ordinary_rows(Rows(X, Z[:, :1].copy(), w), each=True)
    assert_array_equal(rows.X * scales.X, X)
    assert (np.abs(rows.X).max(axis=0) >= 0.5).all()


def test_powers_of_two_reach_to_both_ends():
    assert_array_equal(power_of_two(np.array([5e-324, 1.0, 1.7e308])), [1e-323, 2.0, 2.0**1023])
