"""Files of text as people have them, and what is to come out: columns, or an error with its line.

Each case is read wrongly, without a word, by at least one of pandas, pyarrow and polars, or is a
rule of ours.
"""

from dataclasses import dataclass, field
from datetime import date, datetime
from math import inf, nan


@dataclass(frozen=True)
class Good:
    """What the columns are: kind and values by name; a note that is wanted among the others."""

    name: str
    content: bytes | str
    columns: dict[str, tuple[str, list]]
    note: str = ""
    options: dict = field(default_factory=dict)

    def __str__(self):
        return self.name


@dataclass(frozen=True)
class Bad:
    """What the error says, as a regular expression."""

    name: str
    content: bytes | str
    message: str
    options: dict = field(default_factory=dict)

    def __str__(self):
        return self.name


def numbers(*values):
    return ("number", list(values))


def text(*values):
    return ("text", list(values))


def write(folder, content, name="data.csv"):
    """A file with this content."""
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def values(column):
    """The values as Python has them, without the zone of UTC."""
    return [v.replace(tzinfo=None) if hasattr(v, "tzinfo") else v for v in column.values().tolist()]


def contents(table):
    """Kind and values of each column by its name."""
    return {column.name: (column.kind, values(column)) for column in table.columns}


def assert_same_contents(found, wanted):
    assert {name: kind for name, (kind, _) in found.items()} == {
        name: kind for name, (kind, _) in wanted.items()
    }
    for name, (_, cells) in wanted.items():
        assert repr(found[name][1]) == repr(cells), name  # repr: NaN is NaN, 1 is not 1.0


AB = {"a": numbers(1, 3), "b": numbers(2, 4)}
BIG = 2**53

GOOD = [
    Good("plain", "a,b\n1,2\n3,4\n", AB),
    Good("no line feed at the end", "a,b\n1,2\n3,4", AB),
    Good(
        "an empty field ends the file after a quoted one",
        'a,b,c\n1,"y",x\n3,"4",',
        {"a": numbers(1, 3), "b": text("y", "4"), "c": text("x", None)},
    ),
    Good("semicolons", "a;b\n1;2\n3;4\n", AB),
    Good("tabs", "a\tb\n1\tx, y\n3\tz\n", {"a": numbers(1, 3), "b": text("x, y", "z")}),
    Good("bars", "a|b\n1|2\n3|4\n", AB),
    Good("carriage return and line feed", "a,b\r\n1,2\r\n3,4\r\n", AB),
    Good("carriage return", "a,b\r1,2\r3,4\r", AB),
    Good("both endings", "a,b\r\n1,2\n3,4\r\n", AB),
    Good("empty lines", "\n\na,b\n1,2\n\n3,4\n\n", AB),
    Good("delimiter at the end of all lines", "a,b,\n1,2,\n3,4,\n", AB, "left out 1 column"),
    Good("delimiter at the end of all rows", "a,b\n1,2,\n3,4,\n", AB),
    Good(
        "line feed in quotes", 'a,b\n1,"x\ny"\n3,z\n', {"a": numbers(1, 3), "b": text("x\ny", "z")}
    ),
    Good(
        "doubled quotes", 'a,b\n1,"x ""y"""\n3,z\n', {"a": numbers(1, 3), "b": text('x "y"', "z")}
    ),
    Good(
        "quote inside a word",
        'a,b\n1,12" pipe\n3,z\n',
        {"a": numbers(1, 3), "b": text('12" pipe', "z")},
    ),
    Good("line feed in a name", '"a\nb",c\n1,2\n', {"a\nb": numbers(1), "c": numbers(2)}),
    Good("blanks around names", " a ,b \n1,2\n3,4\n", AB),
    Good("a name is blank", "a, ,c\n1,2,3\n", {"a": numbers(1), "x1": numbers(2), "c": numbers(3)}),
    Good(
        "the index of a frame whose columns are called as those without a name",
        ",x0,x1\n0,5,6\n1,7,8\n",
        {"x0_": numbers(0, 1), "x0": numbers(5, 7), "x1": numbers(6, 8)},
    ),
    Good("byte-order mark", b"\xef\xbb\xbfa,b\n1,2\n3,4\n", AB),
    Good("UTF-16", "ä,b\n1,2\n".encode("utf-16"), {"ä": numbers(1), "b": numbers(2)}),
    Good(
        "UTF-16, said",
        "a,b\n1,2\n3,4\n".encode("utf-16-be").join([b"\xfe\xff", b""]),
        AB,
        options={"encoding": "utf-16"},
    ),
    Good("UTF-16 without mark", "a,b\n1,2\n3,4\n".encode("utf-16-le"), AB),
    Good("UTF-16, big end first", "a,b\n1,2\n3,4\n".encode("utf-16-be"), AB),
    Good("Latin-1", "a,é\nJosé,2\n".encode("latin-1"), {"a": text("José"), "é": numbers(2)}),
    Good(
        "Windows",
        "a,b\n“x” \u2013 1 €,2\n".encode("cp1252"),
        {"a": text("“x” \u2013 1 €"), "b": numbers(2)},
    ),
    Good(
        "cp437",
        "a,b\nJosé,2\n".encode("cp437"),
        {"a": text("José"), "b": numbers(2)},
        options={"encoding": "cp437"},
    ),
    Good("zero bytes", b"a,b\n1,x\0y\n3,\0\n", {"a": numbers(1, 3), "b": text("x\0y", "\0")}),
    Good("names only", "a,b\n", {"a": numbers(), "b": numbers()}, "no rows"),
    Good("no names", "1,2\n3,4\n", {"x0": numbers(1, 3), "x1": numbers(2, 4)}, "looks like data"),
    Good(
        "no names, said",
        "1,2\n3,4\n",
        {"x0": numbers(1, 3), "x1": numbers(2, 4)},
        options={"header": False},
    ),
    Good(
        "no names beside words",
        "5.1,s\n4.9,s\n",
        {"x0": numbers(5.1, 4.9), "x1": ("category", ["s", "s"])},
        "looks like data",
    ),
    Good(
        "names are years",
        "name,2019,2020\nx,5,6\n",
        {"name": text("x"), "2019": numbers(5), "2020": numbers(6)},
    ),
    Good(
        "names are numbers, said",
        "1,2\n3,4\n",
        {"1": numbers(3), "2": numbers(4)},
        options={"header": True},
    ),
    Good("other names", "a,a\n1,2\n3,4\n", AB, options={"names": ["a", "b"]}),
    Good("decimal comma", "a;b\n1,5;2\n3,25;4\n", {"a": numbers(1.5, 3.25), "b": numbers(2, 4)}),
    Good(
        "decimal comma and missing",
        "a;b\n1,5;.\n.;2,25\n",
        {"a": numbers(1.5, nan), "b": numbers(nan, 2.25)},
    ),
    Good(
        "decimal comma, said",
        "a;b\n1,500;2\n",
        {"a": numbers(1.5), "b": numbers(2)},
        options={"decimal": ","},
    ),
    Good(
        "decimal commas and three decimals, the first after a zero",
        "a;b\n0,125;2\n1,500;4\n",
        {"a": numbers(0.125, 1.5), "b": numbers(2, 4)},
    ),
    Good(
        "decimal commas after too many digits for thousands",
        "a;b\n1234,500;2\n",
        {"a": numbers(1234.5), "b": numbers(2)},
    ),
    Good(
        "decimal commas before exponents",
        "a;b\n1,505e+02;2\n",
        {"a": numbers(150.5), "b": numbers(2)},
    ),
    Good(
        "thousands or decimals",
        "a;b\n1,500;2\n",
        {"a": text("1,500"), "b": numbers(2)},
        "'1,500' in line 2",
    ),
    Good(
        "thousands", 'a,b\n"1,234",2\n', {"a": text("1,234"), "b": numbers(2)}, "'1,234' in line 2"
    ),
    Good(
        "commas and points",
        "a;b\n1,5;1.5\n",
        {"a": text("1,5"), "b": numbers(1.5)},
        "'1,5' in line 2",
    ),
    Good(
        "leading zeros",
        "zip,b\n01234,2\n12345,4\n",
        {"zip": text("01234", "12345"), "b": numbers(2, 4)},
        "'01234' in line 2",
    ),
    Good(
        "zeros that lead nothing",
        "a,b\n0,-0.5\n0.5,00\n",
        {"a": numbers(0.0, 0.5), "b": text("-0.5", "00")},
    ),
    Good(
        "leading zeros are wanted as numbers",
        "zip,b\n01,2\n",
        {"zip": numbers(1), "b": numbers(2)},
        options={"kinds": {"zip": "number"}},
    ),
    Good("plus signs", "a,b\n+4930,2\n", {"a": text("+4930"), "b": numbers(2)}),
    Good(
        "integers beyond 2^53 beside blanks",
        f"id,b\n{BIG + 1},2\n,4\n",
        {"id": text(str(BIG + 1), None), "b": numbers(2, 4)},
    ),
    Good(
        "integers up to 2^53",
        f"id,b\n{BIG - 1},2\n,4\n",
        {"id": numbers(float(BIG - 1), nan), "b": numbers(2, 4)},
    ),
    Good(
        "large decimals",
        "a\n1e300\n12345678901234567890.5\n",
        {"a": numbers(1e300, 12345678901234567890.5)},
    ),
    Good("too large for float64", "a\n1e400\n1\n", {"a": text("1e400", "1")}),
    Good(
        "NA is Namibia",
        "c,x\nNA,1\nDE,2\nNA,3\nDE,NA\n",
        {"c": ("category", ["NA", "DE", "NA", "DE"]), "x": numbers(1.0, 2.0, 3.0, nan)},
        "missing=['NA']",
    ),
    Good(
        "NA is missing, said",
        "c,x\nNA,1\nDE,2\nNA,3\nDE,4\n",
        {"c": ("category", [None, "DE", None, "DE"]), "x": numbers(1, 2, 3, 4)},
        options={"missing": ["NA"]},
    ),
    Good(
        "-999 is missing, said",
        "a,b\n-999,?\n5,x\n",
        {"a": numbers(nan, 5.0), "b": text(None, "x")},
        options={"missing": ["-999", "?"]},
    ),
    Good(
        "words for missing numbers",
        'a\n1\nNA\nn/a\nNaN\nNULL\nNone\n?\n.\n-\n""\n #N/A \n',
        {"a": numbers(1.0, *[nan] * 10)},
    ),
    Good("only words for missing", "a\nNA\nNA\n", {"a": ("category", ["NA", "NA"])}),
    Good(
        "empty and quoted empty",
        'a,b\n1,\n2,""\n3,x\n',
        {"a": numbers(1, 2, 3), "b": text(None, "", "x")},
    ),
    Good("no values", "a,b\n,1\n,2\n", {"a": numbers(nan, nan), "b": numbers(1, 2)}),
    Good("infinite", "a\n1\ninf\n-Infinity\n", {"a": numbers(1.0, inf, -inf)}),
    Good("one column", "a\n1\n\n3\n", {"a": numbers(1.0, nan, 3.0)}),
    Good("blanks around numbers", "a,b\n 1 ,x\n3, y\n", {"a": numbers(1, 3), "b": text("x", " y")}),
    Good("underscores", "a\n1_000\n2\n", {"a": text("1_000", "2")}),
    Good("percent", "a\n12%\n13%\n", {"a": text("12%", "13%")}, "'12%' in line 2"),
    Good(
        "truths",
        "a,b,c\ntrue,TRUE,1\nfalse,,0\n,False,1\n",
        {
            "a": ("boolean", [True, False, None]),
            "b": ("boolean", [True, None, False]),
            "c": numbers(1, 0, 1),
        },
    ),
    Good(
        "yes and no keep their words",
        "a,b\nYes,yes\nNo,NO\nNA,no\n",
        {"a": ("boolean", ["Yes", "No", None]), "b": ("boolean", [True, False, False])},
    ),
    Good(
        "0 and 1 as truths, said",
        "a\n1\n0\n\n",
        {"a": ("boolean", [True, False, None])},
        options={"kinds": {"a": "boolean"}},
    ),
    Good("dates", "d\n2024-02-29\nNA\n", {"d": ("date", [date(2024, 2, 29), None])}),
    Good(
        "dates and times",
        "d\n2024-02-29\n2024-03-01 12:30\n",
        {"d": ("date", [datetime(2024, 2, 29), datetime(2024, 3, 1, 12, 30)])},
    ),
    Good(
        "times with a zone",
        "d\n2024-03-01T12:30:00Z\n2024-03-01T12:30:00+02:00\n",
        {"d": ("date", [datetime(2024, 3, 1, 12, 30), datetime(2024, 3, 1, 10, 30)])},
    ),
    Good("day first", "d\n31.12.2020\n01.02.2020\n", {"d": text("31.12.2020", "01.02.2020")}),
    Good("no such day", "d\n2023-02-29\n2023-03-01\n", {"d": text("2023-02-29", "2023-03-01")}),
    Good(
        "text, said",
        "zip\n10115\n80331\n",
        {"zip": text("10115", "80331")},
        options={"kinds": {"zip": "text"}},
    ),
    Good(
        "category, said",
        "a\n3\n1\n",
        {"a": ("category", ["3", "1"])},
        options={"kinds": {"a": "category"}},
    ),
]

BAD = [
    Bad("short row", "a,b\n1,2\n3\n5,6\n", r"line 3: 1 field\(s\), too few for 2 names"),
    Bad("long row", "a,b\n1,2\n3,4,5\n5,6\n", r"line 3: 3 field\(s\), too many for 2 names"),
    Bad("long row after a quoted line feed", 'a,b\n1,"x\ny"\n3,4,5\n', r"line 4: 3 field\(s\)"),
    Bad("one row ends with a delimiter", "a,b\n1,2\n3,4,\n", r"line 3: 3 field\(s\), too many"),
    Bad("one row does not", "a,b\n1,2,\n3,4\n", r"line 2: 3 field\(s\), too many"),
    Bad("blank line", "a,b\n1,2\n  \n", r"line 3: 1 field\(s\), too few"),
    Bad("quote not closed", 'a,b\n1,2\n3,"x\n5,6\n', "line 3: .* quote that is not closed"),
    Bad("quotes not closed", 'a,b\n1,"x\n2,"y\n3,4\n', "line 2: .* quote that is not closed"),
    Bad("text after a quote", 'a,b\n1,2\n3,"x"y\n', "line 3: .* closed before the end"),
    Bad("blank before a quote", 'a,b\n1,2\n3, "x,y"\n', "line 3: a blank stands before a quote"),
    Bad("a line for Excel", "sep=;\na;b\n1;2\n", "line 1: .* tells Excel that ';' separates"),
    Bad("one in quotes", '\r\n"sep=,"\r\na,b\r\n1,2\r\n', "line 2: .* tells Excel that ','"),
    Bad("a name twice", "a,b,a\n1,2,3\n", "line 1: the name 'a' stands for columns 1 and 3"),
    Bad("empty", "", "is empty"),
    Bad("empty lines only", "\n\r\n\n", "is empty"),
    Bad("mark only", b"\xef\xbb\xbf", "is empty"),
    Bad("Latin-1 in UTF-8", "a\né\nx\n".encode() + b"\xe9\n", r"line 4: the bytes .* no UTF-8"),
    Bad(
        "not ASCII",
        "a\né\n".encode(),
        "line 2: the bytes .* no text in ascii",
        {"encoding": "ascii"},
    ),
    Bad(
        "Latin-1 in UTF-8 names", "é,".encode() + b"\xe9\n1,2\n", "line 1: .* column 2 is no UTF-8"
    ),
    Bad("no such encoding", "a\n1\n", "no encoding is called 'klingon'", {"encoding": "klingon"}),
    Bad(
        "no number",
        "a,b\n1,2\nx,4\n",
        "'a' cannot be a number: line 3 has 'x'",
        {"kinds": {"a": "number"}},
    ),
    Bad(
        "perhaps a decimal comma",
        "a;b\n1,500;2\n",
        "line 2 has '1,500', .* if the comma precedes decimals, give the decimal mark",
        {"kinds": {"a": "number"}},
    ),
    Bad(
        "no truth",
        "a\nyes\nmaybe\n",
        "'a' cannot be a boolean: line 3 has 'maybe'",
        {"kinds": {"a": "boolean"}},
    ),
    Bad(
        "no date",
        "a\n2024-01-01\n1.1.2024\n",
        "'a' cannot be a date: line 3 has '1.1.2024'",
        {"kinds": {"a": "date"}},
    ),
    Bad(
        "no such column",
        "a,b\n1,2\n",
        "'z' is to be read as number, and there is no column 'z'; there are 'a', 'b'",
        {"kinds": {"z": "number"}},
    ),
    Bad(
        "no such kind",
        "a\n1\n",
        "'a' is given as 'factor'; give one of number",
        {"kinds": {"a": "factor"}},
    ),
    Bad("too many names", "a\n1\n", "2 names for 1 fields", {"names": ["a", "b"]}),
    Bad("two delimiters", "a\n1\n", "give one ASCII character", {"delimiter": "::"}),
    Bad("decimal is the delimiter", "a\n1\n", "both ','", {"delimiter": ",", "decimal": ","}),
    Bad("strange decimal", "a\n1\n", "give '.' or ','", {"decimal": "'"}),
    Bad("names given as header", "a\n1\n", r"names=\[...\]", {"header": ["a"]}),
    Bad("a codec, not of text", "a\n1\n", "no encoding is called 'base64'", {"encoding": "base64"}),
    Bad("an encoding by number", "a\n1\n", "no encoding is called 8", {"encoding": 8}),
    Bad("a delimiter by number", "a\n1\n", "give one ASCII character", {"delimiter": 9}),
    Bad("names in one word", "a,b\n1,2\n", "give a list with a name each", {"names": "uv"}),
    Bad("a word for missing words", "a\nNA\n", "give a list of words", {"missing": "NA"}),
    Bad("numbers for missing words", "a\n-9\n", "give a list of words", {"missing": [-9]}),
    Bad("one kind for all", "a\n1\n", "give a dict such as", {"kinds": "number"}),
    Bad("a limit in words", "a\n1\n", "max_bytes is '3'; give a whole number", {"max_bytes": "3"}),
    Bad("a query that is none", "a\n1\n", "the query 3 failed", {"sql": 3}),
    Bad("too large", "a\n1\n", "4 bytes and perhaps more; 3 are allowed", {"max_bytes": 3}),
]
