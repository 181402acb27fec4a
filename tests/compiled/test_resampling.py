"""Resamples by number: the same draws in every form, uniform, and each a stream of its own."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from empirisk.compiled.resampling import (
    draw,
    nested_counts,
    resample_counts,
    resample_rows,
    resample_sums,
)
from empirisk.compiled.streams import GOLDEN, bits, scramble

ERROR_PROBABILITY = 1e-6  # of each statistical test here; the seeds are fixed, so once for all


def rows_of(seed, first, number, n, m):
    rows = np.empty((number, m), np.int64)
    resample_rows(seed, first, n, rows)
    return rows


@pytest.mark.parametrize("n, m", [(1, 3), (2, 1), (5, 8), (1000, 999)])
def test_rows_counts_and_sums_are_of_the_same_draws(n, m):
    rows = rows_of(7, 3, 4, n, m)
    counts, sums = np.empty((4, n)), np.empty(4)
    values = np.random.default_rng(0).normal(size=n)
    resample_counts(7, 3, m, counts)
    resample_sums(values, 7, 3, m, sums)
    assert_array_equal(counts, [np.bincount(each, minlength=n) for each in rows])
    assert_allclose(sums, values[rows].sum(axis=1), rtol=1e-12, atol=1e-12)  # order of the sum


def test_a_resample_does_not_depend_on_the_block_it_is_drawn_in():
    whole = rows_of(11, 0, 10, 50, 50)
    assert_array_equal(rows_of(11, 6, 4, 50, 50), whole[6:])
    assert (rows_of(12, 0, 10, 50, 50) != whole).any()


def test_the_compiled_draws_equal_plain_python():
    compiled_rows, plain_rows = np.empty((2, 20), np.uint32)
    draw(5, 9, 37, compiled_rows)
    with np.errstate(over="ignore"):  # NumPy's scalars warn of the wrap-around that is meant
        draw.py_func(5, 9, 37, plain_rows)
    assert_array_equal(compiled_rows, plain_rows)


def test_of_a_power_of_two_no_draw_is_left_over():
    rows, words, state = np.empty(40, np.uint32), [], int(bits(5, 9))
    draw(5, 9, 2**31, rows)
    for _ in range(20):
        state = (state + int(GOLDEN)) % 2**64
        words.append(int(scramble(np.uint64(state))))
    halves = [half for word in words for half in (word >> 32, word % 2**32)]
    assert_array_equal(rows, [half >> 1 for half in halves])


@pytest.mark.parametrize(
    "n, cells",
    [
        (10, lambda drawn: drawn),
        (1000, lambda drawn: drawn // 100),
        # Here a draw without rejection would take every third number twice as often.
        (3 * 2**30, lambda drawn: drawn % 3),
    ],
)
def test_draws_are_uniform(n, cells):
    counts = np.bincount(cells(rows_of(3, 0, 30, n, 1001).ravel()))
    assert stats.chisquare(counts).pvalue > ERROR_PROBABILITY


def test_pairs_of_draws_are_independent():
    # Neighbours within a resample (two halves of a word, and words in turn) and across resamples.
    rows = rows_of(4, 0, 400, 5, 200)
    for first, second in [
        (rows[:, 0::2], rows[:, 1::2]),
        (rows[:, 1:-1:2], rows[:, 2::2]),
        (rows[:-1], rows[1:]),
    ]:
        table = np.bincount((5 * first + second).ravel(), minlength=25)
        assert stats.chisquare(table).pvalue > ERROR_PROBABILITY


def test_nested_resamples_draw_from_the_rows_that_were_drawn():
    drawn = np.array([2, 2, 2, 5])
    counts = np.empty((20_000, 6))
    nested_counts(1, 0, drawn, counts)
    assert (counts.sum(axis=1) == 4).all()
    assert (counts[:, [0, 1, 3, 4]] == 0).all()
    found = np.bincount(counts[:, 5].astype(int), minlength=5)
    expected = stats.binom.pmf(np.arange(5), 4, 0.25) * len(counts)
    assert stats.chisquare(found, expected).pvalue > ERROR_PROBABILITY


def test_rows_are_uniform_where_many_draws_are_left_over():
    # A quarter is left over: if it counted, every third of the first rows would come twice.
    n = 3 * 2**30 - 1
    rows = rows_of(3, 0, 1, n, 60_000)[0]
    first = rows[rows < 2**29]
    assert stats.chisquare(np.bincount(first % 3)).pvalue > ERROR_PROBABILITY
