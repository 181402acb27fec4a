"""Linear discriminants where the covariance is singular, numbers are extreme, or rows far away."""

import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import softmax

from discriminant_rows import sample
from empirisk.learners.generative.lda import LinearDiscriminantAnalysis
from empirisk.runtime.errors import RankWarning
from tolerances import SUMMED


@pytest.mark.parametrize("power", [-290, -200, 200, 290])
@pytest.mark.parametrize("shrinkage", [None, 0.2])
def test_numbers_of_any_size(power, shrinkage):
    X, y = sample()
    weight = np.random.default_rng(1).uniform(0.1, 3, len(y))
    one = LinearDiscriminantAnalysis(shrinkage=shrinkage).fit(X, y, weight)
    other = LinearDiscriminantAnalysis(shrinkage=shrinkage).fit(X * 10.0**power, y, weight * 1e-250)
    assert np.isfinite(other.coef_).all()
    # 10^power is no power of two: each number is rounded once.
    assert_allclose(
        other.predict_proba(X * 10.0**power), one.predict_proba(X), rtol=1e-10, atol=1e-14
    )


def test_without_shrinkage_each_column_has_its_own_unit():
    X, y = sample()
    units = 2.0 ** np.array([600, -600, 0, 30])
    one = LinearDiscriminantAnalysis().fit(X, y)
    other = LinearDiscriminantAnalysis().fit(X * units, y)
    assert_array_equal(other.coef_ * units, one.coef_)
    assert_array_equal(other.predict_proba(X * units), one.predict_proba(X))
    with_shrinkage = LinearDiscriminantAnalysis(shrinkage=0.5).fit(X * units, y)
    assert np.isfinite(with_shrinkage.predict_proba(X * units)).all()


def test_an_offset_costs_no_digits_where_the_class_means_are_exact():
    rng = np.random.default_rng(0)
    away = np.round(rng.normal(size=(16, 3)) * 2**10) / 2**10
    X, y = np.concatenate([away, -away, 1 + away, 1 - away]), np.repeat([0, 1], 32)
    one = LinearDiscriminantAnalysis(priors=[0.25, 0.75]).fit(X, y)
    other = LinearDiscriminantAnalysis(priors=[0.25, 0.75]).fit(X + 2.0**40, y)
    assert_allclose(other.predict_proba(X + 2.0**40), one.predict_proba(X), rtol=SUMMED)


def test_a_vanishing_shrinkage_is_as_exact_as_none():
    X, y = sample()
    units = np.array([1e-6, 1e-5, 1e-3, 1.0])
    ours = LinearDiscriminantAnalysis(shrinkage=1e-15, store_covariance=True).fit(X * units, y)
    scaled = ours.covariance_ / np.outer(units, units)
    away = (X * units)[:, None] / units - ours.means_ / units
    distance = np.einsum("ikj,jl,ikl->ik", away, np.linalg.inv(scaled), away)
    naive = softmax(np.log(ours.priors_) - distance / 2, axis=1)
    # In one unit for all columns the condition number is 1e12 and leaves five digits.
    assert_allclose(ours.predict_proba(X * units), naive, rtol=1e-9, atol=1e-13)


def deficient(X):
    """X with a copy, a sum and a constant, in columns named for what they are."""
    table = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    return table.assign(copy=table["a"], total=table["b"] + table["c"], same=7.3)


def test_dependent_columns_have_no_say_and_are_named():
    X, y = sample()
    table = deficient(X)
    with pytest.warns(RankWarning, match="column 'same' is constant") as caught:
        ours = LinearDiscriminantAnalysis().fit(table, y)
    message = str(caught[0].message)
    assert "columns 'copy', 'total' are dependent" in message
    assert "separated" not in message
    full_rank = LinearDiscriminantAnalysis().fit(X, y)
    # Of the 2^-53 of rounding, 1e3 are lost where eigenvalues of 0 and 0.1 are told apart.
    assert_allclose(ours.predict_proba(table), full_rank.predict_proba(X), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("offset", [0.0, 2.0**38])
def test_rounding_errors_of_class_means_separate_nothing(offset):
    X, y = sample()
    if offset == 0:
        X -= np.stack([X[y == k].mean(axis=0) for k in range(3)])[y]
    X += offset
    with pytest.warns(RankWarning, match="'copy', 'total' are dependent") as caught:
        ours = LinearDiscriminantAnalysis().fit(deficient(X), y)
    assert "separated" not in str(caught[0].message)
    full_rank = LinearDiscriminantAnalysis().fit(X, y)
    # The offset leaves the numbers, of size 1, a rounding error of 2^-15.
    assert_allclose(
        ours.predict_proba(deficient(X)), full_rank.predict_proba(X), rtol=0, atol=0.0001
    )


def test_a_column_that_varies_in_its_last_digit_only_is_constant():
    X, y = sample()
    last_digit = np.where(np.arange(120) % 2, 1e8, np.nextafter(1e8, 2e8))
    table = pd.DataFrame(X, columns=list("abcd")).assign(same=last_digit)
    with pytest.warns(RankWarning, match="column 'same' is constant"):
        ours = LinearDiscriminantAnalysis().fit(table, y)
    full_rank = LinearDiscriminantAnalysis().fit(X, y)
    assert_allclose(ours.predict_proba(table), full_rank.predict_proba(X), rtol=SUMMED, atol=SUMMED)


def test_singular_designs_follow_the_pseudo_inverse():
    X, y = sample()
    X = deficient(X).to_numpy()
    with pytest.warns(RankWarning):
        ours = LinearDiscriminantAnalysis(store_covariance=True).fit(X, y)
    scale = np.append(np.sqrt(np.diagonal(ours.covariance_))[:6], 1.0)
    inverse = np.linalg.pinv(ours.covariance_ / np.outer(scale, scale), rcond=1e-8)
    coef = (ours.means_ - ours.xbar_) / scale @ inverse / scale
    assert_allclose(ours.coef_, coef, rtol=SUMMED, atol=SUMMED)


def test_a_column_that_tells_the_classes_apart_decides():
    X, y = sample()
    table = pd.DataFrame(X, columns=list("abcd")).assign(leak=(y == 1) * 2.5)
    with pytest.warns(RankWarning, match="'leak' is constant within each class") as caught:
        ours = LinearDiscriminantAnalysis().fit(table, y)
    assert "classes are perfectly separated" in str(caught[0].message)
    probability = ours.predict_proba(table)
    assert_array_equal(probability[y == 1, 1], 1.0)
    assert_array_equal(probability[y != 1, 1], 0.0)
    # Between the two classes that it does not separate, the other columns decide as ever.
    others = LinearDiscriminantAnalysis().fit(X, y).predict_log_proba(X)[y != 1]
    got = ours.predict_log_proba(table)[y != 1]
    # Differences of discriminants of about 1e8.
    assert_allclose(got[:, 2] - got[:, 0], others[:, 2] - others[:, 0], rtol=0, atol=1e-06)


@pytest.mark.parametrize(("n", "p"), [(30, 50), (8, 10)])
def test_more_columns_than_rows_is_the_limit_of_little_shrinkage(n, p):
    X, y = sample(n, p)
    with pytest.warns(RankWarning, match=f"{p} columns vary in {n - 3} dimensions"):
        ours = LinearDiscriminantAnalysis().fit(X, y)
    within = X - np.stack([X[y == k].mean(axis=0) for k in range(3)])[y]
    scale = within.std(axis=0)
    limit = LinearDiscriminantAnalysis(shrinkage=ours.tol**2).fit(X / scale, y)
    # Discriminants of about 1e8 whose flat directions have the variance 1e-8 in both.
    assert_allclose(
        ours.decision_function(X), limit.decision_function(X / scale), rtol=1e-5, atol=1.0
    )
    assert ours.score(X, y) == 1.0


@pytest.mark.parametrize(
    "X",
    [np.ones((6, 2)), np.arange(6.0)[:, None] // 3, np.zeros((6, 1)), np.full((6, 3), -1e300)],
    ids=["constant", "the class itself", "zero", "huge constant"],
)
@pytest.mark.parametrize("shrinkage", [0.0, 0.5, 1.0])
def test_columns_without_any_variation_within_classes(X, shrinkage):
    y = np.array([0, 0, 0, 1, 1, 1])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RankWarning)
        lda = LinearDiscriminantAnalysis(shrinkage=shrinkage).fit(X, y)
    probability = lda.predict_proba(X)
    if np.ptp(X) > 0:
        assert_array_equal(lda.predict(X), y)
    else:
        assert_array_equal(probability, 0.5)
    assert np.isfinite(lda.predict_proba([[1e308] * X.shape[1]])).all()


@pytest.mark.parametrize("n_classes", [2, 3])
def test_rows_far_away_give_no_nan(n_classes):
    X, y = sample(n_classes=n_classes)
    lda = LinearDiscriminantAnalysis().fit(X * 1e-200, y)
    far = np.array([[1.0, -1, 1, -1], [-1, 1, 1, 1]]) * 1.7e308
    near = far / 1.7e308
    values = lda.decision_function(far)
    assert np.isfinite(values).all()
    assert np.isfinite(lda.predict_proba(far)).all()
    # So far away the priors do not matter: the direction decides.
    direction = near @ lda.coef_.T
    expected = (direction[:, 0] > 0) if n_classes == 2 else direction.argmax(axis=1)
    assert_array_equal(lda.predict(far), expected)
