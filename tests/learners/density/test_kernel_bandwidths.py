"""Bandwidths of kernel densities: given, by rule, by what is left out, and along the axis."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import logsumexp
from sklearn.model_selection import LeaveOneOut

from empirisk import KernelDensity, Tuned, load, risk, save
from empirisk.learners.density import bandwidth_of_rule
from empirisk.learners.density.kernels import KERNELS
from empirisk.runtime.errors import ParameterError, RankWarning
from tolerances import SOLVED, SUMMED

RNG = np.random.default_rng(0)


def test_bandwidths_are_numbers_columns_and_matrices():
    X, T = RNG.normal(size=(80, 2)), RNG.normal(size=(30, 2))
    number, columns, matrix = (
        KernelDensity(bandwidth=h).fit(X).score_samples(T)
        for h in (0.5, [0.5, 0.5], [[0.5, 0.0], [0.0, 0.5]])
    )
    assert_allclose(columns, number, rtol=SUMMED)
    assert_allclose(matrix, number, rtol=SUMMED)
    B = np.array([[0.6, 0.2], [0.2, 0.4]])
    z = (T[:, None] - X) @ np.linalg.inv(B)
    known = logsumexp(-0.5 * (z**2).sum(2), axis=1) - np.log(80 * 2 * np.pi * np.linalg.det(B))
    assert_allclose(KernelDensity(bandwidth=B).fit(X).score_samples(T), known, rtol=SUMMED)


@pytest.mark.parametrize(
    ("rule", "kernel"),
    [("scott", "gaussian"), ("scott", "epanechnikov"), ("ucv", "gaussian"), ("cv", "gaussian")],
)
def test_a_rule_does_not_depend_on_the_units_of_columns(rule, kernel, tmp_path):
    X = RNG.normal(size=(60, 3)) @ np.array([[1.0, 0.5, 0.0], [0.0, 1.0, -0.8], [0.3, 0.0, 1.0]])
    T, units = X[:20] + 0.1, np.array([1e-4, 1e9, 1.0])
    one = KernelDensity(bandwidth=rule, kernel=kernel).fit(X)
    other = KernelDensity(bandwidth=rule, kernel=kernel).fit(X * units)
    known = one.score_samples(T) - np.log(units).sum()
    assert_allclose(other.score_samples(T * units), known, rtol=SOLVED)
    save(other, tmp_path / "density")
    assert_array_equal(load(tmp_path / "density").score_samples(X), other.score_samples(X))


@pytest.mark.parametrize("units", [[1.0, 1.0, 1.0], [1.0, 1e-3, 1e6], [1e-7, 1.0, 1e6]])
def test_rows_in_a_plane_are_named_whatever_the_units(units):
    plane = RNG.normal(size=(60, 2)) @ RNG.normal(size=(2, 3)) * units
    with pytest.warns(RankWarning, match="fewer than 3 dimensions"):
        KernelDensity(bandwidth="scott").fit(plane)


def test_equal_rows_are_left_out_together_however_products_are_rounded(monkeypatch):
    X = np.repeat(RNG.normal(size=(30, 4)), 2, axis=0)
    known = KernelDensity(bandwidth="cv").fit(X).bandwidth_

    def rounded(rows, weight, spread):  # as products of matrices may be, row by row
        return placed(rows, weight, spread) * (1 + 2e-16 * (np.arange(60) % 3)[:, None])

    placed = bandwidth_of_rule._centred
    monkeypatch.setattr(bandwidth_of_rule, "_centred", rounded)
    found = KernelDensity(bandwidth="cv").fit(X).bandwidth_
    assert_allclose(found, known, rtol=SUMMED)


@pytest.mark.parametrize(
    ("bandwidth", "message"),
    [
        (0.0, "positive"),
        (np.inf, "positive"),
        ("scot", "sheather-jones"),
        ([0.5, -1.0], "positive"),
        ([[1.0, 2.0], [2.0, 1.0]], "positive definite"),
        ([1.0, 2.0, 3.0], "matrix"),
        (None, "matrix"),
    ],
)
def test_a_wrong_bandwidth_is_refused(bandwidth, message):
    with pytest.raises(ParameterError, match=message):
        KernelDensity(bandwidth=bandwidth).fit(RNG.normal(size=(10, 2)))


@pytest.mark.filterwarnings("ignore:the risk of 'ucv':empirisk.runtime.errors.ConvergenceWarning")
@pytest.mark.parametrize("rule", ["scott", "silverman", "sheather-jones", "ucv", "cv"])
def test_bandwidths_by_rule_go_with_the_units_and_with_copies(rule):
    x = RNG.gamma(3.0, size=(60, 1))
    one = KernelDensity(bandwidth=rule).fit(x).bandwidth_
    other = KernelDensity(bandwidth=rule).fit(1000 * x).bandwidth_
    # Roots and minima are found to 1e-8, bins are rounded.
    assert_allclose(other, 1000 * one, rtol=1e-6)
    weight = RNG.integers(0, 4, size=60)
    weighted = KernelDensity(bandwidth=rule).fit(x, sample_weight=weight).bandwidth_
    copied = KernelDensity(bandwidth=rule).fit(np.repeat(x, weight, axis=0)).bandwidth_
    assert_allclose(weighted, copied, rtol=SUMMED)


@pytest.mark.parametrize("kernel", ["gaussian", "epanechnikov"])
@pytest.mark.parametrize("d", [1, 2])
def test_the_bandwidth_by_cross_validation_has_the_largest_likelihood_left_out(kernel, d):
    X = RNG.normal(size=(40, d))
    density = KernelDensity(kernel=kernel, bandwidth="cv").fit(X)

    def left_out(bandwidth):
        scaled = KernelDensity(kernel=kernel, bandwidth=bandwidth)
        folds = (np.delete(np.arange(40), i) for i in range(40))
        return sum(scaled.fit(X[rest]).score(X[[i]]) for i, rest in enumerate(folds))

    best = left_out(density.bandwidth_)
    for factor in (0.5, 0.8, 1.25, 2.0):
        assert left_out(factor * np.asarray(density.bandwidth_)) < best


def test_many_rows_on_a_line_are_left_out_by_subtraction():
    x = np.concatenate([RNG.normal(size=(2500, 1)), [[50.0], [51.0]]])  # two far from all others
    from empirisk.learners.density.bandwidth_rules import left_out_logs
    from empirisk.learners.density.pair_sums import pair_logs

    groups, weight, values = np.arange(len(x)), np.ones(len(x)), np.array([0.1, 0.5])
    fast = left_out_logs(KERNELS["gaussian"], x, weight, groups, values, None)
    slow = pair_logs(KERNELS["gaussian"], x, groups, x, groups, weight, values)
    # Sums to 1e-14, and at most three digits lost by subtracting.
    assert_allclose(fast, slow, rtol=1e-9, atol=1e-10)


def test_ucv_in_two_columns_is_the_integrated_squared_error():
    X = RNG.normal(size=(60, 2))
    density = KernelDensity(bandwidth="ucv").fit(X)

    def criterion(bandwidth):
        fitted = KernelDensity(bandwidth=bandwidth).fit(X)
        wide = KernelDensity(bandwidth=np.sqrt(2) * bandwidth).fit(X)
        square = np.exp(wide.score_samples(X)).mean()  # the integral of the square
        own = 1 / (60 * 2 * np.pi * np.linalg.det(bandwidth))
        others = (np.exp(fitted.score_samples(X)) - own).mean() * 60 / 59
        return square - 2 * others

    best = criterion(density.bandwidth_)
    for factor in (0.6, 0.85, 1.2, 1.7):
        assert criterion(factor * density.bandwidth_) > best


@pytest.mark.parametrize("options", [{}, {"kernel": "biweight"}, {"support": (-6, None)}])
@pytest.mark.parametrize("d", [1, 3])
def test_all_folds_and_bandwidths_from_one_pass(options, d):
    if "support" in options:
        options = {"support": ((-6, None),) * d}
    X = RNG.normal(size=(45, d))
    learner = KernelDensity(**options)
    problem = risk.Problem.of(learner, X, None, loss="log_density")
    for cv in (LeaveOneOut(), 5):
        plan = problem.plan(cv)
        values = [0.3, 1.0, 3.0]
        fast = risk.out_of_fold(learner, problem, plan, values=values)
        slow = risk.out_of_fold(learner, problem, plan, values=values, rung="generic")
        assert fast.rung == "plan"
        assert_allclose(fast.losses, slow.losses, rtol=SUMMED)


def test_many_rows_on_a_line_go_by_folds():
    x = RNG.normal(size=(2400, 1))
    tuned = Tuned(KernelDensity(), values=[0.1, 0.2, 0.4], cv=3).fit(x)
    assert tuned.path_.rung == "path"
    assert "boxes" in tuned.path_.why
    problem = risk.Problem.of(KernelDensity(), x, None, loss="log_density")
    slow = risk.out_of_fold(
        KernelDensity(), problem, problem.plan(3), values=[0.1, 0.2, 0.4], rung="generic"
    )
    assert_allclose(tuned.path_.risk, slow.risk, rtol=SUMMED)


def test_rules_are_found_again_in_every_fold():
    x = RNG.normal(size=(40, 1))
    found = KernelDensity(bandwidth="silverman").density_risk(x, cv=4)
    plan = risk.Problem.of(KernelDensity(), x, None, loss="log_density").plan(4)
    by_hand = [
        -KernelDensity(bandwidth="silverman").fit(x[plan.train(s)]).score(x[plan.test(s)])
        for s in range(4)
    ]
    assert_allclose(found.value, sum(by_hand) / 40, rtol=SUMMED)


def test_rounded_numbers_are_not_given_spikes():
    rng = np.random.default_rng(0)
    group = rng.random(300) < 0.4
    exact = np.where(group, rng.normal(54, 6, size=300), rng.normal(80, 6, size=300))[:, None]
    rounded = np.round(exact)  # 95 % stand twice: spikes of a width of 0.2 would look best
    chosen = Tuned(KernelDensity(), random_state=0).fit(rounded).best_value_
    assert 1 < chosen < 6
    # Neighbours on the grid are far apart, and near its minimum the risk is flat.
    assert_allclose(chosen, Tuned(KernelDensity(), random_state=0).fit(exact).best_value_, rtol=0.5)
    grid = KernelDensity().axis_values(exact, None, np.ones(300), n_train=270)
    assert grid[0] < 0.3  # rows that differ have the usual ones


def test_the_risk_says_where_equal_rows_choose_the_narrowest_bandwidth():
    rows = np.repeat(np.random.default_rng(0).normal(size=(40, 1)), 3, axis=0)
    apart = Tuned(KernelDensity(), random_state=0).fit(rows)
    assert apart.best_value_ == min(apart.path_.values)
    assert "equal rows on both sides of a split" in str(apart.risk_)
    together = Tuned(KernelDensity(), random_state=0)
    together.fit(rows, groups=np.repeat(np.arange(40), 3))
    assert together.best_value_ > min(together.path_.values)
    assert "narrowest" not in str(together.risk_)


def test_the_risk_says_where_the_grid_ends_above_the_best_bandwidth():
    rng = np.random.default_rng(0)
    rows = np.concatenate([rng.normal(0, 1e-4, (50, 1)), rng.normal(1, 1e-4, (50, 1))])
    found = Tuned(KernelDensity(), random_state=0).fit(rows)
    assert "narrower ones may have less" in str(found.risk_)
    finer = Tuned(KernelDensity(), values=np.geomspace(1e-6, 1, 30), random_state=0).fit(rows)
    assert finer.risk_.value < found.risk_.value
    assert "narrow" not in str(finer.risk_)
