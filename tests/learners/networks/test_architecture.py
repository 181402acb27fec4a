"""Layers put together: shapes, parameters, the table for compiled code, words for users."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from empirisk.compiled.networks import layout
from empirisk.learners.networks.architecture import Architecture, checked_layers, checked_shape
from empirisk.learners.networks.layers import Activation, Bottleneck, Dense, Dropout, Flatten
from empirisk.learners.networks.picture_layers import AveragePool, Conv1d, Conv2d, MaxPool
from empirisk.runtime.errors import ParameterError

LENET = [
    Conv2d(6, 5, padding=2), MaxPool(2), Conv2d(16, 5), MaxPool(2), Flatten(),
    Dense(120), Dense(84), Dense(10, "identity"),
]  # fmt: skip


def test_lenet_has_the_shapes_and_parameters_of_the_textbook():
    net = Architecture((1, 28, 28), LENET)
    counts = [part.n_parameters for part in net.parts if part.n_parameters]
    assert counts == [156, 2416, 48120, 10164, 850]
    assert net.n_parameters == 61706
    assert [part.shape_out for part in net.parts] == [
        (6, 28, 28), (6, 14, 14), (16, 10, 10), (16, 5, 5), (400,), (120,), (84,), (10,)
    ]  # fmt: skip
    assert (net.n_inputs, net.n_outputs, net.output_shape) == (784, 10, (10,))
    assert net.widest == 6 * 28 * 28
    assert net.n_rows == 784 + 4704 + 1176 + 1600 + 400 + 120 + 84 + 10


@pytest.mark.parametrize(("p", "m"), [(1, 1), (3, 5), (10, 2)])
def test_one_hidden_layer_of_m_units_has_mp_plus_2m_plus_1_parameters(p, m):
    net = Architecture((p,), [Dense(m, "logistic"), Dense(1, "identity")])
    assert net.n_parameters == m * p + 2 * m + 1


@pytest.mark.parametrize(
    ("layer", "shape", "out", "count"),
    [
        (Dense(3), (4,), (3,), 15),
        (Dense(3, bias=False), (2, 2), (3,), 12),
        (Bottleneck(2), (5,), (2,), 10),
        (Conv1d(4, 3), (2, 10), (4, 8), 28),
        (Conv1d(4, 3, stride=2, padding=1, bias=False), (2, 10), (4, 5), 24),
        (Conv2d(2, (3, 1), stride=(2, 1), padding=(0, 1)), (3, 7, 4), (2, 3, 6), 20),
        (Conv2d(2, (7, 4)), (3, 7, 4), (2, 1, 1), 170),
        (MaxPool(2), (3, 7, 4), (3, 3, 2), 0),
        (MaxPool((2, 3), stride=1), (3, 7, 4), (3, 6, 2), 0),
        (AveragePool(3, stride=2), (2, 9), (2, 4), 0),
        (Flatten(), (3, 7, 4), (84,), 0),
        (Dropout(), (3, 7, 4), (3, 7, 4), 0),
        (Activation("gelu"), (3, 7), (3, 7), 0),
    ],
)
def test_shapes_and_numbers_of_parameters(layer, shape, out, count):
    assert layer.shape_out(shape) == out
    assert layer.n_parameters(shape) == count


def test_weights_and_biases_are_views_of_the_vector():
    net = Architecture((4,), [Bottleneck(2), Dense(3), Activation("tanh"), Dense(1)])
    params = np.arange(net.n_parameters, dtype=float)
    weights, biases = net.weights(params), net.biases(params)
    assert [w.shape for w in weights] == [(2, 4), (3, 2), (1, 3)]
    assert [b.shape for b in biases] == [(3,), (1,)]
    whole = [weights[0], weights[1], biases[0], weights[2], biases[1]]
    assert_array_equal(np.concatenate([each.ravel() for each in whole]), params)
    biases[0][:] = -1
    assert (params == -1).sum() == 3
    held = net.penalised()
    assert held.sum() == 8 + 6 + 3
    assert_array_equal(net.biases(held)[0], 0)
    assert_array_equal(net.weights(held)[1], 1)


def test_the_table_says_where_everything_lies():
    net = Architecture((2, 3, 3), [Conv2d(2, 2, activation="gelu"), Flatten(), Dropout(0.25),
                                   Dense(3, bias=False)])  # fmt: skip
    kinds = [layout.CONVOLUTION, layout.ACTIVATION, layout.DROPOUT, layout.DENSE]
    assert net.table[:, layout.KIND].tolist() == kinds  # gelu is a step of its own
    active = [layout.IDENTITY, layout.GELU, 0, layout.RELU]
    assert net.table[:, layout.ACTIVE].tolist() == active
    assert net.table[:, layout.FROM].tolist() == [0, 18, 26, 34]
    assert net.table[:, layout.TO].tolist() == [18, 26, 34, 42]
    assert net.table[:, layout.N_IN].tolist() == [18, 8, 8, 8]
    assert net.table[:, layout.N_OUT].tolist() == [8, 8, 8, 3]
    assert net.table[:, layout.WEIGHTS].tolist() == [0, -1, -1, 18]
    assert net.table[:, layout.BIAS].tolist() == [16, -1, -1, -1]
    assert net.rates.tolist() == [0, 0, 0.25, 0]
    assert net.ends == [18, 34, 34, 42, 45]
    assert net.n_rows == 45
    assert net.table.dtype == np.int64
    picture = net.table[0, layout.CHANNELS :]
    assert picture.tolist() == [2, 3, 3, 2, 2, 2, 2, 2, 1, 1, 0, 0]


def test_a_network_is_printed_with_its_shapes_and_counts():
    lines = str(Architecture((1, 28, 28), LENET)).splitlines()
    assert lines[0].split() == ["input", "(1,", "28,", "28)"]
    assert lines[1].endswith("(6, 28, 28)      156 parameters")
    assert lines[2].endswith("(6, 14, 14)")
    assert lines[6].endswith("(120,)        48,120 parameters")
    assert lines[-1] == "61,706 parameters"
    assert len({line.index("(", 30) for line in lines[1:-1]}) == 1  # in a column


def test_layers_are_values():
    assert Dense(3) == Dense(3, "relu", True)
    assert Dense(3) != Dense(3, "tanh")
    assert Dense(2, "identity", False) != Bottleneck(2)
    assert len({Conv2d(6, 5), Conv2d(6, 5), Conv2d(6, (5, 4))}) == 2
    assert repr(Conv2d(6, (5, 4))) == (
        "Conv2d(channels=6, kernel_size=(5, 4), stride=1, padding=0, activation='relu', bias=True)"
    )
    assert eval(repr(MaxPool(3, 1))) == MaxPool(3, 1)  # noqa: S307
    assert Dense(np.int64(3)).shape_out((2,)) == (3,)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Dense(0), "units of Dense is 0; it must be a whole number, 1 or more"),
        (lambda: Dense(2.5), "units of Dense is 2.5"),
        (lambda: Dense(True), "units of Dense is True"),
        (lambda: Bottleneck("few"), "units of Bottleneck is 'few'"),
        (lambda: Dense(3, "swish"), "activation is 'swish'; there are identity, logistic"),
        (lambda: Dense(3, None), "activation is None"),
        (lambda: Dense(3, bias="no"), "bias of Dense is 'no'; it must be True or False"),
        (lambda: Activation("step"), "activation is 'step'"),
        (lambda: Dropout(1.0), r"p of Dropout is 1.0; it must be a number in \[0, 1\)"),
        (lambda: Dropout(-0.1), "p of Dropout is -0.1"),
        (lambda: Dropout(float("nan")), "p of Dropout is nan"),
        (lambda: Dropout("half"), "p of Dropout is 'half'"),
        (lambda: Conv2d(0, 3), "channels of Conv2d is 0"),
        (lambda: Conv2d(2, 0), "kernel_size of Conv2d is 0"),
        (lambda: Conv2d(2, (3, 0)), "kernel_size of Conv2d is 0"),
        (lambda: Conv2d(2, (3, 3, 3)), r"\(3, 3, 3\); give a number, or \(height, width\)"),
        (lambda: Conv2d(2, 3, stride=0), "stride of Conv2d is 0"),
        (lambda: Conv2d(2, 3, padding=-1), "padding of Conv2d is -1; .* 0 or more"),
        (lambda: Conv2d(2, 3, bias=1), "bias of Conv2d is 1"),
        (lambda: Conv1d(2, (3, 3)), r"kernel_size of Conv1d is \(3, 3\); of a signal give one"),
        (lambda: Conv1d(2, (3,)), r"kernel_size of Conv1d is \(3,\); of a signal give one"),
        (lambda: MaxPool(None), "size of MaxPool is None"),
        (lambda: MaxPool(2, stride=0), "stride of MaxPool is 0"),
        (lambda: AveragePool(2.0), "size of AveragePool is 2.0"),
        (lambda: AveragePool((2, 2)).shape_out((1, 9)), "of a signal give one number"),
        (lambda: MaxPool((5000, 5000)).shape_out((1, 6000, 6000)), "16,777,216 places at most"),
        (lambda: Conv2d(2, 3).shape_out((784,)), r"\(channels, height, width\), and \(784,\) came"),
        (lambda: Conv2d(2, 3).shape_out((1, 9)), "give the learner input_shape"),
        (lambda: Conv1d(2, 3).shape_out((1, 9, 9)), r"takes .* \(channels, length\)"),
        (lambda: MaxPool(2).shape_out((9,)), "input_shape"),
        (lambda: Conv2d(2, 5).shape_out((1, 28, 4)), "has 5 places, and what comes in has 4: make"),
        (lambda: Conv2d(2, 9, padding=1).shape_out((1, 6, 6)), "has 6 and 1 zeros on each side"),
        (lambda: MaxPool(3).shape_out((1, 2)), "has 3 places, and what comes in has 2"),
        (lambda: Architecture((9,), [Dense(4), Conv1d(1, 2)]), r"\(4,\) came"),
        (lambda: Architecture((9,), [Flatten()]), "no layer that computes"),
        (lambda: checked_layers(Dense(3)), "must be a list of layers"),
        (lambda: checked_layers([Dense(3), Dense]), "must be a list of layers"),
        (lambda: checked_layers("Dense"), "must be a list of layers"),
        (lambda: checked_shape((1, 28), 784), r"\(1, 28\), and X has 784 columns; give None"),
        (lambda: checked_shape(784, 784), "input_shape is 784, and"),
        (lambda: checked_shape((), 1), "input_shape is"),
        (lambda: checked_shape((-1, -4), 4), "input_shape is"),
        (lambda: checked_shape((2.0, 2), 4), "input_shape is"),
        (lambda: checked_shape((True, 4), 4), "input_shape is"),
        (lambda: checked_shape((1, 1, 2, 2), 4), "input_shape is"),
    ],
)
def test_errors_say_what_came_and_what_was_wanted(make, words):
    with pytest.raises(ParameterError, match=words):
        make()


def test_shapes_that_are_fine():
    assert checked_shape(None, 5) == (5,)
    assert checked_shape([1, 2, 3], 6) == (1, 2, 3)
    assert checked_shape((np.int64(2), 3), 6) == (2, 3)
    assert checked_layers((Dense(1),)) == [Dense(1)]
    assert checked_layers([]) == []
