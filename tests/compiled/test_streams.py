"""Streams by counter: the same bits as plain integers give, and random enough to be believed."""

import numpy as np
import pytest
from scipy import stats

from empirisk.compiled.decorator import compiled
from empirisk.compiled.streams import GOLDEN, below, bits, scramble, uniform

WORD = 2**64
ERROR_PROBABILITY = 1e-6  # of each statistical test here; the seeds are fixed, so once for all


@compiled
def draws_below(seed, n, bound):
    out = np.empty(n, np.int64)
    for i in range(n):
        out[i] = below(seed, i, bound)
    return out


@compiled
def uniforms(seed, n):
    out = np.empty(n)
    for i in range(n):
        out[i] = uniform(seed, i)
    return out


@compiled
def bootstrap_means(values, seeds):
    out = np.zeros(seeds.size)
    for b in range(seeds.size):
        for i in range(values.size):
            out[b] += values[below(seeds[b], i, values.size)] / values.size
    return out


def plain_scramble(z):
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 % WORD
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB % WORD
    return z ^ (z >> 31)


def plain_bits(seed, counter):
    golden = 0x9E3779B97F4A7C15
    key = plain_scramble((seed + golden) % WORD)
    return plain_scramble(plain_scramble((counter * golden + key) % WORD) ^ key)


def test_the_finaliser_is_that_of_splitmix64():
    # First outputs of SplitMix64 from seed 1234567, as published on Rosetta Code
    # ("Pseudo-random numbers/Splitmix64").
    state = np.uint64(1234567)
    with np.errstate(over="ignore"):
        first, second = scramble(state + GOLDEN), scramble(state + GOLDEN + GOLDEN)
    assert (int(first), int(second)) == (6457827717110365317, 3203168211198807973)


EXTREMES = [(0, 0), (1, 0), (0, 1), (2**63 - 1, 2**63 - 1), (2**62 + 12345, 987654321)]


@pytest.mark.parametrize("seed, counter", EXTREMES)
def test_bits_equal_plain_integer_arithmetic(seed, counter):
    word = bits(seed, counter)
    assert int(word) == plain_bits(seed, counter)
    assert uniform(seed, counter) == (plain_bits(seed, counter) >> 11) / 2**53
    with np.errstate(over="ignore"):  # NumPy's scalars warn of the wrap-around that is meant
        assert int(bits.py_func(seed, counter)) == int(word)
        assert below.py_func(seed, counter, 1000) == below(seed, counter, 1000)


@pytest.mark.parametrize("bound", [1, 2, 7, 2**31 + 1, 2**32 - 1, 2**32, 2**32 + 1, 2**63 - 1])
def test_draws_stay_below_the_bound_and_reach_its_upper_half(bound):
    drawn = draws_below(3, 200, bound)
    assert drawn.min() >= 0
    assert drawn.max() < bound
    assert bound == 1 or drawn.max() >= bound // 2  # fails by chance once in 2^200


@pytest.mark.parametrize(
    "bound, cells",
    [
        (10, lambda drawn: drawn),
        (1000, lambda drawn: drawn // 100),
        # Bounds at which a draw without rejection is far from uniform: a quarter of the range too
        # often, in the short and in the long form.
        (3 * 2**30, lambda drawn: drawn % 3),
        (3 * 2**61, lambda drawn: drawn // 2**61),
    ],
)
def test_draws_below_a_bound_are_uniform(bound, cells):
    counts = np.bincount(cells(draws_below(11, 30_000, bound)))
    assert stats.chisquare(counts).pvalue > ERROR_PROBABILITY


def test_uniforms_are_uniform_and_consecutive_streams_are_unrelated():
    n = 20_000
    first, second = uniforms(0, n), uniforms(1, n)
    assert stats.kstest(first, "uniform").pvalue > ERROR_PROBABILITY
    for a, b in [(first, second), (first[1:], first[:-1]), (first[1:], second[:-1])]:
        assert stats.pearsonr(a, b).pvalue > ERROR_PROBABILITY


def test_the_bootstrap_standard_error_of_a_mean_is_what_theory_says():
    # The bootstrap distribution of a mean has standard deviation s / sqrt(n) exactly (s with
    # divisor n). Over B replicates its estimate has relative error sqrt((kurtosis - 1) / 4B), with
    # kurtosis 3 within 0.2 at n = 50: 0.5 % for B = 20,000. Five of these: error probability 1e-6.
    # Seeds are consecutive on purpose: unhashed ones gave a value 15 % too small.
    values = np.random.default_rng(0).normal(size=50) ** 3
    for start in (0, 2**40):
        means = bootstrap_means(values, np.arange(start, start + 20_000))
        np.testing.assert_allclose(
            means.std(), values.std() / np.sqrt(values.size), rtol=5 * np.sqrt(2.2 / 80_000)
        )
