"""Bounds: formulas written out, other systems, what is sharper, what is refused."""

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import ShuffleSplit
from sklearn.neighbors import KNeighborsClassifier

from empirisk import LinearDiscriminantAnalysis, Plan, Ridge, compare, select
from empirisk.risk import bounds, cross_validate, evaluate
from empirisk.risk.estimate import RiskEstimate
from empirisk.risk.intervals.loss_table import LossTable
from empirisk.runtime.errors import DataError, ParameterError
from tolerances import LAST_BITS, SOLVED, SUMMED

TEST_SET = (bounds.hoeffding, bounds.chernoff, bounds.empirical_bernstein, bounds.clopper_pearson)


def estimate(losses, *, weight=None, unit=None, split=None, kind="test", bounds=(0.0, 1.0)):
    losses = np.asarray(losses, dtype=float)
    n = len(losses)
    table = LossTable(
        losses=losses,
        weight=np.ones(n) if weight is None else np.asarray(weight, dtype=float),
        unit=np.arange(n) if unit is None else np.asarray(unit),
        split=np.zeros(n, dtype=int) if split is None else np.asarray(split),
        n_train=100.0,
        kind=kind,
        bounds=bounds,
    )
    return RiskEstimate.of(table, loss="zero_one", estimates="this model", fingerprint="x")


def mistakes(wrong, n):
    return estimate(np.arange(n) < wrong)


def data(n=200, p=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, X[:, 0] + 0.7 * rng.normal(size=n) > 0


@pytest.mark.parametrize("level", [0.9, 0.99])
def test_hoeffding_written_out(level):
    found = bounds.hoeffding(mistakes(10, 80), level=level)
    assert_allclose(
        found.interval, (0, 10 / 80 + np.sqrt(np.log(1 / (1 - level)) / 160)), rtol=SUMMED
    )
    both = bounds.hoeffding(mistakes(40, 80), level=level, sides="both")
    half = np.sqrt(np.log(2 / (1 - level)) / 160)
    assert_allclose(both.interval, (0.5 - half, 0.5 + half), rtol=SUMMED)
    assert found.value == 10 / 80
    assert found.level == level
    assert "independent" in found.reason


def test_empirical_bernstein_written_out():
    losses = np.random.default_rng(0).beta(1, 9, size=300)
    logarithm = np.log(2 / 0.05)
    half = np.sqrt(2 * losses.var(ddof=1) * logarithm / 300) + 7 * logarithm / (3 * 299)
    found = bounds.empirical_bernstein(estimate(losses))
    assert_allclose(found.interval, (0, losses.mean() + half), rtol=SUMMED)


@pytest.mark.parametrize(("wrong", "n"), [(0, 1), (1, 1), (0, 30), (3, 30), (29, 30), (30, 30)])
def test_clopper_pearson_as_in_scipy(wrong, n):
    upper = bounds.clopper_pearson(mistakes(wrong, n), level=0.9).interval[1]
    exact = stats.binomtest(wrong, n, alternative="less").proportion_ci(0.9, method="exact")
    assert_allclose(upper, exact.high, rtol=SUMMED)
    both = bounds.clopper_pearson(mistakes(wrong, n), level=0.9, sides="both").interval
    exact = stats.binomtest(wrong, n).proportion_ci(0.9, method="exact")
    assert_allclose(both, (exact.low, exact.high), rtol=SOLVED, atol=LAST_BITS)


@pytest.mark.parametrize("mean", [0.0, 0.03, 0.5, 1.0])
def test_chernoff_is_where_the_relative_entropy_reaches_the_limit(mean):
    n = 100
    low, high = bounds.chernoff(estimate(np.full(n, mean)), level=0.9, sides="both").interval
    for p in (low, high):
        if 0 < p < 1:
            entropy = stats.entropy([mean, 1 - mean], [p, 1 - p])
            assert entropy == pytest.approx(np.log(20) / n, rel=SUMMED)
    assert low <= mean <= high
    if mean == 0:
        assert_allclose(high, 1 - 20 ** (-1 / n), rtol=1e-9)  # (1 - p)^n = 1/20


def test_the_sharper_ones_are_sharper():
    for wrong, n in product((0, 1, 10, 50), (50, 400)):
        ends = {bound.__name__: bound(mistakes(wrong, n)).interval[1] for bound in TEST_SET}
        assert ends["clopper_pearson"] <= ends["chernoff"] + 1e-12 <= ends["hoeffding"] + 1e-12
    few = {bound.__name__: bound(mistakes(5, 5000)).interval[1] for bound in TEST_SET}
    assert few["empirical_bernstein"] < few["hoeffding"] / 2


def test_weights_and_groups_count_by_what_is_independent():
    rng = np.random.default_rng(0)
    losses = rng.random(60)
    w = rng.uniform(0.5, 2, 60)
    found = bounds.hoeffding(estimate(losses, weight=w))
    n = w.sum() ** 2 / (w**2).sum()
    assert_allclose(
        found.interval[1], w @ losses / w.sum() + np.sqrt(np.log(20) / (2 * n)), rtol=SUMMED
    )
    group = np.arange(60) // 3
    found = bounds.hoeffding(estimate(losses, unit=group))
    assert_allclose(found.interval[1], losses.mean() + np.sqrt(np.log(20) / 40), rtol=SUMMED)
    means = losses.reshape(20, 3).mean(axis=1)
    assert_allclose(
        bounds.empirical_bernstein(estimate(losses, unit=group)).interval[1],
        bounds.empirical_bernstein(estimate(means)).interval[1],
        rtol=SUMMED,
    )
    # Equal weights are no weights, whatever they are; unequal ones cost Bernstein a factor.
    for bound in TEST_SET[:3]:
        same = bound(estimate(losses, weight=np.full(60, 7.0))).interval
        assert_allclose(same, bound(estimate(losses)).interval, rtol=SUMMED)
    with pytest.raises(ParameterError, match="equal weight"):
        bounds.chernoff(estimate(losses, weight=w))


def test_weighted_bernstein_is_the_bound_of_the_weighted_losses():
    rng = np.random.default_rng(0)
    losses, w = rng.random(60), rng.uniform(0.5, 2, 60)
    x = w / w.max() * losses  # independent, in [0, 1], with mean R sum(w) / (n max w)
    plain = bounds.empirical_bernstein(estimate(x)).interval[1]
    found = bounds.empirical_bernstein(estimate(losses, weight=w)).interval[1]
    assert_allclose(found, min(plain * 60 * w.max() / w.sum(), 1), rtol=SUMMED)


@pytest.mark.parametrize("scale", [1e-150, 1.0, 1e150])
def test_the_range_of_the_loss_scales_the_bound(scale):
    losses = np.random.default_rng(0).random(100)
    for bound in TEST_SET[:3]:
        plain = bound(estimate(losses)).interval[1]
        scaled = bound(estimate(losses * scale, bounds=(0.0, scale))).interval[1]
        assert_allclose(scaled / scale, plain, rtol=SUMMED)
    shifted = bounds.hoeffding(estimate(losses - 0.5, bounds=(-1.0, 1.0)), sides="both")
    half = 2 * np.sqrt(np.log(40) / 200)
    assert_allclose(
        shifted.interval, (losses.mean() - 0.5 - half, losses.mean() - 0.5 + half), rtol=SUMMED
    )


def test_unbounded_losses_need_a_range():
    X, y = data()
    model = Ridge().fit(X, y.astype(float))
    found = evaluate(model, X, y.astype(float))
    with pytest.raises(ParameterError, match="loss_range"):
        bounds.hoeffding(found)
    assert bounds.hoeffding(found, loss_range=(0, 25)).interval[1] <= 25
    with pytest.raises(DataError, match="outside"):
        bounds.hoeffding(found, loss_range=(0, 1e-3))


def test_cross_validated_losses_have_the_bound_of_one_fold():
    X, y = data()
    found = cross_validate(LinearDiscriminantAnalysis(), X, y, cv=5)
    bound = bounds.hoeffding(found)
    assert_allclose(bound.interval[1], found.value + np.sqrt(np.log(20) / (2 * 40)), rtol=SUMMED)
    assert "5 splits" in bound.reason
    for other in TEST_SET[1:]:
        with pytest.raises(ParameterError, match="took no part"):
            other(found)
    with pytest.raises(ParameterError, match="'time'"):
        bounds.hoeffding(estimate(np.zeros(10), kind="time"))


def test_one_shuffled_split_is_not_called_several():
    X, y = data()
    split = ShuffleSplit(n_splits=1, test_size=40, random_state=0)
    found = cross_validate(LinearDiscriminantAnalysis(), X, y, cv=split)
    bound = bounds.hoeffding(found)
    assert_allclose(bound.interval[1], found.value + np.sqrt(np.log(20) / (2 * 40)), rtol=SUMMED)
    assert bound.reason == (
        "of the risk of the model of one split, for any distribution of independent rows: the mean "
        "is one of 40 rows"
    )
    with pytest.raises(ParameterError, match="'training'"):
        bounds.hoeffding(estimate(np.zeros(10), kind="training"))


def test_a_union_shares_the_error_probability():
    found = bounds.union(mistakes(10, 100), among=50, level=0.9)
    assert_allclose(found.interval[1], 0.1 + np.sqrt(np.log(50 / 0.1) / 200), rtol=SUMMED)
    assert found.chosen_among == 50
    assert found.level == 0.9
    exact = bounds.union(mistakes(10, 100), among=50, bound="clopper_pearson")
    alone = bounds.clopper_pearson(mistakes(10, 100), level=1 - 0.05 / 50)
    assert_allclose(exact.interval, alone.interval, rtol=SUMMED)
    one = bounds.union(mistakes(10, 100))
    assert_allclose(one.interval, bounds.hoeffding(mistakes(10, 100)).interval, rtol=SUMMED)


def test_the_union_over_those_that_were_compared():
    X, y = data()
    plan = Plan.holdout(X, y, test_size=0.5, classifier=True)
    rivals = compare([LinearDiscriminantAnalysis(), KNeighborsClassifier(3)], X, y, cv=plan)
    least = min(rivals.risks.values(), key=lambda risk: risk.value)
    for given in (rivals, rivals.risks):
        found = bounds.union(given, bound="clopper_pearson")
        assert found.chosen_among == 3  # the baseline was compared too
        alone = bounds.clopper_pearson(least, level=1 - 0.05 / 3)
        assert_allclose(found.interval, alone.interval, rtol=SUMMED)
    chosen = select([LinearDiscriminantAnalysis()], X, y, cv=2, random_state=0)
    among = chosen.cross_validated_risk.chosen_among
    found = bounds.union(chosen)
    mean = np.average(chosen.cross_validated_risk.losses)
    assert among > 1
    expected = min(mean + np.sqrt(np.log(among / 0.05) / (2 * 75)), 1)
    assert_allclose(found.interval[1], expected, rtol=SUMMED)


def test_a_chosen_estimate_needs_the_union():
    chosen = mistakes(10, 100).chosen(40)
    with pytest.raises(ParameterError, match="best of 40"):
        bounds.hoeffding(chosen)
    assert bounds.union(chosen).chosen_among == 40
    with pytest.raises(ParameterError, match="give no less"):
        bounds.union(chosen, among=3)
    with pytest.raises(ParameterError, match="rivals is"):
        bounds.union([1, 2])
    with pytest.raises(ParameterError, match="bound is"):
        bounds.union(mistakes(1, 10), bound="magic")


def test_all_bounds_beside_each_other():
    X, y = data(600)
    model = LogisticRegression().fit(X[:400], y[:400])
    found = evaluate(model, X[400:], y[400:])
    table = bounds.compare_bounds(found, model=model, X=X[:400], y=y[:400], random_state=0)
    assert list(table) == [
        "Hoeffding", "Chernoff", "empirical Bernstein", "Clopper-Pearson", "VC, training rows",
        "Rademacher, training rows",
    ]  # fmt: skip
    assert "The sharpest is Clopper-Pearson" in str(table)
    ax = table.plot()
    assert ax.get_xlabel() == "zero_one risk, bounds at 95 %"
    log = evaluate(model, X[400:], y[400:], loss="log")
    partly = bounds.compare_bounds(log)
    assert list(partly) == ["Hoeffding", "Chernoff", "empirical Bernstein"]
    assert any("Clopper-Pearson:" in note for note in partly.notes)
    with pytest.raises(ParameterError, match="no bound applies"):
        bounds.compare_bounds(found.chosen(3))


def test_levels_and_sides_that_make_no_sense_are_refused():
    for bound in TEST_SET:
        with pytest.raises(ParameterError, match="level"):
            bound(mistakes(1, 10), level=1.0)
        with pytest.raises(ParameterError, match="sides"):
            bound(mistakes(1, 10), sides="sideways")
        with pytest.raises(ParameterError, match=r"an estimate is wanted, .* this is 0\.1"):
            bound(0.1)
    with pytest.raises(ParameterError, match="level is '95 %'; it must lie between 0 and 1"):
        bounds.hoeffding(mistakes(1, 10), level="95 %")
    with pytest.raises(ParameterError, match="two rows"):
        bounds.empirical_bernstein(mistakes(0, 1))
    with pytest.raises(DataError, match="not finite"):
        bounds.hoeffding(estimate([0.0, np.inf], bounds=(0.0, np.inf)))
