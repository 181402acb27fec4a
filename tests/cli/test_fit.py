"""`empirisk fit`: what is written, what is said, and how it ends."""

import csv
import json
import os
import re
import subprocess
import sys

import numpy as np
import pytest

import empirisk.cli.fit
import empirisk.cli.learners
from cli.command import done, refused, run, small_table
from empirisk.data import datasets
from empirisk.data.read import read_table
from empirisk.model_file.load import read_model_file

SCRIPT = [sys.executable, "-c", "from empirisk.cli.main import main; main()"]
ANSI = re.compile("\x1b")


@pytest.fixture(scope="module")
def heart(tmp_path_factory):
    """A fit of a mixed table with missing values, as JSON, and its folder."""
    folder = tmp_path_factory.mktemp("heart") / "made" / "here"
    table = datasets.path("heart_disease")
    result = done("fit", table, "-t", "disease", "-o", folder, "--json", "--folds", 3)
    return json.loads(result.stdout), folder, result.stderr


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
    assert outcome["chosen"]["name"] == others[0]["name"] != "Baseline"
    assert others[0]["risk"] < baseline["risk"] / 2


def test_the_model_file_holds_what_predicting_needs(heart):
    outcome, _, _ = heart
    found = read_model_file(outcome["model"])
    assert found.meta["target"] == "disease"
    assert found.meta["columns"]["thallium"] == "category"
    assert "disease" not in found.meta["columns"]
    assert found.meta["risk"].value == outcome["test_risk"]["value"]


def test_the_same_seed_gives_the_same_bytes_and_another_seed_others(tmp_path, monkeypatch):
    table = small_table(tmp_path)

    def fit(folder, seed):
        words = ("--learners", "ridge", "--folds", 3, "--seed", seed)
        done("fit", table, "-t", "y", "-o", tmp_path / folder, *words)
        return [(tmp_path / folder / f"small.{end}").read_bytes() for end in ("empirisk", "html")]

    first = fit("a", 0)
    assert fit("b", 0) == first
    monkeypatch.setattr("empirisk.cli.fit.report_page", lambda selection, **facts: "a report")
    assert fit("c", 1)[0] != first[0]


def test_piped_text_is_plain_and_fits_into_80_columns(tmp_path):
    table = small_table(tmp_path)
    learners = "ridge,linear_regression"
    command = [*SCRIPT, "fit", str(table), "-t", "y", "--folds", "3", "--learners", learners]
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


def test_bad_data_end_with_2_and_one_line_on_standard_error():
    said = refused("fit", "there/is/none.csv", "--target", "y")
    assert len(said.splitlines()) == 1
    assert "none.csv" in said


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["-t", "y", "--task", "classification"], "too many for classes"),
        (["-t", "side", "--task", "regression"], "holds words"),
        (["-t", "y", "--learners", "ridge,oracle"], "no learner 'oracle'"),
        (["-t", "y", "--learners", "LinearDiscriminantAnalysis"], "(which --task asks for)"),
        (["-t", "y", "--learners", "PCA"], "PCA is not for regression but for reconstruction; "),
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
    assert said in refused("fit", "small.csv", *words)
    assert [p.name for p in tmp_path.iterdir()] == ["small.csv"]


@pytest.mark.parametrize("step", ["select", "report_page", "save", "os.replace"])
def test_an_interruption_leaves_the_folder_as_it_was(tmp_path, monkeypatch, without_report, step):
    table = small_table(tmp_path)
    old = tmp_path / "small.html"
    old.write_text("what was there before")

    def interrupt(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr(step if "." in step else f"empirisk.cli.fit.{step}", interrupt)
    result = run("fit", table, "-t", "y", "-o", tmp_path, "--folds", 3, "--learners", "ridge")
    assert result.exit_code == 130
    assert sorted(p.name for p in tmp_path.iterdir()) == ["small.csv", "small.html"]
    assert old.read_text() == "what was there before"


def test_an_error_of_our_own_ends_with_1_and_shows_where(tmp_path, monkeypatch):
    def fail(*args, **kwargs):
        raise ZeroDivisionError("inside")

    monkeypatch.setattr(empirisk.cli.fit, "select", fail)
    result = run("fit", small_table(tmp_path), "-t", "y", "-o", tmp_path)
    assert result.exit_code == 1
    assert "Traceback" in result.stderr
    assert "please report" in result.stderr


def test_a_column_that_counts_the_rows_is_named_and_can_be_left_out(tmp_path, without_report):
    table = tmp_path / "t.csv"
    rows = [f"{101 + i},{i * 0.37 % 1!r},{i * 0.61 % 1!r}" for i in range(40)]
    table.write_text("id,x,y\n" + "\n".join(rows) + "\n")
    words = ("-t", "y", "-o", tmp_path, "--folds", 3, "--learners", "Baseline")
    said = " ".join(done("fit", table, *words).stdout.split())
    assert (
        "'id' counts the rows; if it only identifies them, leave it out by --kind 'id=text'" in said
    )
    said = done("fit", table, *words, "--kind", "id=text").stdout
    assert "counts the rows" not in said
    assert "left out: 'id'" in said


def test_names_that_would_steer_a_terminal_are_made_visible(tmp_path):
    table = tmp_path / "t.csv"
    rows = [f"{i * 0.37 % 1!r},{i * 0.61 % 1!r}" for i in range(40)]
    table.write_text("\x1b[31mred,y\n" + "\n".join(rows) + "\n")
    words = ("--learners", "linearregression", "--folds", 3)
    result = done("fit", table, "-t", "y", "-o", tmp_path, *words)
    assert not ANSI.search(result.output)
    assert r"\x1b[31mred" in result.stdout
    assert not ANSI.search((tmp_path / "t.html").read_text())


@pytest.fixture
def seen(monkeypatch):
    """What goes into `select` and what comes out of it."""
    found = {}
    select = empirisk.cli.fit.select

    def spy(rivals, X, y, **options):
        found["selection"] = select(rivals, X, y, **options)
        return found["selection"]

    monkeypatch.setattr("empirisk.cli.fit.select", spy)
    return found


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_identical_rows_are_on_one_side_of_every_split(tmp_path, without_report, seen, task):
    """Each row stands twice, the target is noise: a copy in training would tell it."""
    rng = np.random.default_rng(0)
    x = [repr(value) for value in rng.normal(size=150).tolist()]
    x[:5] = [""] * 5  # missing equals missing
    y = rng.integers(0, 2, 150) if task == "classification" else rng.normal(size=150)
    rows = [[x[i], "abc"[i % 3], str(y[i])] for i in range(150) for _ in range(2)]
    rng.shuffle(rows)
    table = tmp_path / "twice.csv"
    table.write_text("x,word,y\n" + "\n".join(map(",".join, rows)) + "\n")
    words = ("-t", "y", "--task", task, "-o", tmp_path, "--folds", 5, "--learners", "Baseline")
    done("fit", table, *words)

    selection = seen["selection"]
    plan, test = selection.plan, set(selection.test_rows.tolist())
    training = [i for i in range(300) if i not in test]
    assert plan.n == len(training)
    side = dict.fromkeys(test, "test") | dict(zip(training, plan.fold[0].tolist(), strict=True))
    with table.open(newline="") as lines:
        features = [(row["x"], row["word"]) for row in csv.DictReader(lines)]
    sides = {}
    for i, row in enumerate(features):
        sides.setdefault(row, set()).add(side[i])
    assert all(len(where) == 1 for where in sides.values())
    assert set.union(*sides.values()) == {"test", 0, 1, 2, 3, 4}


def test_dependent_columns_are_named_as_they_are_encoded(tmp_path, without_report):
    rng = np.random.default_rng(0)
    rows = [
        (x, 2 * x, "ab"[i % 2], i % 2, x + e) for i, (x, e) in enumerate(rng.normal(size=(60, 2)))
    ]
    table = tmp_path / "t.csv"
    lines = [",".join(map(str, row)) for row in rows]
    table.write_text("length,width,word,code,y\n" + "\n".join(lines) + "\n")
    words = ("-t", "y", "-o", tmp_path, "--json", "--folds", 3, "--learners", "linearregression")
    notes = json.loads(done("fit", table, *words).stdout)["notes"]
    assert len(notes) == 1
    assert "'width' is a combination of 'length'" in notes[0]
    assert "'code' is a combination of 'word=" in notes[0]


def test_a_learner_that_needs_more_than_its_time_is_left_out_and_said(tmp_path, without_report):
    words = ("fit", small_table(tmp_path), "-t", "y", "-o", tmp_path, "--folds", 3)
    words += ("--learners", "ridge,linear_regression", "--time-limit")
    result = run(*words, 0)
    assert result.exit_code == 2
    said = " ".join(result.stderr.split())
    assert "no candidate finished in time, of Baseline, Ridge, LinearRegression: allow more" in said
    outcome = json.loads(done(*words, 600, "--json").stdout)
    assert outcome["failures"] == {}


@pytest.mark.parametrize("words", [(), ("--time-limit", 60), ("--learners", "KNeighborsRegressor")])
def test_of_many_rows_slow_learners_wait_to_be_asked_for(tmp_path, monkeypatch, words):
    tried = []

    def stop(rivals, *_, **__):
        tried.extend(rivals)
        raise KeyboardInterrupt

    monkeypatch.setattr(empirisk.cli.learners, "MANY_ROWS", 40)
    monkeypatch.setattr(empirisk.cli.fit, "select", stop)
    said = run("fit", small_table(tmp_path), "-t", "y", "-o", tmp_path, *words).stdout
    asked = "--learners" in words
    assert ("KNeighborsRegressor" in tried) == asked
    assert (
        "LinearTreeRegressor, RandomForestRegressor take too" in " ".join(said.split())
    ) != asked
    assert "KNeighborsClassifier" not in said


def test_trees_take_categories_and_missing_values_without_an_encoder(tmp_path, without_report):
    rng = np.random.default_rng(0)
    rows = ["size,city,age,price"]  # ages, so that no rows are copies and share a fold
    for _ in range(160):
        size, city = rng.normal(), rng.choice(["Oslo", "Rome", "Turin"])
        lost = rng.random() < 0.2
        price = 5.0 * lost + 2.0 * (city == "Rome") + 0.1 * rng.normal()
        rows.append(f"{'' if lost else round(size, 3)},{city},{rng.random():.4f},{price:.3f}")
    table = tmp_path / "homes.csv"
    table.write_text("\n".join(rows) + "\n")
    result = done(
        "fit", table, "-t", "price", "-o", tmp_path, "--json", "--folds", 5,
        "--learners", "DecisionTreeRegressor",
    )  # fmt: skip
    assert json.loads(result.stdout)["chosen"]["name"] == "DecisionTreeRegressor"
    found = read_model_file(tmp_path / "homes.empirisk").model
    assert [column.kind for column in found.columns_] == ["number", "category", "number"]
    fresh = tmp_path / "fresh.csv"
    fresh.write_text("city,size,age\nRome,,0.5\nOslo,0.5,0.5\nParis,0.5,0.5\n")
    lines = done("predict", tmp_path / "homes.empirisk", fresh).stdout.split()
    values = [float(line) for line in lines[1:]]
    assert values[:2] == pytest.approx([7.0, 0.0], abs=0.1)  # a leaf's mean of noise
    assert np.isfinite(values[2])


def test_a_number_that_may_mean_missing_is_told_and_can_be_named(tmp_path, without_report):
    path = tmp_path / "t.csv"
    rows = [f"{-999 if i % 9 == 0 else i % 7},{i % 5}" for i in range(40)]
    path.write_text("\n".join(["x,y", *rows]) + "\n")
    words = ("fit", path, "-t", "y", "-o", tmp_path, "--folds", 3, "--learners", "Ridge")
    said = " ".join(done(*words).stdout.split())
    assert "'x' holds -999 far from its other numbers" in said
    assert "also by --missing=-999" in said
    assert "holds -999" not in done(*words, "--missing=-999").stdout
