"""Activations s(a), and the way back: from dL/ds(a) to dL/da."""

from math import erf, exp, sqrt

import numpy as np

from empirisk.compiled.decorator import compiled
from empirisk.compiled.networks.exponentials import exponentials, sigmoids, tanhs
from empirisk.compiled.networks.layout import (
    ACTIVE,
    FROM,
    GELU,
    LEAKY_RELU,
    N_IN,
    RELU,
    SIGMOID,
    SOFTMAX,
    TANH,
    TO,
    matrix,
)

SLOPE = 0.01  # of the leaky rectifier below zero
HALF_ROOT, ROOT_TURN = sqrt(0.5), sqrt(0.5 / np.pi)


@compiled(leaf=True, signatures=2)
def activate(kind, a):
    """s(a), in place; `a` is flat."""
    zero, slope = a.dtype.type(0.0), a.dtype.type(SLOPE)
    if kind == RELU:
        for i in range(a.size):
            a[i] = max(a[i], zero)
    elif kind == LEAKY_RELU:
        for i in range(a.size):
            a[i] = max(a[i], slope * a[i])
    elif kind == SIGMOID:
        sigmoids(a)
    elif kind == TANH:
        tanhs(a)


@compiled(leaf=True, signatures=2)
def undo(kind, z, delta):
    """Multiply delta, in place, by s'(a), where z = s(a); both are flat."""
    zero, one, slope = z.dtype.type(0.0), z.dtype.type(1.0), z.dtype.type(SLOPE)
    if kind == RELU:
        for i in range(z.size):
            delta[i] = delta[i] if z[i] > zero else zero
    elif kind == LEAKY_RELU:
        for i in range(z.size):
            delta[i] = delta[i] if z[i] > zero else slope * delta[i]
    elif kind == SIGMOID:
        for i in range(z.size):
            delta[i] *= z[i] * (one - z[i])
    elif kind == TANH:
        for i in range(z.size):
            delta[i] *= one - z[i] * z[i]


@compiled(leaf=True, makes_arrays=True, signatures=2)
def softmax_columns(scores):
    """exp(f_k) / sum_j exp(f_j) down each column, in place.

    The largest of each column is subtracted first, so that nothing overflows.
    """
    for i in range(scores.shape[1]):
        top = scores[0, i]
        for k in range(1, scores.shape[0]):
            top = max(top, scores[k, i])
        for k in range(scores.shape[0]):
            scores[k, i] -= top
    exponentials(scores.reshape(scores.size))
    for i in range(scores.shape[1]):
        total = scores[0, i]
        for k in range(1, scores.shape[0]):
            total += scores[k, i]
        for k in range(scores.shape[0]):
            scores[k, i] /= total


@compiled(inner=True, makes_arrays=True, signatures=2)
def activation_forward(layer, values, n):
    """A layer that is an activation only; GELU is a Phi(a), softmax is over all features."""
    a = matrix(values, layer[FROM], layer[N_IN], n)
    z = matrix(values, layer[TO], layer[N_IN], n)
    flat, came = z.reshape(z.size), a.reshape(a.size)
    for i in range(flat.size):
        flat[i] = came[i]
    if layer[ACTIVE] == SOFTMAX:
        softmax_columns(z)
    elif layer[ACTIVE] == GELU:
        for i in range(flat.size):
            flat[i] = flat[i] * 0.5 * (1.0 + erf(flat[i] * HALF_ROOT))
    else:
        activate(layer[ACTIVE], flat)


@compiled(inner=True, makes_arrays=True, signatures=2)
def activation_backward(layer, values, delta_out, delta_in, n):
    """dL/da of such a layer from dL/dz."""
    a = matrix(values, layer[FROM], layer[N_IN], n)
    z = matrix(values, layer[TO], layer[N_IN], n)
    if layer[ACTIVE] == SOFTMAX:
        softmax_backward(z, delta_out, delta_in)
        return
    flat, back, forth = a.reshape(a.size), delta_in.reshape(a.size), delta_out.reshape(a.size)
    if layer[ACTIVE] != GELU:
        for i in range(flat.size):
            back[i] = forth[i]
        undo(layer[ACTIVE], z.reshape(z.size), back)
        return
    for i in range(flat.size):
        density = exp(-0.5 * flat[i] * flat[i]) * ROOT_TURN
        back[i] = forth[i] * (0.5 * (1.0 + erf(flat[i] * HALF_ROOT)) + flat[i] * density)


@compiled(leaf=True, signatures=2)
def softmax_backward(z, delta_out, delta_in):
    """dL/da_k = z_k (dL/dz_k - sum_j z_j dL/dz_j)."""
    for i in range(z.shape[1]):
        mean = z[0, i] * delta_out[0, i]
        for k in range(1, z.shape[0]):
            mean += z[k, i] * delta_out[k, i]
        for k in range(z.shape[0]):
            delta_in[k, i] = z[k, i] * (delta_out[k, i] - mean)
