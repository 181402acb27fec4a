"""Coordinate descent for a quadratic with an L1 penalty: the conditions of its minimum."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from empirisk.compiled.quadratic import penalised_quadratic
from tolerances import SOLVED, SUMMED


@pytest.mark.parametrize("run", [lambda f: f, lambda f: f.py_func], ids=["compiled", "python"])
@pytest.mark.parametrize("seed", range(5))
def test_it_ends_at_the_minimum_and_says_when(run, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(9, 6)) + rng.normal(size=(9, 1))
    X[:, 4] = 0.0  # no curvature: it stays
    H, gradient, start = X.T @ X, rng.normal(size=6) * 5, rng.normal(size=6)
    penalty, gradient[4] = rng.uniform(0.5, 3, size=6), 0.0
    step, slope = np.zeros(6), gradient.copy()
    assert run(penalised_quadratic)(H, start, penalty, step, slope, 1e-12, 2) == -1
    done = run(penalised_quadratic)(H, start, penalty, step, slope, 1e-12, 2000)
    assert 2 < done < 2000
    assert_allclose(slope, gradient + H @ step, rtol=0, atol=SUMMED)
    assert step[4] == 0
    end, moving = start + step, np.arange(6) != 4
    still = (end == 0) & moving
    on = (end != 0) & moving
    assert_allclose(slope[on], -penalty[on] * np.sign(end[on]), rtol=0, atol=SOLVED)
    assert (np.abs(slope[still]) <= penalty[still]).all()
    assert run(penalised_quadratic)(H, start, penalty, step, slope, 1e-12, 1) == 1
