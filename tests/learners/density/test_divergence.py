"""Kullback-Leibler divergences: formulas, integrals, and estimates that cover them."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import integrate, stats
from sklearn.exceptions import NotFittedError
from sklearn.mixture import GaussianMixture as PeerMixture
from sklearn.neighbors import KernelDensity as PeerKernels

from empirisk import ParametricDensity, kl_divergence
from empirisk.learners.density.divergence import entropy
from empirisk.runtime.errors import DataError, ParameterError
from tolerances import SOLVED, SUMMED


def integrated(f, g, low, high):
    return integrate.quad(lambda x: f.pdf(x) * (f.logpdf(x) - g.logpdf(x)), low, high)[0]


def density(family, x):
    return ParametricDensity(family).fit(np.asarray(x)[:, None])


def law(fitted):
    return getattr(stats, fitted.family)(*fitted.parameters_[0].values())


def test_of_gaussians_it_is_the_integral():
    rng = np.random.default_rng(0)
    f = ParametricDensity().fit(rng.normal(size=(30, 1)))
    g = ParametricDensity().fit(3 * rng.normal(size=(30, 1)) + 1)
    twins = [stats.norm(each.mean_[0], each.scale_[0]) for each in (f, g)]
    found = kl_divergence(f, g)
    assert_allclose(found.value, integrated(*twins, -15, 15), rtol=1e-9)  # of the quadrature
    assert (found.method, found.standard_error, found.interval) == ("closed form", None, None)
    assert kl_divergence(f, f).value == 0


def test_of_gaussians_in_several_dimensions_it_is_the_formula():
    rng = np.random.default_rng(0)
    X, Z = rng.normal(size=(40, 3)), rng.normal(size=(50, 3)) @ rng.normal(size=(3, 3))
    f, g = ParametricDensity(shrinkage=0.2).fit(X), ParametricDensity().fit(Z)
    S, T, away = f.covariance_, g.covariance_, g.mean_ - f.mean_
    inverse = np.linalg.inv(T)
    by_hand = np.trace(inverse @ S) + away @ inverse @ away - 3
    by_hand += np.log(np.linalg.det(T) / np.linalg.det(S))
    assert_allclose(kl_divergence(f, g).value, by_hand / 2, rtol=SOLVED)
    # Whatever the units.
    units = [1e150, 1e-150, 7.0]
    scaled = [ParametricDensity(shrinkage=s).fit(r * units) for s, r in ((0.2, X), (0.0, Z))]
    assert_allclose(kl_divergence(*scaled).value, by_hand / 2, rtol=SUMMED)


def test_drawn_rows_come_near_the_integral():
    x = stats.gamma.rvs(2.0, size=200, random_state=np.random.default_rng(0))
    f, g = density("gamma", x), density("lognorm", x)
    found = kl_divergence(f, g, n_draws=20_000, random_state=1)
    wanted = integrated(law(f), law(g), 0, 40)
    # Five standard errors: a right estimate fails with probability 6e-7.
    assert abs(found.value - wanted) < 5 * found.standard_error
    assert found.n == 20_000
    assert found.interval[0] < found.value < found.interval[1]
    assert found == kl_divergence(f, g, n_draws=20_000, random_state=1)
    assert "Monte Carlo, 20000 rows" in str(found)


def test_intervals_cover():
    x = stats.gamma.rvs(2.0, size=200, random_state=np.random.default_rng(0))
    f, g = density("gamma", x), density("weibull_min", x)
    wanted = integrated(law(f), law(g), 0, 40)
    runs = [kl_divergence(f, g, n_draws=2000, random_state=seed).interval for seed in range(200)]
    covered = sum(low <= wanted <= high for low, high in runs)
    # 190 of 200 are expected; fewer than 176 have probability below 1e-5.
    assert covered >= 176


def test_a_density_that_makes_rows_impossible_is_infinitely_far():
    f = density("norm", [-1.0, 1.0])
    found = kl_divergence(f, density("expon", [1.0, 2.0]), random_state=0)
    assert found.value == np.inf
    assert found.interval is None


def test_densities_of_other_libraries_are_taken():
    rng = np.random.default_rng(0)
    f = PeerKernels(bandwidth=0.3).fit(rng.normal(size=(300, 1)))
    g = ParametricDensity().fit(rng.normal(size=(300, 1)))
    near = kl_divergence(f, g, random_state=0)
    assert 0 < near.value < 0.2
    far = ParametricDensity().fit(3 + rng.normal(size=(300, 1)))
    assert kl_divergence(f, far, random_state=0).value > 3


@pytest.mark.parametrize("p", [1, 3])
def test_of_rows_the_entropy_is_estimated(p):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(4000, p))
    truth = p * 0.5 * np.log(2 * np.pi * np.e)
    # The standard error is about sqrt((p / 2 + 2) / 4000) = 0.03; the bias is far below in 3-d.
    assert_allclose(entropy(rows), truth, rtol=0, atol=0.15)
    assert_allclose(entropy(rows * 2.0**300), truth + 300 * p * np.log(2), rtol=0, atol=0.15)
    # N(0, I) from N(1, I): |1|^2 / 2.
    g = ParametricDensity().fit(rng.normal(size=(4000, p)) + 1)
    found = kl_divergence(rows, g)
    assert_allclose(
        found.value, p / 2, rtol=0, atol=0.15
    )  # an entropy, as above, and a mean of log g
    assert found.method == "nearest neighbours"
    assert found.interval is None


def test_what_has_no_divergence_is_named():
    g = ParametricDensity().fit([[1.0], [2.0]])
    with pytest.raises(DataError, match="row 0 stands twice"):
        kl_divergence([[1.0], [1.0], [2.0]], g)
    with pytest.raises(DataError, match="same space"):
        kl_divergence(ParametricDensity().fit([[1.0, 2.0], [2.0, 0.0], [0.0, 1.0]]), g)
    with pytest.raises(DataError, match="one density has 2 columns, the other 1"):
        kl_divergence(ParametricDensity("gamma").fit([[1.0, 2.0], [2.0, 1.0], [3.0, 1.0]]), g)
    with pytest.raises(NotFittedError):
        kl_divergence(ParametricDensity(), g)
    with pytest.raises(ParameterError, match="n_draws"):
        kl_divergence(density("expon", [1.0, 2.0]), g, n_draws=0)
    with pytest.raises(ParameterError, match="level"):
        kl_divergence(g, g, level=1)


@pytest.mark.filterwarnings("error")
def test_densities_of_one_frame_are_compared_without_a_word_on_names():
    rows = np.random.default_rng(0).gamma(2.0, size=(60, 2))
    frame = pd.DataFrame(rows, columns=["a", "b"])
    f, g = ParametricDensity("gamma").fit(frame), ParametricDensity("lognorm").fit(frame)
    bare = [ParametricDensity(each.family).fit(rows) for each in (f, g)]
    assert kl_divergence(f, g, random_state=0) == kl_divergence(*bare, random_state=0)
    other = ParametricDensity("lognorm").fit(frame[["b", "a"]])
    with pytest.raises(DataError, match="columns a, b, the other b, a"):
        kl_divergence(f, other, random_state=0)


def test_a_mixture_of_scikit_learn_is_drawn_from():
    rows = np.random.default_rng(0).normal(size=(200, 2))
    peer = PeerMixture(1, random_state=0).fit(rows)
    found = kl_divergence(peer, ParametricDensity().fit(rows + 1), random_state=0)
    known = kl_divergence(ParametricDensity().fit(rows), ParametricDensity().fit(rows + 1)).value
    # Five standard errors: fails with probability 6e-7 by chance; the seed is fixed.
    assert abs(found.value - known) < 5 * found.standard_error
    again = kl_divergence(peer, ParametricDensity().fit(rows + 1), random_state=0)
    assert again == found
    assert peer.random_state == 0


class Odd:
    """A density that is the same everywhere, where its rows are too."""

    def __init__(self, log):
        self.log = log

    def score_samples(self, X):
        return np.full(len(X), self.log)

    def sample(self, n, random_state=None):
        return np.zeros((n, 1))


@pytest.mark.parametrize(("f", "g"), [(-np.inf, 0.0), (-np.inf, -np.inf), (0.0, np.inf)])
def test_what_is_no_number_is_no_infinite_divergence(f, g):
    with pytest.raises(DataError, match=r"is (nan|-inf)"):
        kl_divergence(Odd(f), Odd(g))
    assert kl_divergence(Odd(0.0), Odd(-np.inf)).value == np.inf


def test_the_entropy_of_the_largest_numbers_goes_with_their_unit():
    rows = np.random.default_rng(0).uniform(-1.7, 1.7, size=(50, 2))
    known = entropy(rows) + 2 * 308 * np.log(10.0)
    assert_allclose(entropy(rows * 1e308), known, rtol=SUMMED)
