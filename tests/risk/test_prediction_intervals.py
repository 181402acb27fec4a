"""Prediction intervals from out-of-bag errors cover what they promise, at every n."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_diabetes
from sklearn.ensemble import BaggingRegressor, RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LinearRegression

from empirisk.data import datasets
from empirisk.risk.bagging.error_quantiles import covered_by_the_others, error_quantiles
from empirisk.risk.bagging.prediction_intervals import prediction_intervals
from empirisk.risk.intervals.loss_table import LossTable
from empirisk.runtime.errors import DataError, ParameterError
from tolerances import SUMMED


def table(errors, weight=None, unit=None):
    n = len(errors)
    return LossTable(
        np.asarray(errors, dtype=float),
        np.ones(n) if weight is None else weight,
        np.arange(n) if unit is None else unit,
        np.zeros(n, dtype=np.int64),
        n,
        "out_of_bag",
    )


@pytest.mark.parametrize("level", [0.5, 0.8, 0.9])
def test_a_new_row_at_any_place_among_the_others_is_covered_as_often_as_promised(level):
    for n in range(19, 60):
        low, high = error_quantiles(table(np.arange(n)), level)
        place = np.arange(n + 1) - 0.5
        share = np.mean((place >= low) & (place <= high))
        assert level - 1e-12 <= share < level + 2 / (n + 1)


def test_quantiles_do_not_depend_on_the_order_or_on_the_unit_of_the_weights():
    rng = np.random.default_rng(0)
    errors, weight = rng.normal(size=80), rng.uniform(1, 2, size=80)
    order = rng.permutation(80)
    found = error_quantiles(table(errors, weight), 0.9)
    assert error_quantiles(table(errors[order], weight[order] * 1e6), 0.9) == found
    low, high = found
    outside = weight[(errors < low)].sum(), weight[errors > high].sum()
    assert max(outside) / weight.sum() < 0.05
    assert -error_quantiles(table(-errors, weight), 0.9)[0] == high


def without(errors, u):
    own = errors.unit == u
    unit = np.unique(errors.unit[~own], return_inverse=True)[1]
    return table(errors.losses[~own], errors.weight[~own], unit)


@pytest.mark.parametrize("grouped", [False, True])
def test_each_row_is_judged_by_the_quantiles_of_all_others(grouped):
    rng = np.random.default_rng(1)
    errors = rng.normal(size=140)
    unit = np.repeat(np.arange(70), 2)[rng.permutation(140)] if grouped else None
    errors = table(errors, None, unit)
    covered = covered_by_the_others(errors, 0.8)
    for i in range(140):
        low, high = error_quantiles(without(errors, errors.unit[i]), 0.8)
        assert covered[i] == (low <= errors.losses[i] <= high)
    assert 0.75 < covered.mean() < 0.85


def test_rows_of_new_groups_are_covered_where_groups_share_their_errors():
    # Half of the variance is that of groups. 1500 sets, a new row each: the share covered has a
    # standard error of 0.008, so it falls below 0.9 - 0.032 with probability 3e-5.
    rng, hits, as_rows = np.random.default_rng(2), [], []
    unit = np.repeat(np.arange(25), 8)
    for _ in range(1500):
        effect = rng.normal(size=26)
        errors = table(effect[unit] + rng.normal(size=200), None, unit)
        new = effect[25] + rng.normal()
        low, high = error_quantiles(errors, 0.9)
        hits.append(low <= new <= high)
        low, high = error_quantiles(replace(errors, unit=np.arange(200)), 0.9)
        as_rows.append(low <= new <= high)
    assert np.mean(hits) > 0.9 - 0.032
    assert np.mean(hits) > np.mean(as_rows)


def linear(n, rng, noise=lambda x: 1.0):
    X = rng.uniform(-1, 1, size=(n, 3))
    return X, 3 * X[:, 0] + noise(X[:, 0]) * rng.normal(size=n)


def test_intervals_lie_about_the_prediction_and_cover_new_rows():
    rng = np.random.default_rng(3)
    X, y = linear(300, rng)
    X_new, y_new = linear(2000, rng)
    frame = pd.DataFrame(X, columns=list("abc"))
    forest = RandomForestRegressor(50, oob_score=True, min_samples_leaf=3, random_state=0)
    forest.fit(frame, y)
    intervals = prediction_intervals(forest, frame, y, n_jobs=2)
    errors = np.sort(y - forest.oob_prediction_)
    # k = floor(301 * 0.05) = 15
    assert_allclose(intervals.offsets, (errors[14], errors[-15]), rtol=1e-12)
    X_new = pd.DataFrame(X_new, columns=list("abc"))
    lower, upper = intervals.predict(X_new)
    assert_allclose(lower, forest.predict(X_new) + errors[14], rtol=SUMMED)
    found = intervals.evaluate(X_new, y_new)
    assert_allclose(found.value, np.mean((lower <= y_new) & (y_new <= upper)), rtol=SUMMED)
    # sd sqrt(0.09/300 + 0.09/2000) = 0.019 about 0.9 or a little more: four of them either way.
    assert 0.82 < found.value < 0.985
    assert found.method == "Clopper-Pearson"
    assert_allclose(intervals.coverage.value, 270 / 300, rtol=SUMMED)
    assert intervals.coverage.interval[0] < 0.9 < intervals.coverage.interval[1]
    assert repr(intervals.coverage).startswith("IntervalCoverage(coverage: 0.9, [")
    assert_allclose(np.mean(intervals.by_third), 0.9, rtol=SUMMED)
    text = str(intervals)
    assert text.startswith("The 90 % prediction intervals reach from -")
    assert "The coverage of 90 % prediction intervals is 0.9, 95 % interval" in text
    assert "did not draw it" in text
    assert "covered less" not in text


def test_where_the_noise_grows_with_the_prediction_it_is_said():
    rng = np.random.default_rng(4)
    X, y = linear(600, rng, noise=lambda x: np.where(x > 0.3, 3.0, 0.3))
    forest = RandomForestRegressor(40, min_samples_leaf=5, random_state=0).fit(X, y)
    intervals = prediction_intervals(forest, X, y)
    assert intervals.by_third[2] < 0.85 < intervals.by_third[0]
    assert "rows with the largest predictions are covered less than that" in str(intervals)


def test_weights_and_groups():
    X, y = load_diabetes(return_X_y=True)
    bag = BaggingRegressor(LinearRegression(), n_estimators=60, random_state=0).fit(X, y)
    weight = np.random.default_rng(5).integers(0, 3, size=len(y)).astype(float)
    kept = weight > 0
    plain = prediction_intervals(bag, X, y)
    found = prediction_intervals(bag, X, y, sample_weight=weight)
    error = (plain.y - plain.prediction)[kept]
    assert_allclose(found.y - found.prediction, error, rtol=SUMMED)
    outside = (error < found.offsets[0]) | (error > found.offsets[1])
    assert 0.06 < np.average(outside, weights=weight[kept]) <= 0.1
    groups = np.arange(len(y)) // 2
    grouped = prediction_intervals(bag, X, y, groups=groups)
    assert grouped.coverage.table.units <= 221
    assert grouped.offsets[1] - grouped.offsets[0] > 0.9 * np.diff(plain.offsets)[0]


def test_the_picture_shows_the_rows_and_the_band():
    X, y = load_diabetes(return_X_y=True)
    bag = BaggingRegressor(LinearRegression(), n_estimators=40, random_state=0).fit(X, y)
    intervals = prediction_intervals(bag, X, y)
    ax = intervals.plot()
    shown = np.concatenate([line.get_ydata() for line in ax.get_lines()[1:]])
    assert_array_equal(np.sort(shown), np.sort(y))
    ax.figure.canvas.draw()


def test_what_has_no_intervals_is_refused():
    X, y = load_diabetes(return_X_y=True)
    with pytest.raises(ParameterError, match="predicts classes"):
        prediction_intervals(RandomForestClassifier(3).fit(X, y > 100), X, y > 100)
    forest = RandomForestRegressor(30, random_state=0).fit(X[:15], y[:15])
    with pytest.raises(DataError, match=r"the errors of 19 rows at least.*worth 15: give more"):
        prediction_intervals(forest, X[:15], y[:15])
    assert prediction_intervals(forest, X[:15], y[:15], level=0.8).offsets[0] < 0
    with pytest.raises(ParameterError, match=r"level is 1\.0"):
        prediction_intervals(forest, X[:15], y[:15], level=1.0)
    both = np.column_stack([y, y])
    with pytest.raises(DataError, match="y has 2 columns"):
        prediction_intervals(RandomForestRegressor(3).fit(X, both), X, both)


@pytest.mark.slow
@pytest.mark.parametrize("data", ["linear", "small", "uneven", "diabetes", "bike_sharing"])
def test_new_rows_are_covered_over_many_training_sets(data):
    # 40 forests: the mean coverage has a standard error below 0.006, and may fall short by four.
    rng, covered = np.random.default_rng(6), []
    for seed in range(40):
        X, y, X_new, y_new = drawn(data, rng)
        forest = RandomForestRegressor(60, random_state=seed, n_jobs=2).fit(X, y)
        intervals = prediction_intervals(forest, X, y, n_jobs=2)
        covered.append(intervals.evaluate(X_new, y_new).value)
    error = np.std(covered, ddof=1) / np.sqrt(len(covered))
    assert np.mean(covered) > 0.9 - 4 * error
    assert np.mean(covered) < 0.95


def drawn(data, rng):
    if data in ("linear", "small", "uneven"):
        noise = (lambda x: 1 + x) if data == "uneven" else (lambda x: 1.0)
        return *linear(30 if data == "small" else 200, rng, noise), *linear(500, rng, noise)
    X, y = load_diabetes(return_X_y=True) if data == "diabetes" else bike_sharing()
    order = rng.permutation(len(y))
    train, test = order[:250], order[250:]
    return X[train], y[train], X[test], y[test]


def bike_sharing():
    rented = pd.read_csv(datasets.path("bike_sharing"))
    names = ["temperature", "feels_like", "humidity", "windspeed", "working_day"]
    return rented[names].to_numpy(float), rented["rentals"].to_numpy(float)


def test_an_error_on_the_end_of_an_interval_is_inside():
    X = np.random.default_rng(0).normal(size=(300, 2))
    forest = RandomForestRegressor(30, random_state=0).fit(X, np.ones(300))
    assert prediction_intervals(forest, X, np.ones(300), level=0.9).coverage.value == 1
