"""Tables in blocks: together they are the table that `read_table` gives, however they come."""

import datetime as dt
import subprocess
import sys
from decimal import Decimal

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from data.block_sources import blocks_of_all_sources, mixed
from data.csv_cases import write
from empirisk.data import read_blocks as reading
from empirisk.data.blocks import ROWS_PER_BLOCK
from empirisk.data.column import KINDS
from empirisk.data.read import read_table
from empirisk.data.read_blocks import read_blocks
from empirisk.data.table import Table
from empirisk.data.table_blocks import TableBlocks, join_tables
from empirisk.runtime.errors import DataError, EmpiriskError, ParameterError

DAY = dt.datetime(2024, 2, 28, 23)

# From the number of a row, and a number for it, to its value; and their type.
COLUMNS = {
    "integers": (lambda i, k: k % 7 - 3, pa.int64()),
    "a late integer beyond 2^53": (lambda i, k: 2**53 + 1 if i == 50 else k % 3, pa.int64()),
    "unsigned integers": (lambda i, k: 2**63 + k % 5, pa.uint64()),
    "truths as integers": (lambda i, k: k % 2, pa.int8()),
    "decimals": (lambda i, k: Decimal(k) / 4, pa.decimal128(20, 2)),
    "large decimals": (lambda i, k: Decimal(2**60 + 1 if i > 30 else k % 4), pa.decimal128(30, 0)),
    "numbers": (lambda i, k: [0.0, -0.0, np.nan, 1.5, k][k % 5], pa.float64()),
    "few words": (lambda i, k: "abc"[k % 3], pa.string()),
    "words": (lambda i, k: f"w{k}", pa.large_string()),
    "new words to the end": (lambda i, k: f"w{i // 2}", pa.string()),
    "words for numbers": (lambda i, k: ["1", " 2.5", "007", "NA"][k % 4], pa.string()),
    "words for truths": (lambda i, k: ["yes", "No", "0", "NA"][k % 4], pa.string()),
    "words for dates": (lambda i, k: "2024-01-31" if i < 40 else "2024-01-31 10:00", pa.string()),
    "words for zones": (lambda i, k: "NA" if i < 9 else "2024-01-31T10:00Z", pa.string()),
    "dates and zones": (lambda i, k: "2024-01-31" if i < 40 else "2024-01-31 10:00Z", pa.string()),
    "no date after all": (lambda i, k: "2024-01-31" if i < 40 else "31.1.2024", pa.string()),
    "labels": (lambda i, k: "zab"[k % 3], pa.dictionary(pa.int8(), pa.string(), ordered=True)),
    "truths": (lambda i, k: k % 2 == 0, pa.bool_()),
    "dates": (lambda i, k: (DAY + dt.timedelta(k)).date(), pa.date32()),
    "times": (lambda i, k: DAY + dt.timedelta(hours=k), pa.timestamp("ns")),
    "times in Oslo": (lambda i, k: DAY + dt.timedelta(hours=k), pa.timestamp("us", "Europe/Oslo")),
    "durations": (lambda i, k: dt.timedelta(hours=k), pa.duration("ms")),
    "nothing": (lambda i, k: None, pa.null()),
}


def column(name, n, seed, holes):
    value, kind = COLUMNS[name]
    rng = np.random.default_rng(seed)
    there, numbers = rng.random(n) >= holes, rng.integers(0, 200, n).tolist()
    return pa.array([value(i, numbers[i]) if there[i] else None for i in range(n)], kind)


def outcome(read):
    try:
        return read()
    except EmpiriskError as error:
        return type(error)


def types(table):
    return [column.arrow.type for column in table.columns]


def assert_same_as_whole(path, rows_per_block, **options):
    """Read in blocks and as a whole: the same table, or the same type of error."""
    expected = outcome(lambda: read_table(path, **options))
    blocks = outcome(lambda: read_blocks(path, rows_per_block=rows_per_block, **options))
    passes = outcome(lambda: [list(blocks), list(blocks)]) if isinstance(blocks, TableBlocks) else 0
    if isinstance(expected, type):
        assert expected in (blocks, passes)
        return
    for each in passes:
        assert join_tables([blocks.schema, *each]) == expected
        assert all(len(block) == rows_per_block for block in each[:-1])
        for block in [blocks.schema, *each]:
            assert types(block) == types(expected)
            for ours, all_rows in zip(block.columns, expected.columns, strict=True):
                if ours.kind == "category":
                    assert ours.levels.tolist() == all_rows.levels.tolist()


@pytest.mark.parametrize("holes", [0.2, 1.0])
@pytest.mark.parametrize("name", COLUMNS)
def test_any_column_of_any_kind_is_that_of_the_whole(name, holes, tmp_path, monkeypatch):
    monkeypatch.setattr(reading, "MOST_ROWS", 16)
    path = tmp_path / "x.parquet"
    pq.write_table(pa.table({"c": column(name, 70, 1, holes)}), path, row_group_size=45)
    for kind in (None, *KINDS):
        assert_same_as_whole(path, 30, kinds=kind and {"c": kind})


@settings(max_examples=12, deadline=None)
@given(
    n=st.sampled_from([0, 1, 2, 64, 80]),
    seed=st.integers(0, 9),
    sizes=st.tuples(*[st.sampled_from([5, 32, 1000])] * 3),
    query=st.booleans(),
)
def test_no_size_of_anything_matters(n, seed, sizes, query, tmp_path_factory):
    path = tmp_path_factory.getbasetemp() / "any.parquet"
    row_group, at_once, rows_per_block = sizes
    columns = {name: column(name, n, seed + j, 0.1) for j, name in enumerate(COLUMNS)}
    pq.write_table(pa.table(columns), path, row_group_size=row_group)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reading, "MOST_ROWS", at_once)
        assert_same_as_whole(path, rows_per_block, sql="SELECT * FROM data" if query else None)


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    return blocks_of_all_sources(tmp_path_factory.mktemp("sources"))


def test_all_sources_give_the_same_blocks(sources):
    digests = {
        name: [(len(block), block.digest()) for block in blocks]
        for name, blocks in sources.items()
    }  # fmt: skip
    assert [n for n, _ in digests["memory"]] == [4096, 4096, 1808]
    for name in sources:
        assert digests[name] == digests["memory"], name
        assert sources[name].kinds == Table.of(mixed()).kinds
        assert sources[name].shape == (10_000, 6)


def test_blocks_of_a_table_in_memory_share_its_memory():
    table = Table.of({"x": np.arange(10.0)})
    (first, *_) = TableBlocks.of(table, rows_per_block=4)
    assert np.shares_memory(first["x"].numbers(), table["x"].numbers())


def test_columns_are_selected_and_dropped_in_every_pass(sources):
    for blocks in (sources["memory"], sources["parquet"]):
        few = blocks.select(name for name in ("sold", "size"))
        assert few.names == ("sold", "size")
        assert few.drop(["sold"]).shape == (10_000, 1)
        assert few.drop("sold").names == few.select("size").names == ("size",)
        for _ in range(2):
            assert {block.names for block in few} == {("sold", "size")}
        with pytest.raises(DataError, match="no column 'colour'; there are 'sold', 'size'"):
            few.drop(["colour"])
    lines = ["TableBlocks of 10,000 rows, 2 columns", "  sold  category", "  size  number"]
    assert repr(few).split("\n") == lines


def test_kinds_that_a_table_left_in_a_file_are_kept(tmp_path):
    table = Table.of({"zip": [10115, 80331] * 20, "x": range(40)}, {"zip": "category"})
    pq.write_table(table.to_arrow(), tmp_path / "t.parquet")
    blocks = read_blocks(tmp_path / "t.parquet", rows_per_block=9)
    assert blocks.to_table() == read_table(tmp_path / "t.parquet")
    assert blocks.kinds == {"zip": "category", "x": "number"}
    assert "Parquet" in str(next(iter(blocks)).source)


def test_names_of_any_sort_and_enumerated_levels(tmp_path):
    names = ["a.b", "a", "two words", 'a "quote"', "", "select", "data"]
    words = pa.array(["z", "a", None] * 10)
    pq.write_table(pa.table(dict.fromkeys(names, words)), tmp_path / "x.parquet")
    for sql in (None, "SELECT * FROM data"):
        assert_same_as_whole(tmp_path / "x.parquet", 7, sql=sql)
    with duckdb.connect(tmp_path / "x.duckdb") as connection:
        connection.execute("CREATE TABLE t AS SELECT 'a'::ENUM('z', 'a') AS e FROM range(30)")
    assert_same_as_whole(tmp_path / "x.duckdb", 7, sql="SELECT * FROM t")
    assert read_blocks(tmp_path / "x.duckdb", sql="SELECT * FROM t").schema["e"].levels[0] == "z"


def test_a_path_is_meant_from_where_it_was_given(tmp_path, monkeypatch):
    pq.write_table(pa.table({"a": range(9)}), tmp_path / "x.parquet")
    monkeypatch.chdir(tmp_path)
    for sql in (None, "SELECT a FROM data"):
        monkeypatch.chdir(tmp_path)
        blocks = read_blocks("x.parquet", sql=sql)
        monkeypatch.chdir("/")
        assert len(blocks.to_table()) == 9


def test_a_file_is_read_a_little_at_a_time_even_in_one_row_group(tmp_path):
    n, path = 2**20, tmp_path / "x.parquet"
    frame = pa.table({name: np.random.default_rng(0).normal(size=n) for name in "abcd"})
    pq.write_table(frame, path, row_group_size=n, use_dictionary=False, data_page_size=2**16)
    nbytes = frame.nbytes
    del frame
    before = pa.total_allocated_bytes()
    held = [pa.total_allocated_bytes() - before for _ in read_blocks(path)]
    assert len(held) == n // ROWS_PER_BLOCK
    # For each of 4 columns two pieces of half a MiB and a buffer of one, against 32 MiB in all.
    assert max(held) < nbytes / 3


def test_the_rows_of_a_query_are_never_together_in_memory(tmp_path):
    path = tmp_path / "x.duckdb"
    duckdb.connect(path).close()
    program = f"""
import resource
from empirisk.data.read_blocks import read_blocks
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
count = lambda n: sum(len(b) for b in read_blocks({str(path)!r}, rows_per_block=2**16,
    sql=f"SELECT range::DOUBLE AS x FROM range({{n}})"))
count(1_000_000)
before = peak()
print(count(8_000_000), peak() - before)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    rows, grown = done.stdout.split()
    assert int(rows) == 8_000_000, done.stderr
    assert float(grown) < 30  # MiB; the rows are 61, and a pass over a million has shown the rest


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda path, frame: pq.write_table(frame.slice(1), path), "was written to"),
        (lambda path, frame: pq.write_table(frame.drop(["b"]), path), "was written to"),
        (lambda path, frame: path.write_bytes(b"PAR1 and no more"), "cannot be read as Parquet"),
        (lambda path, frame: path.unlink(), "cannot be read as Parquet"),
    ],
    ids=["other rows", "other columns", "garbage", "gone"],
)
def test_a_file_that_changes_between_passes_is_noticed(change, message, tmp_path):
    path, frame = tmp_path / "x.parquet", pa.table({"a": range(100), "b": range(100)})
    pq.write_table(frame, path)
    blocks = read_blocks(path, rows_per_block=30)
    assert len(list(blocks)) == 4
    change(path, frame)
    with pytest.raises(DataError, match=message):
        next(iter(blocks))


def test_a_file_that_changes_during_a_pass_is_noticed(tmp_path):
    path, frame = tmp_path / "x.parquet", pa.table({"a": range(100)})
    pq.write_table(frame, path)
    stream = iter(read_blocks(path, rows_per_block=30))
    next(stream)
    pq.write_table(frame.slice(2), tmp_path / "new.parquet")
    (tmp_path / "new.parquet").replace(path)
    with pytest.raises(DataError, match="was written to"):
        list(stream)


@pytest.mark.parametrize(
    ("query", "message"),
    [
        # That a thousand draws come out the same twice has a chance below 1e-300.
        ("SELECT random() AS x FROM data", "other rows in block 0"),
        ("SELECT a FROM data ORDER BY random()", "other rows in block 0"),
        ("SELECT a FROM data WHERE random() < 0.5", r"rows, and had|other rows in block 0"),
        ("SELECT (random() * 1e9)::INT::VARCHAR AS x FROM data", "a level that was not there"),
    ],
)
def test_a_query_that_gives_other_rows_each_time_is_noticed(query, message, tmp_path):
    pq.write_table(pa.table({"a": np.arange(1000.0)}), tmp_path / "x.parquet")
    kinds = {"x": "category"} if "VARCHAR" in query else None

    def read():
        blocks = read_blocks(tmp_path / "x.parquet", sql=query, kinds=kinds, rows_per_block=400)
        return [list(blocks), list(blocks)]

    with pytest.raises(DataError, match=message):
        read()


def test_a_database_that_changes_between_passes_is_noticed(tmp_path):
    path = tmp_path / "x.duckdb"
    with duckdb.connect(path) as connection:
        connection.execute("CREATE TABLE t AS SELECT range AS i FROM range(100)")
    blocks = read_blocks(path, sql="SELECT i FROM t", rows_per_block=50)
    assert len(list(blocks)) == 2
    with duckdb.connect(path) as connection:
        connection.execute("DELETE FROM t WHERE i >= 50")
    with pytest.raises(DataError, match="has 50 rows, and had 100: the data are not the same"):
        list(blocks)
    with duckdb.connect(path) as connection:
        connection.execute("ALTER TABLE t ALTER i TYPE DOUBLE")
    with pytest.raises(DataError, match="other columns"):
        list(blocks)


def test_a_query_that_fails_late_says_so(tmp_path):
    pq.write_table(pa.table({"a": range(200_000)}), tmp_path / "x.parquet")
    blocks = read_blocks(tmp_path / "x.parquet", sql="SELECT 1.5 * a AS x FROM data")
    assert len(list(blocks)) == 49
    with pytest.raises(DataError, match=r"the query .* failed: .*late"):
        read_blocks(
            tmp_path / "x.parquet",
            sql="SELECT if(a < 150000, a, error('late')) AS x FROM data",
        ).to_table()


def test_a_query_is_sealed_off_in_every_pass(tmp_path):
    pq.write_table(pa.table({"a": [1]}), tmp_path / "x.parquet")
    other = write(tmp_path, "a\n1\n", "other.csv")
    with pytest.raises(DataError, match="Cannot access file"):
        read_blocks(tmp_path / "x.parquet", sql=f"SELECT * FROM read_csv('{other}')")
    with pytest.raises(DataError, match="one SELECT"):
        read_blocks(tmp_path / "x.parquet", sql="DROP VIEW data")


def test_a_value_that_does_not_fit_is_named_by_its_row(tmp_path, monkeypatch):
    monkeypatch.setattr(reading, "MOST_ROWS", 100)
    words = ["1"] * 1000
    words[777] = "two"
    pq.write_table(pa.table({"a": words, "b": [0] * 999 + [2]}), tmp_path / "x.parquet")
    for kinds, message in [
        ({"a": "number"}, "'a' cannot be a number: row 777 has 'two'"),
        ({"a": "date"}, "'a' cannot be a date: row 0 has '1'"),
        ({"b": "boolean"}, "'b' cannot be a boolean: row 999 has '2'"),
        ({"b": "date"}, "'b' is a number and cannot be read as a date"),
        (
            {"c": "text"},
            "'c' is to be read as text, and there is no column 'c'; there are 'a'",
        ),
        ({"a": "float"}, "'a' is given as 'float'"),
    ]:
        with pytest.raises(EmpiriskError, match=message):
            read_blocks(tmp_path / "x.parquet", kinds=kinds)


def test_what_cannot_be_read_in_blocks_is_refused(tmp_path):
    with pytest.raises(DataError, match=r"is text, which is read as a whole: write it once"):
        read_blocks(write(tmp_path, "a,b\n1,2\n"))
    with pytest.raises(DataError, match="there is no file"):
        read_blocks(tmp_path / "no.parquet")
    path = tmp_path / "1.parquet"
    pq.write_table(pa.table({"a": [1]}), path)
    with pytest.raises(ParameterError, match="rows_per_block is 0"):
        read_blocks(path, rows_per_block=0)
    pq.write_table(pa.table({"b": [1.5]}), tmp_path / "2.parquet")
    with pytest.raises(DataError, match=r"2\.parquet has 'b' \(double\) where .*1\.parquet has"):
        read_blocks(tmp_path / "*.parquet")
    pq.write_table(pa.table({"l": [[1]]}), path)
    with pytest.raises(DataError, match="column 'l' holds list"):
        read_blocks(path)
    write(tmp_path, b"PAR1" + b"\0" * 50, "1.parquet")
    with pytest.raises(DataError, match="cannot be read as Parquet"):
        read_blocks(path)
    duckdb.connect(tmp_path / "x.duckdb").close()
    with pytest.raises(DataError, match="is a database with no table; give sql"):
        read_blocks(tmp_path / "x.duckdb")


def test_tables_are_joined_one_below_the_other():
    table = Table.of({"x": range(7), "w": list("abababa"), "t": list("abcdefg")})
    parts = [table.rows(slice(0, 3)), table.rows(slice(3, 3)), table.rows(slice(3, 7))]
    assert join_tables(parts) == table
