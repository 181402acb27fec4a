"""Gaussian mixtures of rows with missing values."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import logsumexp
from scipy.stats import multivariate_normal

from empirisk import GaussianMixture, Tuned
from mixture_rows import ALL, X
from tolerances import SOLVED, SUMMED


def naive_missing_step(X, shares, means, covariances):
    """One EM step with missing values, row by row, by the formulas of the textbook."""
    K, p = means.shape
    mass, first, second = np.zeros(K), np.zeros((K, p)), np.zeros((K, p, p))
    for x in X:
        o, m = ~np.isnan(x), np.isnan(x)
        filled, spread, joint = np.zeros((K, p)), np.zeros((K, p, p)), np.zeros(K)
        for k in range(K):
            S, u = covariances[k], x - means[k]
            joint[k] = np.log(shares[k]) + multivariate_normal(means[k][o], S[np.ix_(o, o)]).logpdf(
                x[o]
            )
            B = S[np.ix_(m, o)] @ np.linalg.inv(S[np.ix_(o, o)])
            u[m] = B @ u[o]
            filled[k] = means[k] + u
            spread[k][np.ix_(m, m)] = S[np.ix_(m, m)] - B @ S[np.ix_(o, m)]
        r = np.exp(joint - logsumexp(joint))
        for k in range(K):
            mass[k] += r[k]
            first[k] += r[k] * filled[k]
            second[k] += r[k] * (np.outer(filled[k], filled[k]) + spread[k])
    new = first / mass[:, None]
    return mass / mass.sum(), new, second / mass[:, None, None] - np.einsum("ki,kj->kij", new, new)


def test_missing_values_by_the_conditional_moments():
    rng = np.random.default_rng(3)
    gaps = X[::4].copy()
    gaps[rng.random(gaps.shape) < 0.2] = np.nan
    gaps = gaps[~np.isnan(gaps).all(axis=1)]
    shares, means = np.array([0.5, 0.3, 0.2]), np.array([[0.0, 0.0], [5.0, 1.0], [0.0, 5.0]])
    covariances = np.array([np.eye(2), [[2.0, 0.5], [0.5, 1.0]], 0.5 * np.eye(2)])
    mixture = GaussianMixture(
        3, weights_init=shares, means_init=means, precisions_init=np.linalg.inv(covariances),
        max_iter=2, tol=0.0,
    ).fit(gaps)  # fmt: skip
    for _ in range(2):
        shares, means, covariances = naive_missing_step(gaps, shares, means, covariances)
    assert_allclose(mixture.weights_, shares, rtol=SUMMED)
    assert_allclose(mixture.means_, means, rtol=SUMMED, atol=SUMMED)
    assert_allclose(mixture.covariances_, covariances, rtol=SOLVED, atol=SOLVED)


@pytest.mark.parametrize("covariance_type", ALL)
def test_with_missing_values_the_likelihood_never_falls(covariance_type):
    gaps = X.copy()
    gaps[np.random.default_rng(4).random(X.shape) < 0.25] = np.nan
    mixture = GaussianMixture(3, covariance_type=covariance_type, random_state=0).fit(gaps)
    assert np.diff(mixture.lower_bounds_).min() > -1e-12  # rounding of numbers of size 1
    seen = gaps[~np.isnan(gaps).all(axis=1)]
    assert mixture.score(seen) >= mixture.lower_bound_ - 1e-12


def test_missing_values_cost_little_where_features_tell_the_same():
    """A third of the values of one of two features that are correlated 0.95 is missing: EM is as
    good as with nearly all rows, the observed rows alone are not."""
    rng = np.random.default_rng(5)
    rows = rng.multivariate_normal([0.0, 0.0], [[1.0, 0.95], [0.95, 1.0]], size=4000)
    gaps = rows.copy()
    gaps[rows[:, 0] > 0.5, 1] = np.nan  # missing at random given the other feature
    mean = GaussianMixture().fit(gaps).means_[0, 1]
    assert abs(mean) < 5 / np.sqrt(4000)  # about 4 standard errors: error probability 1e-4
    assert np.nanmean(gaps[:, 1]) < -0.3


@pytest.mark.parametrize("power", [-200, 200])
def test_huge_and_tiny_rows_with_missing_values(power):
    gaps = X.copy()
    gaps[::3, 0] = np.nan
    mixture = GaussianMixture(2, init_params="hierarchical").fit(gaps * 10.0**power)
    assert np.isfinite(mixture.score_samples(gaps * 10.0**power)).all()


def test_missing_values_go_through_the_engine():
    gaps = X.copy()
    gaps[::5, 1] = np.nan
    tuned = Tuned(GaussianMixture(random_state=0), values=[1, 3], cv=3, random_state=0).fit(gaps)
    assert tuned.best_value_ == 3
    assert np.isfinite(tuned.score_samples(gaps)).all()


@pytest.mark.parametrize("covariance_type", ["full", "diag", "spherical"])
def test_the_lower_bound_of_missing_values_is_in_the_units_of_x(covariance_type):
    rng = np.random.default_rng(6)
    rows = rng.normal(size=(60, 3)) * [1e-3, 1.0, 1e5]
    rows[rng.random(rows.shape) < 0.3] = np.nan
    rows = rows[~np.isnan(rows).all(axis=1)]
    weight = rng.integers(1, 4, len(rows)).astype(float)
    mixture = GaussianMixture(2, covariance_type=covariance_type, random_state=0).fit(
        rows, sample_weight=weight
    )
    # The last M-step gains less than tol = 1e-6, ten times which is allowed here.
    assert mixture.lower_bound_ == pytest.approx(mixture.score(rows, None, weight), abs=1e-5)


def test_rows_missing_altogether_count_for_nothing():
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(60, 2))
    more = np.vstack([rows, np.full((30, 2), np.nan)])
    found = GaussianMixture(2, random_state=0).fit(rows)
    again = GaussianMixture(2, random_state=0).fit(more)
    assert_allclose(again.means_, found.means_, rtol=SUMMED)
    for criterion in ("bic", "aic", "icl"):
        assert getattr(found, criterion)(more) == pytest.approx(
            getattr(found, criterion)(rows), rel=SUMMED
        )
