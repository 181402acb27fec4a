import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_diabetes, load_iris
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import BaggingClassifier, BaggingRegressor, RandomForestRegressor
from sklearn.linear_model import LinearRegression

from bagged_twins import BaggedMean
from empirisk.risk import aggregate_variance, bootstrap_aggregate_variance, populations
from empirisk.risk.bagging.staged_members import Stages, numbers_of_members
from empirisk.runtime.errors import ParameterError
from tolerances import SUMMED

NOISE = populations.LinearModel([0.0])  # y is standard normal, whatever x


def in_errors(found, truth, error):
    """Not a standard normal: errors come of some 12 groups. Beyond 6 with probability 1e-4."""
    return abs(found - truth) < 6 * error


def test_bagged_means_have_the_variance_that_theory_gives_them():
    """Var(mean) = 1/n, and given the rows a resampled mean has variance (n - 1)/n^2 on average."""
    n, B = 12, 8
    found = aggregate_variance(BaggedMean(B), NOISE, n, points=[[0.0]], n_sets=400, random_state=0)
    common, own = 1 / n, (n - 1) / n**2
    error = found.standard_error
    assert in_errors(found.member_variance, common + own, error["member_variance"])
    assert in_errors(found.correlation, common / (common + own), error["correlation"])
    assert error["correlation"] < 0.1
    assert_array_equal(found.numbers, [1, 2, 5, 8])
    for b, formula, observed, e in zip(
        found.numbers, found.formula, found.observed, found.observed_error, strict=True
    ):
        assert_allclose(
            formula, found.floor + (found.member_variance - found.floor) / b, rtol=SUMMED
        )
        assert in_errors(observed, common + own / b, e)
        assert in_errors(observed, formula, np.hypot(e, found.formula_error[-1]))


def test_one_half_of_the_sets_is_estimated_from_and_the_other_observed():
    """Against every training set's members, in one table."""
    ensemble, population = RandomForestRegressor(6, max_depth=2), populations.sine()
    points = np.array([[0.1], [0.6], [0.8]])
    original, tables = Stages.summary, []

    def spy(self, each, present=None):
        tables.append(each.copy())
        return original(self, each, present)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Stages, "summary", spy)
        found = aggregate_variance(ensemble, population, 15, points=points, n_sets=50)
    tables = np.array(tables)[..., 0]  # sets g, g + 25 together: groups in order
    group = np.arange(50) // 2
    first, second = tables[group % 2 == 0], tables[group % 2 == 1]
    within = first.var(axis=1, ddof=1).mean()
    common = first.mean(axis=1).var(axis=0, ddof=1).mean() - within / 6
    assert_allclose(found.member_variance, common + within, rtol=SUMMED)
    assert_allclose(found.correlation, common / (common + within), rtol=SUMMED)
    means = [second[:, :b].mean(axis=1).var(axis=0, ddof=1).mean() for b in (1, 2, 5, 6)]
    assert_allclose(found.observed, means, rtol=SUMMED)


def test_one_data_set_by_resampling():
    """Of n values: a resampled mean varies by s^2/n, and given it a mean of its resample again."""
    y = np.random.default_rng(0).normal(size=40)
    X = np.zeros((40, 1))
    found = bootstrap_aggregate_variance(BaggedMean(6), X, y, n_resamples=200, random_state=0)
    common = y.var() / 40
    own = common * 39 / 40
    # A row that is left out of a resample is not drawn: less variance, by some 1/n of it.
    assert in_errors(found.member_variance, common + own, found.standard_error["member_variance"])
    assert in_errors(found.correlation, 40 / 79, found.standard_error["correlation"])
    assert in_errors(found.observed[-1], found.formula[-1], found.observed_error[-1])
    assert "resamples of the one data set stand in for training sets" in found.sentence


def test_groups_are_drawn_whole():
    """Forty rows in ten groups of equal y: the variance of a mean is that of ten."""
    y = np.repeat(np.random.default_rng(1).normal(size=10), 4)
    X, groups = np.zeros((40, 1)), np.repeat(np.arange(10), 4)
    rows, whole = (
        bootstrap_aggregate_variance(BaggedMean(4), X, y, groups=g, n_resamples=60, random_state=0)
        for g in (None, groups)
    )
    assert 2 < whole.floor / rows.floor < 8  # 4, less what each group itself is missing


def test_classes_have_variances_of_probabilities():
    X, y = load_iris(return_X_y=True)
    bag = BaggingClassifier(DummyClassifier(), 5)
    found = bootstrap_aggregate_variance(bag, X, y, n_resamples=20, random_state=0)
    # Shares of three classes: (1/3)(2/3)/n, less for rows that were left out, and again given it.
    assert_allclose(found.floor, 2 / 9 / 150, rtol=0.6)
    assert found.member_variance > 1.3 * found.floor
    one = np.zeros(150)
    same = bootstrap_aggregate_variance(bag, X, one, n_resamples=8, random_state=0)
    assert (same.member_variance, same.correlation) == (0, 0)


def test_the_features_drawn_at_random_cut_the_correlation():
    population = populations.LinearModel(np.ones(4))
    bag, forest = (
        aggregate_variance(
            RandomForestRegressor(8, max_features=m), population, 50, n_sets=24, random_state=0
        )
        for m in (4, 1)
    )
    assert forest.correlation < bag.correlation - 0.05


def test_numbers_go_with_the_scale_of_y():
    X, y = load_diabetes(return_X_y=True)
    one, big = (
        bootstrap_aggregate_variance(BaggedMean(3), X, c * y, n_resamples=8, random_state=0)
        for c in (1.0, 2.0**500)
    )
    assert_array_equal(big.correlation, one.correlation)
    assert_array_equal(big.observed / 2.0**1000, one.observed)


def test_wrong_settings_are_refused():
    X, y = load_diabetes(return_X_y=True)
    with pytest.raises(ParameterError, match=r"n_resamples is 7; .* take 8 or more"):
        bootstrap_aggregate_variance(BaggingRegressor(), X, y, n_resamples=7)
    with pytest.raises(ParameterError, match="LinearRegression has n_estimators None"):
        bootstrap_aggregate_variance(LinearRegression(), X, y)
    with pytest.raises(ParameterError, match="numbers from 1 to 10"):
        bootstrap_aggregate_variance(BaggingRegressor(), X, y, numbers=[0, 3])
    with pytest.raises(ParameterError, match="numbers from 1 to 10"):
        numbers_of_members([11], 10)


def test_words_and_picture():
    found = aggregate_variance(BaggedMean(4), NOISE, 10, points=[[0.0]], n_sets=10, random_state=0)
    assert "so the mean of 4 has" in str(found)
    assert "10 training sets of 10 rows, 1 points" in str(found)
    ax = found.plot()
    assert ax.get_xlabel() == "members"
    assert ax.get_ylabel() == "variance of BaggedMean"
