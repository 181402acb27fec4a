"""Code written for scikit-learn's networks works with the import switched and nothing else."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from empirisk import MLPRegressor
from empirisk.learners.networks.architecture import Architecture
from empirisk.learners.networks.going_on import units_so_far
from empirisk.learners.networks.initialising import random_start
from empirisk.learners.networks.layers import Dense
from tolerances import SUMMED

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 4))
Y = X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * RNG.normal(size=120)
ALL = {"n_iter_no_change": None, "random_state": 5}


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
    assert_allclose(net.predict(X), before, atol=1e-6)  # a step moves each parameter by 1e-9


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
