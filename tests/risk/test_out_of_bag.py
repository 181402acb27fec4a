"""The out-of-bag risk equals scikit-learn's own where it has one, and goes on where it has none."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_diabetes, load_iris
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    BaggingRegressor,
    ExtraTreesClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC

from empirisk.data.table import Table
from empirisk.losses import Log
from empirisk.risk.bagging.out_of_bag import out_of_bag
from empirisk.risk.bagging.out_of_bag_scores import OutOfBag
from empirisk.runtime.errors import DataError, ParameterError, PlanError
from tolerances import SUMMED

IRIS = load_iris(return_X_y=True)
LABELS = np.array(["setosa", "versicolor", "virginica"])[IRIS[1]]


@pytest.mark.parametrize(
    "ensemble",
    [
        RandomForestClassifier(50, oob_score=True, random_state=0),
        BaggingClassifier(n_estimators=50, max_features=2, oob_score=True, random_state=0),
        BaggingClassifier(LinearSVC(), n_estimators=30, oob_score=True, random_state=0),
        BaggingClassifier(
            GaussianNB(), n_estimators=30, max_samples=0.3, oob_score=True, random_state=0
        ),
    ],
    ids=["forest", "columns", "votes", "small"],
)
def test_the_risk_of_a_classifier_is_that_of_its_own_out_of_bag_score(ensemble):
    X = IRIS[0]
    found = out_of_bag(ensemble.fit(X, LABELS), X, LABELS)
    assert_allclose(found.value, 1 - ensemble.oob_score_, rtol=SUMMED)
    assert found.estimates == "the procedure at this n"
    assert found.interval[0] < found.value < found.interval[1]


def test_probabilities_are_those_of_the_forest():
    X = IRIS[0]
    forest = RandomForestClassifier(40, oob_score=True, random_state=0).fit(X, LABELS)
    found = out_of_bag(forest, X, LABELS, loss="log")
    expected = Log()(IRIS[1], forest.oob_decision_function_)
    assert_allclose(found.losses, expected, rtol=SUMMED)


@pytest.mark.parametrize(
    "ensemble",
    [
        RandomForestRegressor(40, oob_score=True, random_state=0),
        BaggingRegressor(LinearRegression(), n_estimators=40, oob_score=True, random_state=0),
    ],
    ids=["forest", "bagging"],
)
def test_the_losses_of_a_regressor_are_those_of_its_out_of_bag_predictions(ensemble):
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    found = out_of_bag(ensemble.fit(X, y), X, y)
    assert_allclose(found.losses, (ensemble.oob_prediction_ - y) ** 2, rtol=SUMMED)
    # A frame whose columns come in another order is put in order, as predict would refuse it.
    again = out_of_bag(ensemble, X[X.columns[::-1]], y, n_jobs=2)
    assert_array_equal(again.losses, found.losses)


def test_several_outputs_are_averaged():
    X, y = load_diabetes(return_X_y=True)
    both = np.column_stack([y, -2 * y])
    forest = RandomForestRegressor(30, oob_score=True, random_state=0).fit(X, both)
    expected = np.mean((forest.oob_prediction_ - both) ** 2, axis=1)
    assert_allclose(out_of_bag(forest, X, both).losses, expected, rtol=SUMMED)


def test_a_class_that_a_member_has_not_seen_has_probability_zero():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 2)), np.array(["a"] * 20 + ["b"] * 18 + ["rare"] * 2)
    X[:20] += 2
    # Neighbours take no weights, so that their resamples are rows, at times without the class.
    bag = BaggingClassifier(KNeighborsClassifier(1), n_estimators=40, random_state=0).fit(X, y)
    assert any(len(member.classes_) < 3 for member in bag.estimators_)
    total, members = np.zeros((40, 3)), np.zeros(40)
    for member, drawn in zip(bag.estimators_, bag.estimators_samples_, strict=True):
        for i in set(range(40)) - set(drawn):
            total[i, member.classes_] += member.predict_proba(X[[i]])[0]
            members[i] += 1
    codes = np.searchsorted(["a", "b", "rare"], y)
    expected = Log()(codes, total / members[:, None])
    assert_allclose(out_of_bag(bag, X, y, loss="log").losses, expected, rtol=SUMMED)


def test_rows_that_every_member_drew_are_said_and_left_out():
    X, y = IRIS
    forest = RandomForestClassifier(3, random_state=0).fit(X, y)
    found = out_of_bag(forest, X, y)
    drawn = np.all([np.bincount(s, minlength=150) > 0 for s in forest.estimators_samples_], axis=0)
    assert len(found.losses) == 150 - drawn.sum() < 150
    assert f"without {drawn.sum()} rows that all drew" in found.sentence
    assert "so few members" in found.sentence


def test_weights_and_rows_of_weight_zero():
    X, y = load_diabetes(return_X_y=True)
    forest = RandomForestRegressor(30, random_state=0).fit(X, y)
    weight = np.random.default_rng(0).integers(0, 3, size=len(y)).astype(float)
    found, plain = out_of_bag(forest, X, y, sample_weight=weight), out_of_bag(forest, X, y)
    assert_allclose(found.value, np.average(plain.losses, weights=weight), rtol=SUMMED)
    assert len(found.losses) == (weight > 0).sum()


def test_a_row_is_judged_by_members_that_drew_none_of_its_group():
    # Twenty copies of each row: out of bag row by row, a deep tree has seen a copy and knows the
    # answer; out of bag group by group it knows nothing, and y is noise of variance 1.
    rng = np.random.default_rng(1)
    X = rng.normal(size=(30, 1)).repeat(4, axis=0)
    y, groups = rng.normal(size=30).repeat(4), np.arange(30).repeat(4)
    forest = RandomForestRegressor(400, random_state=0).fit(X, y)
    by_row, by_group = out_of_bag(forest, X, y), out_of_bag(forest, X, y, groups=groups)
    assert by_row.value < 0.1
    assert by_group.value > 0.7
    assert by_group.table.units == 30
    drawn = np.array([np.bincount(s, minlength=120) for s in forest.estimators_samples_])
    lacking = (drawn.reshape(400, 30, 4).sum(axis=2) == 0).sum(axis=0)
    assert f"{lacking.mean():.3g} of 400" in by_group.sentence


def test_ensembles_on_the_same_rows_subtract():
    X, y = load_diabetes(return_X_y=True)
    forest = RandomForestRegressor(40, random_state=0).fit(X, y)
    bag = BaggingRegressor(LinearRegression(), n_estimators=40, random_state=0).fit(X, y)
    one, two = out_of_bag(forest, X, y), out_of_bag(bag, X, y)
    assert_allclose((one - two).value, one.value - two.value, rtol=SUMMED)
    with pytest.raises(PlanError):
        _ = one - out_of_bag(forest, X, y, sample_weight=np.arange(1.0, len(y) + 1))


def test_the_mean_of_the_members_is_added_up_from_counts():
    rng = np.random.default_rng(2)
    counts, prediction = rng.integers(0, 2, size=(7, 5)), rng.normal(size=(7, 5, 2))
    counts[:, 4] = 1
    bag = OutOfBag(5)
    for b in range(7):
        rows = bag.left_out(counts[b])
        bag.add(rows, prediction[b, rows])
    assert bag.n_members == 7
    assert_array_equal(bag.judged, [True] * 4 + [False])
    for i in range(4):
        assert_allclose(bag.scores[i], prediction[counts[:, i] == 0, i].mean(axis=0), rtol=SUMMED)
    assert_array_equal(bag.scores[4], 0)


def test_what_cannot_be_judged_is_refused():
    X, y = IRIS
    with pytest.raises(DataError, match="bootstrap=True"):
        out_of_bag(ExtraTreesClassifier(3).fit(X, y), X, y)
    large = np.arange(150) // 50  # a member draws none of 50 of 150 rows with probability 4e-27
    with pytest.raises(DataError, match=r"a row of every group.*misses a group of 50; use"):
        out_of_bag(RandomForestClassifier(3, random_state=0).fit(X, y), X, y, groups=large)
    with pytest.raises(ParameterError, match="estimators_samples_"):
        out_of_bag(AdaBoostClassifier(n_estimators=3).fit(X, y), X, y)
    with pytest.raises(NotFittedError):
        out_of_bag(RandomForestClassifier(), X, y)
    forest = RandomForestClassifier(3, random_state=0).fit(X, y)
    with pytest.raises(
        DataError, match="100 rows came, and RandomForestClassifier was fitted on 150"
    ):
        out_of_bag(forest, X[:100], y[:100])
    part = RandomForestClassifier(3, max_samples=20, random_state=0).fit(X, y)
    with pytest.raises(DataError, match="was fitted on 150"):
        out_of_bag(part, X[:30], y[:30])


def test_frames_without_names_and_tables():
    X, y = IRIS
    forest = RandomForestClassifier(30, random_state=0).fit(X, y)
    plain = out_of_bag(forest, X, y)
    for given in (pd.DataFrame(X), Table.of(X), X.tolist()):
        assert_array_equal(out_of_bag(forest, given, y).losses, plain.losses)
