"""Settings of discriminant analysis: each way to an answer keeps to them, and so does a refit."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.model_selection import KFold, LeaveOneOut

from empirisk import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
    RegularizedDiscriminantAnalysis,
    risk,
)
from empirisk.runtime.errors import ParameterError
from saved_models import there_and_back
from tolerances import SOLVED, SUMMED


def close_columns(n=60):
    """Two columns with the correlation 0.995 within each of two classes."""
    rng = np.random.default_rng(0)
    y = np.arange(n) % 2
    X = rng.multivariate_normal([0, 0], [[1, 0.995], [0.995, 1]], size=n)
    return X + np.outer(y, [0.5, 0.7]), y


@pytest.mark.filterwarnings("ignore::empirisk.runtime.errors.RankWarning")
@pytest.mark.parametrize("cv", [KFold(5), LeaveOneOut()], ids=["folds", "one"])
@pytest.mark.parametrize(
    ("learner", "values"),
    [
        (LinearDiscriminantAnalysis(tol=0.1), [0.0]),
        (QuadraticDiscriminantAnalysis(tol=0.1), None),
        (RegularizedDiscriminantAnalysis(tol=0.1), [(1.0, 0.0), (1.0, 0.1)]),
    ],
    ids=["lda", "qda", "rda"],
)
def test_little_variance_is_raised_to_tol_squared_on_every_rung(learner, values, cv):
    X, y = close_columns()
    problem = risk.Problem.of(learner, X, y, loss="log")
    plan = problem.plan(cv)
    fast = risk.out_of_fold(learner, problem, plan, values=values)
    slow = risk.out_of_fold(learner, problem, plan, values=values, rung="generic")
    assert_allclose(fast.losses, slow.losses, rtol=SOLVED, atol=SUMMED)


def test_variation_in_few_rows_is_measured_in_all_classes():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], [50, 10])
    above = 1 + 8 * np.finfo(float).eps  # with 1 below: a deviation beyond the rounding of 1
    column = np.r_[np.ones(50), np.repeat([2 - above, above], 5)]
    X = np.column_stack([column, rng.normal(size=60) + 3 * y])
    for learner in (QuadraticDiscriminantAnalysis(), RegularizedDiscriminantAnalysis(1.0, 0.0)):
        with pytest.warns(match="class 0 is singular: column 0 is constant"):
            model = learner.fit(X, y)
        assert_array_equal(model.predict(X), y)  # class 1 alone has rows beside 1


KEPT, NOT_KEPT = {"store_covariance": True}, {"store_covariance": False}


@pytest.mark.parametrize(
    ("learner", "refit"),
    [
        (LinearDiscriminantAnalysis(**KEPT), NOT_KEPT),
        (QuadraticDiscriminantAnalysis(**KEPT), NOT_KEPT),
        (RegularizedDiscriminantAnalysis(**KEPT), NOT_KEPT),
        (QuadraticDiscriminantAnalysis(shrinkage="auto"), {"shrinkage": 0.5}),
    ],
    ids=["lda", "qda", "rda", "shrinkage"],
)
def test_a_fit_leaves_nothing_of_the_last_one(learner, refit):
    X, y = close_columns()
    learner.fit(X, y)
    fresh = type(learner)(**refit).fit(X, y)
    assert vars(learner.set_params(**refit).fit(X, y)).keys() == vars(fresh).keys()


@pytest.mark.parametrize("name", ["solver", "store_covariance", "n_components"])
def test_what_fit_refuses_is_refused_in_cross_validation(name):
    X, y = close_columns()
    learner = LinearDiscriminantAnalysis(**{name: "bogus"})
    with pytest.raises(ParameterError, match=name):
        learner.fit(X, y)
    with pytest.raises(ParameterError, match=name):
        risk.cross_validate(learner, X, y, cv=5)


@pytest.mark.parametrize("priors", [[0, 1], [1, 0], [0, 0.5, 0.5]], ids=str)
def test_a_class_of_prior_0_is_saved_and_loaded(priors, tmp_path):
    X, y = close_columns()
    y = np.arange(len(y)) % len(priors)
    model = LinearDiscriminantAnalysis(priors=priors).fit(X, y)
    again = there_and_back(model, tmp_path / "model.empirisk")
    assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    assert not model.predict_proba(X)[:, np.array(priors) == 0].any()
