"""What `empirisk fit` makes of a target: numbers or classes, units, per cent, dates, none."""

import json
import re
import shlex
import sys

import numpy as np
import pytest

from cli.command import done, refused, run, small_table
from empirisk.model_file.load import read_model_file

SCRIPT = [sys.executable, "-c", "from empirisk.cli.main import main; main()"]
ANSI = re.compile("\x1b")


def test_an_unknown_target_lists_the_columns(tmp_path):
    assert "'x', 'side', 'y'" in refused("fit", small_table(tmp_path), "-t", "z")
    said = refused("fit", small_table(tmp_path), "-t", "y", "--kind", "sidee=category")
    assert "'sidee' is to be read as category, and there is no column 'sidee'; did you mean" in said
    assert "'side'?" in said


def test_what_to_do_about_a_target_in_per_cent_is_said(tmp_path):
    table = tmp_path / "t.csv"
    table.write_text("x,y\n" + "".join(f"{i},{i}%\n" for i in range(20)))
    assert "write them without signs for thousands, per cent" in refused("fit", table, "-t", "y")


@pytest.mark.parametrize("start", ["0", "+", "9000000000000"])
def test_a_target_of_numbers_like_identifiers_is_one_by_the_kind_that_is_told(
    tmp_path, without_report, start
):
    table = tmp_path / "t.csv"
    table.write_text("x,y\n" + "".join(f"{i},{start}{i}000\n" for i in range(10, 40)))
    words = ("-t", "y", "--learners", "ridge", "--folds", 3, "-o", tmp_path)
    assert "--kind COLUMN=number for leading zeros, plus" in refused("fit", table, *words)
    result = done("fit", table, *words, "--kind", "y=number", "--json")
    assert json.loads(result.stdout)["task"] == "regression"


@pytest.mark.parametrize(
    ("cells", "words", "said"),
    [
        ("1,500", [], "because of '1,500' in line 2 of t.csv; if they are numbers, say --decimal"),
        ("n.b.", ["--task", "regression"], "because of 'n.b.' in line 2 of t.csv, and regression"),
        ("n.b.", [], "too many for classes; 'y' is read as words because of 'n.b.' in line 2"),
    ],
)
def test_a_target_of_numbers_read_as_words_says_because_of_what(tmp_path, cells, words, said):
    table = tmp_path / "t.csv"
    rows = [f"{i};{i}.5" if "," not in cells else f"{i};{i},500" for i in range(2, 30)]
    table.write_text("\n".join(["x;y", f"1;{cells}", *rows]) + "\n")
    assert said in refused("fit", table, "-t", "y", "-o", tmp_path, *words)


def test_rows_without_target_and_idle_columns_are_left_out_aloud(tmp_path, without_report):
    rows = []
    for i, x in enumerate(np.random.default_rng(1).normal(size=40).tolist()):
        y = "" if i % 4 == 0 else repr(3 * x)
        rows.append(f"{x!r},{y},word{i},7,")
    table = tmp_path / "t.csv"
    table.write_text("x,y,id,same,void\n" + "\n".join(rows) + "\n")
    result = run("fit", table, "-t", "y", "-o", tmp_path, "--json", "--folds", 5)
    outcome = json.loads(result.stdout)
    assert outcome["rows_without_target"] == 10
    assert outcome["columns_left_out"] == ["id", "same", "void"]
    assert "10 rows without a value of 'y'" in result.stderr
    assert "'id', 'same', 'void'" in result.stderr
    assert list(read_model_file(outcome["model"]).meta["columns"]) == ["x"]


def test_three_numbers_or_more_are_classes_only_when_asked(tmp_path, without_report):
    rows = [f"{i * 0.37 % 1!r},{i % 3 / 2}" for i in range(60)]
    table = tmp_path / "t.csv"
    table.write_text("x,y\n" + "\n".join(rows) + "\n")
    tasks = {}
    always = ("-t", "y", "-o", tmp_path, "--json", "--folds", 3, "--learners", "Baseline")
    for words in ((), ("--task", "classification")):
        result = done("fit", table, *always, *words)
        tasks[words] = json.loads(result.stdout)["task"]
    assert list(tasks.values()) == ["regression", "classification"]


@pytest.mark.parametrize("amount", ["${}", "{} km"])
def test_a_target_of_numbers_with_units_says_that_digits_alone_are_numbers(tmp_path, amount):
    table = tmp_path / "t.csv"
    rows = [f"{i},{amount.format(1000 + 37 * i)}" for i in range(40)]
    table.write_text("x,y\n" + "\n".join(rows) + "\n")
    said = refused("fit", table, "-t", "y", "-o", tmp_path)
    assert f"if '{amount.format(1000)}' and the others are numbers, write them with digits" in said


@pytest.mark.parametrize("two", [(0, 1), (1, 2), (-1, 1)])
def test_two_numbers_are_classes_unless_asked_to_be_numbers(tmp_path, without_report, two):
    table = tmp_path / "t.csv"
    rows = [f"{i * 0.37 % 1!r},{two[i % 2]}" for i in range(60)]
    table.write_text("x,y\n" + "\n".join(rows) + "\n")
    always = ("-t", "y", "-o", tmp_path, "--folds", 3, "--learners", "Baseline")
    result = done("fit", table, *always, "--json")
    assert json.loads(result.stdout)["task"] == "classification"
    said = " ".join(result.stderr.split())
    assert f"{two[0]} and {two[1]} alone; to predict a number, say --task regression" in said
    predicted = done("predict", tmp_path / "t.empirisk", table).stdout.split()
    assert set(predicted[1:]) <= {str(two[0]), str(two[1])}
    asked = done("fit", table, *always, "--json", "--task", "regression")
    assert json.loads(asked.stdout)["task"] == "regression"
    for words in (("--loss", "squared"), ("--learners", "Ridge")):
        assert "--task" in refused("fit", table, *always[:6], *words)


@pytest.mark.parametrize("time", ["", " 12:00:00+00:00"])
def test_a_date_to_predict_is_a_number_by_the_query_that_is_told(tmp_path, without_report, time):
    table = tmp_path / "t.csv"
    rows = [f"{i},2024-01-{i + 1:02d}{time},{i}" for i in range(31)]
    table.write_text("x,the day,z\n" + "\n".join(rows) + "\n")
    words = ("fit", table, "-t", "the day", "--folds", 3, "--learners", "ridge", "-o", tmp_path)
    option, query = shlex.split(refused(*words).split("1970, say ")[1])
    done(*words, option, query)
    found = done("predict", tmp_path / "t.empirisk", table).stdout.split()[1:]
    days = 19723 + np.arange(31) + (0.5 if time else 0)  # 2024-01-01 is day 19723
    np.testing.assert_allclose(np.array(found, float), days, rtol=0, atol=1)  # the ridge shrinks
