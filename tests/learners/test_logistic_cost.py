"""The way that "auto" takes to a fit, along paths of many coefficients; limits of time."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import empirisk.learners.linear.logistic_loss as loss_module
import empirisk.solvers.inverse_hessian as inverse_module
import empirisk.solvers.proximal_newton as proximal_module
from empirisk import LogisticRegression
from empirisk.learners.linear.logistic_cost import Cost
from empirisk.learners.linear.logistic_loss import LogisticLoss, zero_sum_basis
from empirisk.learners.linear.logistic_objective import Penalty
from empirisk.runtime.deadlines import deadline
from empirisk.runtime.errors import DeadlineError
from empirisk.solvers.inverse_hessian import cholesky_factor, inverse_hessian
from tolerances import SOLVED, SUMMED


def indicators(n, p, n_classes, seed=0):
    """Columns of zeros and ones, and classes that depend on them."""
    rng = np.random.default_rng(seed)
    X = (rng.random((n, p)) < 0.3).astype(float)
    scores = X @ rng.normal(size=(p, n_classes)) * 2 + rng.gumbel(size=(n, n_classes))
    return X, scores.argmax(axis=1)


@pytest.fixture
def hessians(monkeypatch):
    """Sizes of the Hessians that are computed."""
    sizes = []
    whole = LogisticLoss.hessian

    def counted(loss, theta):
        sizes.append(len(theta))
        return whole(loss, theta)

    monkeypatch.setattr(LogisticLoss, "hessian", counted)
    return sizes


def test_many_classes_are_fitted_without_hessians_that_cost_more_than_gradients(hessians):
    X, y = indicators(400, 60, 20)
    auto = LogisticRegression().fit(X, y)
    assert not hessians
    slow = LogisticRegression(solver="newton").fit(X, y)
    assert hessians
    scale = np.abs(slow.coef_).max()
    assert_allclose(auto.coef_, slow.coef_, rtol=0, atol=1e-08 * scale)  # decrements of 1e-10


def test_a_hessian_of_many_classes_costs_more_than_one_of_as_many_columns():
    two = Cost(n=1000, width=900, n_classes=2, size=900)
    many = Cost(n=1000, width=50, n_classes=19, size=900)
    assert many.hessian > 2 * Cost(n=1000, width=50, n_classes=2, size=50).hessian
    assert 1 < two.hessian < two.inverse / two.evaluation
    # Measured: 430 evaluations for the 1,782 coefficients of 683 rows, 126 for 2,001 of 20,000.
    assert 200 < Cost.of(_loss(683, 98, 19)).inverse / Cost.of(_loss(683, 98, 19)).evaluation < 900
    wide = Cost(n=20_000, width=2001, n_classes=2, size=2001)
    assert 60 < wide.inverse / wide.evaluation < 250


def _loss(n, p, n_classes):
    y = np.arange(n) % n_classes
    return LogisticLoss(np.zeros((n, p)), y, np.ones(n), n_classes, np.zeros(p), True)


@pytest.mark.parametrize(
    ("n", "p", "n_classes", "most"),
    # 56 to 59 where each fit computes its own; of more columns than rows a Hessian is cheap.
    [(300, 40, 12, 40), (500, 400, 2, 40), (320, 500, 2, 60)],
)
def test_a_path_shares_hessians_and_equals_single_fits(hessians, n, p, n_classes, most):
    X, y = indicators(n, p, n_classes)
    values = np.geomspace(1e-2, 1e5, 60)
    path = LogisticRegression().fit_path(X, y, np.ones(n), values, n_classes=n_classes)
    assert 0 < len(hessians) <= most
    for j in (10, 35, 59):
        alone = LogisticRegression(C=values[j], solver="newton").fit(X, y)
        scores = alone.decision_function(X)
        # Decrements of 1e-10, in a metric that a stale Hessian errs in by a factor of two.
        assert_allclose(
            path.at(j).decision_function(X), scores, rtol=0, atol=1e-07 * np.abs(scores).max()
        )


def test_values_of_a_path_that_lie_far_apart_are_fitted_as_well():
    X, y = indicators(300, 40, 12)
    values = [1e3, 1e-3, 1e-2, 1e5]
    path = LogisticRegression().fit_path(X, y, np.ones(300), values, n_classes=12)
    for j in range(4):
        alone = LogisticRegression(C=values[j], solver="newton").fit(X, y)
        scores = alone.decision_function(X)
        found = path.at(j).decision_function(X)
        # Decrements of tol = 1e-10, about the relative error of the scores.
        assert_allclose(found, scores, rtol=0, atol=1e-8 * np.abs(scores).max())


@pytest.mark.parametrize("symmetric", [False, True])
def test_the_hessian_of_many_classes_is_the_sum_over_rows(symmetric):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 3)), np.arange(30) % 5
    weight = rng.uniform(0.5, 2, size=30)
    loss = LogisticLoss(X, y, weight, 5, X.mean(axis=0), True, symmetric=symmetric)
    theta = rng.normal(size=loss.size)
    Z = np.column_stack([X - X.mean(axis=0), np.ones(30)])
    basis = np.eye(5) if symmetric else zero_sum_basis(5)
    P = np.exp(Z @ theta.reshape(-1, 4).T @ basis.T)
    P /= P.sum(axis=1, keepdims=True)
    slow = sum(
        w * np.kron(basis.T @ (np.diag(p) - np.outer(p, p)) @ basis, np.outer(z, z))
        for w, p, z in zip(weight, P, Z, strict=True)
    )
    assert_allclose(loss.hessian(theta), slow, rtol=0, atol=1e-12 * np.abs(slow).max())  # 30 terms


@pytest.mark.parametrize("n", [7, 8, 9, 30])
def test_a_factor_in_strips_is_the_factor(monkeypatch, n):
    rng = np.random.default_rng(n)
    G = rng.normal(size=(n + 5, n))
    A = G.T @ G
    monkeypatch.setattr(inverse_module, "AT_ONCE", 8)
    assert_allclose(np.tril(cholesky_factor(A)), np.linalg.cholesky(A), rtol=SOLVED, atol=SUMMED)
    g = rng.normal(size=n)
    assert_allclose(A @ inverse_hessian(A).solve(g), g, rtol=1e-6)  # condition below 1e6
    A[n - 1, n - 1] = -1.0
    with pytest.raises(np.linalg.LinAlgError):
        cholesky_factor(A)


def test_a_factor_and_a_hessian_look_at_the_clock(monkeypatch):
    monkeypatch.setattr(inverse_module, "AT_ONCE", 8)
    with deadline(0), pytest.raises(DeadlineError):
        inverse_hessian(np.eye(9))
    looks = []
    monkeypatch.setattr(loss_module, "check_deadline", lambda: looks.append(1))
    X, _ = indicators(50, 3, 10)
    loss = LogisticLoss(X, np.arange(50) % 10, np.ones(50), 10, np.zeros(3), True)
    loss.hessian(np.zeros(loss.size))
    assert len(looks) >= 45  # pairs of classes


def test_coordinate_descent_of_many_coefficients_looks_at_the_clock_between_sweeps(monkeypatch):
    X, y = indicators(200, 20, 2)
    whole = LogisticRegression(C=0.1, l1_ratio=1).fit(X, y)
    looks = []
    monkeypatch.setattr(proximal_module, "check_deadline", lambda: looks.append(1))
    LogisticRegression(C=0.1, l1_ratio=1).fit(X, y)
    few = len(looks)
    monkeypatch.setattr(proximal_module, "AT_ONCE", 1.0)
    sliced = LogisticRegression(C=0.1, l1_ratio=1).fit(X, y)
    assert len(looks) - few > few
    assert_array_equal(sliced.coef_, whole.coef_)


def test_penalties_join_the_diagonal():
    loss = _loss(20, 2, 3)
    penalty = Penalty(2.0, 0.0, np.array([1.0, 1, 0, 1, 1, 0]))
    difference = penalty.hessian(loss, np.zeros(6)) - loss.hessian(np.zeros(6))
    assert_array_equal(difference, np.diag([2.0, 2, 0, 2, 2, 0]))
