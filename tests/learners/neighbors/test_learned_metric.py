"""A metric learned from the targets: its gradient, what it finds, what it does not depend on."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import approx_fprime

from empirisk import KNeighborsClassifier, KNeighborsRegressor, risk
from empirisk.learners.neighbors.learned_metric import MOST_ROWS, _Learning, learned_metric
from tolerances import SUMMED


def noisy(n, seed=0):
    """Two columns that matter, four that do not; one of these is the largest."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6)) * [1.0, 1.0, 1.0, 1.0, 1.0, 50.0]
    y = np.sin(2 * X[:, 0]) + X[:, 1]
    return X, y + 0.1 * rng.normal(size=n), (y > 0).astype(np.int64)


@pytest.mark.parametrize("classes", [False, True])
def test_the_gradient_is_that_of_differences(classes):
    X, y, labels = noisy(30)
    Z = X[:, :3]
    Z[4] = Z[7]  # at one place
    weight = np.random.default_rng(1).uniform(0.5, 2, 30)
    target, K = (labels, 2) if classes else (y, 0)
    learning = _Learning(Z, target, weight, K)
    A = np.random.default_rng(2).normal(size=9)
    numeric = approx_fprime(A, lambda a: learning.cost(a)[0], 1e-7)
    assert_allclose(learning.cost(A)[1], numeric, rtol=0, atol=1e-06)  # differences of step 1e-7


def test_the_cost_is_that_of_its_definition():
    X = noisy(20)[0]
    Z, weight = X[:, :2], np.random.default_rng(1).uniform(0.5, 2, 20)
    A = np.array([[1.0, 0.3], [-0.5, 2.0]])
    labels = np.arange(20) % 3
    cost = 0.0
    for i in range(20):
        chance = weight * np.exp(-(((Z @ A - Z[i] @ A) ** 2).sum(axis=1)))
        chance[i] = 0
        cost -= weight[i] * (chance * (labels == labels[i])).sum() / chance.sum()
    found = _Learning(Z, labels, weight, 3).cost(A.reshape(-1))[0]
    assert found == pytest.approx(cost / weight.sum(), rel=SUMMED)


def test_columns_that_do_not_matter_are_forgotten():
    """Held out, the risk falls by half at least, where the noise of 300 rows is some percent."""
    X, y, labels = noisy(400)
    new, truth, classes = noisy(400, seed=1)
    for learner, target, asked in (
        (KNeighborsRegressor, y, truth),
        (KNeighborsClassifier, labels, classes),
    ):
        plain, learned = (
            risk.evaluate(learner(5, **how).fit(X, target), new, asked).value
            for how in ({"standardize": True}, {"metric": "learned"})
        )
        assert learned < 0.5 * plain


def test_rows_may_come_in_any_order_and_columns_in_any_unit():
    X, y, _ = noisy(120)
    order = np.random.default_rng(1).permutation(120)
    metric = learned_metric(X, y, np.ones(120), 0)
    other = learned_metric(X[order], y[order], np.ones(120), 0)
    assert_array_equal(metric.matrix, other.matrix)
    scaled = learned_metric(X * 2.0 ** np.arange(6), y, np.ones(120), 0)
    assert_array_equal(scaled.place(X * 2.0 ** np.arange(6)), metric.place(X))


def test_of_many_rows_some_are_taken():
    X, y, _ = noisy(MOST_ROWS + 500)
    metric = learned_metric(X, y, np.ones(len(y)), 0)
    pull = np.abs(metric.matrix * X.std(axis=0)[:, None]).sum(axis=1)
    assert pull[:2].min() > 2 * pull[2:].max()
