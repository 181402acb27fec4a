"""Through the network, forth and back: back-propagation.

dL/dz of the last layer comes in; each layer, from the last to the first, turns it into the gradient
of its own parameters and into dL/dz of the layer before, which is handed on.
"""

from empirisk.compiled.decorator import compiled
from empirisk.compiled.networks.activations import activation_backward, activation_forward
from empirisk.compiled.networks.convolution import convolution_backward, convolution_forward
from empirisk.compiled.networks.dense import dense_backward, dense_forward
from empirisk.compiled.networks.dropout import dropout_backward, dropout_forward
from empirisk.compiled.networks.layout import (
    AVERAGE_POOL,
    CONVOLUTION,
    DENSE,
    DROPOUT,
    KIND,
    MAX_POOL,
    N_IN,
    N_OUT,
    START,
    TO,
    matrix,
)
from empirisk.compiled.networks.pooling import (
    average_pool_backward,
    average_pool_forward,
    max_pool_backward,
    max_pool_forward,
)


@compiled(inner=True, makes_arrays=True, signatures=2)
def go_forth(layers, rates, params, values, marks, scratch, n, seed, draw):
    """Fill `values`, whose first rows are the inputs, layer by layer."""
    for j in range(len(layers)):
        layer = layers[j]
        if layer[KIND] == DENSE:
            dense_forward(layer, params, values, n)
        elif layer[KIND] == CONVOLUTION:
            convolution_forward(layer, params, values, scratch, n)
        elif layer[KIND] == MAX_POOL:
            max_pool_forward(layer, values, marks, n)
        elif layer[KIND] == AVERAGE_POOL:
            average_pool_forward(layer, values, n)
        elif layer[KIND] == DROPOUT:
            dropout_forward(layer, rates[j], values, marks, n, seed, draw + layer[TO] * n)
        else:
            activation_forward(layer, values, n)


@compiled(inner=True, makes_arrays=True, signatures=2)
def go_back(layers, params, gradient, values, marks, scratch, deltas, n):
    """The gradient of all parameters, from dL/d(output) in the first rows of deltas[0].

    The two rows of deltas are in turn what a layer is given and what it hands on. `values` are
    those that `go_forth` left.
    """
    side = 0
    for j in range(len(layers) - 1, -1, -1):
        layer = layers[j]
        to_input = j > 0
        delta_out = matrix(deltas[side], START, layer[N_OUT], n)
        delta_in = matrix(deltas[1 - side], START, layer[N_IN], n)
        if layer[KIND] == DENSE:
            dense_backward(layer, params, gradient, values, delta_out, delta_in, n, to_input)
        elif layer[KIND] == CONVOLUTION:
            convolution_backward(
                layer, params, gradient, values, scratch, delta_out, delta_in, n, to_input
            )
        elif layer[KIND] == MAX_POOL:
            max_pool_backward(layer, marks, delta_out, delta_in, n)
        elif layer[KIND] == AVERAGE_POOL:
            average_pool_backward(layer, delta_out, delta_in, n)
        elif layer[KIND] == DROPOUT:
            dropout_backward(layer, marks, delta_out, delta_in, n)
        else:
            activation_backward(layer, values, delta_out, delta_in, n)
        side = 1 - side
