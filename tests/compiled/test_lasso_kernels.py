"""The loops of the lasso uncompiled: the same numbers, and none is read before it is written."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from empirisk.compiled import lasso, lasso_support, lasso_walk
from empirisk.solvers import lasso as solver
from empirisk.solvers.lasso import GramProblem, Stopping


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
    assert_allclose(slope[b != 0], (at * np.sign(b))[b != 0], atol=1e-9 * (y @ y))
    assert ((slope if positive else np.abs(slope)) <= at + 1e-9 * (y @ y)).all()
