"""Statements of the lecture notes on bias and variance, approximation and estimation."""

import numpy as np
from numpy.testing import assert_allclose
from scipy import stats
from sklearn.linear_model import LinearRegression as Foreign
from sklearn.neighbors import KernelDensity, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures

from empirisk import LinearRegression, Ridge
from empirisk.risk import Axis, populations
from empirisk.risk.decomposition import (
    bias_variance,
    decompose_density_path,
    decompose_path,
    excess_risk,
)
from empirisk.risk.populations import Gaussian, LinearModel, Points
from tolerances import SUMMED

SIGMAS = 5  # a statistical test with a fixed seed: it fails with probability 6e-7


def agrees(found, part, truth):
    assert abs(found.parts[part] - truth) < SIGMAS * found.standard_error[part]


def test_the_expected_risk_is_squared_bias_plus_variance_plus_noise():
    # A (1.5), E3c: the left side from fresh rows, which know nothing of f or of the parts.
    population = populations.sine(noise=lambda X: 0.3 + X[:, 0])
    found = bias_variance(LinearRegression(), population, 15, n_sets=100, random_state=0)
    losses = []
    for s in range(100):
        model = LinearRegression().fit(*population.sample(15, s))
        X, y = population.sample(50, 10_000 + s)
        losses.append(np.mean((y - model.predict(X)) ** 2))
    error = np.hypot(np.std(losses) / 10, found.standard_error["total"])
    assert abs(np.mean(losses) - found.total) < SIGMAS * error
    assert found.bias_squared > SIGMAS * found.standard_error["bias_squared"]


def test_the_variance_of_least_squares_over_the_training_points_is_noise_times_d_over_n():
    # A1.4: exactly sigma^2 d / n on a fixed design, d with the intercept; bias 0 if the model is
    # right. With heteroscedastic noise it is the trace of H diag(sigma_i^2) H' / n instead.
    population = LinearModel([1.0, -1.0, 2.0], 3.0, noise=1.5)
    X = population.sample(25, 0)[0]
    found = bias_variance(LinearRegression(), population, X=X, random_state=1)
    agrees(found, "variance", 1.5**2 * 4 / 25)
    agrees(found, "bias_squared", 0)
    uneven = LinearModel([1.0, -1.0, 2.0], noise=lambda X: np.exp(X[:, 0]))
    found = bias_variance(LinearRegression(), uneven, X=X, random_state=2)
    design = np.c_[np.ones(25), X]
    hat = design @ np.linalg.pinv(design)
    agrees(found, "variance", np.trace(hat * np.exp(2 * X[:, 0]) @ hat.T) / 25)
    assert_allclose(found.noise, np.exp(2 * X[:, 0]).mean(), rtol=SUMMED)


def test_the_variance_of_least_squares_on_a_random_design():
    # Gaussian X without intercept: sigma^2 d / (n - d - 1), which is more than sigma^2 d / n.
    n, d = 12, 3
    covariance = np.eye(d) + 0.3
    population = LinearModel(np.ones(d), features=Gaussian(np.zeros(d), covariance))
    model = LinearRegression(fit_intercept=False)
    found = bias_variance(model, population, n, n_sets=1000, random_state=0)
    agrees(found, "variance", d / (n - d - 1))
    agrees(found, "bias_squared", 0)
    assert found.variance - d / n > SIGMAS * found.standard_error["variance"]  # tells them apart
    risks = excess_risk(model, population, n, n_large=1000, n_sets=50, n_points=300, random_state=0)
    assert abs(risks.estimation - d / (n - d - 1)) < SIGMAS * risks.standard_error["estimation"]
    assert risks.approximation < 1e-20


def test_richer_models_have_less_bias_and_more_variance():
    # Of ridge along its whole axis, on a fixed design, both are monotone; here exactly, from
    # bias_i and variance_i of each singular direction.
    population = LinearModel([1.0, 1.0, 1.0], noise=1.0)
    X = population.sample(10, 0)[0]
    values = np.geomspace(1e-2, 1e3, 12)
    path = decompose_path(
        Ridge(fit_intercept=False), values, population, X=X, n_sets=60, random_state=0
    )
    U, s, _ = np.linalg.svd(X, full_matrices=False)
    shrink = s**2 / (s**2 + values[:, None])
    variance = (shrink**2).sum(axis=1) / 10
    bias = (((1 - shrink) * (U.T @ X.sum(axis=1))) ** 2).sum(axis=1) / 10
    for name, truth in (("variance", variance), ("bias_squared", bias)):
        error = path.standard_error(name)
        assert (np.abs(path.part(name) - truth) < SIGMAS * error).all()
    assert (np.diff(variance) < 0).all()
    assert (np.diff(bias) > 0).all()
    assert np.argmin(bias + variance) not in (0, 11)


def test_neighbours_have_the_variance_of_a_mean_of_k():
    # On a fixed design the prediction is a mean of k y's: variance sigma^2 / k, exactly.
    population = populations.sine(noise=0.5)
    X = np.linspace(0, 1, 30)[:, None]
    axis = Axis(("n_neighbors",), larger="simpler", scale="integer")
    path = decompose_path(
        KNeighborsRegressor(), [1, 3, 10, 30], population, X=X, axis=axis, n_sets=30,
        random_state=0,
    )  # fmt: skip
    for k, step in zip(path.values, path.steps, strict=True):
        agrees(step, "variance", 0.25 / k)
    # k = 1 reproduces y itself; k = 30 predicts the mean everywhere.
    agrees(path[0], "bias_squared", 0)
    f = np.sin(2 * np.pi * X[:, 0])
    agrees(path[3], "bias_squared", np.var(f))


def test_the_excess_risk_is_the_mean_squared_distance_to_the_bayes_rule():
    # B5.3: R(h) - R(h*) = E (h(X) - h*(X))^2, exactly on a table.
    x = np.array([[0.0], [1.0], [4.0]])
    p = np.array([0.5, 0.2, 0.3])
    population = populations.polynomial([1.0, 0, 0.5], features=Points(x, p), noise=0.7)
    h = np.array([2.0, 1.0, 8.0])
    found = population.true_risk(lambda X: h)
    f = 1 + 0.5 * x[:, 0] ** 2
    assert_allclose(found.value - population.bayes_risk().value, p @ (h - f) ** 2, rtol=SUMMED)


def test_larger_classes_approximate_better_and_are_harder_to_estimate():
    # B5.2, of polynomials; the approximation error is the norm of sin(pi x) less its projection on
    # the Legendre polynomials up to the degree, 1/2 - 3/pi^2 for lines.
    population = populations.Regression(
        lambda X: np.sin(np.pi * X[:, 0]), populations.Uniform(-1, 1), 0.5
    )
    x, weight = np.polynomial.legendre.leggauss(40)
    coef = [
        (2 * j + 1) / 2 * weight @ (np.sin(np.pi * x) * np.polynomial.Legendre.basis(j)(x))
        for j in range(8)
    ]
    estimation = []
    for degree in (1, 3, 7):
        learner = make_pipeline(PolynomialFeatures(degree), Foreign())
        found = excess_risk(learner, population, 40, n_sets=30, n_large=20_000, random_state=0)
        gap = 0.5 - sum(coef[j] ** 2 / (2 * j + 1) for j in range(degree + 1))
        margin = SIGMAS * found.standard_error["approximation"] + 1e-7  # of 20,000 rows
        assert abs(found.approximation - gap) < margin
        estimation.append(found.estimation)
    assert_allclose(coef[1], 3 / np.pi, rtol=SUMMED)
    assert 0 < estimation[0] < estimation[2]


def test_kernel_density_estimates_have_the_bias_and_variance_of_the_formulas():
    # C1.1 with f = N(0, 1) and a Gaussian kernel of width h, in closed form (Wand and Jones 1995):
    # the mean estimate is N(0, 1 + h^2), so the integrals are of products of Gaussian densities.
    n, widths = 40, np.array([0.15, 0.4, 1.0])
    axis = Axis(("bandwidth",), larger="simpler", scale="log")
    path = decompose_density_path(
        KernelDensity(), widths, stats.norm(), n, axis=axis, n_sets=60, random_state=0
    )
    square = widths**2
    overlap = 1 / np.sqrt(1 + square)
    bias = (overlap - 2**1.5 / np.sqrt(2 + square) + 1) / (2 * np.sqrt(np.pi))
    variance = (1 / widths - overlap) / (2 * n * np.sqrt(np.pi))
    for j, step in enumerate(path.steps):
        agrees(step, "bias_squared", bias[j])
        agrees(step, "variance", variance[j])
    # The bias at 0 is h^2/2 f''(0) for small h, and N(0, 1 + h^2) - N(0, 1) for any.
    centre = np.abs(path[0].points[:, 0]).argmin()
    x = path[0].points[centre, 0]
    for j, step in enumerate(path.steps):
        gap = step.pointwise["mean_prediction"][centre] - step.pointwise["truth"][centre]
        truth = stats.norm.pdf(x, scale=np.sqrt(1 + square[j])) - stats.norm.pdf(x)
        error = np.sqrt(step.pointwise["variance"][centre] / 60)
        assert abs(gap - truth) < SIGMAS * error
