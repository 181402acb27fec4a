"""`empirisk fit`: what is written, what is said, and how it ends."""

import json
import os
import re
import subprocess
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

from empirisk.cli.main import app
from empirisk.data import datasets
from empirisk.data.read import read_table
from empirisk.model_file.load import read_model_file

SCRIPT = [sys.executable, "-c", "from empirisk.cli.main import main; main()"]
ANSI = re.compile("\x1b")


def run(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


@pytest.fixture(scope="module")
def heart(tmp_path_factory):
    """A fit of a mixed table with missing values, as JSON, and its folder."""
    folder = tmp_path_factory.mktemp("heart") / "made" / "here"
    result = run(
        "fit", datasets.path("heart_disease"), "-t", "disease", "-o", folder, "--json", "--folds", 5
    )
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout), folder, result.stderr


def small_table(folder, n=40, name="small.csv"):
    rng = np.random.default_rng(0)
    x = rng.normal(size=n)
    y = 2 * x + rng.normal(size=n)
    words = np.where(x > 0, "up", "down")
    lines = [f"{a!r},{w},{b!r}" for a, w, b in zip(x.tolist(), words, y.tolist(), strict=True)]
    path = folder / name
    path.write_text("x,side,y\n" + "\n".join(lines) + "\n")
    return path


def test_json_stands_alone_on_standard_output_and_names_what_was_written(heart):
    outcome, folder, said = heart
    assert sorted(p.name for p in folder.iterdir()) == [
        "heart_disease.empirisk",
        "heart_disease.html",
    ]
    assert outcome["model"] == str(folder / "heart_disease.empirisk")
    assert outcome["task"] == "classification"
    assert outcome["loss"] == "zero_one"
    assert outcome["ranking"][0]["name"] == "Baseline"
    low, high = outcome["test_risk"]["interval"]
    assert low <= outcome["test_risk"]["value"] <= high
    assert outcome["test_risk"]["sentence"] in " ".join(said.split()).replace("  ", " ")


def test_the_baseline_is_the_commonest_class_and_the_chosen_model_beats_it(heart):
    outcome, _, _ = heart
    y = read_table(datasets.path("heart_disease"))["disease"].codes()
    baseline, *others = outcome["ranking"]
    # The share of the smaller class; folds and test part are stratified, so one row either way.
    assert abs(baseline["risk"] - min(np.mean(y == 0), np.mean(y == 1))) < 2 / 690
    assert outcome["chosen"]["name"] == others[0]["name"] == "LinearDiscriminantAnalysis"
    assert others[0]["risk"] < baseline["risk"] / 2


def test_the_model_file_holds_what_predicting_needs(heart):
    outcome, _, _ = heart
    found = read_model_file(outcome["model"])
    assert found.meta["target"] == "disease"
    assert found.meta["columns"]["thallium"] == "category"
    assert "disease" not in found.meta["columns"]
    assert found.meta["risk"].value == outcome["test_risk"]["value"]


def test_the_same_seed_gives_the_same_bytes_and_another_seed_others(tmp_path):
    table = small_table(tmp_path)
    for folder, seed in (("a", 0), ("b", 0), ("c", 1)):
        assert run("fit", table, "-t", "y", "-o", tmp_path / folder, "--seed", seed).exit_code == 0
    for name in ("small.empirisk", "small.html"):
        a, b, c = ((tmp_path / folder / name).read_bytes() for folder in "abc")
        assert a == b
        assert a != c


def test_piped_text_is_plain_and_fits_into_80_columns(tmp_path):
    table = small_table(tmp_path)
    command = [*SCRIPT, "fit", str(table), "-t", "y"]
    environment = {**os.environ, "COLUMNS": "80"}
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=environment)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert not ANSI.search(done.stdout)
    assert max(map(len, done.stdout.splitlines())) <= 80
    for word in ("regression of 'y'", "Baseline", "Ridge", "LinearRegression", "95 % interval"):
        assert word in done.stdout
    assert (tmp_path / "small.empirisk").exists()
    assert (tmp_path / "small.html").exists()


def test_bad_data_end_with_2_and_one_line_on_standard_error(tmp_path):
    command = [*SCRIPT, "fit", "there/is/none.csv", "--target", "y"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1
    assert "none.csv" in done.stderr
    assert "Traceback" not in done.stderr


def test_an_unknown_target_lists_the_columns(tmp_path):
    result = run("fit", small_table(tmp_path), "-t", "z")
    assert result.exit_code == 2
    assert "'x', 'side', 'y'" in result.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["-t", "y", "--task", "classification"], "too many for classes"),
        (["-t", "side", "--task", "regression"], "holds words"),
        (["-t", "y", "--loss", "zero_one"], "is for classification"),
        (["-t", "y", "--loss", "hinges"], "there is no loss"),
        (["-t", "y", "--learners", "ridge,oracle"], "no learner 'oracle'"),
        (["-t", "y", "--learners", "LinearDiscriminantAnalysis"], "is not for regression"),
        (["-t", "y", "--learners", ","], "names none"),
        (["-t", "y", "--folds", "40"], "say --folds"),
        (["-t", "y", "--folds", "1"], "--folds"),
        (["-t", "y", "--kind", "x"], "COLUMN=KIND"),
        (["-t", "y", "--kind", "z=number"], "'z'"),
        (["-t", "y", "--output", "small.csv"], "wanted a folder"),
        ([], "--target"),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_said_and_nothing_is_written(tmp_path, monkeypatch, words, said):
    monkeypatch.chdir(tmp_path)
    small_table(tmp_path)
    result = run("fit", "small.csv", *words)
    assert result.exit_code == 2
    assert said in result.stderr
    assert [p.name for p in tmp_path.iterdir()] == ["small.csv"]


@pytest.mark.parametrize("step", ["select", "report_page", "save", "os.replace"])
def test_an_interruption_leaves_the_folder_as_it_was(tmp_path, monkeypatch, step):
    table = small_table(tmp_path)
    old = tmp_path / "small.html"
    old.write_text("what was there before")

    def interrupt(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr(step if "." in step else f"empirisk.cli.fit.{step}", interrupt)
    result = run("fit", table, "-t", "y", "-o", tmp_path)
    assert result.exit_code == 130
    assert sorted(p.name for p in tmp_path.iterdir()) == ["small.csv", "small.html"]
    assert old.read_text() == "what was there before"


def test_an_error_of_our_own_ends_with_1_and_shows_where(tmp_path, monkeypatch):
    import empirisk.cli.fit

    def fail(*args, **kwargs):
        raise ZeroDivisionError("inside")

    monkeypatch.setattr(empirisk.cli.fit, "select", fail)
    result = run("fit", small_table(tmp_path), "-t", "y", "-o", tmp_path)
    assert result.exit_code == 1
    assert "Traceback" in result.stderr
    assert "please report" in result.stderr


def test_rows_without_target_and_idle_columns_are_left_out_aloud(tmp_path):
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


def test_numbers_are_classes_only_when_asked(tmp_path):
    rows = [f"{i * 0.37 % 1!r},{i % 3 / 2}" for i in range(60)]
    table = tmp_path / "t.csv"
    table.write_text("x,y\n" + "\n".join(rows) + "\n")
    tasks = {}
    for words in ((), ("--task", "classification")):
        result = run("fit", table, "-t", "y", "-o", tmp_path, "--json", *words)
        assert result.exit_code == 0, result.stderr
        tasks[words] = json.loads(result.stdout)["task"]
    assert list(tasks.values()) == ["regression", "classification"]


def test_names_that_would_steer_a_terminal_are_made_visible(tmp_path):
    table = tmp_path / "t.csv"
    rows = [f"{i * 0.37 % 1!r},{i * 0.61 % 1!r}" for i in range(40)]
    table.write_text("\x1b[31mred,y\n" + "\n".join(rows) + "\n")
    result = run("fit", table, "-t", "y", "-o", tmp_path)
    assert result.exit_code == 0, result.stderr
    assert not ANSI.search(result.output)
    assert r"\x1b[31mred" in result.stdout
    assert not ANSI.search((tmp_path / "t.html").read_text())
