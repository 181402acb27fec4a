"""Multi-layer perceptrons in a few naive lines of NumPy: forward, backward, and their training."""

from itertools import pairwise

import numpy as np
from scipy.special import expit, softmax

from empirisk.learners.networks.architecture import Architecture
from empirisk.learners.networks.initialising import random_start
from empirisk.learners.networks.layers import Dense
from empirisk.runtime.streams import generator, spawn

ACTIVATIONS = {
    "identity": (lambda z: z, lambda z: np.ones_like(z)),
    "relu": (lambda z: np.maximum(z, 0), lambda z: (z > 0).astype(float)),
    "tanh": (np.tanh, lambda z: 1 - np.tanh(z) ** 2),
    "logistic": (expit, lambda z: expit(z) * (1 - expit(z))),
}


def unpacked(params, sizes):
    """[(W, b), ...] of a vector of parameters; W is (outputs, inputs)."""
    layers, at = [], 0
    for inputs, outputs in pairwise(sizes):
        W = params[at : at + inputs * outputs].reshape(outputs, inputs)
        at += inputs * outputs
        layers.append((W, params[at : at + outputs]))
        at += outputs
    assert at == len(params)
    return layers


def outputs(params, sizes, activation, X):
    """f(x) of each row, and what went into and came out of each layer."""
    s = ACTIVATIONS[activation][0]
    z, ins, sums = X, [], []
    layers = unpacked(params, sizes)
    for number, (W, b) in enumerate(layers):
        ins.append(z)
        sums.append(z @ W.T + b)
        z = s(sums[-1]) if number < len(layers) - 1 else sums[-1]
    return z, ins, sums


def squared(y, f):
    return 0.5 * ((f - y) ** 2).sum(axis=1), f - y


def poisson(y, f):
    return (np.exp(f) - y * f).sum(axis=1), np.exp(f) - y


def absolute(y, f):
    return np.abs(f - y).sum(axis=1), np.sign(f - y)


def log_loss(y, f):
    """y are codes, (n, 1)."""
    if f.shape[1] == 1:
        sign = 2 * y - 1
        return np.logaddexp(0, -sign * f)[:, 0], -sign * expit(-sign * f)
    p = softmax(f, axis=1)
    one = y == np.arange(f.shape[1])
    return -np.log(p[one]), p - one


def objective(params, sizes, activation, loss, X, y, weight, ridge=0.0, lasso=0.0):
    """(mean loss, gradient of the mean loss and the penalty) of some rows.

    `weight` are shares: each row's part in the mean.
    """
    f, ins, sums = outputs(params, sizes, activation, X)
    losses, delta = loss(y, f)
    delta = delta * weight[:, np.newaxis]
    slope, layers, parts = ACTIVATIONS[activation][1], unpacked(params, sizes), []
    for number in reversed(range(len(layers))):
        W, _ = layers[number]
        penalty = ridge * W + lasso * np.sign(W)
        parts = [(delta.T @ ins[number] + penalty).ravel(), delta.sum(axis=0), *parts]
        if number:
            delta = (delta @ W) * slope(sums[number - 1])
    return float(losses @ weight), np.concatenate(parts)


def start_of(random_state, sizes, activation, law="glorot"):
    """(parameters, generator of the orders) of a fit with this random_state."""
    layers = [*(Dense(units, activation) for units in sizes[1:-1]), Dense(sizes[-1], "identity")]
    from_starts, _ = spawn(spawn(random_state, 1)[0], 2)
    first, rest = spawn(spawn(from_starts, 1)[0], 2)
    start = random_start(Architecture((sizes[0],), layers), law, first)
    return start, generator(spawn(rest, 2)[0])


def trained(
    start, draw, sizes, activation, loss, X, y, weight,
    *, epochs, batch, solver="adam", rate=0.001, momentum=0.9, nesterov=True, alpha=0.0,
    l1_ratio=0.0, longest=None, length=None,
):  # fmt: skip
    """(parameters, loss of each epoch) after epochs of minibatches; draw=None keeps the order."""
    params, n, total = start.copy(), len(X), weight.sum()
    m, v, t, curve = np.zeros_like(params), np.zeros_like(params), 0, []
    ridge, lasso = alpha * (1 - l1_ratio) / total, alpha * l1_ratio / total
    for _ in range(epochs):
        order = np.arange(n) if draw is None else draw.permutation(n)
        sum_of_losses = 0.0
        for first in range(0, n, batch):
            rows = order[first : first + batch]
            share = weight[rows] / (len(rows) * total / n)
            value, g = objective(
                params, sizes, activation, loss, X[rows], y[rows], share, ridge, lasso
            )
            sum_of_losses += value * len(rows)
            if longest is not None and np.linalg.norm(g) > longest:
                g = g * (longest / np.linalg.norm(g))
            step = rate if length is None else length(t)
            t += 1
            if solver == "adam":
                m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g**2
                params -= (
                    step
                    * (m / (1 - 0.9**t))
                    / (np.sqrt(v / (1 - 0.999**t)) + 1e-8 / np.sqrt(1 - 0.999**t))
                )
            else:
                m = momentum * m - step * g
                params += momentum * m - step * g if nesterov else m
        W = np.concatenate([W.ravel() for W, _ in unpacked(params, sizes)])
        curve.append(sum_of_losses / n + ridge * W @ W / 2 + lasso * np.abs(W).sum())
    return params, curve
