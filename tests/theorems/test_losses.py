"""Statements of the notes on losses, Bayes rules and surrogates, on finite joint tables.

A, B, D are the notes; the tables hold P(X = x, Y = y), so every expectation is a finite sum.
"""

from dataclasses import dataclass
from itertools import product
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from empirisk.losses import (
    Absolute,
    Asymmetric,
    Brier,
    Costs,
    Log,
    Logit,
    MarginLoss,
    Quantile,
    Squared,
    ZeroOne,
    as_margin_loss,
    calibration,
    is_surrogate,
)
from tolerances import LAST_BITS, SUMMED

SURROGATES = ["square", "hinge", "squared_hinge", "logit", "exponential"]
seeds = pytest.mark.parametrize("seed", range(5))
# Sums of a few products of numbers of size 1 or 10: rounding only.
ROUNDING = 1e-13


def class_table(seed, n_points, n_classes):
    """Integer counts as probabilities, with zeros and ties in most tables."""
    counts = np.random.default_rng(seed).integers(0, 4, size=(n_points, n_classes))
    counts[:, 0] += counts.sum(axis=1) == 0
    joint = counts / counts.sum()
    return joint, joint / joint.sum(axis=1, keepdims=True)


def number_table(seed, n_points=4, n_values=5):
    rng = np.random.default_rng(seed)
    joint = rng.dirichlet(np.ones(n_points * n_values)).reshape(n_points, n_values)
    return joint, np.sort(rng.normal(size=n_values) * 3)


def risk(loss, joint, prediction, values=None):
    """E L(Y, h(X)) as a double sum over the table."""
    values = range(joint.shape[1]) if values is None else values
    return sum(
        joint[i, j] * float(loss(y, prediction[i]))
        for i in range(joint.shape[0])
        for j, y in enumerate(values)
    )


@seeds
@pytest.mark.parametrize(
    "loss, n_classes",
    [
        (ZeroOne(), 2),
        (ZeroOne(), 3),
        (Asymmetric(1, 3), 2),
        (Asymmetric(2.5, 0.5), 2),
        (Costs([[0, 1, 5], [2, 0, 1], [4, 1, 0]]), 3),
        (Costs([[0, 1, 0], [0, 0, 0], [3, 3, 0]]), 3),
    ],
    ids=str,
)
def test_the_bayes_rule_has_the_least_risk_of_all_classifiers(loss, n_classes, seed):
    """B (5.1), B7.1, D4.3: pointwise minimisation of the expected loss minimises the risk."""
    joint, posterior = class_table(seed, 4, n_classes)
    bayes = risk(loss, joint, loss.bayes_action(posterior))
    everyone = [risk(loss, joint, h) for h in product(range(n_classes), repeat=4)]
    assert_allclose(bayes, min(everyone), rtol=0, atol=ROUNDING)
    assert_allclose(joint.sum(axis=1) @ loss.bayes_risk(posterior), bayes, rtol=0, atol=ROUNDING)


@seeds
def test_the_bayes_risk_of_zero_one_loss_is_one_minus_the_expected_largest_probability(seed):
    """B7: R(h*) = 1 - E max_k P(Y = k | X)."""
    joint, posterior = class_table(seed, 6, 4)
    bayes = risk(ZeroOne(), joint, ZeroOne().bayes_action(posterior))
    assert_allclose(bayes, 1 - joint.sum(axis=1) @ posterior.max(axis=1), rtol=0, atol=ROUNDING)


@seeds
@pytest.mark.parametrize("a, b", [(1, 1), (1, 4), (3, 7), (5, 1)])
def test_the_asymmetric_bayes_rule_is_a_threshold_at_a_over_a_plus_b(a, b, seed):
    """B7.1; on the threshold both classes have the same risk, and class 0 is taken."""
    joint, posterior = class_table(seed, 6, 2)
    threshold_rule = (posterior[:, 1] > a / (a + b)).astype(int)
    assert_array_equal(Asymmetric(a, b).bayes_action(posterior), threshold_rule)
    other_side = (posterior[:, 1] >= a / (a + b)).astype(int)
    loss = Asymmetric(a, b)
    assert_allclose(
        risk(loss, joint, threshold_rule), risk(loss, joint, other_side), rtol=0, atol=ROUNDING
    )


@seeds
def test_the_label_of_a_node_has_the_least_expected_cost(seed):
    """D4.3: j*(t) = argmin_i sum_j C(i | j) p(j | t), with p(j | t) the proportions in the node."""
    rng = np.random.default_rng(seed)
    costs = rng.integers(0, 9, size=(4, 4)) * (1 - np.eye(4, dtype=int))
    y, weight = rng.integers(0, 4, 12), rng.integers(1, 4, 12)
    totals = [sum(costs[i, k] * w for k, w in zip(y, weight, strict=True)) for i in range(4)]
    assert Costs(costs).best_constant(y, weight, n_classes=4) == totals.index(min(totals))


@seeds
def test_log_loss_is_least_at_the_true_probabilities(seed):
    """Cross-entropy >= entropy, with equality at the truth; entropy <= log K."""
    rng = np.random.default_rng(seed)
    joint, posterior = class_table(seed, 4, 3)
    entropy = joint.sum(axis=1) @ Log().bayes_risk(posterior)
    for rival in rng.dirichlet(np.ones(3), size=(50, 4)):
        cross_entropy = risk(Log(), joint, rival)
        assert cross_entropy >= entropy
        divergence = sum(
            joint[i, k] * np.log(posterior[i, k] / rival[i, k])
            for i, k in zip(*np.nonzero(joint), strict=True)
        )
        assert_allclose(cross_entropy - entropy, divergence, rtol=0, atol=ROUNDING)
    assert_allclose(risk(Log(), joint, posterior), entropy, rtol=0, atol=ROUNDING)
    assert_allclose(Log().bayes_risk(np.full(7, 1 / 7)), np.log(7), rtol=LAST_BITS)


@seeds
def test_pythagoras(seed):
    """A (1.2): E(Z - g(W))² = E(Z - E(Z|W))² + E(E(Z|W) - g(W))², so R(h) - R(h*) = E(h - h*)²."""
    joint, values = number_table(seed)
    conditional_mean = Squared().bayes_action(np.tile(values, (4, 1)), joint)
    assert_allclose(conditional_mean, joint @ values / joint.sum(axis=1), rtol=SUMMED)
    least = risk(Squared(), joint, conditional_mean, values)
    for h in np.random.default_rng(seed).normal(size=(20, 4)) * 5:
        distance = joint.sum(axis=1) @ (h - conditional_mean) ** 2
        assert_allclose(risk(Squared(), joint, h, values), least + distance, rtol=SUMMED)


@seeds
@pytest.mark.parametrize(
    "loss", [Absolute(), Quantile(0.2), Quantile(0.5), Quantile(0.95)], ids=str
)
def test_conditional_medians_and_quantiles_have_the_least_risk(loss, seed):
    """The risk is piecewise linear in each h(x), so some best h takes values of Y only: all 625."""
    joint, values = number_table(seed)
    bayes = risk(loss, joint, loss.bayes_action(np.tile(values, (4, 1)), joint), values)
    by_point = loss(values, values[:, None]) @ joint.T  # (prediction, x)
    everyone = [sum(by_point[h[i], i] for i in range(4)) for h in product(range(5), repeat=4)]
    assert_allclose(bayes, min(everyone), rtol=0, atol=ROUNDING)


@dataclass(frozen=True)
class ZeroOneMargin(MarginLoss):
    """1{z < 0}, as in B7.3."""

    name: ClassVar[str] = "zero_one_margin"

    def value(self, margin):
        return (np.asarray(margin) < 0).astype(float)

    def derivative(self, margin):
        raise AssertionError("not differentiable")


@seeds
def test_the_phi_risk_of_the_zero_one_loss_is_the_zero_one_risk(seed):
    """B7.3, for discriminants that are nowhere 0: there 1{0 < 0} = 0 calls both classes right."""
    joint, posterior = class_table(seed, 5, 2)
    f = np.random.default_rng(seed).normal(size=5)
    p = joint.sum(axis=1)
    zero_one_risk = risk(ZeroOne(), joint, (f > 0).astype(int))
    assert_allclose(
        ZeroOneMargin().phi_risk(f, posterior[:, 1], p), zero_one_risk, rtol=0, atol=ROUNDING
    )
    assert ZeroOneMargin().phi_risk(0 * f, posterior[:, 1], p) == 0


@seeds
@pytest.mark.parametrize("name", SURROGATES)
def test_the_phi_risk_of_a_surrogate_bounds_the_zero_one_risk(name, seed):
    """B Definition 7.5: phi >= 1{z < 0}."""
    joint, posterior = class_table(seed, 5, 2)
    p = joint.sum(axis=1)
    for f in np.random.default_rng(seed).normal(size=(20, 5)):
        zero_one_risk = risk(ZeroOne(), joint, (f > 0).astype(int))
        assert as_margin_loss(name).phi_risk(f, posterior[:, 1], p) >= zero_one_risk


def test_the_perceptron_loss_is_no_surrogate_and_zero_minimises_it():
    assert all(is_surrogate(name) for name in SURROGATES)
    assert not is_surrogate("perceptron")
    perceptron = as_margin_loss("perceptron")
    assert perceptron.phi_risk(np.zeros(9), np.linspace(0.1, 0.9, 9)) == 0


@pytest.mark.parametrize("name", [*SURROGATES, "perceptron"])
def test_only_the_square_loss_penalises_large_right_margins(name):
    """B7.3: a good surrogate is nonincreasing."""
    z = np.linspace(-5, 5, 101)
    increases = (np.diff(as_margin_loss(name).value(z)) > 0).any()
    assert increases == (name == "square")


@pytest.mark.parametrize(
    "name, least, least_wrong",
    [
        ("hinge", 0.2, 1),
        ("logit", 0.469, 1),
        ("exponential", 0.6, 1),
        ("square", 0.36, 1),
        ("perceptron", 0, 0),
    ],
)
def test_calibration_at_eta_nine_tenths(name, least, least_wrong):
    """B7.3, (H, H-) worked out by hand; logit to three digits."""
    for eta in (0.9, 0.1):
        found = calibration(name, eta)
        # Three digits are given of logit.
        assert_allclose(found.least, least, rtol=0, atol=5e-4 if name == "logit" else SUMMED)
        assert_allclose(found.least_wrong, least_wrong, rtol=0, atol=SUMMED)


def test_which_losses_are_classification_calibrated():
    """B7.3: all but the perceptron."""
    verdicts = {name: calibration(name).is_calibrated for name in [*SURROGATES, "perceptron"]}
    assert verdicts == {name: name != "perceptron" for name in verdicts}


kinks = st.tuples(st.integers(-3, 3), st.integers(-3, 3), st.integers(1, 8).map(lambda c: c / 4))


@given(st.lists(kinks, min_size=1, max_size=4), st.integers(-3, 3))
@settings(max_examples=60, deadline=None)
def test_convex_losses_are_calibrated_exactly_if_their_slope_at_zero_is_negative(kinks, slope):
    """Bartlett, Jordan & McAuliffe 2006, Theorem 2, on sums of hinges with kinks anywhere."""

    def phi(z):
        parts = [c * np.maximum(0, s * (z - k)) for k, s, c in kinks]
        return np.sum(parts, axis=0) + np.maximum(0, 2 + slope * z)

    # Slopes are multiples of 1/4, not rounded, and constant on half a unit to either side of 0.
    left, right = (phi(0.0) - phi(-0.5)) * 2, (phi(0.5) - phi(0.0)) * 2
    expected = left == right and left < 0
    assert calibration(phi, [0.499, 0.501, 0.6, 0.99]).is_calibrated == expected


@seeds
@pytest.mark.parametrize("name", SURROGATES)
def test_whoever_minimises_a_calibrated_phi_risk_predicts_as_bayes(name, seed):
    joint, posterior = class_table(seed, 8, 2)
    f = as_margin_loss(name).minimiser(posterior[:, 1])
    best = risk(ZeroOne(), joint, ZeroOne().bayes_action(posterior))
    assert_allclose(risk(ZeroOne(), joint, (f > 0).astype(int)), best, rtol=0, atol=ROUNDING)


@seeds
def test_excess_zero_one_risk_is_at_most_excess_hinge_risk(seed):
    """Zhang 2004: R(sign f) - R* <= R_hinge(f) - R_hinge*; for square loss, its square root."""
    joint, posterior = class_table(seed, 6, 2)
    eta, p = posterior[:, 1], joint.sum(axis=1)
    bayes = risk(ZeroOne(), joint, ZeroOne().bayes_action(posterior))
    for f in np.random.default_rng(seed).normal(size=(50, 6)):
        excess = risk(ZeroOne(), joint, (f > 0).astype(int)) - bayes
        for name, bound in [("hinge", lambda r: r), ("square", np.sqrt)]:
            phi = as_margin_loss(name)
            excess_phi = phi.phi_risk(f, eta, p) - phi.phi_risk(phi.minimiser(eta), eta, p)
            assert excess <= bound(max(excess_phi, 0)) + ROUNDING


def test_the_logit_risk_falls_to_zero_along_a_separating_direction():
    """B7.2: J(c beta) -> 0 as c grows, if y x'beta > 0 for all rows."""
    rng = np.random.default_rng(0)
    f = rng.normal(size=50)
    y = np.where(f > 0, 1, -1)
    risks = [Logit().risk(y, c * f) for c in 10.0 ** np.arange(8)]
    assert (np.diff(risks) <= 0).all()
    assert risks[-1] == 0


def test_gradient_and_hessian_of_logistic_regression():
    """B7.2: n grad J = X'(mu - c) and n hess J = X' diag(mu (1 - mu)) X, c = 1{y = 1}."""
    rng = np.random.default_rng(1)
    X, y, beta = rng.normal(size=(30, 3)), rng.choice([-1, 1], 30), rng.normal(size=3)
    mu = 1 / (1 + np.exp(-X @ beta))
    margin = y * (X @ beta)
    gradient = np.log(2) * X.T @ (y * Logit().derivative(margin))
    hessian = np.log(2) * X.T @ (Logit().second_derivative(margin)[:, None] * X)
    assert_allclose(gradient, X.T @ (mu - (y == 1)), rtol=SUMMED)
    assert_allclose(hessian, X.T @ np.diag(mu * (1 - mu)) @ X, rtol=SUMMED)


@seeds
@pytest.mark.parametrize("n_classes", [2, 3, 4])
def test_brier_is_strictly_proper_the_regret_is_the_squared_distance(seed, n_classes):
    # E L(Y, q) - E L(Y, p) = |q - p|^2 for Y with probabilities p, half of it with two classes: 0
    # at the truth alone. And the Bayes risk is Gini's impurity.
    joint, p = class_table(seed, 6, n_classes)
    q = np.random.default_rng(seed).dirichlet(np.ones(n_classes), size=6)
    loss, half = Brier(), 0.5 if n_classes == 2 else 1.0
    share = joint.sum(axis=1)
    least = risk(loss, joint, loss.bayes_action(p))
    regret = share @ ((q - p) ** 2).sum(axis=1) * half
    assert_allclose(risk(loss, joint, q) - least, regret, rtol=0, atol=ROUNDING)
    assert_allclose(least, share @ loss.bayes_risk(p), rtol=0, atol=ROUNDING)
    assert_allclose(loss.bayes_risk(p), half * (1 - (p**2).sum(axis=1)), rtol=0, atol=ROUNDING)


@seeds
def test_the_excess_0_1_risk_of_a_plug_in_rule_is_at_most_that_of_its_brier_score(seed):
    # D: for two classes |2 p - 1| 1{wrong side} <= 2 |q - p|, so by Jensen the excess is at most
    # twice the root of the excess under Brier's score, which makes it a surrogate.
    joint, p = class_table(seed, 6, 2)
    q = np.random.default_rng(seed).dirichlet([1, 1], size=6)
    wrong, brier = ZeroOne(), Brier()
    excess = risk(wrong, joint, wrong.bayes_action(q)) - risk(wrong, joint, wrong.bayes_action(p))
    of_brier = risk(brier, joint, q) - risk(brier, joint, p)
    assert excess <= 2 * np.sqrt(max(of_brier, 0)) + ROUNDING
