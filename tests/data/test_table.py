"""Table: rows, columns, digests and copies; nothing lost on the way."""

import copy
import pickle
import subprocess
import sys

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis as ForeignDiscriminants
from sklearn.linear_model import Ridge as ForeignRidge
from sklearn.model_selection import train_test_split
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from data.mixed_columns import COLUMNS, KINDS
from empirisk import (
    LinearDiscriminantAnalysis,
    LinearRegression,
    NaiveBayes,
    Ridge,
    Tuned,
    datasets,
    risk,
    select,
)
from empirisk.data.table import Table
from empirisk.runtime.errors import DataError, DataTypeError

CELLS = st.fixed_dictionaries(
    {
        "x": st.lists(st.one_of(st.none(), st.floats(allow_nan=False)), min_size=12, max_size=12),
        "i": st.lists(st.one_of(st.none(), st.integers(-(2**70), 2**70)), min_size=12, max_size=12),
        "w": st.lists(st.one_of(st.none(), st.text(max_size=3)), min_size=12, max_size=12),
        "b": st.lists(st.one_of(st.none(), st.booleans()), min_size=12, max_size=12),
    }
)


@settings(max_examples=60, deadline=None)
@given(CELLS, st.lists(st.integers(-12, 11), max_size=20), st.integers(0, 12), st.integers(0, 12))
def test_rows_are_those_of_python_lists(cells, rows, start, stop):
    table = Table.of(cells)
    for part, numbers in (
        (table.take(rows), [range(12)[r] for r in rows]),
        (table.take(np.isin(np.arange(12), rows)), sorted({r for r in rows if r >= 0})),
        (table.rows(slice(start, stop)), range(12)[start:stop]),
        (table.rows(slice(start, stop, 3)), range(12)[start:stop:3]),
        (table[np.array(rows, dtype=int), ...], [range(12)[r] for r in rows]),
    ):
        assert len(part) == len(numbers)
        assert part.kinds == table.kinds
        for name in table:
            wanted = [table[name].arrow.to_pylist()[i] for i in numbers]
            assert part[name].arrow.to_pylist() == wanted
    assert table.take(np.arange(12)) == table


@settings(max_examples=60, deadline=None)
@given(CELLS, st.integers(0, 11))
def test_the_digest_tells_tables_apart_and_nothing_else(cells, row):
    table = Table.of(cells)
    frame = table.to_arrow()
    pieces = pa.concat_tables([frame.slice(0, row), frame.slice(row)])
    assert Table.of(pieces).digest() == table.digest()
    assert hash(Table.of(pieces)) == hash(table)
    other = copy.deepcopy(cells)
    other["b"][row] = {None: True, True: False, False: None}[other["b"][row]]
    assert Table.of(other) != table
    assert Table.of(dict(reversed(cells.items()))) != table
    assert Table.of({name.upper(): values for name, values in cells.items()}) != table


def test_the_digest_is_the_same_in_another_process():
    data = {"a": [1, None], "b": ["x", "x"]}
    program = f"from empirisk.data.table import Table; print(Table.of({data!r}).digest())"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.strip() == Table.of(data).digest()


def test_texts_with_moved_borders_have_another_digest():
    assert Table.of({"a": ["ab", "c"]}) != Table.of({"a": ["a", "bc"]})
    assert Table.of({"a": ["", "c"]}) != Table.of({"a": [None, "c"]})
    assert Table.of({"a": [0.0]}) == Table.of({"a": [-0.0]}) == Table.of({"a": [0]})


def test_a_table_is_pickled_with_its_rows_only():
    table = Table.of(
        {"x": np.arange(100_000.0), "w": ["a", "b"] * 50_000, "t": [str(i) for i in range(100_000)]}
    )
    assert pickle.loads(pickle.dumps(table)) == table
    few = table.rows(slice(500, 510))
    assert len(pickle.dumps(few)) < 10_000
    assert pickle.loads(pickle.dumps(few)) == few == copy.deepcopy(few)
    text = Table.of({"w": ["a", "a", "b", "b"]}, {"w": "text"})
    assert pickle.loads(pickle.dumps(text)).kinds == {"w": "text"}
    assert Table.of(text.to_arrow()).kinds == {"w": "text"}


def test_columns_say_what_they_cannot_do():
    table = Table.of(COLUMNS)
    with pytest.raises(DataError, match=r"'city' is a category, not numbers; codes\(\)"):
        table["city"].numbers()
    with pytest.raises(DataError, match="'name' is a text, not numbers"):
        table["name"].numbers()
    with pytest.raises(DataError, match="'size' is a number and has no levels"):
        table["size"].codes()
    with pytest.raises(DataError, match="'day' is a date and has no levels"):
        _ = table["day"].levels


def test_a_column_is_the_array_of_its_values():
    table = Table.of(COLUMNS)
    for name in ("city", "name", "smoker", "day"):
        np.testing.assert_array_equal(np.asarray(table[name]), table[name].values())
    for name in ("count", "size", "none"):
        np.testing.assert_array_equal(np.asarray(table[name]), table[name].numbers())
        assert np.asarray(table[name], dtype=np.float32).dtype == np.float32
    assert Table.of({name: table[name] for name in table.names}) == table


@pytest.mark.parametrize("learner", [Ridge(), ForeignRidge(), Tuned(Ridge(), cv=3)])
def test_a_column_is_a_target(learner):
    table = Table.of({"x": np.arange(12.0), "y": np.arange(12.0) ** 2})
    X = table["x"].numbers()[:, None]
    expected = clone(learner).fit(X, table["y"].numbers()).predict(X)
    np.testing.assert_array_equal(clone(learner).fit(X, table["y"]).predict(X), expected)


@pytest.mark.parametrize("kind", [pa.duration("ms"), pa.duration("ns"), pa.time64("us")], ids=str)
def test_values_of_spans_and_times_of_day_are_seconds_with_and_without_holes(kind):
    whole = Table.of({"t": pa.chunked_array([pa.array([5_000, 70_000], kind)])})["t"]
    holed = Table.of({"t": pa.chunked_array([pa.array([5_000, 70_000, None], kind)])})["t"]
    np.testing.assert_array_equal(whole.values(), whole.numbers())
    np.testing.assert_array_equal(holed.values()[:2], whole.values())


def test_a_column_of_words_is_a_target():
    table = Table.of({"x": np.arange(12.0), "side": ["low"] * 6 + ["high"] * 6})
    X, side = table["x"].numbers()[:, None], table["side"]
    for learner in (LinearDiscriminantAnalysis(), ForeignDiscriminants()):
        assert clone(learner).fit(X, side).predict(X).tolist() == side.values().tolist()
        found = risk.cross_validate(learner, X, side, cv=3)
        expected = risk.cross_validate(learner, X, side.values(), cv=3)
        np.testing.assert_array_equal(found.losses, expected.losses)
    assert select([LinearDiscriminantAnalysis()], X, side, cv=2).training_risk == 0


def test_columns_are_chosen_by_name():
    table = Table.of(COLUMNS)
    assert table.select(["name", "count"]).names == ("name", "count")
    assert table.drop(["name", "none"]).names == ("count", "size", "city", "smoker", "day")
    assert list(table) == list(COLUMNS)
    assert "city" in table
    assert 3 not in table
    for refused in (
        lambda: table["town"],
        lambda: table.select(["town"]),
        lambda: table.drop("town"),
    ):
        with pytest.raises(DataError, match="no column 'town'; there are 'count'"):
            refused()
    with pytest.raises(DataTypeError, match="columns by name"):
        table[0]
    with pytest.raises(DataError, match="no row 4; the rows are 0 to 3"):
        table.take([0, 4])
    with pytest.raises(DataError, match="mask of shape"):
        table.take([True, False])
    with pytest.raises(DataTypeError, match="give row numbers"):
        table.take([0.5])


@pytest.mark.parametrize("name", [[], {}, {"a"}, np.zeros(2), 5])
def test_what_is_no_text_is_the_name_of_no_column(name):
    table = Table.of({"a": [1, 2]})
    assert name not in table
    for verb in (table.select, table.drop):
        with pytest.raises(DataError, match=r"there is no column .*; there are 'a'"):
            verb([name])
    with pytest.raises(DataTypeError, match="5 is no name of a column: give a list"):
        table.drop(5)


def test_columns_keep_their_kinds_by_place_where_they_are_given_other_names():
    table = Table.of({"a": ["x", "y"], "b": [1, 2]})
    for same in (table, table.to_arrow()):
        other = Table.of(same, names=["b", "a"])
        assert other.kinds == {"b": "text", "a": "number"}
        assert Table.of(same, {"a": "category"}, names=["b", "a"]).kinds["a"] == "category"


@pytest.mark.parametrize("form", [dict, pd.DataFrame])
def test_mixed_objects_are_words_where_these_are_asked_for(form):
    mixed = form({"a": [1, "x", 2.5], "b": [1, 2, 3]})
    with pytest.raises(DataError, match="to take them all as words"):
        Table.of(mixed)
    assert Table.of(mixed, {"a": "text"})["a"].values().tolist() == ["1", "x", "2.5"]
    assert Table.of(mixed, {"u": "text"}, names=["u", "b"])["u"].kind == "text"


def test_scikit_learn_can_count_and_split_the_rows():
    table = Table.of(COLUMNS)
    assert _num_samples(table) == 4
    assert _safe_indexing(table, [2, 0])["count"].values()[1] == 1
    assert _safe_indexing(table, np.array([True, False, False, True])).shape == (2, 7)
    assert _safe_indexing(table, slice(1, 3)) == table.take([1, 2])
    train, test = train_test_split(table, test_size=1, random_state=0)
    assert (len(train), len(test)) == (3, 1)


def test_a_table_without_rows_is_a_table():
    table = Table.of(
        {"a": np.empty(0), "w": pa.array([], pa.string()), "d": pa.array([], pa.date32())}
    )
    assert len(table) == 0
    assert table["a"].numbers().shape == (0,)
    assert Table.of(COLUMNS).take([]).kinds == KINDS
    assert Table.of(COLUMNS).rows(slice(2, 2))["city"].codes().shape == (0,)
    assert pickle.loads(pickle.dumps(table)) == table
    assert "0 rows" in repr(table)


def test_the_summary_shows_what_was_found():
    lines = Table.of(COLUMNS).summary().split("\n")
    assert lines[0] == "Table of 4 rows, 7 columns"
    assert lines[1].split() == ["count", "number", "1", "missing", "3", "distinct", "1,", "2,", "4"]
    assert lines[3].split()[:6] == ["city", "category", "0", "missing", "2", "distinct"]
    assert len(lines) == 8
    long = Table.of({"t": ["x" * 1000], "n": [np.pi]})
    assert max(map(len, repr(long).split("\n"))) < 80
    assert "3.14159" in repr(long)


def test_times_that_python_has_not_are_shown():
    days = np.array(["20000-01-01", "-0044-03-15"], "M8[s]")
    assert "20000-01-01 00:00:00" in repr(Table.of({"day": days}))


def test_frames_that_come_out_hold_what_went_in():
    table = Table.of(COLUMNS)
    frame = table.to_pandas()
    assert frame["city"].tolist() == COLUMNS["city"]
    assert frame["day"].isna().tolist() == [False, True, False, False]
    assert table.to_polars()["count"].to_list() == COLUMNS["count"]
    assert pa.table(table)["name"].to_pylist() == COLUMNS["name"]
    assert duckdb.from_arrow(pa.table(table)).aggregate("sum(count)").fetchall() == [(7,)]


def test_a_column_is_an_array_of_its_values():
    table = Table.of(COLUMNS)
    assert np.asarray(table["city"]).tolist() == COLUMNS["city"]
    assert np.asarray(table["size"], dtype=np.float32).dtype == np.float32
    assert np.array(table["size"], copy=True).flags.writeable
    again = Table.of({name: table[name] for name in table.names})
    assert again.kinds == KINDS
    assert again.to_arrow().equals(table.to_arrow())


def test_columns_are_targets_weights_and_groups_as_they_are():
    heart = datasets.heart_disease()
    X, y, age, hospital = heart.drop(["disease"]), heart["disease"], heart["age"], heart["hospital"]
    one = NaiveBayes().fit(X, y, sample_weight=age)
    other = NaiveBayes().fit(X, y.values(), sample_weight=age.values())
    assert np.array_equal(one.predict_proba(X), other.predict_proba(X))
    by_column, by_array = (
        risk.cross_validate(NaiveBayes(), X, labels, groups=groups, random_state=0).value
        for labels, groups in ((y, hospital), (y.values(), hospital.values()))
    )
    assert by_column == by_array
    cars = datasets.auto_mpg()
    weights = cars["weight"].numbers()[:, None]
    assert np.array_equal(
        LinearRegression().fit(weights, cars["mpg"]).coef_,
        LinearRegression().fit(weights, cars["mpg"].numbers()).coef_,
    )
