"""Rows centred by class: the compiled loop and its Python original against a naive twin."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from empirisk.compiled.class_rows import centre_by_class
from tolerances import LAST_BITS


def naive(X, y, weight, n_classes):
    means, rows = np.zeros((n_classes, X.shape[1])), []
    for k in range(n_classes):
        own = y == k
        if own.any():
            means[k] = np.average(X[own], axis=0, weights=weight[own])
            rows.append(np.sqrt(weight[own])[:, None] * (X[own] - means[k]))
    return means, np.concatenate(rows)


@pytest.mark.parametrize("function", [centre_by_class, centre_by_class.py_func])
def test_rows_of_a_class_stand_together_about_their_mean(function):
    rng = np.random.default_rng(0)
    X, y, weight = rng.normal(size=(50, 3)), rng.integers(0, 4, 50), rng.uniform(0.5, 2, 50)
    y[y == 2] = 3  # a class without rows
    X[:, 1] = 0.1 * y
    count = np.bincount(y, minlength=4)
    total = np.bincount(y, weight, 4)
    mean, Z = np.zeros((4, 3)), np.empty((50, 3))
    function(X, y, weight, np.sqrt(weight), total, np.cumsum(count) - count, mean, Z)
    means, rows = naive(X, y, weight, 4)
    assert_allclose(mean, means, rtol=0, atol=1e-14)  # sums of a dozen numbers of size 1
    assert_allclose(Z, rows, rtol=0, atol=LAST_BITS)
    assert_array_equal(Z[:, 1], 0.0)  # constant within classes
