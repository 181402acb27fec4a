"""Basis functions before linear classifiers."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

from empirisk import (
    BasisExpansion,
    BasisRegression,
    Encoder,
    LinearDiscriminantAnalysis,
    LogisticRegression,
    MarginClassifier,
    Tuned,
    load,
    risk,
    save,
)
from empirisk.risk.axis import Axis
from empirisk.runtime.errors import ParameterError
from tolerances import SUMMED

BASES = ["polynomial", "spline", "natural_spline", "steps"]
CLASSIFIERS = [LogisticRegression(), MarginClassifier(), LinearDiscriminantAnalysis()]
every_basis = pytest.mark.parametrize("basis", BASES)
every_classifier = pytest.mark.parametrize(
    "classifier", CLASSIFIERS, ids=lambda classifier: type(classifier).__name__
)


def ring(n=300, seed=4):
    """A class inside of a circle, the other around it: no line tells them apart."""
    X = np.random.default_rng(seed).normal(size=(n, 2))
    return X, np.where((X**2).sum(1) < 1.5, "in", "out")


@every_basis
@every_classifier
def test_a_feature_map_makes_a_circle_a_plane(basis, classifier, tmp_path):
    X, y = ring()
    model = make_pipeline(BasisExpansion(basis, 4), clone(classifier)).fit(X, y)
    assert clone(classifier).fit(X, y).score(X, y) < 0.75 < 0.8 < model.score(X, y)
    save(model, tmp_path / "model.empirisk")
    again = load(tmp_path / "model.empirisk")
    assert_array_equal(again.predict(X), model.predict(X))


@every_classifier
def test_the_axis_of_the_classifier_is_tuned_behind_a_feature_map(classifier):
    X, y = ring(n=120)
    pipeline = make_pipeline(BasisExpansion("polynomial", 2), clone(classifier))
    tuned = Tuned(pipeline, cv=4, random_state=0).fit(X, y)
    assert tuned.path_.risk.min() < 0.2
    chosen = tuned.best_estimator_.steps[-1][1].get_params()[classifier.axis.params[0]]
    assert chosen == tuned.best_value_


@every_classifier
def test_the_degree_of_a_feature_map_is_tuned_before_a_classifier(classifier):
    X, y = ring(n=120)
    pipeline = make_pipeline(BasisExpansion(), clone(classifier))
    degree = Axis(("basisexpansion__degree",), larger="richer", scale="integer")
    tuned = Tuned(pipeline, axis=degree, values=[1, 2, 3], cv=4, random_state=0).fit(X, y)
    assert tuned.path_.rung == "generic"
    assert tuned.best_value_ == tuned.best_estimator_.steps[0][1].degree >= 2
    assert_array_equal(tuned.path_.complexity, [0, 1, 2])
    twin = [
        risk.cross_validate(
            make_pipeline(BasisExpansion(degree=d), clone(classifier)), X, y, cv=4, random_state=0
        ).value
        for d in (1, 2, 3)
    ]
    assert_allclose(tuned.path_.risk, twin, rtol=SUMMED)


def test_another_parameter_of_a_learner_is_tuned_too():
    X, y = ring(n=120)
    ratio = Axis(("tol",), larger="simpler", scale="log")
    tuned = Tuned(LinearDiscriminantAnalysis(), axis=ratio, values=[1e-4, 0.5], cv=4).fit(X, y)
    assert tuned.path_.rung == "generic"


def test_each_fold_has_a_feature_map_of_its_own():
    X, y = ring(n=80)
    pipeline = make_pipeline(BasisExpansion("natural_spline", 3), LinearDiscriminantAnalysis())
    found = risk.cross_validate(pipeline, X, y, cv=4, random_state=0)
    problem = risk.Problem.of(pipeline, X, y)
    plan = problem.plan(4, random_state=0)
    wrong = np.empty(80)
    for s in range(plan.n_splits):
        train, test = plan.train(s), plan.test(s)
        expansion = BasisExpansion("natural_spline", 3).fit(X[train])
        model = LinearDiscriminantAnalysis().fit(expansion.transform(X[train]), y[train])
        wrong[test] = model.predict(expansion.transform(X[test])) != y[test]
    assert_allclose(found.value, wrong.mean(), rtol=SUMMED)


def test_an_encoder_may_stand_before_it():
    X, y = ring(n=100)
    X[3, 0] = np.nan
    steps = Encoder(), BasisExpansion("spline", 4), LinearDiscriminantAnalysis()
    model = make_pipeline(*steps).fit(X, y)
    assert model.score(X, y) > 0.8


def twice(X):
    return 2 * X[:, 0]


@pytest.mark.parametrize("kind", [BasisExpansion, BasisRegression])
def test_functions_go_into_a_pickle_and_not_into_a_model_file(kind, tmp_path):
    X, _ = ring(n=20)
    model = kind([twice]).fit(X, X[:, 1])
    with pytest.raises(ParameterError, match=r"basis\[0\] is a function"):
        save(model, tmp_path / "model.empirisk")
    again = pickle.loads(pickle.dumps(model))
    method = "predict" if hasattr(model, "predict") else "transform"
    assert_array_equal(getattr(again, method)(X), getattr(model, method)(X))
