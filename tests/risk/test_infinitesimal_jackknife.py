import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from sklearn.datasets import load_diabetes, load_iris
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import (
    BaggingClassifier,
    BaggingRegressor,
    ExtraTreesRegressor,
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import Ridge, RidgeClassifier
from sklearn.multioutput import MultiOutputRegressor

from bagged_twins import ToldEnsemble
from empirisk.risk import prediction_errors
from empirisk.risk.bagging import drawn_units, infinitesimal_jackknife
from empirisk.runtime.errors import DataError, ParameterError
from tolerances import SUMMED

ERROR_PROBABILITY = 1e-6  # of each statistical test here
Z = stats.norm.isf(ERROR_PROBABILITY / 2)


def twin(counts, each):
    """The formulas, entry by entry: corrected variance of one column of predictions."""
    B, n = counts.shape
    mean = sum(each) / B
    v = sum((t - mean) ** 2 for t in each) / B
    total, spread = 0.0, 0.0
    for i in range(n):
        N = [counts[b, i] for b in range(B)]
        centre = sum(N) / B
        total += (sum((N[b] - centre) * (each[b] - mean) for b in range(B)) / B) ** 2
        spread += sum((x - centre) ** 2 for x in N) / B
    return total - spread * v / B


def few_at_once(monkeypatch, numbers):
    """Many blocks, of members, rows and columns."""
    for module in (infinitesimal_jackknife, drawn_units):
        monkeypatch.setattr(module, "NUMBERS_AT_ONCE", numbers)
    monkeypatch.setattr(infinitesimal_jackknife, "COLUMNS_AT_ONCE", 7)
    monkeypatch.setattr(infinitesimal_jackknife, "MEMBERS_AT_ONCE", 6)


def bagged_means(y, B, seed, size=None, replace=True, chance=None):
    """Members that predict the mean of what they drew, and the ensemble of them."""
    rng = np.random.default_rng(seed)
    n = len(y)
    drawn = [rng.choice(n, size or n, replace=replace, p=chance) for _ in range(B)]
    counts = np.array([np.bincount(rows, minlength=n) for rows in drawn])
    return ToldEnsemble(counts, [[y[rows].mean()] for rows in drawn], bootstrap=replace)


@pytest.mark.parametrize("B", [70, 15])  # by covariances; by the products of the members' counts
def test_variances_are_those_of_the_formulas(monkeypatch, B):
    X, y = load_diabetes(return_X_y=True)
    few_at_once(monkeypatch, 100)
    forest = RandomForestRegressor(B, max_depth=3, random_state=0).fit(X[:30], y[:30])
    found = prediction_errors(forest, X[100:140])
    counts = np.array([np.bincount(rows, minlength=30) for rows in forest.estimators_samples_])
    each = np.array([tree.predict(X[100:140]) for tree in forest.estimators_])
    slow = [twin(counts, column) for column in each.T]
    assert_allclose(found.variance, slow, rtol=0, atol=SUMMED * np.abs(slow).max())
    assert_allclose(found.prediction, forest.predict(X[100:140]), rtol=SUMMED)
    assert_allclose(found.resampling_error, each.std(axis=0, ddof=1) / np.sqrt(B), rtol=SUMMED)


@pytest.mark.parametrize("size", [20, 8])
def test_the_bagged_mean_has_the_variance_of_the_mean(size):
    y = np.random.default_rng(0).exponential(size=20)
    truth = np.square(y - y.mean()).sum() / 20**2  # for any number of draws with replacement
    found = [prediction_errors(bagged_means(y, 400, seed, size), [[0]]) for seed in range(40)]
    variance = np.concatenate([each.variance for each in found])
    error = np.concatenate([each.monte_carlo_error for each in found])
    assert abs(variance.mean() - truth) < Z * variance.std(ddof=1) / np.sqrt(40)
    # The Monte Carlo error tells how far the estimates lie apart, to 1/sqrt(80) = 11 %.
    assert_allclose(variance.std(ddof=1), error.mean(), rtol=4 / np.sqrt(80))


@pytest.mark.parametrize(
    ("times", "size", "replace"),
    [(5, 100, True), (1, 2, False)],
    ids=["groups of five rows", "two rows of twenty"],
)
def test_the_monte_carlo_error_is_that_of_the_counts_that_were_drawn(times, size, replace):
    y = np.repeat(np.random.default_rng(8).normal(size=20), times)
    groups = np.repeat(np.arange(20), times)
    found = [
        prediction_errors(bagged_means(y, 400, seed, size, replace), [[0]], groups=groups)
        for seed in range(40)
    ]
    apart = np.std([each.variance[0] for each in found], ddof=1)
    told = np.mean([each.monte_carlo_error[0] for each in found])
    # The spread of 40 estimates is known to 1/sqrt(80) = 11 %.
    assert_allclose(apart, told, rtol=4 / np.sqrt(80))


def test_as_many_members_as_are_advised_show_the_usual_variance_to_a_quarter():
    y = np.random.default_rng(9).normal(size=50)
    few = prediction_errors(bagged_means(y, 5000, 0), [[0]])
    enough = prediction_errors(bagged_means(y, few.advised, 1), [[0]])
    part = enough.monte_carlo_error[0] / few.variance[0]
    # Rounded up to one digit, by up to a half; both variances are estimates.
    assert 0.15 < part < 0.3


def test_rows_drawn_by_weight_have_the_variance_of_the_weighted_mean():
    rng = np.random.default_rng(7)
    y, weight = rng.normal(size=20), rng.dirichlet(np.ones(20))
    truth = (weight**2) @ (y - weight @ y) ** 2
    found = [
        prediction_errors(bagged_means(y, 400, seed, chance=weight), [[0]]).variance
        for seed in range(40)
    ]
    assert abs(np.mean(found) - truth) < Z * np.std(found, ddof=1) / np.sqrt(40)


def test_the_mean_of_draws_without_replacement_has_the_unbiased_variance_of_the_mean():
    y = np.random.default_rng(1).normal(size=20)
    truth = y.var(ddof=1) / 20
    found = [
        prediction_errors(bagged_means(y, 400, seed, 8, replace=False), [[0]]).variance
        for seed in range(40)
    ]
    assert abs(np.mean(found) - truth) < Z * np.std(found, ddof=1) / np.sqrt(40)


def test_without_the_correction_few_members_would_give_too_much():
    y = np.random.default_rng(2).normal(size=100)
    truth = np.square(y - y.mean()).sum() / 100**2
    found = [prediction_errors(bagged_means(y, 50, seed), [[0]]) for seed in range(60)]
    noise = 100 / 50 * np.array([each.resampling_error**2 * 49 for each in found])
    corrected = np.array([each.variance for each in found])
    assert abs(corrected.mean() - truth) < Z * corrected.std() / np.sqrt(60)
    assert (corrected + noise).mean() > 2.5 * truth


def test_what_cannot_be_told_from_zero_is_set_to_what_can_and_counted():
    y = np.random.default_rng(3).normal(size=300)
    limits = 0
    for seed in range(30):
        found = prediction_errors(bagged_means(y, 10, seed), [[0]])
        assert found.standard_error[0] > 0
        assert_array_equal(found.floored, found.variance < found.standard_error**2 * (1 - 1e-12))
        limits += int(found.floored[0])
        told = "1 of them is too small to be told from 0" in found.sentence
        assert told == bool(found.floored[0])
    assert limits > 5


def test_members_that_agree_have_no_error():
    X, y = load_diabetes(return_X_y=True)
    ensemble = BaggingRegressor(DummyRegressor(strategy="constant", constant=3.3), 20)
    found = prediction_errors(ensemble.fit(X, y), X[:5])
    assert_array_equal(found.standard_error, np.zeros(5))
    assert_array_equal(found.correlation, np.zeros(5))
    assert not found.floored.any()


@pytest.mark.parametrize("factor", [1e-200, 1e200])
def test_errors_go_with_the_scale_of_y(factor):
    y = np.random.default_rng(4).normal(size=50)
    small, other = (prediction_errors(bagged_means(c * y, 300, 0), [[0]]) for c in (1, factor))
    assert_allclose(other.standard_error, factor * small.standard_error, rtol=SUMMED)
    assert_allclose(other.correlation, small.correlation, rtol=SUMMED)
    assert not np.isnan(other.variance).any()


def test_whole_groups_count_once_however_many_rows_they_have():
    rng = np.random.default_rng(5)
    groups = np.repeat(np.arange(12), rng.integers(1, 6, size=12))
    B = 200
    drawn = rng.multinomial(12, np.full(12, 1 / 12), size=B)
    each = rng.normal(size=(B, 4)) + drawn[:, :4]
    by_group = prediction_errors(ToldEnsemble(drawn, each), np.arange(4)[:, None])
    order = rng.permutation(len(groups))
    ensemble = ToldEnsemble(drawn[:, groups[order]], each)
    by_row = prediction_errors(ensemble, np.arange(4)[:, None], groups=groups[order])
    assert_allclose(by_row.variance, by_group.variance, rtol=SUMMED)
    assert_allclose(by_row.monte_carlo_error, by_group.monte_carlo_error, rtol=SUMMED)


def test_rows_drawn_one_by_one_are_added_up_by_group():
    """Twenty rows that stand there five times each are no hundred: the error is that of twenty."""
    y = np.random.default_rng(6).normal(size=20)
    groups = np.repeat(np.arange(20), 5)
    ensemble = bagged_means(np.repeat(y, 5), 4000, 0)
    found = prediction_errors(ensemble, [[0]], groups=groups)
    truth = np.square(y - y.mean()).sum() / 20**2
    assert abs(found.variance[0] - truth) < Z * found.monte_carlo_error[0]
    alone = prediction_errors(ensemble, [[0]])
    assert abs(alone.variance[0] - truth / 5) < Z * alone.monte_carlo_error[0]


@pytest.mark.parametrize(
    "ensemble",
    [
        RandomForestClassifier(60, random_state=0),
        BaggingClassifier(n_estimators=60, max_features=2, random_state=0),
        BaggingClassifier(RidgeClassifier(), 60, random_state=0),  # votes
    ],
    ids=lambda ensemble: type(ensemble).__name__,
)
def test_class_probabilities_have_errors_too(ensemble):
    X, y = load_iris(return_X_y=True, as_frame=True)
    y = np.array(["setosa", "versicolor", "virginica"])[y]
    ensemble.fit(X.to_numpy(), y)
    found = prediction_errors(ensemble, X.to_numpy()[::10])
    assert found.standard_error.shape == (15, 3)
    assert np.isfinite(found.standard_error).all()
    assert_allclose(found.prediction.sum(axis=1), 1, rtol=SUMMED)
    if hasattr(ensemble, "max_features") and ensemble.max_features != 1.0:
        assert_allclose(found.prediction, ensemble.predict_proba(X.to_numpy()[::10]), rtol=SUMMED)
    assert found.plot("setosa").get_ylabel() == "probability of setosa"
    with pytest.raises(ParameterError, match="'rose'; give one of the classes"):
        found.plot("rose")


def test_frames_and_several_outputs():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    both = np.column_stack([y, -2 * y])
    forest = RandomForestRegressor(50, random_state=0).fit(X, both)
    found = prediction_errors(forest, X.iloc[:7, ::-1])
    assert_allclose(found.standard_error[:, 1], 2 * found.standard_error[:, 0], rtol=SUMMED)
    assert_array_equal(found.prediction.shape, (7, 2))
    ensemble = BaggingRegressor(MultiOutputRegressor(Ridge()), 30, random_state=0)
    one = prediction_errors(ensemble.fit(X.to_numpy(), both), X.to_numpy()[:3])
    assert one.standard_error.shape == (3, 2)


def test_the_bits_do_not_depend_on_the_workers(monkeypatch):
    few_at_once(monkeypatch, 20_000)
    X, y = load_diabetes(return_X_y=True)
    forest = RandomForestRegressor(100, max_depth=4, random_state=0).fit(X, y)
    one, three = (prediction_errors(forest, X, n_jobs=n_jobs) for n_jobs in (1, 3))
    assert_array_equal(one.standard_error, three.standard_error)


def test_what_has_no_resamples_is_refused():
    X, y = load_diabetes(return_X_y=True)
    with pytest.raises(ParameterError, match="every member drew the same rows"):
        prediction_errors(ExtraTreesRegressor(5).fit(X, y), X)
    with pytest.raises(ParameterError, match="estimators_samples_"):
        prediction_errors(GradientBoostingRegressor(n_estimators=2).fit(X, y), X)
    with pytest.raises(ParameterError, match="1 member; their covariances take 2"):
        prediction_errors(RandomForestRegressor(1).fit(X, y), X)
    forest = RandomForestRegressor(5).fit(X, y)
    with pytest.raises(DataError, match="groups has 3 entries for 442 rows"):
        prediction_errors(forest, X, groups=[1, 2, 3])
    with pytest.raises(DataError, match="row 441 has no group"):
        prediction_errors(forest, X, groups=[*range(441), np.nan])


def test_intervals_and_words():
    X, y = load_diabetes(return_X_y=True)
    forest = RandomForestRegressor(300, min_samples_leaf=10, random_state=0).fit(X, y)
    found = prediction_errors(forest, X)
    low, high = found.interval(0.9)
    half = 1.6448536269514722 * np.hypot(found.standard_error, found.resampling_error)
    assert_allclose(high - low, 2 * half, rtol=SUMMED)
    assert "300 members, 442 predictions" in str(found)
    assert ((found.correlation > 0) & (found.correlation < 1)).all()
    assert found.plot().get_ylabel() == "prediction"


@pytest.mark.slow
@pytest.mark.parametrize(("n", "least", "most"), [(80, 0.55, 1.05), (320, 0.7, 1.25)])
def test_the_error_of_a_bag_of_trees_is_its_spread_over_training_sets(n, least, most):
    """Right to first order: 0.80 of the variance at 80 rows, 0.96 at 320, each known to 6 %."""

    def training_set(seed):
        rng = np.random.default_rng(seed)
        X = rng.uniform(size=(n, 2))
        return X, np.sin(4 * X[:, 0]) + X[:, 1] + 0.5 * rng.normal(size=n)

    points = np.random.default_rng(0).uniform(0.1, 0.9, size=(20, 2))
    fits = [
        RandomForestRegressor(100, min_samples_leaf=5, random_state=seed).fit(*training_set(seed))
        for seed in range(1, 81)
    ]
    observed = np.var([bag.predict(points) for bag in fits], axis=0, ddof=1)
    found = [prediction_errors(bag, points) for bag in fits[:30]]
    estimated = np.mean([each.variance + each.resampling_error**2 for each in found], axis=0)
    assert least < estimated.mean() / observed.mean() < most  # four errors either way


def test_groups_whose_rows_are_drawn_one_by_one_have_an_error_of_the_size_of_that_of_rows():
    draw = np.random.default_rng(0)
    X = draw.normal(size=(200, 2))
    y = X[:, 0] + draw.normal(size=200)
    bag = BaggingRegressor(n_estimators=200, bootstrap=False, max_samples=0.5, random_state=0)
    bag.fit(X, y)
    rows, groups = (
        prediction_errors(bag, X[:20], groups=given) for given in (None, np.arange(200) // 2)
    )
    # Groups by chance: the same errors but for the noise of 200 members.
    assert 0.5 < np.mean(groups.standard_error) / np.mean(rows.standard_error) < 2
