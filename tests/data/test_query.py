"""SQL: on databases, Parquet and text; sealed off from everything else."""

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from data.csv_cases import assert_same_contents, contents, write
from empirisk.data.read import read_table
from empirisk.data.read_blocks import read_blocks
from empirisk.runtime.errors import DataError

TEXT = "a,b\n1,x\n2,y\n"


@pytest.fixture
def frame():
    return pd.DataFrame(
        {
            "a": [1.0, 2.0, np.nan, 4.0],
            "c": pd.Categorical(["u", "v", "u", None], categories=["v", "u"]),
            "s": ["x", "y", "x", "y"],
            "d": pd.to_datetime(["2024-01-01"] * 4),
        },
        index=[5, 6, 7, 8],
    )


@pytest.fixture
def database(tmp_path):
    path = tmp_path / "x.duckdb"
    with duckdb.connect(path) as connection:
        connection.execute("CREATE TABLE t AS SELECT range AS i FROM range(6)")
    return path


def test_sql_asks_databases_parquet_and_text(frame, database, tmp_path):
    assert read_table(database, sql="SELECT i FROM t WHERE i > 3")["i"].values().tolist() == [4, 5]
    frame.to_parquet(tmp_path / "1.parquet")
    table = read_table(tmp_path / "1.parquet", sql="SELECT * FROM data WHERE a < 3 ORDER BY a DESC")
    assert table["a"].values().tolist() == [2.0, 1.0]
    assert "__index_level_0__" not in table
    path = write(tmp_path, "zip;x\n01;1,5\n02;2\n")
    table = read_table(
        path, sql="SELECT zip, sum(x) OVER () AS s FROM data", kinds={"zip": "category"}
    )
    assert_same_contents(
        contents(table), {"zip": ("category", ["01", "02"]), "s": ("number", [3.5, 3.5])}
    )


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_durations_of_parquet_files_are_seconds_in_a_query_too(tmp_path, unit):
    # DuckDB reads them as their counts, without the unit.
    spans = pa.array([-1500, 2500, None], pa.duration(unit))
    cells = {"n": [1, 2, 3], 'a "span"': spans, "A": [1000, 2000, 3000], "a": spans}
    pq.write_table(pa.table(cells), tmp_path / "1.parquet")
    table = read_table(tmp_path / "1.parquet")
    sql = "SELECT * FROM data ORDER BY n"
    asked = read_table(tmp_path / "1.parquet", sql=sql)
    streamed = read_blocks(tmp_path / "1.parquet", sql=sql).to_table()
    for one, other, third in zip(table.columns, asked.columns, streamed.columns, strict=True):
        np.testing.assert_array_equal(other.numbers(), one.numbers())
        np.testing.assert_array_equal(third.numbers(), one.numbers())


def test_durations_in_other_units_are_not_read_together_in_a_query(tmp_path):
    for unit in ("ms", "ns"):
        cells = {"n": [1], "span": pa.array([5000], pa.duration(unit))}
        pq.write_table(pa.table(cells), tmp_path / f"{unit}.parquet")
    for sql in (None, "SELECT * FROM data"):
        with pytest.raises(DataError, match="files that are read together need the same columns"):
            read_table(tmp_path / "*.parquet", sql=sql)


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        (None, "is a database with t; give sql"),
        ("DROP TABLE t", "has to be one SELECT"),
        ("SELECT 1; SELECT 2", "has to be one SELECT"),
        ("", "has to be one SELECT"),
        ("SELEC", "syntax error"),
        ("SELECT * FROM no", "no does not exist"),
        ("SELECT * FROM read_csv('{other}')", "Cannot access file"),
        ("SELECT * FROM '{other}'", "Cannot access file"),
        ("SELECT * FROM read_text('/etc/passwd')", "Cannot access file"),
        ("SELECT * FROM glob('*')", "Cannot access"),
        ("SELECT * FROM read_csv('https://example.org/x.csv')", r"Cannot access|disabled|httpfs"),
        ("SELECT * FROM frame", "frame does not exist"),
    ],
)
def test_a_query_reads_nothing_else_and_writes_nothing(sql, message, database, tmp_path):
    frame = pd.DataFrame({"secret": [1]})
    other = write(tmp_path, TEXT, "other.csv")
    before = database.read_bytes()
    with pytest.raises(DataError, match=message):
        read_table(database, sql=sql and sql.format(other=other))
    assert database.read_bytes() == before
    assert len(frame) == 1


def test_a_query_on_parquet_cannot_write_to_it(frame, tmp_path):
    path = tmp_path / "1.parquet"
    frame.to_parquet(path)
    before = path.read_bytes()
    for sql in (f"COPY (SELECT 1) TO '{path}'", "INSTALL httpfs", "SET threads = 1"):
        with pytest.raises(DataError, match="one SELECT"):
            read_table(path, sql=sql)
    assert path.read_bytes() == before


def test_a_query_gives_the_same_bits_each_time(tmp_path):
    path = tmp_path / "x.duckdb"
    with duckdb.connect(path) as connection:
        connection.execute("SELECT setseed(0.5)")
        connection.execute(
            "CREATE TABLE t AS SELECT range % 1000 AS g, random() AS x FROM range(800000)"
        )
    # Where several threads each add up a part, sums and the order of groups differ at random.
    query = "SELECT g, avg(x) AS mean FROM t GROUP BY g"
    assert len({read_table(path, sql=query).digest() for _ in range(3)}) == 1
