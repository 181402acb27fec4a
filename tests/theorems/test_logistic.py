"""Statements of the notes on logistic regression, checked by numbers."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import approx_fprime, minimize
from scipy.special import expit, softmax

from empirisk import LogisticRegression, losses
from empirisk.learners.linear.logistic_loss import LogisticLoss, zero_sum_basis
from tolerances import LAST_BITS, SUMMED


def sample(n=60, p=3, n_classes=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) + 1
    scores = X @ rng.normal(size=(p, n_classes)) + rng.gumbel(size=(n, n_classes))
    return X, (scores - np.median(scores, axis=0)).argmax(axis=1)


def loss_of(X, y, n_classes, symmetric=False):
    weight = np.linspace(0.5, 2, len(y))
    return LogisticLoss(X, y, weight, n_classes, X.mean(axis=0), True, None, symmetric)


def test_an_irls_step_is_a_newton_step():
    X, y = sample()
    loss = loss_of(X, y, 2)
    theta = np.array([0.3, -0.2, 0.1, 0.4])
    Z = np.column_stack([X - X.mean(axis=0), np.ones(len(y))])
    p = expit(Z @ theta)
    W = loss.weight * p * (1 - p)
    working = Z @ theta + (y - p) / (p * (1 - p))  # the response of the reweighted least squares
    irls = np.linalg.solve(Z.T @ (W[:, None] * Z), Z.T @ (W * working))
    newton = theta - np.linalg.solve(loss.hessian(theta), loss.value_and_gradient(theta)[1])
    assert_allclose(irls, newton, rtol=1e-12)  # condition number below 1e2


@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("symmetric", [False, True])
def test_gradient_and_hessian_are_the_derivatives(n_classes, symmetric):
    X, y = sample(n_classes=n_classes)
    loss = loss_of(X, y, n_classes, symmetric)
    theta = np.random.default_rng(1).normal(size=loss.size) / 2
    gradient = loss.value_and_gradient(theta)[1]
    numeric = approx_fprime(theta, lambda t: loss.value_and_gradient(t)[0])
    # Forward differences with steps of 1.5e-8, of sums of about 1e2 that are rounded to some 1e-14.
    assert_allclose(gradient, numeric, rtol=0, atol=1e-4)
    numeric = approx_fprime(theta, lambda t: loss.value_and_gradient(t)[1])
    assert_allclose(loss.hessian(theta), numeric, rtol=0, atol=1e-4)  # likewise
    eigenvalues = np.linalg.eigvalsh(loss.hessian(theta))
    assert eigenvalues.min() > -1e-12 * eigenvalues.max()  # convex, to rounding
    proper = symmetric and n_classes > 2
    assert (eigenvalues.min() < 1e-12 * eigenvalues.max()) == proper  # shifts change nothing


def test_softmax_does_not_change_with_a_shift():
    expected = [0.0900, 0.2447, 0.6652]
    X, y = sample(n_classes=3)
    model = LogisticRegression().fit(X, y)
    model.coef_ = np.zeros((3, 3))
    for shift in (0.0, 100.0):
        model.intercept_ = np.array([1.0, 2.0, 3.0]) + shift
        # Four digits are printed.
        assert_allclose(model.predict_proba(X[:1])[0], expected, rtol=0, atol=5e-5)


def test_binary_softmax_is_logistic():
    X, y = sample()
    C = 0.7
    model = LogisticRegression(C=C).fit(X, y)

    def softmax_objective(flat):
        matrix = flat.reshape(2, 4)
        share = softmax(X @ matrix[:, :3].T + matrix[:, 3], axis=1)
        # Scores +-f/2 have half of the squared norm of f: the penalty counts twice.
        penalty = (matrix[:, :3] ** 2).sum() / C
        return penalty - np.log(share[np.arange(len(y)), y]).sum()

    found = minimize(softmax_objective, np.zeros(8), tol=1e-10).x.reshape(2, 4)
    # The twin's own derivatives are differences: five digits.
    assert_allclose((found[1] - found[0])[:3], model.coef_[0], rtol=0, atol=0.0001)
    assert_allclose(found[0], -found[1], rtol=0, atol=1e-4)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_score_equations_hold_without_penalty(n_classes):
    X, y = sample(n=200, n_classes=n_classes)
    share = LogisticRegression(C=np.inf).fit(X, y).predict_proba(X)
    indicator = np.eye(n_classes)[y]
    # Sums of 200 terms of size 1; converged to a relative 1e-10.
    assert_allclose((share - indicator).sum(axis=0), 0, rtol=0, atol=1e-08)
    assert_allclose(X.T @ (share - indicator), 0, rtol=0, atol=1e-8)


def test_the_logit_margin_loss_has_the_minimiser_of_maximum_likelihood():
    X, y = sample(n=200)
    model = LogisticRegression(C=np.inf).fit(X, y)
    sign, loss = 2 * y - 1, losses.Logit()

    def risk(b):
        return loss.value(sign * (X @ b[:3] + b[3])).mean()

    best = np.append(model.coef_[0], model.intercept_)
    rng = np.random.default_rng(2)
    for _ in range(20):
        assert risk(best) < risk(best + 1e-3 * rng.normal(size=4))


def test_the_objective_tends_to_zero_along_a_separating_direction():
    X = np.random.default_rng(0).normal(size=(50, 2))
    y = (X @ [1, 2] > 0.3).astype(int)
    with pytest.warns(match="without error"):
        model = LogisticRegression(C=np.inf).fit(X, y)
    found = model.separation_
    score = X @ found.coef[0] + found.intercept[0]
    assert_array_equal(score > 0, y == 1)
    risks = [np.logaddexp(0, -c * (2 * y - 1) * score).sum() for c in (1, 10, 1e4)]
    assert risks[0] > risks[1] > risks[2]
    assert risks[2] < 1e-6


def test_boundaries_of_softmax_are_linear():
    X, y = sample(n=300, n_classes=3)
    model = LogisticRegression().fit(X, y)
    a, b = X[0], X[1]
    log_odds = np.diff(model.predict_log_proba(a + np.linspace(-2, 2, 9)[:, None] * (b - a)))
    assert_allclose(np.diff(log_odds, n=2, axis=0), 0, rtol=0, atol=SUMMED)


@pytest.mark.parametrize("n_classes", [3, 4, 7])
def test_the_basis_is_orthonormal_and_sums_to_zero(n_classes):
    basis = zero_sum_basis(n_classes)
    assert_allclose(basis.T @ basis, np.eye(n_classes - 1), rtol=0, atol=LAST_BITS)
    assert_allclose(basis.sum(axis=0), 0, rtol=0, atol=LAST_BITS)
