"""Statements of the lecture notes on resamples, the bootstrap's limits, and aggregation."""

from itertools import combinations_with_replacement
from math import comb

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats
from sklearn.datasets import load_diabetes
from sklearn.ensemble import BaggingRegressor, RandomForestClassifier
from sklearn.linear_model import LinearRegression

from empirisk.losses import Absolute, Log, Squared, ZeroOne
from empirisk.risk.bagging.out_of_bag import out_of_bag
from empirisk.risk.resampling.bootstrap import bootstrap
from empirisk.risk.resampling.sample import Resamples, distinct_resamples

ERROR_PROBABILITY = 1e-6  # of each statistical test here; the seeds are fixed, so once for all


def test_the_number_of_distinct_resamples():
    # D2.3: C(2N - 1, N), asymptotic to 2^(2N - 1) / sqrt(pi N).
    for n, m in [(1, 1), (3, 3), (4, 2), (2, 5)]:
        assert distinct_resamples(n, m) == len(list(combinations_with_replacement(range(n), m)))
    assert (distinct_resamples(3), distinct_resamples(10)) == (10, 92_378)
    for n in (10, 100, 500):
        limit = 2.0 ** (2 * n - 1) / np.sqrt(np.pi * n)
        assert_allclose(
            distinct_resamples(n) / limit, 1, rtol=0, atol=1 / (7 * n)
        )  # 1 - 1/8n + ...
    assert bootstrap(np.arange(10.0), n_resamples=2).n_distinct == comb(19, 10)
    assert bootstrap(np.arange(10.0), m=4, n_resamples=2).n_distinct == comb(13, 4)


def test_a_resample_of_three_rows_takes_every_one_of_the_ten_forms():
    copies = Resamples(3, 3, 500, 1).copies(slice(0, 500))
    assert len(np.unique(copies, axis=0)) == 10  # the rarest form has probability 1/27


@pytest.mark.parametrize("n, expected", [(10, 0.34868), (100, 0.36603)])
def test_the_share_of_rows_that_a_resample_lacks(n, expected):
    # D2.3, B9.3.1: (1 - 1/n)^n, which goes to 1/e.
    exact = (1 - 1 / n) ** n
    assert_allclose(exact, expected, rtol=0, atol=5e-6)  # five digits are printed
    lacking = Resamples(n, n, 20_000, 2).copies(slice(0, 20_000)) == 0
    share = lacking.mean(axis=1)
    # Rows of a resample are lacking with a negative correlation; resamples are independent.
    z = (share.mean() - exact) / (share.std() / np.sqrt(len(share)))
    assert abs(z) < stats.norm.isf(ERROR_PROBABILITY / 2)
    variance = exact * (1 - exact) / n + (n - 1) / n * ((1 - 2 / n) ** n - exact**2)
    assert_allclose(share.var(), variance, rtol=5 * np.sqrt(2 / 20_000))
    # 1 / (2 * 10^8) is left, and 10^8 times the rounding of 1 - 10^-8, by up to 1.1e-16.
    assert_allclose((1 - 1 / 10**8) ** 10**8, np.exp(-1), rtol=2e-8)


@pytest.mark.parametrize("m", [200, 2000, 20_000])
def test_means_of_resamples_are_normal_in_the_limit(m):
    # D2, Bickel and Freedman (a): sqrt(m) (mean*_m - mean_n) -> N(0, sigma^2), m free of n. The
    # Berry-Esseen distance is at most 0.5 E|x|^3 / (s^3 sqrt m), far below what 2,000 replicates
    # can see (0.06 at the error probability) for a bounded x.
    x = np.random.default_rng(3).uniform(size=2000)
    found = bootstrap(x, m=m, n_resamples=2000, random_state=0).replicates
    z = np.sqrt(m) * (found - x.mean()) / x.std()
    assert stats.kstest(z, "norm").pvalue > ERROR_PROBABILITY
    assert_allclose(z.std(), 1, rtol=5 / np.sqrt(4000))


def test_the_spread_of_a_resample_goes_to_that_of_the_population():
    # D2, Bickel and Freedman (b), with divisor n in both: P(|s*_m - sigma| > e) -> 0.
    sigma, beyond = 1 / np.sqrt(12), []
    for n in (20, 200, 2000):
        x = np.random.default_rng(4).uniform(size=n)
        found = bootstrap(x, "std", n_resamples=500, random_state=0).replicates
        beyond.append(np.mean(np.abs(found - sigma) > 0.02))
    assert beyond[0] > 0.2
    assert beyond[2] == 0


def test_the_bootstrap_fails_for_the_maximum_and_fewer_rows_mend_it():
    # Of a uniform sample n (1 - max) is exponential in the limit, a continuous law. The bootstrap
    # puts the mass 1 - (1 - 1/n)^n -> 1 - 1/e on the maximum itself, at every n; m rows, m/n -> 0,
    # put 1 - (1 - 1/n)^m there.
    n, m, B = 100_000, 200, 20_000
    x = np.random.default_rng(5).uniform(size=n)
    whole = bootstrap(x, "max", n_resamples=B, random_state=0).replicates
    exact = 1 - (1 - 1 / n) ** n
    assert abs(np.mean(whole == x.max()) - exact) < 5 * np.sqrt(exact * (1 - exact) / B)
    assert_allclose(exact, 1 - np.exp(-1), rtol=0, atol=1 / n)
    assert stats.kstest(n * (x.max() - whole), "expon").statistic > 0.5
    fewer = bootstrap(x, "max", n_resamples=B, m=m, rate=1.0, random_state=0)
    # What remains: the n/m = 500 largest values of the sample are known to 1/sqrt(500) = 4 %.
    assert stats.kstest(m * (x.max() - fewer.replicates), "expon").statistic < 0.1
    assert_allclose(fewer.standard_error, 1 / n, rtol=0.2)  # scaled from m to n by m/n


def test_the_loss_of_the_mean_is_never_above_the_mean_loss():
    # D3.1, mended: for convex losses and the *mean* loss of the members, row by row; not the loss
    # of the one model that was fitted on all data.
    X, y = load_diabetes(return_X_y=True)
    bag = BaggingRegressor(LinearRegression(), n_estimators=25, random_state=0).fit(X, y)
    each = np.array([member.predict(X) for member in bag.estimators_])
    for loss in (Squared(), Absolute()):
        of_mean, mean = loss(y, each.mean(axis=0)), loss(y[None], each).mean(axis=0)
        assert (of_mean <= mean * (1 + 1e-12)).all()
        assert (of_mean < mean).any()
    gap = Squared()(y[None], each).mean(axis=0) - Squared()(y, each.mean(axis=0))
    assert_allclose(gap, each.var(axis=0), rtol=1e-6)  # the gap of the squared loss is the variance
    codes = (y > np.median(y)).astype(int)
    forest = RandomForestClassifier(25, max_depth=4, random_state=0).fit(X, codes)
    chances = np.array([tree.predict_proba(X) for tree in forest.estimators_])
    log = Log()(codes, chances.mean(axis=0)), Log()(codes[None], chances).mean(axis=0)
    assert (log[0] <= log[1] + 1e-12).all()
    # The 0-1 loss is not convex: where most members are wrong, the vote makes all of them wrong.
    votes = chances.argmax(axis=2)
    of_vote = ZeroOne()(codes, (votes.mean(axis=0) > 0.5).astype(int))
    assert (of_vote > ZeroOne()(codes[None], votes).mean(axis=0)).any()


def test_out_of_bag_losses_of_the_aggregate_are_below_those_of_the_members():
    X, y = load_diabetes(return_X_y=True)
    bag = BaggingRegressor(n_estimators=40, random_state=0).fit(X, y)
    total, times = np.zeros((2, len(y)))
    for member, drawn in zip(bag.estimators_, bag.estimators_samples_, strict=True):
        rows = np.setdiff1d(np.arange(len(y)), drawn)
        total[rows] += (y[rows] - member.predict(X[rows])) ** 2
        times[rows] += 1
    aggregate = out_of_bag(bag, X, y).losses
    assert (aggregate <= total / times * (1 + 1e-12)).all()
    assert aggregate.mean() < 0.7 * np.mean(total / times)  # trees vary: much is gained
