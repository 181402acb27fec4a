"""Statements of the lecture notes on Gaussian classes (B7.4).

Where the notes have slips the corrected statement is tested: the multiplier of Prop. 7.6 is n, and
the nearest centroid needs equal priors, else 2 log pi_k is subtracted.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.integrate import quad
from scipy.special import softmax
from scipy.stats import multivariate_normal, norm

from empirisk import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
    RegularizedDiscriminantAnalysis,
)
from tolerances import LAST_BITS, SOLVED, SUMMED


def sample(n=80, p=3, n_classes=3, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.choice(n_classes, n, p=np.arange(1, n_classes + 1) / (n_classes * (n_classes + 1) / 2))
    mix = np.eye(p) + 0.4 * rng.normal(size=(p, p))
    return rng.normal(size=(n, p)) @ mix + 1.5 * rng.normal(size=(n_classes, p))[y], y


def log_likelihood(X, y, priors, means, covariance):
    """sum_i log pi_{y_i} + log phi(x_i; mu_{y_i}, Sigma)."""
    total = 0.0
    for k in range(len(priors)):
        own = X[y == k]
        total += len(own) * np.log(priors[k])
        of_class = covariance if np.ndim(covariance) == 2 else covariance[k]
        total += multivariate_normal(means[k], of_class).logpdf(own).sum()
    return total


@pytest.mark.parametrize("seed", range(5))
def test_7_6_and_7_9_maximum_likelihood_beats_every_perturbation(seed):
    X, y = sample(seed=seed)
    lda = LinearDiscriminantAnalysis(store_covariance=True).fit(X, y)
    best = log_likelihood(X, y, lda.priors_, lda.means_, lda.covariance_)
    rng = np.random.default_rng(seed)
    for size in (1e-3, 1e-2, 0.1, 0.5):
        priors = lda.priors_ * np.exp(size * rng.normal(size=3))
        means = lda.means_ + size * rng.normal(size=lda.means_.shape)
        change = np.eye(3) + size * rng.normal(size=(3, 3)) / 3
        covariance = change @ lda.covariance_ @ change.T
        # At a maximum the loss is of second order: 80 rows times 1e-6, far above rounding.
        for other in (
            (priors / priors.sum(), lda.means_, lda.covariance_),
            (lda.priors_, means, lda.covariance_),
            (lda.priors_, lda.means_, covariance),
            (priors / priors.sum(), means, covariance),
        ):
            assert log_likelihood(X, y, *other) < best


@pytest.mark.parametrize("seed", range(5))
def test_7_6_and_7_9_so_does_that_of_a_covariance_for_each_class(seed):
    X, y = sample(seed=seed)
    X = X * (1 + y)[:, None]
    qda = QuadraticDiscriminantAnalysis(store_covariance=True).fit(X, y)
    best = log_likelihood(X, y, qda.priors_, qda.means_, qda.covariance_)
    rng = np.random.default_rng(seed)
    for size in (1e-3, 1e-2, 0.1, 0.5):
        priors = qda.priors_ * np.exp(size * rng.normal(size=3))
        means = qda.means_ + size * rng.normal(size=qda.means_.shape)
        change = np.eye(3) + size * rng.normal(size=(3, 3, 3)) / 3
        covariances = change @ qda.covariance_ @ change.transpose(0, 2, 1)
        for other in (
            (priors / priors.sum(), qda.means_, qda.covariance_),
            (qda.priors_, means, qda.covariance_),
            (qda.priors_, qda.means_, covariances),
            (priors / priors.sum(), means, covariances),
        ):
            assert log_likelihood(X, y, *other) < best
    # The divisor is the number of rows of the class; one covariance for all is less likely.
    for divisor in (-1, 1):
        n = np.bincount(y)[:, None, None]
        assert (
            log_likelihood(X, y, qda.priors_, qda.means_, qda.covariance_ * n / (n + divisor))
            < best
        )
    tied = LinearDiscriminantAnalysis(store_covariance=True).fit(X, y)
    assert log_likelihood(X, y, tied.priors_, tied.means_, tied.covariance_) < best


def between(lda):
    """sum_k pi_k (m_k - m)(m_k - m)'."""
    about = lda.means_ - lda.xbar_
    return (about * lda.priors_[:, None]).T @ about


@pytest.mark.parametrize("weighted", [False, True])
def test_7_8_the_covariance_of_all_rows_is_that_between_and_that_within(weighted):
    X, y = sample()
    weight = np.random.default_rng(1).uniform(0.1, 3, len(y)) if weighted else np.ones(len(y))
    lda = LinearDiscriminantAnalysis(store_covariance=True).fit(X, y, weight)
    total = np.cov(X.T, aweights=weight, ddof=0)
    # Sums of 80 products of size 1.
    assert_allclose(total, between(lda) + lda.covariance_, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("n_classes", [2, 3, 4, 5])
def test_whitening_makes_the_covariance_within_classes_the_identity(n_classes):
    X, y = sample(n_classes=n_classes)
    lda = LinearDiscriminantAnalysis(store_covariance=True).fit(X, y)
    m = min(n_classes - 1, X.shape[1])
    inside, across = (
        lda.scalings_.T @ lda.covariance_ @ lda.scalings_,
        lda.scalings_.T @ between(lda),
    )
    assert_allclose(inside, np.eye(m), rtol=0, atol=SUMMED)
    assert_allclose(across @ lda.scalings_, np.diag(lda.separability_), rtol=0, atol=SUMMED)
    rows = lda.transform(X)
    within = rows - lda.transform(lda.means_)[y]
    assert_allclose(within.T @ within / len(y), np.eye(m), rtol=0, atol=SUMMED)


@pytest.mark.parametrize("n_classes", [2, 3, 4, 5])
@pytest.mark.parametrize("equal", [False, True])
def test_7_12_k_minus_1_coordinates_are_enough(n_classes, equal):
    X, y = sample(n_classes=n_classes, p=6)
    priors = None if not equal else np.full(n_classes, 1 / n_classes)
    lda = LinearDiscriminantAnalysis(priors=priors).fit(X, y)
    rows, centroids = lda.transform(X), lda.transform(lda.means_)
    assert rows.shape[1] == n_classes - 1
    squared = ((rows[:, None] - centroids) ** 2).sum(axis=2)
    # The nearest centroid, once 2 log pi_k is subtracted; the posterior follows too.
    score = 2 * np.log(lda.priors_) - squared
    assert_array_equal(score.argmax(axis=1), lda.predict(X))
    assert_allclose(softmax(score / 2, axis=1), lda.predict_proba(X), rtol=SOLVED, atol=SUMMED)
    if equal:
        assert_array_equal(squared.argmin(axis=1), lda.predict(X))
    # One fewer would not do: the last separates, too.
    if n_classes > 2:
        fewer = ((rows[:, None, :-1] - centroids[:, :-1]) ** 2).sum(axis=2)
        other = softmax(np.log(lda.priors_) - fewer / 2, axis=1)
        assert np.abs(other - lda.predict_proba(X)).max() > 0.05


@pytest.mark.parametrize("seed", range(3))
def test_the_first_direction_has_the_largest_b_over_w(seed):
    X, y = sample(seed=seed, n_classes=4, p=5)
    lda = LinearDiscriminantAnalysis(store_covariance=True).fit(X, y)

    def ratio(u):
        return np.einsum("j...,jl,l...->...", u, between(lda), u) / np.einsum(
            "j...,jl,l...->...", u, lda.covariance_, u
        )

    best, rng = lda.scalings_[:, 0], np.random.default_rng(seed)
    assert_allclose(ratio(best), lda.separability_[0], rtol=SUMMED)
    assert (ratio(rng.normal(size=(5, 2000))) < ratio(best)).all()
    for size in (1e-3, 0.1):  # the loss is of second order: 1e-6 of it, far above rounding
        nearby = best[:, None] + size * np.linalg.norm(best) * rng.normal(size=(5, 200))
        assert (ratio(nearby) < ratio(best)).all()
    # The second is the best of those uncorrelated with it within classes.
    others = rng.normal(size=(5, 2000))
    others -= np.outer(best, best @ lda.covariance_ @ others)
    assert (ratio(others) <= lda.separability_[1]).all()
    # Principal components look for variance instead.
    principal = np.linalg.svd(X - X.mean(axis=0))[2][0]
    assert ratio(principal) < ratio(best)


@pytest.mark.parametrize("priors", [None, [0.1, 0.2, 0.7]])
def test_7_4_2_the_ends_of_regularisation_are_quadratic_and_linear(priors):
    X, y = sample()
    X = X * (1 + y)[:, None]
    for alpha, end in ((1, QuadraticDiscriminantAnalysis), (0, LinearDiscriminantAnalysis)):
        rda = RegularizedDiscriminantAnalysis(alpha, 0, priors=priors).fit(X, y)
        model = end(priors=priors).fit(X, y)
        # The linear end subtracts squares that all classes share, of about 1e2.
        assert_allclose(rda.predict_proba(X), model.predict_proba(X), rtol=1e-10, atol=1e-13)
    for delta in (0.2, 1.0):
        rda = RegularizedDiscriminantAnalysis(0, delta, priors=priors).fit(X, y)
        lda = LinearDiscriminantAnalysis(shrinkage=delta, priors=priors).fit(X, y)
        assert_allclose(rda.predict_proba(X), lda.predict_proba(X), rtol=SUMMED, atol=SUMMED)


def test_7_4_boundaries_of_unequal_covariances_are_quadratic():
    X, y = sample()
    qda = QuadraticDiscriminantAnalysis().fit(X * (1 + y)[:, None], y)
    rng = np.random.default_rng(1)
    start, step = rng.normal(size=(2, 50, 3))
    odds = np.array([qda.decision_function(start + t * step)[:, 1:] for t in range(5)])
    odds -= np.array([qda.decision_function(start + t * step)[:, :1] for t in range(5)])
    second, third = np.diff(odds, 2, axis=0), np.diff(odds, 3, axis=0)
    assert np.abs(second).min() > 1e-6  # curved
    assert_allclose(third, 0, rtol=0, atol=1e-09)  # and no more than that: differences of about 1e2


def test_7_9_the_divisor_is_n():
    X, y = sample()
    lda = LinearDiscriminantAnalysis(store_covariance=True).fit(X, y)
    best = log_likelihood(X, y, lda.priors_, lda.means_, lda.covariance_)
    for divisor in (len(y) - 3, len(y) - 1, len(y) + 1):
        other = lda.covariance_ * len(y) / divisor
        assert log_likelihood(X, y, lda.priors_, lda.means_, other) < best


# Two classes N(m, 1/2) with equal priors; 1/2 is the variance.
EXAMPLE = [((1.0, 3.0), 2.0, 0.07865), ((1.5, 2.5), 0.5, 0.23975)]


@pytest.mark.parametrize(("means", "separability", "bayes_risk"), EXAMPLE)
def test_example_7_7_and_remark_7_8(means, separability, bayes_risk):
    # Two points per class at one standard deviation from its mean have exactly these moments.
    deviation = np.sqrt(0.5)
    X = np.array([m + sign * deviation for m in means for sign in (-1, 1)])[:, None]
    y = np.array([0, 0, 1, 1])
    lda = LinearDiscriminantAnalysis(store_covariance=True).fit(X, y)
    within = lda.covariance_[0, 0]
    between = lda.priors_ @ (lda.means_[:, 0] - lda.xbar_[0]) ** 2
    assert_allclose(lda.means_[:, 0], means, rtol=LAST_BITS)
    assert_allclose(within, 0.5, rtol=LAST_BITS)
    assert_allclose(between / within, separability, rtol=LAST_BITS)
    assert_allclose(lda.separability_, [separability], rtol=LAST_BITS)
    assert_allclose(-lda.intercept_[0] / lda.coef_[0, 0], 2.0, rtol=LAST_BITS)
    # Law of total variance.
    assert_allclose(X.var(), within + between, rtol=1e-14)

    def smaller_density(x):
        return min(0.5 * norm.pdf(x, m, deviation) for m in means)

    risk = quad(smaller_density, -10, 14, points=[2.0])[0]
    assert_allclose(risk, bayes_risk, rtol=0, atol=5e-06)  # as printed, to five decimals
    # The rule's own risk: class 0 beyond its boundary, class 1 before it.
    boundary = -lda.intercept_[0] / lda.coef_[0, 0]
    own = (norm.sf(boundary, means[0], deviation) + norm.cdf(boundary, means[1], deviation)) / 2
    assert_allclose(own, risk, rtol=1e-8)  # of the numerical integral


@pytest.mark.parametrize(("means", "separability", "bayes_risk"), EXAMPLE)
def test_example_7_7_by_a_variance_of_each_class(means, separability, bayes_risk):
    X = np.array([m + sign * np.sqrt(0.5) for m in means for sign in (-1, 1)])[:, None]
    qda = QuadraticDiscriminantAnalysis(store_covariance=True).fit(X, [0, 0, 1, 1])
    assert_allclose(qda.covariance_[:, 0, 0], 0.5, rtol=LAST_BITS)
    assert_allclose(qda.predict_proba([[2.0]]), [[0.5, 0.5]], rtol=LAST_BITS)
    assert_array_equal(qda.predict([[2.0 - 1e-9], [2.0 + 1e-9]]), [0, 1])
    # Half of the mass of each class beyond the boundary.
    assert_allclose(norm.sf(2.0, means[0], np.sqrt(0.5)), bayes_risk, rtol=0, atol=5e-06)


@pytest.mark.parametrize("n_classes", [2, 3, 4])
def test_7_4_boundaries_are_linear(n_classes):
    X, y = sample(n_classes=n_classes)
    lda = LinearDiscriminantAnalysis().fit(X, y)
    rng = np.random.default_rng(1)
    here, there = rng.normal(size=(2, 50, 3)) * 3
    log_odds = [np.diff(lda.predict_log_proba(at), axis=1) for at in (here, there)]
    for share in (0.25, 0.5, 0.9):
        between = np.diff(lda.predict_log_proba(share * here + (1 - share) * there), axis=1)
        linear = share * log_odds[0] + (1 - share) * log_odds[1]
        # Log odds up to 1e2 in double precision.
        assert_allclose(between, linear, rtol=0, atol=1e-10)
    # So every class region is convex.
    same = lda.predict(here) == lda.predict(there)
    assert same.sum() > 5
    assert_array_equal(lda.predict((here + there) / 2)[same], lda.predict(here)[same])


@pytest.mark.parametrize("priors", [None, [1 / 3, 1 / 3, 1 / 3], [0.1, 0.2, 0.7]])
def test_7_12_nearest_centroid_once_2_log_prior_is_subtracted(priors):
    X, y = sample()
    lda = LinearDiscriminantAnalysis(priors=priors, store_covariance=True).fit(X, y)
    values, vectors = np.linalg.eigh(lda.covariance_)
    whitened, centroids = X @ vectors / np.sqrt(values), lda.means_ @ vectors / np.sqrt(values)
    distance = ((whitened[:, None] - centroids) ** 2).sum(axis=2)
    rule = (distance - 2 * np.log(lda.priors_)).argmin(axis=1)
    assert_array_equal(lda.predict(X), rule)
    nearest = distance.argmin(axis=1)
    equal = priors is not None and priors[0] == priors[2]
    assert (lda.predict(X) == nearest).all() == equal
    # Whitening makes the covariance within classes the identity, not that of all rows.
    within = whitened - centroids[y]
    assert_allclose(within.T @ within / len(y), np.eye(3), rtol=0, atol=SUMMED)


def test_with_shrinkage_1_and_equal_priors_it_is_the_nearest_class_mean():
    X, y = sample()
    lda = LinearDiscriminantAnalysis(shrinkage=1.0, priors=[1 / 3, 1 / 3, 1 / 3]).fit(X, y)
    distance = ((X[:, None] - lda.means_) ** 2).sum(axis=2)
    assert_array_equal(lda.predict(X), distance.argmin(axis=1))


def test_the_rule_approaches_the_bayes_risk():
    """N(1, 1/2) and N(3, 1/2) from 4,000 rows: the excess risk is of order 1/n."""
    rng = np.random.default_rng(0)
    y = rng.permutation(np.arange(4000) % 2)
    X = (1 + 2 * y + np.sqrt(0.5) * rng.normal(size=4000))[:, None]
    lda = LinearDiscriminantAnalysis().fit(X, y)
    boundary = -lda.intercept_[0] / lda.coef_[0, 0]
    risk = (norm.sf(boundary, 1, np.sqrt(0.5)) + norm.cdf(boundary, 3, np.sqrt(0.5))) / 2
    # The boundary is the middle of two means, standard error 0.011; at five of them (probability
    # 6e-7) the risk is 0.0014 above the least one.
    assert 0.07865 - 5e-6 < risk < 0.07865 + 0.0014
