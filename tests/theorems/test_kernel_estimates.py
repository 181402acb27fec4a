"""Kernel estimates: statements of seed C (C1.1, C2.1), checked numerically.

C1.1: the kernel density integrates to one; its bias is the integral of K(z) (f(x + h z) - f(x)),
its variance 1/(n h^d) times that of K(z)^2 f(x + h z) minus the square of the mean over n; the best
bandwidth goes with n^(-1/(d+4)) and the error with n^(-4/(d+4)). C2.1: kernel regression is the
conditional mean under the kernel density of x and y.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats
from scipy.integrate import quad
from scipy.optimize import minimize_scalar

from empirisk import KernelClassifier, KernelDensity, KernelRegressor
from empirisk.learners.density.kernels import KERNELS
from tolerances import SUMMED

TRUTH = stats.norm()
KINDS = ["gaussian", "epanechnikov", "tophat"]


@pytest.mark.parametrize("kernel", ["gaussian", "epanechnikov", "triangle", "exponential"])
@pytest.mark.parametrize("h", [0.2, 1.0])
def test_a_kernel_density_integrates_to_one(kernel, h):
    x = np.random.default_rng(0).gamma(2.0, size=(40, 1))
    density = KernelDensity(kernel=kernel, bandwidth=h).fit(x)
    grid = np.linspace(-45, 60, 100001)
    total = np.trapezoid(np.exp(density.score_samples(grid[:, None])), grid)
    assert_allclose(total, 1.0, rtol=1e-5)  # the trapezoidal rule; kinks cost a step squared


@pytest.mark.parametrize("kernel", ["gaussian", "epanechnikov", "tophat", "biweight"])
def test_a_kernel_density_of_two_features_integrates_to_one(kernel):
    x = np.random.default_rng(0).gamma(2.0, size=(30, 2))
    side = np.linspace(-6.0, 17.0, 461)
    grid = np.stack(np.meshgrid(side, side), -1).reshape(-1, 2)
    density = KernelDensity(kernel=kernel, bandwidth=[[0.8, 0.3], [0.3, 0.5]]).fit(x)
    total = np.exp(density.score_samples(grid)).sum() * (side[1] - side[0]) ** 2
    # A sum over cells of 0.05; the jumps of the tophat, of radius about 0.7, cost the most.
    assert_allclose(total, 1.0, rtol=5e-3 if kernel == "tophat" else 1e-3)


@pytest.mark.parametrize("kernel", KINDS)
def test_bias_and_variance_are_those_of_the_notes(kernel):
    n, h, x, draws = 50, 0.6, 0.4, 1000
    about = KERNELS[kernel]
    end = 1.0 if about.bounded else 9.0
    c = np.exp(about.log_constant(1))

    def smoothed(power):
        def integrand(z):
            return (c * about.profile(abs(z), 1)) ** power * TRUTH.pdf(x + h * z)

        return quad(integrand, -end, end)[0]

    mean, variance = smoothed(1), smoothed(2) / (n * h) - smoothed(1) ** 2 / n
    rows = np.random.default_rng(1).normal(size=(draws, n))
    found = np.array(
        [
            KernelDensity(kernel=kernel, bandwidth=h).fit(r[:, None]).score_samples([[x]])
            for r in rows
        ]
    )
    found = np.exp(found[:, 0])
    # Five standard errors of the mean and of the variance of 1000 draws: 6e-7 each.
    assert abs(found.mean() - mean) < 5 * np.sqrt(variance / draws)
    spread = np.sqrt(((found - found.mean()) ** 4).mean() - found.var() ** 2) / np.sqrt(draws)
    assert abs(found.var() - variance) < 5 * spread
    # To leading order: bias h^2/2 m f''(x), variance R(K) f(x) / (n h), for small h.
    small = 0.05
    curvature = (x**2 - 1) * TRUTH.pdf(x)

    def missed(z):
        return c * about.profile(abs(z), 1) * (TRUTH.pdf(x + small * z) - TRUTH.pdf(x))

    bias = quad(missed, -end, end, epsabs=1e-14)[0]
    # The next term is h^2 m_4 f'''' / (12 m_2 f'') of it, 0.15 % for the Gaussian.
    assert_allclose(bias, small**2 / 2 * about.second_moment(1) * curvature, rtol=0.01)
    h, roughness = small, quad(lambda z: (c * about.profile(abs(z), 1)) ** 2, -end, end)[0]
    leading = roughness * TRUTH.pdf(x) / (n * h)
    # The square of the mean, h f / R(K) of it, is left: 0.05 * 0.37 / 0.28 at most.
    assert_allclose(smoothed(2) / (n * h) - smoothed(1) ** 2 / n, leading, rtol=0.08)


def test_a_kernel_of_order_four_has_a_bias_of_order_four():
    about, x = KERNELS["gaussian4"], 0.0
    c = np.exp(about.log_constant(1))

    def bias(h):
        def integrand(z):
            return c * about.profile(abs(z), 1) * (TRUTH.pdf(x + h * z) - TRUTH.pdf(x))

        return quad(integrand, -9, 9, epsabs=1e-14)[0]

    assert_allclose(bias(0.2) / bias(0.1), 16.0, rtol=0.05)  # terms of order six are left


def integrated_error(h, n, d):
    """E of the integral of (f_h - f)^2 for Gaussian kernel and Gaussian data, exactly."""

    def normal(v):
        return (2 * np.pi * v) ** (-d / 2)

    variance = (normal(2 * h**2) - normal(2 + 2 * h**2)) / n
    return variance + normal(2 + 2 * h**2) - 2 * normal(2 + h**2) + normal(2)


def best_bandwidth(n, d):
    found = minimize_scalar(
        lambda log_h: integrated_error(np.exp(log_h), n, d), bounds=(-6, 2), method="bounded",
        options={"xatol": 1e-10},
    )  # fmt: skip
    return np.exp(found.x), found.fun


@pytest.mark.parametrize("d", [1, 2, 3])
def test_the_best_bandwidth_and_error_go_with_their_powers_of_n(d):
    (h, error), (h4, error4) = best_bandwidth(1e8, d), best_bandwidth(1e12, d)
    # Powers in the limit; at a bandwidth of 0.1, terms of relative order h^2 are left.
    assert_allclose(np.log(h4 / h) / np.log(1e4), -1 / (d + 4), rtol=0.03)
    assert_allclose(np.log(error4 / error) / np.log(1e4), -4 / (d + 4), rtol=0.03)
    # The formula for Gaussian data, h = (4 / ((d + 2) n))^(1/(d+4)).
    assert_allclose(h4, (4 / ((d + 2) * 1e12)) ** (1 / (d + 4)), rtol=0.03)


@pytest.mark.parametrize("d", [1, 2])
def test_the_rate_by_simulation(d):
    rng = np.random.default_rng(2)
    side = np.linspace(-4, 4, 201 if d == 1 else 41)
    grid = side[:, None] if d == 1 else np.stack(np.meshgrid(side, side), -1).reshape(-1, 2)
    truth, cell = TRUTH.pdf(grid).prod(axis=1), (side[1] - side[0]) ** d
    errors = []
    sizes = (200, 3200)
    for n in sizes:
        h = (4 / ((d + 2) * n)) ** (1 / (d + 4))
        each = []
        for _ in range(60):
            density = KernelDensity(bandwidth=h, rtol=1e-6).fit(rng.normal(size=(n, d)))
            found = np.exp(density.score_samples(grid))
            each.append(((found - truth) ** 2).sum() * cell)
        # Exactly known on average; 60 draws of the error have a relative error of about 6 %.
        assert_allclose(np.mean(each), integrated_error(h, n, d), rtol=0.3)
        errors.append(np.mean(each))
    rate = np.log(errors[1] / errors[0]) / np.log(sizes[1] / sizes[0])
    # The two means have errors of 6 % each: 0.03 in the rate; three of these.
    assert abs(rate + 4 / (d + 4)) < 0.1


@pytest.mark.parametrize("kernel", ["gaussian", "tophat"])
def test_kernel_regression_is_the_plug_in_of_the_joint_kernel_density(kernel):
    rng = np.random.default_rng(3)
    x = rng.normal(size=30)
    y, h, t = np.sin(x) + 0.3 * rng.normal(size=30), 0.5, 0.3
    about = KERNELS[kernel]
    c = np.exp(about.log_constant(1)) / h

    def joint(value):
        """The density of seed C with K(x, y) = K1(x) K2(y), both of bandwidth h."""
        first = [c * about.profile(abs(t - xi) / h, 1) for xi in x]
        second = [c * about.profile(abs(value - yi) / h, 1) for yi in y]
        return np.mean(np.multiply(first, second))

    grid = np.linspace(-8, 8, 8001)
    values = np.array([joint(value) for value in grid])
    plug_in = (grid * values).sum() / values.sum()
    found = KernelRegressor(h, kernel=kernel, scale=None).fit(x[:, None], y).predict([[t]])
    # A sum over a grid of 0.002 is exact for the Gaussian; a jump costs up to half a step.
    assert_allclose(found, plug_in, rtol=0, atol=SUMMED if kernel == "gaussian" else 1e-3)


def test_kernel_classification_is_bayes_rule_with_a_density_for_each_class():
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(60, 2)), rng.integers(0, 3, size=60)
    T = rng.normal(size=(10, 2))
    joint = np.stack(
        [
            np.mean(y == k) * np.exp(KernelDensity(bandwidth=0.7).fit(X[y == k]).score_samples(T))
            for k in range(3)
        ],
        axis=1,
    )
    found = KernelClassifier(0.7, scale=None).fit(X, y).predict_proba(T)
    assert_allclose(found, joint / joint.sum(axis=1, keepdims=True), rtol=SUMMED)


def test_the_curvature_of_the_density_is_what_smoothing_takes_away():
    rng = np.random.default_rng(5)
    x = rng.normal(size=(4000, 1))
    found = KernelDensity(bandwidth=0.5).fit(x).pointwise_errors([[0.0], [2.5]])
    assert found.bias[0] < 0 < found.bias[1]  # at the mode, and in the tail
