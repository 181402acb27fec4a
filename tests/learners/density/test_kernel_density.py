"""KernelDensity beside obvious sums and scikit-learn; its support, draws and bias."""

import numpy as np
import pytest
from matplotlib.figure import Figure
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from scipy.special import gammaln
from sklearn.exceptions import NotFittedError
from sklearn.neighbors import KernelDensity as PeerKernelDensity

from empirisk import KernelDensity
from empirisk.learners.density.kernels import KERNELS
from empirisk.runtime.errors import DataError, ParameterError, RankWarning
from tolerances import SOLVED, SUMMED

RNG = np.random.default_rng(0)
PROFILES = {
    "gaussian": lambda u, d: np.exp(-(u**2) / 2),
    "tophat": lambda u, d: 1.0 * (u < 1),
    "epanechnikov": lambda u, d: (1 - u**2) * (u < 1),
    "exponential": lambda u, d: np.exp(-u),
    "linear": lambda u, d: (1 - u) * (u < 1),
    "triangle": lambda u, d: (1 - u) * (u < 1),
    "cosine": lambda u, d: np.cos(np.pi * u / 2) * (u < 1),
    "biweight": lambda u, d: (1 - u**2) ** 2 * (u < 1),
    "triweight": lambda u, d: (1 - u**2) ** 3 * (u < 1),
    "gaussian4": lambda u, d: (1 + d / 2 - u**2 / 2) * np.exp(-(u**2) / 2),
    "epanechnikov4": lambda u, d: (1 - u**2) * (1 - (d + 6) / (d + 2) * u**2) * (u < 1),
}


def obvious_sums(kernel, X, weight, h, T):
    """sum_i w_i k(|t - x_i| / h), clipped at 0, by the definition."""
    distance = np.linalg.norm(T[:, None] - X, axis=2) / h
    return np.maximum(PROFILES[kernel](distance, X.shape[1]) @ weight, 0.0)


@pytest.mark.parametrize("kernel", PROFILES)
@pytest.mark.parametrize("d", [1, 2, 4])
def test_a_density_is_the_weighted_mean_of_its_kernels(kernel, d):
    X, T = RNG.normal(size=(150, d)), 1.5 * RNG.normal(size=(90, d))
    weight = RNG.uniform(0.1, 3, size=150)
    density = KernelDensity(kernel=kernel, bandwidth=0.8).fit(X, sample_weight=weight)
    known = obvious_sums(kernel, X, weight, 0.8, T)
    constant = np.exp(KERNELS[kernel].log_constant(d)) / (weight.sum() * 0.8**d)
    # Sums of 150 terms, of either sign for kernels of order 4, in another order.
    assert_allclose(np.exp(density.score_samples(T)), known * constant, rtol=1e-10, atol=1e-15)


@pytest.mark.parametrize(
    "kernel", ["gaussian", "tophat", "epanechnikov", "exponential", "linear", "cosine"]
)
@pytest.mark.parametrize("d", [1, 3])
def test_the_densities_of_scikit_learn(kernel, d):
    X, T = RNG.normal(size=(200, d)), RNG.normal(size=(50, d))
    ours = KernelDensity(kernel=kernel, bandwidth=0.7).fit(X)
    peer = PeerKernelDensity(kernel=kernel, bandwidth=0.7).fit(X)
    known = peer.score_samples(T)
    known = np.where(known < -30, -np.inf, known)  # where it subtracts, rounding is left
    assert_allclose(ours.score_samples(T), known, rtol=SUMMED)
    some = X[:20]
    assert_allclose(ours.score(some), peer.score(some), rtol=SUMMED)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("d", [1, 2])
def test_every_kernel_integrates_to_one_and_has_the_moments_it_says(kernel, d):
    about = KERNELS[kernel]
    end = 1.0 if about.bounded else 45.0 if kernel == "exponential" else 12.0
    side = np.linspace(-end, end, 400001 if d == 1 else 3001)
    step = side[1] - side[0]
    grid = side[:, None] if d == 1 else np.stack(np.meshgrid(side, side), -1).reshape(-1, 2)
    u = np.linalg.norm(grid, axis=1)
    value = np.exp(about.log_constant(d)) * PROFILES[kernel](u, d)
    second = (value * grid[:, 0] ** 2).sum() * step**d
    # A sum over a grid; jumps of the tophat and kinks cost most, up to 8e-6.
    assert_allclose(value.sum() * step**d, 1.0, rtol=0, atol=0.0001)
    assert_allclose(second, about.second_moment(d), rtol=0, atol=1e-4)
    assert_allclose((value**2).sum() * step**d, about.roughness(d), rtol=1e-4)


@pytest.mark.parametrize("new", [{"kernel": "tophat"}, {"support": (-4.0, None)}])
def test_parameters_that_are_changed_after_a_fit_hold_from_then_on(new):
    X = RNG.normal(size=(50, 1))
    density = KernelDensity(bandwidth=0.5).fit(X)
    density.score_samples(X)
    known = KernelDensity(bandwidth=0.5, **new).fit(X).score_samples(X)
    assert_array_equal(density.set_params(**new).score_samples(X), known)


@pytest.mark.parametrize("kernel", KERNELS)
def test_kernels_of_many_columns_integrate_to_one_and_smooth_alike(kernel):
    d = 784

    def log_integral(kernel, power, moment=0):
        """Over distances: numbers themselves would be too large, or too small."""
        end = 1.0 if KERNELS[kernel].bounded else 2000.0 if kernel == "exponential" else 37.0
        u = (np.arange(400_000) + 0.5) / 400_000 * end
        value = PROFILES[kernel](u, d)
        log = -u if kernel == "exponential" else np.log(np.maximum(np.abs(value), 1e-300))
        log = power * log + (d - 1 + moment) * np.log(u / end)
        sign = np.where(value < 0, -1.0, 1.0) ** power
        whole = (sign * np.exp(log - log.max())).sum()
        return np.log(whole) + log.max() + (d + moment) * np.log(end) - np.log(400_000)

    log_sphere = np.log(2) + d / 2 * np.log(np.pi) - gammaln(d / 2)
    known = -log_integral(kernel, 1) - log_sphere
    # A sum over a grid, whose steps are 0.002 of the width of the shell with the mass.
    assert_allclose(KERNELS[kernel].log_constant(d), known, rtol=0, atol=1e-4)
    kernel = kernel.removesuffix("4")
    rougher = log_integral(kernel, 2) - 2 * log_integral(kernel, 1)
    rougher -= log_integral("gaussian", 2) - 2 * log_integral("gaussian", 1)
    variance = log_integral(kernel, 1, 2) - log_integral(kernel, 1) - np.log(d)
    known = np.exp((rougher - 2 * variance) / (d + 4))
    # As above, over d + 4.
    assert_allclose(KERNELS[kernel].canonical(d), known, rtol=1e-6)


def test_the_cosine_in_two_columns_is_a_density_here_and_not_in_scikit_learn():
    side = np.linspace(-1, 1, 801)
    grid = np.stack(np.meshgrid(side, side), -1).reshape(-1, 2)
    area = (side[1] - side[0]) ** 2
    ours, peer = (
        each(kernel="cosine").fit([[0.0, 0.0]]) for each in (KernelDensity, PeerKernelDensity)
    )
    # A sum over a grid, of a kernel with a kink: 5e-8 seen.
    assert_allclose(np.exp(ours.score_samples(grid)).sum() * area, 1.0, rtol=1e-6)
    assert np.exp(peer.score_samples(grid)).sum() * area < 0.5


@pytest.mark.parametrize(
    "wrong", [{"kernel": "gauss"}, {"metric": "manhattan"}, {"rtol": -1}, {"support": (1, 0)}]
)
def test_wrong_parameters_are_refused(wrong):
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        KernelDensity(**wrong).fit(RNG.normal(size=(10, 1)))


@pytest.mark.parametrize("kernel", ["gaussian", "epanechnikov", "exponential"])
@pytest.mark.parametrize("support", [(0.0, None), (0.0, 1.0), (None, 1.0)])
def test_a_density_on_a_support_integrates_to_one_on_it(kernel, support):
    x = RNG.beta(1.0, 1.5, size=(80, 1))
    density = KernelDensity(kernel=kernel, bandwidth=0.15, support=support).fit(x)
    grid = np.linspace(-0.0 if support[0] is not None else -9.0, 1 if support[1] else 10.0, 40001)
    value = np.exp(density.score_samples(grid[:, None]))
    # The trapezoidal rule; kinks of the kernel cost a step squared.
    assert_allclose(np.trapezoid(value, grid), 1.0, rtol=1e-5)
    outside = [[-0.01]] if support[0] is not None else [[1.01]]
    assert density.score_samples(outside) == -np.inf
    drawn = density.sample(500, random_state=0)
    assert np.isfinite(density.score_samples(drawn)).all()


def test_a_support_of_two_columns():
    X = RNG.random((60, 2))
    density = KernelDensity(bandwidth=[0.2, 0.3], support=((0, 1), (0, None))).fit(X)
    side = (np.arange(400) + 0.5) / 400
    grid = np.stack(np.meshgrid(side, 4 * side), -1).reshape(-1, 2)
    # The mid-point rule errs by less than rounding, and nothing lies beyond 4.
    assert_allclose(np.exp(density.score_samples(grid)).mean() * 4, 1.0, rtol=1e-12)
    with pytest.raises(ParameterError, match="number"):
        KernelDensity(bandwidth=np.eye(2), support=((0, 1), (0, 1))).fit(X)
    with pytest.raises(DataError, match="outside"):
        KernelDensity(support=((0, 0.5), (0, 1))).fit(X)
    with pytest.raises(ParameterError, match="too large"):
        KernelDensity(bandwidth=1e3, support=((0, 1), (0, 1))).fit(X).score_samples(X)


def test_a_column_without_ends_is_none_among_the_supports_of_columns():
    X = RNG.random((40, 2))
    said = KernelDensity(bandwidth=0.2, support=[(0, None), (None, None)]).fit(X)
    short = KernelDensity(bandwidth=0.2, support=[(0, None), None]).fit(X)
    np.testing.assert_array_equal(short.score_samples(X), said.score_samples(X))
    for ends in ([None, None], [None]):
        columns = X[:, : len(ends)]
        free = KernelDensity(bandwidth=0.2).fit(columns)
        ended = KernelDensity(bandwidth=0.2, support=ends).fit(columns)
        # The same kernels at the same rows; only the order of the sums may differ.
        assert_allclose(ended.score_samples(columns), free.score_samples(columns), rtol=1e-12)


@pytest.mark.parametrize("kernel", KERNELS)
def test_draws_have_the_distribution_of_the_density(kernel):
    x = np.array([[-1.0], [0.5], [0.6]])
    density = KernelDensity(kernel=kernel, bandwidth=0.7).fit(x, sample_weight=[1.0, 2.0, 1.0])
    drawn = density.sample(4000, random_state=3)[:, 0]
    grid = np.linspace(-30, 30, 200001)
    value = np.exp(density.score_samples(grid[:, None]))
    distribution = np.cumsum(value) / value.sum()
    # Kolmogorov's test: fails with probability 1e-4 if the draws are right; the seed is fixed.
    assert stats.kstest(drawn, lambda t: np.interp(t, grid, distribution)).pvalue > 1e-4
    assert_array_equal(density.sample(5, random_state=1), density.sample(5, random_state=1))


def test_draws_in_several_columns_have_the_covariance():
    X, B = RNG.normal(size=(50, 2)), np.array([[0.8, 0.3], [0.3, 0.5]])
    drawn = KernelDensity(bandwidth=B).fit(X).sample(20000, random_state=0)
    # Entries of a covariance of 20,000 rows have errors of about 1 %; five of these.
    assert_allclose(np.cov(drawn.T), np.cov(X.T, ddof=0) + B @ B, rtol=0, atol=0.08)
    with pytest.raises(ParameterError, match="n_samples"):
        KernelDensity().fit(X).sample(0)


@pytest.mark.parametrize("kernel", ["gaussian", "epanechnikov", "cosine", "exponential", "linear"])
def test_pointwise_variance_is_that_of_a_mean(kernel):
    X, T = RNG.normal(size=(100, 1)), np.array([[-1.0], [0.0], [2.0]])
    weight = RNG.integers(1, 4, size=100).astype(float)
    density = KernelDensity(kernel=kernel, bandwidth=0.6).fit(X, sample_weight=weight)
    found = density.pointwise_errors(T)
    copies = np.repeat(np.arange(100), weight.astype(int))
    each = PROFILES[kernel](np.abs(T - X[copies].T) / 0.6, 1)
    each *= np.exp(KERNELS[kernel].log_constant(1)) / 0.6
    assert_allclose(found.density, each.mean(axis=1), rtol=SUMMED)
    assert_allclose(found.variance, each.var(axis=1) / len(copies), rtol=SUMMED)
    low, high = found.interval(0.9)
    assert ((low <= found.density) & (found.density <= high)).all()


@pytest.mark.parametrize("kernel", ["gaussian", "epanechnikov", "exponential"])
def test_pointwise_variance_counts_a_kernel_and_its_reflections_as_one_term(kernel):
    x, t = RNG.uniform(size=60), np.array([0.0, 0.02, 0.5, 1.0])
    weight = RNG.integers(1, 4, size=60).astype(float)
    density = KernelDensity(kernel=kernel, bandwidth=0.2, support=(0, 1))
    found = density.fit(x[:, None], sample_weight=weight).pointwise_errors(t[:, None])
    copies = np.repeat(x, weight.astype(int))
    # Images beyond 20 bandwidths of 0.2 add less than exp(-20).
    images = [side * copies + 2 * k for k in range(-3, 4) for side in (1, -1)]
    each = sum(PROFILES[kernel](np.abs(t[:, None] - image) / 0.2, 1) for image in images)
    each *= np.exp(KERNELS[kernel].log_constant(1)) / 0.2
    assert_allclose(found.variance, each.var(axis=1) / len(copies), rtol=SOLVED)


def test_the_estimated_bias_has_the_sign_and_size_of_the_true_one():
    h, truth = 0.6, stats.norm()
    T = np.array([[0.0], [1.7]])
    smoothed = stats.norm(scale=np.sqrt(1 + h**2)).pdf(T[:, 0])
    X = np.random.default_rng(1).normal(size=(20000, 1))
    found = KernelDensity(bandwidth=h).fit(X).pointwise_errors(T).bias
    # The pilot's own bias is of its squared bandwidth, a tenth here.
    assert_allclose(found, smoothed - truth.pdf(T[:, 0]), rtol=0.3)


def test_no_bias_is_guessed_for_kernels_of_order_four():
    with pytest.raises(ParameterError, match="order 2"):
        KernelDensity(kernel="gaussian4").fit([[0.0], [1.0]]).pointwise_errors([[0.0]])


def test_pictures_of_one_and_two_columns():
    line = KernelDensity(bandwidth="scott").fit(RNG.normal(size=(30, 1)))
    assert line.plot(names=["width"]).get_xlabel() == "width"
    one = line.plot()
    assert one.get_ylabel() == "density"
    two = KernelDensity(bandwidth="scott").fit(RNG.normal(size=(30, 2)))
    ax = Figure().add_subplot()
    assert two.plot(ax, names=["width", "height"]) is ax
    assert ax.get_xlabel() == "width"
    with pytest.raises(ParameterError, match="3 columns has no picture: fit it to one or two"):
        KernelDensity().fit(RNG.normal(size=(9, 3))).plot()
    with pytest.raises(NotFittedError):
        KernelDensity().plot()


def test_degenerate_rows_have_a_bandwidth_or_are_refused():
    flat = np.column_stack([RNG.normal(size=20), np.full(20, 3.0)])
    twice = flat[:, [0, 0]]
    for rows in (flat, twice):
        with pytest.warns(RankWarning, match="fewer than 2 dimensions"):
            density = KernelDensity(bandwidth="scott").fit(rows)
        assert np.isfinite(density.score_samples(rows)).all()
    same = np.full((5, 1), 2.0)
    with pytest.warns(RankWarning, match="all rows are equal"):
        density = KernelDensity(bandwidth="silverman").fit(same)
    assert np.isfinite(density.score_samples(same)).all()
    for rule in ("sheather-jones", "ucv", "cv"):
        with pytest.raises(DataError):
            KernelDensity(bandwidth=rule).fit(same)
    with pytest.raises(ParameterError, match="one column"):
        KernelDensity(bandwidth="sheather-jones").fit(flat)


@pytest.mark.parametrize("kernel", ["gaussian", "exponential"])
@pytest.mark.parametrize("d", [1, 3])
def test_a_common_factor_of_the_weights_does_not_matter(kernel, d):
    X, T = RNG.normal(size=(200, d)), 50 * RNG.normal(size=(80, d))
    known = KernelDensity(bandwidth=0.3, kernel=kernel).fit(X).score_samples(T)
    for factor in (1e-200, 1e60, 1e200):
        density = KernelDensity(bandwidth=0.3, kernel=kernel)
        found = density.fit(X, sample_weight=np.full(200, factor)).score_samples(T)
        # Logarithms of factors, of up to 460, are added and taken away: 460 * 2e-16.
        assert_allclose(found, known, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    "how",
    [{"metric": "l2"}, {"metric": "minkowski"}, {"metric": "minkowski", "metric_params": {"p": 2}}],
)
def test_names_of_the_euclidean_distance_change_nothing(how):
    X = np.random.default_rng(0).normal(size=(30, 2))
    plain, named = KernelDensity().fit(X), KernelDensity(**how).fit(X)
    assert_array_equal(named.score_samples(X), plain.score_samples(X))


@pytest.mark.parametrize(
    "how", [{"metric": "manhattan"}, {"metric": "minkowski", "metric_params": {"p": 1}}]
)
def test_other_distances_are_refused(how):
    with pytest.raises(ParameterError, match=r"metric.* is .*; give"):
        KernelDensity(**how).fit([[1.0], [2.0]])
