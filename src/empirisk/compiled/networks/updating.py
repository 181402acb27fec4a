"""One step of the parameters along the gradient of a batch, for a range of them."""

import numpy as np

from empirisk.compiled.decorator import compiled

SGD, ADAM = range(2)
# Places in `settings`, an array of float64.
RATE, FALL_AFTER, POWER, MOMENTUM, NESTEROV, BETA_1, BETA_2, EPSILON = range(8)
RIDGE, LASSO, LONGEST = range(8, 11)
N_SETTINGS = 11


@compiled(inner=True)
def step_length(settings, t):
    """eta / (1 + t / t0)^a of step t = 0, 1, ..."""
    if settings[POWER] == 0.0:
        return settings[RATE]
    return settings[RATE] / (1.0 + t / settings[FALL_AFTER]) ** settings[POWER]


@compiled(leaf=True, signatures=2)
def add_up(gradients, params, penalised, settings, first, last):
    """The gradient of all chunks in that of the first, with the penalty; returns its square."""
    ridge, lasso = params.dtype.type(settings[RIDGE]), params.dtype.type(settings[LASSO])
    whole = gradients[0]
    for c in range(1, len(gradients)):
        part = gradients[c]
        for j in range(first, last):
            whole[j] += part[j]
    if ridge != 0.0 or lasso != 0.0:
        for j in range(first, last):
            b = params[j]
            whole[j] += penalised[j] * (ridge * b + lasso * np.sign(b))
    square = 0.0
    if settings[LONGEST] > 0.0:
        for j in range(first, last):
            square += np.float64(whole[j]) * np.float64(whole[j])
    return square


@compiled(leaf=True, signatures=2)
def descend(params, gradient, velocity, settings, length, scale, first, last):
    """SGD with momentum: v <- m v - s g, b <- b + v; Nesterov's looks ahead: b <- b + m v - s g."""
    kind = params.dtype.type
    m, s = kind(settings[MOMENTUM]), kind(length * scale)
    if settings[NESTEROV] != 0.0:
        for j in range(first, last):
            velocity[j] = m * velocity[j] - s * gradient[j]
            params[j] += m * velocity[j] - s * gradient[j]
    else:
        for j in range(first, last):
            velocity[j] = m * velocity[j] - s * gradient[j]
            params[j] += velocity[j]


@compiled(leaf=True, signatures=2)
def adapt(params, gradient, mean, square, settings, length, t, scale, first, last):
    """Adam (Kingma & Ba 2015): steps in units of the root mean square of recent gradients."""
    kind = params.dtype.type
    decay_1, decay_2 = settings[BETA_1], settings[BETA_2]
    b1, b2, new1, new2 = kind(decay_1), kind(decay_2), kind(1.0 - decay_1), kind(1.0 - decay_2)
    s = kind(length * np.sqrt(1.0 - decay_2 ** (t + 1)) / (1.0 - decay_1 ** (t + 1)))
    epsilon, factor = kind(settings[EPSILON]), kind(scale)
    for j in range(first, last):
        g = factor * gradient[j]
        mean[j] = b1 * mean[j] + new1 * g
        square[j] = b2 * square[j] + new2 * g * g
        params[j] -= s * mean[j] / (np.sqrt(square[j]) + epsilon)


@compiled(inner=True, signatures=2)
def take_step(solver, params, gradient, moment, square, settings, length, t, scale, first, last):
    """One step of the parameters in a range; t counts steps from 0."""
    if solver == ADAM:
        adapt(params, gradient, moment, square, settings, length, t, scale, first, last)
    else:
        descend(params, gradient, moment, settings, length, scale, first, last)
