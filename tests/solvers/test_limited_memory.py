"""L-BFGS without Hessians, and the last digits by quasi-Newton steps from its pairs."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from empirisk.runtime.deadlines import deadline
from empirisk.runtime.errors import DeadlineError
from empirisk.solvers.limited_memory import limited_memory
from empirisk.solvers.quasi_newton import Diagonal, quasi_newton


def quadratic(seed=0, p=30, condition=1e3):
    rng = np.random.default_rng(seed)
    Q = np.linalg.qr(rng.normal(size=(p, p)))[0]
    A = Q * np.geomspace(1, condition, p) @ Q.T
    best = rng.normal(size=p)
    return (lambda x: (0.5 * (x - best) @ A @ (x - best) + 1.0, A @ (x - best))), A, best


def test_together_they_reach_more_digits_than_values_show():
    function, A, best = quadratic()
    diagonal = np.diag(A).copy()
    arrival = limited_memory(function, np.zeros(30), diagonal, max_iter=1000)
    found = quasi_newton(
        function,
        arrival.point,
        lambda _: Diagonal(diagonal),
        inverse=arrival.inverse,
        seen=arrival.seen,
        cost=np.inf,
        max_iter=1000,
    )
    assert found.ending == "converged"
    error = found.point - best
    assert np.sqrt(error @ A @ error) < 1e-9  # ten times tol: the decrement is an estimate


def test_units_of_the_variables_change_nothing():
    function, A, _ = quadratic(condition=100)
    unit = np.logspace(-6, 6, 30)

    def other(x):
        value, gradient = function(x * unit)
        return value, gradient * unit

    one = limited_memory(function, np.zeros(30), np.diag(A), max_iter=15)
    two = limited_memory(other, np.zeros(30), np.diag(A) * unit**2, max_iter=15)
    assert one.n_iter == two.n_iter == 15
    assert_allclose(two.point * unit, one.point, rtol=1e-6)  # rounding, grown by 15 steps


def test_it_ends_where_it_is_told():
    function, A, _ = quadratic()
    diagonal = np.diag(A).copy()
    assert limited_memory(function, np.zeros(30), diagonal, max_iter=7).n_iter == 7
    few = limited_memory(function, np.zeros(30), diagonal, max_calls=9)
    assert 9 <= few.n_calls < 9 + 20  # it ends its line search
    floor = limited_memory(function, np.zeros(30), diagonal, floor=2.0, max_iter=1000)
    assert 1 < function(floor.point)[0] <= 2
    with deadline(0), pytest.raises(DeadlineError):
        limited_memory(function, np.zeros(30), diagonal)
