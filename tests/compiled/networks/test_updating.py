"""Steps of the parameters beside naive lines and scikit-learn's optimisers."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.neural_network._stochastic_optimizers import AdamOptimizer, SGDOptimizer

from empirisk.compiled.networks import doors, updating
from tolerances import LAST_BITS, SOLVED, SUMMED

STEPS, SIZE = 7, 60
rng = np.random.default_rng(0)
START = rng.normal(size=SIZE)
START[:5] = 0.0
SLOPES = rng.normal(size=(STEPS, 3, SIZE)) * np.logspace(-8, 2, SIZE)


def made(**given):
    settings = np.zeros(updating.N_SETTINGS)
    usual = {"RATE": 0.01, "FALL_AFTER": 1.0, "BETA_1": 0.9, "BETA_2": 0.999, "EPSILON": 1e-8}
    for name, value in (usual | given).items():
        settings[getattr(updating, name)] = value
    return settings


def walked(solver, settings, dtype=float, *, compiled=True, penalised=None):
    """The parameters after each step."""
    step = doors.step if compiled else doors.step.py_func
    params = START.astype(dtype)
    penalised = np.ones(SIZE) if penalised is None else penalised
    memory = (np.zeros(SIZE, dtype), np.zeros(SIZE, dtype), penalised.astype(dtype))
    path = []
    for t in range(STEPS):
        step(params, SLOPES[t].astype(dtype), memory, solver, settings, t)
        path.append(params.copy())
    return np.array(path)


def of_scikit_learn(optimiser):
    params = [START.copy()]
    optimiser = optimiser(params)
    path = []
    for t in range(STEPS):
        optimiser.update_params(params, [SLOPES[t].sum(axis=0)])
        path.append(params[0].copy())
    return np.array(path)


@pytest.mark.parametrize("compiled", [True, False])
def test_adam_goes_as_that_of_scikit_learn(compiled):
    theirs = of_scikit_learn(lambda params: AdamOptimizer(params, 0.01, 0.9, 0.999, 1e-8))
    ours = walked(updating.ADAM, made(), compiled=compiled)
    assert_allclose(ours, theirs, rtol=SUMMED, atol=LAST_BITS)
    ours = walked(updating.ADAM, made(), np.float32)
    # A step has the length of the rate; single precision is 1e-7 of it and of the parameters.
    assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize(("momentum", "nesterov"), [(0.0, False), (0.9, False), (0.9, True)])
def test_sgd_goes_as_that_of_scikit_learn(momentum, nesterov, compiled):
    theirs = of_scikit_learn(
        lambda params: SGDOptimizer(params, 0.01, "constant", momentum, nesterov)
    )
    settings = made(MOMENTUM=momentum, NESTEROV=float(nesterov))
    ours = walked(updating.SGD, settings, compiled=compiled)
    assert_allclose(ours, theirs, rtol=1e-12, atol=1e-13)  # steps up to about 10
    ours = walked(updating.SGD, settings, np.float32)
    assert_allclose(ours, theirs, rtol=1e-5, atol=1e-5)  # single precision, 1e-7 of such steps


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("solver", [updating.SGD, updating.ADAM])
def test_penalties_and_falling_step_lengths(solver, compiled):
    ridge, lasso, held = 0.3, 0.05, np.arange(SIZE) % 3 > 0
    settings = made(RIDGE=ridge, LASSO=lasso, POWER=0.5, FALL_AFTER=2.0, MOMENTUM=0.5)
    ours = walked(solver, settings, compiled=compiled, penalised=held.astype(float))
    b, v, m, s = START.copy(), np.zeros(SIZE), np.zeros(SIZE), np.zeros(SIZE)
    for t in range(STEPS):
        g = SLOPES[t].sum(axis=0) + held * (ridge * b + lasso * np.sign(b))
        rate = 0.01 / np.sqrt(1 + t / 2)
        if solver == updating.SGD:
            v = 0.5 * v - rate * g
            b = b + v
        else:
            m, s = 0.9 * m + 0.1 * g, 0.999 * s + 0.001 * g**2
            # epsilon is beside the root before the correction, as in scikit-learn
            root = np.sqrt(1 - 0.999 ** (t + 1)) / (1 - 0.9 ** (t + 1))
            b = b - rate * root * m / (np.sqrt(s) + 1e-8)
        assert_allclose(ours[t], b, rtol=SOLVED, atol=SUMMED)


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("solver", [updating.SGD, updating.ADAM])
def test_gradients_that_are_too_long_are_cut_and_the_others_are_not(solver, compiled):
    whole = SLOPES.sum(axis=1)
    length = np.linalg.norm(whole, axis=1)
    longest = np.median(length)
    ours = walked(solver, made(LONGEST=longest), compiled=compiled)
    b, m, s = START.copy(), np.zeros(SIZE), np.zeros(SIZE)
    for t in range(STEPS):
        g = whole[t] * min(1, longest / length[t])
        m, s = 0.9 * m + 0.1 * g, 0.999 * s + 0.001 * g**2
        root = np.sqrt(1 - 0.999 ** (t + 1)) / (1 - 0.9 ** (t + 1))
        b = b - 0.01 * (g if solver == updating.SGD else root * m / (np.sqrt(s) + 1e-8))
        assert_allclose(ours[t], b, rtol=SUMMED, atol=SUMMED)


def test_a_penalty_counts_for_a_range_only_and_the_square_is_of_that_range():
    settings = made(RIDGE=1.0, LONGEST=5.0)
    gradients, params = SLOPES[0].copy(), START.copy()
    square = updating.add_up.py_func(gradients, params, np.ones(SIZE), settings, 10, 30)
    whole = SLOPES[0].sum(axis=0) + START
    assert_allclose(gradients[0, 10:30], whole[10:30], rtol=LAST_BITS)
    assert_array_equal(gradients[0, :10], SLOPES[0, 0, :10])
    assert_array_equal(gradients[0, 30:], SLOPES[0, 0, 30:])
    assert square == pytest.approx((whole[10:30] ** 2).sum(), rel=LAST_BITS)
