"""Bootstrap intervals: laws that each method obeys, and coverage where theory gives it."""

import matplotlib
import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from empirisk.risk.resampling.bootstrap import bootstrap
from empirisk.risk.resampling.intervals import acceleration, mean_and_spread, order_quantile
from empirisk.runtime.errors import ParameterError
from tolerances import SUMMED

METHODS = ("percentile", "basic", "bca", "studentised")


@pytest.fixture(scope="module")
def skewed():
    return np.random.default_rng(0).gamma(1.5, size=40)


@pytest.mark.parametrize("method", METHODS)
def test_intervals_move_with_the_data(skewed, method):
    one = bootstrap(skewed, n_resamples=999, random_state=0).interval(method, 0.9)
    other = bootstrap(7.0 - 3.0 * skewed, n_resamples=999, random_state=0).interval(method, 0.9)
    # Turned round, the normal interpolation of order statistics is the same: 1000 * 0.05 is whole.
    assert_allclose(np.subtract(7.0, np.multiply(3.0, one[::-1])), other, rtol=1e-9)


@pytest.mark.parametrize("method", ["percentile", "bca"])
def test_percentile_and_bca_transform_with_the_statistic(skewed, method):
    # The level makes (B + 1) alpha whole for percentile; BCa interpolates between neighbours, which
    # a transformation bends a little: they are 1e-3 apart.
    mean = bootstrap(skewed, lambda x: x.mean(), n_resamples=1999, random_state=0)
    log = bootstrap(skewed, lambda x: np.log(x.mean()), n_resamples=1999, random_state=0)
    if method == "percentile":
        assert_allclose(np.exp(log.interval(method, 0.9)), mean.interval(method, 0.9), rtol=SUMMED)
    else:
        # The acceleration is that of a jackknife, invariant to first order only: 1/n.
        assert_allclose(np.exp(log.interval(method, 0.9)), mean.interval(method, 0.9), rtol=5e-3)


def test_basic_mirrors_percentile_at_the_value(skewed):
    found = bootstrap(skewed, "median", n_resamples=999, random_state=0)
    low, high = found.interval("percentile", 0.9)
    expected = 2 * found.value - high, 2 * found.value - low
    assert_allclose(found.interval("basic", 0.9), expected, rtol=SUMMED)


def test_bca_moves_towards_the_longer_tail(skewed):
    found = bootstrap(skewed, n_resamples=4999, random_state=0)
    low, high = found.interval("percentile")
    corrected_low, corrected_high = found.interval("bca")
    assert corrected_low > low
    assert corrected_high > high


def test_studentised_means_by_formula_jackknife_and_function_agree(skewed):
    found = bootstrap(skewed, n_resamples=499, random_state=0)
    by_formula = found.interval("studentised", 0.9)
    assert_allclose(found.interval("studentised", 0.9, errors="jackknife"), by_formula, rtol=SUMMED)
    by_hand = found.interval("studentised", 0.9, errors=lambda x: x.std(ddof=1) / np.sqrt(len(x)))
    assert_allclose(by_hand, by_formula, rtol=SUMMED)
    nested = found.interval("studentised", 0.9, errors=200)
    # 200 resamples give a standard error to 5 %: over seeds the ends vary by 0.7 %; five of these.
    assert_allclose(nested, by_formula, rtol=0.04)


def test_studentised_means_of_groups_and_weights_agree_with_the_jackknife():
    rng = np.random.default_rng(1)
    x, groups, weight = rng.normal(size=60), np.sqrt(7 * np.arange(60)), rng.uniform(1, 2, 60)
    groups = groups.astype(int)  # 21 of them, of 1 to 6 rows
    found = bootstrap(x, groups=groups, n_resamples=199, random_state=0)
    errors = found.statistic.standard_errors(np.ones((1, found.n)))[0, 0]
    # A ratio of sums: the jackknife and the delta method agree to first order.
    assert_allclose(errors, found.jackknife_standard_error, rtol=0.1)
    weighted = bootstrap(x, sample_weight=weight, n_resamples=199, random_state=0)
    low, high = weighted.interval("studentised", 0.9)
    assert low < weighted.value < high


def test_nested_errors_of_a_median_are_studentised(skewed):
    found = bootstrap(skewed, "median", n_resamples=199, random_state=0)
    low, high = found.interval("studentised", 0.9)
    assert low < found.value < high
    again = bootstrap(skewed, "median", n_resamples=199, random_state=0, n_jobs=2)
    assert again.interval("studentised", 0.9) == (low, high)


def test_fewer_rows_in_a_resample_give_an_interval_for_the_rows_at_hand(skewed):
    # Deviations of 10 rows, halved, are deviations of 40.
    whole = bootstrap(skewed, n_resamples=9999, random_state=0)
    fewer = bootstrap(skewed, n_resamples=9999, m=10, random_state=1)
    assert_allclose(
        fewer.standard_error, whole.standard_error, rtol=0.05
    )  # five Monte Carlo errors
    for method in ("basic", "studentised"):
        width = np.subtract(*fewer.interval(method)) / np.subtract(*whole.interval(method))
        assert 0.85 < width < 1.35  # the shape is that of means of 10: t has longer tails


def test_quantiles_are_order_statistics_of_b_plus_one():
    x = np.random.default_rng(2).normal(size=99)
    ordered = np.sort(x)
    for k in (1, 5, 50, 99):
        assert order_quantile(x[:, None], k / 100) == ordered[k - 1]
    between = order_quantile(x[:, None], 0.123)
    part = (stats.norm.ppf(0.123) - stats.norm.ppf(0.12)) / (
        stats.norm.ppf(0.13) - stats.norm.ppf(0.12)
    )
    assert_allclose(between, ordered[11] + part * (ordered[12] - ordered[11]), rtol=SUMMED)


def test_mean_and_spread_are_those_of_numpy_at_any_scale():
    x = np.random.default_rng(3).normal(size=(50, 2))
    for scale in (1.0, 2.0**700, 2.0**-700):
        mean, spread = mean_and_spread(x * scale)
        assert_allclose(mean / scale, x.mean(axis=0), rtol=SUMMED)
        assert_allclose(spread / scale, x.std(axis=0, ddof=1), rtol=SUMMED)


def test_pictures_have_labels(skewed):
    matplotlib.use("agg")
    one = bootstrap(skewed, "median", n_resamples=99, random_state=0).plot()
    assert one.get_xlabel() == "median of a resample"
    assert one.get_ylabel() == "resamples"
    several = bootstrap(np.column_stack([skewed, skewed]), n_resamples=99, random_state=0).plot()
    assert several.get_xlabel() == "mean"
    assert [label.get_text() for label in several.get_yticklabels()] == ["0", "1"]
    axes = one.figure.add_subplot()
    found = bootstrap(skewed, n_resamples=99, random_state=0)
    assert found.plot(axes, method="bca", level=0.8) is axes


@pytest.mark.slow
def test_intervals_for_a_skewed_mean_cover():
    # 2,000 samples of 30 exponential numbers, nominal 90 %: the known order of the methods, with
    # Monte Carlo error 0.7 %. Studentised and BCa are second-order right, the others too short.
    rng = np.random.default_rng(4)
    covered = dict.fromkeys(METHODS, 0)
    for _ in range(2000):
        found = bootstrap(rng.exponential(size=30), n_resamples=999, random_state=rng)
        for method in METHODS:
            low, high = found.interval(method, 0.9)
            covered[method] += low < 1 < high
    share = {method: count / 2000 for method, count in covered.items()}
    assert 0.87 < share["studentised"] < 0.93
    assert 0.84 < share["bca"] < 0.92
    assert share["studentised"] > share["bca"] > share["basic"]


def test_equal_values_have_no_acceleration():
    for n in range(2, 40):
        assert acceleration(np.full((n, 1), 0.1))[0] == 0


def test_of_fewer_rows_the_interval_of_a_maximum_reaches_beyond_it():
    found = bootstrap(np.random.default_rng(0).random(500), "max", m=50, rate=1, random_state=0)
    with pytest.raises(ParameterError, match="take 'basic'"):
        found.interval("percentile")
    low, high = found.interval("basic")
    assert low >= found.value
    assert low <= 1 <= high
    assert "95 % basic interval" in str(found)
