"""Learning curves: against loops written out, their errors and plans, and where they must refuse.

Statistical tests fail with probability 1e-6 or less; their seeds are fixed.
"""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import stats
from sklearn.linear_model import LinearRegression as PeerLinearRegression
from sklearn.model_selection import TimeSeriesSplit
from sklearn.pipeline import make_pipeline

from curve_rows import regression
from empirisk import Encoder, LinearDiscriminantAnalysis, LinearRegression, Plan, Ridge, Table
from empirisk.risk.cross_validation import cross_validate
from empirisk.risk.intervals.loss_table import standard_errors
from empirisk.risk.learning_curves.crossed_errors import errors_of_means
from empirisk.risk.learning_curves.learning_curve import learning_curve
from empirisk.risk.learning_curves.nested_subsets import nested_subsets
from empirisk.runtime.errors import ParameterError, PlanError
from tolerances import SOLVED, SUMMED

SIX_ERRORS = stats.norm.isf(5e-7)


def test_with_all_training_rows_it_is_cross_validation():
    X, y = regression()
    plan = Plan.of(5, X, y, random_state=0)
    curve = learning_curve(LinearRegression(), X, y, cv=plan, sizes=[0.5, 1.0], repeats=1)
    expected = cross_validate(LinearRegression(), X, y, cv=plan)
    assert_allclose(curve.sizes, [40, 80], rtol=SUMMED)
    assert_allclose(curve.estimates[-1].value, expected.value, rtol=SUMMED)
    assert_allclose(curve.estimates[-1].losses, expected.losses, rtol=SOLVED)
    assert curve.estimates[-1].estimates == "the procedure at this n"
    training = [
        np.mean((y[t] - PeerLinearRegression().fit(X[t], y[t]).predict(X[t])) ** 2)
        for t in (plan.train(s) for s in range(5))
    ]
    assert_allclose(curve.training_risk[-1], np.mean(training), rtol=SUMMED)


def test_in_time_order_the_latest_rows_train():
    X, y = regression(60)
    splitter = TimeSeriesSplit(3)
    curve = learning_curve(LinearRegression(), X, y, cv=splitter, sizes=[6, 12], repeats=1)
    for j, m in enumerate((6, 12)):
        losses = []
        for train, test in splitter.split(X):
            model = PeerLinearRegression().fit(X[train[-m:]], y[train[-m:]])
            losses.append((y[test] - model.predict(X[test])) ** 2)
        assert_allclose(curve.estimates[j].losses, np.concatenate(losses), rtol=SOLVED)
        assert curve.estimates[j].interval is None


def test_a_test_part_apart_is_never_trained_on():
    X, y = regression()
    options = {"test_size": 0.2, "repeats": 3, "random_state": 0}
    curve = learning_curve(LinearRegression(), X, y, **options)
    test = np.unique(curve.estimates[0].unit)
    assert len(test) == 20
    assert len(curve.estimates[0].losses) == 60
    assert curve.sizes[-1] == 80
    y[test] += 1e6
    moved = learning_curve(LinearRegression(), X, y, **options)
    assert (moved.training_risk == curve.training_risk).all()
    assert (moved.risk > 1e11).all()


@pytest.mark.parametrize("grouped", [False, True])
def test_smaller_training_sets_lie_inside_larger_ones(grouped):
    rng = np.random.default_rng(0)
    train = np.sort(rng.choice(200, 150, replace=False))
    strata = rng.choice(3, 200, p=[0.7, 0.25, 0.05])
    groups = np.arange(200) // 7 if grouped else None
    sizes = np.array([20, 40, 80, 150])
    found = nested_subsets(train, sizes, strata=strata, groups=groups, in_order=False, rng=rng)
    for small, large in pairwise(found):
        assert set(small) < set(large)
    assert_allclose(found[-1], train, rtol=SUMMED)
    for part, size in zip(found, sizes, strict=True):
        if grouped:
            assert size - 7 < len(part) <= size
            inside = np.isin(groups[train], groups[part])
            assert_allclose(train[inside], part, rtol=SUMMED)  # whole groups
        else:
            assert len(part) == size
            share = np.bincount(strata[train], minlength=3) * size / 150
            assert (np.abs(np.bincount(strata[part], minlength=3) - share) <= 1.5).all()


def test_a_group_larger_than_the_size_still_comes():
    groups = np.repeat([0, 1], 10)
    rng = np.random.default_rng(0)
    found = nested_subsets(
        np.arange(20), np.array([3]), strata=None, groups=groups, in_order=False, rng=rng
    )
    assert len(found[0]) == 10


def test_groups_stay_on_one_side_and_are_the_units():
    X, y = regression()
    groups = np.arange(100) // 4
    curve = learning_curve(LinearRegression(), X, y, groups=groups, cv=5, repeats=2)
    assert len(np.unique(curve.estimates[0].unit)) == 25
    assert (np.diff(curve.sizes) > 0).all()


def test_the_curve_is_the_expected_risk_at_each_size():
    """E R(m) = 1 + d/(m - d - 1) for Gaussian least squares without an intercept."""
    d, draws = 4, 50
    learner = LinearRegression(fit_intercept=False)
    found = []
    for seed in range(draws):
        X, y = regression(40, d, seed)
        curve = learning_curve(learner, X, y, sizes=[10, 30], cv=4, repeats=1, random_state=seed)
        found.append(curve.risk)
    error = np.std(found, axis=0, ddof=1) / np.sqrt(draws)
    expected = 1 + d / (np.array([10, 30]) - d - 1)
    assert (np.abs(np.mean(found, axis=0) - expected) < SIX_ERRORS * error).all()


def test_the_error_of_a_mean_counts_rows_and_training_sets():
    # loss = row + training set + rest, 10 fresh rows for each of 20 sets: known variance.
    rng = np.random.default_rng(0)
    J, m, sims = 20, 10, 400
    split = np.repeat(np.arange(J), m)
    found = np.empty((sims, 2))
    for s in range(sims):
        rows, sets = rng.normal(size=J * m), 0.5 * rng.normal(size=(J, 2))
        losses = rows[:, None] + sets[split] + 0.3 * rng.normal(size=(J * m, 2))
        error, correlation = errors_of_means(
            losses, np.ones(J * m), np.arange(J * m), split, np.ones(2), same_rows=False
        )
        found[s] = error[0] ** 2, correlation[0, 1] * error[0] * error[1]
    truth = [1.09 / (J * m) + 0.25 / J, 1 / (J * m)]
    # The sets' part is also in the rows' part, as 0.25/200, and negative parts are cut off.
    slack = np.array([0.25 / (J * m), 0.0]) + SIX_ERRORS * found.std(axis=0) / np.sqrt(sims)
    assert (found.mean(axis=0) > truth - slack).all()
    assert found.mean(axis=0)[0] < truth[0] + slack[0] * 2
    one_set, _ = errors_of_means(
        losses, np.ones(J * m), np.arange(J * m), np.zeros(J * m, int), np.ones(2), same_rows=True
    )
    expected = standard_errors(losses, np.ones(J * m), np.arange(J * m))
    assert_allclose(one_set, expected, rtol=SUMMED)


def test_weights_groups_and_frames():
    X, y = regression()
    w = np.random.default_rng(1).uniform(0, 2, 100)
    w[:5] = 0
    curve = learning_curve(
        LinearRegression(), X, y, sample_weight=w, sizes=[20, 60], random_state=0
    )
    assert len(np.unique(curve.estimates[0].unit)) == 95
    frame = pd.DataFrame({"a": X[:, 0], "b": np.where(X[:, 1] > 0, "yes", "no")})
    learner = make_pipeline(Encoder(), LinearRegression())
    options = {"sizes": [30, 60], "cv": 4, "repeats": 1}
    plain, table = (
        learning_curve(learner, given, y, **options) for given in (frame, Table.of(frame))
    )
    assert_allclose(plain.risk, table.risk, rtol=SUMMED)


def test_the_default_sizes_have_rows_of_two_classes():
    X, _ = regression(300)
    rare = np.where(np.arange(300) % 25 == 0, "rare", "common")
    curve = learning_curve(LinearDiscriminantAnalysis(), X, rare, cv=5, repeats=1)
    assert len(curve.sizes) >= 4
    with pytest.raises(PlanError, match="one class"):
        learning_curve(LinearDiscriminantAnalysis(), X, rare, cv=5, sizes=[2])


def test_losses_beyond_the_range_give_no_nan():
    X, y = regression()
    curve = learning_curve(LinearRegression(), X, y * 1e200, sizes=[20, 40, 60, 80], repeats=1)
    assert np.isinf(curve.risk).all()
    assert not np.isnan(curve.standard_error).any()
    assert "not carried on" in str(curve)


@pytest.mark.parametrize("scale", [1e-100, 1e100])
def test_the_unit_of_y_does_not_matter(scale):
    X, y = regression()
    plain, scaled = (
        learning_curve(LinearRegression(), X, y * s, sizes=[20, 40, 60, 80], repeats=1)
        for s in (1.0, scale)
    )
    assert_allclose(scaled.risk / scale**2, plain.risk, rtol=SUMMED)
    assert_allclose(scaled.standard_error / scale**2, plain.standard_error, rtol=SUMMED)
    assert_allclose(
        scaled.extrapolate().asymptote.value / scale**2,
        plain.extrapolate().asymptote.value,
        rtol=SUMMED,
    )


def test_an_estimate_says_at_which_n_it_is():
    X, y = regression()
    curve = learning_curve(LinearRegression(), X, y, sizes=[15, 30, 50, 80], cv=5, repeats=1)
    assert "of the procedure at n = 15 is" in str(curve.estimates[0])
    further = curve.extrapolate()
    assert "of the procedure at n = 1000 is" in str(further.at(1000))
    assert "of the procedure in the limit of many rows is" in str(further.asymptote)
    for estimate in (*curve.estimates, further.at(1000)):
        assert estimate.estimates == "the procedure at this n"
        assert "at n =" in repr(estimate)
    other = learning_curve(Ridge(1.0), X, y, sizes=[15, 30, 50, 80], cv=5, repeats=1)
    difference = other.estimates[0] - curve.estimates[0]
    assert "difference in squared risk of the procedure at n = 15" in str(difference)


def test_time_order_and_few_rows_are_said():
    X, y = regression(120)
    time = learning_curve(LinearRegression(), X, y, cv=TimeSeriesSplit(4), repeats=1)
    few = learning_curve(LinearRegression(), X[:12, :1], y[:12], random_state=0)
    given = learning_curve(
        LinearRegression(), X, y, cv=[(np.arange(60), np.arange(60, 120))], repeats=1
    )
    plain = learning_curve(LinearRegression(), X, y, random_state=0)
    for curve, words in ((time, "time order"), (few, "with 12 rows"), (given, "splits given")):
        further = curve.extrapolate()
        assert words in str(curve)
        assert words in further.sentence
        for n in (200, np.inf):
            assert any(words in caution for caution in further.at(n).cautions)
    assert plain.extrapolate().cautions == plain.extrapolate().at(200).cautions == ()
    short = learning_curve(LinearRegression(), X[:12, :1], y[:12], sizes=[5, 10], random_state=0)
    assert "not carried on" in str(short)
    assert "with 12 rows" in str(short)


def test_the_picture_has_labels():
    X, y = regression()
    curve = learning_curve(LinearRegression(), X, y, sizes=[15, 30, 50, 80], cv=5, repeats=1)
    ax = curve.plot(bayes_risk=1.0)
    assert ax.get_xlabel() == "training rows n"
    assert ax.get_ylabel() == "squared risk"
    labels = {text.get_text() for text in ax.get_legend().get_texts()}
    assert {"honest risk", "training risk", "Bayes risk"} <= labels
    assert "From 15 to 80 training rows" in str(curve)


def test_sizes_that_make_no_sense_are_refused():
    X, y = regression()
    for sizes in ([], [0.5, 2.0], [0], [500], "all"):
        with pytest.raises(ParameterError, match="sizes"):
            learning_curve(LinearRegression(), X, y, sizes=sizes)
    with pytest.raises(ParameterError, match="repeats"):
        learning_curve(LinearRegression(), X, y, repeats=0)
