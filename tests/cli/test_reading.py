"""Files of all kinds, and what is said about reading them."""

import csv
import io
import json

import duckdb
import numpy as np
import pytest

from cli.command import done, refused, small_table
from empirisk import save
from empirisk.data.read import read_table
from empirisk.model_file.load import read_model_file

pytestmark = pytest.mark.usefixtures("without_report")

RIDGE = ("-t", "y", "--learners", "ridge", "--folds", 3)


def fit(folder, *words):
    """The outcome of a fit of y, and the model file."""
    result = done("fit", *words, *RIDGE, "-o", folder / "made", "--json")
    outcome = json.loads(result.stdout)
    return outcome, outcome["model"]


def predictions(*words):
    rows = csv.DictReader(io.StringIO(done("predict", *words).stdout))
    return [float(row["prediction"]) for row in rows]


def test_the_same_rows_in_other_files_give_the_same_model_and_predictions(tmp_path):
    plain = small_table(tmp_path)
    table = read_table(plain)
    parquet, database = tmp_path / "t.parquet", tmp_path / "t.db"
    with duckdb.connect(str(database)) as connection:
        connection.register("rows", table.to_arrow())
        connection.execute("CREATE TABLE kept AS SELECT * FROM rows")
        connection.execute(f"COPY rows TO '{parquet}' (FORMAT parquet)")
    half = len(table) // 2
    table.rows(slice(0, half)).to_pandas().to_csv(tmp_path / "part1.csv", index=False)
    table.rows(slice(half, None)).to_pandas().to_csv(tmp_path / "part2.csv", index=False)
    reference, model = fit(tmp_path, plain)
    expected = predictions(model, plain)
    for words in (
        (parquet,),
        (tmp_path / "part*.csv",),
        (database, "--sql", "SELECT * FROM kept"),
        (plain, "--sql", "SELECT * FROM data"),
        (parquet, "--sql", "SELECT x, side, y FROM data"),
    ):
        outcome, model = fit(tmp_path, *words)
        assert outcome["test_risk"] == reference["test_risk"]
        assert predictions(model, *words) == expected


def test_a_query_makes_columns_for_both_commands_and_is_told_when_it_is_forgotten(tmp_path):
    plain = small_table(tmp_path)
    query = "SELECT y, x, x * x AS square FROM data WHERE x > -10"
    _, model = fit(tmp_path, plain, "--sql", query)
    assert list(read_model_file(model).meta["columns"]) == ["x", "square"]
    assert len(predictions(model, plain, "--sql", "SELECT x, x * x AS square FROM data")) == 40
    said = refused("predict", model, plain)
    assert "lacks 'square'" in said
    assert query in said


def written(folder, name="odd.txt", header="wörd|y|x\n"):
    """Fields between bars, decimal commas, Latin-2 words, -99 for what is missing, and quiet."""
    rng = np.random.default_rng(0)
    lines = []
    for i in range(40):
        x = "-99" if i % 8 == 0 else f"{rng.normal():.3f}"
        word = ["łódź", "żal"][i % 2]
        lines.append(f"{word}|{i % 2 + rng.normal():.3f}|{x}\n".replace(".", ","))
    path = folder / name
    path.write_bytes((header + "".join(lines)).encode("iso-8859-2"))
    return path


ODD = ("--delimiter", "|", "--decimal", ",", "--encoding", "iso-8859-2", "--missing", "-99")


def test_what_is_said_of_the_text_is_done_and_remembered(tmp_path):
    odd = written(tmp_path)
    outcome, model = fit(tmp_path, odd, *ODD)
    facts = {each["name"]: each for each in outcome["columns"]}
    assert facts["x"] == {"name": "x", "kind": "number", "missing": 5}
    assert facts["y"]["kind"] == "number"
    result = done("predict", model, odd)
    told = "read as in training unless said otherwise: delimiter '|', decimal ','"
    assert told in result.stderr
    assert done("predict", model, odd, *ODD).stdout == result.stdout
    # What is said at prediction wins: -99 is then a number, far from the others.
    other = done("predict", model, odd, "--missing", "none")
    assert other.stdout.splitlines()[1] != result.stdout.splitlines()[1]
    assert other.stdout.splitlines()[2] == result.stdout.splitlines()[2]


def test_what_is_remembered_of_text_does_not_matter_for_other_files(tmp_path):
    odd = written(tmp_path)
    _, model = fit(tmp_path, odd, *ODD)
    parquet = tmp_path / "t.parquet"
    table = read_table(odd, delimiter="|", decimal=",", encoding="iso-8859-2", missing=["-99"])
    with duckdb.connect() as connection:
        connection.register("rows", table.to_arrow())
        connection.execute(f"COPY rows TO '{parquet}' (FORMAT parquet)")
    result = done("predict", model, parquet)
    assert "read as in training" not in result.stderr
    assert result.stdout == done("predict", model, odd).stdout


SHRUNK = 0.1  # the penalty draws a line without noise a little to the mean


def semicolons(folder):
    """A table with decimal commas, and the model of y by x; y is 10 x."""
    rng = np.random.default_rng(0)
    rows = "".join(f"{x:.4f};{10 * x:.3f}\n" for x in rng.uniform(1, 9, 40)).replace(".", ",")
    path = folder / "t.csv"
    path.write_text("x;y\n" + rows)
    return fit(folder, path)[1]


@pytest.mark.parametrize("text", ["x;y\n1,234;\n5,678;\n", "x\n1,234\n5,678\n"])
def test_decimal_commas_that_were_found_in_training_are_there_in_a_short_file(tmp_path, text):
    model, new = semicolons(tmp_path), tmp_path / "new.csv"
    new.write_text(text)
    assert predictions(model, new) == pytest.approx([12.34, 56.78], abs=SHRUNK)


def test_a_file_that_looks_otherwise_than_the_training_table_is_told_how_it_is_read(tmp_path):
    model, new = semicolons(tmp_path), tmp_path / "new.csv"
    new.write_text("x;y\n1,234;\n")
    said = done("predict", model, new).stderr
    assert said == "read as the training table was found to be: decimal ','\n"
    new.write_text("x,y\n1.234,\n5.678,\n")  # commas between fields: another kind of file
    result = done("predict", model, new)
    assert result.stderr == ""
    assert len(result.stdout.splitlines()) == 3
    new.write_text("x;y\n1.234;\n")  # with points for thousands or for decimals?
    assert "if the point precedes decimals, give the decimal mark" in refused("predict", model, new)
    assert predictions(model, new, "--decimal", ".") == pytest.approx([12.34], abs=SHRUNK)


def test_one_row_of_a_table_without_names_is_a_row(tmp_path):
    rng = np.random.default_rng(0)
    path, new = tmp_path / "t.csv", tmp_path / "new.csv"
    rows = [
        ("red", "blue")[i % 2] + f",{x:.3f},{x + 9 * (i % 2):.3f}\n"
        for i, x in enumerate(rng.normal(size=40))
    ]
    path.write_text("".join(rows))
    result = done("fit", path, "-t", "x2", *RIDGE[2:], "-o", tmp_path, "--json")
    new.write_text("blue,0.5\n")
    (found,) = predictions(json.loads(result.stdout)["model"], new)
    assert abs(found - 9.5) < 0.5  # 9 of it is "blue", which the penalty shrinks


def test_names_that_are_numbers_are_names_where_they_were_in_training(tmp_path):
    rng = np.random.default_rng(0)
    path, new = tmp_path / "t.csv", tmp_path / "new.csv"
    path.write_text(
        "1,2,y\n" + "".join(f"{a:.3f},{b:.3f},{a - b:.3f}\n" for a, b in rng.normal(size=(40, 2)))
    )
    _, model = fit(tmp_path, path)
    new.write_text("1,2\n0.5,0.25\n0.75,1.25\n")  # by itself, three rows without names
    assert predictions(model, new) == pytest.approx([0.25, -0.5], abs=SHRUNK)


@pytest.mark.parametrize("found", [{"decimal": ","}, [], "x", {"delimiter": 1}])
def test_a_file_that_tells_of_no_dialect_is_no_model_of_ours(tmp_path, found):
    table = small_table(tmp_path)
    _, model = fit(tmp_path, table)
    content = read_model_file(model)
    save(content.model, model, meta={**content.meta, "found": found or "none"})
    assert "makes no sense" in refused("predict", model, table)


def test_a_file_without_names_has_columns_by_number(tmp_path):
    text = small_table(tmp_path).read_text().split("\n", 1)[1]
    bare = tmp_path / "bare.csv"
    bare.write_text(text)
    words = ("-t", "x2", "--learners", "ridge", "--folds", 3, "-o", tmp_path, "--no-header")
    outcome = json.loads(done("fit", bare, *words, "--json").stdout)
    assert [each["name"] for each in outcome["columns"]] == ["x0", "x1", "x2"]
    assert outcome["rows"] == 40
    assert len(predictions(outcome["model"], bare)) == 40


def test_what_to_say_of_a_first_line_and_of_a_database_is_an_option(tmp_path):
    bare = tmp_path / "bare.csv"
    bare.write_text("".join(f"{i},{i % 7}\n" for i in range(20)))
    words = ("-t", "x1", "--learners", "ridge", "--folds", 3, "-o", tmp_path)
    assert "on the command line --header" in " ".join(done("fit", bare, *words).stdout.split())
    path = tmp_path / "x.duckdb"
    with duckdb.connect(path) as connection:
        connection.execute("CREATE TABLE t AS SELECT range AS i FROM range(6)")
    assert "on the command line --sql" in refused("fit", path, "-t", "i")


@pytest.mark.parametrize("tab", ["\t", "\\t", "tab"])
def test_a_tab_can_be_typed(tmp_path, tab):
    table = tmp_path / "t.txt"
    table.write_text(small_table(tmp_path).read_text().replace(",", "\t"))
    outcome, _ = fit(tmp_path, table, "--delimiter", tab)
    assert [each["name"] for each in outcome["columns"]] == ["x", "side", "y"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--sql", "DROP TABLE data"], "one SELECT"),
        (["--sql", "SELECT nothing FROM data"], "failed"),
        (["--encoding", "klingon"], "klingon"),
        (["--delimiter", ";;"], "delimiter"),
        (["--max-bytes", "10"], "on the command line --max-bytes"),
    ],
)
def test_what_cannot_be_read_so_is_said(tmp_path, words, said):
    assert said in refused("fit", small_table(tmp_path), "-t", "y", "-o", tmp_path, *words)


def test_options_of_text_are_refused_for_other_files(tmp_path):
    parquet = tmp_path / "t.parquet"
    with duckdb.connect() as connection:
        connection.execute(f"COPY (SELECT 1 AS y, 2 AS x) TO '{parquet}' (FORMAT parquet)")
    said = refused("fit", parquet, "-t", "y", "--decimal", ",")
    assert "decimal is for files of text" in said


def test_a_model_that_remembers_nonsense_is_refused(tmp_path):
    plain = small_table(tmp_path)
    _, model = fit(tmp_path, plain)
    found = read_model_file(model)
    for memory in ({"max_bytes": 1}, {"decimal": 7}, {"missing": (7,)}, ["decimal"]):
        save(found.model, tmp_path / "bad.empirisk", meta={**found.meta, "read": memory})
        assert "makes no sense" in refused("predict", tmp_path / "bad.empirisk", plain)
