"""Bags: the mean or vote of members that are what a user would fit to the same draws."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, ClassifierMixin, clone, is_classifier
from sklearn.linear_model import LogisticRegression as ForeignLogisticRegression
from sklearn.linear_model import Ridge as ForeignRidge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeRegressor as ForeignTreeRegressor

from bagged_rows import SETTINGS, bag_of, sample
from empirisk import (
    BaggingRegressor,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    LinearDiscriminantAnalysis,
    LinearTreeRegressor,
    Ridge,
)
from empirisk.learners.ensembles.bagged_trees import are_trees, tie_order
from empirisk.learners.ensembles.members import kind_of_workers, weight_arguments
from empirisk.runtime.errors import ParameterError
from tolerances import LAST_BITS, SUMMED

REGRESSORS = [
    None,
    DecisionTreeRegressor(max_depth=3, max_features=2),
    Ridge(),
    LinearTreeRegressor(min_samples_leaf=20),
    ForeignTreeRegressor(max_depth=2),
    KNeighborsRegressor(3),
    make_pipeline(StandardScaler(), ForeignRidge()),
    make_pipeline(MinMaxScaler(), Ridge()),  # the scaler takes no weights
]
CLASSIFIERS = [
    None,
    LinearDiscriminantAnalysis(),
    GaussianNB(),
    KNeighborsClassifier(3),
    SVC(gamma=0.3, tol=1e-8),  # by default gamma depends on copies, not on weights
    ForeignLogisticRegression(),
]


def cases():
    for number, estimator in enumerate(REGRESSORS):
        yield estimator, False, SETTINGS[number % 4]
        yield estimator, False, SETTINGS[(number + 1) % 4]
    for number, estimator in enumerate(CLASSIFIERS):
        yield estimator, True, SETTINGS[number % 4]


@pytest.mark.parametrize(("estimator", "classifier", "settings"), list(cases()))
def test_a_bag_is_the_mean_of_its_members(estimator, classifier, settings):
    X, y = sample(classifier)
    bag = bag_of(estimator, classifier, **settings).fit(X, y)
    members = list(zip(bag.estimators_, bag.estimators_features_, strict=True))
    if not classifier:
        twin = np.mean([member.predict(X[:, columns]) for member, columns in members], axis=0)
        assert_allclose(bag.predict(X), twin, rtol=1e-12)  # products of arrays in another layout
        return
    total = np.zeros((len(X), 3))
    for member, columns in members:
        if hasattr(member, "predict_proba"):
            for k, shares in zip(
                member.classes_, member.predict_proba(X[:, columns]).T, strict=True
            ):
                total[:, k] += shares
        else:
            for row, k in enumerate(member.predict(X[:, columns])):
                total[row, k] += 1
    assert_array_equal(bag.predict_proba(X), total / len(members))
    assert_array_equal(bag.predict(X), np.array(["a", "b", "c"])[total.argmax(axis=1)])


@pytest.mark.parametrize(("estimator", "classifier", "settings"), list(cases()))
def test_a_member_is_the_estimator_fitted_to_copies_of_its_rows(estimator, classifier, settings):
    X, y = sample(classifier)
    bag = bag_of(estimator, classifier, **settings).fit(X, y)
    codes = np.unique(y, return_inverse=True)[1] if classifier else y
    for member, rows, columns in zip(
        bag.estimators_, bag.estimators_samples_, bag.estimators_features_, strict=True
    ):
        if are_trees(member):  # which look at their columns in an order of their own
            columns = columns[tie_order(member, len(columns))]
            member = clone(member).fit(X[:, columns], codes, np.bincount(rows, minlength=len(X)))
        again = clone(member).fit(X[rows][:, columns], codes[rows])
        # Weights of 2 and two copies: sums in another order, condition numbers below 1e2.
        assert_allclose(again.predict(X[:, columns]), member.predict(X[:, columns]), rtol=1e-6)


@pytest.mark.parametrize("settings", SETTINGS)
def test_rows_and_columns_are_as_many_as_asked_for(settings):
    X, y = sample(False)
    bag = bag_of(None, False, **settings).fit(X, y)
    n = {0.6: 54, 50: 50}.get(settings.get("max_samples"), 90)
    p = settings.get("max_features", 4)
    assert [len(rows) for rows in bag.estimators_samples_] == [n] * 5
    assert [len(columns) for columns in bag.estimators_features_] == [p] * 5
    once = all(len(set(rows)) == n for rows in bag.estimators_samples_)
    assert once == (not settings.get("bootstrap", True))
    repeated = any(len(set(columns)) < p for columns in bag.estimators_features_)
    assert repeated == settings.get("bootstrap_features", False)
    assert len({tuple(rows) for rows in bag.estimators_samples_}) == 5


@pytest.mark.parametrize(
    "member",
    [DecisionTreeRegressor(), DecisionTreeClassifier(), Ridge(), KNeighborsClassifier(4), SVC()],
)
def test_a_bag_of_one_that_draws_every_row_once_is_the_member(member):
    classifier = is_classifier(member)
    X, y = sample(classifier)
    bag = bag_of(member, classifier, n_estimators=1, bootstrap=False).fit(X, y)
    alone = clone(member).fit(X, y)
    assert_array_equal(bag.predict(X), alone.predict(X))
    if hasattr(alone, "predict_proba"):
        assert_array_equal(bag.predict_proba(X), alone.predict_proba(X))
    elif classifier:
        assert_allclose(bag.decision_function(X), alone.decision_function(X), rtol=SUMMED)


def test_the_squared_loss_of_a_bag_is_at_most_the_mean_loss_of_its_members():
    X, y = sample(False)
    bag = bag_of(None, False, n_estimators=20).fit(X[:60], y[:60])
    losses = np.mean([(member.predict(X) - y) ** 2 for member in bag.estimators_], axis=0)
    assert ((bag.predict(X) - y) ** 2 <= losses + 1e-12).all()
    assert np.mean((bag.predict(X) - y) ** 2) < 0.8 * losses.mean()


@pytest.mark.parametrize("estimator", [DecisionTreeRegressor(), KNeighborsRegressor(1)])
def test_the_mean_of_members_does_not_overflow(estimator):
    X, y = sample(False)
    y = np.where(y > np.median(y), 1.5e308, 1e308)
    bag = bag_of(estimator, False).fit(X, y)
    mean = sum(member.predict(X) / 5 for member in bag.estimators_)
    assert_allclose(bag.predict(X), mean, rtol=LAST_BITS)


@pytest.mark.parametrize("estimator", [None, KNeighborsRegressor(3), Ridge()])
def test_the_same_bits_for_every_n_jobs(estimator):
    X, y = sample(False)
    one, *others = (
        bag_of(estimator, False, n_jobs=jobs, oob_score=True, n_estimators=20).fit(X, y)
        for jobs in (1, 2, 4, 8)
    )
    for other in others:
        assert_array_equal(one.predict(X), other.predict(X))
        assert_array_equal(one.oob_prediction_, other.oob_prediction_)


class Majority(ClassifierMixin, BaseEstimator):
    """A stranger's estimator: the most frequent class."""

    def fit(self, X, y):
        self.classes_, counts = np.unique(y, return_counts=True)
        self.code_ = int(self.classes_[counts.argmax()])
        return self

    def predict(self, X):
        return np.full(len(X), self.code_)


def test_strange_estimators_work_in_processes_and_known_ones_in_threads():
    assert kind_of_workers(make_pipeline(StandardScaler(), Ridge())) == "threads"
    assert kind_of_workers(make_pipeline(StandardScaler(), Majority())) == "processes"


@pytest.mark.slow  # processes take seconds to start
def test_the_same_bits_in_processes():
    X, y = sample(True)
    one, two = (bag_of(Majority(), True, n_jobs=jobs).fit(X, y) for jobs in (1, 2))
    assert_array_equal(one.predict_proba(X), two.predict_proba(X))


def test_weights_go_to_pipelines_of_which_every_step_takes_them():
    assert weight_arguments(KNeighborsRegressor()) is None
    assert weight_arguments(make_pipeline(MinMaxScaler(), Ridge())) is None
    assert weight_arguments(make_pipeline("passthrough", StandardScaler(), Ridge())) == [
        "standardscaler__sample_weight",
        "ridge__sample_weight",
    ]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_estimators": 0}, "n_estimators is 0"),
        ({"max_features": 5}, "max_features is 5"),
        ({"max_features": 0.0}, "max_features is 0.0"),
        ({"max_samples": 0}, "max_samples is 0"),
        ({"max_samples": 91, "bootstrap": False}, "91 were to be drawn without replacement"),
        ({"bootstrap": "yes"}, "bootstrap is 'yes'"),
        ({"block_size": 0}, "block_size is 0"),
        ({"estimator": "tree"}, "estimator is 'tree'"),
        ({"estimator": SVC()}, r"SVC\(\), which is not for the task of BaggingRegressor"),
    ],
)
def test_wrong_parameters_are_named(settings, message):
    X, y = sample(False)
    with pytest.raises(ParameterError, match=message):
        BaggingRegressor(**settings).fit(X, y)
