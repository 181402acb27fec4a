"""Many small systems at once, against one at a time."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from empirisk.solvers.many_systems import HARMLESS, solve_each
from tolerances import SUMMED

rng = np.random.default_rng(0)


def positive_definite(m, p):
    Z = rng.normal(size=(m, 3 * p, p))
    return Z.transpose(0, 2, 1) @ Z


@pytest.mark.parametrize(("m", "p", "k"), [(1, 1, 1), (4, 3, 2), (7, 12, 1)])
@pytest.mark.parametrize("unit", [1e-60, 1.0, 1e60])
@pytest.mark.parametrize("common", [0.0, 30.0])
def test_solutions_and_condition_numbers_are_those_of_each_system(m, p, k, unit, common):
    A, b = positive_definite(m, p) + common, rng.normal(size=(m, p, k))
    units = np.where(np.arange(p) % 2, unit, 1.0)
    found, condition = solve_each(A * units * units[:, None], b * units[:, None])
    for i in range(m):
        # Condition numbers below 1e4.
        assert_allclose(found[i] * units[:, None], np.linalg.solve(A[i], b[i]), rtol=1e-11)
        length = np.sqrt(np.diagonal(A[i]))
        scaled = A[i] / np.outer(length, length)
        if condition[i] <= HARMLESS:
            assert np.linalg.cond(scaled, 2) <= condition[i]
        else:
            # An estimate from below, mostly within a factor of 3 (Higham 2002, section 15.3).
            least = np.linalg.cond(scaled, 1) / 3
            assert least <= condition[i] <= 3 * least * (1 + 1e-10)


def test_a_bound_stands_in_for_harmless_condition_numbers_alone():
    independent, alike = np.eye(5), np.full((5, 5), 0.9) + 0.1 * np.eye(5)
    condition = solve_each(np.array([independent, alike]), np.ones((2, 5, 1)))[1]
    assert 1 < condition[0] <= HARMLESS  # e p, whatever the matrix
    assert_allclose(condition[1], np.linalg.cond(alike, 1), rtol=SUMMED)


def test_what_is_not_positive_definite_has_an_infinite_condition_number():
    A = np.array([[[1.0, 2.0], [2.0, 1.0]], [[0.0, 0.0], [0.0, 1.0]], [[2.0, 1.0], [1.0, 2.0]]])
    found, condition = solve_each(A.copy(), np.ones((3, 2, 1)))
    assert np.isinf(condition[:2]).all()
    assert 3.0 <= condition[2] <= HARMLESS
    assert_allclose(found[2, :, 0], 1 / 3, rtol=SUMMED)
