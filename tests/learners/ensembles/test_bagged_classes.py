"""Bags of classifiers: votes, costs, and draws that lack a class."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression as ForeignLogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC
from sklearn.utils import get_tags

from bagged_rows import bag_of, sample
from empirisk import AdaBoostClassifier, DecisionTreeClassifier
from empirisk.losses import Costs
from empirisk.runtime.errors import ParameterError
from tolerances import LAST_BITS, SUMMED


def test_votes_can_be_asked_for():
    X, y = sample(True)
    members = DecisionTreeClassifier(max_depth=2)
    bag = bag_of(members, True, voting="hard", n_estimators=9).fit(X, y)
    votes = np.array([member.predict(X) for member in bag.estimators_])
    shares = np.stack([(votes == k).mean(axis=0) for k in range(3)], axis=1)
    assert_allclose(bag.predict_proba(X), shares, rtol=LAST_BITS)
    soft = bag_of(members, True, n_estimators=9).fit(X, y)
    assert (soft.predict_proba(X) != shares).any()
    with pytest.raises(ParameterError, match="voting is 'loud'"):
        bag_of(None, True, voting="loud").fit(X, y)


def test_members_with_costs_vote_and_the_bag_is_judged_by_the_costs():
    X, y = sample(True)
    costs = Costs([[0, 9, 9], [1, 0, 1], [1, 1, 0]])  # calling it "a" is dear
    bag = bag_of(DecisionTreeClassifier(max_depth=2, cost_matrix=costs), True, n_estimators=40)
    bag.set_params(oob_score=True).fit(X, y)
    usual = bag_of(DecisionTreeClassifier(max_depth=2), True, n_estimators=40).fit(X, y)
    assert (bag.predict(X) == "a").sum() < (usual.predict(X) == "a").sum()
    assert "costs" in bag.risk_.loss.lower()
    votes = bag.predict_proba(X)
    bag.set_params(estimator=SVC())  # for the next fit
    assert_array_equal(bag.predict_proba(X), votes)
    assert not hasattr(bag, "decision_function")


@pytest.mark.parametrize(
    "estimator", [None, ForeignLogisticRegression(), SVC(), KNeighborsClassifier(1), GaussianNB()]
)
def test_a_draw_that_lacks_a_class_is_no_trouble(estimator):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    y = np.where(np.arange(40) < 2, "rare", "usual")
    bag = bag_of(estimator, True, n_estimators=30).fit(X, y)
    assert {len(member.classes_) for member in bag.estimators_} == {1, 2}
    if get_tags(bag).input_tags.sparse:
        sparse = bag_of(estimator, True, n_estimators=30).fit(csr_array(X), y)
        assert np.mean(sparse.predict(csr_array(X)) == bag.predict(X)) > 0.9
    shares = bag.predict_proba(X)
    assert shares.shape == (40, 2)
    assert_allclose(shares.sum(axis=1), 1, rtol=SUMMED)
    if hasattr(bag, "decision_function"):
        assert np.isfinite(bag.decision_function(X)).all()


def test_decision_functions_of_members_that_lack_a_class_are_aligned():
    X, y = sample(True)
    y = np.where(np.arange(90) < 2, "rare", y)
    bag = bag_of(SVC(), True, n_estimators=20).fit(X, y)
    assert {len(member.classes_) for member in bag.estimators_} == {3, 4}
    scores = bag.decision_function(X)
    assert scores.shape == (90, 4)
    assert np.mean(bag.classes_[scores.argmax(axis=1)] == y) > 0.8


@pytest.mark.parametrize("estimator", [SVC(), AdaBoostClassifier(n_estimators=3)])
def test_members_of_one_class_have_no_part_in_the_decision_function(estimator):
    X, y = sample(True)
    X, y = X[:12], np.arange(12) > 0
    bag = bag_of(estimator, True, n_estimators=10).fit(X, y)
    able = [member for member in bag.estimators_ if len(member.classes_) == 2]
    assert 0 < len(able) < 10
    mean = np.mean([member.decision_function(X) for member in able], axis=0)
    assert_allclose(bag.decision_function(X), mean, rtol=SUMMED)


def test_class_weights_by_label_reach_members_that_know_codes():
    X, y = sample(True)
    for estimator in (SVC(), DecisionTreeClassifier(max_depth=2), make_pipeline(SVC())):
        name = "svc__class_weight" if hasattr(estimator, "steps") else "class_weight"
        heavy = clone(estimator).set_params(**{name: {"c": 50.0}})
        usual, heavy = (bag_of(each, True).fit(X, y).predict(X) for each in (estimator, heavy))
        assert (heavy == "c").sum() > 1.3 * (usual == "c").sum()
