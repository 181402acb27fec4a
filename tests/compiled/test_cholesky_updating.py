"""A Cholesky factor that grows and shrinks, beside that of NumPy: compiled, and as Python runs it.

All matrices have condition numbers below 1e3; 1e-12 leaves room for that in double precision.
"""

import numpy as np
import pytest
from numba import njit
from numpy.testing import assert_allclose

from empirisk.compiled import cholesky_updating as kernel
from tolerances import SUMMED

LEAST = 1e-10


def door(inner):
    """A compiled function that calls an inner one, of which Python would run the original."""
    return njit(error_model="numpy")(lambda *arguments: inner(*arguments))


NAMES = ("factorise", "append_column", "delete_column", "solve_factored", "solve_lower")
WAYS = {
    "compiled": {name: door(getattr(kernel, name)) for name in NAMES},
    "python": {name: getattr(kernel, name) for name in NAMES},
}
both_ways = pytest.mark.parametrize("way", WAYS)


def matrix_of(k, seed=0):
    X = np.random.default_rng(seed).normal(size=(4 * k + 3, k))
    return X.T @ X


@pytest.mark.parametrize("k", [1, 2, 63, 64, 65, 130, 200])
@both_ways
def test_the_factor_of_a_matrix_is_that_of_numpy(way, k):
    if way == "python" and k > 65:
        return
    G = matrix_of(k)
    factor = np.zeros((k, k))
    assert WAYS[way]["factorise"](G.copy(), factor, LEAST)
    assert_allclose(factor, np.linalg.cholesky(G).T, rtol=0, atol=SUMMED)


@pytest.mark.parametrize("place", [1, 40, 64, 70, 79])
def test_a_column_that_depends_on_those_before_it_is_found_in_every_panel(place):
    X = np.random.default_rng(1).normal(size=(300, 80))
    X[:, place] = X[:, :place].sum(axis=1)
    assert not WAYS["compiled"]["factorise"](X.T @ X, np.zeros((80, 80)), LEAST)


@both_ways
def test_columns_come_and_go_in_any_order(way):
    """The factor is always that of the columns that are in, in the order in which they came."""
    append, delete = WAYS[way]["append_column"], WAYS[way]["delete_column"]
    G, rng = matrix_of(9), np.random.default_rng(2)
    factor, inside = np.full((9, 9), np.nan), []
    for _ in range(60):
        k, outside = len(inside), [j for j in range(9) if j not in inside]
        if outside and (k < 2 or rng.random() < 0.55):
            j = outside[rng.integers(len(outside))]
            assert append(factor, k, G[j, inside].copy(), G[j, j], LEAST)
            inside.append(j)
        else:
            i = int(rng.integers(k))
            delete(factor, k, i)
            del inside[i]
        U = np.triu(factor[: len(inside), : len(inside)])
        assert_allclose(
            U, np.linalg.cholesky(G[np.ix_(inside, inside)]).T, rtol=SUMMED, atol=SUMMED
        )


@both_ways
def test_a_column_that_depends_on_the_others_does_not_come_in(way):
    X = np.random.default_rng(3).normal(size=(20, 4))
    X = np.column_stack([X, X @ [1.0, -2.0, 0.5, 3.0]])
    G, factor = X.T @ X, np.zeros((5, 5))
    for j in range(5):
        came_in = WAYS[way]["append_column"](factor, j, G[j, :j].copy(), G[j, j], LEAST)
        assert came_in == (j < 4)


@pytest.mark.parametrize("k", [1, 2, 7])
@both_ways
def test_systems_are_solved(way, k):
    G, b = matrix_of(k), np.random.default_rng(4).normal(size=k)
    factor = np.linalg.cholesky(G).T.copy()
    x = b.copy()
    WAYS[way]["solve_factored"](factor, k, x)
    assert_allclose(x, np.linalg.solve(G, b), rtol=SUMMED)


@pytest.mark.parametrize("new", range(6))
@both_ways
def test_what_is_known_of_a_solution_is_not_found_again(way, new):
    G, b = matrix_of(5), np.random.default_rng(5).normal(size=5)
    factor = np.linalg.cholesky(G).T.copy()
    solution = np.linalg.solve(factor.T, b)
    x = np.concatenate([solution[: 5 - new], b[5 - new :]])
    WAYS[way]["solve_lower"](factor, 5, new, x)
    assert_allclose(x, solution, rtol=SUMMED)
