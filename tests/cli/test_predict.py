"""`empirisk predict`: the model's own predictions, by column names, or a clear refusal."""

import csv
import io
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from cli.command import done, refused, run, small_table
from empirisk import LinearRegression, MarginClassifier, save
from empirisk.data import datasets
from empirisk.data.read import read_table
from empirisk.data.table import Table
from empirisk.model_file.load import load


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    """The folder with models of two bundled tables."""
    folder = tmp_path_factory.mktemp("models")
    with pytest.MonkeyPatch.context() as patch:  # no pictures
        patch.setattr("empirisk.cli.fit.report_page", lambda selection, **facts: "a report")
        for name, target, learner in (
            ("penguins", "species", "LinearDiscriminantAnalysis"),
            ("auto_mpg", "mpg", "Ridge"),
        ):
            words = ("-t", target, "-o", folder, "--folds", 3, "--learners", learner)
            done("fit", datasets.path(name), *words)
    return folder


def test_predictions_are_those_of_the_model_to_the_last_digit(fitted):
    model = load(fitted / "auto_mpg.empirisk")
    expected = model.predict(read_table(datasets.path("auto_mpg")))
    result = done("predict", fitted / "auto_mpg.empirisk", datasets.path("auto_mpg"))
    found = [float(row["prediction"]) for row in rows_of(result.stdout)]
    np.testing.assert_array_equal(found, expected)  # repr keeps every bit of a float
    assert "'car_name'" in result.stderr


def test_classes_come_with_their_labels_and_probabilities(fitted, tmp_path):
    table = read_table(datasets.path("penguins"))
    model = load(fitted / "penguins.empirisk")
    output = tmp_path / "p.csv"
    result = run(
        "predict", fitted / "penguins.empirisk", datasets.path("penguins"), "--probabilities",
        "-o", output,
    )  # fmt: skip
    assert (result.exit_code, result.stdout) == (0, "")
    rows = rows_of(output.read_text())
    assert [row["prediction"] for row in rows] == model.predict(table).tolist()
    names = [f"probability_{label}" for label in ("Adelie", "Chinstrap", "Gentoo")]
    found = np.array([[float(row[name]) for name in names] for row in rows])
    np.testing.assert_array_equal(found, model.predict_proba(table))


def test_the_order_of_columns_and_strangers_do_not_matter(fitted, tmp_path):
    table = read_table(datasets.path("auto_mpg"))
    other = tmp_path / "other.csv"
    frame = table.select(reversed(table.names)).drop(["mpg", "car_name"]).to_pandas()
    frame.insert(2, "extra", "a word")
    frame.to_csv(other, index=False)
    wanted = run("predict", fitted / "auto_mpg.empirisk", datasets.path("auto_mpg")).stdout
    result = run("predict", fitted / "auto_mpg.empirisk", other)
    assert result.stdout == wanted
    assert "not used: 'extra'" in result.stderr


def test_a_column_is_read_as_it_was_in_training(tmp_path, without_report):
    rng = np.random.default_rng(0)
    rows = [f"{'AB1'[i % 3]},{i % 3 + rng.normal():.3f}" for i in range(60)]
    train, new = tmp_path / "t.csv", tmp_path / "new.csv"
    train.write_text("group,y\n" + "\n".join(rows) + "\n")
    new.write_text("group\n1\n1\n")  # by themselves these would be numbers
    done("fit", train, "-t", "y", "-o", tmp_path, "--folds", 3, "--learners", "ridge")
    result = done("predict", tmp_path / "t.empirisk", new)
    means = [float(row["prediction"]) for row in rows_of(result.stdout)]
    assert means[0] == means[1] > 1.3  # the mean of its group is near 2, of all rows near 1


def test_trees_split_identifiers_of_a_file_that_are_beyond_float64(tmp_path, without_report):
    rows = "".join(f"{2**60 + i},{i % 3},{'no' if i < 20 else 'yes'}\n" for i in range(40))
    table, new = tmp_path / "t.csv", tmp_path / "new.csv"
    table.write_text("id,x,y\n" + rows)
    words = ("fit", table, "-t", "y", "-o", tmp_path, "--folds", 3)
    done(*words)
    new.write_text(f"id,x\n{2**60 + 3},0\n{2**60 + 39},0\n5,0\n")
    result = done("predict", tmp_path / "t.empirisk", new)
    assert [row["prediction"] for row in rows_of(result.stdout)] == ["no", "yes", "no"]
    assert "left out: 'id'" in done(*words, "--kind", "id=text").stdout


def test_truth_values_and_whole_numbers_come_back_as_they_are_written(tmp_path, without_report):
    rows = [f"{i % 2 + i * 1e-3},{'true' if i % 2 else 'false'},{i % 2 + 4}" for i in range(40)]
    table = tmp_path / "t.csv"
    table.write_text("x,truth,whole\n" + "\n".join(rows) + "\n")
    for target, labels in (("truth", ["false", "true"]), ("whole", ["4", "5"])):
        words = ("-t", target, "--task", "classification", "-o", tmp_path, "--folds", 3)
        done("fit", table, *words, "--learners", "LinearDiscriminantAnalysis")
        result = done("predict", tmp_path / "t.empirisk", table)
        assert [row["prediction"] for row in rows_of(result.stdout)] == labels * 20


def test_words_that_training_did_not_have_are_told(fitted, tmp_path):
    new = tmp_path / "new.csv"
    known = "Biscoe,39.1,18.7,181,3750,male,2007"
    unknown = ["Atlantis,,18.7,181,3750,male,2007", "Biscoe,39.1,18.7,181,,,2007"]
    names = "island,bill_length_mm,bill_depth_mm,flipper_length_mm,body_mass_g,sex,year"
    new.write_text("\n".join([names, known, *unknown]) + "\n")
    said = done("predict", fitted / "penguins.empirisk", new).stderr
    note = "'island' holds 'Atlantis', which the training table had not, in 1 of 3 rows"
    assert said == f"note: {note}\n"
    assert done("predict", fitted / "penguins.empirisk", datasets.path("penguins")).stderr == ""


def test_a_word_among_numbers_is_named_with_its_line_and_a_remedy(fitted, tmp_path):
    new = tmp_path / "new.csv"
    table = read_table(datasets.path("auto_mpg")).to_pandas().head(5).astype(object)
    table.loc[2, "weight"] = "heavy"
    table.to_csv(new, index=False)
    said = refused("predict", fitted / "auto_mpg.empirisk", new)
    assert "'weight' cannot be a number: line 4 has 'heavy'" in said
    assert "--missing heavy" in said
    done("predict", fitted / "auto_mpg.empirisk", new, "--missing", "heavy")


def test_numbers_that_a_parquet_file_holds_as_words_are_left_out(tmp_path, without_report):
    ids = [str(10_000 + 7 * i) for i in range(40)]
    table = Table.of({"id": ids, "x": np.arange(40.0), "y": ["no", "yes"] * 20})
    pq.write_table(table.to_arrow(), tmp_path / "t.parquet")
    words = ("-t", "y", "-o", tmp_path, "--folds", 3, "--learners", "DecisionTreeClassifier")
    assert "left out: 'id'" in done("fit", tmp_path / "t.parquet", *words).stdout


def test_a_missing_column_is_named(fitted, tmp_path):
    other = tmp_path / "other.csv"
    read_table(datasets.path("auto_mpg")).drop(["weight"]).to_pandas().to_csv(other, index=False)
    assert "lacks 'weight'" in refused("predict", fitted / "auto_mpg.empirisk", other)


def test_a_table_without_rows_is_refused_by_name(fitted, tmp_path):
    names = tmp_path / "names.csv"
    names.write_text(Path(datasets.path("auto_mpg")).read_text().split("\n")[0] + "\n")
    assert "no rows to predict" in refused("predict", fitted / "auto_mpg.empirisk", names)


def test_what_is_no_model_of_ours_is_refused(fitted, tmp_path):
    table = datasets.path("auto_mpg")
    bare = tmp_path / "bare.empirisk"
    save(LinearRegression().fit([[1.0], [2.0]], [1.0, 2.0]), bare)
    for model, said in (
        (table, "no model file"),
        (tmp_path / "nowhere.empirisk", "nowhere.empirisk"),
        (bare, "not the columns"),
    ):
        assert said in refused("predict", model, table)


def test_numbers_have_no_probabilities(fitted):
    words = (fitted / "auto_mpg.empirisk", datasets.path("auto_mpg"), "--probabilities")
    assert "leave out --probabilities" in refused("predict", *words)


def test_classes_may_have_no_probabilities_either(tmp_path):
    file, model = small_table(tmp_path), tmp_path / "hinge.empirisk"
    table = read_table(file)
    fitted = MarginClassifier(loss="hinge").fit(table["y"].numbers()[:, None], table["side"])
    meta = {"target": "side", "task": "classification", "columns": {"y": "number"}}
    save(fitted, model, meta=meta)
    said = refused("predict", model, file, "--probabilities")
    assert "predicts classes and has no probabilities" in " ".join(said.split())


def test_an_interrupted_output_leaves_the_old_file(fitted, tmp_path, monkeypatch):
    output = tmp_path / "p.csv"
    output.write_text("old")

    def interrupt(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr("os.replace", interrupt)
    result = run("predict", fitted / "auto_mpg.empirisk", datasets.path("auto_mpg"), "-o", output)
    assert result.exit_code == 130
    assert [p.name for p in tmp_path.iterdir()] == ["p.csv"]
    assert output.read_text() == "old"


def test_predictions_overwrite_neither_the_data_nor_the_model(fitted, tmp_path):
    model, data = fitted / "auto_mpg.empirisk", tmp_path / "cars.csv"
    data.write_bytes(datasets.path("auto_mpg").read_bytes())
    before = model.read_bytes(), data.read_bytes()
    (tmp_path / "link.csv").symlink_to(data)
    for output, what in ((data, "data"), (tmp_path / "link.csv", "data"), (model, "model")):
        assert f"would overwrite the {what}" in refused("predict", model, data, "-o", output)
    assert (model.read_bytes(), data.read_bytes()) == before
