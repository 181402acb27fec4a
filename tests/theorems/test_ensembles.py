"""Statements of the notes on bagging and forests (A2.2, B9.3.1, D3, D5).

The number of distinct resamples, the share of rows that a resample lacks, and the loss of a mean
beside the mean loss are in test_bootstrap.py; the majority of order-correct classifiers by the
binomial distribution is in test_auc.py.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from empirisk import DecisionTreeRegressor, RandomForestRegressor
from empirisk.risk import aggregate_variance, bias_variance, populations
from tolerances import SUMMED

ERROR_PROBABILITY = 1e-6  # of each statistical test here; the seeds are fixed, so once for all
Z = stats.norm.isf(ERROR_PROBABILITY / 2)


def noisy_sine(n, seed):
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, 2))
    return X, np.sin(6 * X[:, 0]) + X[:, 1] + 0.5 * rng.normal(size=n)


@pytest.mark.parametrize(("n", "printed"), [(10, 0.34868), (100, 0.36603), (20_000, 0.36787)])
def test_the_share_of_rows_out_of_bag_tends_to_one_in_e(n, printed):
    # B9.3.1: (1 - 1/n)^n -> 1/e, as the members of a forest draw.
    share = (1 - 1 / n) ** n
    assert share == pytest.approx(printed, abs=5e-6)  # five digits
    assert abs(share - np.exp(-1)) < 0.2 / n  # 1/(2en) to first order
    X, y = noisy_sine(n, 0)
    forest = RandomForestRegressor(40, max_depth=1, max_features=1, random_state=0).fit(X, y)
    lacking = np.array([n - len(np.unique(rows)) for rows in forest.estimators_samples_]) / n
    # Given which rows are lacking others are so less often: the variance is below the binomial.
    assert abs(lacking.mean() - share) < Z * np.sqrt(share * (1 - share) / (40 * n))


def test_the_variance_of_a_mean_of_correlated_variables_is_an_identity():
    # A2.2, for variances and covariances of a sample, whatever the variables, with means over
    # members and pairs of them in place of sigma^2 and rho sigma^2.
    rng = np.random.default_rng(1)
    T = rng.exponential(size=(30, 1)) * rng.normal(size=(30, 7)) + rng.normal(size=(30, 1))
    covariance = np.cov(T.T)
    B = len(covariance)
    variance = np.trace(covariance) / B
    rho = (covariance.sum() - np.trace(covariance)) / (B * (B - 1)) / variance
    formula = (1 - rho) / B * variance + rho * variance
    assert_allclose(T.mean(axis=1).var(ddof=1), formula, rtol=SUMMED)


@pytest.mark.parametrize("rho", [0.0, 0.25, 0.8])
@pytest.mark.parametrize("B", [2, 20])
def test_the_variance_of_a_mean_of_equally_correlated_variables(rho, B):
    rng = np.random.default_rng(2)
    common, own = rng.normal(size=(4000, 1)), rng.normal(size=(4000, B))
    mean = 3 * (np.sqrt(rho) * common + np.sqrt(1 - rho) * own).mean(axis=1)
    formula = 9 * (rho + (1 - rho) / B)
    ends = stats.chi2.ppf([ERROR_PROBABILITY / 2, 1 - ERROR_PROBABILITY / 2], 3999) / 3999
    assert ends[0] < mean.var(ddof=1) / formula < ends[1]


def test_trees_of_independent_training_sets_average_to_a_variance_over_b():
    # B9.3.1: Var = sigma^2 / B where training sets are independent; the mean stays the same.
    B, sets, point = 8, 150, [[0.4, 0.5]]
    trees = np.array([
        [
            DecisionTreeRegressor(max_leaf_nodes=8).fit(*noisy_sine(40, B * m + b)).predict(point)
            for b in range(B)
        ]
        for m in range(sets)
    ])[..., 0]  # fmt: skip
    one, mean = trees.var(ddof=1), trees.mean(axis=1).var(ddof=1)
    ends = stats.chi2.ppf([ERROR_PROBABILITY / 2, 1 - ERROR_PROBABILITY / 2], sets - 1)
    assert ends[0] < (sets - 1) * mean / (one / B) < ends[1]  # 0.5 to 1.7 times
    assert mean < one / 3


def test_trees_of_one_training_set_are_correlated_as_the_formula_says():
    found = aggregate_variance(
        RandomForestRegressor(12), populations.sine(), 40, n_sets=60, n_points=50, random_state=0
    )
    assert 0.2 < found.correlation < 0.6  # far from independent
    error = np.hypot(found.observed_error, found.formula_error)
    # Errors by 12 groups of sets each: t with some 12 degrees, beyond 6 with probability 1e-4.
    assert (np.abs(found.observed - found.formula) < 6 * error).all()
    assert (np.diff(found.observed) < 0).all()
    # If trees were independent the mean of 12 would have a twelfth: the observed is far above.
    assert found.observed[-1] - 4 * error[-1] > found.member_variance / 12


def test_bagging_need_not_beat_the_one_fit_on_all_rows():
    # D3.1, mended: below the mean loss of its members, yet above the loss of the fit on all rows.
    # Least squares is stable, and all rows are more than the 63 % that a member sees.
    n, p, B = 16, 3, 30
    excess = []
    for seed in range(800):
        rng = np.random.default_rng(seed)
        X, beta = rng.normal(size=(n, p)), np.ones(p)
        y = X @ beta + rng.normal(size=n)
        whole = np.linalg.lstsq(X, y)[0]
        drawn = rng.integers(n, size=(B, n))
        members = np.array([np.linalg.lstsq(X[rows], y[rows])[0] for rows in drawn])
        # With standard normal features the risk of b is 1 + |b - beta|^2.
        of = [((b - beta) ** 2).sum(axis=-1) for b in (whole, members.mean(axis=0), members)]
        excess.append([of[0], of[1], of[2].mean()])
    whole, bag, member = np.array(excess).T
    assert (bag <= member).all()
    gap = bag - whole
    assert gap.mean() > Z * gap.std(ddof=1) / np.sqrt(800)  # 9 % worse, in the mean over sets


def rate_of_vote(P, Q, voters, draws=20_000):
    """How often the plurality of independent classifiers with chances Q is right under P."""
    rng = np.random.default_rng(voters)
    votes = rng.multinomial(voters, Q, size=draws)
    leads = votes == votes.max(axis=1, keepdims=True)
    return (leads / leads.sum(axis=1, keepdims=True) @ P).mean()  # ties are broken by lot


@pytest.mark.parametrize(("voters", "rate"), [(1, 0.58), (11, 0.7028), (101, 0.8833), (501, 0.9)])
def test_the_vote_of_order_correct_classifiers_approaches_the_bayes_rate(voters, rate):
    # D3.1: P = (0.9, 0.1), Q = (0.6, 0.4).
    error = 0.8 * np.sqrt(0.25 / 20_000)
    assert abs(rate_of_vote([0.9, 0.1], [0.6, 0.4], voters) - rate) < Z * error


def test_three_classes_and_a_plurality_far_below_one_half():
    P, Q = np.array([0.8, 0.15, 0.05]), np.array([0.4, 0.35, 0.25])
    one = float(P @ Q)
    assert one == pytest.approx(0.385, rel=SUMMED)
    rates = [rate_of_vote(P, Q, voters) for voters in (1, 25, 250, 2500)]
    assert (np.diff(rates) > 0).all()
    # Approached with 2500 votes, not reached.
    assert rates[-1] == pytest.approx(P.max(), abs=0.005)


def test_the_vote_of_classifiers_that_are_not_order_correct_gets_worse():
    # Q = (0.4, 0.6) against P = (0.9, 0.1): from 0.42 to the worst rate there is, 0.1.
    right = {B: stats.binom.sf(B // 2, B, 0.4) for B in (1, 11, 101, 501)}
    rates = [0.9 * chance + 0.1 * (1 - chance) for chance in right.values()]
    assert rates[0] == pytest.approx(0.42, rel=SUMMED)
    assert (np.diff(rates) < 0).all()
    assert rates[-1] == pytest.approx(0.1, abs=1e-5)  # 0.8 * 3e-6 is left with 501 votes


def test_bagging_converges_to_the_aggregate_at_the_rate_of_a_monte_carlo_mean():
    # D3.2: means of B members lie about the limit with the variance v/B, v that of the members.
    X, y = noisy_sine(60, 3)
    members = 600
    forest = RandomForestRegressor(members, max_depth=4, random_state=0).fit(X, y)
    each = np.array([tree.predict(X[:1])[0] for tree in forest.estimators_])
    assert_allclose(each.mean(), forest.predict(X[:1])[0], rtol=SUMMED)
    v = each.var(ddof=1)
    for B in (3, 12, 30):
        means = each.reshape(-1, B).mean(axis=1)
        free = len(means) - 1
        ends = stats.chi2.ppf([ERROR_PROBABILITY / 2, 1 - ERROR_PROBABILITY / 2], free) / free
        assert ends[0] < means.var(ddof=1) / (v / B) < ends[1]
    # The whole forest is within 5 of its own errors, sqrt(v/B), of another one.
    other = RandomForestRegressor(members, max_depth=4, random_state=1).fit(X, y).predict(X[:1])[0]
    assert abs(other - each.mean()) < Z * np.sqrt(2 * v / members)


def test_a_forest_cuts_the_variance_of_a_tree_and_a_bag():
    # D5.3: small bias, and less variance; fewer features at a split for less correlation.
    population = populations.friedman(5)
    tree, bag, forest = (
        bias_variance(learner, population, 100, n_sets=24, n_points=200, random_state=0)
        for learner in (
            DecisionTreeRegressor(),
            RandomForestRegressor(20),
            RandomForestRegressor(20, max_features=2),
        )
    )
    error = {found: found.standard_error["variance"] for found in (tree, bag, forest)}
    assert bag.variance + Z * error[bag] < tree.variance - Z * error[tree]
    assert bag.variance < tree.variance / 2
    assert forest.variance < bag.variance
    assert forest.bias_squared > bag.bias_squared  # the price
    assert forest.excess < tree.excess / 1.5
