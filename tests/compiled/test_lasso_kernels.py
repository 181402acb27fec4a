"""The loops of the lasso uncompiled: the same numbers, and none is read before it is written."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from empirisk.compiled import lasso, lasso_support, lasso_walk
from empirisk.solvers import lasso as solver
from empirisk.solvers.lasso import GramProblem, Stopping
from tolerances import LAST_BITS, SUMMED


class Poisoned:
    """NumPy, but new arrays are full of what must not be read."""

    def __getattr__(self, name):
        return getattr(np, name)

    def empty(self, shape, dtype=float):
        return np.full(shape, np.nan if dtype is float else np.iinfo(dtype).max, dtype)


def solved(X, y, alphas, ridge, positive):
    m = X.shape[1]
    problem = GramProblem(X.T @ X, X.T @ y, float(y @ y))
    problem.factor[:], problem.gradient[:] = np.nan, np.nan
    problem.order[:] = np.iinfo(np.int64).max
    thresholds, ridges = np.outer(alphas, np.ones(m)), np.full((len(alphas), m), ridge)
    thresholds[:, 0] = 0.0  # free of penalty
    return problem.solve_all(thresholds, ridges, positive, Stopping(1e-10, 1000))


@pytest.mark.parametrize("positive", [False, True])
@pytest.mark.parametrize("ridge", [0.0, 2.0])
@pytest.mark.parametrize("m", [1, 8, 45])
def test_python_originals_find_the_same_and_read_nothing_too_soon(m, ridge, positive, monkeypatch):
    rng = np.random.default_rng(m)
    X = rng.normal(size=(60, m)) + rng.normal(size=(60, 1))
    y = X @ np.where(np.arange(m) % 2 < 1, 2.0, -0.5) + rng.normal(size=60)
    alphas = np.array([50.0, 45.0, 5.0])
    known = solved(X, y, alphas, ridge, positive)
    for module in (lasso, lasso_support, lasso_walk):
        monkeypatch.setattr(module, "np", Poisoned())
    monkeypatch.setattr(solver, "lasso_path_on_gram", lasso.lasso_path_on_gram.py_func)
    found = solved(X, y, alphas, ridge, positive)
    assert_allclose(found.coef, known.coef, rtol=1e-9, atol=1e-11)  # condition number below 1e3
    assert_array_equal(found.sweeps, known.sweeps)
    assert known.reached.all()
    assert found.reached.all()
    b = known.coef[-1]  # the optimality conditions at the last penalty
    slope, at = X.T @ (y - X @ b) - ridge * b, np.where(np.arange(m) > 0, alphas[-1], 0.0)
    assert_allclose(slope[b != 0], (at * np.sign(b))[b != 0], rtol=0, atol=SUMMED * (y @ y))
    assert ((slope if positive else np.abs(slope)) <= at + SUMMED * (y @ y)).all()


@pytest.mark.parametrize("seed", range(60))
def test_a_step_for_a_support_ends_at_its_minimiser_or_at_the_first_change_of_sign(seed):
    """Or, if that is lower, where all that would change their signs are zero."""
    rng = np.random.default_rng(seed)
    X, m = rng.normal(size=(6, 4)) + rng.normal(size=(6, 1)), 4
    gram, right, threshold = X.T @ X, rng.normal(size=m) * 3, rng.uniform(0, 2, size=m)
    threshold[0] *= seed % 3 > 0  # free of penalty, it may have any sign
    before = rng.choice([-1.0, 1.0], size=m) * rng.uniform(0.01, 1, size=m)
    coef, gradient = before.copy(), right - gram @ before
    factor, order, size = np.empty((m, m)), np.empty(m, np.int64), np.zeros(1, np.int64)
    settled = lasso_support.solve_support(
        gram, np.zeros(m), threshold, False, coef, gradient, factor, order, size
    )

    def objective(b):
        return b @ gram @ b / 2 - right @ b + threshold @ np.abs(b)

    assert_allclose(gradient, right - gram @ coef, rtol=0, atol=SUMMED)
    assert objective(coef) < objective(before)
    best = np.linalg.solve(gram, right - threshold * np.sign(before))
    crossed = (best * before <= 0) & (threshold > 0)
    assert settled == (not crossed.any())
    if settled:
        assert_allclose(coef, best, rtol=0, atol=SUMMED)
        return
    assert (coef == 0).any()
    clipped = np.where(crossed, 0.0, best)
    first = (before / (before - best))[crossed].min()
    lower = objective(clipped) < objective(before)
    assert_allclose(
        coef, clipped if lower else before + first * (best - before), rtol=0, atol=SUMMED
    )


def test_a_column_that_depends_on_another_moves_where_the_penalty_falls():
    gram, nothing = np.full((2, 2), 4.0), np.zeros(2)  # its root is exact
    factor, order = np.empty((2, 2)), np.empty(2, np.int64)
    assert lasso_support.enter(gram, nothing, 0, factor, order, 0)
    assert not lasso_support.enter(gram, nothing, 1, factor, order, 1)
    for threshold, coef, way in [
        ([1.0, 1.0], [0.5, 0.5], -1.0),  # what one loses the other gains: towards zero
        ([1.0, 1.0], [-0.5, -0.5], 1.0),
        ([1.0, 1.0], [0.5, -0.5], 1.0),
        ([1.0, 2.0], [0.5, 0.5], -1.0),
        ([2.0, 1.0], [0.5, 0.5], 1.0),
        ([2.0, 1.0], [-0.5, -0.5], -1.0),
    ]:
        args = np.array(threshold), np.array(coef), factor, order
        assert lasso_support.fall(1, *args, 1) == way


@pytest.mark.parametrize("nearest", [0, 1, 2])
@pytest.mark.parametrize("way", [-1.0, 1.0])
def test_what_a_dependent_column_gives_up_the_others_take(way, nearest):
    """The third column is the sum of the others: all three move alike until one is zero."""
    X = np.array([[2.0, 1.0, 3.0], [0.0, 3.0, 3.0], [1.0, 0.0, 1.0]])
    gram, nothing = X.T @ X, np.zeros(3)
    factor, order = np.empty((3, 3)), np.empty(3, np.int64)
    for s in range(2):
        assert lasso_support.enter(gram, nothing, s, factor, order, s)
    assert not lasso_support.enter(gram, nothing, 2, factor, order, 2)
    before = np.array([0.7, 0.7, -0.7]) * way
    before[nearest] *= 0.2  # the first to come to zero
    coef = before.copy()
    i = lasso_support.leave_dependence(
        2, way, np.ones(3), False, np.sign(before), coef, factor, order, 2
    )
    assert i == (nearest if nearest < 2 else -1)
    assert_allclose(coef, before + 0.14 * way * np.array([-1, -1, 1]), rtol=0, atol=LAST_BITS)
    assert coef[nearest] == 0


def test_a_walk_begins_at_the_thresholds_of_which_the_start_is_the_minimiser():
    gram, nothing, start = np.eye(4), np.zeros(4), np.full(4, 2.0)
    threshold, coef = np.array([1.0, 1.0, 0.0, 1.0]), np.array([0.5, -0.5, 0.0, 0.0])
    gradient, size = np.array([1.9, 1.8, 0.0, -3.0]), np.array([2])
    at, rate, sign = lasso_walk.begin(
        gram, nothing, start, threshold, False, coef, gradient, np.eye(4), np.arange(4), size
    )
    assert_array_equal(at, [1.9, -1.8, 2.0, 3.0])
    assert_array_equal(rate, threshold - at)
    assert_array_equal(sign, [1.0, -1.0, 0.0, 0.0])
    assert size[0] == 2


def test_a_gradient_beyond_its_threshold_by_rounding_is_not_beyond_it():
    diagonal, threshold, square = np.array([4.0]), np.array([3.0]), 1e10
    for sign in (1, -1):
        for share, beyond in ((0.5e-13, False), (2e-13, True)):  # of |x| |y| = 2e5
            gradient = sign * (threshold + share * 2e5)
            excess = lasso.excess(0, diagonal, threshold, False, square, gradient)
            assert (excess > 0) == beyond
    assert lasso.excess(0, diagonal, threshold, True, square, gradient) < 0


def test_a_column_is_watched_once():
    near = np.array([4, 2, 7, 0, 0])
    assert lasso_walk.list_once(near, 3, 2) == 3
    assert lasso_walk.list_once(near, 3, 7) == 3
    assert lasso_walk.list_once(near, 3, 5) == 4
    assert_array_equal(near, [4, 2, 7, 5, 0])
