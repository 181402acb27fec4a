"""Statements about the lasso and the elastic net, checked on the learners themselves."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from empirisk.learners.linear.constraint_form import norm_for_penalty, penalty_for_norm
from empirisk.learners.linear.elastic_net import ElasticNet
from empirisk.learners.linear.lasso import Lasso
from empirisk.learners.linear.ridge import Ridge
from tolerances import SUMMED


def sample(n=40, p=8, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) @ (np.eye(p) + 0.2) + 3
    return X, X[:, :3] @ [2.0, -1.0, 0.5] + rng.normal(size=n)


@pytest.mark.parametrize("shape", [(40, 8), (12, 30)], ids=["tall", "wide"])
@pytest.mark.parametrize("positive", [False, True])
@pytest.mark.parametrize("ratio", [1.0, 0.4])
def test_the_optimality_conditions_hold_at_every_value_of_the_path(shape, positive, ratio):
    X, y = sample(*shape)
    factor = np.linspace(0.5, 2, X.shape[1])
    weight = np.random.default_rng(1).integers(1, 4, size=len(y))
    learner = ElasticNet(l1_ratio=ratio, positive=positive, penalty_factor=factor)
    path = learner.path(X, y, weight)
    centred = X - np.average(X, axis=0, weights=weight)
    for alpha, coef, intercept in zip(path.values, path.coef[:, 0], path.intercept, strict=True):
        residual = weight * (y - intercept - X @ coef) / weight.sum()
        slope = centred.T @ residual - alpha * (1 - ratio) * factor * coef
        limit = alpha * ratio * factor
        on = coef != 0
        # Double precision: slopes are sums of numbers of size 10.
        assert_allclose(residual.sum(), 0, rtol=0, atol=1e-12)
        assert_allclose(slope[on], (limit * np.sign(coef))[on], rtol=0, atol=SUMMED)
        assert ((slope if positive else np.abs(slope)) <= limit + 1e-12).all()
        assert (coef >= 0).all() or not positive


def test_orthonormal_columns_are_soft_thresholded():
    rng = np.random.default_rng(0)
    Q = np.linalg.qr(rng.normal(size=(20, 5)))[0]
    y = rng.normal(size=20)
    along, alpha = Q.T @ y, 0.02
    coef = Lasso(alpha, fit_intercept=False).fit(Q, y).coef_
    wanted = np.sign(along) * np.maximum(np.abs(along) - 20 * alpha, 0)
    assert 0 < np.count_nonzero(wanted) < 5
    assert_allclose(coef, wanted, rtol=0, atol=SUMMED)


def test_the_elastic_net_is_a_lasso_on_more_rows():
    X, y = sample()
    n, p = X.shape
    X, y, alpha, ratio = X - X.mean(axis=0), y - y.mean(), 0.3, 0.4
    more = np.vstack([X, np.sqrt(n * alpha * (1 - ratio)) * np.eye(p)])
    target = np.append(y, np.zeros(p))
    lasso = Lasso(alpha * ratio * n / (n + p), fit_intercept=False).fit(more, target)
    net = ElasticNet(alpha, l1_ratio=ratio).fit(X, y)
    assert_allclose(net.coef_, lasso.coef_, rtol=0, atol=SUMMED)


def test_an_elastic_net_without_absolute_values_is_ridge():
    X, y = sample()
    net = ElasticNet(0.3, l1_ratio=0.0).fit(X, y)
    ridge = Ridge(0.3 * len(y)).fit(X, y)
    assert_allclose(net.coef_, ridge.coef_, rtol=1e-10)  # condition number below 1e2
    assert net.degrees_of_freedom_ == pytest.approx(ridge.degrees_of_freedom_, rel=1e-10)


def test_an_elastic_net_on_scaled_columns_needs_both_parts_of_its_penalty_scaled():
    """alpha r becomes c times, alpha (1 - r) c^2 times as large; so r changes too."""
    X, y = sample()
    alpha, ratio, c = 0.3, 0.6, 8.0
    absolute, squared = c * alpha * ratio, c**2 * alpha * (1 - ratio)
    one = ElasticNet(alpha, l1_ratio=ratio).fit(X, y)
    other = ElasticNet(absolute + squared, l1_ratio=absolute / (absolute + squared)).fit(c * X, y)
    assert np.count_nonzero(one.coef_) > 3
    assert_allclose(c * other.coef_, one.coef_, rtol=1e-11)  # condition number below 1e2
    same = ElasticNet(c * alpha, l1_ratio=ratio).fit(c * X, y)
    assert np.abs(c * same.coef_ - one.coef_).max() > 0.1


def test_the_penalty_of_the_notes_is_n_times_alpha():
    """|y - Xb|^2 + lambda (2 d |b|_1 + (1 - d) |b|^2) is least at alpha = lambda / n."""
    X, y = sample()
    penalty, d = 9.0, 0.6
    net = ElasticNet(penalty / len(y), l1_ratio=d).fit(X, y)

    def notes(coef):
        residual = y - y.mean() - (X - X.mean(axis=0)) @ coef
        return residual @ residual + penalty * (2 * d * np.abs(coef).sum() + (1 - d) * coef @ coef)

    steps = 1e-4 * np.vstack([np.eye(8), -np.eye(8)])
    assert all(notes(net.coef_ + step) > notes(net.coef_) for step in steps)


@pytest.mark.parametrize("learner", [Lasso(), ElasticNet(), Ridge()], ids=str)
def test_the_constraint_has_the_penalty_as_its_multiplier_and_back(learner):
    X, y = sample()
    for alpha in np.asarray(learner.axis_values(X, y, np.ones(len(y)), n_train=40))[[10, 50, 80]]:
        t = norm_for_penalty(learner, X, y, alpha)
        # The norm of ridge hardly changes at its least penalties, which loses digits.
        assert penalty_for_norm(learner, X, y, t) == pytest.approx(alpha, rel=1e-6)


def test_the_multiplier_is_how_fast_the_least_loss_falls_with_t():
    X, y = sample()

    def least_loss(t):
        model = Lasso(penalty_for_norm(Lasso(), X, y, t)).fit(X, y)
        return np.mean((y - model.predict(X)) ** 2) / 2

    t, h = 1.5, 1e-4
    slope = (least_loss(t + h) - least_loss(t - h)) / (2 * h)
    # Quadratic between knots, so that the central difference is exact but for rounding / h.
    assert -slope == pytest.approx(penalty_for_norm(Lasso(), X, y, t), rel=1e-6)


def test_no_other_coefficients_within_the_constraint_have_a_smaller_loss():
    X, y = sample()
    learner, t = Lasso(), 1.5
    model = Lasso(learner.penalty_for_norm(X, y, t)).fit(X, y)
    assert np.abs(model.coef_).sum() == pytest.approx(t, rel=SUMMED)

    def loss(coef):
        return np.var(y - X @ coef)

    others = np.random.default_rng(0).laplace(size=(2000, 8))
    others *= t / np.abs(others).sum(axis=1, keepdims=True)
    near = model.coef_ + 1e-3 * others
    near *= np.minimum(1, t / np.abs(near).sum(axis=1, keepdims=True))
    assert all(loss(coef) > loss(model.coef_) for coef in np.vstack([others, near]))


def test_a_constraint_that_least_squares_keeps_has_multiplier_zero():
    X, y = sample()
    assert penalty_for_norm(Lasso(), X, y, 1e3) == 0.0
    assert norm_for_penalty(Lasso(), X, y, penalty_for_norm(Lasso(), X, y, 0)) < 1e-12


@pytest.mark.parametrize("ratio", [1.0, 0.5, 1e-4])
def test_at_t_zero_the_multiplier_is_the_least_penalty_that_leaves_nothing(ratio):
    X, y = sample()
    learner = ElasticNet(l1_ratio=ratio)
    least = learner.penalty_for_norm(X, y, 0)
    above, below = learner.norm_for_penalty(X, y, [least * 1.001, least * 0.999])
    assert above == 0.0 < below
    assert learner.penalty_for_norm(X, np.ones(len(y)), 0) == 0.0
