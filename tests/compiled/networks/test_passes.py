"""Layers forth beside naive lines, and back beside numeric derivatives, compiled and not."""

import gc
import weakref

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import network_twins as twins
from empirisk.compiled.networks import activations, convolution, dropout
from empirisk.compiled.streams import uniform
from empirisk.learners.networks.architecture import Architecture
from empirisk.learners.networks.layers import Activation, Bottleneck, Dense, Dropout, Flatten
from empirisk.learners.networks.picture_layers import AveragePool, Conv1d, Conv2d, MaxPool
from network_twins import Passes, slopes
from tolerances import LAST_BITS, SOLVED, SUMMED

NAMES = ["identity", "logistic", "tanh", "relu", "leaky_relu", "gelu", "softmax"]
NETWORKS = {
    **{f"dense {name}": ((4,), [Dense(3, name), Dense(2, "identity")]) for name in NAMES},
    **{f"activation {name}": ((5,), [Dense(3, "tanh"), Activation(name)]) for name in NAMES},
    "without bias": ((4,), [Dense(3, "tanh", bias=False), Dense(2, bias=False)]),
    "bottleneck": ((6,), [Bottleneck(2), Dense(4, "logistic"), Dense(1, "identity")]),
    "one unit": ((1,), [Dense(1, "tanh"), Dense(1, "identity")]),
    "dropout": ((4,), [Dense(5, "tanh"), Dropout(0.4), Dense(2), Dropout(0.0), Dense(2, "gelu")]),
    "signal": ((2, 9), [Conv1d(3, 4, stride=2, padding=1, activation="tanh"), Flatten(), Dense(2)]),
    "signal, wide padding": ((1, 3), [Conv1d(2, 3, padding=4, activation="identity")]),
    "picture": ((2, 6, 5), [Conv2d(3, 3, activation="tanh"), Flatten(), Dense(2, "identity")]),
    "gelu of pictures": ((1, 4, 4), [Conv2d(2, 3, activation="gelu"), Conv2d(1, 2)]),
    "softmax of pictures": ((1, 4, 4), [Conv2d(2, 3, activation="softmax")]),
    "nothing square": (
        (2, 7, 6),
        [Conv2d(2, (3, 2), stride=(2, 3), padding=(1, 2), activation="logistic", bias=False)],
    ),
    "padding": ((1, 4, 4), [Conv2d(2, 5, padding=2, activation="leaky_relu")]),
    "padding beyond the kernel": ((1, 3, 2), [Conv2d(2, 2, padding=3, activation="tanh")]),
    "kernel as large as the picture": ((2, 3, 4), [Conv2d(2, (3, 4), activation="identity")]),
    "kernel of one place": ((3, 3, 3), [Conv2d(2, 1, activation="tanh")]),
    "stride beyond the kernel": ((1, 8, 9), [Conv2d(2, 2, stride=(3, 4), activation="tanh")]),
    "stride beyond the picture": ((1, 3, 3), [Conv2d(2, 2, stride=7, activation="tanh")]),
    "largest": ((2, 5, 4), [MaxPool(2)]),
    "largest, overlapping": ((2, 5, 6), [MaxPool((3, 2), stride=(1, 2))]),
    "largest of a signal": ((2, 7), [MaxPool(3, stride=2)]),
    "mean": ((2, 5, 4), [AveragePool(2)]),
    "mean, overlapping": ((2, 5, 6), [AveragePool((3, 2), stride=(2, 1))]),
    "mean of a signal": ((2, 7), [AveragePool(3, stride=1)]),
    "windows far apart": ((1, 9, 9), [MaxPool(2, stride=4), AveragePool(1, stride=2)]),
    "all": (
        (2, 9, 8),
        [
            Conv2d(3, (2, 3), padding=1, activation="tanh"), MaxPool(2), Dropout(0.2),
            Conv2d(2, 2, stride=(1, 2), activation="gelu"), AveragePool((2, 1), stride=1),
            Flatten(), Bottleneck(3), Activation("leaky_relu"), Dense(4, "softmax"),
            Dense(2, "tanh"),
        ],
    ),
}  # fmt: skip


@pytest.fixture(params=NETWORKS)
def built(request):
    shape, layers = NETWORKS[request.param]
    architecture = Architecture(shape, layers)
    return architecture, np.random.default_rng(len(request.param))


def drawn(architecture, rng, n):
    params = rng.normal(size=architecture.n_parameters) * 0.7
    return params, rng.normal(size=(n, architecture.n_inputs))


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("n", [1, 5])
def test_what_a_network_gives_out_is_what_its_formula_says(built, compiled, n):
    architecture, rng = built
    params, X = drawn(architecture, rng, n)
    f = Passes(architecture, compiled=compiled).forth(params, X)
    # Sums of up to 50 products of order one, and exp to two units in the last place.
    assert_allclose(f, twins.network(architecture, params, X), rtol=1e-12, atol=1e-13)


def test_single_precision_is_as_near_as_it_can_be(built):
    architecture, rng = built
    params, X = (each.astype(np.float32) for each in drawn(architecture, rng, 4))
    f = Passes(architecture, np.float32).forth(params, X)
    assert f.dtype == np.float32
    # 2^-24 of each of up to 50 products of order one, through two or three layers.
    assert_allclose(f, twins.network(architecture, params, X), rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("seed", [-1, 3])
def test_the_way_back_gives_the_slopes_of_the_way_forth(built, compiled, seed):
    """Of a weighted sum of all outputs; with a seed, of the network without what is left out."""
    behind, rng = built
    architecture = Architecture(behind.input_shape, [Activation("identity"), *behind.layers])
    params, X = drawn(architecture, rng, 3)
    passes = Passes(architecture, compiled=compiled)
    aim = rng.normal(size=(3, architecture.n_outputs))
    passes.forth(params, X, seed)
    by_params, by_input = passes.back(aim)
    if not compiled:  # numeric derivatives took their time once: beside the compiled pass
        passes = Passes(architecture)
        passes.forth(params, X, seed)
        others = passes.back(aim)
        assert_allclose(by_params, others[0], rtol=SUMMED, atol=SUMMED)
        assert_allclose(by_input, others[1], rtol=SUMMED, atol=SUMMED)
        return

    # Central differences of order-one numbers: 1e-16 / 1e-5, and 1e-10 for the third derivative.
    tolerance = {"rtol": 1e-6, "atol": 1e-8}
    numeric = slopes(lambda b: (passes.forth(b, X, seed) * aim).sum(), params)
    assert_allclose(by_params, numeric, **tolerance)
    numeric = slopes(lambda x: (passes.forth(params, x, seed) * aim).sum(), X)
    assert_allclose(by_input, numeric, **tolerance)


def test_the_way_back_in_single_precision(built):
    architecture, rng = built
    params, X = (each.astype(np.float32) for each in drawn(architecture, rng, 4))
    aim = rng.normal(size=(4, architecture.n_outputs)).astype(np.float32)
    both = []
    for dtype in (np.float32, np.float64):
        passes = Passes(architecture, dtype)
        passes.forth(params, X, 5)
        both.append(passes.back(aim)[0])
    assert both[0].dtype == np.float32
    scale = np.abs(both[1]).max(initial=1)
    assert_allclose(both[0], both[1], rtol=1e-4, atol=2e-5 * scale)  # as on the way forth


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_convolutions_and_pools_of_any_shape(data):
    """Forth beside the twin, back as its transpose: <delta, J v> = <J' delta, v>."""
    whole = lambda low, high: data.draw(st.integers(low, high))  # noqa: E731
    channels, height, width = whole(1, 3), whole(1, 8), whole(1, 8)
    pad = (whole(0, 3), whole(0, 3))
    kernel = (whole(1, height + 2 * pad[0]), whole(1, width + 2 * pad[1]))
    stride, n = (whole(1, 4), whole(1, 4)), whole(1, 40)
    layer = Conv2d(whole(1, 3), kernel, stride, pad, "identity", data.draw(st.booleans()))
    if data.draw(st.booleans()):
        size = (min(kernel[0], height), min(kernel[1], width))
        layer = data.draw(st.sampled_from([MaxPool, AveragePool]))(size, stride)
    architecture = Architecture((channels, height, width), [Activation("identity"), layer])
    rng = np.random.default_rng(whole(0, 1000))
    params, X = drawn(architecture, rng, n)
    passes = Passes(architecture)
    f = passes.forth(params, X)
    # Up to 600 products of order one.
    assert_allclose(f, twins.network(architecture, params, X), rtol=1e-11, atol=1e-11)
    delta = rng.normal(size=f.shape)
    by_params, by_input = passes.back(delta)
    weights = architecture.penalised() == 1
    bias = (delta.reshape(n, architecture.output_shape[0], -1).sum(axis=(0, 2)) * 1.0).tolist()
    if isinstance(layer, Conv2d):
        assert_allclose(by_params[~weights], bias if layer.bias else [], rtol=SUMMED, atol=SUMMED)
        without = np.where(weights, params, 0)
        linear = (delta * twins.network(architecture, without, X)).sum()
        # Some 10,000 terms of order 10 that cancel.
        assert by_params @ without == pytest.approx(linear, rel=SUMMED, abs=1e-11)
        assert (by_input * X).sum() == pytest.approx(linear, rel=SUMMED, abs=1e-11)
    else:  # linear where it stands: the largest stay the largest
        # Some 10,000 terms of order one that cancel.
        assert (by_input * X).sum() == pytest.approx((delta * f).sum(), rel=SUMMED, abs=1e-11)


def test_a_convolution_of_many_rows_at_a_time_and_of_one():
    """Pictures large enough that a product of matrices has a few rows of the result only."""
    architecture = Architecture((3, 30, 28), [Conv2d(4, 5, padding=2, activation="tanh")])
    rng = np.random.default_rng(0)
    params, X = drawn(architecture, rng, 33)
    params *= 0.2
    passes = Passes(architecture)
    f = passes.forth(params, X)
    assert_allclose(f[:3], twins.network(architecture, params, X[:3]), rtol=0, atol=SUMMED)
    delta = rng.normal(size=f.shape)
    whole = passes.back(delta)[0]
    parts = np.zeros_like(whole)
    for i in range(33):
        one = Passes(architecture)
        assert_allclose(one.forth(params, X[i : i + 1]), f[i : i + 1], rtol=SOLVED, atol=SUMMED)
        parts += one.back(delta[i : i + 1])[0]
    assert_allclose(whole, parts, rtol=1e-10, atol=1e-10)  # sums of 28,000 products


@pytest.mark.parametrize("compiled", [True, False])
def test_of_equal_numbers_in_a_window_the_first_counts(compiled):
    architecture = Architecture((1, 2, 4), [MaxPool(2)])
    passes = Passes(architecture, compiled=compiled)
    X = np.array([[1.0, 7.0, 2.0, 3.0, 7.0, 0.0, 3.0, 3.0], np.zeros(8)])
    assert_array_equal(passes.forth([], X), [[7.0, 3.0], [0.0, 0.0]])
    _, by_input = passes.back(np.array([[1.0, 2.0], [3.0, 4.0]]))
    assert_array_equal(by_input, [[0, 1, 0, 2, 0, 0, 0, 0], [3, 0, 4, 0, 0, 0, 0, 0]])


def test_products_of_two_rows_at_a_time_give_what_one_of_all_gives(monkeypatch):
    layers = [Activation("identity"), Conv2d(3, 3, padding=1, activation="tanh")]
    architecture, rng = Architecture((2, 9, 6), layers), np.random.default_rng(0)
    params, X = drawn(architecture, rng, 4)
    aim, passes = rng.normal(size=(4, 3 * 9 * 6)), Passes(architecture, compiled=False)
    one = passes.forth(params, X), *passes.back(aim)
    monkeypatch.setattr(convolution, "PATCHES", 2 * (6 * 4 * 18))  # four times two rows, then one
    many = passes.forth(params, X), *passes.back(aim)
    for a, b in zip(one, many, strict=True):
        assert_allclose(a, b, rtol=SUMMED, atol=SUMMED)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_dropout_leaves_out_its_share_and_keeps_the_mean(dtype):
    rate, n, p = 0.3, 200, 50
    passes = Passes(Architecture((p,), [Dropout(rate)]), dtype)
    X = np.ones((n, p))
    z = passes.forth([], X, 11)
    kept = z != 0
    assert_allclose(z[kept], 1 / (1 - rate), rtol=1e-6)  # a float32 at worst
    error = np.sqrt(rate * (1 - rate) / z.size)
    assert abs(kept.mean() - (1 - rate)) < 5 * error  # five standard errors: 6e-7
    assert abs(z.mean() - 1) < 5 * error / (1 - rate)
    assert_array_equal(passes.back(X.astype(dtype))[1], z)
    assert_array_equal(z, passes.forth([], X, 11))
    assert (z != passes.forth([], X, 12)).mean() > 0.3  # 2 * 0.3 * 0.7 expected
    assert (z != passes.forth([], X, 11, n * 2 * p)).mean() > 0.3  # another batch
    assert_array_equal(passes.forth([], X), X)
    assert_array_equal(passes.back(X.astype(dtype))[1], X)


def test_each_factor_of_dropout_has_its_own_draw():
    factors = np.empty(200)
    dropout.draw_factors(factors, 0.3, 7, 1000)
    left_out = [uniform(7, 1000 + i) < 0.3 for i in range(200)]
    assert_allclose(factors, np.where(left_out, 0, 1 / 0.7), rtol=LAST_BITS)


def test_the_softmax_of_large_scores_is_that_of_their_differences():
    scores = np.array([[0.0, 1e4, -1e4], [1.0, 1e4 - 1, -1e4 - 2], [2.0, 1e4, -1e4 - 50]])
    exact = np.exp(scores - scores.max(axis=0))
    activations.softmax_columns(scores)
    assert_allclose(scores, exact / exact.sum(axis=0), rtol=LAST_BITS)


def test_two_layers_of_dropout_draw_for_themselves():
    passes = Passes(Architecture((50,), [Dropout(0.5), Dropout(0.5)]))
    z = passes.forth([], np.ones((100, 50)), 2)
    assert abs((z != 0).mean() - 0.25) < 5 * np.sqrt(0.25 * 0.75 / z.size)  # 6e-7


def test_rows_are_centred_and_scaled_on_their_way_in():
    rng = np.random.default_rng(0)
    architecture = Architecture((40,), [Activation("identity")])
    X, centre, unit = rng.normal(size=(30, 40)), rng.normal(size=40), rng.uniform(1, 2, size=40)
    rows, f = rng.integers(0, 30, size=17), np.empty((17, 40))
    net = (architecture.table, architecture.rates, np.empty(0))
    data = (X, centre, unit, np.zeros((30, 0)), np.ones(30))
    passes = Passes(architecture)
    passes.outputs(net, data, rows, twins.room(architecture, 17), -1, 0, f)
    assert_allclose(f, ((X - centre) / unit)[rows], rtol=LAST_BITS, atol=LAST_BITS)


def test_nan_and_infinity_are_not_hidden():
    """A network that has diverged must not look as if it had not."""
    for name in NAMES:
        for dtype in (np.float32, np.float64):
            passes = Passes(Architecture((2,), [Activation(name)]), dtype)
            assert np.isnan(passes.forth([], np.array([[np.nan, 1.0]]))[0, 0]), name
    for layer in (MaxPool(3), AveragePool(3)):
        for place in range(3):
            X = np.ones((1, 3))
            X[0, place] = np.nan
            assert np.isnan(Passes(Architecture((1, 3), [layer])).forth([], X)).all()


def test_memory_is_given_back():
    """Views of arrays are counted, and each count is undone."""
    architecture = Architecture(*NETWORKS["all"])
    params, X = drawn(architecture, np.random.default_rng(0), 3)
    passes = Passes(architecture)
    passes.forth(params, X, 1)
    passes.back(np.ones((3, architecture.n_outputs)))
    seen = [weakref.ref(each) for each in passes.room]
    del passes
    gc.collect()
    assert all(ref() is None for ref in seen)
