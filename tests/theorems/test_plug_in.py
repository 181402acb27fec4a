"""Statements of the lecture notes on maximum likelihood and on plug-in rules."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import integrate, stats
from sklearn.base import BaseEstimator

from empirisk import (
    DensityClassifier,
    KernelDensity,
    KernelRegressor,
    LinearRegression,
    ParametricDensity,
    PlugInPredictor,
    kl_divergence,
    risk,
)
from empirisk.losses import Absolute, Costs, Quantile, Squared
from tolerances import SOLVED, SUMMED


def risk_under_laplace(scale):
    """E -log of N(0, scale^2) under the Laplace density, whose variance is 2."""
    return 0.5 * np.log(2 * np.pi * scale**2) + 2 / (2 * scale**2)


@pytest.mark.parametrize("n", [2000, 32000])
def test_maximum_likelihood_tends_to_the_nearest_member_by_kl(n):
    # C1.1: a Gaussian fitted to Laplace rows tends to N(0, 2), the projection of the Laplace.
    scales = np.linspace(1.0, 2.0, 2001)
    nearest = scales[risk_under_laplace(scales).argmin()]
    assert_allclose(nearest, np.sqrt(2), rtol=0, atol=0.001)  # the grid
    rng = np.random.default_rng(0)
    found = ParametricDensity().fit(rng.laplace(size=(n, 1)))
    # sd of the mean sqrt(2/n); of the scale sqrt((24 - 4) / n) / (2 sqrt 2): five of each.
    assert abs(found.mean_[0]) < 5 * np.sqrt(2 / n)
    assert abs(found.scale_[0] - nearest) < 5 * np.sqrt(20 / n) / (2 * np.sqrt(2))


def test_what_is_left_is_the_bias_of_the_class():
    # C1.1: KL(f, f_theta) does not go to 0: the gap between Laplace and Gaussian stays.
    def integrand(x):
        return stats.laplace.pdf(x) * (stats.laplace.logpdf(x) - stats.norm.logpdf(x, 0, 2**0.5))

    gap = 2 * integrate.quad(integrand, 0, 50)[0]
    rng = np.random.default_rng(1)
    rows = rng.laplace(size=(20000, 1))
    laplace, gaussian = ParametricDensity("laplace").fit(rows), ParametricDensity().fit(rows)
    found = kl_divergence(laplace, gaussian, n_draws=50_000, random_state=0)
    # Five errors of the draws, and of fits to 20000 rows at most 1e-3.
    assert abs(found.value - gap) < 5 * found.standard_error + 1e-3
    # The same difference from held-out rows: their entropy cancels.
    fresh = rng.laplace(size=(20000, 1))
    risks = [risk.evaluate(d, fresh, None, loss="log_density") for d in (gaussian, laplace)]
    paired = risks[0] - risks[1]
    assert abs(paired.value - gap) < 5 * paired.standard_error


class Known(BaseEstimator):
    """The true density of a class, told by the first of its rows; nothing is learned."""

    def __init__(self, laws=()):
        self.laws = laws

    def fit(self, X, y=None, sample_weight=None):
        self.law_ = self.laws[int(X[0, 1])]
        return self

    def score_samples(self, X):
        return self.law_.logpdf(X[:, 0])


def test_the_plug_in_with_the_true_densities_is_the_bayes_rule():
    # ERRATA: N(1, 1/2), N(3, 1/2), equal priors: boundary 2, Bayes risk 0.07865.
    laws = stats.norm(1, np.sqrt(0.5)), stats.norm(3, np.sqrt(0.5))
    X, y = np.array([[0.0, 0], [0.0, 0], [0.0, 1], [0.0, 1]]), [0, 0, 1, 1]
    rule = DensityClassifier(Known(laws)).fit(X, y)
    at = np.column_stack([np.linspace(-3, 7, 1001), np.zeros(1001)])
    assert_array_equal(rule.predict(at), (at[:, 0] > 2 + 1e-9).astype(int))
    p = rule.predict_proba(at)
    marginal = (laws[0].pdf(at[:, 0]) + laws[1].pdf(at[:, 0])) / 2
    least = integrate.simpson(p.min(axis=1) * marginal, x=at[:, 0])
    assert_allclose(least, 0.07865, rtol=0, atol=5e-6)  # five digits
    # With costs: the threshold on P(1 | x) is a / (a + b) (B7.1).
    costly = DensityClassifier(Known(laws), cost_matrix=[[0, 4], [1, 0]]).fit(X, y)
    assert_array_equal(costly.predict(at), (p[:, 1] > 1 / 5).astype(int))


def test_the_conditional_plug_in_is_the_bayes_action():
    # B5.1: mean, median, quantile of Y given x, here of a linear Gaussian model that is known.
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 1))
    y = 2 * X[:, 0] + 1  # no noise: the fit is the truth
    at = np.linspace(-2, 2, 9)[:, None]
    truth = stats.norm(2 * at[:, 0] + 1, 0.5)
    for loss, wanted in (
        (Squared(), truth.mean()),
        (Absolute(), truth.median()),
        (Quantile(0.9), truth.ppf(0.9)),
        (Quantile(0.05), truth.ppf(0.05)),
    ):
        plug_in = PlugInPredictor(LinearRegression(), loss, noise_variance=0.25).fit(X, y)
        assert_allclose(plug_in.predict(at), wanted, rtol=SUMMED, atol=SUMMED)


def test_the_plug_in_of_kernel_weights_is_the_mean_under_the_joint_kernel_density():
    # C2.1 (corrected in ERRATA): the mean of y under the joint kernel density, given x.
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 3, size=(60, 1))
    y = np.sin(2 * X[:, 0]) + 0.3 * rng.normal(size=60)
    joint = KernelDensity(bandwidth=0.25).fit(np.column_stack([X, y]))
    nodes = np.linspace(-5, 5, 2001)
    for x in (0.2, 1.0, 2.7):
        density = np.exp(joint.score_samples(np.column_stack([np.full(2001, x), nodes])))
        mean = (density @ nodes) / density.sum()
        plug_in = PlugInPredictor(KernelRegressor(0.25, scale=None)).fit(X, y)
        # Equal steps integrate Gaussians to rounding.
        assert_allclose(plug_in.predict([[x]]), [mean], rtol=SUMMED)


def test_the_plug_in_of_maximum_likelihood_is_least_squares():
    # B5.1, Example 5.9: for squared loss and Gaussian noise, the plug-in is the ERM predictor.
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    y = X @ [1.0, 2.0, -1.0] + rng.normal(size=40)
    by_risk, *_ = np.linalg.lstsq(np.column_stack([np.ones(40), X]), y, rcond=None)
    plug_in = PlugInPredictor().fit(X, y)
    assert_allclose(plug_in.predict(X), np.column_stack([np.ones(40), X]) @ by_risk, rtol=SOLVED)
    # And the likelihood is largest at these residuals' mean square.
    residuals = y - plug_in.predict(X)
    assert_allclose(plug_in.noise_variance_, np.mean(residuals**2), rtol=SUMMED)


def test_least_expected_cost_is_the_bayes_rule_for_any_costs():
    # D4.3, on a table of class probabilities: no labelling has a smaller risk.
    rng = np.random.default_rng(0)
    p = rng.dirichlet(np.ones(3), size=4)
    costs = Costs(rng.uniform(1, 9, size=(3, 3)) * (1 - np.eye(3)))
    chosen = costs.bayes_action(p)
    for other in np.ndindex(3, 3, 3, 3):
        losses = [costs.matrix[i] @ p[x] for x, i in enumerate(other)]
        least = [costs.matrix[i] @ p[x] for x, i in enumerate(chosen)]
        assert sum(least) <= sum(losses) + 1e-12
