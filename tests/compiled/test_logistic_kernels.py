"""Loops of the logistic loss beside SciPy: compiled, and as Python runs them.

Scores reach 40, where a probability differs from 1 by less than rounding, and 1e4, whose exp is no
number.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import expit, log_softmax, softmax

from empirisk.compiled import logistic
from tolerances import LAST_BITS, SUMMED

SAME = {"rtol": 1e-12, "atol": 1e-15}  # sums of seven terms of either sign
both_ways = pytest.mark.parametrize("run", [lambda f: f, lambda f: f.py_func], ids=["c", "python"])


def rows(n_classes):
    rng = np.random.default_rng(n_classes)
    scores = rng.normal(size=(7, n_classes)) * 5
    scores[0], scores[1] = 0.0, 40.0 * np.cos(np.arange(n_classes))
    scores[2] += 1e4
    return scores, rng.integers(0, n_classes, size=7), rng.uniform(0.1, 3, size=7)


@both_ways
def test_two_classes(run):
    scores, y, weight = rows(2)
    f, residual, root = scores[:, 0].copy(), np.empty((7, 1)), np.empty(7)
    total = run(logistic.logistic_rows)(f, y, weight, residual[:, 0])
    assert_allclose(total, weight @ np.logaddexp(0, np.where(y == 1, -f, f)), **SAME)
    assert_allclose(residual[:, 0], weight * (expit(f) - y), rtol=SUMMED, atol=LAST_BITS)
    run(logistic.logistic_curvature)(f, weight, root)
    assert_allclose(root, np.sqrt(weight * expit(f) * expit(-f)), rtol=SUMMED)


@pytest.mark.parametrize("n_classes", [3, 5])
@both_ways
def test_many_classes(run, n_classes):
    scores, y, weight = rows(n_classes)
    residual, share, own = scores.copy(), scores.copy(), np.eye(n_classes)[y]
    total = run(logistic.softmax_rows)(residual, y, weight)
    assert_allclose(total, -weight @ log_softmax(scores, axis=1)[np.arange(7), y], **SAME)
    assert_allclose(residual, weight[:, None] * (softmax(scores, axis=1) - own), **SAME)
    run(logistic.softmax_probabilities)(share)
    assert_allclose(share, softmax(scores, axis=1), rtol=SUMMED)


@pytest.mark.parametrize("intercept", [False, True])
@both_ways
def test_rows_are_weighed(run, intercept):
    rng = np.random.default_rng(0)
    X, centre, root = rng.normal(size=(6, 3)), rng.normal(size=3), rng.uniform(size=6)
    Z = np.full((6, 3 + intercept), np.nan)
    run(logistic.weigh_rows)(X, centre, root, Z)
    design = np.column_stack([X - centre, np.ones(6)])[:, : 3 + intercept]
    assert_array_equal(Z, design * root[:, None])
