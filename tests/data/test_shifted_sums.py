"""Sums about a shift, and the moments they give."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from empirisk.data.blocks import Blocks
from empirisk.data.shifted_sums import shifted_sums
from empirisk.learners.unsupervised.ways_to_axes import shifted_moments
from tolerances import SUMMED


def blocks_of(X, weight):
    return Blocks.of_arrays(X, np.empty((len(X), 0)), weight)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("shift", [0.0, 2.5])
@pytest.mark.parametrize("unit", [1.0, 4.0])
def test_mean_and_scatter_are_those_of_copies(weighted, shift, unit):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(9000, 3)) + 2
    weight = rng.integers(1, 4, size=9000) if weighted else np.ones(9000, dtype=int)
    c = np.full(3, shift)
    found = shifted_sums(blocks_of(X, weight.astype(float)), c, np.full(3, unit)).moments
    copies = (np.repeat(X, weight, axis=0) - shift) / unit
    assert (found.rows, found.weight) == (9000, len(copies))
    # Sums of 1e4 terms in another order.
    assert_allclose(found.mean, copies.mean(axis=0), rtol=1e-12, atol=1e-14)
    assert_allclose(found.scatter, np.cov(copies.T) * (len(copies) - 1), rtol=1e-11, atol=1e-10)


def test_the_same_bits_for_every_n_jobs():
    X = np.random.default_rng(0).normal(size=(100_000, 3))
    one, many = (
        shifted_sums(blocks_of(X, np.ones(len(X))), np.zeros(3), np.ones(3), n_jobs=jobs)
        for jobs in (1, 3)
    )
    assert_array_equal(one.squares, many.squares)
    assert_array_equal(one.sum, many.sum)


def test_a_first_block_unlike_the_others_gives_way_to_another_shift():
    """About the first block's mean, 1e8, squares of numbers of size 1 would have no digit."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 2))
    X[:4096] += [1e8, 0]
    X[4096:, 0] += 2e8
    found = shifted_moments(blocks_of(X, np.ones(len(X))))
    Z = X - X.mean(axis=0)
    assert_allclose(found.moments.scatter[1, 1], Z[:, 1] @ Z[:, 1], rtol=SUMMED)
    assert_allclose(found.moments.scatter[0, 0], Z[:, 0] @ Z[:, 0], rtol=SUMMED)
    late = rng.normal(size=(20_000, 1))
    late[4096:] += 1e9
    late[:4096] += 1e9 - 1e5
    scatter = shifted_moments(blocks_of(late, np.ones(len(late)))).moments.scatter
    assert_allclose(scatter, np.square(late - late.mean()).sum(), rtol=SUMMED)


def test_a_constant_column_has_no_scatter_at_all():
    X = np.column_stack([np.full(9000, 0.1), np.random.default_rng(0).normal(size=9000)])
    found = shifted_moments(blocks_of(X, np.ones(9000)))
    assert found.moments.scatter[0, 0] == 0
    assert_array_equal(found.moments.scatter[0], 0)
