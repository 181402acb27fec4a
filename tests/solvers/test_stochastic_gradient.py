"""Stochastic gradient descent: where it comes to rest, its seeds, averages and endings."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from empirisk.solvers import (
    Decaying,
    gradient_descent,
    stochastic_gradient,
)

H = np.array([[3.0, 1.0], [1.0, 2.0]])
TARGET = np.array([1.0, -2.0])


def bowl(b):
    return float((b - TARGET) @ H @ (b - TARGET) / 2)


def bowl_gradient(b):
    return H @ (b - TARGET)


def regression(n=200):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(n, 2))
    y = X @ [2.0, -1.0] + rng.normal(size=n)
    return X, y, np.linalg.lstsq(X, y, rcond=None)[0]


@pytest.mark.parametrize("batch_size", [1, 16, 200])
def test_stochastic_gradient_comes_to_rest_at_least_squares(batch_size):
    X, y, best = regression()

    def gradient(b, rows):
        return X[rows].T @ (X[rows] @ b - y[rows]) / len(rows)

    way = stochastic_gradient(
        gradient, [0.0, 0.0], 200, step=Decaying(0.3, 20.0, 1.0), batch_size=batch_size,
        max_epochs=100, random_state=0,
    )  # fmt: skip
    # With steps 6 / t the error after 20,000 steps of one row is about sqrt(6 / 20,000) = 0.017.
    assert_allclose(way.minimiser, best, rtol=0, atol=0.1 if batch_size == 1 else 0.03)


def test_averaging_a_constant_step_comes_closer():
    X, y, best = regression()

    def gradient(b, rows):
        return X[rows].T @ (X[rows] @ b - y[rows]) / len(rows)

    # The error of the average is a third of that of the last point: 3 losses in 8 are below 1e-2.
    wins = 0
    for seed in range(8):
        last, mean = (
            stochastic_gradient(
                gradient,
                [0.0, 0.0],
                200,
                step=0.1,
                batch_size=1,
                max_epochs=8,
                average=average,
                random_state=seed,
            ).minimiser
            for average in (False, True)
        )
        wins += np.linalg.norm(mean - best) < np.linalg.norm(last - best)
    assert wins >= 6


def test_stochastic_gradient_on_all_rows_is_gradient_descent():
    X, y, _ = regression()
    step = Decaying(0.5, 10.0, 0.7)

    def objective(b):
        return float(np.mean((X @ b - y) ** 2) / 2)

    def gradient(b, rows=slice(None)):
        return X[rows].T @ (X[rows] @ b - y[rows]) / 200

    one = gradient_descent(objective, gradient, [0.0, 0.0], step=step, max_iter=30, tol=0.0)
    other = stochastic_gradient(
        gradient, [0.0, 0.0], 200, objective=objective, step=step, batch_size=200,
        max_epochs=30, shuffle=False,
    )  # fmt: skip
    assert_array_equal(one.points, other.points)
    assert_array_equal(one.objectives, other.objectives)


def test_stochastic_gradient_goes_on_where_it_stopped():
    X, y, _ = regression()

    def gradient(b, rows):
        return X[rows].T @ (X[rows] @ b - y[rows]) / len(rows)

    kind = {"batch_size": 50, "shuffle": False, "step": Decaying(0.5, 3.0, 0.8)}
    whole = stochastic_gradient(gradient, [0.0, 0.0], 200, max_epochs=4, **kind)
    half = stochastic_gradient(gradient, [0.0, 0.0], 200, max_epochs=2, **kind)
    rest = stochastic_gradient(gradient, half.minimiser, 200, max_epochs=2, first_step=8, **kind)
    assert_array_equal(rest.minimiser, whole.minimiser)


def test_the_same_seed_gives_the_same_bits_and_another_does_not():
    X, y, _ = regression()

    def run(seed):
        return stochastic_gradient(
            lambda b, rows: X[rows].T @ (X[rows] @ b - y[rows]), [0.0, 0.0], 200,
            step=0.01, max_epochs=3, random_state=seed,
        ).minimiser  # fmt: skip

    assert_array_equal(run(3), run(3))
    assert (run(3) != run(4)).any()


def test_stochastic_gradient_stops_when_the_objective_rests_and_when_it_explodes():
    X, y, _ = regression()

    def gradient(b, rows):
        return X[rows].T @ (X[rows] @ b - y[rows]) / len(rows)

    def objective(b):
        return float(np.mean((X @ b - y) ** 2))

    way = stochastic_gradient(
        gradient, [0.0, 0.0], 200, objective=objective, tol=1e-3, max_epochs=1000, random_state=0
    )
    assert way.converged
    assert way.n_iter < 100
    way = stochastic_gradient(gradient, [0.0, 0.0], 200, step=1e6, max_epochs=1000, random_state=0)
    assert not way.converged
    assert "shorter steps" in way.reason
    assert np.isfinite(way.minimiser).all()
