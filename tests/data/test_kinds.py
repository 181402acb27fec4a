"""Table.of: the same columns from whatever they come; kinds found, asked for and refused."""

import datetime as dt
import subprocess
import sys
from decimal import Decimal

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from data.mixed_columns import COLUMNS, KINDS
from empirisk.data.table import Table
from empirisk.data.words import most_levels
from empirisk.runtime.errors import DataTypeError, EmpiriskError


def pandas_frame():
    frame = pd.DataFrame(COLUMNS | {"none": [np.nan] * 4})
    frame["smoker"] = frame["smoker"].astype("boolean")
    frame.index = [7, 7, 8, 9]
    return frame


def chunks(frame):
    return pa.concat_tables([frame.slice(0, 1), frame.slice(1)])


CITIES = {"city": pl.Categorical}
SOURCES = {
    "dict": lambda: COLUMNS,
    "arrow table": lambda: pa.table(COLUMNS),
    "record batch": lambda: pa.RecordBatch.from_pydict(COLUMNS),
    "arrow chunks": lambda: chunks(pa.table(COLUMNS)),
    "pandas": pandas_frame,
    "pandas with a named index": lambda: pandas_frame().rename_axis("row"),
    "polars": lambda: pl.DataFrame(COLUMNS),
    "polars with categories": lambda: pl.DataFrame(COLUMNS, schema_overrides=CITIES),
    "duckdb": lambda: duckdb.from_arrow(pa.table(COLUMNS)),
    "objects": lambda: np.array(list(COLUMNS.values()), dtype=object).T,
    "lists": lambda: [list(row) for row in zip(*COLUMNS.values(), strict=True)],
    "dict of arrays": lambda: {k: np.array(v, dtype=object) for k, v in COLUMNS.items()},
    "dict of series": lambda: {k: pl.Series(k, v) for k, v in COLUMNS.items()},
    "table": lambda: Table.of(COLUMNS),
    "arrow of a table": lambda: Table.of(COLUMNS).to_arrow(),
    "pandas of a table": lambda: Table.of(COLUMNS).to_pandas(),
    "polars of a table": lambda: Table.of(COLUMNS).to_polars(),
}


@pytest.mark.parametrize("source", SOURCES)
def test_a_table_is_the_same_from_every_source(source):
    names = list(COLUMNS) if source in ("objects", "lists") else None
    table = Table.of(SOURCES[source](), names=names)
    assert table.names == tuple(COLUMNS)
    assert table.kinds == KINDS
    assert table.shape == (4, 7)
    assert table == Table.of(COLUMNS)
    assert_array_equal(table["count"].numbers(), [1, 2, np.nan, 4])
    assert_array_equal(table["size"].numbers(), [1.5, np.nan, 2, 3])
    assert_array_equal(table["smoker"].numbers(), [1, np.nan, 0, 1])
    assert_array_equal(table["day"].numbers(), [19782.5, np.nan, 19783.5, 19782.5])
    assert_array_equal(table["none"].numbers(), [np.nan] * 4)
    assert table["city"].levels.tolist() == ["Oslo", "Rome"]
    assert_array_equal(table["city"].codes(), np.array([0, 1, 1, 0], np.int32), strict=True)
    assert_array_equal(table["smoker"].codes(), np.array([1, -1, 0, 1], np.int32), strict=True)
    assert table["name"].values().tolist() == ["a", "b", "c", None]
    for name, values in COLUMNS.items():
        assert_array_equal(table[name].missing, [value is None for value in values])


def test_an_array_of_numbers_has_default_names():
    X = np.arange(6.0).reshape(3, 2)
    X[1, 1] = np.nan
    table = Table.of(X)
    assert table.kinds == {"x0": "number", "x1": "number"}
    assert_array_equal(np.column_stack([table["x0"].numbers(), table["x1"].numbers()]), X)
    assert Table.of(np.asfortranarray(X)) == Table.of(X[:, :]) == table
    assert Table.of(X[:, ::-1], names=["x1", "x0"]).select(["x0", "x1"]) == table
    assert Table.of(np.ma.masked_invalid(X)) == table


def test_numbers_of_one_chunk_are_not_copied():
    X = np.arange(5.0)
    assert np.shares_memory(Table.of(pa.table({"x": X}))["x"].numbers(), X)


@pytest.mark.parametrize(
    ("values", "numbers"),
    [
        ([Decimal("1.5"), None], [1.5, np.nan]),
        ([dt.timedelta(minutes=2), None], [120.0, np.nan]),
        ([dt.time(1, 0, 1), None], [3601.0, np.nan]),
        (np.array([2, "NaT"], "timedelta64[h]"), [7200.0, np.nan]),
        (np.array([1, 2], "timedelta64[D]"), [86_400.0, 172_800.0]),
        (np.array([1, 2], np.uint8), [1.0, 2.0]),
        (np.array([1.5, np.nan], np.float32), [1.5, np.nan]),
        (np.array([1.5, 2], np.float16), [1.5, 2.0]),
        (pa.array([2**53 - 1, None], pa.uint64()), [2.0**53 - 1, np.nan]),
        (pa.array([1, None], pa.decimal128(20, 0)), [1.0, np.nan]),
    ],
)
def test_all_sorts_of_numbers_are_numbers(values, numbers):
    column = Table.of({"x": values})["x"]
    assert column.kind == "number"
    assert_array_equal(column.numbers(), numbers)


@pytest.mark.parametrize(
    ("values", "days"),
    [
        ([dt.date(1970, 1, 2), None], [1.0, np.nan]),
        ([dt.datetime(1969, 12, 31, 18), None], [-0.25, np.nan]),
        (np.array(["1970-01-03", "NaT"], "datetime64[D]"), [2.0, np.nan]),
        (np.array(["1970-01-03T06", "NaT"], "datetime64[ns]"), [2.25, np.nan]),
        (np.array(["1970-01-03T06", "NaT"], "datetime64[h]"), [2.25, np.nan]),
        (np.array(["1970-02", "NaT"], "datetime64[M]"), [31.0, np.nan]),
        (pa.array([86_400_000, None], pa.date64()), [1.0, np.nan]),
        (pa.array([3600, None], pa.timestamp("s", "Europe/Oslo")), [1 / 24, np.nan]),
    ],
)
def test_all_sorts_of_dates_are_days(values, days):
    column = Table.of({"d": values})["d"]
    assert column.kind == "date"
    assert_array_equal(column.numbers(), days)


def test_a_time_is_one_number_in_every_unit_and_microseconds_differ():
    rng = np.random.default_rng(0)
    for unit in ("s", "ms", "us"):
        count = rng.integers(-(2**31), 2**32, size=1000) * {"s": 1, "ms": 10**3, "us": 10**6}[unit]
        when = (count + rng.integers(0, 1000, size=1000)).astype(f"datetime64[{unit}]")
        days = Table.of({"d": when})["d"].numbers()
        for finer in ("ms", "us", "ns"):
            fine = when.astype(f"datetime64[{finer}]")
            if np.array_equal(fine, when):
                assert_array_equal(Table.of({"d": fine})["d"].numbers(), days)
        # Half a unit in the last place, 0.3 of 5e4 days and 0.25 of 4e15 microseconds.
        assert_allclose(
            days * 86_400e6, when.astype("datetime64[us]").astype(int), rtol=0, atol=0.6
        )
    run = np.datetime64("2026-03-01T12", "us") + np.arange(1000)
    assert (np.diff(Table.of({"d": run})["d"].numbers()) > 0).all()


@pytest.mark.parametrize(
    "values",
    [
        [2**53 + 1, 5],
        [-(2**53) - 1, None],
        np.array([2**63 + 1, 5], np.uint64),
        [10**30, 5],
        [Decimal(2**60 + 1), Decimal(5)],
    ],
)
def test_integers_beyond_float64_keep_their_digits(values):
    column = Table.of({"id": values})["id"]
    assert column.kind == "text"
    assert column.values().tolist() == [None if v is None else str(v) for v in values]
    labels = Table.of({"id": values}, {"id": "category"})["id"].values().tolist()
    assert labels == column.values().tolist()
    if values[0] < 2**63:
        assert Table.of({"id": values}, {"id": "number"})["id"].numbers()[0] == float(values[0])


def test_integers_beyond_64_bits_are_words_in_a_frame_too():
    frame = pd.DataFrame({"id": [2**70, None, 5]}, dtype=object)
    assert Table.of(frame)["id"].values().tolist() == [str(2**70), None, "5"]


def test_words_are_a_category_if_they_repeat_enough():
    assert [most_levels(n) for n in (0, 1, 2, 3, 100, 10**6)] == [0, 0, 1, 1, 50, 10_000]
    n = 10_000
    for levels, kind in ((most_levels(n), "category"), (most_levels(n) + 1, "text")):
        words = [f"w{i % levels}" for i in range(n)]
        table = Table.of({"w": words})
        assert table["w"].kind == kind
        chunks = pa.chunked_array([words[:7], words[7:5000], words[5000:]])
        assert Table.of({"w": chunks}) == table
    assert Table.of({"w": ["a", "b", None, None]})["w"].kind == "text"


def test_a_dictionary_keeps_its_levels_and_their_order():
    frame = pd.DataFrame({"c": pd.Categorical(["s", None, "l"], ["s", "m", "l"], ordered=True)})
    column = Table.of(frame)["c"]
    assert column.levels.tolist() == ["s", "m", "l"]
    assert_array_equal(column.codes(), [0, -1, 2])
    numbers = pa.DictionaryArray.from_arrays(pa.array([1, 0, None], pa.int8()), [10, 5])
    assert Table.of({"c": numbers})["c"].levels.tolist() == [10, 5]
    null = pa.DictionaryArray.from_arrays(pa.array([0, 1, 1]), pa.array(["a", None]))
    assert_array_equal(Table.of({"c": null})["c"].codes(), [0, -1, -1])
    two = pa.chunked_array(
        [pa.array(["b", "a"]).dictionary_encode(), pa.array(["c", "b"]).dictionary_encode()]
    )
    column = Table.of({"c": two})["c"]
    assert column.levels[column.codes()].tolist() == ["b", "a", "c", "b"]


@pytest.mark.parametrize(
    ("values", "kind", "wanted"),
    [
        ([10115, None], "text", ["10115", None]),
        ([1, 2], "category", [1, 2]),
        ([1.5, None], "category", [1.5, np.nan]),
        ([True, None], "category", [True, None]),
        ([True, None], "number", [1.0, np.nan]),
        ([1, 0, None], "boolean", [True, False, None]),
        (["1", " 2.5", "NA", None], "number", [1.0, 2.5, np.nan, np.nan]),
        (["007", "+1"], "number", [7.0, 1.0]),
        (["y", "No", "0", "TRUE", None], "boolean", [True, False, False, True, None]),
        (["2024-01-31", None], "date", [dt.date(2024, 1, 31), None]),
        ([dt.date(1970, 1, 3)], "number", [2.0]),
        ([dt.date(1970, 1, 3)], "text", ["1970-01-03"]),
        (["x", 5, None], "text", ["x", "5", None]),
        ([1.0, "a", np.nan], "category", ["1.0", "a", None]),
    ],
)
def test_a_kind_can_be_asked_for(values, kind, wanted):
    column = Table.of({"a": values}, kinds={"a": kind})["a"]
    assert column.kind == kind
    assert repr(column.values().tolist()) == repr(wanted)
    again = Table.of(Table.of({"a": values}), kinds={"a": kind}) if _one_type(values) else None
    assert again is None or again["a"].kind == kind


def _one_type(values):
    return len({type(value) for value in values if value is not None}) == 1


def test_intervals_are_categories_in_the_words_of_pandas_and_in_their_order():
    x = np.arange(20.0)
    for cut in (pd.cut(x, 4), pd.qcut(x, 4), pd.cut(x, [0, 5, 11], right=False)):
        column = Table.of(pd.DataFrame({"age": cut}))["age"]
        assert column.kind == "category"
        assert column.levels.tolist() == [str(each) for each in cut.categories]
        assert_array_equal(column.codes(), cut.codes)
    few = pd.DataFrame({"age": np.array(pd.cut(x, 4).astype(object))}).astype("interval")
    assert Table.of(few)["age"].levels.tolist()[0] == "(-0.019, 4.75]"


def test_a_category_becomes_numbers_by_its_levels():
    words = pa.array(["3", "1.5", None, "3"]).dictionary_encode()
    assert_array_equal(Table.of({"a": words}, {"a": "number"})["a"].numbers(), [3, 1.5, np.nan, 3])


@pytest.mark.parametrize(
    ("data", "options", "message"),
    [
        ({"a": [1, 2], "b": [1]}, {}, "'a' has 2 values and column 'b' 1"),
        ({"a": [1, "x"]}, {}, r"'a' mixes types: int \(row 0: 1\), str \(row 1: 'x'\)"),
        ({"a": [True, 3]}, {}, r"'a' mixes types: bool"),
        ({"a": [object()]}, {}, "'a' holds object"),
        ({"a": [[1], [2]]}, {}, "'a' has 2 dimensions"),
        ({"a": [{"x": 1}]}, {}, "'a' holds struct"),
        ({"a": [b"x"]}, {}, "'a' holds binary"),
        ({"a": np.array([1j])}, {}, "'a' holds complex128"),
        ({"a": 5}, {}, "'a' is 5; give a sequence"),
        ({"a": "word"}, {}, "'a' is 'word'; give a sequence"),
        ({}, {}, "no columns"),
        (np.arange(3), {}, "1 dimension"),
        (7, {}, "int of 0 dimension"),
        (None, {}, "NoneType"),
        (pd.Series([1]), {}, r"a Series is one column; give its to_frame\(\)"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), {}, "'a' stands for columns 0 and 1"),
        (pd.DataFrame({"a": [1, "x"]}), {}, r"'a' mixes types: int \(row 0: 1\), str"),
        (pd.DataFrame({"a": [1j]}), {}, "'a' holds complex128"),
        (pd.DataFrame({"a": pd.Categorical([(1, 2)])}), {}, "'a' holds categories of list"),
        (pd.DataFrame({"a": pd.Categorical([2**70])}), {}, r"'a' holds categories such as \[11805"),
        (np.ones((2, 2)), {"names": ["a"]}, "1 names for 2 columns"),
        (np.ones((2, 2)), {"names": ["a", "a"]}, "'a' stands for columns 0 and 1"),
        (np.ones((2, 2)), {"names": ["a", []]}, r"names is \['a', \[\]\]; give a list of texts"),
        (np.ones((2, 2)), {"names": "ab"}, "names is 'ab'; give a list of texts"),
        ({"a": [5]}, {"kinds": {"a": []}}, r"'a' is given as \[\]; give one of number"),
        (
            {"a": ["1 days 02:03:04"]},
            {"kinds": {"a": "number"}},
            r"'a' cannot be a number: row 0 has '1 days 02:03:04', wanted a number, spans and "
            r"times of day in seconds \(in pandas: .dt.total_seconds\(\)\)",
        ),
        (
            {"a": ["1", "two"]},
            {"kinds": {"a": "number"}},
            "'a' cannot be a number: row 1 has 'two'",
        ),
        ({"a": ["1", "1e999"]}, {"kinds": {"a": "number"}}, "'a' cannot be a number: row 1"),
        ({"a": ["yes", "maybe"]}, {"kinds": {"a": "boolean"}}, "row 1 has 'maybe'"),
        ({"a": [0, 2]}, {"kinds": {"a": "boolean"}}, "row 1 has '2'"),
        ({"a": ["31.12.2024"]}, {"kinds": {"a": "date"}}, "row 0 has '31.12.2024'"),
        ({"a": [5]}, {"kinds": {"a": "date"}}, "is a number and cannot be read as a date"),
        ({"a": [5]}, {"kinds": {"b": "text"}}, "there is no column 'b'; there are 'a'"),
        ({"a": [5]}, {"kinds": {"a": "float"}}, "'a' is given as 'float'; give one of number"),
    ],
)
def test_what_is_no_table_is_refused_by_the_name_of_its_column(data, options, message):
    with pytest.raises(EmpiriskError, match=message):
        Table.of(data, **options)


def test_a_sparse_matrix_is_refused():
    from scipy.sparse import eye_array

    with pytest.raises(DataTypeError, match="toarray"):
        Table.of(eye_array(3).tocsr())


def test_pandas_is_not_needed():
    program = """
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("pandas", "polars"):
            raise ImportError(name)
sys.meta_path.insert(0, Absent())
from empirisk.data.table import Table
table = Table.of({"a": [1, None, 2.5], "w": ["x", "y", "x"]})
print(table["a"].numbers(), table["w"].values(), len(table.digest()))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.strip() == "[1.  nan 2.5] ['x' 'y' 'x'] 64", done.stderr
