"""A dense layer: z = s(W x + b) for each column x."""

import numpy as np

from empirisk.compiled.decorator import compiled
from empirisk.compiled.networks.activations import activate, undo
from empirisk.compiled.networks.layout import ACTIVE, BIAS, FROM, N_IN, N_OUT, TO, WEIGHTS, matrix
from empirisk.compiled.networks.runs import sum_run


@compiled(inner=True, signatures=2)
def add_bias(z, params, first):
    """Add b_k to row k of z; there is no bias where its place is negative."""
    if first < 0:
        return
    for k in range(z.shape[0]):
        b = params[first + k]
        for i in range(z.shape[1]):
            z[k, i] += b


@compiled(inner=True, signatures=2)
def sum_rows(delta, gradient, first):
    """dL/db_k, the sum of row k of dL/da."""
    if first < 0:
        return
    for k in range(delta.shape[0]):
        gradient[first + k] = sum_run(delta[k])


@compiled(inner=True, makes_arrays=True, signatures=2)
def weights_of(layer, params):
    """W, of shape (given out, taken in)."""
    first, size = layer[WEIGHTS], layer[N_OUT] * layer[N_IN]
    return params[first : first + size].reshape(layer[N_OUT], layer[N_IN])


@compiled(inner=True, makes_arrays=True, signatures=2)
def dense_forward(layer, params, values, n):
    """z = s(W x + b)."""
    x = matrix(values, layer[FROM], layer[N_IN], n)
    z = matrix(values, layer[TO], layer[N_OUT], n)
    np.dot(weights_of(layer, params), x, z)
    add_bias(z, params, layer[BIAS])
    activate(layer[ACTIVE], z.reshape(z.size))


@compiled(inner=True, makes_arrays=True, signatures=2)
def dense_backward(layer, params, gradient, values, delta_out, delta_in, n, to_input):
    """From dL/dz, which becomes dL/da, to dL/dW = dL/da x', dL/db, and dL/dx = W' dL/da."""
    x = matrix(values, layer[FROM], layer[N_IN], n)
    z = matrix(values, layer[TO], layer[N_OUT], n)
    undo(layer[ACTIVE], z.reshape(z.size), delta_out.reshape(z.size))
    sum_rows(delta_out, gradient, layer[BIAS])
    np.dot(delta_out, x.T, weights_of(layer, gradient))
    if to_input:
        np.dot(weights_of(layer, params).T, delta_out, delta_in)
