"""Single passes through a network, for predictions and for losses that Python knows alone."""

import numpy as np

from empirisk.compiled.decorator import compiled
from empirisk.compiled.networks.chunks import enter_chunk
from empirisk.compiled.networks.convolution import convolution_scratch
from empirisk.compiled.networks.layout import CONVOLUTION, KIND, START
from empirisk.compiled.networks.passing import go_back
from empirisk.compiled.networks.updating import LONGEST, add_up, step_length, take_step


@compiled(signatures=3)
def outputs(network, data, rows, room, seed, draw, to):
    """What the last layer gives out for these rows, in to (n, K)."""
    f = enter_chunk(network, data, rows, START, room, seed, draw)
    for i in range(f.shape[1]):
        for k in range(f.shape[0]):
            to[i, k] = f[k, i]


@compiled(signatures=2)
def gradient(network, room, n):
    """The gradient of the parameters, once dL/d(output) is in the first of the deltas."""
    layers, _, params = network
    gradients, values, deltas, marks, scratch, _, _ = room
    go_back(layers, params, gradients[0], values[0], marks[0], scratch[0], deltas[0], n)


@compiled(signatures=2)
def step(params, gradients, memory, solver, settings, t):
    """Add the penalty to the gradient and take one step."""
    moment, square, penalised = memory
    norm = np.sqrt(add_up(gradients, params, penalised, settings, START, len(params)))
    scale = settings[LONGEST] / norm if 0.0 < settings[LONGEST] < norm else 1.0
    length = step_length(settings, t)
    take_step(
        solver, params, gradients[0], moment, square, settings, length, t, scale, START, len(params)
    )


@compiled
def room_for_convolutions(layers, n):
    """How many numbers of scratch the layers need for n columns."""
    most = 1
    for j in range(len(layers)):
        if layers[j, KIND] == CONVOLUTION:
            most = max(most, convolution_scratch(layers[j], n))
    return most
