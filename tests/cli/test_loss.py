"""What a mistake costs, as the command line has it."""

import json

import numpy as np
import pytest

from cli.command import done, refused, small_table
from empirisk.losses import Asymmetric, Brier, Costs, Quantile
from empirisk.model_file.load import read_model_file

pytestmark = pytest.mark.usefixtures("without_report")


def noise(folder, labels, n=60):
    """x, and labels that have nothing to do with it, each as often as the others."""
    x = np.random.default_rng(0).normal(size=n).tolist()
    path = folder / "t.csv"
    path.write_text("x,y\n" + "".join(f"{x[i]!r},{labels[i % len(labels)]}\n" for i in range(n)))
    return path


def fit(table, folder, *words):
    """What is told in JSON and in words, and the model file."""
    result = done("fit", table, "-t", "y", "-o", folder, "--folds", 3, "--json", *words)
    outcome = json.loads(result.stdout)
    return outcome, " ".join(result.stderr.split()), read_model_file(outcome["model"])


def constant(found):
    return found.model[-1].constant_


def test_a_measure_is_no_loss_and_what_to_give_instead_is_said(tmp_path):
    table = noise(tmp_path, ["a", "b"])
    said = refused("fit", table, "-t", "y", "-o", tmp_path, "--loss", "auc")
    assert "--loss: 'auc' is a measure of many rows together" in said
    said = refused("fit", table, "-t", "y", "-o", tmp_path, "--loss", "accuracy")
    assert "give that, 'zero_one'" in said


def test_a_quantile_is_the_loss_told_and_remembered(tmp_path):
    table = small_table(tmp_path)
    words = ("--loss", "quantile:0.9", "--learners", "Baseline")
    outcome, said, found = fit(table, tmp_path, *words)
    assert outcome["loss"] == "quantile(0.9)"
    assert "quantile(0.9)" in outcome["test_risk"]["sentence"]
    assert "quantile(0.9) loss" in said
    assert any("predict the mean, whatever the loss" in note for note in outcome["notes"])
    assert found.meta["loss"] == Quantile(0.9)
    y = np.loadtxt(table, delimiter=",", skiprows=1, usecols=2)
    assert np.mean(y < constant(found)) > 0.8  # the mean has half of the rows below it


def test_brier_judges_probabilities_and_is_told_and_remembered(tmp_path):
    words = ("--loss", "brier", "--learners", "LinearDiscriminantAnalysis")
    outcome, said, found = fit(noise(tmp_path, ["no", "yes"]), tmp_path, *words)
    assert (outcome["loss"], found.meta["loss"]) == ("brier", Brier())
    assert found.meta["loss"].bounds == (0, 1)
    assert "(brier loss, less is better)" in said
    low, high = outcome["test_risk"]["interval"]
    assert 0 <= low <= outcome["test_risk"]["value"] <= high <= 1
    constant = next(each for each in outcome["ranking"] if each["name"] == "Baseline")
    assert abs(constant["risk"] - 0.25) < 0.01  # p (1 - p), p from two thirds of 45 rows


def test_the_default_losses_come_without_a_note(tmp_path):
    outcome, said, _ = fit(small_table(tmp_path), tmp_path, "--learners", "Baseline")
    assert (outcome["loss"], outcome["notes"]) == ("squared", [])
    assert "costs:" not in said


@pytest.mark.parametrize(
    ("positive", "chosen"),
    [("", "yes"), (",yes", "yes"), (",no", "no")],
)
def test_the_dear_mistake_is_avoided_by_the_baseline(tmp_path, positive, chosen):
    """Both labels are equally frequent, and to miss the positive one is dear: it is predicted."""
    table = noise(tmp_path, ["no", "yes"])
    words = ("--loss", f"asymmetric:1,4{positive}", "--learners", "Baseline")
    outcome, said, found = fit(table, tmp_path, *words)
    other = {"no": "yes", "yes": "no"}[chosen]
    assert constant(found) == chosen
    assert found.meta["loss"] == Asymmetric(1, 4, positive.removeprefix(",") or None)
    assert f"predicting '{other}' where '{chosen}' is right costs 4" in said
    assert any("most probable class, whatever mistakes cost" in n for n in outcome["notes"])


@pytest.mark.parametrize(
    ("labels", "word", "label"),
    [(["false", "true"], "FALSE", False), (["4", "5"], "4", 4), (["0.5", "1.5"], "0.5", "0.5")],
)
def test_a_label_is_named_as_it_is_spelled(tmp_path, labels, word, label):
    table = noise(tmp_path, labels)
    words = ("--task", "classification", "--loss", f"asymmetric:1,4,{word}")
    _, _, found = fit(table, tmp_path, *words, "--learners", "Baseline")
    assert found.meta["loss"].positive == label
    assert type(found.meta["loss"].positive) is type(label)
    assert constant(found) == label


MATRIX = ",no,yes\nno,0,5\nyes,1,0\n"


@pytest.mark.parametrize(
    "text",
    [
        MATRIX,
        "predicted,yes,no\nyes,,1\nno,5,\n",  # another order; what is right left blank
        "predicted;no;yes\nno;0;5,0\nyes;1;0\n",
        "predicted,true,cost\nno,yes,5\nyes,no,1\n",
        "Cost,True,Predicted\n1,no,yes\n5,yes,no\n0,no,no\n",
        "predicted,no,yes,unheard of\nno,0,5,9\nunheard of,9,9,0\nyes,1,0,9\n",
    ],
)
def test_costs_come_as_a_table_or_as_a_list(tmp_path, text):
    table = noise(tmp_path, ["no", "yes"])
    costs = tmp_path / "costs.csv"
    costs.write_text(text)
    outcome, said, found = fit(table, tmp_path, "--costs", costs, "--learners", "Baseline")
    loss = found.meta["loss"]
    assert isinstance(loss, Costs)
    # Rows are predictions: C[no, yes] = 5, C[yes, no] = 1.
    np.testing.assert_array_equal(loss.for_classes(["no", "yes"]).costs(), [[0, 5], [1, 0]])
    assert constant(found) == "yes"
    assert outcome["loss"] == str(loss)
    assert "predicting 'no' where 'yes' is right costs 5, 'yes' where 'no' is right" in said


def test_trees_aim_at_the_costs(tmp_path):
    rng = np.random.default_rng(0)
    x = rng.uniform(size=200).round(3)
    labels = np.where(rng.random(200) < 0.2 + 0.3 * (x > 0.5), "yes", "no").tolist()
    table, costs = tmp_path / "t.csv", tmp_path / "costs.csv"
    table.write_text("x,y\n" + "".join(f"{a},{b}\n" for a, b in zip(x, labels, strict=True)))
    costs.write_text("predicted,yes,no\nyes,0,1\nno,3,0\n")
    words = ("--costs", costs, "--learners", "DecisionTreeClassifier")
    _, _, found = fit(table, tmp_path, *words)
    np.testing.assert_array_equal(found.model.cost_matrix, [[0, 3], [1, 0]])
    # More than a quarter of "yes" is enough; the most probable class is "no" everywhere.
    assert found.model.predict([[0.25], [0.75]]).tolist() == ["no", "yes"]


@pytest.mark.parametrize("positive", ["yes", "no"])
def test_all_learners_come_through_where_the_mistakes_of_a_class_cost_nothing(tmp_path, positive):
    table = noise(tmp_path, ["no", "yes"])
    outcome, _, _ = fit(table, tmp_path, "--loss", f"asymmetric:0,5,{positive}")
    risks = {each["name"]: each["risk"] for each in outcome["ranking"]}
    assert risks["DecisionTreeClassifier"] == 0  # to predict the other class is free
    assert "LinearTreeClassifier" in risks


def test_of_many_mistakes_the_dearest_are_told(tmp_path):
    table = noise(tmp_path, ["a", "b", "c"])
    costs = tmp_path / "costs.csv"
    costs.write_text(",a,b,c\na,0,1,2\nb,3,0,4\nc,5,6,0\n")
    _, said, found = fit(table, tmp_path, "--costs", costs, "--learners", "Baseline")
    assert "'c' where 'b' is right costs 6, 'c' where 'a' is right costs 5, 'b' where 'c'" in said
    assert "other mistakes do not cost more" in said
    # By hand: a costs (1 + 2) / 3, b (3 + 4) / 3, c (5 + 6) / 3 on average.
    assert constant(found) == "a"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (",no,yes\nno,0,5\n", "rows for 'no' and columns for 'no', 'yes'"),
        (",no,yes\nno,0,5\nno,1,0\n", "rows for 'no', 'no'"),
        (",no,yes\nno,0,\nyes,1,0\n", "no cost of predicting 'no' where 'yes' is true"),
        (",no,yes\nno,0,-5\nyes,1,0\n", "costs are >= 0"),
        (",no,yes\nno,1,5\nyes,1,0\n", "a right prediction costs 0"),
        (",no,yes\nno,0,dear\nyes,1,0\n", "line 2 has 'dear'"),
        (",no,maybe\nno,0,5\nmaybe,1,0\n", "class 'yes' has no row in the cost matrix"),
        ("predicted,true,cost\nno,yes,5\n", "no cost is given for 1 pair(s), the first"),
        ("predicted,true,cost\nno,yes,5\nyes,no,1\nno,yes,4\n", "is true twice"),
        ("predicted,true,cost\nno,yes,5\n,no,1\n", "no class in column 'predicted' of row 2"),
        ("", "costs.csv"),
    ],
)
def test_costs_that_make_no_sense_are_refused(tmp_path, text, said):
    costs = tmp_path / "costs.csv"
    costs.write_text(text)
    assert said in refused("fit", noise(tmp_path, ["no", "yes"]), "-t", "y", "--costs", costs)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["-t", "y", "--loss", "log"], "give one of squared, absolute, quantile:Q"),
        (["-t", "y", "--costs", "small.csv"], "is for classification"),
        (["-t", "y", "--loss", "hinge"], "there are squared, absolute, quantile:Q"),
        (["-t", "y", "--loss", "quantile:90"], "strictly between 0 and 1"),
        (["-t", "y", "--loss", "quantile"], "wanted quantile:Q"),
        (["-t", "y", "--loss", "squared", "--costs", "small.csv"], "give one of them"),
        (["-t", "side", "--loss", "squared"], "give one of zero_one, log, brier, asymmetric:A,B"),
        (["-t", "side", "--loss", "asymmetric:1"], "wanted asymmetric:A,B[,POSITIVE]"),
        (["-t", "side", "--loss", "asymmetric:1,2,left"], "'left' is not one of the classes"),
        (["-t", "side", "--costs", "none.csv"], "none.csv"),
    ],
)
def test_a_loss_that_does_not_suit_is_answered_with_those_that_do(
    tmp_path, monkeypatch, words, said
):
    monkeypatch.chdir(tmp_path)
    small_table(tmp_path)
    assert said in refused("fit", "small.csv", *words)
    assert [p.name for p in tmp_path.iterdir()] == ["small.csv"]


def test_an_asymmetric_loss_is_for_two_classes(tmp_path):
    table = noise(tmp_path, ["a", "b", "c"])
    said = refused("fit", table, "-t", "y", "--loss", "asymmetric:1,2")
    assert "for two classes" in said
    assert "--costs FILE" in said


def test_learners_without_probabilities_stay_out_of_the_log_loss(tmp_path):
    table = noise(tmp_path, ["a", "b"])
    outcome, _, _ = fit(table, tmp_path, "--loss", "log")
    assert "MarginClassifier" not in json.dumps(outcome)
    words = ("--loss", "log", "--learners", "MarginClassifier")
    result = refused("fit", table, "-t", "y", "-o", tmp_path, *words)
    assert "MarginClassifier predicts classes without probabilities" in result


@pytest.mark.parametrize(
    ("target", "there_are"),
    [
        ("y", "squared, absolute, quantile:Q"),
        ("side", "zero_one, log, brier, asymmetric:A,B[,POSITIVE], and any costs by --costs FILE"),
    ],
)
def test_a_misspelt_loss_is_answered_with_those_of_the_task(target, there_are, tmp_path):
    task = {"y": "regression", "side": "classification"}[target]
    said = refused("fit", small_table(tmp_path), "--target", target, "--loss", "squred")
    assert said == f"error: --loss: there is no loss 'squred'; for {task} there are {there_are}\n"
