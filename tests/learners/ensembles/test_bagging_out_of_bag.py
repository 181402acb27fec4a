"""Out-of-bag rows: judged by the members that lack them; groups and blocks as wholes."""

import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone, is_classifier
from sklearn.linear_model import LinearRegression as ForeignLinearRegression
from sklearn.metrics import accuracy_score, r2_score
from sklearn.neighbors import KNeighborsClassifier

from empirisk import (
    BaggingClassifier,
    BaggingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    Ridge,
    Tuned,
    risk,
)
from empirisk.risk import RiskEstimate
from empirisk.risk.bagging.out_of_bag_scores import OutOfBag
from empirisk.runtime.errors import DataError, ParameterError
from tolerances import SUMMED


def sample(n=80, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, X @ [1.0, -0.5, 0.0] + rng.normal(size=n)


def obvious(bag, X):
    """Row by row, member by member."""
    total, number = [np.zeros(len(X)) for _ in range(2)]
    for member, rows, columns in zip(
        bag.estimators_, bag.estimators_samples_, bag.estimators_features_, strict=True
    ):
        for row in set(range(len(X))) - set(rows):
            total[row] += member.predict(X[[row]][:, columns])[0]
            number[row] += 1
    return total / number


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"estimator": Ridge(), "max_features": 2},
        {"estimator": ForeignLinearRegression(), "bootstrap": False, "max_samples": 0.5},
    ],
)
def test_out_of_bag_predictions_are_those_of_the_members_that_lack_the_row(settings):
    X, y = sample()
    bag = BaggingRegressor(n_estimators=30, oob_score=True, random_state=0, **settings).fit(X, y)
    assert not isinstance(bag.oob_prediction_, np.ma.MaskedArray)
    assert_allclose(bag.oob_prediction_, obvious(bag, X), rtol=SUMMED)
    assert_allclose(bag.oob_score_, r2_score(y, bag.oob_prediction_), rtol=SUMMED)
    assert isinstance(bag.risk_, RiskEstimate)
    assert_allclose(bag.risk_.value, np.mean((y - bag.oob_prediction_) ** 2), rtol=SUMMED)
    assert bag.risk_.interval[0] < bag.risk_.value < bag.risk_.interval[1]


@pytest.mark.parametrize("weighted", [False, True])
def test_the_risk_is_that_of_risk_out_of_bag(weighted):
    X, y = sample()
    weight = np.random.default_rng(1).integers(0, 3, size=80) if weighted else None
    settings = {"n_estimators": 40, "oob_score": True, "random_state": 0}
    labels = np.where(y > 0, "up", "down")
    for bag, target in [
        (BaggingRegressor(**settings), y),
        (BaggingRegressor(Ridge(), max_features=2, **settings), y),
        (BaggingClassifier(**settings), labels),
        (BaggingClassifier(KNeighborsClassifier(3), **settings), labels),
    ]:
        bag.fit(X, target, weight)
        other = risk.out_of_bag(bag, X, target, sample_weight=weight)
        assert_allclose(bag.risk_.value, other.value, rtol=SUMMED)
        assert_allclose(bag.risk_.interval, other.interval, rtol=SUMMED)
        assert bag.risk_.fingerprint == other.fingerprint
    with pytest.raises(DataError, match="was fitted on 80"):
        risk.out_of_bag(bag, X[:70], labels[:70])


def test_scores_are_weighted():
    X, y = sample()
    labels, weight = np.where(y > 0, "up", "down"), np.linspace(0.5, 3.0, 80)
    settings = {"n_estimators": 60, "oob_score": True, "random_state": 0}
    bag = BaggingClassifier(**settings).fit(X, labels, weight)
    votes = bag.classes_[bag.oob_decision_function_.argmax(axis=1)]
    assert_allclose(
        bag.oob_score_, accuracy_score(labels, votes, sample_weight=weight), rtol=SUMMED
    )


def test_a_row_that_all_members_drew_has_no_prediction():
    X, y = sample()
    bag = BaggingRegressor(n_estimators=2, oob_score=True, random_state=0)
    with pytest.warns(UserWarning, match=r"of 80 rows were drawn by every member"):
        bag.fit(X, y)
    drawn = np.array([np.isin(np.arange(80), rows) for rows in bag.estimators_samples_])
    found = bag.oob_prediction_
    assert isinstance(found, np.ma.MaskedArray)
    assert_array_equal(found.mask, drawn.all(axis=0))
    assert np.isfinite(found.compressed()).all()
    assert_allclose(bag.risk_.value, np.ma.mean((y - found) ** 2), rtol=SUMMED)
    with pytest.raises(DataError, match="none is out of bag"):
        BaggingRegressor(bootstrap=False, oob_score=True).fit(X, y)


def test_a_row_without_weight_is_as_if_it_were_not_there():
    X, y = sample()
    weight = np.ones(80)
    weight[::7] = 0
    kept = np.flatnonzero(weight)
    settings = {"n_estimators": 60, "oob_score": True, "random_state": 0}
    zero = BaggingRegressor(**settings).fit(X, y, weight)
    gone = BaggingRegressor(**settings).fit(X[kept], y[kept])
    assert_array_equal(zero.predict(X), gone.predict(X))
    assert_array_equal(zero.oob_prediction_.compressed(), gone.oob_prediction_)
    assert_array_equal(zero.estimators_samples_[3], kept[gone.estimators_samples_[3]])


def test_groups_are_in_or_out_as_wholes():
    X, y = sample()
    groups = np.array([f"patient {i // 5}" for i in range(80)])
    bag = BaggingRegressor(n_estimators=40, oob_score=True, random_state=0)
    bag.fit(X, y, groups=groups)
    for rows in bag.estimators_samples_:
        counts = np.bincount(rows, minlength=80).reshape(16, 5)
        assert (counts == counts[:, :1]).all()
        assert counts[:, 0].sum() == 16
    assert_allclose(bag.oob_prediction_, obvious(bag, X), rtol=SUMMED)
    assert bag.risk_.unit.max() == 15
    half = BaggingRegressor(max_samples=0.5, bootstrap=False, random_state=0)
    sizes = [len(rows) for rows in half.fit(X, y, groups=groups).estimators_samples_]
    assert sizes == [40] * 10


def test_copies_of_a_row_fool_rows_drawn_one_by_one_but_not_groups():
    rng = np.random.default_rng(0)
    X, y = np.repeat(rng.normal(size=(100, 2)), 3, axis=0), np.repeat(rng.integers(0, 2, 100), 3)
    bag = BaggingClassifier(
        KNeighborsClassifier(1), n_estimators=30, oob_score=True, random_state=0
    )
    assert bag.fit(X, y).risk_.value < 0.2
    # The truth is 0.5: the labels are noise. By groups 100 independent rows err, with a deviation
    # of 0.05: beyond four of them with probability 6e-5, and the seed is fixed.
    assert abs(bag.fit(X, y, groups=np.repeat(np.arange(100), 3)).risk_.value - 0.5) < 0.2


def test_groups_reach_members_that_take_them():
    X, y = sample()
    groups = np.arange(80) // 4
    bag = BaggingRegressor(Tuned(Ridge(), cv=3, values=[0.1, 1.0]), 2, random_state=0)
    bag.fit(X, y, groups=groups)
    assert len(np.unique(bag.estimators_[0].risk_.unit)) < 20  # units of its risk are groups
    with pytest.raises(DataError, match="groups has 79 entries for 80 rows"):
        bag.fit(X, y, groups=groups[:79])


def test_blocks_are_runs_of_rows_and_judge_runs():
    X, y = sample()
    bag = BaggingRegressor(n_estimators=100, block_size=8, oob_score=True, random_state=0)
    bag.fit(X, y)
    for rows in bag.estimators_samples_:
        counts = np.bincount(rows, minlength=80)
        assert counts.sum() == 80
        assert np.abs(np.diff(counts)).sum() <= 2 * 10  # ten blocks have twenty ends
    reference = OutOfBag(80, np.arange(80) // 8)
    for member, rows in zip(bag.estimators_, bag.estimators_samples_, strict=True):
        out = reference.left_out(np.bincount(rows, minlength=80))
        reference.add(out, member.predict(X[out]) if len(out) else np.zeros(0))
    assert_allclose(bag.oob_prediction_, reference.scores, rtol=SUMMED)
    assert bag.risk_.unit.max() == 9
    with pytest.raises(ParameterError, match="leave out one"):
        bag.fit(X, y, groups=np.arange(80) // 8)
    with pytest.raises(DataError, match="block_size is 8, and there are 5 rows"):
        bag.fit(X[:5], y[:5])


def test_blocks_see_what_rows_drawn_one_by_one_hide():
    # A random walk, and nothing to predict it from but time: its neighbours tell a row's value.
    rng = np.random.default_rng(0)
    time, walk = np.arange(400.0)[:, None], np.cumsum(rng.normal(size=400))
    by_rows, by_blocks = (
        BaggingRegressor(n_estimators=100, oob_score=True, random_state=0, block_size=size)
        .fit(time, walk)
        .risk_
        for size in (None, 40)
    )
    assert by_blocks.value > 3 * by_rows.value
    assert by_blocks.interval[1] - by_blocks.interval[0] > by_rows.interval[1] - by_rows.interval[0]


def test_nothing_is_said_when_all_is_well():
    X, y = sample()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        BaggingRegressor(n_estimators=40, oob_score=True, random_state=0).fit(X, y)


ENSEMBLES = [
    BaggingRegressor(n_estimators=20, random_state=0),
    BaggingRegressor(Ridge(), n_estimators=20, random_state=0),
    BaggingClassifier(n_estimators=20, random_state=0),
    RandomForestRegressor(20, random_state=0),
    RandomForestClassifier(20, random_state=0),
]
JUDGES = {
    "risk": risk.out_of_bag,
    "curve": risk.out_of_bag_curve,
    "strength": risk.strength,
    "importance": lambda *rows: risk.importance(*rows, how="out_of_bag", n_repeats=1),
}


def words_or_numbers(ensemble):
    X, y = sample()
    words = np.array(["low", "middle", "high"])[np.digitize(y, [-1, 1])]
    return X, words if is_classifier(ensemble) else y


@pytest.mark.parametrize("judge", JUDGES.values(), ids=JUDGES)
@pytest.mark.parametrize("ensemble", ENSEMBLES, ids=str)
def test_rows_in_another_order_are_not_taken_for_rows_out_of_bag(ensemble, judge):
    X, y = words_or_numbers(ensemble)
    ensemble = clone(ensemble).fit(X, y)
    judge(ensemble, X, y)
    with pytest.raises(DataError, match="or its rows come in another order"):
        judge(ensemble, X[::-1], y[::-1])


@pytest.mark.parametrize("ensemble", ENSEMBLES, ids=str)
def test_the_same_rows_are_known_however_they_come(ensemble):
    X, y = words_or_numbers(ensemble)
    fitted = clone(ensemble).fit(X, y)
    known = risk.out_of_bag(fitted, X, y).value
    for same in (pd.Series(y), y.tolist(), y.astype(object)):
        assert risk.out_of_bag(fitted, X, same).value == known
    weight = np.arange(len(y)) % 3 + 0.0
    weighted = clone(ensemble).fit(X, y, sample_weight=weight)
    found = risk.out_of_bag(weighted, X, y, sample_weight=weight)
    assert np.isfinite([found.value, risk.out_of_bag(weighted, X, y).value]).all()
    tuned = Tuned(ensemble, values=[1, 3]).fit(X, y)
    assert np.isfinite(risk.out_of_bag(tuned.best_estimator_, X, y).value)
