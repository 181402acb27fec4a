"""Bias and variance of density estimates."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats
from sklearn.base import BaseEstimator
from sklearn.mixture import GaussianMixture
from sklearn.neighbors import KernelDensity

from empirisk.risk import Axis
from empirisk.risk.decomposition import decompose_density_path, density_bias_variance
from empirisk.risk.decomposition.density_grid import grid_around, grid_of
from empirisk.runtime.errors import DataError, ParameterError
from empirisk.runtime.streams import generator, spawn
from tolerances import LAST_BITS, SUMMED


class Histogram(BaseEstimator):
    """Four cells on [0, 1]; it has `pdf`, and no `score_samples`."""

    def fit(self, X):
        self.share_ = np.histogram(X, bins=4, range=(0, 1))[0] / len(X)
        return self

    def pdf(self, X):
        cell = np.clip((4 * np.ravel(X)).astype(int), 0, 3)
        return 4 * self.share_[cell]


def test_a_histogram_has_the_variance_of_its_counts():
    # Uniform density: no bias, and Var f(x) = 16 (1/4)(3/4)/n at each x.
    grid = (np.arange(40) + 0.5) / 40
    found = density_bias_variance(
        Histogram(), stats.uniform(), 30, grid=grid, n_sets=400, random_state=0
    )
    width = grid[-1] - grid[0]  # the trapezoids leave out half a cell on both sides
    for part, truth in (("variance", 3 / 30 * width), ("bias_squared", 0.0)):
        # five errors: probability 6e-7
        assert abs(found.parts[part] - truth) < 5 * found.standard_error[part]
    assert_allclose(found.bias_squared + found.variance, found.total, rtol=LAST_BITS)
    assert "97.5 % of the mass" in found.sentence


def test_the_parts_are_integrals_of_the_textbook_formulas():
    grid = np.linspace(-4, 4, 81)
    found = density_bias_variance(
        KernelDensity(bandwidth=0.5), stats.norm(), 20, grid=grid, n_sets=15, random_state=2
    )
    curves = []
    for seed in spawn(2, 16)[1:]:
        x = stats.norm.rvs(size=20, random_state=generator(seed))
        curves.append(stats.norm.pdf(grid[:, None], x, 0.5).mean(axis=1))
    variance = np.var(curves, axis=0, ddof=1)
    bias_squared = (np.mean(curves, axis=0) - stats.norm.pdf(grid)) ** 2 - variance / 15
    assert_allclose(found.variance, np.trapezoid(variance, grid), rtol=SUMMED)
    assert_allclose(found.bias_squared, np.trapezoid(bias_squared, grid), rtol=SUMMED)
    assert_allclose(found.pointwise["mean_prediction"], np.mean(curves, axis=0), rtol=SUMMED)
    assert found.plot().get_xlabel()
    assert found.plot_predictions().get_ylabel()
    assert not hasattr(found, "noise")


def test_two_features_and_an_estimator_that_is_right():
    truth = stats.multivariate_normal([0, 1], [[1, 0.3], [0.3, 2]])
    found = density_bias_variance(GaussianMixture(), truth, 200, n_sets=10, random_state=0)
    assert len(found.points) == 64**2
    assert found.bias_squared < found.variance < 1e-3


def test_along_the_bandwidth():
    bandwidth = Axis(("bandwidth",), larger="simpler", scale="log")
    path = decompose_density_path(
        KernelDensity(), [0.05, 0.4, 2.0], stats.norm(), 60, axis=bandwidth, n_sets=20,
        random_state=0,
    )  # fmt: skip
    assert (np.diff(path.part("bias_squared")) > 0).all()
    assert (np.diff(path.part("variance")) < 0).all()
    assert path.best_value == 0.4
    assert path.plot().get_xscale() == "log"
    with pytest.raises(ParameterError, match="axis"):
        decompose_density_path(KernelDensity(), [0.1], stats.norm(), 60)


def test_grids():
    grid = grid_of([np.array([0.0, 1.0, 3.0]), np.array([0.0, 2.0])])
    assert_allclose(grid.volume.sum(), 6, rtol=SUMMED)
    assert_allclose(
        grid.volume @ grid.points[:, 0], 9, rtol=SUMMED
    )  # the integral of x over [0, 3] x [0, 2]
    draws = np.random.default_rng(0).normal(size=(5000, 3))
    assert grid_around(draws).points.shape == (16**3, 3)
    with pytest.raises(ParameterError, match="too many"):
        grid_around(np.zeros((5, 4)))
    with pytest.raises(ParameterError, match="increasing"):
        grid_of([2.0, 1.0])


def test_a_density_that_is_infinite_on_the_grid_is_refused():
    with pytest.raises(DataError, match="infinite"):
        density_bias_variance(
            KernelDensity(), stats.gamma(0.5), 10, grid=np.linspace(0, 1, 5), n_sets=5
        )


def test_what_is_no_density_is_answered_with_what_is():
    with pytest.raises(ParameterError, match=r"with rvs and pdf, such as scipy.stats.norm"):
        density_bias_variance(KernelDensity(), np.zeros(3), 20)


def integrated_error_of_kernels(pdf, quantile, bandwidth, n, places):
    """The mean integrated squared error of a Gaussian kernel estimate, by three integrals.

    integral (f - K*f)^2 dx + [R(K)/h - integral (K*f)^2 dx] / n, with K*f from quantiles of f.
    """
    x = np.unique(np.concatenate([places, np.linspace(-8 * bandwidth, 30, 20_001)]))
    levels = (np.arange(4000) + 0.5) / 4000
    atoms = quantile(levels)
    smooth = np.array([stats.norm.pdf(atoms, place, bandwidth).mean() for place in x])
    roughness = 1 / (2 * np.sqrt(np.pi) * bandwidth)
    bias_squared = np.trapezoid((pdf(x) - smooth) ** 2, x)
    return bias_squared + (roughness - np.trapezoid(smooth**2, x)) / n


@pytest.mark.parametrize(
    "law", [stats.lognorm(2.0), stats.lognorm(1.5), stats.cauchy(), stats.norm(), stats.expon()]
)
def test_the_default_grid_sees_peaks_and_tails(law):
    near = law.ppf(np.linspace(1e-4, 1 - 1e-4, 3001))
    wanted = integrated_error_of_kernels(law.pdf, law.ppf, 0.3, 50, near)
    found = density_bias_variance(KernelDensity(bandwidth=0.3), law, 50, n_sets=100, random_state=0)
    # four errors, probability 6e-5; one per cent for the integrals
    assert abs(found.total - wanted) < 4 * found.standard_error["total"] + 0.01 * wanted
    assert "100 % of the mass)" in found.sentence


def test_the_default_grid_sees_estimates_that_are_wider_than_the_density():
    found = density_bias_variance(
        KernelDensity(bandwidth=10.0), stats.norm(), 2000, n_sets=4, random_state=0
    )
    # integral of (N(0, 1) - N(0, 101))^2
    wanted = stats.norm.pdf(0, 0, [np.sqrt(2), np.sqrt(202), np.sqrt(102)]) @ [1, 1, -2]
    assert_allclose(found.total, wanted, rtol=0.01)  # the variance of 2000 rows is less than that
    low, high = found.plot_predictions().get_xlim()
    assert -6 < low < -4 < 4 < high < 6  # the picture is of the bulk


def test_a_grid_that_does_not_show_the_density_is_said_or_refused():
    def found(law, grid=None):
        return density_bias_variance(
            KernelDensity(), law, 20, grid=grid, n_sets=5, random_state=0
        ).sentence

    assert "too coarse, or the squared density has no finite" in found(stats.gamma(0.5))
    assert "50 % of the mass, the integrals without" in found(stats.norm(), np.linspace(0, 5, 90))
    with pytest.raises(ParameterError, match=r"122 % of its mass on the grid: give a grid"):
        found(stats.norm(scale=0.02), np.arange(-5.04, 5, 0.06))
    with pytest.raises(ParameterError, match=r"of its mass on the grid: give a grid"):
        found(stats.multivariate_t([0, 0], np.eye(2), df=0.5, seed=0))
    with pytest.raises(ParameterError, match="0 % of its mass"):
        found(stats.norm(), [50.0, 60.0])
    for wrong in ("a", [], [0.0, 1.0, np.inf], [[0.0, 1.0], "a"]):
        with pytest.raises(ParameterError, match="grid"):
            found(stats.norm(), wrong)


@pytest.mark.parametrize("n", [0, -1, "a", 2.5])
def test_a_sample_of_no_rows_is_refused(n):
    with pytest.raises(ParameterError, match=f"n is {n!r}"):
        density_bias_variance(KernelDensity(), stats.norm(), n)
