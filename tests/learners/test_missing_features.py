"""Gaussian classes with features that are missing at prediction, and new rows drawn from them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import expit, softmax
from scipy.stats import chi2, multivariate_normal
from sklearn.base import clone
from sklearn.model_selection import KFold

from empirisk import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
    RegularizedDiscriminantAnalysis,
    Tuned,
    risk,
)
from empirisk.runtime.errors import DataError, EmpiriskWarning, ParameterError, RankWarning
from tolerances import SUMMED

LEARNERS = [
    LinearDiscriminantAnalysis(),
    LinearDiscriminantAnalysis(shrinkage=0.3, priors=[0.5, 0.2, 0.3]),
    LinearDiscriminantAnalysis(shrinkage="auto"),
    QuadraticDiscriminantAnalysis(),
    QuadraticDiscriminantAnalysis(solver="eigen", reg_param=0.1),
    RegularizedDiscriminantAnalysis(0.4, 0.2),
]
every_learner = pytest.mark.parametrize("learner", LEARNERS, ids=str)


def sample(n=150, p=5, n_classes=3, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % n_classes)
    mix = np.eye(p) + 0.4 * rng.normal(size=(n_classes, p, p))
    X = np.einsum("ij,ijl->il", rng.normal(size=(n, p)), mix[y])
    return X + rng.normal(size=(n_classes, p))[y], y


def holes(X, share=0.3, seed=1):
    X = X.copy()
    X[np.random.default_rng(seed).random(X.shape) < share] = np.nan
    X[0] = np.nan
    return X


def naive_probabilities(model, X):
    """Row by row, the densities of what is known, by SciPy."""
    covariance = np.broadcast_to(model.covariance_, (3, X.shape[1], X.shape[1]))
    values = np.tile(np.log(model.priors_), (len(X), 1))
    for i, row in enumerate(X):
        known = ~np.isnan(row)
        for k in range(3) if known.any() else ():
            part = covariance[k][np.ix_(known, known)]
            values[i, k] += multivariate_normal(model.means_[k, known], part).logpdf(row[known])
    return softmax(values, axis=1)


@every_learner
def test_missing_features_are_left_out_by_the_marginal_densities(learner):
    X, y = sample()
    model = clone(learner).set_params(store_covariance=True).fit(X, y)
    incomplete = holes(X)
    probability = model.predict_proba(incomplete)
    # Condition numbers below 1e3, double precision.
    assert_allclose(probability, naive_probabilities(model, incomplete), rtol=1e-9, atol=1e-12)
    assert_allclose(probability[0], model.priors_, rtol=1e-14)
    assert_array_equal(model.predict(incomplete), probability.argmax(axis=1))
    assert_allclose(np.exp(model.predict_log_proba(incomplete)), probability, rtol=SUMMED)
    assert model.decision_function(incomplete).shape == (150, 3)
    complete = ~np.isnan(incomplete).any(axis=1)
    assert_array_equal(probability[complete], model.predict_proba(X)[complete])


@pytest.mark.parametrize(
    "learner", [LinearDiscriminantAnalysis(), QuadraticDiscriminantAnalysis()], ids=str
)
def test_without_a_column_the_rule_is_that_of_the_others(learner):
    X, y = sample()
    known = [0, 2, 3]
    without = np.full_like(X, np.nan)
    without[:, known] = X[:, known]
    whole, part = clone(learner).fit(X, y), clone(learner).fit(X[:, known], y)
    # Maximum likelihood of a marginal is the marginal of maximum likelihood.
    assert_allclose(
        whole.predict_proba(without), part.predict_proba(X[:, known]), rtol=1e-9, atol=1e-13
    )


@every_learner
def test_a_class_of_prior_probability_0_is_never_predicted(learner):
    X, y = sample()
    model = clone(learner).set_params(priors=[0.5, 0.0, 0.5]).fit(X, y)
    many = np.where(np.arange(5) < 3, X, np.nan)  # one pattern of all rows
    for incomplete in (holes(X), many):
        probability = model.predict_proba(incomplete)
        assert_array_equal(probability[:, 1], 0.0)
        assert_allclose(probability.sum(axis=1), 1, rtol=SUMMED)


@every_learner
def test_two_classes_and_one_row(learner):
    X, y = sample(n_classes=2)
    priors = None if getattr(learner, "priors", None) is None else [0.3, 0.7]
    model = clone(learner).set_params(priors=priors).fit(X, y)
    incomplete = holes(X)
    odds = model.decision_function(incomplete)
    assert odds.shape == (150,)
    assert_allclose(expit(odds), model.predict_proba(incomplete)[:, 1], rtol=SUMMED)
    assert_array_equal(model.predict(incomplete[3:4]), model.predict(incomplete)[3:4])


@every_learner
def test_eigenvectors_and_triangles_agree(learner):
    X, y = sample()
    one = clone(learner).set_params(solver="cholesky").fit(X, y)
    other = clone(learner).set_params(solver="eigen").fit(X, y)
    incomplete = holes(X)
    assert_allclose(
        one.predict_proba(incomplete), other.predict_proba(incomplete), rtol=0, atol=SUMMED
    )


def test_singular_classes_are_marginalised_too():
    X, y = sample()
    X = np.c_[X, X[:, 0], np.full(len(X), 3.0)]
    with pytest.warns(RankWarning):
        model = QuadraticDiscriminantAnalysis().fit(X, y)
    regular = QuadraticDiscriminantAnalysis().fit(X[:, :5], y)
    incomplete = X.copy()
    incomplete[:, [1, 3]] = np.nan
    # The copy of the first column and the constant one have no say.
    assert_allclose(
        model.predict_proba(incomplete),
        regular.predict_proba(incomplete[:, :5]),
        rtol=1e-6,
        atol=1e-8,
    )


@pytest.mark.parametrize("power", [-200, 200, 290])
@every_learner
def test_huge_and_tiny_numbers_with_holes(learner, power):
    X, y = sample()
    incomplete = holes(X * 10.0**power)
    model = clone(learner).fit(X * 10.0**power, y)
    assert np.isfinite(model.predict_proba(incomplete)).all()
    far = np.where(np.isnan(incomplete), np.nan, np.sign(incomplete) * 1e300)
    assert np.isfinite(model.predict_proba(far)).all()


@every_learner
def test_training_rows_with_holes_are_left_out_and_counted(learner):
    X, y = sample()
    incomplete = X.copy()
    incomplete[[3, 8], [1, 0]] = np.nan
    with pytest.warns(EmpiriskWarning, match="2 of 150 rows have missing values"):
        model = clone(learner).fit(incomplete, y)
    rest = np.delete(np.arange(150), [3, 8])
    assert_array_equal(
        model.predict_proba(X), clone(learner).fit(X[rest], y[rest]).predict_proba(X)
    )


def test_a_class_without_complete_rows_is_refused_by_name():
    X, y = sample()
    X[y == 1, 2] = np.nan
    with pytest.raises(DataError, match="every row of class 'b' has missing values"):
        LinearDiscriminantAnalysis().fit(X, np.array(list("abc"))[y])


@pytest.mark.filterwarnings("ignore::empirisk.runtime.errors.EmpiriskWarning")
@pytest.mark.parametrize(
    "learner", [LinearDiscriminantAnalysis(), RegularizedDiscriminantAnalysis()], ids=str
)
def test_rows_with_holes_are_held_out_as_any_other(learner, monkeypatch):
    X, y = sample()
    incomplete = holes(X, share=0.05)
    values = [0.1, 0.5] if learner.axis.params == ("shrinkage",) else [(0.1, 0.1), (0.9, 0.0)]
    problem = risk.Problem.of(learner, incomplete, y, loss="log")
    plan = problem.plan(KFold(3))
    fast = risk.out_of_fold(learner, problem, plan, values=values)
    for module in ("discriminant_path", "quadratic_path"):  # nothing is kept
        monkeypatch.setattr(f"empirisk.learners.generative.{module}.MOST_NUMBERS", 1)
    again = risk.out_of_fold(learner, problem, plan, values=values)
    assert_array_equal(again.losses, fast.losses)
    slow = risk.out_of_fold(learner, problem, plan, values=values, rung="generic")
    assert fast.rung == "path"
    assert "missing values" in fast.why
    assert_allclose(fast.losses, slow.losses, rtol=SUMMED, atol=SUMMED)
    tuned = Tuned(learner, values=values, cv=3).fit(incomplete, y)
    assert tuned.best_value_ in values


@every_learner
def test_new_rows_have_the_moments_of_the_model(learner):
    X, y = sample()
    labels = np.array(["a", "b", "c"])
    model = clone(learner).set_params(store_covariance=True).fit(X, labels[y])
    new, drawn = model.sample(30_000, random_state=0)
    assert new.shape == (30_000, 5)
    covariance = np.broadcast_to(model.covariance_, (3, 5, 5))
    for k, label in enumerate(labels):
        own = new[drawn == label]
        n, p = len(own), model.priors_[k]
        assert abs(n - 30_000 * p) < 6 * np.sqrt(30_000 * p * (1 - p))  # probability 2e-9
        away = own.mean(axis=0) - model.means_[k]
        squared = n * away @ np.linalg.inv(covariance[k]) @ away
        assert squared < chi2(5).isf(1e-9)
        whitening = np.linalg.inv(np.linalg.cholesky(covariance[k]))
        inside = whitening @ np.cov(own.T) @ whitening.T
        # Of a Wishart matrix, six standard errors of a diagonal entry, which are the largest.
        assert_allclose(inside, np.eye(5), rtol=0, atol=6 * np.sqrt(2 / n))
    again, _ = model.sample(30_000, random_state=0)
    assert_array_equal(new, again)


def test_new_rows_of_constant_columns_are_constant():
    X, y = sample()
    X[:, 2] = 0.1
    with pytest.warns(RankWarning):
        model = QuadraticDiscriminantAnalysis().fit(X, y)
    new, _ = model.sample(50, random_state=0)
    assert_array_equal(new[:, 2], 0.1)


@pytest.mark.parametrize("n", [0, -1, 1.5, True])
def test_a_wrong_number_of_new_rows_is_refused(n):
    X, y = sample()
    with pytest.raises(ParameterError, match="n_samples"):
        LinearDiscriminantAnalysis().fit(X, y).sample(n)
