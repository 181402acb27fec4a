"""QDA with another estimator of the covariance of each class, and of its folds."""

import numpy as np
import pytest
import sklearn.discriminant_analysis as peers
from numpy.testing import assert_allclose
from sklearn.covariance import OAS, EmpiricalCovariance, LedoitWolf

from empirisk import (
    QuadraticDiscriminantAnalysis,
    risk,
)
from empirisk.runtime.errors import ParameterError, RankWarning
from tolerances import SOLVED, SUMMED


def sample(n=150, p=4, n_classes=3, seed=0):
    """Classes whose means and covariances differ."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % n_classes)
    mix = np.eye(p) + 0.4 * rng.normal(size=(n_classes, p, p))
    X = np.einsum("ij,ijl->il", rng.normal(size=(n, p)), mix[y])
    return X + rng.normal(size=(n_classes, p))[y], y


@pytest.mark.parametrize("estimator", [EmpiricalCovariance(), LedoitWolf(), OAS()], ids=str)
def test_a_covariance_estimator_is_fitted_to_each_class_as_in_scikit_learn(estimator):
    X, y = sample()
    given = {"solver": "eigen", "covariance_estimator": estimator, "store_covariance": True}
    ours = QuadraticDiscriminantAnalysis(**given).fit(X, y)
    twin = peers.QuadraticDiscriminantAnalysis(**given).fit(X, y)
    assert_allclose(ours.covariance_, twin.covariance_, rtol=SUMMED, atol=SUMMED)
    # Condition numbers below 1e3, double precision.
    assert_allclose(ours.predict_proba(X), twin.predict_proba(X), rtol=1e-9, atol=1e-13)
    large = QuadraticDiscriminantAnalysis(**given).fit(X * 1e200, y)
    assert_allclose(large.predict_proba(X * 1e200), twin.predict_proba(X), rtol=SOLVED, atol=SUMMED)


@pytest.mark.parametrize(
    "settings", [{"shrinkage": 0.1}, {"reg_param": 0.1}, {"solver": "svd"}, {"unbiased": True}]
)
def test_a_covariance_estimator_stands_alone(settings):
    learner = QuadraticDiscriminantAnalysis(covariance_estimator=LedoitWolf(), **settings)
    with pytest.raises(ParameterError, match="covariance_estimator"):
        learner.fit(*sample())


def test_a_covariance_estimator_is_judged_fold_by_fold():
    X, y = sample()
    learner = QuadraticDiscriminantAnalysis(covariance_estimator=LedoitWolf())
    problem = risk.Problem.of(learner, X, y, loss="log")
    plan = problem.plan(4, random_state=0)
    found = risk.out_of_fold(learner, problem, plan)
    assert "fitted to every part anew" in found.why
    slow = risk.out_of_fold(learner, problem, plan, rung="generic")
    assert_allclose(found.losses, slow.losses, rtol=1e-9, atol=1e-12)  # the same fits


def test_a_singular_estimate_is_named():
    X, y = sample()
    X = np.column_stack([X, X[:, 0]])
    with pytest.warns(RankWarning, match="drop columns, or give an estimator that shrinks"):
        QuadraticDiscriminantAnalysis(covariance_estimator=EmpiricalCovariance()).fit(X, y)
