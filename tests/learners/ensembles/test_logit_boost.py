"""LogitBoost: the algorithms of the paper, shared codings, separable classes, doors."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris
from sklearn.linear_model import LinearRegression as ForeignLinearRegression
from sklearn.neighbors import KNeighborsRegressor
from sklearn.tree import DecisionTreeClassifier
from sklearn.tree import DecisionTreeRegressor as ForeignTree

from empirisk import DecisionTreeRegressor, LogitBoostClassifier, Ridge, Tuned, risk
from empirisk.learners.ensembles.boosting.any_rounds import AnyRounds
from empirisk.learners.ensembles.boosting.column_rounds import ColumnRounds, Columns
from empirisk.learners.ensembles.boosting.forward_stagewise import forward_stagewise
from empirisk.learners.ensembles.boosting.likelihood_cost import LikelihoodCost
from empirisk.runtime.errors import DataError, ParameterError
from stagewise_twins import logit_boost_many, logit_boost_two
from tolerances import LAST_BITS, SOLVED, SUMMED


def data(n=80, K=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    score = X[:, 0] + X[:, 1] ** 2 + 0.7 * rng.logistic(size=n)
    return X, np.digitize(score, np.quantile(score, np.arange(1, K) / K))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("rate", [1.0, 0.3])
def test_two_classes_are_algorithm_3_of_the_paper(weighted, rate):
    X, y = data()
    weight = np.random.default_rng(1).uniform(0.2, 2, size=len(y)) if weighted else None
    model = LogitBoostClassifier(n_estimators=12, learning_rate=rate, z_max=3.0).fit(X, y, weight)
    twin = logit_boost_two(X, y, 12, 3.0, weight, rate=rate)
    # Sums of working responses in another order, 12 rounds of them.
    for ours, theirs in zip(model.staged_predict_proba(X), twin, strict=True):
        assert_allclose(ours[:, 1], theirs, rtol=SUMMED)


@pytest.mark.parametrize("weighted", [False, True])
def test_many_classes_are_algorithm_6_of_the_paper(weighted):
    X, y = data(K=4)
    weight = np.random.default_rng(1).uniform(0.2, 2, size=len(y)) if weighted else None
    model = LogitBoostClassifier(n_estimators=8).fit(X, y, weight)
    scores, probabilities = logit_boost_many(X, y, 8, 4.0, weight)
    for ours, theirs in zip(model.staged_decision_function(X), scores, strict=True):
        assert_allclose(ours, theirs, rtol=SOLVED, atol=SUMMED)
    for ours, theirs in zip(model.staged_predict_proba(X), probabilities, strict=True):
        assert_allclose(ours, theirs, rtol=SUMMED)
    assert_allclose(model.decision_function(X).sum(axis=1), 0.0, rtol=0, atol=SUMMED)


def test_two_classes_by_the_algorithm_for_many_are_the_same():
    X, y = data()
    model = LogitBoostClassifier(n_estimators=10).fit(X, y)
    _, many = logit_boost_many(X, y, 10, 4.0)
    assert_allclose(model.predict_proba(X), many[-1], rtol=SUMMED)


TREES = [
    {"max_depth": 1},
    {"max_depth": 3, "min_samples_leaf": 3},
    {"max_leaf_nodes": 4, "max_features": 2},
    {"max_depth": 2, "min_weight_fraction_leaf": 0.05},
    {"max_depth": 4, "ccp_alpha": 0.01},
]


@pytest.mark.parametrize("tree", TREES, ids=str)
@pytest.mark.parametrize("K", [2, 3])
def test_trees_on_one_coding_are_those_that_are_fitted_round_by_round(tree, K):
    X, y = data(n=120, K=K)
    X = pd.DataFrame(X, columns=["a", "b", "c"])
    X["word"] = np.array(["p", "q", "r"])[np.random.default_rng(0).integers(0, 3, size=120)]
    X.loc[::7, "a"] = np.nan
    learner = DecisionTreeRegressor(**tree)
    weight = np.random.default_rng(1).uniform(0.2, 2, size=120)
    model = LogitBoostClassifier(learner, 6, random_state=2, n_jobs=2).fit(X, y, weight)
    cost = LikelihoodCost(y, weight, K, 4.0)
    f = np.zeros((120, cost.columns))
    forward_stagewise(AnyRounds(learner, X), cost, f, rounds=6, rate=1.0, random_state=2)
    scores = model.decision_function(X)
    assert_array_equal(scores, f[:, 0] if K == 2 else f - f.mean(axis=1, keepdims=True))
    assert len(model.estimators_) == 6 * cost.columns


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("estimator", [None, "least_squares", Ridge(1e-8)], ids=str)
def test_separable_classes_stay_finite(K, estimator):
    rng = np.random.default_rng(0)
    y = np.arange(90) % K
    X = np.column_stack([10.0 * y + rng.uniform(size=90), rng.normal(size=90)])
    model = LogitBoostClassifier(estimator, 120).fit(X, y)
    p = model.predict_proba(X)
    assert np.isfinite(model.decision_function(X)).all()
    assert np.isfinite(p).all()
    assert_allclose(p.sum(axis=1), 1.0, rtol=LAST_BITS)
    assert np.isfinite(model.train_score_).all()
    if estimator is None or K == 2:  # lines do not part the class in the middle from both others
        assert_array_equal(model.predict(X), y)


def test_the_log_loss_falls_on_the_training_rows():
    X, y = load_iris(return_X_y=True)
    model = LogitBoostClassifier(n_estimators=30, learning_rate=0.3).fit(X, y)
    assert (np.diff(model.train_score_) < 0).all()
    last = -np.log(model.predict_proba(X)[np.arange(150), y]).mean()
    assert_allclose(model.train_score_[-1], last, rtol=SUMMED)


def test_stages_are_fits_with_fewer_rounds():
    X, y = data(K=3)
    for estimator in (None, "least_squares", ForeignLinearRegression()):
        model = LogitBoostClassifier(estimator, 4).fit(X, y)
        for t, (p, label) in enumerate(
            zip(model.staged_predict_proba(X), model.staged_predict(X), strict=True), start=1
        ):
            fewer = LogitBoostClassifier(estimator, t).fit(X, y)
            assert_array_equal(p, fewer.predict_proba(X))
            assert_array_equal(label, fewer.predict(X))


class Meeting(ColumnRounds):
    """Two threads meet wherever they note something: neither is ahead of the other."""

    def meet(self):
        vars(self)["meeting"] = Barrier(2)
        return self

    def __setattr__(self, name, value):
        super().__setattr__(name, value)
        if "meeting" in vars(self):
            self.meeting.wait(timeout=60)


def test_threads_get_the_columns_of_their_own_weights():
    X, _ = data()
    weights = np.random.default_rng(0).uniform(0.1, 1.0, size=(2, len(X)))
    rounds = Meeting(X, centred=True).meet()
    with ThreadPoolExecutor(2) as threads:
        found = list(threads.map(rounds.columns, weights))
    for columns, weight in zip(found, weights, strict=True):
        assert_array_equal(columns.Z, Columns.of(X, weight, centred=True).Z)


def test_any_regressor_that_takes_weights_will_do():
    X, y = data(K=3)
    model = LogitBoostClassifier(ForeignTree(max_depth=2, max_features=1), 5, random_state=0)
    again = LogitBoostClassifier(ForeignTree(max_depth=2, max_features=1), 5, random_state=0)
    assert_array_equal(model.fit(X, y).predict_proba(X), again.fit(X, y).predict_proba(X))
    with pytest.raises(ParameterError, match=r"^estimator is KN.*takes no sample_weight, by which"):
        LogitBoostClassifier(KNeighborsRegressor()).fit(X, y)
    with pytest.raises(ParameterError, match="a classifier"):
        LogitBoostClassifier(DecisionTreeClassifier()).fit(X, y)


def test_tuned_chooses_the_rounds():
    X, y = data(n=200)
    y = np.array(["no", "yes"])[y]
    tuned = Tuned(LogitBoostClassifier(n_estimators=60), cv=3, loss="log").fit(X, y)
    assert 1 < tuned.best_value_ < 60
    assert list(tuned.classes_) == ["no", "yes"]
    one = LogitBoostClassifier(n_estimators=tuned.best_value_).fit(X, y)
    assert_array_equal(tuned.predict_proba(X), one.predict_proba(X))
    assert risk.cross_validate(one, X, y, loss="log", cv=3).value < np.log(2)


@pytest.mark.parametrize(
    ("settings", "match"),
    [
        ({"z_max": 0.5}, "z_max"),
        ({"z_max": np.inf}, "z_max"),
        ({"n_estimators": -1}, "n_estimators"),
        ({"learning_rate": np.nan}, "learning_rate"),
        ({"estimator": "stump"}, "estimator is"),
    ],
)
def test_parameters_without_meaning_are_refused(settings, match):
    X, y = data()
    with pytest.raises(ParameterError, match=match):
        LogitBoostClassifier(**settings).fit(X, y)


def test_one_class_is_refused():
    with pytest.raises(DataError, match="one class only, 'a'"):
        LogitBoostClassifier().fit([[1.0], [2.0]], ["a", "a"])
