"""Coordinate descent on functions with known minima."""

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from empirisk import Lasso
from empirisk.runtime.errors import ParameterError
from empirisk.solvers import coordinate_descent

H = np.array([[3.0, 1.0], [1.0, 2.0]])
TARGET = np.array([1.0, -2.0])


def bowl(b):
    return float((b - TARGET) @ H @ (b - TARGET) / 2)


def bowl_gradient(b):
    return H @ (b - TARGET)


COORDINATE_RULES = {
    "objective alone": {},
    "update": {"update": lambda b, j: b[j] - bowl_gradient(b)[j] / H[j, j]},
    "derivative": {"derivative": lambda b, j: bowl_gradient(b)[j]},
}


@pytest.mark.parametrize("rule", COORDINATE_RULES)
def test_coordinate_descent_finds_the_bottom_of_a_bowl(rule):
    way = coordinate_descent(bowl, [5.0, 5.0], **COORDINATE_RULES[rule], tol=1e-7)
    assert way.converged
    # Brent's method knows a coordinate to the root of the rounding of the objective.
    assert_allclose(way.minimiser, TARGET, rtol=1e-5 if rule == "objective alone" else 1e-6)
    # A sweep takes away 5/6 of the distance in one coordinate, whatever finds its best value.
    one = coordinate_descent(bowl, [5.0, 5.0], **COORDINATE_RULES[rule], max_iter=1)
    first = 1 - (5.0 + 2) / 3
    assert_allclose(one.minimiser, [first, -2 - (first - 1) / 2], rtol=1e-6)  # by Brent


def test_coordinate_descent_says_where_no_value_is_best():
    way = coordinate_descent(lambda b: -b[0], [0.0], derivative=lambda b, j: -1.0)
    assert not way.converged
    assert "not finite" in way.reason
    way = coordinate_descent(bowl, [0.0, 0.0], derivative=lambda b, j: np.nan)
    assert "coordinate 0 is not finite in sweep 0" in way.reason
    for rule in ({}, {"update": lambda b, j: b[j]}):
        way = coordinate_descent(lambda b: 7.0, [3.0, 4.0], **rule)  # everywhere the least
        assert way.converged
        assert way.objective == 7.0


def test_coordinate_descent_stays_where_the_objective_is_finite():
    def barrier(b):
        return float(np.sum(b - np.log(b))) if (b > 0).all() else np.nan

    way = coordinate_descent(barrier, [0.1, 30.0])
    assert_allclose(way.minimiser, [1.0, 1.0], rtol=1e-6)  # the root of the rounding of 2


def test_coordinate_descent_solves_a_lasso():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 3)), rng.normal(size=40)
    X[:, 2] *= 0.01

    def objective(b):
        return float(np.sum((y - X @ b) ** 2) / 2 + 5 * np.abs(b).sum())

    way = coordinate_descent(objective, np.ones(3), tol=1e-9)
    slope = X.T @ (X @ way.minimiser - y)
    zero = np.abs(way.minimiser) < 1e-6  # no coordinate is known to more than 1e-8
    assert (np.abs(slope[zero]) <= 5).all()
    # The coordinates are known to about 1e-8, the curvatures are about 40.
    assert_allclose(slope[~zero], -5 * np.sign(way.minimiser[~zero]), rtol=0, atol=0.0001)
    assert zero[2]


@pytest.mark.parametrize("size", [1e-3, 1.0, 1e3])
def test_the_derivative_of_a_lasso_leads_to_coefficients_that_are_zero(size):
    """At 0 it jumps: it is a number between the slopes on both sides, and not 0."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 4))
    y = size * (X @ [2.0, 0.0, -1.0, 0.0] + rng.normal(size=30))

    def objective(b):
        return float(((y - X @ b) ** 2).sum() / 60 + size / 3 * np.abs(b).sum())

    def slope(b, j):
        return float(X[:, j] @ (X @ b - y) / 30 + size / 3 * np.sign(b[j]))

    for start in (np.ones(4), np.zeros(4), np.array([-3.0, 1e-8, 1e6, -1.0])):
        way = coordinate_descent(objective, start, derivative=slope)
        assert way.converged
        lasso = Lasso(alpha=size / 3, fit_intercept=False).fit(X, y)
        assert_array_equal(way.minimiser == 0, lasso.coef_ == 0)
        assert_allclose(way.minimiser, lasso.coef_, rtol=1e-7)  # sweeps end at moves of 1e-8


@pytest.mark.parametrize("kink", [0.0, 0.3, -7.0, 1e-200, 1e9])
def test_a_kink_is_found_wherever_it_is(kink):
    def slope(b, j):
        return float(np.sign(b[j] - kink))

    way = coordinate_descent(lambda b: float(abs(b[0] - kink)), [1.0], derivative=slope)
    assert way.converged
    assert_allclose(way.minimiser, kink, rtol=1e-14)  # to all digits


def test_a_coordinate_that_rested_moves_when_the_others_have():
    way = coordinate_descent(lambda b: (b[0] - b[1]) ** 2 + (b[1] - 1) ** 2, [0.0, 0.0])
    assert way.converged
    # Each sweep halves the distance; the last one moved nothing by more than 1e-8.
    assert_allclose(way.minimiser, [1.0, 1.0], rtol=1e-7)


def lasso_by_enumeration(X, y, strength):
    """The lowest of the stationary points of all patterns of signs: one of them is the minimum."""
    found = []
    for signs in product([-1.0, 0.0, 1.0], repeat=X.shape[1]):
        used, b = np.flatnonzero(signs), np.zeros(X.shape[1])
        Z = X[:, used]
        b[used] = np.linalg.solve(Z.T @ Z, Z.T @ y - strength * np.array(signs)[used])
        found.append(np.sum((y - X @ b) ** 2) / 2 + strength * np.abs(b).sum())
    return min(found)


@pytest.mark.parametrize("seed", range(60))
def test_the_objective_alone_leads_to_the_minimum_of_every_small_lasso(seed):
    rng = np.random.default_rng(seed)
    p = int(rng.integers(2, 5))
    X = rng.normal(size=(20, p)) @ (np.eye(p) + 0.5 * rng.normal(size=(p, p)))
    y = X @ rng.normal(size=p) + rng.normal(size=20)
    strength = rng.uniform() * np.abs(X.T @ y).max()

    def objective(b):
        return float(np.sum((y - X @ b) ** 2) / 2 + strength * np.abs(b).sum())

    way = coordinate_descent(objective, np.zeros(p) if seed % 2 else rng.normal(size=p))
    assert way.converged
    # Moves of 1e-8 are squared in the objective: what is left are its rounding errors.
    assert way.objective <= lasso_by_enumeration(X, y, strength) * (1 + 1e-12)


def test_an_update_that_goes_up_is_an_error():
    with pytest.raises(ParameterError, match="raised the objective"):
        coordinate_descent(bowl, [1.0, -2.0], update=lambda b, j: b[j] + 1)
    with pytest.raises(ParameterError, match="`derivative` does not lead"):
        coordinate_descent(bowl, [0.0, 0.0], derivative=lambda b, j: b[j] - 7)
    with pytest.raises(ParameterError, match="give one of them"):
        coordinate_descent(bowl, [0.0, 0.0], update=max, derivative=max)
