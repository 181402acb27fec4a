"""Weights of classes, given by label, mean the same in a single fit and along a path."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from empirisk import LogisticRegression, MarginClassifier, Tuned, risk
from empirisk.learners.class_weights import class_factors
from empirisk.runtime.errors import DataError, ParameterError
from tolerances import SUMMED

LEARNERS = [LogisticRegression(), MarginClassifier("squared_hinge")]
every_learner = pytest.mark.parametrize("learner", LEARNERS, ids=lambda own: type(own).__name__)


def rows(n=60):
    """Labels 1, 2, 3, which are no codes but look like them; the third in the last rows only."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    y = np.where(X[:, 0] + rng.normal(size=n) > 0, 2, 1)
    y[-8:] = 3
    return X, y


@every_learner
@pytest.mark.parametrize("factors", [{1: 5.0, 2: 0.5, 3: 2.0}, {1: 7.0}], ids=["all", "one"])
def test_the_path_weighs_labels_as_single_fits_do(learner, factors):
    X, y = rows()
    learner = type(learner)(**{**learner.get_params(), "class_weight": factors})
    problem = risk.Problem.of(learner, X, y)
    splits = [(np.delete(np.arange(60), hold), hold) for hold in np.arange(60).reshape(4, 15)]
    plan = problem.plan(splits)
    path = risk.out_of_fold(learner, problem, plan, values=[0.1, 1.0], rung="path")
    slow = risk.out_of_fold(learner, problem, plan, values=[0.1, 1.0], rung="generic")
    assert_allclose(path.losses, slow.losses, rtol=SUMMED)


@every_learner
def test_a_training_part_may_lack_a_class_that_has_a_weight(learner):
    X, y = rows()
    learner = type(learner)(**{**learner.get_params(), "class_weight": {3: 5.0, 1: 2.0}})
    split = [(np.arange(52), np.arange(52, 60))]  # trains on labels 1 and 2
    problem = risk.Problem.of(learner, X, y)
    path = risk.out_of_fold(learner, problem, problem.plan(split), values=[1.0], rung="path")
    twin = type(learner)(**{**learner.get_params(), "class_weight": {1: 2.0}})
    missed = twin.fit(X[:52], y[:52]).predict(X[52:]) != 3
    assert_allclose(path.losses[:, 0], missed, rtol=SUMMED)


def test_balanced_weights_are_those_of_the_classes_that_have_rows():
    y, weight = np.array([0, 0, 0, 1, 1]), np.array([1.0, 2.0, 3.0, 1.0, 1.0])
    learner = LogisticRegression(class_weight="balanced")
    for classes in (2, 3, 4):  # 2 and 3 have none
        found = learner._class_weighted(y, weight, np.arange(classes))
        assert_allclose(np.bincount(y, found), [4.0, 4.0], rtol=SUMMED)


@every_learner
def test_tuned_keeps_the_labels(learner):
    X, y = rows()
    factors = {1: 5.0, 2: 0.5, 3: 2.0}
    learner = type(learner)(**{**learner.get_params(), "class_weight": factors})
    tuned = Tuned(learner, cv=3).fit(X, y)
    assert tuned.best_estimator_.class_weight == factors
    with pytest.raises(ParameterError, match="'b'"):
        Tuned(learner.set_params(class_weight={"b": 1.0}), cv=3).fit(X, y)


def test_a_dict_may_name_more_classes_if_it_names_all_there_are():
    assert class_factors({"a": 2.0, "b": 3.0, "c": 4.0}, np.array(["a", "b"])).tolist() == [2, 3]
    with pytest.raises(ParameterError, match="'c'"):
        class_factors({"a": 2.0, "c": 4.0}, np.array(["a", "b"]))
    with pytest.raises(ParameterError, match="above 0"):
        class_factors({"a": 0.0}, np.array(["a", "b"]))


@every_learner
@pytest.mark.parametrize("factors", [{1: 1e10}, {1: 1e10, 2: 1e300, 3: 1.0}], ids=["one", "all"])
def test_weights_beyond_float64_are_refused(learner, factors):
    X, y = rows()
    learner = type(learner)(**{**learner.get_params(), "class_weight": factors})
    with pytest.raises(DataError, match="weights times class_weight are too large"):
        learner.fit(X, y, np.full(60, 1e300))
