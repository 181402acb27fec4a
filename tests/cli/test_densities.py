"""Densities of classes and plug-in rules on the command line."""

import csv
import inspect
import io
import json

import numpy as np
import pytest
from scipy import stats

from cli.command import done, refused, small_table
from empirisk.cli.learners import all_learners
from empirisk.cli.loss import limits_of
from empirisk.losses import Asymmetric, Quantile
from empirisk.model_file.load import load

pytestmark = pytest.mark.usefixtures("without_report")


def fitted(table, folder, target, *words):
    """What is told in JSON, and the model."""
    result = done("fit", table, "-t", target, "-o", folder, "--folds", 3, "--json", *words)
    outcome = json.loads(result.stdout)
    return outcome, load(outcome["model"])


def numbers(table):
    """The columns x and y."""
    return np.loadtxt(table, delimiter=",", skiprows=1, usecols=(0, 2))


def predicted(model, table, *words):
    text = done("predict", model, table, *words).stdout
    return list(csv.DictReader(io.StringIO(text)))


def test_a_density_classifier_is_fitted_saved_and_predicts(tmp_path):
    table = small_table(tmp_path, n=80)
    outcome, model = fitted(table, tmp_path, "side", "--learners", "densityclassifier")
    assert outcome["chosen"]["name"] == "DensityClassifier"
    baseline, own = outcome["ranking"]
    assert own["risk"] < baseline["risk"] / 2
    X = numbers(table)
    rule, X = model[-1], model[:-1].transform({"x": X[:, 0], "y": X[:, 1]})
    joint = [
        share * stats.multivariate_normal(density.mean_, density.covariance_).pdf(X)
        for share, density in zip(rule.class_prior_, rule.densities_, strict=True)
    ]
    known = np.transpose(joint) / np.sum(joint, axis=0)[:, None]
    rows = predicted(outcome["model"], table, "--probabilities")
    found = [[float(row["probability_down"]), float(row["probability_up"])] for row in rows]
    np.testing.assert_allclose(found, known, rtol=1e-9, atol=1e-12)  # squares of up to 20
    words = np.where(known[:, 1] > known[:, 0], "up", "down")
    assert [row["prediction"] for row in rows] == words.tolist()


def test_a_density_classifier_aims_at_the_costs(tmp_path):
    table = small_table(tmp_path, n=80)
    words = ("--learners", "DensityClassifier", "--loss", "asymmetric:1,9")
    outcome, model = fitted(table, tmp_path, "side", *words)
    X = numbers(table)
    P = model.predict_proba({"x": X[:, 0], "y": X[:, 1]})
    expected = np.where(9 * P[:, 1] > P[:, 0], "up", "down")  # to miss "up" costs 9
    found = np.array([row["prediction"] for row in predicted(outcome["model"], table)])
    assert (found == expected).all()
    assert (expected != model.classes_[P.argmax(axis=1)]).any()


def test_a_density_classifier_is_judged_by_its_probabilities(tmp_path):
    table = small_table(tmp_path, n=80)
    words = ("--learners", "DensityClassifier", "--loss", "log")
    outcome, _ = fitted(table, tmp_path, "side", *words)
    baseline, own = outcome["ranking"]
    assert own["name"] == "DensityClassifier"
    assert own["risk"] < baseline["risk"] / 2


@pytest.mark.parametrize("name", ["KernelDensity", "GaussianMixture", "ParametricDensity"])
def test_a_density_without_labels_is_no_rival(tmp_path, name):
    said = refused(
        "fit", small_table(tmp_path), "-t", "side", "-o", tmp_path, "--learners", name.lower()
    )
    assert f"{name} is not for classification" in " ".join(said.split())


def test_a_plug_in_rule_aims_at_the_loss(tmp_path):
    table = small_table(tmp_path, n=80)
    words = ("--learners", "PlugInPredictor", "--loss", "quantile:0.9")
    outcome, model = fitted(table, tmp_path, "y", *words)
    assert outcome["chosen"]["name"] == "PlugInPredictor"
    assert model[-1].loss == Quantile(0.9)
    X = numbers(table)
    found = np.array([float(row["prediction"]) for row in predicted(outcome["model"], table)])
    assert np.mean(X[:, 1] < found) > 0.8  # the mean has half of the rows below it


def test_the_note_names_every_learner_that_aims_at_costs():
    note = limits_of(Asymmetric(1, 2))
    for learner in all_learners():
        if "cost_matrix" in inspect.signature(learner).parameters:
            assert learner.__name__ in note
