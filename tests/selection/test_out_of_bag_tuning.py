"""`Tuned` by out-of-bag: each value by one ensemble on all rows; the chosen one is kept."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_iris
from sklearn.ensemble import (
    BaggingClassifier,
    BaggingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bagged_stand_in import BaggedTrees, BaggedTreesClassifier, BaggedTreesRegressor
from empirisk import Ridge, Tuned, compare, select
from empirisk.risk import Axis, Plan, cross_validate, learning_curve, out_of_bag
from empirisk.risk.axis import CannotSubtractError
from empirisk.risk.out_of_fold import out_of_fold
from empirisk.risk.plans.out_of_bag import OutOfBagPlan
from empirisk.risk.problem import Problem
from empirisk.runtime.errors import DataError, ParameterError, PlanError
from tolerances import SUMMED

AXIS = Axis(("max_features",), "richer", "integer")
X, Y = load_diabetes(return_X_y=True)
X, Y = X[:150], Y[:150]
IRIS_X, IRIS_Y = load_iris(return_X_y=True)
LABELS = np.array(["setosa", "versicolor", "virginica"])[IRIS_Y]


def foreign(estimator, values, **options):
    return Tuned(estimator, axis=AXIS, values=values, cv="out_of_bag", **options)


def test_each_value_of_a_foreign_forest_has_its_own_out_of_bag_risk():
    tuned = foreign(RandomForestRegressor(15, random_state=3), [1, 4, 10]).fit(X, Y)
    forests = [RandomForestRegressor(15, random_state=3, max_features=m) for m in (1, 4, 10)]
    alone = [out_of_bag(forest.fit(X, Y), X, Y) for forest in forests]
    assert_allclose(tuned.path_.risk, [each.value for each in alone], rtol=SUMMED)
    assert tuned.path_.rung == "generic"
    training = [np.mean((forest.predict(X) - Y) ** 2) for forest in forests]
    assert_allclose(tuned.path_.training_risk, training, rtol=SUMMED)
    best = tuned.best_index_
    assert_array_equal(tuned.predict(X), forests[best].predict(X))
    assert tuned.risk_.uncorrected == pytest.approx(alone[best].value, rel=SUMMED)
    assert tuned.risk_.corrected
    assert tuned.risk_.chosen_among == 3
    assert "each row by the members that did not draw it" in tuned.risk_.sentence
    assert "so few members" in tuned.risk_.sentence
    assert tuned.risk_.estimates == "the procedure at this n"


def test_values_share_their_draws_and_compare_row_by_row():
    problem = Problem.of(RandomForestClassifier(), IRIS_X, LABELS)
    plan = problem.plan("out_of_bag", out_of_bag=True)
    losses = out_of_fold(
        RandomForestClassifier(4), problem, plan, values=[1, 2, 4], axis=AXIS
    )  # no seed is given, and all values have the same
    drawn = [set(sample) for sample in losses.path.at(0).estimators_samples_]
    for j in (1, 2):
        assert [set(sample) for sample in losses.path.at(j).estimators_samples_] == drawn
    never = sorted(set.intersection(*drawn))
    assert never
    assert_array_equal(losses.row, np.setdiff1d(np.arange(150), never))
    difference = losses.estimate(1) - losses.estimate(0)
    assert_allclose(difference.losses, losses.losses[:, 1] - losses.losses[:, 0], rtol=SUMMED)
    assert f"without {len(never)} rows that all drew" in losses.estimate(0).sentence
    codes = losses.predictions(1)
    assert_array_equal(codes != IRIS_Y[losses.row], losses.losses[:, 1])


def test_a_forest_of_probabilities_is_chosen_by_the_log_loss():
    tuned = foreign(RandomForestClassifier(20, random_state=0), [1, 4], loss="log")
    tuned.fit(IRIS_X, LABELS)
    alone = out_of_bag(tuned.best_estimator_, IRIS_X, LABELS, loss="log")
    assert tuned.risk_.uncorrected == pytest.approx(alone.value, rel=SUMMED)
    assert_array_equal(tuned.classes_, np.unique(LABELS))


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_draws_that_depend_on_the_value_are_judged_where_all_values_are(n_jobs):
    # scikit-learn's bagging draws columns first, and then other rows for each number of columns.
    bagging = BaggingRegressor(n_estimators=4, random_state=0)
    tuned = foreign(bagging, [2, 8], n_jobs=n_jobs).fit(X, Y)
    risks, judged = [], np.ones(len(Y), dtype=bool)
    for m in (2, 8):
        one = clone(bagging).set_params(max_features=m).fit(X, Y)
        out = [np.bincount(s, minlength=len(Y)) == 0 for s in one.estimators_samples_]
        judged &= np.any(out, axis=0)
        risks.append(one)
    assert judged.sum() < len(Y)
    for risk, one in zip(tuned.path_.risk, risks, strict=True):
        total, count = np.zeros(len(Y)), np.zeros(len(Y))
        for tree, rows, columns in zip(
            one.estimators_, one.estimators_samples_, one.estimators_features_, strict=True
        ):
            out = np.bincount(rows, minlength=len(Y)) == 0
            total[out] += tree.predict(X[out][:, columns])
            count[out] += 1
        error = (total[judged] / count[judged] - Y[judged]) ** 2
        assert_allclose(risk, error.mean(), rtol=SUMMED)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("grouped", [False, True])
def test_a_learner_of_ours_answers_the_plan_as_the_generic_rung_does(weighted, grouped):
    rng = np.random.default_rng(0)
    weight = rng.integers(0, 3, size=150).astype(float) if weighted else None
    groups = np.array([f"g{k}" for k in rng.integers(0, 60, size=150)]) if grouped else None
    learner = BaggedTreesClassifier(8, random_state=1)
    problem = Problem.of(learner, IRIS_X, LABELS, sample_weight=weight, groups=groups)
    plan = problem.plan("out_of_bag", out_of_bag=True)
    ask = {"values": [1, 2, 4], "random_state": 5}
    own = out_of_fold(learner, problem, plan, **ask)
    generic = out_of_fold(learner, problem, plan, rung="generic", **ask)
    assert (own.rung, generic.rung) == ("plan", "generic")
    assert own.why == "by out-of-bag rows"
    assert_array_equal(own.row, generic.row)
    assert_array_equal(own.losses, generic.losses)
    assert own.plan.fingerprint == generic.plan.fingerprint
    assert_allclose(own.training_risk(), generic.training_risk(), rtol=SUMMED)
    assert own.table(0).kind == "out_of_bag"
    assert own.degrees_of_freedom(0) == generic.degrees_of_freedom(0)
    if grouped:
        assert own.table(0).units <= 60


def test_a_learner_of_ours_is_chosen_by_out_of_bag_without_being_asked_to():
    frame = pd.DataFrame(IRIS_X, columns=list("abcd"))
    learner = BaggedTreesClassifier(
        30, class_weight={"setosa": 1.0, "versicolor": 5.0, "virginica": 1.0}
    )
    before = BaggedTrees.fits, BaggedTreesClassifier.fits
    tuned = Tuned(learner, random_state=0).fit(frame, LABELS)
    assert BaggedTreesClassifier.fits - before[1] == 2  # one for each value, and no other
    assert tuned.path_.rung == "plan"
    best = tuned.best_estimator_
    assert best.class_weight == learner.class_weight
    assert best.max_features == tuned.best_value_
    assert_array_equal(best.feature_names_in_, list("abcd"))
    assert_array_equal(best.classes_, np.unique(LABELS))
    again = clone(best).fit(frame, LABELS)
    assert_array_equal(tuned.predict(frame), again.predict(frame))
    alone = out_of_bag(again, frame, LABELS)
    assert tuned.risk_.uncorrected == pytest.approx(alone.value, rel=SUMMED)
    # Without a bootstrap, and behind steps that saw all rows, by folds.
    for other in (
        BaggedTreesClassifier(3, bootstrap=False),
        make_pipeline(StandardScaler(), BaggedTreesClassifier(3)),
    ):
        assert Tuned(other, random_state=0).fit(IRIS_X, LABELS).path_.rung == "path"


def test_regression_of_ours_and_several_targets():
    both = np.column_stack([Y, -2 * Y])
    tuned = Tuned(BaggedTreesRegressor(20), random_state=0).fit(X, Y)
    assert tuned.path_.rung == "plan"
    alone = out_of_bag(tuned.best_estimator_, X, Y)
    assert tuned.risk_.uncorrected == pytest.approx(alone.value, rel=SUMMED)
    forest = RandomForestRegressor(10, random_state=0)
    tuned = foreign(forest, [2, 5]).fit(X, both)
    expected = out_of_bag(clone(forest).set_params(max_features=2).fit(X, both), X, both)
    assert tuned.path_.risk[0] == pytest.approx(expected.value, rel=SUMMED)


class Declining(BaggedTreesRegressor):
    estimators_samples_ = None

    def out_of_fold(self, *data, **options):
        raise CannotSubtractError("not today")


def test_a_learner_that_declines_is_asked_in_the_form_of_scikit_learn():
    tuned = Tuned(Declining(6, random_state=2)).fit(X, Y)
    own = Tuned(BaggedTreesRegressor(6, random_state=2)).fit(X, Y)
    assert (tuned.path_.rung, tuned.path_.why) == ("generic", "not today")
    assert_allclose(tuned.path_.risk, own.path_.risk, rtol=SUMMED)
    assert_allclose(tuned.predict(X), own.predict(X), rtol=SUMMED)


def test_the_same_bits_whatever_the_number_of_jobs_and_the_same_seed_for_all():
    one, two = (
        foreign(RandomForestClassifier(5), [1, 3], random_state=7, n_jobs=n_jobs)
        for n_jobs in (1, 2)
    )
    one.fit(IRIS_X, LABELS)
    two.fit(IRIS_X, LABELS)
    assert_array_equal(one.path_.risk, two.path_.risk)
    assert one.risk_.value == two.risk_.value
    assert one.best_estimator_.random_state == two.best_estimator_.random_state


def test_cross_validate_takes_an_out_of_bag_plan():
    forest = RandomForestRegressor(20, max_features="sqrt", random_state=0)
    found = cross_validate(forest, X, Y, cv="out_of_bag")
    alone = out_of_bag(clone(forest).fit(X, Y), X, Y)
    assert_allclose(found.losses, alone.losses, rtol=SUMMED)
    assert found.interval == pytest.approx(alone.interval, rel=SUMMED)
    assert found.sentence == alone.sentence
    votes = BaggingClassifier(n_estimators=20, random_state=0)
    area = cross_validate(votes, IRIS_X, LABELS == "virginica", cv="out_of_bag", loss="auc")
    again = out_of_bag(
        votes.fit(IRIS_X, LABELS == "virginica"), IRIS_X, LABELS == "virginica", loss="auc"
    )
    assert (area.value, area.interval) == (again.value, again.interval)
    # A parameter that is no number is fine where there is nothing to choose.
    assert cross_validate(BaggedTreesRegressor(5, max_features="sqrt"), X, Y, cv=3).value > 0


def test_what_has_no_rows_out_of_bag_is_refused():
    with pytest.raises(ParameterError, match=r"bagged ensembles.*Ridge is none: give folds"):
        Tuned(Ridge(), cv="out_of_bag").fit(X, Y)
    with pytest.raises(ParameterError, match="Ridge is none"):
        cross_validate(Ridge(), X, Y, cv="out_of_bag")
    steps = make_pipeline(StandardScaler(), RandomForestRegressor(3))
    with pytest.raises(ParameterError, match=r"steps before RandomForestRegressor.*inside"):
        foreign(steps, [1]).fit(X, Y)
    whole = RandomForestRegressor(3, bootstrap=False)
    with pytest.raises(DataError, match="bootstrap=True"):
        foreign(whole, [1, 2]).fit(X, Y)
    for together in (compare, select):
        with pytest.raises(ParameterError, match="is for Tuned and risk"):
            together({"forest": RandomForestRegressor(3)}, X, Y, cv="out_of_bag")
    with pytest.raises(PlanError, match="deals the rows to folds anew"):
        cross_validate(RandomForestRegressor(3), X, Y, cv="out_of_bag", method="nested")


def test_an_out_of_bag_plan_hands_nobody_its_rows():
    plan = OutOfBagPlan.for_rows(Y)
    for ask in (plan.train, plan.test):
        with pytest.raises(PlanError, match="folds are needed"):
            ask(0)
    assert plan.n_train == len(Y)
    assert not plan.is_partition
    assert not plan.judges_one_model
    assert Plan.of(plan, X, Y) is plan
    with pytest.raises(PlanError, match="folds are needed"):
        learning_curve(RandomForestRegressor(3), X, Y, cv=plan)
