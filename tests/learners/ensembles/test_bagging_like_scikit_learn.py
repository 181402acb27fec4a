"""scikit-learn's bags, given the same draws."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import ensemble
from sklearn.datasets import load_diabetes, load_iris
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeRegressor

import empirisk
from empirisk.learners.ensembles import draws
from empirisk.runtime.streams import spawn
from tolerances import SUMMED


def same_draws(monkeypatch, theirs, random_state, n, B):
    """Members draw the rows that scikit-learn's members drew."""
    counts = [np.bincount(rows, minlength=n) for rows in theirs.estimators_samples_]
    drawn = dict(zip(spawn(random_state, B), counts, strict=True))
    monkeypatch.setattr(draws.Draws, "counts", lambda self, seed: drawn[seed])


@pytest.mark.parametrize(
    "member",
    # Large leaves: splits by two features hardly ever part the same rows.
    [
        DecisionTreeRegressor(min_samples_leaf=40),
        Ridge(),
        empirisk.DecisionTreeRegressor(max_depth=2),
    ],
)
def test_regressors(member, monkeypatch):
    X, y = load_diabetes(return_X_y=True)
    settings = {"n_estimators": 40, "oob_score": True, "random_state": 5}
    theirs = ensemble.BaggingRegressor(member, **settings).fit(X, y)
    same_draws(monkeypatch, theirs, 5, len(y), 40)
    ours = empirisk.BaggingRegressor(member, **settings).fit(X, y)
    assert_array_equal(np.sort(theirs.estimators_samples_, axis=1), ours.estimators_samples_)
    # Sums in another order.
    assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-10)
    assert_allclose(ours.oob_prediction_, theirs.oob_prediction_, rtol=1e-10)
    assert_allclose(ours.oob_score_, theirs.oob_score_, rtol=1e-10)


@pytest.mark.parametrize("member", [KNeighborsClassifier(3), SVC(gamma=0.3, tol=1e-9)])
def test_classifiers(member, monkeypatch):
    X, y = load_iris(return_X_y=True)
    settings = {"n_estimators": 40, "oob_score": True, "random_state": 5}
    theirs = ensemble.BaggingClassifier(member, **settings).fit(X, y)
    same_draws(monkeypatch, theirs, 5, len(y), 40)
    ours = empirisk.BaggingClassifier(member, **settings).fit(X, y)
    assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=SUMMED, atol=SUMMED)
    assert_allclose(
        ours.oob_decision_function_, theirs.oob_decision_function_, rtol=SUMMED, atol=SUMMED
    )
    assert_allclose(ours.oob_score_, theirs.oob_score_, rtol=SUMMED)
    if hasattr(member, "decision_function"):
        assert_allclose(ours.decision_function(X), theirs.decision_function(X), rtol=SUMMED)


def test_names_and_defaults_are_the_same():
    for name in ("BaggingClassifier", "BaggingRegressor"):
        theirs = getattr(ensemble, name)().get_params()
        ours = getattr(empirisk, name)().get_params()
        assert {key: ours[key] for key in theirs} == theirs
