"""scikit-learn's AdaBoost, given the same weak learner; the same draws where rows are drawn."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import ensemble, tree
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.linear_model import LogisticRegression, Ridge

import empirisk
from empirisk.learners.ensembles import draws
from tolerances import SUMMED


def classes(K, n=400, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    score = X[:, 0] + X[:, 1] ** 2 + 0.5 * rng.normal(size=n)
    return X, np.array(list("abcd"))[np.digitize(score, np.quantile(score, np.arange(1, K) / K))]


def fits(weak, settings, X, y, weight=None):
    theirs = ensemble.AdaBoostClassifier(weak, random_state=0, **settings)
    ours = empirisk.AdaBoostClassifier(weak, random_state=0, **settings)
    return ours.fit(X, y, sample_weight=weight), theirs.fit(X, y, sample_weight=weight)


WEAK = [
    empirisk.DecisionTreeClassifier(max_depth=1),
    empirisk.DecisionTreeClassifier(max_depth=2, criterion="entropy"),
    empirisk.DecisionTreeClassifier(max_leaf_nodes=4, min_samples_leaf=5),
    tree.DecisionTreeClassifier(max_depth=1),
    tree.DecisionTreeClassifier(max_depth=3, min_samples_leaf=10),
    LogisticRegression(C=100.0, tol=1e-10, max_iter=1000),
]


@pytest.mark.parametrize("weak", WEAK, ids=str)
@pytest.mark.parametrize("K", [2, 3, 4])
@pytest.mark.parametrize("weighted", [False, True])
def test_classifiers(weak, K, weighted):
    X, y = classes(K)
    new, target = classes(K, seed=1)
    weight = np.random.default_rng(2).uniform(0, 2, size=len(y)) if weighted else None
    ours, theirs = fits(weak, {"n_estimators": 15, "learning_rate": 0.8}, X, y, weight)
    T = len(theirs.estimators_)
    assert len(ours.estimators_) == T
    # Sums in another order, and exponentials of logarithms in theirs.
    close = {"rtol": 1e-8, "atol": 1e-10}
    assert_allclose(ours.estimator_weights_, theirs.estimator_weights_[:T], **close)
    assert_allclose(ours.estimator_errors_, theirs.estimator_errors_[:T], **close)
    assert_array_equal(ours.classes_, theirs.classes_)
    assert_allclose(ours.decision_function(new), theirs.decision_function(new), **close)
    assert_allclose(ours.predict_proba(new), theirs.predict_proba(new), **close)
    assert_allclose(ours.predict_log_proba(new), theirs.predict_log_proba(new), **close)
    assert_array_equal(ours.predict(new), theirs.predict(new))
    for name in ("staged_decision_function", "staged_predict_proba"):
        mine, other = (list(getattr(model, name)(new)) for model in (ours, theirs))
        assert_allclose(mine, other, **close)
    assert_array_equal(list(ours.staged_predict(new)), list(theirs.staged_predict(new)))
    assert_allclose(
        list(ours.staged_score(new, target, weight)),
        list(theirs.staged_score(new, target, weight)),
        rtol=SUMMED,
    )
    if hasattr(theirs.estimators_[0], "feature_importances_"):
        assert_allclose(ours.feature_importances_, theirs.feature_importances_, rtol=SUMMED)
    assert_array_equal(ours[0].predict(new), theirs[0].predict(new))


@pytest.mark.parametrize("data", [load_iris, load_breast_cancer])
def test_real_data_with_many_equal_values(data):
    X, y = data(return_X_y=True)
    ours, theirs = fits(empirisk.DecisionTreeClassifier(max_depth=1), {}, X, y)
    assert_allclose(
        ours.decision_function(X), theirs.decision_function(X), rtol=SUMMED, atol=SUMMED
    )


def test_the_first_member_without_error_is_the_last():
    X, y = np.arange(20.0)[:, None], np.arange(20) > 7
    ours, theirs = fits(empirisk.DecisionTreeClassifier(max_depth=1), {}, X, y)
    assert len(ours) == len(theirs) == 1
    assert ours.estimator_weights_.tolist() == theirs.estimator_weights_[:1].tolist() == [1.0]
    assert ours.estimator_errors_.tolist() == theirs.estimator_errors_[:1].tolist() == [0.0]
    assert_array_equal(ours.predict(X), y)


@pytest.mark.parametrize("library", [empirisk, tree])
def test_a_member_no_better_than_chance_ends_the_rounds(library):
    # One split, or none: what it says of the new weights is wrong half the time.
    X, y = np.array([[0.0], [0.0], [1.0], [1.0], [1.0]]), np.array([0, 1, 1, 1, 0])
    ours, theirs = fits(library.DecisionTreeClassifier(max_depth=1), {}, X, y)
    # Ours end at an error within 1e-12 of 1/2; later members would weigh 4e-12, and six times less
    # from one to the next.
    assert_allclose(ours.decision_function(X), theirs.decision_function(X), rtol=0, atol=1e-10)
    assert 1 <= len(ours) <= len(theirs)
    for model in (empirisk.AdaBoostClassifier, ensemble.AdaBoostClassifier):
        with pytest.raises(ValueError, match=r"no better than a guess|worse than random"):
            model().fit(np.zeros((4, 1)), [0, 1, 0, 1])


def test_one_class():
    X = np.arange(6.0)[:, None]
    ours, theirs = fits(empirisk.DecisionTreeClassifier(max_depth=1), {}, X, ["a"] * 6)
    assert_array_equal(ours.predict(X), theirs.predict(X))
    assert_array_equal(ours.predict_proba(X), theirs.predict_proba(X))
    assert_array_equal(ours.decision_function(X), theirs.decision_function(X))


def fit_and_note_draws(monkeypatch, ours, X, y):
    """Fit ours; a RandomState that draws the same rows, in the order of the rounds."""
    drawn, counts = [], draws.Draws.counts

    def noted(self, seed):
        drawn.append(counts(self, seed))
        return drawn[-1]

    monkeypatch.setattr(draws.Draws, "counts", noted)
    ours.fit(X, y)
    rows = iter([np.repeat(np.arange(len(y)), found) for found in drawn])

    class Drawn(np.random.RandomState):
        def choice(self, *_, **__):
            return next(rows)

    return Drawn(0)


REGRESSORS = [
    empirisk.DecisionTreeRegressor(max_depth=3),
    empirisk.DecisionTreeRegressor(max_depth=2, criterion="absolute_error"),
    tree.DecisionTreeRegressor(max_depth=2),
    Ridge(),
]


@pytest.mark.parametrize("weak", REGRESSORS, ids=str)
@pytest.mark.parametrize("loss", ["linear", "square", "exponential"])
def test_regressors(weak, loss, monkeypatch):
    X, y = load_diabetes(return_X_y=True)
    settings = {"n_estimators": 12, "learning_rate": 0.7, "loss": loss}
    ours = empirisk.AdaBoostRegressor(weak, random_state=0, **settings)
    stream = fit_and_note_draws(monkeypatch, ours, X, y)
    theirs = ensemble.AdaBoostRegressor(weak, random_state=stream, **settings).fit(X, y)
    T = len(theirs.estimators_)
    assert len(ours.estimators_) == T
    # Counts in place of copies: sums in another order.
    assert_allclose(ours.estimator_weights_, theirs.estimator_weights_[:T], rtol=1e-7)
    assert_allclose(ours.estimator_errors_, theirs.estimator_errors_[:T], rtol=1e-7)
    assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-9)
    assert_allclose(list(ours.staged_predict(X)), list(theirs.staged_predict(X)), rtol=1e-9)
    assert_allclose(list(ours.staged_score(X, y)), list(theirs.staged_score(X, y)), rtol=1e-9)
    if hasattr(weak, "max_depth"):
        assert_allclose(ours.feature_importances_, theirs.feature_importances_, rtol=SUMMED)


def test_a_first_regressor_that_is_bad_stays_alone():
    X, y = np.zeros((6, 1)), np.array([0.0, 0, 0, 1, 1, 1])
    for model in (empirisk.AdaBoostRegressor, ensemble.AdaBoostRegressor):
        alone = model(random_state=0).fit(X, y)
        assert len(alone.estimators_) == 1
        assert alone.estimator_weights_[0] == 0.0
        assert np.isfinite(alone.predict(X)).all()
    assert np.isfinite(empirisk.AdaBoostRegressor().fit(X, y).feature_importances_).all()


def test_a_perfect_regressor_is_the_last():
    X, y = np.arange(8.0)[:, None], np.repeat([1.0, 5.0], 4)
    model = empirisk.AdaBoostRegressor(bootstrap=False).fit(X, y)
    assert model.estimator_weights_.tolist() == [1.0]
    assert_array_equal(model.predict(X), y)
