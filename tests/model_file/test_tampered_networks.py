"""Networks in files: they come back as they were, and what is no network is refused."""

import json
import zipfile
from hashlib import sha256

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from empirisk import (
    Activation,
    Autoencoder,
    AveragePool,
    Bottleneck,
    Conv1d,
    Conv2d,
    Dense,
    Dropout,
    Flatten,
    MaxPool,
    MLPClassifier,
    MLPRegressor,
    NetworkClassifier,
    NetworkRegressor,
    Tuned,
    load,
    losses,
    save,
)
from empirisk.runtime.errors import DataError
from model_file.altering import altered, narrower, put, shorter
from model_file.exactness import assert_same

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 16))
Y = X[:, 0] - X[:, 1]
LABELS = np.array(["a", "b", "c"])[np.digitize(Y, [-0.6, 0.6])]
FEW = {"max_iter": 2, "n_iter_no_change": None, "random_state": 0}

CLASSIFIER = MLPClassifier((5, 4), **FEW).fit(X, LABELS)
REGRESSOR = MLPRegressor("poisson", 5, **FEW).fit(X, np.exp(Y).round())
BOTH = MLPRegressor(hidden_layer_sizes=5, **FEW).fit(X, np.column_stack([Y, -Y]))
STOPPED = MLPRegressor("quantile:0.3", 5, early_stopping=True, dtype="float32", **FEW).fit(X, Y)
GOING_ON = MLPClassifier(5, random_state=0).partial_fit(X, LABELS, classes=["a", "b", "c"])
PICTURES = NetworkClassifier(
    [Conv2d(3, 2, padding=(1, 0)), MaxPool((2, 1)), Activation("gelu"), Flatten(), Dropout(0.2),
     Dense(4, bias=False)],
    input_shape=(1, 4, 4), loss="squared_hinge", **FEW,
).fit(X, LABELS)  # fmt: skip
SIGNALS = NetworkRegressor(
    [Conv1d(2, 3, stride=2), AveragePool(2), Flatten(), Bottleneck(2), Dense(3, "softmax")],
    input_shape=(2, 8), loss=losses.Absolute(), **FEW,
).fit(X, Y)  # fmt: skip
CODES = Autoencoder(2, hidden_layer_sizes=4, **FEW).fit(X)
OWN = Autoencoder(2, encoder=[Dense(5, "relu")], decoder=[], **FEW).fit(X)
TUNED = Tuned(MLPClassifier(4, random_state=0), values=[1, 3], cv=2, random_state=0).fit(X, LABELS)
MODELS = [CLASSIFIER, REGRESSOR, BOTH, STOPPED, GOING_ON, PICTURES, SIGNALS, CODES, OWN, TUNED]


def said(model):
    if hasattr(model, "reconstruct"):
        return model.reconstruct(X)
    return model.decision_function(X) if hasattr(model, "classes_") else model.predict(X)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_a_network_comes_back(tmp_path, model):
    save(model, tmp_path / "model")
    again = load(tmp_path / "model")
    fitted, back = (getattr(each, "best_estimator_", each) for each in (model, again))
    assert back.layers_ == fitted.layers_
    assert back.summary_ == fitted.summary_
    assert_same(back.params_, fitted.params_)
    assert_same(back.loss_curve_, fitted.loss_curve_)
    assert_array_equal(said(back), said(fitted))
    if hasattr(fitted, "encode"):
        assert_array_equal(back.encode(X), fitted.encode(X))


def test_partial_fit_goes_on_from_a_file(tmp_path):
    save(GOING_ON, tmp_path / "one")
    one, other = load(tmp_path / "one"), load(tmp_path / "one")
    one.partial_fit(X, LABELS)
    save(other, tmp_path / "two")
    assert_array_equal(load(tmp_path / "two").partial_fit(X, LABELS).params_, one.params_)
    assert one.n_iter_ == 2
    fresh = MLPClassifier(5, random_state=0)
    for _ in range(2):
        fresh.partial_fit(X, LABELS, classes=["a", "b", "c"])
    assert_array_equal(fresh.params_, one.params_)


def longer(array):
    return np.append(array, array[:1])


def whole(array):
    return array.astype(np.int64)


ARRAYS = [
    (model, "params_", change)
    for model in (CLASSIFIER, BOTH, PICTURES, SIGNALS, CODES)
    for change in (shorter, longer, whole, put(0, np.nan), put(-1, np.inf), np.atleast_2d)
] + [
    (CLASSIFIER, "params_", lambda array: array.astype(np.float16)),
    (CLASSIFIER, "classes_", shorter),
    (CLASSIFIER, "classes_", np.atleast_2d),
    (CLASSIFIER, "_centre", shorter),
    (CLASSIFIER, "_centre", put(0, np.nan)),
    (CLASSIFIER, "_unit", longer),
    (CLASSIFIER, "_unit", put(0, 0.0)),
    (CLASSIFIER, "_unit", put(0, -1.0)),
    (CLASSIFIER, "_unit", lambda array: array.astype(np.float32)),
    (CLASSIFIER, "gradient_norms_", narrower),
    (CLASSIFIER, "gradient_norms_", np.ravel),
    (BOTH, "_target_unit", shorter),
    (BOTH, "_target_centre", longer),
    (BOTH, "_target_unit", put(0, 0.0)),
    (REGRESSOR, "_target_unit", longer),
    (CODES, "_centre", shorter),
    (CODES, "_target_unit", longer),
]  # fmt: skip


@pytest.mark.parametrize(("model", "way", "change"), ARRAYS)
def test_an_altered_array_is_refused(tmp_path, model, way, change):
    altered(tmp_path / "model", model, way, change)
    with pytest.raises(DataError):
        load(tmp_path / "model")


def rewritten(path, model, change):
    """Save a model, and change its manifest, with digests that are right."""
    save(model, path)
    with zipfile.ZipFile(path) as file:
        members = {name: file.read(name) for name in file.namelist()}
    manifest = json.loads(members.pop("manifest.json"))
    change(manifest["model"])
    manifest["members"] = {name: sha256(data).hexdigest() for name, data in members.items()}
    with zipfile.ZipFile(path, "w") as file:
        for name, data in members.items():
            file.writestr(name, data)
        file.writestr("manifest.json", json.dumps(manifest))


def layer(number, **params):
    return lambda node: node["state"]["layers_"][number]["params"].update(params)


def state(**values):
    return lambda node: node["state"].update(values)


def optimizer(**values):
    """Of the state of `partial_fit`, which is written as pairs or as an object."""

    def change(node):
        found = node["state"]["_optimizer"]
        found = found.get("dict", found)
        if isinstance(found, list):
            found[:] = [[key, values.get(key, value)] for key, value in found]
        else:
            found.update(values)

    return change


def swapped(node):
    layers = node["state"]["layers_"]
    layers[0], layers[1] = layers[1], layers[0]


def without_the_last(node):
    node["state"]["layers_"].pop()


STRUCTURES = {
    "negative units": (CLASSIFIER, layer(0, units=-5)),
    "more units": (CLASSIFIER, layer(0, units=6)),
    "endless units": (CLASSIFIER, layer(0, units=2**70)),
    "units that overflow": (CLASSIFIER, layer(0, units=2**62)),
    "no whole units": (CLASSIFIER, layer(0, units=5.0)),
    "no activation": (CLASSIFIER, layer(0, activation="sine")),
    "no bias": (CLASSIFIER, layer(1, bias=False)),
    "swapped layers": (CLASSIFIER, swapped),
    "swapped layers of pictures": (PICTURES, swapped),
    "a layer less": (CLASSIFIER, without_the_last),
    "no layers": (CLASSIFIER, state(layers_=[])),
    "layers of something": (CLASSIFIER, state(layers_=[1, 2])),
    "layers are null": (CLASSIFIER, state(layers_=None)),
    "another shape": (PICTURES, state(input_shape_={"tuple": [1, 2, 8]})),
    "no shape": (PICTURES, state(input_shape_=[1, 4, 4])),
    "negative shape": (PICTURES, state(input_shape_={"tuple": [-1, -4, 4]})),
    "endless shape": (PICTURES, state(input_shape_={"tuple": [2**40, 2**40, 4]})),
    "large kernel": (PICTURES, layer(0, kernel_size=5)),
    "endless zeros": (PICTURES, layer(0, padding=2**40)),
    "much pooling": (PICTURES, layer(1, size=2**20)),
    "no stride": (SIGNALS, layer(0, stride=0)),
    "rate of dropout": (PICTURES, layer(4, p=1.0)),
    "columns": (CLASSIFIER, state(n_features_in_=15)),
    "epochs": (CLASSIFIER, state(n_iter_=-1)),
    "rows seen": (CLASSIFIER, state(t_="many")),
    "losses": (CLASSIFIER, state(loss_curve_="low")),
    "losses of text": (CLASSIFIER, state(loss_curve_=["low"])),
    "scores": (STOPPED, state(validation_scores_=3)),
    "code 0": (CODES, state(_n_encoding=0)),
    "code at the end": (CODES, state(_n_encoding=4)),
    "code beyond": (CODES, state(_n_encoding=99)),
    "code before": (CODES, state(_n_encoding=-1)),
    "code as text": (CODES, state(_n_encoding="2")),
    "code as truth": (CODES, state(_n_encoding=True)),
    "steps": (GOING_ON, optimizer(t=-1)),
    "steps as text": (GOING_ON, optimizer(t="x")),
    "endless steps": (GOING_ON, optimizer(t=2**63)),
    "rate": (GOING_ON, optimizer(rate="fast")),
    "rows": (GOING_ON, optimizer(seen=-1.0)),
    "seed": (GOING_ON, state(_seed=-1)),
    "no state of training": (GOING_ON, state(_optimizer=3)),
}


@pytest.mark.parametrize(("model", "change"), STRUCTURES.values(), ids=STRUCTURES)
def test_an_altered_structure_is_refused(tmp_path, model, change):
    rewritten(tmp_path / "model", model, change)
    with pytest.raises(DataError, match="cannot be loaded"):
        load(tmp_path / "model")


@pytest.mark.parametrize("name", ["moment", "square"])
@pytest.mark.parametrize("change", ["shorter", "single", "text", "nan", "negative"])
def test_altered_momenta_are_refused(tmp_path, name, change):
    net = MLPClassifier(5, random_state=0).partial_fit(X, LABELS, classes=["a", "b", "c"])
    good = net._optimizer[name]
    bad = {
        "shorter": good[:-1],
        "single": good.astype(np.float32),
        "text": "none",
        "nan": np.full_like(good, np.nan),
        "negative": -np.abs(good) - 1.0 if name == "square" else good[::2],
    }
    net._optimizer = {**net._optimizer, name: bad[change]}
    save(net, tmp_path / "model")
    with pytest.raises(DataError, match=name if change != "negative" else "_optimizer"):
        load(tmp_path / "model")


def test_a_file_may_be_rewritten_unchanged(tmp_path):
    for model in (CLASSIFIER, CODES, GOING_ON):
        rewritten(tmp_path / "model", model, lambda node: None)
        assert_array_equal(said(load(tmp_path / "model")), said(model))
