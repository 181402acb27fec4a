"""Minibatches of a margin loss that is written in Python: one chunk, one thread."""

from typing import Any

import numpy as np

from empirisk.compiled.networks.doors import gradient, outputs, step
from empirisk.compiled.networks.layout import N_OUT
from empirisk.learners.networks.heads import Head, signs
from empirisk.learners.networks.rows import Room
from empirisk.runtime.arrays import Floats


def learn_in_python(
    network: Any,
    data: Any,
    head: Head,
    room: Room,
    batches: Any,
    solver: int,
    settings: Floats,
    memory: Any,
    losses: Floats,
) -> None:
    """What `compiled.networks.training.learn` does, with the loss of `head.margin`."""
    table, _, params = network
    _, _, _, y, weight = data
    order, size, mean_weight, t, seed = batches
    assert head.margin is not None
    for b in range(len(losses)):
        rows = order[b * size : (b + 1) * size]
        n = len(rows)
        f = np.empty((n, int(table[-1, N_OUT])), params.dtype)
        outputs(network, data, rows, room, seed, (t + b) * room[1].shape[1], f)
        sign, share = signs(y[rows], f.shape[1]), (weight[rows] / (n * mean_weight))[:, np.newaxis]
        margins = sign * f.astype(float)
        losses[b, 0] = float((share * head.margin.value(margins)).sum())
        slope = (share * sign * head.margin.derivative(margins)).T
        room[2][0, 0, : slope.size] = slope.ravel()
        gradient(network, room, n)
        step(params, room[0], memory, solver, settings, t + b)
