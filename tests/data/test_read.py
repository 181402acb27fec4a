"""read_table: every odd file is read right or refused with its line; the pieces do not matter."""

import bz2
import csv
import gzip
import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_array_equal

from data.csv_cases import BAD, GOOD, assert_same_contents, contents, write
from empirisk.data import opening
from empirisk.data.dialect import Dialect
from empirisk.data.opening import Text
from empirisk.data.read import read_table
from empirisk.data.read_blocks import read_blocks
from empirisk.data.records import cut_into_pieces
from empirisk.runtime.errors import DataError, EmpiriskError


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
    assert table["a"].kind == column[0]
    assert_array_equal(table["a"].values()[[0, -1]], column[1:])
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


def test_files_of_a_pattern_have_the_decimal_mark_of_the_first(tmp_path):
    write(tmp_path, "x;y\n1,5;2\n", "1.csv")
    write(tmp_path, "x;y\n1.500;3\n", "2.csv")
    table = read_table(tmp_path / "*.csv")
    assert table["x"].values().tolist() == ["1,5", "1.500"]
    assert "'x' is read as words because of '1.500' in line 2 of 2.csv" in table.source.notes


@pytest.mark.parametrize("odd", ["2024-02-30", "unknown", "2024-01-01 25:00"])
def test_an_odd_field_among_dates_is_named_wherever_files_are_cut(tmp_path, odd):
    dates = [f"2024-01-{day:02},{day}\n" for day in range(1, 29)]
    note = f"'d' is read as words because of {odd!r} in line "
    whole = write(tmp_path, "d,y\n" + "".join(dates) + f"{odd},1\n", "whole.csv")
    assert note + "30 of whole.csv" in read_table(whole).source.notes
    write(tmp_path, "d,y\n" + "".join(dates), "part1.csv")
    write(tmp_path, f"d,y\n{odd},1\n", "part2.csv")
    assert note + "2 of part2.csv" in read_table(tmp_path / "part*.csv").source.notes


@pytest.mark.parametrize(
    ("files", "place"),
    [(("1500-01-01", "2024-03-01 12:30:00.123456789"), "an earlier row"),
     (("2024-03-01 12:30:00.123456789", "1500-01-01"), "line 2")],
)  # fmt: skip
def test_a_date_that_nanoseconds_do_not_reach_is_named(files, place, tmp_path):
    for i, date in enumerate(files):
        write(tmp_path, f"d,y\n{date},1\n", f"{i}.csv")
    with pytest.raises(DataError, match=rf"{place} has '1500-01-01', .* years 1678 to 2261"):
        read_table(tmp_path / "*.csv", kinds={"d": "date"})
    assert "because of '1500-01-01'" in read_table(tmp_path / "*.csv").source.notes[0]


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


def test_a_pipe_is_refused_before_its_beginning_is_lost():
    reads, writes = os.pipe()
    os.write(writes, b"a,b\n1,2\n3,4\n")
    os.close(writes)
    with pytest.raises(DataError, match="is a pipe or a device"):
        read_table(f"/dev/fd/{reads}")
    os.close(reads)


@pytest.mark.parametrize(
    ("head", "message"),
    [
        (b"PK\x03\x04", "Excel"),
        (b"SQLite format 3\x00", "SQLite"),
        (b"%PDF-1.7", "PDF"),
        (b"ARROW1\0\0", "Feather"),
        (b'{"a": [1, 2]}', "JSON"),
        (b'\xef\xbb\xbf [\n  {"a": 1}', "JSON"),
        (b"\n<!DOCTYPE html>\n", "a page of HTML"),
        (b"<?xml version", "a page of HTML or XML"),
        (b"PAR1", "cannot be read as Parquet"),
        (b"\0" * 8 + b"DUCK", "cannot be opened as a DuckDB file"),
    ],
)
def test_files_that_are_no_tables_are_refused_by_their_first_bytes(head, message, tmp_path):
    with pytest.raises(DataError, match=message):
        read_table(write(tmp_path, head + b"\0" * 50), sql="SELECT 1")


def test_a_header_that_has_the_mark_of_a_database_is_text(tmp_path):
    assert read_table(write(tmp_path, "species,DUCK\na,1\n")).names == ("species", "DUCK")


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


def test_parquet_files_may_differ_in_whether_values_may_be_missing(tmp_path):
    for i, (values, nullable) in enumerate([([1, 2], False), ([3, None], True)]):
        schema = pa.schema([pa.field("a", pa.int64(), nullable=nullable)])
        pq.write_table(pa.table([values], schema=schema), tmp_path / f"{i}.parquet")
    table = read_table(tmp_path / "*.parquet")
    assert table["a"].values().tolist()[:3] == [1.0, 2.0, 3.0]
    assert table["a"].missing.tolist() == [False, False, False, True]
    assert read_blocks(tmp_path / "*.parquet").to_table() == table


def test_files_of_two_formats_are_not_one_table(frame, tmp_path):
    frame.to_parquet(tmp_path / "1.parquet")
    write(tmp_path, TEXT, "2.csv")
    with pytest.raises(DataError, match=r"2\.csv is text and .*1\.parquet is parquet"):
        read_table(tmp_path / "*")


def test_reading_works_without_pandas_and_leaves_the_csv_module_as_it_was(tmp_path):
    path = write(tmp_path, 'a,b,t\n1,12" x,2024-03-01 12:30:00.123456789\n2,y,\n')
    program = f"""
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "pandas":
            raise ImportError(name)
sys.meta_path.insert(0, Absent())
import csv
from empirisk.data.dialect import Dialect
from empirisk.data.opening import Text
from empirisk.data.read import read_table
from empirisk.data.read_blocks import read_blocks
from empirisk.data.records import cut_into_pieces
limit = csv.field_size_limit()
table = read_table({str(path)!r})
print(table["a"].numbers(), table["b"].values(), csv.field_size_limit() == limit)
print(repr(table).split()[-3:])
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    said = "[1. 2.] ['12\" x' 'y'] True\n['missing', '2024-03-01', '12:30:...']"
    assert done.stdout.strip() == said, done.stderr


def test_a_reader_that_is_done_takes_no_long_fields_from_another(tmp_path):
    text = Text(str(write(tmp_path, "a\n1\n" + "x" * 200_000 + "\n")), None, None)
    (piece,) = cut_into_pieces(text, Dialect(",", ".", ("a",), (True,), True, 2, 1, False, b"\n"))
    limit = csv.field_size_limit()
    one, other = piece.numbered(), piece.numbered()
    assert next(one) == next(other) == (2, ["1"])
    one.close()
    assert next(other) == (3, ["x" * 200_000])
    other.close()
    assert csv.field_size_limit() == limit
