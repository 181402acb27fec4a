"""Bags: the mean or vote of members that are what a user would fit to the same draws."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, ClassifierMixin, clone, is_classifier
from sklearn.datasets import load_iris
from sklearn.linear_model import LinearRegression as ForeignLinearRegression
from sklearn.linear_model import LogisticRegression as ForeignLogisticRegression
from sklearn.linear_model import Ridge as ForeignRidge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeRegressor as ForeignTreeRegressor
from sklearn.utils import get_tags

from empirisk import (
    AdaBoostClassifier,
    BaggingClassifier,
    BaggingRegressor,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    KernelRegressor,
    LinearDiscriminantAnalysis,
    LinearTreeRegressor,
    NaiveBayes,
    Ridge,
    Tuned,
)
from empirisk.learners.ensembles.bagged_trees import are_trees, tie_order
from empirisk.learners.ensembles.members import kind_of_workers, weight_arguments
from empirisk.losses import Costs
from empirisk.runtime.errors import DataError, ParameterError
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
SETTINGS = [
    {},
    {"max_features": 3, "max_samples": 0.6},
    {"bootstrap": False, "max_samples": 50},
    {"bootstrap_features": True},
]


def sample(classifier, n=90, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    y = X @ [1.0, -0.5, 2.0, 0.0] + rng.normal(size=n)
    return X, (np.array(["a", "b", "c"])[np.digitize(y, [-1, 1])] if classifier else y)


def bag_of(estimator, classifier, **settings):
    bag = BaggingClassifier if classifier else BaggingRegressor
    return bag(estimator, **{"n_estimators": 5, "random_state": 0, **settings})


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


def test_sparse_rows_and_several_outputs_go_to_members_that_take_them():
    X, y = sample(False)
    dense, sparse = (
        bag_of(ForeignLinearRegression(), False).fit(each, y).predict(each)
        for each in (X, csr_array(X))
    )
    assert_allclose(dense, sparse, rtol=1e-4)  # another solver
    trees = [bag_of(None, False).fit(each, y).predict(each) for each in (X, csr_array(X))]
    assert_array_equal(*trees)
    with pytest.raises(TypeError, match=r"[Ss]parse"):
        bag_of(KernelRegressor(), False).fit(csr_array(X), y)
    two = bag_of(None, False, oob_score=True, n_estimators=40).fit(X, np.column_stack([y, -y]))
    one = bag_of(None, False, oob_score=True, n_estimators=40).fit(X, y)
    assert two.predict(X).shape == two.oob_prediction_.shape == (90, 2)
    assert_allclose(two.predict(X)[:, 0], -two.predict(X)[:, 1], rtol=SUMMED)
    assert one.predict(X).shape == (90,)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
@pytest.mark.parametrize("settings", SETTINGS)
def test_members_get_frames_as_they_came_in(frame, settings):
    X, y = sample(False)
    table = frame(dict(zip("abcd", X.T, strict=True)))
    for estimator in (ForeignRidge(), Ridge()):
        bag = bag_of(estimator, False, **settings).fit(table, y)
        assert list(bag.feature_names_in_) == list("abcd")
        columns = bag.estimators_features_[0]
        names = [name[0] for name in bag.estimators_[0].feature_names_in_]
        assert names == ["abcd"[j] for j in columns]
        plain = bag_of(estimator, False, **settings).fit(X, y).predict(X)
        assert_allclose(bag.predict(table), plain, rtol=SUMMED)


def test_more_members_with_warm_start_are_those_of_one_fit():
    X, y = sample(False)
    for settings in ({}, {"max_features": 2, "oob_score": True}):
        bag = bag_of(None, False, warm_start=True, n_estimators=20, **settings).fit(X, y)
        bag.set_params(n_estimators=50).fit(X, y)
        whole = bag_of(None, False, n_estimators=50, **settings).fit(X, y)
        assert_array_equal(bag.predict(X), whole.predict(X))
        assert_array_equal(bag.estimators_samples_, whole.estimators_samples_)
    assert_array_equal(bag.oob_prediction_, whole.oob_prediction_)
    with pytest.warns(UserWarning, match="no member was fitted"):
        bag.fit(X, y)
    for error, change, rows in [
        (ParameterError, {"n_estimators": 10}, 90),
        (ParameterError, {"n_estimators": 60, "max_features": 3}, 90),
        (ParameterError, {"n_estimators": 60, "max_samples": 0.5}, 90),
        (DataError, {"n_estimators": 60}, 80),
    ]:
        with pytest.raises(error, match="warm_start"):
            clone_fitted(bag).set_params(**change).fit(X[:rows], y[:rows])
    with pytest.raises(DataError, match=r"y is not that of the members.* warm_start=True"):
        bag.set_params(n_estimators=60).fit(X[::-1], y[::-1])


def test_distributions_by_number_follow_the_columns():
    X, y = load_iris(return_X_y=True)
    X = np.floor(X)
    bayes = NaiveBayes(distributions={0: "poisson", (2, 3): "multinomial"})
    bag = BaggingClassifier(bayes, 5, max_features=2, random_state=0).fit(X, y)
    wanted = ["poisson", "gaussian", "multinomial", "multinomial"]
    for member, seen in zip(bag.estimators_, bag.estimators_features_, strict=True):
        assert member.distributions_ == [wanted[j] for j in seen]


def test_members_are_added_for_the_same_columns_alone():
    X, y = sample(False)
    bag = bag_of(None, False, warm_start=True, n_estimators=2).fit(X, y)
    with pytest.raises(ValueError, match="X has 2 features"):
        clone_fitted(bag).set_params(n_estimators=3).fit(X[:, :2], y)
    named = pd.DataFrame(X, columns=list("abcd"))
    bag = bag_of(None, False, warm_start=True, n_estimators=2).fit(named, y)
    with pytest.raises(ValueError, match="feature names"):
        bag.set_params(n_estimators=3).fit(named.rename(columns={"a": "z"}), y)


def clone_fitted(model):
    return pickle.loads(pickle.dumps(model))


def test_a_bag_is_tuned_along_its_columns():
    X, y = sample(False)
    model = Tuned(bag_of(None, False), cv=3).fit(X, y)
    assert list(model.path_.values) == [1, 2, 4]
    again = bag_of(None, False, max_features=model.best_value_).fit(X, y)
    assert_array_equal(model.predict(X), again.predict(X))


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_bags_of_any_estimator_are_cross_validated_on_frames(frame):
    X, y = sample(False)
    table = frame(dict(zip("abcd", X.T, strict=True)))
    bag = bag_of(Ridge(), False, n_estimators=3)
    plain, framed = (Tuned(bag, cv=3).fit(each, y) for each in (X, table))
    assert framed.risk_.value == plain.risk_.value
    assert_allclose(framed.predict(table), plain.predict(X), rtol=SUMMED)


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
