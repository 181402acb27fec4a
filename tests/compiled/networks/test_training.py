"""Minibatch training: the same bits for every team, and the numbers of naive lines."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import network_twins as twins
from empirisk.compiled.networks import heads, training, updating
from empirisk.compiled.networks.heads import LOG, SQUARED
from empirisk.learners.networks.architecture import Architecture
from empirisk.learners.networks.layers import Activation, Dense, Dropout, Flatten
from empirisk.learners.networks.picture_layers import Conv2d, MaxPool
from empirisk.learners.team import Team
from network_twins import slopes
from tolerances import SUMMED

SMALL = Architecture((3,), [Dense(4, "tanh"), Dense(1, "identity")])
PICTURES = Architecture(
    (1, 6, 6), [Conv2d(3, 3), MaxPool(2), Dropout(0.3), Flatten(), Dense(8), Dense(3, "identity")]
)
WIDE = Architecture((3,), [Dense(90, "tanh"), Dropout(0.2), Dense(100), Dense(3, "identity")])
USUAL = {"RATE": 0.01, "FALL_AFTER": 1.0, "BETA_1": 0.9, "BETA_2": 0.999, "EPSILON": 1e-8}


def made(**given):
    settings = np.zeros(updating.N_SETTINGS)
    for name, value in (USUAL | given).items():
        settings[getattr(updating, name)] = value
    return settings


def table(architecture, n=37, seed=0, classes=0, dtype=float):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, architecture.n_inputs)).astype(dtype)
    y = rng.integers(0, classes, size=n) if classes else rng.normal(size=n)
    params = rng.normal(size=architecture.n_parameters) * 0.4
    return X, y, rng.uniform(0.2, 2, size=n), params.astype(dtype), rng.permutation(n)


def learned(
    architecture, X, y, weight, params, order, *,
    head=(SQUARED, 0.0), size=10, chunks=3, jobs=1, solver=updating.ADAM, settings=None, seed=-1,
    epochs=2, compiled=True,
):  # fmt: skip
    """(parameters, losses of the batches of the last epoch)."""
    learn = training.learn if compiled else training.learn.py_func
    params, dtype = params.copy(), params.dtype
    data = twins.plain_data(X, y, weight)
    targets = data[3].shape[1]
    room = twins.room(architecture, -(-size // chunks), dtype, chunks, targets)
    penalised = architecture.penalised().astype(dtype)
    memory = (np.zeros_like(params), np.zeros_like(params), penalised)
    batches = -(-len(order) // size)
    losses = np.full((batches, chunks), np.nan)
    squares = np.zeros(-(-len(params) // training.PIECE))
    settings = made() if settings is None else settings
    net, team = (architecture.table, architecture.rates, params), Team(jobs, most=jobs)
    for epoch in range(epochs):
        plan = (order, size, float(weight.mean()), epoch * batches, seed)
        team.run(
            lambda rank, plan=plan: learn(
                team.size, team.sync, net, data, head, room, plan, solver, settings, memory,
                losses, squares,
            )
        )  # fmt: skip
    return params, losses.sum(axis=1)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("longest", [0.0, 0.05])
@pytest.mark.parametrize("architecture", [PICTURES, WIDE])
def test_the_same_bits_for_every_team(architecture, longest, dtype):
    data = table(architecture, classes=3, dtype=dtype)
    settings = made(LONGEST=longest, RIDGE=1e-3, LASSO=1e-4)
    results = [
        learned(
            architecture, *data, head=(LOG, 0.0), size=12, chunks=5, jobs=jobs,
            settings=settings, seed=7,
        )
        for jobs in (1, 2, 3, 4)
    ]  # fmt: skip
    assert np.isfinite(results[0][0]).all()
    assert (results[0][0] != data[3]).any()
    for params, losses in results[1:]:
        assert_array_equal(params, results[0][0])
        assert_array_equal(losses, results[0][1])


def by_hand(X, y, weight, params, order, *, size, settings, epochs, solver):
    """One hidden layer of tanh, squared loss / 2, minibatches."""
    b = params.copy()
    first, second = np.zeros_like(b), np.zeros_like(b)
    t = 0
    held = SMALL.penalised()
    for _ in range(epochs):
        losses = []
        for start in range(0, len(order), size):
            rows = order[start : start + size]
            x, w = X[rows], weight[rows] / (len(rows) * weight.mean())
            W, c, v, d = b[:12].reshape(4, 3), b[12:16], b[16:20], b[20]
            hidden = np.tanh(x @ W.T + c)
            error = hidden @ v + d - y[rows]
            losses.append((w * error**2).sum() / 2)
            e = w * error
            back = e[:, None] * v * (1 - hidden**2)
            g = np.concatenate([(back.T @ x).ravel(), back.sum(0), hidden.T @ e, [e.sum()]])
            g += held * (settings[updating.RIDGE] * b + settings[updating.LASSO] * np.sign(b))
            longest = settings[updating.LONGEST]
            if longest and np.linalg.norm(g) > longest:
                g *= longest / np.linalg.norm(g)
            rate = 0.01 / (1 + t / settings[updating.FALL_AFTER]) ** settings[updating.POWER]
            t += 1
            if solver == updating.ADAM:
                first, second = 0.9 * first + 0.1 * g, 0.999 * second + 0.001 * g**2
                root = np.sqrt(1 - 0.999**t) / (1 - 0.9**t)
                b = b - rate * root * first / (np.sqrt(second) + 1e-8)
            else:
                first = settings[updating.MOMENTUM] * first - rate * g
                b = b + first
    return b, np.array(losses)


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("solver", [updating.SGD, updating.ADAM])
@pytest.mark.parametrize(
    ("size", "chunks"), [(10, 1), (10, 3), (7, 10), (37, 4), (1, 1), (36, 2), (100, 3)]
)
def test_training_is_what_naive_lines_do(size, chunks, solver, compiled):
    """Batches that do not divide, chunks without rows, weights, penalties, and all the rest."""
    data = table(SMALL)
    settings = made(
        RIDGE=0.02, LASSO=0.01, LONGEST=0.6, POWER=0.5, FALL_AFTER=3.0, MOMENTUM=0.8
    )  # fmt: skip
    given = {"size": size, "settings": settings, "epochs": 3, "solver": solver}
    params, losses = learned(SMALL, *data, chunks=chunks, compiled=compiled, **given)
    by_naive, losses_by_hand = by_hand(*data, **given)
    assert_allclose(params, by_naive, rtol=1e-9, atol=1e-11)  # up to 111 steps of order 0.01
    assert_allclose(losses, losses_by_hand, rtol=1e-9)


def test_a_row_of_no_weight_teaches_nothing_but_counts_as_a_row():
    X, y, weight, params, order = table(SMALL)
    weight[3] = 0.0
    before, _ = learned(SMALL, X, y, weight, params, order)
    X[3], y[3] = 1e3, -1e3
    after, _ = learned(SMALL, X, y, weight, params, order)
    assert_array_equal(before, after)


def test_without_targets_a_row_is_its_own_target():
    coder = Architecture((3,), [Dense(2, "tanh"), Dense(3, "identity")])
    X, _, weight, params, order = table(coder)
    without, losses = learned(coder, X, None, weight, params, order)
    given, others = learned(coder, X, X, weight, params, order)
    assert_array_equal(without, given)
    assert_array_equal(losses, others)


def test_the_gradient_is_held_to_its_length_over_all_pieces():
    assert WIDE.n_parameters > training.PIECE
    data = table(WIDE, classes=3)
    settings = made(LONGEST=0.03, RATE=1.0)
    given = {"head": (LOG, 0.0), "solver": updating.SGD, "size": 37, "epochs": 1}
    params, _ = learned(WIDE, *data, settings=settings, **given)
    assert np.linalg.norm(params - data[3]) == pytest.approx(0.03, rel=SUMMED)


def summed(architecture, X, y, weight, params, *, head, size, slots, jobs=1, compiled=True):
    """(loss over all rows, its gradient)."""
    add = training.add_gradients if compiled else training.add_gradients.py_func
    data, rows = twins.plain_data(X, y, weight), np.arange(len(X))
    room = twins.room(architecture, size, params.dtype, slots, data[3].shape[1])
    sums, losses = np.empty((slots, len(params))), np.empty(slots)
    net, team = (architecture.table, architecture.rates, params), Team(jobs, most=jobs)
    total = float(weight.sum())
    team.run(
        lambda rank: add(team.sync, net, data, head, room, rows, size, total, -1, sums, losses)
    )
    return losses.sum(), sums.sum(axis=0)


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize(("size", "slots"), [(37, 1), (5, 1), (5, 3), (4, 20)])
def test_gradients_of_blocks_add_up_to_that_of_the_whole_loss(size, slots, compiled):
    X, y, weight, params, _ = table(PICTURES, classes=3)
    given = {"head": (LOG, 0.0), "size": size, "slots": slots}
    loss, gradient = summed(PICTURES, X, y, weight, params, compiled=compiled, **given)

    def mean_loss(b):
        f = twins.network(PICTURES, b, X)
        log_p = f - np.log(np.exp(f).sum(axis=1, keepdims=True))
        return -(weight @ log_p[np.arange(len(y)), y]) / weight.sum()

    assert loss == pytest.approx(mean_loss(params), rel=SUMMED)
    some = np.random.default_rng(0).choice(len(params), 6, replace=False)
    for j in some:
        at = np.eye(len(params))[j]
        (numeric,) = slopes(lambda h, at=at: mean_loss(params + h[0] * at), np.zeros(1))
        assert gradient[j] == pytest.approx(numeric, rel=1e-6, abs=1e-9)  # central differences
    for jobs in (2, 3):
        again = summed(PICTURES, X, y, weight, params, jobs=jobs, **given)
        if compiled:
            assert again[0] == loss
            assert_array_equal(again[1], gradient)


def test_rows_that_are_doubles_for_a_network_of_singles():
    X, y, weight, params, order = table(SMALL)
    singles = params.astype(np.float32)
    mixed, _ = learned(SMALL, X, y, weight, singles, order)
    plain, _ = learned(SMALL, X.astype(np.float32), y, weight, singles, order)
    assert mixed.dtype == np.float32
    assert_allclose(mixed, plain, rtol=1e-3, atol=1e-4)  # inputs differ by 6e-8, Adam's steps more


def test_losses_fall_on_a_task_that_the_network_can_do():
    X, _, weight, params, order = table(SMALL, n=200)
    y = np.tanh(X[:, 0]) - 0.5 * X[:, 1]
    _, first = learned(SMALL, X, y, weight, params, order, epochs=1)
    _, last = learned(SMALL, X, y, weight, params, order, epochs=60)
    assert last.mean() < 0.1 * first.mean()


def test_a_head_of_two_classes_and_an_activation_before_it():
    architecture = Architecture((3,), [Dense(4, "gelu"), Activation("tanh"), Dense(1, "identity")])
    data = table(architecture, classes=2)
    for kind in (LOG, heads.HINGE, heads.EXPONENTIAL):
        params, losses = learned(architecture, *data, head=(kind, 0.0))
        assert np.isfinite(params).all()
        assert np.isfinite(losses).all()
