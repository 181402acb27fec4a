"""Bandwidths from the data beside sums over all pairs, where rows are sparse, equal or far."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import brentq

from empirisk import KernelDensity, Tuned
from empirisk.runtime.errors import ConvergenceWarning, DataError


def sheather_jones_of_all_pairs(x):
    """The equation of Sheather and Jones (1991), as R's bw.SJ solves it, without bins."""
    n = len(x)
    distance = np.abs(x[:, None] - x)[np.triu_indices(n, 1)]
    low, high = np.percentile(x, [25, 75])
    scale = min(x.std(ddof=1), (high - low) / 1.349)

    def functional(h, hermite, own, power):
        u = (distance / h) ** 2
        total = 2 * (np.exp(-u / 2) * hermite(u)).sum() + n * own
        return total / (n * (n - 1) * h**power * np.sqrt(2 * np.pi))

    def fourth(h):
        return functional(h, lambda u: u**2 - 6 * u + 3, 3, 5)

    sixth = -functional(
        1.23 * scale * n ** (-1 / 9), lambda u: u**3 - 15 * u**2 + 45 * u - 15, -15, 7
    )
    ratio = 1.357 * (fourth(1.24 * scale * n ** (-1 / 7)) / sixth) ** (1 / 7)
    most = 1.144 * scale * n ** (-1 / 5)
    return brentq(
        lambda h: (1 / (2 * np.sqrt(np.pi) * n * fourth(ratio * h ** (5 / 7)))) ** 0.2 - h,
        0.1 * most,
        2 * most,
    )


def unbiased_risk_of_all_pairs(x, h):
    n, u = len(x), (x[:, None] - x) / h
    square = np.exp(-(u**2) / 4).sum() / (np.sqrt(4 * np.pi) * n**2)
    others = (np.exp(-(u**2) / 2).sum() - n) / (np.sqrt(2 * np.pi) * n * (n - 1))
    return (square - 2 * others) / h


@pytest.mark.parametrize("far", [20.0, 1e4, 1e7])
def test_a_row_far_from_all_others_does_not_make_the_bins_coarse(far):
    x = np.append(np.random.default_rng(0).normal(size=400), far)
    found = KernelDensity(bandwidth="sheather-jones").fit(x[:, None]).bandwidth_
    assert_allclose(found, sheather_jones_of_all_pairs(x), rtol=1e-3)  # of bins of h / 200
    found = KernelDensity(bandwidth="ucv").fit(x[:, None]).bandwidth_
    least = min(unbiased_risk_of_all_pairs(x, h) for h in np.geomspace(0.05, 2, 300))
    # The risk is flat around its minimum, of which bins move it by some 1e-6.
    assert unbiased_risk_of_all_pairs(x, found) < least + 1e-5 * abs(least)


def test_ucv_on_a_line_leaves_n_less_one_rows():
    x = np.random.default_rng(4).gamma(2, size=40)
    found = KernelDensity(bandwidth="ucv").fit(x[:, None]).bandwidth_
    grid = found * np.geomspace(0.8, 1.25, 2001)
    best = grid[np.argmin([unbiased_risk_of_all_pairs(x, h) for h in grid])]
    # Bins of h / 200 move the minimum by some 1e-3; n in place of n - 1 moved it by 2e-2.
    assert_allclose(found, best, rtol=5e-3)


@pytest.mark.parametrize("n", [8, 100])
def test_ucv_of_gaussian_rows_goes_on_beyond_the_end_of_r(n):
    x = np.random.default_rng(0).normal(size=n)
    found = KernelDensity(bandwidth="ucv").fit(x[:, None]).bandwidth_
    most = 1.144 * x.std(ddof=1) * n ** (-1 / 5)  # the `upper` of R's bw.ucv
    grid = most * np.geomspace(0.1, 10, 4001)
    best = grid[np.argmin([unbiased_risk_of_all_pairs(x, h) for h in grid])]
    assert found > 1.02 * most
    assert_allclose(found, best, rtol=5e-3)  # of bins, as above


def test_ucv_of_rounded_numbers_is_no_narrower_than_their_steps():
    x = np.random.default_rng(1).normal(size=(500, 1))
    rounded = KernelDensity(bandwidth="ucv").fit(x.round(1)).bandwidth_
    exact = KernelDensity(bandwidth="ucv").fit(x).bandwidth_
    assert_allclose(
        rounded, exact, rtol=0.1
    )  # steps of 0.1 add 0.1^2 / 12 to the variance: 3 % seen


def test_ucv_says_why_the_narrowest_bandwidth_is_the_best():
    rows = np.repeat(np.random.default_rng(0).normal(size=(30, 2)), 2, axis=0)
    with pytest.warns(ConvergenceWarning, match="equal make it: use 'cv'"):
        KernelDensity(bandwidth="ucv").fit(rows)
    with pytest.warns(ConvergenceWarning, match="use 'sheather-jones' or 'cv'"):
        KernelDensity(bandwidth="ucv").fit(rows[:, :1])
    skew = np.random.default_rng(0).exponential(size=(50, 1)) ** 2  # none of which are equal
    with pytest.warns(ConvergenceWarning, match="denser in some places make it"):
        KernelDensity(bandwidth="ucv").fit(skew)
    with pytest.warns(ConvergenceWarning, match="rows that are equal make it"):
        KernelDensity(bandwidth="ucv").fit(skew, sample_weight=np.full(50, 2.0))


@pytest.mark.parametrize("kernel", ["gaussian", "epanechnikov"])
@pytest.mark.parametrize("spread", [1e-3, 1e-6])
def test_groups_far_apart_have_a_bandwidth_of_their_own_size(kernel, spread):
    rng = np.random.default_rng(0)
    one = rng.normal(size=(60, 1))
    two = np.concatenate([spread * one, 1 + spread * rng.normal(size=(60, 1))])
    found = KernelDensity(bandwidth="cv", kernel=kernel).fit(two).bandwidth_
    # That of one group alone, but for chance and the number of rows.
    assert_allclose(
        found, spread * KernelDensity(bandwidth="cv", kernel=kernel).fit(one).bandwidth_, rtol=0.5
    )


@pytest.mark.parametrize("rule", ["sheather-jones", "ucv"])
def test_weights_of_one_row_together_are_refused(rule):
    x = np.random.default_rng(0).normal(size=(50, 1))
    with pytest.raises(DataError, match="weights sum to 1"):
        KernelDensity(bandwidth=rule).fit(x, sample_weight=np.full(50, 1 / 50))


def test_one_sample_in_two_columns_has_no_ucv():
    with pytest.raises(DataError, match="one sample"):
        KernelDensity(bandwidth="ucv").fit(np.full((9, 2), 3.0))


@pytest.mark.parametrize("bandwidth", ["scott", [0.3, 0.5], [[0.4, 0.1], [0.1, 0.3]]])
def test_numbers_far_from_zero_keep_their_digits(bandwidth):
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(100, 2)), 6) + 1e9  # differences are exact
    near = KernelDensity(bandwidth=bandwidth).fit(X - 1e9)
    far = KernelDensity(bandwidth=bandwidth).fit(X)
    # Those of the covariance; about 1e-6 where a matrix meets numbers of 1e9.
    assert_allclose(far.score_samples(X), near.score_samples(X - 1e9), rtol=1e-11)


def test_bins_are_not_taken_where_their_places_are_rounded():
    rng = np.random.default_rng(0)
    x = np.round(rng.normal(size=20_000) * 2**9) / 2**9 + 1e12  # differences are exact
    t = 1e12 + np.linspace(-4, 4, 65)
    near = KernelDensity(bandwidth=0.5, rtol=1e-5).fit(x[:, None] - 1e12)
    far = KernelDensity(bandwidth=0.5, rtol=1e-5).fit(x[:, None])
    logs = near.score_samples(t[:, None] - 1e12)
    assert np.abs(np.expm1(far.score_samples(t[:, None]) - logs)).max() < 2e-5  # of either 1e-5


def test_tuned_bandwidths_fit_into_the_support():
    x = np.random.default_rng(0).uniform(size=(60, 1))
    model = Tuned(KernelDensity(kernel="exponential", support=(0, 1)), random_state=0).fit(x)
    assert 0 < model.best_value_ <= 0.5
