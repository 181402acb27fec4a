"""Populations shaped like data: exact risks, rows that look alike, and coverage counted on them."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import Perceptron
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline

from empirisk import Encoder, LinearDiscriminantAnalysis, LinearRegression, Table
from empirisk.risk.intervals.certify import certify
from empirisk.risk.intervals.coverage import Coverage, Share
from empirisk.risk.intervals.look_alike import look_alike
from empirisk.risk.intervals.smoothed_rows import smoothed_rows
from empirisk.risk.penalties.noise_model import shrinkage
from empirisk.risk.problem import Problem
from empirisk.runtime.errors import DataError, ParameterError
from tolerances import SUMMED

rng = np.random.default_rng(0)
X = rng.normal(size=(80, 3))
Y = X[:, 0] + rng.normal(size=80)
LABELS = np.where(X[:, 0] + rng.normal(size=80) > 0, "up", "down")


def like(learner, y, loss=None, **rest):
    problem = Problem.of(learner, X, y, loss=loss, **rest)
    return look_alike(learner, problem, random_state=1, n_jobs=None)


def coverage(low, high, risk, **rest):
    low, high = np.array(low, dtype=float), np.array(high, dtype=float)
    fields = {"flagged": np.zeros(len(low), bool), "level": 0.9, "loss": "squared"} | rest
    return Coverage((low + high) / 2, low, high, risk=np.array(risk), about="sets", **fields)


def test_coverage_counts_both_risks():
    found = coverage([0, 0, 2, np.nan], [2, 2, 4, np.nan], [0.5, 3.0, 3.0, 1.5])
    assert found.expected_risk == 2.0
    assert found.of_procedure.value == 1.0  # ends belong to the interval
    assert_allclose(found.of_model, (2 / 3, np.sqrt(2 / 27)), rtol=SUMMED)
    assert found.width == 2.0
    assert "1 gave no interval" in found.sentence


@pytest.mark.parametrize("all_hit", [False, True])
def test_all_or_none_of_the_training_sets_leave_room_for_the_others(all_hit):
    share = Share.of(np.full(100, all_hit))
    assert share.value == all_hit
    # As of 101 of 102.
    assert_allclose(share.standard_error, np.sqrt(101 / 102**2 / 100), rtol=SUMMED)
    assert "± 1.0 %" in str(share)


def test_coverage_without_any_interval_says_so():
    found = coverage([np.nan], [np.nan], [1.0])
    assert np.isnan(found.width)
    assert np.isnan(Share.of(np.array([], dtype=bool)).value)
    assert found.sentence == "Of 1 sets, none gave an interval."


@pytest.mark.parametrize(
    ("learner", "y", "loss"),
    [
        (LinearRegression(), Y, "squared"),
        (LinearRegression(), Y, "absolute"),
        (LinearDiscriminantAnalysis(), LABELS, "zero_one"),
        (LinearDiscriminantAnalysis(), LABELS, "log"),
        (LinearDiscriminantAnalysis(), LABELS, "asymmetric:1,4,up"),
        (Perceptron(), LABELS, "zero_one"),
    ],
)
def test_the_true_risk_is_the_mean_over_all_rows_and_outcomes(learner, y, loss):
    population = like(learner, y, loss)
    model = learner.fit(X, y)
    wanted = 0.0
    weight = population.weight / population.weight.sum()
    answer = model.predict_proba(population.X) if loss == "log" else model.predict(population.X)
    for i in range(len(weight)):
        for outcome, probability in zip(
            population.outcome[i], population.probability[i], strict=True
        ):
            label = outcome if population.classes is None else population.classes[outcome]
            wanted += weight[i] * probability * written_out(loss, label, answer[i])
    # A sum of 20,000 to 200,000 numbers in another order.
    assert_allclose(population.risk(model), wanted, rtol=1e-10)


def written_out(loss, y, answer):
    if loss == "log":
        return -np.log(answer[list(np.unique(LABELS)).index(y)])
    return {
        "squared": lambda: (y - answer) ** 2,
        "absolute": lambda: abs(y - answer),
        "zero_one": lambda: float(y != answer),
        "asymmetric:1,4,up": lambda: 0.0 if y == answer else 4.0 if y == "up" else 1.0,
    }[loss]()


@pytest.mark.parametrize(("learner", "y"), [(LinearRegression(), Y), (Perceptron(), LABELS)])
def test_training_sets_come_from_the_population(learner, y):
    population = like(learner, y)
    drawn = population.sample(20_000, seed=3).y
    codes = drawn if population.classes is None else (drawn == population.classes[1]).astype(float)
    mean = (population.probability * population.outcome).sum(axis=1)
    square = (population.probability * np.square(population.outcome.astype(float))).sum(axis=1)
    error = np.sqrt((square.mean() - mean.mean() ** 2) / 20_000)
    # Normal in the limit, with an error probability of 1e-6.
    assert abs(codes.mean() - mean.mean()) < 4.9 * error


def test_a_learner_that_recites_makes_no_population_without_noise():
    noise = rng.integers(0, 2, size=80)
    population = like(KNeighborsClassifier(1), noise)
    # Fitted to its own labels 1-nearest-neighbour is certain; out of fold it knows nothing.
    assert population.probability.min() > 0.2


def test_weights_stay_with_their_rows():
    weight = np.where(X[:, 0] > 0, 5.0, 1.0)
    population = like(LinearRegression(), Y, sample_weight=weight)
    assert set(population.sample(50, seed=0).weight) == {1.0, 5.0}
    heavy = population.X[population.weight == 5.0, 0]
    # The bandwidth is 0.55: of a half-normal, moved so far, at most a third cross zero.
    assert (heavy > 0).mean() > 0.6
    assert like(LinearRegression(), Y).sample(50, seed=0).weight is None


def test_every_training_set_has_all_classes():
    rare = np.array(["a"] * 3 + ["b"] * 77)
    population = like(LinearDiscriminantAnalysis(), rare)
    for seed in range(20):
        assert min(np.unique(population.sample(80, seed).y, return_counts=True)[1]) >= 2


def test_smoothed_rows_have_the_mean_and_covariance_of_the_table():
    rows = rng.integers(0, 80, size=40_000)
    new = smoothed_rows(X, rows, np.random.default_rng(1))
    # Means and covariances of 40,000 rows vary by 1/200 of the variance, 5 times that is 1e-6;
    # clipping to the range of 80 normal numbers takes up to 3 % of the variance.
    assert_allclose(new.mean(axis=0), X.mean(axis=0), rtol=0, atol=0.04)
    assert_allclose(np.cov(new.T), np.cov(X.T, bias=True), rtol=0, atol=0.08)
    assert (new.min(axis=0) >= X.min(axis=0)).all()
    assert (new.max(axis=0) <= X.max(axis=0)).all()
    assert len(np.unique(new[:, 0])) > 30_000


def test_smoothing_leaves_what_is_no_continuous_number():
    n = 60
    table = np.column_stack(
        [rng.normal(size=n), np.arange(n) % 3, np.arange(n), rng.normal(size=n)]
    )
    table[5, 3] = np.nan
    rows = np.array([5, 5, 7, 8])
    new = smoothed_rows(table, rows, np.random.default_rng(0))
    assert_array_equal(new[:, 1], table[rows, 1])  # three values
    assert_array_equal(new[:, 2], np.round(new[:, 2]))  # whole numbers
    assert np.isnan(new[:2, 3]).all()
    assert new[0, 0] != new[1, 0]
    words = np.array([["a"], ["b"]], dtype=object)
    assert smoothed_rows(words, np.array([1, 1]), rng).tolist() == [["b"], ["b"]]


@pytest.mark.parametrize("back", [pd.DataFrame, pl.DataFrame, Table.of])
def test_smoothed_frames_are_frames_of_the_same_kind(back):
    columns = {"x": X[:, 0], "city": np.where(X[:, 1] > 0, "Oslo", "Bergen")}
    frame = back(columns)
    new = smoothed_rows(frame, np.arange(80), np.random.default_rng(0))
    assert type(new) is type(frame)
    assert_array_equal(Table.of(new)["city"].values(), columns["city"])
    assert (Table.of(new)["x"].numbers() != columns["x"]).all()


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_smoothed_rows_stay_finite(scale):
    wide = np.asfortranarray(scale * X)
    wide.flags.writeable = False
    new = smoothed_rows(wide, np.arange(80), np.random.default_rng(0))
    plain = smoothed_rows(X, np.arange(80), np.random.default_rng(0))
    assert_allclose(new, scale * plain, rtol=1e-9)  # the same up to rounding


def test_a_single_row_or_a_constant_column_stays_as_it_is():
    assert_array_equal(smoothed_rows(X[:1], np.zeros(4, int), rng), X[[0] * 4])
    assert_array_equal(smoothed_rows([[1.0, 2.0]], np.zeros(2, int), rng), [[1.0, 2.0]] * 2)
    constant = np.column_stack([np.ones(80), X[:, 0]])
    assert_array_equal(smoothed_rows(constant, np.arange(80), rng)[:, 0], np.ones(80))


def test_shrinkage_is_the_least_squares_coefficient_within_its_bounds():
    prediction, truth, weight = rng.normal(size=(30, 2)), rng.normal(size=(30, 2)), rng.random(30)
    towards = np.zeros(2)
    grid = np.linspace(0, 1, 10_001)
    errors = [
        weight @ np.square(truth - prediction - a * (towards - prediction)).sum(axis=1)
        for a in grid
    ]
    # A grid of 1e-4.
    assert_allclose(
        shrinkage(prediction, truth, towards, weight), grid[np.argmin(errors)], rtol=0, atol=0.0001
    )
    assert shrinkage(truth, truth, towards, weight) == 0.0
    assert shrinkage(-truth, truth, towards, weight) == 1.0
    assert shrinkage(np.zeros((3, 1)), np.ones((3, 1)), np.zeros(1), np.ones(3)) == 0.0


def test_the_same_bits_for_any_number_of_jobs():
    one, two = (
        certify(LinearRegression(), X, Y, n_sets=4, random_state=5, n_jobs=jobs) for jobs in (1, 2)
    )
    for name in ("value", "low", "high", "risk"):
        assert_array_equal(getattr(one, name), getattr(two, name))


def test_an_interval_that_is_too_short_is_found_out():
    # Few rows per parameter: independent rows, as per_row_normal has it, they are not.
    wide = rng.normal(size=(40, 15))
    y = wide[:, 0] + rng.normal(size=40)
    options = {"n_sets": 150, "random_state": 0}
    auto = certify(LinearRegression(), wide, y, **options)
    short = certify(LinearRegression(), wide, y, method="per_row_normal", **options)
    assert_array_equal(auto.risk, short.risk)
    # Coverages of about 0.93 and 0.75 with errors of 0.02 and 0.035: fails once in 1e4 seeds.
    assert auto.of_model.value > short.of_model.value + 0.03
    assert short.of_model.value < 0.88
    assert auto.flagged.all()


def test_a_richer_reference_makes_the_learner_wrong():
    curved = X[:, 0] ** 2 + 0.1 * rng.normal(size=80)
    options = {"n_sets": 2, "random_state": 0}
    own = certify(LinearRegression(), X, curved, **options)
    rich = certify(LinearRegression(), X, curved, reference=KNeighborsRegressor(3), **options)
    assert "KNeighborsRegressor" in rich.caveat
    assert "LinearRegression" in own.caveat
    assert rich.expected_risk > 0.3  # far above the noise of 0.01


def test_mixed_tables_pass_through():
    frame = pd.DataFrame({"x": X[:, 0], "city": np.where(X[:, 1] > 0, "Oslo", "Bergen")})
    learner = make_pipeline(Encoder(), LinearDiscriminantAnalysis())
    found = certify(learner, frame, LABELS, n_sets=3, random_state=0, loss="log")
    assert found.given.all()
    assert "log risk" in found.sentence


def test_what_cannot_be_certified_is_refused():
    with pytest.raises(ParameterError, match="n_sets is 1"):
        certify(LinearRegression(), X, Y, n_sets=1)
    with pytest.raises(ParameterError, match="both be"):
        certify(LinearRegression(), X, Y, reference=Perceptron())
    with pytest.raises(DataError, match="one outcome"):
        certify(LinearRegression(), X, np.column_stack([Y, Y]))


def test_the_picture_shows_the_intervals_and_the_truth():
    found = certify(LinearRegression(), X, Y, n_sets=5, random_state=0)
    ax = found.plot()
    assert ax.get_xlabel() == "training sets, by their estimate"
    assert ax.get_ylabel() == "squared risk"
    segments = sum(len(each.get_segments()) for each in ax.collections)
    assert segments == 5
