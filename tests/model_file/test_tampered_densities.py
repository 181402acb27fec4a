"""A file whose density or plug-in rule is not one is refused."""

import json
import zipfile

import numpy as np
import pytest

from empirisk import DensityClassifier, ParametricDensity, PlugInPredictor, Ridge
from empirisk.model_file.load import load
from empirisk.model_file.save import save
from empirisk.runtime.errors import DataError, ParameterError
from model_file.altering import altered, narrower, put, shorter

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 2))
Y = (X[:, 0] > 0).astype(int)
GAUSSIAN = ParametricDensity().fit(X)
LAPLACE = ParametricDensity("laplace").fit(X)
CLASSIFIER = DensityClassifier().fit(X, Y)
PLUG_IN = PlugInPredictor(Ridge(), "absolute").fit(X, X[:, 0] + RNG.normal(size=60))
CLASSES = PlugInPredictor(loss="zero_one").fit(X, Y)

ARRAYS = [
    (GAUSSIAN, "mean_", shorter),
    (GAUSSIAN, "mean_", put(0, np.nan)),
    (GAUSSIAN, "scale_", put(0, 0.0)),
    (GAUSSIAN, "scale_", put(0, np.inf)),
    (GAUSSIAN, "correlation_", narrower),
    (GAUSSIAN, "correlation_", put((0, 1), 0.9)),
    (GAUSSIAN, "correlation_", lambda array: array.astype(np.float32)),
    (GAUSSIAN, "_axes", put((0, 0), 5.0)),
    (GAUSSIAN, "_variances", put(0, -1.0)),
    (CLASSIFIER, "classes_", shorter),
    (CLASSIFIER, "classes_", put(1, 0)),
    (CLASSIFIER, "class_prior_", put(0, -0.5)),
    (CLASSIFIER, "class_prior_", shorter),
    (CLASSIFIER, "class_prior_", lambda array: 2 * array),
    (CLASSIFIER, "class_count_", put(0, np.nan)),
]


@pytest.mark.parametrize(("model", "way", "change"), ARRAYS)
def test_arrays_that_no_fit_leaves_are_refused(model, way, change, tmp_path):
    altered(tmp_path / "model", model, way, change)
    with pytest.raises((DataError, ParameterError)):
        load(tmp_path / "model")


def rewritten(path, model, edit):
    """Save a model with a change to the node of it in the manifest."""
    save(model, path)
    with zipfile.ZipFile(path) as file:
        members = {member: file.read(member) for member in file.namelist()}
    manifest = json.loads(members.pop("manifest.json"))
    edit(manifest["model"])
    with zipfile.ZipFile(path, "w") as file:
        for member, data in members.items():
            file.writestr(member, data)
        file.writestr("manifest.json", json.dumps(manifest))


def state(name, value):
    return lambda node: node["state"].update({name: value})


def params(name, value):
    return lambda node: node["params"].update({name: value})


def without(name):
    return lambda node: node["state"].pop(name)


def parameter_of_column(name, value):
    def edit(node):
        pairs = node["state"]["parameters_"][0]["dict"]
        pairs[[pair[0] for pair in pairs].index(name)][1] = value

    return edit


NODES = [
    (GAUSSIAN, state("n_features_in_", 3)),
    (GAUSSIAN, without("correlation_")),
    (GAUSSIAN, params("shrinkage", 7.0)),
    (GAUSSIAN, params("variance_floor", "low")),
    (GAUSSIAN, params("family", "laplace")),
    (LAPLACE, params("family", "gamma")),
    (LAPLACE, params("family", "rv_continuous")),
    (LAPLACE, params("family", "__builtins__")),
    (LAPLACE, params("family", "gaussian")),
    (LAPLACE, state("parameters_", [])),
    (LAPLACE, parameter_of_column("scale", 0.0)),
    (LAPLACE, parameter_of_column("scale", "wide")),
    (LAPLACE, parameter_of_column("loc", {"float": "nan"})),
    (CLASSIFIER, state("densities_", [])),
    (CLASSIFIER, lambda node: node["state"]["densities_"].pop()),
    (CLASSIFIER, lambda node: node["state"]["densities_"].__setitem__(0, 3)),
    (CLASSIFIER, params("cost_matrix", [[0, 1, 1], [1, 0, 1], [1, 1, 0]])),
    (CLASSIFIER, params("priors", [1.0])),
    (CLASSIFIER, state("n_features_in_", 5)),
    (PLUG_IN, state("n_features_in_", 5)),
    (PLUG_IN, state("estimator_", None)),
    (PLUG_IN, state("noise_deviation_", None)),
    (PLUG_IN, state("noise_deviation_", -1.0)),
    (PLUG_IN, params("loss", "zero_one")),
    (PLUG_IN, params("actions", ["up"])),
    (CLASSES, state("noise_deviation_", 1.0)),
    (CLASSES, params("loss", "squared")),
]


@pytest.mark.parametrize(("model", "edit"), NODES, ids=range(len(NODES)))
def test_parts_that_do_not_belong_together_are_refused(model, edit, tmp_path):
    rewritten(tmp_path / "model", model, edit)
    with pytest.raises((DataError, ParameterError)):
        load(tmp_path / "model")


@pytest.mark.parametrize("model", [GAUSSIAN, LAPLACE, CLASSIFIER, PLUG_IN, CLASSES], ids=str)
def test_what_was_not_touched_is_loaded(model, tmp_path):
    rewritten(tmp_path / "model", model, lambda node: None)
    way = "score_samples" if hasattr(model, "density_risk") else "predict"
    found = getattr(load(tmp_path / "model"), way)(X)
    np.testing.assert_array_equal(found, getattr(model, way)(X))


@pytest.mark.parametrize("model", [Ridge(), CLASSES.estimator_])
def test_a_plug_in_needs_a_fitted_model_of_numbers(model, tmp_path):
    forged = PlugInPredictor(Ridge(), "absolute")
    forged.__dict__.update({**PLUG_IN.__dict__, "estimator_": model})
    save(forged, tmp_path / "plug_in.empirisk")
    with pytest.raises((DataError, ParameterError), match="estimator_"):
        load(tmp_path / "plug_in.empirisk")
