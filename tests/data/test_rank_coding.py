"""Rank coding: nothing of a table is lost."""

from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from empirisk.compiled import ranking
from empirisk.data.coded_column import code_column, places_of, rank_numbers
from empirisk.data.rank_coding import RankCoding
from empirisk.data.raw_columns import RawColumn, chosen_categories
from empirisk.data.table import Table
from empirisk.runtime.errors import DataError, ParameterError

numbers = st.lists(
    st.one_of(
        st.floats(allow_infinity=False, width=64),
        st.integers(-5, 5).map(float),
        st.just(float("nan")),
    ),
    min_size=1,
    max_size=40,
)


def coded(X, categories=None):
    return RankCoding.of(X, [None] * X.shape[1] if categories is None else categories)


@settings(deadline=None)  # the first example compiles
@given(numbers)
def test_codes_and_values_give_the_numbers_back(values):
    x = np.array(values)
    distinct, codes = rank_numbers(x)
    assert (np.diff(distinct) > 0).all()
    assert_array_equal(np.append(distinct, np.nan)[codes], x)  # 0.0 and -0.0 are one number


@settings(deadline=None)  # the first example compiles
@given(numbers)
def test_both_ways_to_ranks_agree_and_run_uncompiled(values):
    x = np.array(values)
    by_order = np.empty(len(x), np.uint32)
    distinct = np.empty(len(x))
    order = np.argsort(x)
    n = ranking.rank_ordered.py_func(x, order, by_order, distinct)
    assert_array_equal(by_order, rank_numbers(x)[1])
    assert_array_equal(distinct[:n], rank_numbers(x)[0])
    low, high = ranking.integer_range.py_func(x)
    whole = x[~np.isnan(x)]
    integers = (whole == np.floor(whole)).all() and (np.abs(whole) < 2.0**53).all()
    assert (low <= high) == bool(integers and len(whole))
    if low <= high < low + 1000:
        by_integer = np.empty(len(x), np.uint32)
        table = np.full(int(high - low) + 1, -1, np.int64)
        assert ranking.rank_integers.py_func(x, low, table, by_integer) == n
        assert_array_equal(by_integer, by_order)


@pytest.mark.parametrize(
    ("distinct", "table"), [(255, 0), (256, 1), (2**16 - 1, 1), (2**16, 2)], ids=str
)
@pytest.mark.parametrize("scale", [1.0, 0.1], ids=["integers", "floats"])
def test_codes_are_as_small_as_can_hold_them_with_one_for_missing(distinct, table, scale):
    x = np.append(np.random.default_rng(0).permutation(distinct) * scale, np.nan)
    coding = coded(x[:, None])
    assert coding.features["table"][0] == table
    assert coding.codes(0).dtype == (np.uint8, np.uint16, np.uint32)[table]
    assert coding.codes(0)[-1] == distinct == coding.features["n_codes"][0]
    assert_array_equal(coding.places()[:, 0], x)


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.int64, np.float32, np.float64, bool])
@pytest.mark.parametrize("order", ["C", "F"])
def test_arrays_of_every_type_and_layout(dtype, order):
    X = np.random.default_rng(1).integers(0, 100, size=(50, 40)).astype(dtype)
    X = np.asarray(X, order=order)[::2]
    X.setflags(write=False)
    assert_array_equal(coded(X).places(), X.astype(float))


def test_integers_beyond_float64_keep_their_order():
    x = np.array([2**63 - 1, 2**62, 2**62 + 1, 2**62 - 1, -(2**62)])
    column, codes = code_column(RawColumn("id", x))
    assert column.kind == "integer"
    assert_array_equal(codes, [4, 2, 3, 1, 0])
    new = np.array([2**62, 2**62 + 2**61, -(2**63), 2**63 - 1, 0])
    places = column.places(RawColumn("id", new))
    # Those never seen stand on the way between.
    assert_allclose(places, [2.0, 3.5, -1.0, 4.0, 0.5], rtol=1e-15)
    missing = RawColumn("id", new, missing=new == 0)
    assert_array_equal(column.places(missing), np.append(places[:4], np.nan))
    unsigned = code_column(RawColumn("id", np.array([2**64 - 1, 2**64 - 2], dtype=np.uint64)))
    assert_array_equal(unsigned[1], [1, 0])
    floats = column.places(RawColumn("id", np.array([np.nan, 0.0])))
    assert np.isnan(floats[0])
    assert floats[1] == 0.5
    beyond = column.places(RawColumn("id", np.array([2**64 - 1, 2**62], dtype=np.uint64)))
    assert_array_equal(beyond, [4.0, 2.0])
    beyond = column.places(RawColumn("id", np.array([1e300, -1e300])))
    assert_array_equal(beyond, [4.0, -1.0])
    infinite = column.places(RawColumn("id", np.array([np.inf, -np.inf])))
    assert_array_equal(infinite, [np.inf, -np.inf])  # which the door of a tree refuses


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, Table.of], ids=lambda f: f.__name__)
def test_frames_have_categories_numbers_truths_and_dates(frame):
    data = frame(
        {
            "size": [1.5, None, 2.5, 1.5] * 2,
            "city": ["Oslo", "Rome", None, "Oslo"] * 2,
            "member": [True, False, True, True] * 2,
            "day": np.array(
                ["2024-01-01", "2024-01-03", "2024-01-02", "NaT"] * 2, "datetime64[ns]"
            ),
        }
    )
    coding = coded(data)
    assert [column.kind for column in coding.columns] == ["number", "category", "number", "number"]
    assert_array_equal(places_of(data, coding.columns), coding.places())
    places = coding.places()[:4]
    assert_array_equal(places[:, 0], [1.5, np.nan, 2.5, 1.5])
    assert_array_equal(places[:, 1], [0, 1, np.nan, 0])
    assert_array_equal(places[:, 2], [1, 0, 1, 1])
    assert_array_equal(np.argsort(places[:, 3]), [0, 2, 1, 3])


def test_levels_are_the_same_in_every_unit_of_time():
    days = pd.to_datetime(["2024-01-01 00:00", "2024-01-01 12:30", "2024-01-01 00:00"])
    spans = pd.to_timedelta([90, 0.5, 90], "s")
    found = [
        coded(
            pd.DataFrame({"day": pd.Categorical(days.as_unit(unit)), "span": pd.Categorical(spans)})
        ).columns
        for unit in ("s", "us", "ns")
    ]
    for day, span in found:
        assert day.values == ["2024-01-01", "2024-01-01T12:30:00"]
        assert span.values == [0.5, 90.0]


@pytest.mark.parametrize("frame", [partial(pd.DataFrame, dtype="Int64"), pl.DataFrame, Table.of])
@pytest.mark.parametrize("n", [1, 10], ids=["each once", "repeated"])
def test_identifiers_have_their_places_in_a_table_as_in_a_frame(frame, n):
    ids = {"id": [2**60 + 3, 2**60, 2**60 + 1, None] * n}
    columns = coded(frame(ids)).columns
    for other in (pd.DataFrame(ids, dtype="Int64"), pl.DataFrame(ids), Table.of(ids)):
        assert_array_equal(places_of(other, columns)[:4, 0], [2, 0, 1, np.nan])


def test_small_integers_in_words_stand_where_integers_were():
    column = coded(Table.of({"id": [2**60 + 1, 2**60]})).columns
    few = Table.of({"id": [5, 2**60]}, {"id": "text"})
    assert_array_equal(places_of(few, column)[:, 0], [-1, 0])


def test_missing_integers_beyond_float64_are_missing_among_numbers():
    columns = coded(pd.DataFrame({"n": [1, 2, 3]})).columns
    late = pd.DataFrame({"n": pd.array([2**60, None], "Int64")})
    assert_array_equal(places_of(late, columns)[:, 0], [2.0**60, np.nan])


DAYS = pd.to_datetime(["2024-01-01", "2024-01-02"])


@pytest.mark.parametrize(
    ("before", "now", "says"),
    [
        ([1.5, 2.5], DAYS, "'x' holds dates, where numbers were in training: give numbers"),
        (DAYS, [1.5, 2.5], "'x' holds numbers, where dates were in training: give dates"),
        (DAYS, ["a", "b"], "'x' holds words, such as 'a', where dates were in training: give dat"),
        ([1.5, 2.5], ["a", "b"], "words, such as 'a', where numbers were in training: give numb"),
        ([1.5, 2.5], ["1", "2"], "words, such as '1', where numbers were in training: give numb"),
    ],
)
def test_what_is_not_as_in_training_is_named(before, now, says):
    columns = coded(pd.DataFrame({"x": before})).columns
    with pytest.raises(DataError, match=says):
        places_of(pd.DataFrame({"x": now}), columns)
    nothing = pd.DataFrame({"x": [None, None]})
    for empty in (nothing, nothing.astype(float), nothing.astype("category")):
        assert np.isnan(places_of(empty, columns)).all()


def test_a_level_that_was_never_seen_has_no_place():
    coding = coded(pd.DataFrame({"city": ["Oslo", "Rome", "Oslo", "Rome"]}))
    new = pd.DataFrame({"city": ["Paris", "Rome", None]})
    assert_array_equal(places_of(new, coding.columns)[:, 0], [np.nan, 1, np.nan])


def test_truth_values_are_the_levels_that_training_spelled_beside_other_words():
    for yes, no in (("TRUE", "FALSE"), ("Yes", "No")):
        train = coded(Table.of({"answer": [yes, no, "unknown"] * 4}))
        for truths in ([True, False, None], [False]):
            words = [None if each is None else yes if each else no for each in truths]
            found = places_of(Table.of({"answer": truths}), train.columns)
            assert_array_equal(found, places_of(Table.of({"answer": words}), train.columns))
            assert not np.isnan(found[0, 0])


def test_numbers_can_be_asked_to_be_categories():
    X = np.array([[3.0, 1], [np.nan, 2], [7, 3], [3, 4]])
    coding = coded(X, [True, False])
    assert coding.columns[0].values == [3.0, 7.0]
    assert_array_equal(coding.places()[:, 0], [0, np.nan, 1, 0])
    assert_array_equal(places_of(X, coding.columns), coding.places())


def test_some_rows_share_the_codes():
    X = np.random.default_rng(2).normal(size=(30, 3))
    coding = coded(X)
    some = coding[np.array([4, 2, 9]), ...]
    again = some[[2, 0]]
    assert again.small is coding.small
    assert again.shape == (2, 3)
    assert_array_equal(again.places(), X[[9, 4]])


def test_what_cannot_be_a_column_is_named():
    with pytest.raises(DataError, match=r"'x1' has infinite"):
        coded(np.array([[1.0, np.inf], [2.0, 3.0]]))
    with pytest.raises(DataError, match="'note' holds text"):
        coded(pd.DataFrame({"note": [f"words {i}" for i in range(50)]}))
    with pytest.raises(ParameterError, match="'b'; the columns are"):
        chosen_categories(["b"], ["a"], 1)
    with pytest.raises(ParameterError, match="from 0 to 1"):
        chosen_categories([2], ["a", "b"], 2)
    with pytest.raises(ParameterError, match="categorical_features is 'from_type'; it must be"):
        chosen_categories("from_type", ["a", "b"], 2)
