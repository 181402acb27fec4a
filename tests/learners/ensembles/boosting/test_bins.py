"""Bins: laws of copies, weights, samples, missing values and levels."""

import numpy as np
import pandas as pd
import pytest

from empirisk.learners.ensembles.boosting import binning
from empirisk.learners.ensembles.boosting.binning import in_order
from empirisk.learners.ensembles.boosting.bins import BinnedTable
from empirisk.runtime.errors import DataError, ParameterError

SAME = ("codes", "low", "high", "features")


def of(X, **options):
    return BinnedTable.of(X, [None] * X.shape[1], **options)


def test_up_to_255_distinct_values_have_a_bin_each_and_nothing_is_lost():
    X = np.random.default_rng(0).integers(255, size=(3000, 2)) * 1e-3
    X[::7, 1] = np.nan
    table = of(X)
    np.testing.assert_array_equal(table.places(), X)
    np.testing.assert_array_equal(table[::3].places(), X[::3])
    assert table[::3].shape == (1000, 2)


def test_values_beside_a_sample_have_bins_too(monkeypatch):
    X = np.repeat(np.arange(200.0), 5)[:, None]
    monkeypatch.setattr(binning, "SAMPLE", 150)
    np.testing.assert_array_equal(of(X).places(), X)


def test_bins_hold_about_the_same_number_of_rows(monkeypatch):
    X = np.random.default_rng(1).normal(size=(20_000, 1))
    for sample in (200_000, 10_000):
        monkeypatch.setattr(binning, "SAMPLE", sample)
        table = of(X)
        counts = np.bincount(table.codes[0])
        assert table.features["n_bins"][0] >= 250
        # the mean is 79; of a sample of half the rows, a bin's count is off by 5 standard
        # deviations of 9 in less than one of a million tables
        assert counts.max() < 79 + (2 if sample == 200_000 else 5 * 9 + 2)


def test_a_row_of_weight_w_is_w_copies_and_of_weight_0_none():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(3000, 3))
    weight = rng.integers(4, size=3000)
    weighted = of(X, weight=weight.astype(float))
    copied = of(np.repeat(X, weight, axis=0))
    np.testing.assert_array_equal(weighted.low, copied.low)
    np.testing.assert_array_equal(weighted.high, copied.high)
    np.testing.assert_array_equal(np.repeat(weighted.codes, weight, axis=1), copied.codes)


def test_threads_and_copies_of_the_table_change_no_bit():
    X = np.random.default_rng(3).normal(size=(5000, 20))
    one = of(X)
    for other in (of(X, n_jobs=3), of(np.asfortranarray(X)), of(pd.DataFrame(X))):
        for name in SAME:
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


def test_huge_and_tiny_numbers_keep_their_bins():
    X = np.random.default_rng(4).normal(size=(2000, 2))
    for factor in (2.0**600, 2.0**-600):
        np.testing.assert_array_equal(of(X * factor).codes, of(X).codes)


def test_of_more_levels_than_bins_the_rarest_share_the_last():
    level = np.concatenate([np.arange(400), np.repeat(np.arange(0, 400, 2), 3)])
    frame = pd.DataFrame({"a": pd.Categorical(level.astype(str))})
    table = BinnedTable.of(frame, [None], max_bins=101)
    counts = np.bincount(table.codes[0])
    assert len(counts) == 101
    assert (counts[:100] == 4).all()
    assert counts[100] == len(level) - 400
    assert not table.columns[0].missing


def test_infinite_values_and_other_numbers_of_bins_are_refused():
    with pytest.raises(DataError, match="'x1' has infinite"):
        of(np.array([[1.0, np.inf], [2.0, 3.0]]))
    with pytest.raises(ParameterError, match="from 2 to 255"):
        of(np.ones((3, 1)), max_bins=256)


def test_a_column_without_values_and_one_with_a_single_value_are_no_trouble():
    X = np.column_stack([np.full(50, np.nan), np.full(50, 3.0), np.arange(50.0)])
    table = of(X)
    np.testing.assert_array_equal(table.places(), X)


def test_integers_beyond_2_to_53_keep_all_their_digits():
    X = pd.DataFrame({"a": np.arange(2**60, 2**60 + 50)})
    assert BinnedTable.of(X, [None]).features["n_bins"][0] == 50


def test_in_order_sorts_numbers_that_differ_in_their_last_bits_only():
    values = 1.0 + 2.0**-52 * np.random.default_rng(5).permutation(5000)
    np.testing.assert_array_equal(in_order(values), np.sort(values))
