"""Files of text: a plain twin of the rules, the csv module as a twin, and where pieces end."""

import csv
import io
import re

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from data.csv_cases import assert_same_contents, contents, write
from empirisk.compiled.leading_zeros import has_candidates, mark_columns
from empirisk.data import opening
from empirisk.data.read import read_table
from empirisk.data.words import most_levels
from empirisk.runtime.errors import DataError

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


@settings(max_examples=80, deadline=None)
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


@settings(max_examples=60, deadline=None)
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


NUMBERS = st.sampled_from(
    [["1", "2", "30"], ["1", "2.5", ""], ["1", "1.0", "1e3"], ["1.5", "1e-05", "-0.5", "-30", "0"]]
)
ODD = [
    "007",
    "-07",
    "+3",
    "1e+05",
    " 01",
    "NA",
    "nan",
    "inf",
    "9007199254740993",
    "1e300",
    " 4 ",
    "x",
    '"',
    "1,5",
    "0x1F",
]


@st.composite
def nearly_numbers(draw, n):
    """A column of numbers with at most one field that is odd."""
    fields = draw(st.lists(st.sampled_from(draw(NUMBERS)), min_size=n, max_size=n))
    if draw(st.booleans()):
        fields[draw(st.integers(0, n - 1))] = draw(st.sampled_from(ODD))
    return fields


@settings(max_examples=60, deadline=None)
@given(st.data(), st.integers(10, 60), st.sampled_from([40, 64]), st.sampled_from([",", ";"]))
def test_numbers_that_arrow_reads_by_itself_are_those_of_our_rules(
    tmp_path_factory, data, n, size, sep
):
    columns = [data.draw(nearly_numbers(n)) for _ in range(3)]
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, delimiter=sep)
    writer.writerows([("a", "b", "c"), *zip(*columns, strict=True)])
    path = write(tmp_path_factory.mktemp("numbers"), buffer.getvalue())
    # The mark is guessed from the first piece, so it is given.
    decimal = data.draw(st.sampled_from([".", ","])) if sep == ";" else "."
    options = {"delimiter": sep, "header": True, "decimal": decimal}
    whole = read_table(path, **options)  # one piece: all fields come as texts
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(opening, "BLOCK", size)
        pieces = read_table(path, **options)
    assert_same_contents(contents(pieces), contents(whole))
    assert pieces.digest() == whole.digest()


@settings(max_examples=120, deadline=None)
@given(
    st.lists(
        st.tuples(*[st.text(st.sampled_from(list('0071-+. "e;xX')), max_size=6)] * 3), min_size=1
    )
)
def test_leading_zeros_are_found_in_their_columns(rows):
    buffer = io.StringIO(newline="")
    csv.writer(buffer).writerows(rows)
    data = np.frombuffer(buffer.getvalue().encode(), np.uint8)
    found = np.zeros(3, bool)
    if has_candidates(data, np.uint8(ord(","))):
        mark_columns(data, np.uint8(ord(",")), found)
    wanted = [any(re.match(r" *(-?0[\dxX]|\+\d)", row[j]) for row in rows) for j in range(3)]
    assert (found >= wanted).all()  # what is no number anyway, such as --00, may be found as well


@pytest.mark.parametrize("field", ["007", "+49", "-07", "09", "0x1F", "0XA"])
@pytest.mark.parametrize("place", [0, 1, 2, 3, 1024, 1025, 1026, 1027, 1028, 2049, 2050, 2995])
def test_a_leading_zero_is_found_wherever_in_a_long_text(field, place):
    """Which is searched a thousand characters at a time."""
    comma, text = np.uint8(ord(",")), bytearray(b"5" * 3000)
    assert not has_candidates(np.frombuffer(bytes(text), np.uint8), comma)
    text[place : place + len(field)] = field.encode()
    if place:
        text[place - 1] = comma
    assert has_candidates(np.frombuffer(bytes(text), np.uint8), comma)


@pytest.mark.parametrize("delimiter", [",", ";", "|", "\t"])
def test_columns_of_numbers_written_like_identifiers_are_marked(delimiter):
    fields = ["5", "007", "09", "+4", "0x1F", "0Xa", "-01", " 02", "90", "0", "0.5", "-1"]
    text, sign = delimiter.join(fields).encode(), np.uint8(ord(delimiter))
    found = np.zeros(len(fields), bool)
    mark_columns(np.frombuffer(text, np.uint8), sign, found)
    assert found.tolist() == [j in range(1, 8) for j in range(len(fields))]
    for field in fields[1:6]:
        assert has_candidates(np.frombuffer(f"5{delimiter}{field}".encode(), np.uint8), sign)


def test_zeros_within_and_after_numbers_are_no_signs():
    text = b"10,0.5,100.07,1e-05,0,200\n0,2020-09-05,3.007\n"
    assert not has_candidates(np.frombuffer(text, np.uint8), np.uint8(ord(",")))


ANYTHING = st.text(st.characters(codec="utf-8"), max_size=12)
NASTY = st.one_of(ANYTHING, st.text(st.sampled_from(list(',;"\r\n\0 \t1é')), max_size=8))


@settings(max_examples=80, deadline=None)
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


@settings(max_examples=80, deadline=None)
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
