"""read_table: every odd file is read right or refused with its line; the pieces do not matter."""

import bz2
import csv
import gzip
import io
import re
import subprocess
import sys

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from data.csv_cases import BAD, GOOD
from empirisk.data import opening
from empirisk.data.read import read_table
from empirisk.data.words import most_levels
from empirisk.runtime.errors import DataError, EmpiriskError


def write(folder, content, name="data.csv"):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def values(column):
    """The values as Python has them, without the zone of UTC."""
    return [v.replace(tzinfo=None) if hasattr(v, "tzinfo") else v for v in column.values().tolist()]


def contents(table):
    return {column.name: (column.kind, values(column)) for column in table.columns}


def assert_same_contents(found, wanted):
    assert {name: kind for name, (kind, _) in found.items()} == {
        name: kind for name, (kind, _) in wanted.items()
    }
    for name, (_, cells) in wanted.items():
        assert repr(found[name][1]) == repr(cells), name  # repr: NaN is NaN, 1 is not 1.0


@pytest.mark.parametrize("case", GOOD, ids=str)
def test_a_file_is_read_as_it_is_meant(case, tmp_path):
    table = read_table(write(tmp_path, case.content), **case.options)
    assert_same_contents(contents(table), case.columns)
    notes = "\n".join(table.source.notes)
    assert case.note in notes if case.note else "looks like data" not in notes


@pytest.mark.parametrize("case", BAD, ids=str)
def test_a_file_that_is_wrong_is_refused_with_its_line(case, tmp_path):
    with pytest.raises(EmpiriskError, match=case.message):
        read_table(write(tmp_path, case.content), **case.options)


@pytest.mark.parametrize(
    ("late", "column"),
    [
        ("x", ("category", "12", "x")),
        ("01", ("category", "12", "01")),
        ("1_2", ("category", "12", "1_2")),
        (str(2**53 + 1), ("category", "12", str(2**53 + 1))),
        ("1.5", ("number", 12.0, 1.5)),
        ("NA", ("number", 12.0, np.nan)),
    ],
)
def test_what_comes_late_counts_as_much_as_what_comes_first(late, column, tmp_path, monkeypatch):
    monkeypatch.setattr(opening, "BLOCK", 1000)
    table = read_table(write(tmp_path, "a,b\n" + "12,x\n" * 2000 + f"{late},y\n"))
    found = table["a"].values()
    assert repr((table["a"].kind, found[0], found[-1])) == repr(column) or (
        table["a"].kind,
        *map(float, (found[0], found[-1])),
    ) == pytest.approx(column, nan_ok=True)
    if column[0] == "category":
        assert f"{late!r} in line 2002" in "\n".join(table.source.notes)


def test_a_long_row_is_found_by_its_line_in_any_piece(tmp_path, monkeypatch):
    monkeypatch.setattr(opening, "BLOCK", 1000)
    rows = ['1,"x\ny"\n', "3,4\n", "\n"] * 1000  # four lines
    path = write(tmp_path, "a,b\n" + "".join(rows) + "1,2,3\n" + "".join(rows))
    with pytest.raises(DataError, match=r"line 4002: 3 field\(s\), too many"):
        read_table(path)
    path = write(tmp_path, "a,b\n" + "".join(rows) + '1,"2\n' + "3,4\n" * 1000)
    with pytest.raises(DataError, match=r"line 4002: .* quote that is not closed"):
        read_table(path)


def test_a_quote_that_is_never_closed_is_noticed_early(tmp_path, monkeypatch):
    monkeypatch.setattr(opening, "BLOCK", 1000)
    monkeypatch.setattr("empirisk.data.records.LONGEST_RECORD", 5000)
    path = write(tmp_path, "a,b\n1,2\n" + '1,"2\n' + "3,4\n" * 5000)
    with pytest.raises(DataError, match=r"line 3: .* does not end"):
        read_table(path)


# A twin: the rules in words, for one column of fields, each quoted or not, in plain Python.
NUMBER = re.compile(r"-?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?|[-+]?(inf|infinity)|[-+]?nan", re.I)
DATE = re.compile(r"\d{4}-\d\d-\d\d( \d\d:\d\d)?")
MISSING = {"", "na", "n/a", "#n/a", "nan", "null", "none", "?", ".", "-"}


def is_number(text):
    if not NUMBER.fullmatch(text) or re.match(r"-?0\d", text):
        return False
    integer = re.fullmatch(r"-?\d+", text)
    finite = np.isfinite(float(text)) or not re.search(r"\d", text)
    return finite and not (integer and abs(int(text)) >= 2**53)


def kind_by_the_rules(fields):
    """fields: pairs of text and whether it is quoted."""
    there = [text for text, quoted in fields if text or quoted]
    known = [text.strip() for text in there if text.strip().lower() not in MISSING]
    if all(map(is_number, known)) and any(re.search(r"\d", text) for text in known):
        return "number"
    if known and all(map(DATE.fullmatch, known)):
        return "date"
    if not there:
        return "number"
    if known and all(text.lower() in ("true", "false", "yes", "no") for text in known):
        return "boolean"
    return "category" if len(set(there)) <= most_levels(len(there)) else "text"


FIELDS = st.one_of(
    st.sampled_from(["", "1", "-2.5", "1e3", "0", "007", "NA", "nan", "?", "inf", "-", " 4 "]),
    st.sampled_from(["x", "yes", "No", "true", "2024-01-31", "2024-01-31 10:00", "1,5", "1e999"]),
    st.sampled_from(["9007199254740993", "-0.5", "+3", "12%", "0x10", "1_0", "é", 'q"q', "l\nf"]),
)
PURE = st.one_of(
    *[
        st.lists(st.sampled_from(pool), min_size=1, max_size=60)
        for pool in (
            ["1", "2", "30", ""],
            ["1", "2.5", "NA", "", "-"],
            ["1", "2", "3", "4", "5", "6", "x"],
            ["2024-01-31", "2024-02-01", "NA"],
            ["2024-01-31", "2024-02-01 10:30", ""],
            ["yes", "no", "NA"],
            ["true", "FALSE", ""],
            ["x", "y", "", "NA"],
            ["", "NA"],
        )
    ]
)


@settings(max_examples=150, deadline=None)
@given(st.one_of(PURE, st.lists(FIELDS, min_size=1, max_size=30)), st.booleans())
def test_the_kind_of_a_column_is_that_of_the_rules(tmp_path_factory, fields, quote_all):
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, quoting=csv.QUOTE_ALL if quote_all else csv.QUOTE_MINIMAL)
    writer.writerow(["name", "other"])
    writer.writerows([field, "x"] for field in fields)
    path = write(tmp_path_factory.mktemp("rules"), buffer.getvalue())
    table = read_table(path, delimiter=",", header=True)
    special = set(',"\r\n')
    assert table["name"].kind == kind_by_the_rules(
        [(field, quote_all or bool(special & set(field))) for field in fields]
    )


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.tuples(FIELDS, FIELDS, FIELDS), min_size=1, max_size=80),
    st.sampled_from([40, 64, 100, 333]),
    st.sampled_from(["\n", "\r\n"]),
)
def test_a_table_does_not_depend_on_where_the_pieces_end(tmp_path_factory, rows, size, end):
    buffer = io.StringIO(newline="")
    csv.writer(buffer, lineterminator=end).writerows([("a", "b", "c"), *rows])
    path = write(tmp_path_factory.mktemp("pieces"), buffer.getvalue())
    options = {"delimiter": ",", "header": True}
    whole = read_table(path, **options)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(opening, "BLOCK", size)
        pieces = read_table(path, **options)
    assert_same_contents(contents(pieces), contents(whole))
    assert pieces.digest() == whole.digest()


ANYTHING = st.text(st.characters(codec="utf-8"), max_size=12)
NASTY = st.one_of(ANYTHING, st.text(st.sampled_from(list(',;"\r\n\0 \t1é')), max_size=8))


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.tuples(NASTY, NASTY, st.floats(allow_nan=False)), min_size=1, max_size=40),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from([",", ";", "\t"]),
    st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    st.sampled_from([64, 1 << 22]),
)
@example([("", '"', 0.1)], "\n", ",", csv.QUOTE_ALL, 64)
@example([("x\r", "\ny", 5e-324)], "\r\n", ";", csv.QUOTE_MINIMAL, 64)
def test_what_the_csv_module_writes_is_read_back(tmp_path_factory, rows, end, sep, quoting, size):
    if any("\r" in text for row in rows for text in row[:2]):
        quoting = (
            csv.QUOTE_ALL
        )  # the module does not always quote what it reads as the end of a line
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, delimiter=sep, lineterminator=end, quoting=quoting)
    writer.writerows([("s", "t", "x"), *rows])
    path = write(tmp_path_factory.mktemp("back"), buffer.getvalue())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(opening, "BLOCK", size)
        table = read_table(
            path,
            delimiter=sep,
            decimal=".",
            header=True,
            kinds={"s": "text", "t": "text", "x": "number"},
        )
    empty = "" if quoting == csv.QUOTE_ALL else None  # an empty field without quotes is missing
    for j, name in enumerate("st"):
        assert table[name].values().tolist() == [row[j] or empty for row in rows]
    assert table["x"].numbers().tolist() == [row[2] for row in rows]


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from(['"', ",", "\n", "x", '""', '","', "1", "\r\n"]), max_size=40))
def test_a_file_is_read_as_the_csv_module_reads_it_or_refused(tmp_path_factory, parts):
    text = "a,b\n" + "".join(parts)
    try:
        rows = [row for row in csv.reader(io.StringIO(text, newline=""), strict=True) if row][1:]
    except csv.Error:
        rows = None
    path = write(tmp_path_factory.mktemp("twin"), text)
    options = {"delimiter": ",", "header": True, "kinds": {"a": "text", "b": "text"}}
    trailing = rows and all(len(row) == 3 and not row[2] for row in rows)
    if rows is None or not (trailing or all(len(row) == 2 for row in rows)):
        with pytest.raises(DataError, match=r"line \d+"):
            read_table(path, **options)
        return
    table = read_table(path, **options)
    found = zip(table["a"].values(), table["b"].values(), strict=True)
    assert [[a or "", b or ""] for a, b in found] == [row[:2] for row in rows]


TEXT = "a,b\n" + "".join(f"{i},w{i % 7}\n" for i in range(1000))


@pytest.mark.parametrize("packing", ["gzip", "bz2", "zstd", "gzip in two parts"])
def test_packed_files_are_unpacked(packing, tmp_path):
    half = len(TEXT) // 2
    packed = {
        "gzip": lambda: gzip.compress(TEXT.encode()),
        "bz2": lambda: bz2.compress(TEXT.encode()),
        "zstd": lambda: pa.Codec("zstd").compress(TEXT.encode(), asbytes=True),
        "gzip in two parts": lambda: (
            gzip.compress(TEXT[:half].encode()) + gzip.compress(TEXT[half:].encode())
        ),
    }[packing]()
    assert read_table(write(tmp_path, packed)) == read_table(write(tmp_path, TEXT, "plain.csv"))


def test_a_packed_file_that_is_cut_off_is_refused(tmp_path):
    with pytest.raises(DataError, match="cannot be unpacked as gzip"):
        read_table(write(tmp_path, gzip.compress(TEXT.encode())[:-20]))


@pytest.mark.parametrize("row", [b"0,0\n", b"0"])
def test_a_bomb_is_refused_after_a_few_mebibytes(row, tmp_path):
    packed = gzip.compress(b"a,b\n" + row * (40_000_000 // len(row)))
    assert len(packed) < 100_000
    read = []
    path = write(tmp_path, packed)
    with pytest.MonkeyPatch.context() as patch:
        check = opening._refuse_growth
        patch.setattr(
            opening, "_refuse_growth", lambda *args: (read.append(args[2]), check(*args))[1]
        )
        with pytest.raises(DataError, match=r"give max_bytes|first line is too long"):
            read_table(path)
    assert max(read) < 32_000_000


def test_a_large_file_may_be_allowed(tmp_path):
    path = write(tmp_path, gzip.compress(b"a,b\n" + b"0,0\n" * 5_000_000))
    with pytest.raises(DataError, match="give max_bytes"):
        read_table(path)
    assert len(read_table(path, max_bytes=30_000_000)) == 5_000_000


def test_files_of_a_pattern_are_one_table(tmp_path):
    write(tmp_path, "a,b\n1,x\n2,y\n", "1.csv")
    write(tmp_path, b"\xef\xbb\xbfa,b\r\n3.5,x\r\nNA,y\r\n", "2.csv")
    table = read_table(tmp_path / "*.csv")
    assert_same_contents(
        contents(table),
        {"a": ("number", [1.0, 2.0, 3.5, np.nan]), "b": ("category", ["x", "y", "x", "y"])},
    )
    write(tmp_path, "a,c\n3.5,x\n", "3.csv")
    with pytest.raises(DataError, match=r"3\.csv has 'c' instead of 'b' in .*1\.csv"):
        read_table(tmp_path / "*.csv")
    write(tmp_path, "a,b\n1,2\nfoo,x\n", "3.csv")
    assert "'foo' in line 3 of 3.csv" in str(read_table(tmp_path / "*.csv").source)
    with pytest.raises(DataError, match=r"3\.csv: column 'a' cannot be a number: line 3"):
        read_table(tmp_path / "*.csv", kinds={"a": "number"})


def test_a_file_whose_name_looks_like_a_pattern_is_that_file(tmp_path):
    write(tmp_path, TEXT, "a[1]*.csv")
    write(tmp_path, "other\n1\n", "a1.csv")
    assert read_table(tmp_path / "a[1]*.csv").names == ("a", "b")


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("https://example.org/x.csv", "nothing is read over a network"),
        ("s3://bucket/x.parquet", "nothing is read over a network"),
        ("no.csv", "there is no file 'no.csv'"),
        ("no*.csv", "no file that fits the pattern"),
        (".", "is a folder"),
        (7, "give a str or a Path"),
    ],
)
def test_paths_that_lead_nowhere_are_refused(path, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DataError, match=message):
        read_table(path)


@pytest.mark.parametrize(
    ("head", "message"),
    [
        (b"PK\x03\x04", "Excel"),
        (b"SQLite format 3\x00", "SQLite"),
        (b"%PDF-1.7", "PDF"),
        (b"PAR1", "cannot be read as Parquet"),
        (b"\0" * 8 + b"DUCK", "cannot be opened as a DuckDB file"),
    ],
)
def test_files_that_are_no_tables_are_refused_by_their_first_bytes(head, message, tmp_path):
    with pytest.raises(DataError, match=message):
        read_table(write(tmp_path, head + b"\0" * 50), sql="SELECT 1")


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


def test_parquet_files_are_read_as_the_frames_that_were_written(frame, tmp_path):
    frame.to_parquet(tmp_path / "1.parquet")
    table = read_table(tmp_path / "1.parquet")
    assert table.kinds == {"a": "number", "c": "category", "s": "category", "d": "date"}
    assert table["c"].levels.tolist() == ["v", "u"]
    frame.to_parquet(tmp_path / "2.parquet")
    assert read_table(tmp_path / "*.parquet").shape == (8, 4)
    frame.rename(columns={"a": "z"}).to_parquet(tmp_path / "3.parquet")
    with pytest.raises(
        DataError, match=r"3\.parquet has 'z' \(double\) where .*1\.parquet has 'a'"
    ):
        read_table(tmp_path / "*.parquet")
    with pytest.raises(EmpiriskError, match="delimiter is for files of text"):
        read_table(tmp_path / "1.parquet", delimiter=";")
    pq.write_table(pa.table({"l": [[1]]}), tmp_path / "list.parquet")
    with pytest.raises(DataError, match="column 'l' holds list"):
        read_table(tmp_path / "list.parquet")


def test_files_of_two_formats_are_not_one_table(frame, tmp_path):
    frame.to_parquet(tmp_path / "1.parquet")
    write(tmp_path, TEXT, "2.csv")
    with pytest.raises(DataError, match=r"2\.csv is text and .*1\.parquet is parquet"):
        read_table(tmp_path / "*")


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


def test_reading_works_without_pandas_and_leaves_the_csv_module_as_it_was(tmp_path):
    path = write(tmp_path, 'a,b\n1,12" x\n2,y\n')
    program = f"""
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "pandas":
            raise ImportError(name)
sys.meta_path.insert(0, Absent())
import csv
from empirisk.data.read import read_table
limit = csv.field_size_limit()
table = read_table({str(path)!r})
print(table["a"].numbers(), table["b"].values(), csv.field_size_limit() == limit)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.strip() == "[1. 2.] ['12\" x' 'y'] True", done.stderr
