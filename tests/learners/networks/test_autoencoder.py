"""Autoencoders: codes, reconstructions and their risk."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import mlp_twin as twin
from empirisk import PCA, Autoencoder, Dense, Dropout, MaxPool, Tuned, load, save
from empirisk.runtime.errors import DataError, ParameterError
from tolerances import SOLVED, SUMMED

RNG = np.random.default_rng(0)
TURN = RNG.uniform(0, 1.5 * np.pi, 200)
X = np.column_stack([np.cos(TURN), np.sin(TURN), 0.1 * TURN]) * 5 + [10.0, 0.0, -3.0]
ALL = {"n_iter_no_change": None, "random_state": 1}


def test_codes_and_reconstructions_by_hand():
    """All columns have one unit; the code is linear."""
    net = Autoencoder(1, hidden_layer_sizes=(6,), max_iter=5, batch_size=32, **ALL).fit(X)
    unit = np.sqrt(((X - X.mean(axis=0)) ** 2).mean())
    Z = (X - X.mean(axis=0)) / unit
    layers = [Dense(6, "tanh"), Dense(1, "identity"), Dense(6, "tanh"), Dense(3, "identity")]
    assert net.layers_ == layers
    W1, W2, W3, W4 = net._architecture.weights(net.params_)
    b1, b2, b3, b4 = net._architecture.biases(net.params_)
    code = np.tanh(Z @ W1.T + b1) @ W2.T + b2
    back = np.tanh(code @ W3.T + b3) @ W4.T + b4
    assert_allclose(net.encode(X), code, rtol=0, atol=SUMMED)
    assert_allclose(net.reconstruct(X), back * unit + X.mean(axis=0), rtol=SUMMED)


@pytest.mark.parametrize("solver", ["adam", "sgd"])
def test_a_linear_pair_trains_as_the_twin(solver):
    net = Autoencoder(2, max_iter=6, batch_size=40, solver=solver, alpha=1.0, **ALL).fit(X)
    unit = np.sqrt(((X - X.mean(axis=0)) ** 2).mean())
    Z = (X - X.mean(axis=0)) / unit
    start, draw = twin.start_of(1, [3, 2, 3], "identity")
    params, curve = twin.trained(
        start, draw, [3, 2, 3], "identity", twin.squared, Z, Z, np.ones(200),
        epochs=6, batch=40, solver=solver, alpha=1.0,
    )  # fmt: skip
    assert_allclose(net.params_, params, rtol=SUMMED, atol=SUMMED)
    assert_allclose(net.loss_curve_, np.array(curve) * unit**2, rtol=1e-9)  # in units of X


def test_a_curve_needs_one_number():
    """Three quarters of a circle: one linear coordinate loses much, a curved one hardly any."""
    net = Autoencoder(1, hidden_layer_sizes=(16,), solver="lbfgs", max_iter=400, **ALL).fit(X)
    straight = PCA(1).fit(X)
    assert net.losses_of_rows(X).mean() < 0.02 * straight.losses_of_rows(X).mean()
    assert net.encode(X).shape == (200, 1)
    assert_array_equal(net.transform(X), net.encode(X))
    assert_array_equal(net.inverse_transform(net.encode(X)), net.reconstruct(X))
    assert list(net.get_feature_names_out()) == ["autoencoder0"]


def test_the_risk_of_rows_held_out():
    net = Autoencoder(1, hidden_layer_sizes=(8,), solver="lbfgs", max_iter=100, **ALL)
    risk = net.reconstruction_risk(X, cv=4, random_state=0)
    assert 0 < risk.value < 0.2 * PCA(1).reconstruction_risk(X, cv=4, random_state=0).value
    path = net.reconstruction_path(X, [1, 10, 100], cv=4, random_state=0)
    assert_allclose(path.risk[-1], risk.value, rtol=SUMMED)
    assert path.risk[0] > path.risk[-1]


def test_tuned_epochs():
    net = Autoencoder(1, hidden_layer_sizes=(8,), solver="lbfgs", max_iter=100, **ALL)
    chosen = Tuned(net, values=[1, 5, 50], cv=3, random_state=0).fit(X)
    best = chosen.best_estimator_
    assert best.max_iter == 50
    alone = Autoencoder(1, hidden_layer_sizes=(8,), solver="lbfgs", max_iter=50, **ALL).fit(X)
    assert_array_equal(best.reconstruct(X), alone.reconstruct(X))


def test_weights_are_copies_with_lbfgs():
    weight = np.random.default_rng(1).integers(0, 4, size=200)
    copies = np.repeat(np.arange(200), weight)
    net = Autoencoder(1, hidden_layer_sizes=4, solver="lbfgs", max_iter=10, **ALL)
    weighted = net.fit(X, sample_weight=weight).reconstruct(X)
    assert_allclose(weighted, net.fit(X[copies]).reconstruct(X), rtol=SOLVED, atol=SOLVED)


def test_layers_of_ones_own():
    net = Autoencoder(
        2, encoder=[Dense(8, "relu"), Dropout(0.1)], decoder=[Dense(7, "gelu")], max_iter=3, **ALL
    ).fit(X)
    units = [getattr(layer, "units", None) for layer in net.layers_]
    assert units == [8, None, 2, 7, 3]
    assert net.encode(X).shape == (200, 2)
    assert net.decode(np.zeros((4, 2))).shape == (4, 3)
    plain = Autoencoder(2, encoder=[Dense(8, "tanh")], hidden_layer_sizes=5, max_iter=1, **ALL)
    assert [layer.units for layer in plain.fit(X).layers_] == [8, 2, 5, 3]


def test_single_precision_and_threads():
    net = Autoencoder(2, hidden_layer_sizes=6, max_iter=4, batch_size=64, n_jobs=1, **ALL)
    one = net.fit(X.astype(np.float32))
    # Single precision is 1e-7 of what is reconstructed, and grows little in four epochs.
    assert_allclose(one.reconstruct(X), net.fit(X).reconstruct(X), rtol=1e-5, atol=1e-6)
    bits = net.params_
    assert_array_equal(net.set_params(n_jobs=2).fit(X).params_, bits)


def test_early_stopping_judges_rows_held_out():
    net = Autoencoder(1, hidden_layer_sizes=8, max_iter=30, early_stopping=True, **ALL).fit(X)
    assert len(net.validation_scores_) == 30
    assert net.validation_scores_[-1] > net.validation_scores_[0]
    assert net.best_validation_score_ == max(net.validation_scores_)


@pytest.mark.parametrize(
    ("name", "value"),
    [("n_components", 0), ("n_components", 1.5), ("hidden_layer_sizes", -3), ("activation", "sine"),
     ("encoder", 3), ("decoder", ["x"]), ("max_iter", 0), ("alpha", -1.0), ("solver", "x")],
    ids=str,
)  # fmt: skip
def test_a_parameter_that_makes_no_sense_is_named(name, value):
    with pytest.raises(ParameterError, match=name):
        Autoencoder(max_iter=1).set_params(**{name: value}).fit(X)


@pytest.mark.parametrize("name", ["encoder", "decoder"])
def test_layers_that_move_windows_are_refused(name):
    with pytest.raises(ParameterError, match=f"{name} has MaxPool.* are no pictures"):
        Autoencoder(**{name: [Dense(4), MaxPool(2)]}).fit(X)


@pytest.mark.parametrize("value", [3.0, 0.0, 1e200, -2e-200, 5e-324])
@pytest.mark.parametrize("solver", ["adam", "lbfgs"])
def test_rows_that_are_all_the_same_are_found_again(value, solver, tmp_path):
    rows, other = np.full((20, 2), value), np.full((3, 2), 7 * value)
    net = Autoencoder(2, hidden_layer_sizes=3, solver=solver, max_iter=2, **ALL).fit(rows)
    # The unit of outputs is 1e-12 of the size, or of 1 for zeros; outputs are of size 1.
    assert_allclose(net.reconstruct(rows), rows, rtol=1e-10, atol=1e-10)
    path = net.fit_path(rows, None, np.ones(20), [1, 2]).predict_path(rows, "reconstruction")
    assert_array_equal(path[:, -1], net.losses_of_rows(rows))
    assert np.isfinite(net.encode(other)).all()
    assert np.isfinite(net.reconstruct(other)).all()
    save(net, tmp_path / "model")
    assert_array_equal(load(tmp_path / "model").reconstruct(other), net.reconstruct(other))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_an_autoencoder_of_one_row_can_still_learn(dtype):
    net = Autoencoder(1, max_iter=300, learning_rate_init=0.01, warm_start=True, dtype=dtype, **ALL)
    net.fit(X[:1])
    # Its rows are 1e-12 of their size away; by hand in the squares of their numbers.
    assert_allclose(net.loss_, net.losses_of_rows(X[:1]).mean() / 2, rtol=0.1, atol=1e-20)
    near = X[:1] + np.outer(RNG.normal(size=30), [1.0, 2.0, 0.0])
    before = net.losses_of_rows(near).mean()
    assert net.fit(near).losses_of_rows(near).mean() < 0.01 * before


def test_codes_of_another_width_are_refused():
    net = Autoencoder(2, max_iter=1, **ALL).fit(X)
    with pytest.raises(DataError, match="codes have 3"):
        net.decode(np.zeros((1, 3)))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_are_computed_with_in_the_precision_they_come_in(dtype):
    settings = Autoencoder(1, max_iter=3, **ALL)
    rows = X.astype(dtype)
    alone = settings.fit(rows)
    path = settings.fit_path(settings.design(rows), None, np.ones(len(X)), [3])
    assert alone.params_.dtype == dtype
    assert_array_equal(alone.params_, path.at(0).params_)
    assert_array_equal(alone.encode(rows), path.at(0).encode(rows))
