"""Linear discriminant analysis with an estimator of covariances that the user gives."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator
from sklearn.covariance import OAS, EmpiricalCovariance, LedoitWolf, MinCovDet, ShrunkCovariance
from sklearn.datasets import load_iris, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis as Peer
from sklearn.utils.estimator_checks import check_estimator

from empirisk import LinearDiscriminantAnalysis, Tuned, risk, save
from empirisk.runtime.errors import DataError, ParameterError, RankWarning
from tolerances import SOLVED, SUMMED


class Weighted(BaseEstimator):
    """A covariance that counts weights, shrunken as asked."""

    def __init__(self, share=0.0):
        self.share = share

    def fit(self, X, y=None, sample_weight=None):
        weight = np.ones(len(X)) if sample_weight is None else sample_weight
        S = np.cov(X.T, aweights=weight, ddof=0).reshape(X.shape[1], X.shape[1])
        towards = self.share * np.trace(S) / len(S) * np.eye(len(S))
        self.covariance_ = (1 - self.share) * S + towards
        return self


class Plain:
    """Any object with `fit` and `covariance_`: no parameters, no base."""

    def fit(self, X):
        self.covariance_ = np.diag(X.var(axis=0))


WINE = load_wine(return_X_y=True)
IRIS = load_iris(return_X_y=True)


@pytest.mark.parametrize("solver", ["lsqr", "eigen"])
@pytest.mark.parametrize(
    "estimator",
    [
        EmpiricalCovariance(),
        LedoitWolf(),
        OAS(),
        ShrunkCovariance(shrinkage=0.3),
        MinCovDet(random_state=0),
    ],
    ids=str,
)
@pytest.mark.parametrize("two", [False, True])
def test_it_is_scikit_learns(estimator, solver, two):
    X, y = IRIS
    X, y = (X[y > 0], y[y > 0]) if two else (X, y)
    ours = LinearDiscriminantAnalysis(
        solver=solver, covariance_estimator=estimator, store_covariance=True
    ).fit(X, y)
    peer = Peer(solver=solver, covariance_estimator=estimator).fit(X, y)
    assert_allclose(ours.covariance_, peer.covariance_, rtol=SUMMED)
    # Condition numbers of about 1e2, double precision, probabilities down to 1e-40.
    assert_allclose(ours.predict_proba(X), peer.predict_proba(X), rtol=1e-8, atol=1e-12)
    assert_allclose(ours.means_, peer.means_, rtol=1e-12)
    assert_array_equal(ours.predict(X), peer.predict(X))


@pytest.mark.parametrize("priors", [None, [0.2, 0.5, 0.3]])
def test_the_empirical_covariance_is_the_learners_own(priors):
    X, y = WINE
    X = X[:, :5]
    given = LinearDiscriminantAnalysis(priors=priors, covariance_estimator=EmpiricalCovariance())
    plain = LinearDiscriminantAnalysis(priors=priors).fit(X, y)
    assert_allclose(
        given.fit(X, y).predict_proba(X), plain.predict_proba(X), rtol=SUMMED, atol=SUMMED
    )
    assert_allclose(given.transform(X), plain.transform(X), rtol=SOLVED, atol=SOLVED)
    assert given.shrinkage_ == 0
    assert given.rank_ == 5


def test_any_object_with_fit_and_covariance_will_do_and_is_left_alone():
    X, y = IRIS
    estimator = Plain()
    model = LinearDiscriminantAnalysis(covariance_estimator=estimator, store_covariance=True)
    assert_array_equal(np.diag(np.diag(model.fit(X, y).covariance_)), model.covariance_)
    assert not hasattr(estimator, "covariance_")
    one = LinearDiscriminantAnalysis(covariance_estimator=LedoitWolf()).fit(X[:, :1], y)
    assert one.coef_.shape == (3, 1)


@pytest.mark.parametrize("share", [0.0, 0.2])
def test_weights_are_copies_for_an_estimator_that_takes_them(share):
    X, y = IRIS
    weight = np.random.default_rng(1).integers(0, 4, size=len(y))
    copies = np.repeat(np.arange(len(y)), weight)
    learner = LinearDiscriminantAnalysis(covariance_estimator=Weighted(share))
    weighted = learner.fit(X, y, weight).predict_proba(X)
    repeated = LinearDiscriminantAnalysis(covariance_estimator=Weighted(share))
    repeated = repeated.fit(X[copies], y[copies]).predict_proba(X)
    assert_allclose(weighted, repeated, rtol=SOLVED, atol=SUMMED)
    if share == 0:
        plain = LinearDiscriminantAnalysis().fit(X, y, weight).predict_proba(X)
        assert_allclose(weighted, plain, rtol=SOLVED, atol=SUMMED)


def test_weights_are_refused_where_the_estimator_takes_none():
    X, y = IRIS
    learner = LinearDiscriminantAnalysis(covariance_estimator=LedoitWolf())
    learner.fit(X, y, np.ones(150))
    with pytest.raises(ParameterError, match="rows have weights, and the fit of LedoitWolf takes"):
        learner.fit(X, y, np.arange(150) + 1)


@pytest.mark.filterwarnings("ignore::empirisk.runtime.errors.RankWarning")
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_check_estimator():
    check_estimator(LinearDiscriminantAnalysis(covariance_estimator=Weighted(0.1)))


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"shrinkage": 0.1}, "only one of the two can be set"),
        ({"shrinkage": "auto"}, "only one of the two can be set"),
        ({"solver": "svd"}, "not supported with the svd solver"),
        ({"unbiased": True}, "what it divides by"),
        ({"covariance_estimator": "auto"}, "it must have a method fit"),
    ],
)
def test_what_cannot_go_together_is_refused_as_in_scikit_learn(settings, words):
    X, y = IRIS
    given = {"covariance_estimator": LedoitWolf(), **settings}
    with pytest.raises(ParameterError, match=words):
        LinearDiscriminantAnalysis(**given).fit(X, y)
    if "unbiased" not in settings:
        with pytest.raises(ValueError, match="covariance"):
            Peer(**{"solver": "lsqr", **given}).fit(X, y)
    LinearDiscriminantAnalysis(shrinkage=0.0, covariance_estimator=LedoitWolf()).fit(
        X, y
    )  # 0 is none


@pytest.mark.parametrize(
    ("covariance", "words"),
    [
        (None, "does not have a covariance_ attribute"),
        (np.eye(3), r"has shape \(3, 3\); for 4 columns"),
        (np.full((4, 4), np.nan), "not finite"),
    ],
)
def test_what_is_no_covariance_is_refused(covariance, words):
    class Wrong(BaseEstimator):
        def fit(self, X, y=None):
            if covariance is not None:
                self.covariance_ = covariance
            return self

    with pytest.raises((ParameterError, DataError), match=words):
        LinearDiscriminantAnalysis(covariance_estimator=Wrong()).fit(*IRIS)


def test_a_singular_estimate_is_named():
    X, y = IRIS
    X = np.column_stack([X, X[:, 0]])
    with pytest.warns(RankWarning, match="give an estimator that shrinks"):
        LinearDiscriminantAnalysis(covariance_estimator=EmpiricalCovariance()).fit(X, y)


@pytest.mark.parametrize("power", [-200, 200])
def test_extreme_units_change_nothing(power):
    X, y = IRIS
    for estimator in (LedoitWolf(), EmpiricalCovariance()):
        model = LinearDiscriminantAnalysis(covariance_estimator=estimator)
        plain = model.fit(X, y).predict_proba(X)
        scaled = model.fit(X * 10.0**power, y).predict_proba(X * 10.0**power)
        assert_allclose(scaled, plain, rtol=SOLVED, atol=SUMMED)


def test_blocks_give_the_same_bits():
    X, y = IRIS
    order = np.random.default_rng(0).permutation(150)
    X, y = X[order], y[order]
    pieces = [(X[a:b], y[a:b]) for a, b in ((0, 17), (17, 100), (100, 150))]
    whole = LinearDiscriminantAnalysis(covariance_estimator=LedoitWolf()).fit(X, y)
    streamed = LinearDiscriminantAnalysis(covariance_estimator=LedoitWolf()).fit_blocks(pieces)
    assert_array_equal(streamed.coef_, whole.coef_)


def test_it_is_judged_as_it_is_fold_by_fold_and_not_tuned():
    X, y = IRIS
    learner = LinearDiscriminantAnalysis(covariance_estimator=LedoitWolf())
    problem = risk.Problem.of(learner, X, y, loss="log")
    plan = problem.plan(4, random_state=0)
    found = risk.out_of_fold(learner, problem, plan)
    slow = risk.out_of_fold(learner, problem, plan, rung="generic")
    assert found.rung == "path"
    assert "fitted to every part anew" in found.why
    assert_allclose(found.losses, slow.losses, rtol=SUMMED, atol=SUMMED)
    with pytest.raises(ParameterError, match=r"Tuned and select choose the shrinkage"):
        Tuned(learner).fit(X, y)


def test_a_file_holds_no_foreign_estimator(tmp_path):
    model = LinearDiscriminantAnalysis(covariance_estimator=LedoitWolf()).fit(*IRIS)
    with pytest.raises(ParameterError, match="LedoitWolf"):
        save(model, tmp_path / "model")
