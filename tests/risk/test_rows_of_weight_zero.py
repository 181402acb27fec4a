"""A row of weight zero changes nothing, whoever counts the rows and whatever it holds."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import (
    LeaveOneOut,
    PredefinedSplit,
    RepeatedKFold,
    TimeSeriesSplit,
    check_cv,
)

from empirisk import Plan, RandomForestRegressor, Tuned, bootstrap, compare, risk
from empirisk.risk.plans.rows_left import plan_of_left, splits_of_left
from empirisk.runtime.errors import PlanError
from tolerances import SUMMED

rng = np.random.default_rng(0)
X = rng.normal(size=(40, 2))
y = X[:, 0] + rng.normal(size=40)
weight = np.where(np.arange(40) % 7 == 3, 0.0, 1.0 + np.arange(40) % 3)
left = np.flatnonzero(weight)
fold = np.arange(40) % 4


def of_rows_left(cv):
    """The losses of the rows that have a weight, as if the others had never been there."""
    return risk.cross_validate(LinearRegression(), X[left], y[left], cv=cv,
                               sample_weight=weight[left]).losses  # fmt: skip


@pytest.mark.parametrize(
    "cv",
    [
        PredefinedSplit(fold),
        Plan.of(PredefinedSplit(fold), X, y, sample_weight=weight),
        [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(4)],
        [(fold != k, fold == k) for k in range(4)],
    ],
    ids=["splitter", "plan", "rows", "masks"],
)
def test_folds_of_all_rows_are_those_of_the_rows_left(cv):
    found = risk.cross_validate(LinearRegression(), X, y, cv=cv, sample_weight=weight)
    assert_allclose(found.losses, of_rows_left(PredefinedSplit(fold[left])), rtol=SUMMED)


def test_a_plan_that_leaves_out_one_row_leaves_out_each_row_left():
    plan = Plan.leave_one_out(X, y, sample_weight=weight)
    found = risk.cross_validate(LinearRegression(), X, y, cv=plan, sample_weight=weight)
    assert_allclose(found.losses, of_rows_left(LeaveOneOut()), rtol=SUMMED)


@pytest.mark.parametrize("cv", [RepeatedKFold(n_splits=4, n_repeats=2, random_state=0),
                                TimeSeriesSplit(4)])  # fmt: skip
def test_a_plan_and_its_splits_say_the_same_of_the_rows_left(cv):
    plan = Plan.of(cv, X, y)
    splits = [(plan.train(s), plan.test(s)) for s in range(plan.n_splits)]
    found = plan_of_left(plan, left, "")
    assert found.kind == plan.kind
    for s, (train, test) in enumerate(splits_of_left(splits, 40, left)):
        assert_array_equal(found.train(s), train)
        assert_array_equal(found.test(s), test)
    assert found.n_splits == s + 1


def test_rivals_of_a_plan_of_all_rows_can_be_subtracted():
    plan = Plan.of(5, X, y, sample_weight=weight, random_state=0)
    rivals = compare([LinearRegression()], X, y, cv=plan, sample_weight=weight)
    assert rivals.difference("LinearRegression", "Baseline").value < 0


def test_a_plan_for_other_weights_is_refused():
    plan = Plan.of(5, X, y)
    with pytest.raises(PlanError, match="other weights"):
        risk.cross_validate(LinearRegression(), X, y, cv=plan, sample_weight=weight)


@pytest.mark.parametrize("held_out", [np.arange(40) == 3, weight > 0], ids=["test", "training"])
def test_a_plan_without_a_part_is_refused(held_out):
    plan = Plan.of(PredefinedSplit(np.where(held_out, 0, -1)), X, y, sample_weight=weight)
    with pytest.raises(PlanError, match="of the 40 rows of the plan 34 have a weight"):
        risk.cross_validate(LinearRegression(), X, y, cv=plan, sample_weight=weight)


@pytest.mark.parametrize(
    ("splits", "match"), [([([0, 1], [40])], "rows from 40 to 40"), ([[0, 1, 2]], "give a pair")]
)
def test_splits_are_checked_where_rows_have_weight_zero(splits, match):
    with pytest.raises(PlanError, match=match):
        risk.cross_validate(LinearRegression(), X, y, cv=splits, sample_weight=weight)


def test_groups_that_rows_of_weight_zero_lack_are_not_missed():
    groups = np.where(weight > 0, np.arange(40) // 4, np.nan)
    whole = {"sample_weight": weight, "groups": groups}
    some = {"sample_weight": weight[left], "groups": groups[left]}
    said = y > 0
    for found, expected in (
        (risk.measures.accuracy(said, X[:, 0] > 0, **whole),
         risk.measures.accuracy(said[left], X[left, 0] > 0, **some)),
        (bootstrap(y, n_resamples=99, random_state=0, **whole),
         bootstrap(y[left], n_resamples=99, random_state=0, **some)),
    ):  # fmt: skip
        assert found.value == expected.value
        assert found.standard_error == expected.standard_error
    model = LinearRegression().fit(X, y)
    found = risk.partial_dependence(model, X, 0, **whole)
    expected = risk.partial_dependence(model, X[left], 0, **some)
    assert_array_equal(found.standard_error, expected.standard_error)


def test_labels_and_scores_that_rows_of_weight_zero_lack_are_not_missed():
    label = np.where(weight > 0, (y > 0).astype(float), np.nan)
    score = np.where(weight > 0, X[:, 0], np.nan)
    found = risk.measures.auc(label, score, sample_weight=weight)
    expected = risk.measures.auc(label[left], score[left], sample_weight=weight[left])
    assert found.value == expected.value
    assert found.interval == expected.interval


def test_an_ensemble_that_never_saw_them_is_judged_out_of_bag():
    forest = RandomForestRegressor(30, random_state=0)
    tuned = Tuned(forest, values=[2], random_state=0).fit(X, y, sample_weight=weight)
    found = risk.out_of_bag(tuned.best_estimator_, X, y, sample_weight=weight)
    expected = risk.out_of_bag(tuned.best_estimator_, X[left], y[left], sample_weight=weight[left])
    assert_array_equal(found.losses, expected.losses)


class OwnSplitter:
    """Halves of the user's rows, by their numbers."""

    def split(self, X, y=None, groups=None):
        yield np.arange(20, 40), np.arange(20)
        yield np.arange(20), np.arange(20, 40)

    def get_n_splits(self, X=None, y=None, groups=None):
        return 2


def test_splitters_that_count_rows_count_those_of_the_user():
    own = list(OwnSplitter().split(X))
    by_list, by_check, by_class = (
        risk.cross_validate(LinearRegression(), X, y, cv=cv, sample_weight=weight)
        for cv in (own, check_cv(own), OwnSplitter())
    )
    assert by_list.value == by_check.value == by_class.value
    assert len(by_list.losses) == len(by_class.losses) == len(left)
    sure = {"n_sets": 2, "random_state": 0, "sample_weight": weight}
    certified = [risk.certify(LinearRegression(), X, y, cv=cv, **sure) for cv in (own, iter(own))]
    assert certified[0].value.tolist() == certified[1].value.tolist()
