"""Noise around a regression function: its moments, quantiles and expected losses."""

from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats
from scipy.integrate import quad

from empirisk import risk
from empirisk.losses import Absolute, Quantile, Squared
from empirisk.risk import populations
from empirisk.risk.populations import (
    Laplace,
    Noise,
    Normal,
    Regression,
    StudentT,
)
from empirisk.runtime.errors import ParameterError
from five_sigmas import SIGMAS, within
from tolerances import SUMMED


@pytest.mark.parametrize(
    "noise", [Normal(0.7), Laplace(0.7), StudentT(2.5, 0.7)], ids=lambda noise: type(noise).__name__
)
@pytest.mark.parametrize("loss", [Absolute(), Quantile(0.2), Quantile(0.9)], ids=str)
@pytest.mark.parametrize("error", [0.0, 0.4, -3.0, 40.0])
def test_the_expected_loss_of_noise_is_its_integral(noise, loss, error):
    def integrand(e):
        return loss(0.7 * e, error) * noise.law.pdf(e)

    kink = error / 0.7
    ends = [-np.inf, *sorted({kink, 0.0}), np.inf]
    parts = [quad(integrand, *piece)[0] for piece in pairwise(ends)]
    found = noise.expected_loss(np.zeros((1, 1)), np.array([error]), loss)
    assert_allclose(found, sum(parts), rtol=1e-6)  # what quad reaches with tails so heavy


@pytest.mark.parametrize(
    "noise", [Normal(2.0), Laplace(2.0), StudentT(3, 2.0)], ids=lambda noise: type(noise).__name__
)
def test_noise_has_the_moments_and_quantiles_it_says(noise):
    X = np.zeros((200_000, 1))
    e = noise.draw(X, np.random.default_rng(0))
    assert abs(e.mean()) < SIGMAS * e.std() / np.sqrt(len(e))
    for q in (0.1, 0.5, 0.9):
        share = (e <= noise.quantile(X[:1], q)).mean()
        assert abs(share - q) < SIGMAS * np.sqrt(q * (1 - q) / len(e))
    assert_allclose(noise.variance(X[:1]), 4 * noise.law.var(), rtol=SUMMED)


@pytest.mark.parametrize("noise", [Normal, Laplace, lambda s: StudentT(3, s)])
@pytest.mark.parametrize("loss", [Absolute(), Quantile(0.3), Squared()], ids=str)
@pytest.mark.parametrize(("scale", "error"), [(0, 0), (0, 2), (1e-200, 1e200), (1e200, -1e-200)])
def test_extreme_noise_never_gives_nan(noise, loss, scale, error):
    found = noise(float(scale)).expected_loss(np.zeros((1, 1)), np.array([float(error)]), loss)
    assert not np.isnan(found).any()
    if scale == 0:
        assert_allclose(found, loss(0.0, error), rtol=SUMMED)


def test_skew_noise_is_centred_and_judged_by_its_draws():
    population = Regression(lambda X: X[:, 0], noise=Noise(stats.expon(), 2.0))
    y = population.sample(100_000, 0)[1]
    assert abs(y.mean() - 0.5) < SIGMAS * y.std() / np.sqrt(len(y))
    median = population.bayes_rule("absolute").predict([[0.0]])[0]
    assert_allclose(median, 2 * (np.log(2) - 1), rtol=SUMMED)
    found = population.bayes_risk("absolute", random_state=0)
    assert "draws of (x, y)" in found.reason
    within(found, 2 * np.log(2))  # E |e - median| of the exponential distribution


@pytest.mark.parametrize("loss", ["squared", "absolute", "quantile:0.8"])
def test_the_bayes_risk_of_equal_noise_is_exact_and_agrees_with_monte_carlo(loss):
    population = populations.sine(noise=StudentT(4))
    exact = population.bayes_risk(loss)
    assert (exact.method, exact.standard_error) == ("exact", 0)
    X, y = population.sample(50_000, 1)
    within(risk.evaluate(population.bayes_rule(loss), X, y, loss=loss), exact.value)


def test_noise_that_depends_on_x():
    population = populations.sine(noise=lambda X: 0.5 + X[:, 0])
    within(population.bayes_risk(random_state=0), 13 / 12)  # E (1/2 + X)^2
    # E|e| (1/2 + x), and the 0.9-quantile z (1/2 + x)
    within(population.bayes_risk("absolute", random_state=0), np.sqrt(2 / np.pi))
    assert_allclose(
        population.bayes_rule("quantile:0.9").predict([[0.25]]),
        [1 + 0.75 * stats.norm.ppf(0.9)],
        rtol=SUMMED,
    )
    with pytest.raises(ParameterError, match="no closed form"):
        population.bayes_risk(method="exact")
