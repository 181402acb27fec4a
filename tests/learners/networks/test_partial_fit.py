"""Networks that learn from one part of the rows after the other."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import neural_network

import mlp_twin as twin
from empirisk import (
    MLPClassifier,
    MLPRegressor,
)
from empirisk.learners.networks.initialising import random_start
from empirisk.runtime.errors import (
    DataError,
    ParameterError,
)
from empirisk.runtime.streams import spawn
from tolerances import SUMMED

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 4))
SCORE = X[:, 0] + X[:, 1] * X[:, 2]
Y = SCORE + 0.5 * RNG.normal(size=120)
LABELS = np.array(["a", "b", "c"])[np.digitize(SCORE + 0.3 * RNG.normal(size=120), [-0.7, 0.7])]
ALL = {"n_iter_no_change": None, "random_state": 5}


@pytest.mark.parametrize("solver", ["adam", "sgd"])
def test_calls_of_partial_fit_are_epochs(solver):
    settings = {
        "hidden_layer_sizes": (6, 5), "solver": solver, "shuffle": False, "batch_size": 16, **ALL
    }  # fmt: skip
    bits = MLPClassifier(**settings)
    for _ in range(4):
        bits.partial_fit(X, LABELS, classes=["c", "b", "a"])
    start = MLPClassifier(**settings).partial_fit(X, LABELS, classes=["a", "b", "c"])
    assert bits.n_iter_ == 4
    assert bits.t_ == 480
    assert len(bits.loss_curve_) == len(bits.gradient_norms_) == 4
    assert bits.loss_curve_[0] == start.loss_curve_[0]
    # The start of a fit has another seed: put the same start into a warm one.
    sizes = [4, 6, 5, 3]
    seed = spawn(5, 1)[0]
    first = random_start(bits._architecture, "glorot", spawn(seed, 1)[0])
    warm = MLPClassifier(max_iter=1, warm_start=True, **settings).fit(X, LABELS)
    warm.params_ = first.copy()
    warm.set_params(max_iter=4).fit(X, LABELS)
    assert_array_equal(bits.params_, warm.params_)
    assert_array_equal(bits.loss_curve_, warm.loss_curve_[1:])  # it has that of its first fit, too
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    codes = np.searchsorted(["a", "b", "c"], LABELS)[:, np.newaxis]
    params, _ = twin.trained(
        first, None, sizes, "relu", twin.log_loss, Z, codes, np.ones(120),
        epochs=4, batch=16, solver=solver, alpha=1e-4,
    )  # fmt: skip
    assert_allclose(bits.params_, params, rtol=SUMMED, atol=SUMMED)


def test_partial_fit_of_parts_learns():
    net = MLPRegressor(hidden_layer_sizes=30, learning_rate_init=0.01, random_state=0)
    for _ in range(40):
        for few in (slice(0, 60), slice(60, 120)):
            net.partial_fit(X[few], Y[few])
    assert net.score(X, Y) > 0.8
    assert net.n_iter_ == 80
    centre = X[:60].mean(axis=0)
    assert_allclose(net._centre, centre, rtol=1e-12)  # of the first call


def test_partial_fit_learns_from_the_rows_after_a_single_one():
    """A y that does not change yet is no reason to take it for a constant."""
    net = MLPRegressor(hidden_layer_sizes=30, learning_rate_init=0.01, random_state=0)
    net.partial_fit(X[:1], Y[:1])
    for _ in range(80):
        net.partial_fit(X, Y)
    assert net.score(X, Y) > 0.8


def test_partial_fit_says_what_it_needs():
    with pytest.raises(DataError, match="classes"):
        MLPClassifier().partial_fit(X, LABELS)
    with pytest.raises(DataError, match="one class only, 'a'"):
        MLPClassifier().partial_fit(X, np.full(len(X), "a"), classes=["a"])
    net = MLPClassifier(3, random_state=0).partial_fit(X[:50], LABELS[:50], classes=["a", "b", "c"])
    with pytest.raises(DataError, match="'z'"):
        net.partial_fit(X, np.where(LABELS == "a", "z", LABELS))
    with pytest.raises(DataError, match="they stay the same"):
        net.partial_fit(X, LABELS, classes=["a", "b", "c", "d"])
    net.partial_fit(X, LABELS, classes=["c", "b", "a"])
    with pytest.raises(ValueError, match="features"):
        net.partial_fit(X[:, :3], LABELS)
    assert not hasattr(MLPClassifier(solver="lbfgs"), "partial_fit")
    with pytest.raises(ParameterError, match="early_stopping"):
        MLPRegressor(early_stopping=True).partial_fit(X, Y)
    peer = neural_network.MLPClassifier()
    with pytest.raises(ValueError, match="classes"):
        peer.partial_fit(X, LABELS)  # as there


@pytest.mark.parametrize("first", [np.float32, np.float64])
def test_partial_fit_keeps_the_precision_of_its_first_rows(first):
    other = np.float64 if first is np.float32 else np.float32
    net = MLPRegressor(hidden_layer_sizes=5, random_state=0).partial_fit(X.astype(first), Y)
    net.partial_fit(X.astype(other), Y)
    assert net.params_.dtype == net._optimizer["moment"].dtype == first


def test_partial_fit_refuses_another_number_of_outputs():
    net = MLPRegressor(hidden_layer_sizes=5, random_state=0)
    net.partial_fit(X, np.column_stack([Y, Y]))
    for columns in (Y, np.column_stack([Y, Y, Y])):
        with pytest.raises(DataError, match="2 outputs"):
            net.partial_fit(X, columns)


def test_partial_fit_goes_on_after_fit():
    net = MLPRegressor(hidden_layer_sizes=5, max_iter=3, **ALL).fit(X, Y)
    before = net.params_.copy()
    net.partial_fit(X, Y)
    assert net.n_iter_ == 4
    assert 0 < np.abs(net.params_ - before).max() < 0.05  # one epoch, of one batch


@pytest.mark.parametrize(("first", "then"), [("adam", "sgd"), ("sgd", "adam")])
def test_partial_fit_takes_no_momenta_of_another_solver(first, then):
    net = MLPClassifier(hidden_layer_sizes=5, solver=first, learning_rate_init=0.05, **ALL)
    for _ in range(20):
        net.partial_fit(X, LABELS, classes=["a", "b", "c"])
    before = net.params_.copy()
    net.set_params(solver=then, learning_rate_init=1e-9)
    for _ in range(3):
        net.partial_fit(X, LABELS)
    assert np.abs(net.params_ - before).max() < 1e-7  # few steps, each of about 1e-9
