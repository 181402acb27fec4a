"""Code written for scikit-learn's networks works with the import switched and nothing else."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn import neural_network
from sklearn.linear_model import LogisticRegression

from empirisk import MLPClassifier, MLPRegressor, NetworkClassifier, Tuned, load, save
from empirisk.learners.networks.architecture import Architecture
from empirisk.learners.networks.going_on import units_so_far
from empirisk.learners.networks.initialising import random_start
from empirisk.learners.networks.layers import Dense
from empirisk.runtime.errors import DataError
from tolerances import SUMMED

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 4))
Y = X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * RNG.normal(size=120)
LABELS = (X @ RNG.normal(size=(4, 3)) + RNG.normal(size=(120, 3)) > 0).astype(int)
ALL = {"n_iter_no_change": None, "random_state": 5}
HALTED = {"early_stopping": True, "random_state": 0}


@pytest.mark.parametrize(("activation", "six"), [("logistic", 2), ("tanh", 6), ("relu", 6)])
def test_every_layer_starts_as_wide_as_in_scikit_learn(activation, six):
    net = Architecture((40,), [Dense(60, activation), Dense(30, "identity")])
    params = random_start(net, "glorot", 0)
    for layer in (*net.weights(params), *(bias[:, np.newaxis] for bias in net.biases(params))):
        fan = 100 if layer.shape[0] == 60 else 90
        widest = np.abs(layer).max() / np.sqrt(six / fan)
        assert 0.8 < widest < 1  # 30 uniform draws all within 0.8: 0.0012; the seed is fixed


def test_a_warm_start_begins_with_what_was_predicted_before_whatever_the_new_rows():
    settings = {"learning_rate_init": 1e-9, "max_iter": 1, "warm_start": True, **ALL}
    net = MLPRegressor(hidden_layer_sizes=8, **settings).fit(X, Y)
    before = net.predict(X)
    net.fit(3 * X[:50] + 1, 7 * Y[:50] - 2)
    # A step moves each parameter by 1e-9.
    assert_allclose(net.predict(X), before, rtol=0, atol=1e-6)


@pytest.mark.parametrize("settings", [{}, {"early_stopping": True}])
def test_curves_go_on_at_a_warm_start(settings):
    settings = {"max_iter": 3, "warm_start": True, "n_iter_no_change": 10, **settings}
    lengths = []
    for cls in (MLPRegressor, neural_network.MLPRegressor):
        net = cls(random_state=0, **settings)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # so few epochs are not enough
            net.fit(X, Y).fit(X, Y)
        scores = net.validation_scores_
        seen = None if scores is None else len(scores)
        lengths.append((len(net.loss_curve_), seen, net.n_iter_, net.t_))
    assert lengths[0] == lengths[1]


@pytest.mark.filterwarnings("ignore::empirisk.runtime.errors.ConvergenceWarning")  # few epochs
def test_scores_of_held_out_rows_are_those_of_the_epochs_that_had_some():
    net = MLPRegressor(random_state=0, max_iter=3, warm_start=True, early_stopping=True)
    net.fit(X, Y).set_params(early_stopping=False).fit(X, Y)
    assert net.validation_scores_ is None
    assert net.best_validation_score_ is None
    assert net.best_loss_ == min(net.loss_curve_)
    net.set_params(early_stopping=True).fit(X, Y)
    assert len(net.loss_curve_) == 9
    assert net.best_validation_score_ == max(net.validation_scores_)
    shown = net.plot_training().lines[1]  # beside the epochs that they are of
    last = np.isfinite(shown.get_ydata())
    assert_array_equal(shown.get_xdata()[last], [7, 8, 9])
    net.set_params(early_stopping=False).partial_fit(X, Y)
    assert net.best_loss_ == min(net.loss_curve_)


@pytest.mark.parametrize("first", ["fit", "partial_fit"])
@pytest.mark.parametrize("constant", [4.0, 0.0])
def test_a_network_of_a_constant_can_still_learn(first, constant):
    net = MLPRegressor(hidden_layer_sizes=42, learning_rate_init=0.01, random_state=42)
    getattr(net, first)([[2.0]], [constant])
    before = net.predict([[2.0]])
    units_so_far(net)
    assert_allclose(net.predict([[2.0]]), before, rtol=SUMMED, atol=SUMMED)
    for _ in range(200):
        net.partial_fit([[2.0]], [1.0])
    assert_allclose(net.predict([[2.0]]), 1, rtol=1e-3)  # a network in training is not exact


def test_labels_of_a_linear_network_are_as_many_logistic_regressions():
    net = MLPClassifier((), solver="lbfgs", alpha=2.0, tol=1e-9, standardize=False, random_state=0)
    net.fit(X, LABELS)
    for k in range(3):
        peer = LogisticRegression(C=0.5, tol=1e-12, max_iter=1000).fit(X, LABELS[:, k])
        # L-BFGS ends where a step gains 2e-14 of the loss: the root of that from the minimum.
        assert_allclose(net.predict_proba(X)[:, k], peer.predict_proba(X)[:, 1], rtol=0, atol=1e-6)
    assert_array_equal(net.predict(X), net.predict_proba(X) > 0.5)
    assert net.out_activation_ == "logistic"
    assert net.classes_.tolist() == [0, 1, 2]
    there = net.predict_proba(X)
    losses = -np.log(np.where(LABELS == 1, there, 1 - there))
    assert_allclose(net.loss_, (losses.sum() + (net.coefs_[0] ** 2).sum()) / 120, rtol=SUMMED)


@pytest.mark.parametrize(
    "settings", [{"max_iter": 50, **ALL}, {"early_stopping": True, "random_state": 0}]
)
def test_labels_are_learned_together(settings, tmp_path):
    net = MLPClassifier(20, learning_rate_init=0.01, **settings).fit(X, LABELS)
    assert net.predict(X).shape == LABELS.shape
    assert (net.predict(X) == LABELS).mean() > 0.8
    assert net.score(X, LABELS) == (net.predict(X) == LABELS).all(axis=1).mean()
    save(net, tmp_path / "net")
    assert_allclose(load(tmp_path / "net").predict_proba(X), net.predict_proba(X), rtol=0, atol=0)
    bits = MLPClassifier(20, learning_rate_init=0.01, random_state=0)
    for _ in range(60):
        bits.partial_fit(X, LABELS, classes=[0, 1, 2])
    assert (bits.predict(X) == LABELS).mean() > 0.8
    single = bits.set_params(n_iter_no_change=None).fit(X, LABELS[:, 0])
    assert single.predict_proba(X).shape == (120, 2)


def test_labels_that_make_no_sense_are_refused():
    net = MLPClassifier(3, max_iter=2, **ALL)
    with pytest.raises(DataError, match="0 and 1"):
        net.fit(X, LABELS + np.arange(3))
    with pytest.raises(DataError, match="3 columns"):
        net.partial_fit(X, LABELS, classes=[0, 1])
    net.set_params(warm_start=True).fit(X, LABELS)
    for other in (LABELS[:, :2], LABELS.sum(axis=1)):
        with pytest.raises(DataError, match="warm_start=False"):
            net.fit(X, other)
    with pytest.raises(DataError, match="as it was before"):
        net.partial_fit(X, LABELS[:, 0])
    with pytest.raises(ValueError, match="1d array"):
        NetworkClassifier([Dense(3)], loss="hinge").fit(X, LABELS)
    with pytest.raises(ValueError, match="1d array"):
        Tuned(MLPClassifier()).fit(X, LABELS)


@pytest.mark.parametrize("cls", [MLPClassifier, MLPRegressor])
def test_a_sparse_matrix_is_learned_from_as_the_array_that_it_stands_for(cls):
    rows = np.where(np.abs(X) > 1, X, 0)
    y = LABELS[:, 0]
    net = cls(hidden_layer_sizes=5, max_iter=3, **ALL).fit(rows, y)
    other = cls(hidden_layer_sizes=5, max_iter=3, **ALL).fit(csr_array(rows), y)
    assert_allclose(other.params_, net.params_, rtol=0, atol=0)
    assert_allclose(other.predict(csr_array(rows)), net.predict(rows), rtol=0, atol=0)


@pytest.mark.parametrize("hidden", [(), (6,), (6, 5)])
@pytest.mark.parametrize("kind", ["value", "counts", "classes"])
def test_weights_and_biases_that_are_written_are_those_that_predict(hidden, kind):
    y = {"value": 1e3 * Y + 1e4, "counts": np.exp(Y).round(), "classes": LABELS.sum(axis=1)}[kind]
    settings = {"hidden_layer_sizes": hidden, "max_iter": 3, "n_iter_no_change": None}
    cls = MLPClassifier if kind == "classes" else MLPRegressor
    if kind == "counts":
        settings["loss"] = "poisson"
    rows = X * [1, 10, 0.1, 3] + 5
    net = cls(random_state=0, **settings).fit(rows, y)
    other = cls(random_state=1, **settings).fit(rows[:60] * 2, y[:60])  # in other units
    other.coefs_ = net.coefs_
    other.intercepts_ = [bias.tolist() for bias in net.intercepts_]
    for name in ("coefs_", "intercepts_"):
        for one, two in zip(getattr(net, name), getattr(other, name), strict=True):
            assert_allclose(two, one, rtol=SUMMED, atol=SUMMED * np.abs(one).max())
    tell = "predict_proba" if kind == "classes" else "predict"
    assert_allclose(
        getattr(other, tell)(rows), getattr(net, tell)(rows), rtol=1e-9
    )  # X and y far from 0
    with pytest.raises(DataError, match="shapes"):
        other.coefs_ = net.coefs_[:-1]
    with pytest.raises(DataError, match="finite"):
        other.intercepts_ = [np.full_like(bias, np.nan) for bias in net.intercepts_]
    with pytest.raises(ValueError, match="read-only"):
        net.coefs_[0][0] = 0
