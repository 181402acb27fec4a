"""Networks of any layers: other losses, pictures, signals, and behind an encoder."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_digits
from sklearn.pipeline import make_pipeline

from empirisk import (
    AveragePool,
    Conv1d,
    Conv2d,
    Dense,
    Dropout,
    Encoder,
    Flatten,
    LogisticRegression,
    MaxPool,
    MLPClassifier,
    MLPRegressor,
    NetworkClassifier,
    NetworkRegressor,
    datasets,
    losses,
    select,
)
from empirisk.runtime.errors import DataError, ParameterError
from tolerances import SUMMED

RNG = np.random.default_rng(0)
X = RNG.normal(size=(150, 4))
SCORE = X[:, 0] + X[:, 1] * X[:, 2]
TWO = np.where(SCORE + 0.3 * RNG.normal(size=150) > 0, "yes", "no")
THREE = np.array(["a", "b", "c"])[np.digitize(SCORE, [-0.6, 0.6])]
ALL = {"n_iter_no_change": None, "random_state": 2}
MARGINS = ["hinge", "squared_hinge", "logit", "exponential", "square", "perceptron"]


class OwnHinge(losses.MarginLoss):
    """max(0, 1 - z), written anew."""

    name = "own_hinge"

    def value(self, margin):
        return np.maximum(0.0, 1.0 - np.asarray(margin))

    def derivative(self, margin):
        return np.where(np.asarray(margin) <= 1.0, -1.0, 0.0)

    def second_derivative(self, margin):
        return np.zeros(np.shape(margin))

    def minimiser(self, eta):
        return np.sign(np.asarray(eta) - 0.5)


@pytest.mark.parametrize("layers", [[Dense(6), Dense(5)], [Dense(6), Dropout(0.3)]], ids=str)
@pytest.mark.parametrize("labels", [TWO, THREE], ids=["two", "three"])
@pytest.mark.parametrize("settings", [{}, {"max_grad_norm": 0.2, "solver": "sgd"}], ids=str)
def test_a_margin_loss_of_ones_own_is_as_good_as_the_built_in_one(layers, labels, settings):
    """Batches of one chunk: the same sums, so all but the last bits."""
    net = NetworkClassifier(layers, batch_size=25, max_iter=8, alpha=0.5, **settings, **ALL)
    built_in = net.set_params(loss="hinge").fit(X, labels).params_
    weight = np.linspace(0.5, 2, 150)
    weighted = net.fit(X, labels, sample_weight=weight).params_
    net.set_params(loss=OwnHinge())
    assert_allclose(net.fit(X, labels).params_, built_in, rtol=SUMMED, atol=SUMMED)
    again = net.fit(X, labels, sample_weight=weight).params_
    assert_allclose(again, weighted, rtol=SUMMED, atol=SUMMED)
    assert np.abs(weighted - built_in).max() > 1e-3
    assert not hasattr(net, "predict_proba")


def test_lbfgs_does_not_take_a_loss_of_ones_own():
    with pytest.raises(ParameterError, match="loss of your own"):
        NetworkClassifier([], loss=OwnHinge(), solver="lbfgs").fit(X, TWO)


@pytest.mark.parametrize("loss", MARGINS)
@pytest.mark.parametrize("labels", [TWO, THREE], ids=["two", "three"])
def test_margin_losses_learn(loss, labels):
    net = NetworkClassifier(
        [Dense(20, "tanh")], loss=loss, learning_rate_init=0.02, max_iter=60, batch_size=25, **ALL
    ).fit(X, labels)
    assert net.score(X, labels) > 0.85
    scores = net.decision_function(X)
    assert scores.shape == ((150,) if labels is TWO else (150, 3))
    sign = np.where(labels == "yes", 1, -1) if labels is TWO else (
        np.where(labels[:, np.newaxis] == net.classes_, 1, -1)
    )  # fmt: skip
    of_rows = losses.as_margin_loss(loss).value(sign * scores).reshape(150, -1).sum(axis=1)
    assert of_rows.mean() < 0.5 * net.loss_curve_[0]
    assert hasattr(net, "predict_proba") == losses.as_margin_loss(loss).has_probability
    if hasattr(net, "predict_proba"):
        assert_allclose(net.predict_proba(X).sum(axis=1), 1, rtol=SUMMED)


@pytest.mark.parametrize("loss", MARGINS[:5])
def test_a_linear_network_minimises_the_margin_loss(loss):
    """L-BFGS ends no higher than any of 200 points around, at ridge strength 1."""
    net = NetworkClassifier([], loss=loss, solver="lbfgs", alpha=1.0, standardize=False, **ALL)
    net.fit(X, TWO)
    sign, phi = np.where(TWO == "yes", 1.0, -1.0), losses.as_margin_loss(loss)

    def objective(params):
        margins = sign * (X @ params[:4] + params[4])
        return phi.value(margins).mean() + (params[:4] ** 2).sum() / 300

    least = objective(net.params_)
    assert_allclose(least, net.loss_, rtol=SUMMED)
    rng = np.random.default_rng(1)
    slack = 1e-3 if loss == "hinge" else 1e-7  # kinks end a line search early
    for size in (0.3, 0.03):
        others = [objective(net.params_ + size * rng.normal(size=5)) for _ in range(100)]
        assert min(others) > least - slack


def test_an_mlp_is_the_network_of_its_layers():
    mlp = MLPRegressor(hidden_layer_sizes=(6, 5), activation="tanh", max_iter=5, **ALL)
    net = NetworkRegressor([Dense(6, "tanh"), Dense(5, "tanh")], max_iter=5, **ALL)
    assert_array_equal(mlp.fit(X, SCORE).params_, net.fit(X, SCORE).params_)
    assert mlp.summary_ == net.summary_


def digits():
    rows, y = load_digits(return_X_y=True)
    return rows.astype(np.float32), y


@pytest.mark.parametrize("pool", [MaxPool(2), AveragePool(2)], ids=str)
def test_a_convolutional_network_reads_digits(pool):
    """898 test digits: over five seeds and both kinds of pooling 0.968 to 0.978 were seen."""
    rows, y = digits()
    layers = [Conv2d(12, 3, padding=1), pool, Conv2d(16, 3), Flatten(), Dense(32)]
    net = NetworkClassifier(
        layers, input_shape=(1, 8, 8), batch_size=16, learning_rate_init=0.003, max_iter=40, **ALL
    ).fit(rows[::2], y[::2])
    assert net.params_.dtype == np.float32
    assert net.score(rows[1::2], y[1::2]) > 0.95
    assert len(np.unique(net._centre)) == len(np.unique(net._unit)) == 1  # one unit for all places


def test_a_convolution_finds_a_pulse_wherever_it_is():
    """A dense network of as many hidden units, which does not know of places, does worse."""
    rng = np.random.default_rng(0)

    def signals(n):
        y = rng.integers(0, 2, size=n)
        rows = 0.4 * rng.normal(size=(n, 40))
        for i in range(n):
            at = rng.integers(0, 36)
            rows[i, at : at + 4] += [1.5, -1.5, 1.5, -1.5] if y[i] else [1.5, 1.5, -1.5, -1.5]
        return rows, y

    rows, y = signals(400)
    test, answers = signals(400)
    layers = [Conv1d(8, 4), MaxPool(37), Flatten()]
    settings = {"learning_rate_init": 0.02, "max_iter": 40, "batch_size": 32, **ALL}
    net = NetworkClassifier(layers, input_shape=(1, 40), **settings).fit(rows, y)
    dense = MLPClassifier(8, **settings).fit(rows, y)
    assert net.score(test, answers) > 0.95
    assert net.score(test, answers) > dense.score(test, answers) + 0.05
    values = NetworkRegressor(layers, input_shape=(1, 40), **settings).fit(rows, y)
    assert values.score(test, answers) > 0.7


@pytest.mark.parametrize(
    ("shape", "layers", "message"),
    [
        ((1, 8, 7), [Flatten()], "64 columns"),
        ((8, -8), [Flatten()], "64 columns"),
        ("8x8", [Flatten()], "64 columns"),
        ((), [Flatten()], "64 columns"),
        ((2, 2, 4, 4), [Flatten()], "channels, height, width"),
        ((1.0, 8, 8), [Flatten()], "64 columns"),
        (None, [Conv2d(4, 3)], "input_shape"),
        ((1, 64), [Conv2d(4, 3)], "channels, height, width"),
        ((1, 8, 8), [Conv1d(4, 3)], "channels, length"),
        ((1, 8, 8), [Conv2d(4, 9)], "make it smaller"),
        ((1, 8, 8), [Flatten(), MaxPool(2)], "Flatten"),
        (None, ["dense"], "list of layers"),
        (None, 7, "list of layers"),
        (None, None, "list of layers"),
    ],
    ids=str,
)
def test_shapes_that_do_not_fit_are_named(shape, layers, message):
    rows, y = digits()
    with pytest.raises(ParameterError, match=message):
        NetworkClassifier(layers, input_shape=shape, max_iter=1).fit(rows, y)


def test_pictures_that_are_not_written_out_are_told_how():
    rows, y = digits()
    net = NetworkClassifier([Flatten()], input_shape=(1, 8, 8), max_iter=1)
    with pytest.raises(DataError, match=r"dim 4, .*X.reshape\(len\(X\), -1\)"):
        net.fit(rows.reshape(-1, 1, 8, 8), y)


@pytest.mark.parametrize("loss", ["squared_error", "sine", 3, ["hinge"], losses.Squared()], ids=str)
def test_a_classifier_refuses_losses_of_values(loss):
    with pytest.raises(ParameterError, match="loss is"):
        NetworkClassifier([Dense(3)], loss=loss).fit(X, TWO)


def test_a_network_behind_an_encoder_takes_part_in_a_selection():
    """Mixed columns with missing cells; each fold encodes and trains by itself."""
    table = datasets.penguins()
    y, rows = table["species"].values().astype(str), table.drop(["species"])
    mlp = make_pipeline(Encoder(), MLPClassifier(8, max_iter=20, batch_size=16, **ALL))
    chosen = select(
        {"network": mlp, "logistic": make_pipeline(Encoder(), LogisticRegression())},
        rows, y, cv=3, random_state=0,
    )  # fmt: skip
    assert not chosen.failures
    assert set(chosen.risks) >= {"network", "logistic"}
    assert chosen.risks["network"].value < 0.3  # wrong answers; 0.56 for the commonest species
    assert chosen.paths["network"].values[-1] == 20
    assert chosen.test_risk.value < 0.3


def test_a_shorter_last_slice_of_pictures_has_room():
    pictures = np.random.default_rng(0).normal(size=(360, 64))
    layers = [Conv2d(8, 3, padding=1), Flatten()]
    net = NetworkRegressor(layers, input_shape=(1, 8, 8), max_iter=1, n_iter_no_change=None)
    net.fit(pictures, pictures[:, 0])
    found = net.predict(pictures)
    for n in (1, 50, 104, 150, 227):
        # Products of other numbers of columns are added up in another order.
        assert_allclose(found[256 : 256 + n], net.predict(pictures[: 256 + n])[256:], rtol=SUMMED)
