"""Statements of the lecture notes on Bayes rules and on minimisers of the empirical risk."""

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from empirisk.losses import Costs
from empirisk.risk import populations
from empirisk.risk.populations import Bernoulli, Classification, GaussianClasses, Points
from tolerances import SUMMED

rng = np.random.default_rng(0)
X = np.arange(4.0)[:, None]
P = np.array([0.1, 0.4, 0.3, 0.2])
ETA = rng.dirichlet(np.ones(3), 4)


def table():
    return Classification(lambda X: ETA[X[:, 0].astype(int)], Points(X, P))


def regression():
    """Four points, and skew values of Y at each: exactly known, and no mean is a median."""
    return populations.polynomial([1.0, -1.0, 0.5], features=Points(X, P), noise=0.4)


def test_pythagoras_the_best_squared_predictor_is_the_conditional_mean():
    # A (1.2): E (Z - g(W))^2 = E (Z - E(Z|W))^2 + E (E(Z|W) - g(W))^2, on a finite table.
    W = np.repeat(np.arange(4), 5)
    Z = rng.normal(size=20) ** 3
    weight = rng.dirichlet(np.ones(20))
    mean = np.array([np.average(Z[w == W], weights=weight[w == W]) for w in range(4)])
    for _ in range(20):
        g = mean + rng.normal(size=4)
        left = weight @ (Z - g[W]) ** 2
        right = weight @ (Z - mean[W]) ** 2 + weight @ (mean[W] - g[W]) ** 2
        assert_allclose(left, right, rtol=SUMMED)


def test_the_conditional_mean_minimises_the_squared_risk():
    population = regression()
    f = population.regression_function(X)
    least = population.true_risk(population.bayes_rule()).value
    assert_allclose(least, 0.16, rtol=SUMMED)
    for _ in range(50):
        h = f + rng.normal(size=4) * rng.choice([1e-3, 1.0])
        assert_allclose(population.true_risk(lambda X, h=h: h).value - least, P @ (h - f) ** 2,
                        rtol=1e-9, atol=1e-15)  # fmt: skip


@pytest.mark.parametrize("loss", ["absolute", "quantile:0.2", "quantile:0.9"])
def test_medians_and_quantiles_minimise_their_risks(loss):
    population = regression()
    best = population.bayes_rule(loss).predict(X)
    least = population.true_risk(lambda X: best, loss).value
    for _ in range(50):
        h = best + rng.normal(size=4) * rng.choice([1e-2, 1.0])
        assert population.true_risk(lambda X, h=h: h, loss).value > least


@pytest.mark.parametrize("loss", ["zero_one", Costs([[0, 1, 5], [2, 0, 1], [1, 1, 0]])], ids=str)
def test_no_classifier_has_less_risk_than_the_bayes_rule(loss):
    # A Proposition 1 and D4.3: all 81 rules on four points.
    population = table()
    least = population.bayes_risk(loss).value
    risks = [
        population.true_risk(lambda X, rule=rule: np.array(rule), loss).value
        for rule in product(range(3), repeat=4)
    ]
    assert_allclose(min(risks), least, rtol=SUMMED)
    best = tuple(population.bayes_rule(loss).predict(X))
    assert_allclose(risks[list(product(range(3), repeat=4)).index(best)], least, rtol=SUMMED)


def test_no_probabilities_have_less_log_risk_than_the_true_ones():
    population = table()
    least = population.bayes_risk("log").value
    assert_allclose(least, P @ stats.entropy(ETA, axis=1), rtol=SUMMED)
    for _ in range(50):
        other = rng.dirichlet(np.ones(3), 4)
        gap = population.true_risk(lambda X, other=other: other, "log").value - least
        # What is lost is the Kullback-Leibler divergence.
        assert_allclose(gap, P @ stats.entropy(ETA, other, axis=1), rtol=1e-9)


def test_the_bayes_risk_is_one_minus_the_mean_of_the_largest_probability():
    assert_allclose(table().bayes_risk().value, 1 - P @ ETA.max(axis=1), rtol=SUMMED)
    two = Bernoulli(lambda X: ETA[X[:, 0].astype(int), 1], Points(X, P))
    eta = ETA[:, 1]
    assert_allclose(two.bayes_risk().value, P @ np.minimum(eta, 1 - eta), rtol=SUMMED)


def test_where_both_classes_are_equally_likely_class_0_is_predicted():
    population = Bernoulli(0.5)
    assert population.bayes_rule().predict([[0.3]])[0] == 0
    assert population.bayes_risk().value == 0.5


def test_the_bayes_risk_between_gaussians_falls_with_their_distance():
    # B Example 7.7: Phi(-D/2), boundary 2.
    for distance, value in ((2.0, 0.07865), (1.0, 0.23975)):
        population = populations.two_gaussians(distance)
        assert_allclose(population.bayes_risk().value, value, rtol=0, atol=5e-6)  # five digits
        assert_allclose(population.class_probabilities([[2.0]]), [[0.5, 0.5]], rtol=SUMMED)
        assert list(population.bayes_rule().predict([[1.99], [2.01]])) == [0, 1]
    many = [GaussianClasses([[0.0] * 3, [d] * 3]).bayes_risk().value for d in (0, 1, 2, 4)]
    assert_allclose(many, stats.norm.cdf(-np.sqrt(3) * np.array([0, 1, 2, 4]) / 2), rtol=SUMMED)


def test_the_order_correct_rule_of_the_notes_is_worse_than_bayes():
    # D3.1: P = (0.9, 0.1) and votes Q = (0.6, 0.4) are right with probability 0.58 against 0.9.
    population = Classification([0.9, 0.1])
    assert_allclose(1 - population.bayes_risk().value, 0.9, rtol=SUMMED)
    votes = np.random.default_rng(1).random(200_000) < 0.4
    found = population.true_risk(lambda X: votes[: len(X)].astype(int), n_draws=200_000)
    assert abs(1 - found.value - 0.58) < 5 * 0.5 / np.sqrt(2**14)  # 6e-7; votes of one block


def test_the_minimiser_of_the_empirical_risk_underestimates_the_best_in_class():
    # B5.2 mended: E R_n(h_n) <= R(h*_H) <= R(h_n). Thresholds on four points, all risks exact.
    population = Bernoulli(
        lambda X: np.array([0.2, 0.35, 0.6, 0.7])[X[:, 0].astype(int)], Points(X, P)
    )
    cuts = np.arange(5)
    risks = np.array(
        [population.true_risk(lambda X, c=c: (X[:, 0] >= c).astype(int)).value for c in cuts]
    )
    empirical, chosen = [], []
    for seed in range(400):
        x, y = population.sample(20, seed)
        observed = [np.mean((x[:, 0] >= c) != y) for c in cuts]
        empirical.append(min(observed))
        chosen.append(risks[int(np.argmin(observed))])
    assert min(chosen) >= risks.min()
    # The mean of 400 is 5 of its errors below: it fails with probability 6e-7 or less.
    assert np.mean(empirical) + 5 * np.std(empirical) / 20 < risks.min() < np.mean(chosen)
