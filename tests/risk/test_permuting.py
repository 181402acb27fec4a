"""Donors are never of a row's own unit, and columns that rows take from keep their type."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from empirisk import Table
from empirisk.risk.importances.permuting import draw_donors, take_from, with_columns
from empirisk.runtime.errors import DataError, DataTypeError

FRAME = pd.DataFrame(
    {
        "a": [1, 2, 3, 4],
        "city": pd.Categorical(["x", "y", None, "z"]),
        "n": pd.array([1, None, 2, 3], dtype="Int64"),
        "day": pd.to_datetime(["2020-01-01", "2021-01-01", None, "2022-01-01"]),
    }
)
DONORS = np.array([1, 2, 3, 0])


@pytest.mark.parametrize("n", [2, 3, 10, 101])
def test_donors_of_equal_rows_are_a_permutation_without_fixed_points(n):
    for seed in range(20):
        donors = draw_donors(np.full(n, 0.3), np.arange(n), np.random.default_rng(seed))
        assert_array_equal(np.sort(donors), np.arange(n))
        assert (donors != np.arange(n)).all()


def test_every_other_row_is_a_donor_equally_often():
    rng, n, draws = np.random.default_rng(0), 5, 4000
    counts = np.zeros((n, n))
    for _ in range(draws):
        counts[np.arange(n), draw_donors(np.ones(n), np.arange(n), rng)] += 1
    # 20 shares of 1/4 have a standard error of 0.0069: 4.5 of them are passed in 1 of 7000 seeds
    assert_allclose(counts[~np.eye(n, dtype=bool)] / draws, 1 / 4, rtol=0, atol=0.031)
    assert not counts.diagonal().any()


@pytest.mark.parametrize("weighted", [False, True])
def test_a_row_takes_from_another_group(weighted):
    rng = np.random.default_rng(1)
    unit = np.repeat([3, 1, 7, 4], [4, 1, 2, 3])
    weight = rng.uniform(0.5, 1.0, size=10) if weighted else np.ones(10)
    for _ in range(50):
        donors = draw_donors(weight, unit, rng)
        assert (unit[donors] != unit).all()


def test_donors_are_taken_in_proportion_to_their_weight():
    rng, weight = np.random.default_rng(2), np.array([1.0, 2, 3, 4, 5] * 20)
    counts = np.zeros(100)
    for _ in range(400):
        donors = draw_donors(weight, np.arange(100), rng)
        counts += np.bincount(donors, weight, minlength=100)
    of_weight = np.bincount(weight.astype(int), counts)[1:] / np.bincount(weight.astype(int))[1:]
    # each mean is over 8000 draws, of relative error about 1.5 %
    assert_allclose(of_weight / of_weight.sum(), np.arange(1, 6) / 15, rtol=0.06)


def test_a_unit_of_more_than_half_of_the_rows_takes_from_itself_too():
    unit = np.array([0, 0, 0, 0, 1])
    donors = draw_donors(np.ones(5), unit, np.random.default_rng(0))
    assert_array_equal(np.sort(donors), np.arange(5))
    assert unit[donors[4]] == 0


@pytest.mark.parametrize("make", [lambda f: f, pl.from_pandas, pa.Table.from_pandas, Table.of])
def test_columns_of_frames_keep_their_types_and_their_missing_values(make):
    before = make(FRAME)
    after = take_from(before, np.array([1, 2]), DONORS)
    assert type(after) is type(before)
    expected = FRAME.copy()
    expected["city"] = FRAME["city"].array.take(DONORS)
    expected["n"] = FRAME["n"].array.take(DONORS)
    if isinstance(before, Table):
        assert after.kinds == before.kinds
        assert after == Table.of(expected)
    elif isinstance(before, pd.DataFrame):
        pd.testing.assert_frame_equal(after, expected)
        assert FRAME["city"].tolist()[0] == "x"  # what came in is as it was
    else:
        assert after.equals(make(expected))
        assert before.equals(make(FRAME))


def test_a_name_that_is_no_text_and_a_repeated_index_do_not_matter():
    frame = pd.DataFrame({0: [1.0, 2, 3, 4], 1: [5.0, 6, 7, 8]}, index=[7, 7, 7, 7])
    after = take_from(frame, np.array([1]), DONORS)
    assert_array_equal(after.to_numpy(), [[1, 6], [2, 7], [3, 8], [4, 5]])


@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
def test_a_sparse_matrix_keeps_its_form(form):
    rng = np.random.default_rng(0)
    dense = rng.normal(size=(9, 5)) * (rng.random((9, 5)) < 0.5)
    donors, columns = rng.integers(9, size=9), np.array([0, 3])
    after = take_from(sp.csr_array(dense).asformat(form), columns, donors)
    assert after.format == form
    dense[:, columns] = dense[np.ix_(donors, columns)]
    assert_array_equal(after.toarray(), dense)


def test_lists_become_arrays_that_keep_words_and_numbers():
    assert with_columns([[1.0, 2.0], [3.0, 4.0]]).dtype == float
    mixed = with_columns([[1, "a"], [2, "b"]])
    assert mixed.dtype == object
    assert mixed[0, 0] == 1


def test_what_has_no_columns_is_refused():
    with pytest.raises(DataError, match="no columns to permute"):
        with_columns(np.zeros(3))
    with pytest.raises(DataTypeError, match="X is a dict"):
        with_columns({"a": [1, 2]})
