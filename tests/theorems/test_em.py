"""Statements about EM (C1.2): the bound, who attains it, and that the likelihood never falls."""

import numpy as np
import pytest
from scipy.special import logsumexp, xlogy
from scipy.stats import multivariate_normal, poisson
from sklearn.base import clone

from empirisk import GaussianMixture, PoissonMixture
from tolerances import SUMMED

rng = np.random.default_rng(0)
X = np.concatenate([rng.normal(size=(60, 2)), rng.normal(size=(40, 2)) @ [[2, 0.5], [0, 1]] + 3])
COUNTS = np.concatenate([rng.poisson(2.0, (50, 3)), rng.poisson([6.0, 1.0, 3.0], (50, 3))])


TYPES = ["full", "tied", "diag", "spherical", "sieve"]


def matrices(mixture):
    """The covariance matrix of each component, of the form in which it is kept."""
    each, identity = mixture.covariances_, np.eye(X.shape[1])
    if mixture.covariance_type in ("full", "tied"):
        return np.broadcast_to(each, (len(mixture.weights_), *identity.shape))
    return [np.broadcast_to(v, len(identity)) * identity for v in each] * (
        len(mixture.weights_) // len(each)
    )


def gaussian_joint(mixture, rows):
    return np.column_stack(
        [
            np.log(a) + multivariate_normal(m, S).logpdf(rows)
            for a, m, S in zip(mixture.weights_, mixture.means_, matrices(mixture), strict=True)
        ]
    )


def poisson_joint(mixture, rows):
    return np.log(mixture.weights_) + poisson.logpmf(rows[:, None], mixture.rates_).sum(axis=2)


MODELS = [
    *(
        (
            GaussianMixture(3, covariance_type=name, random_state=0, n_init=1, max_iter=3, tol=0.0),
            gaussian_joint,
            X,
        )
        for name in TYPES
    ),
    (PoissonMixture(2, random_state=0, n_init=1, max_iter=3, tol=0.0), poisson_joint, COUNTS),
]


def bound(joint, q):
    """E_q log(p(x, h) / q(h)) of each row."""
    return (q * joint).sum(axis=1) - xlogy(q, q).sum(axis=1)


@pytest.mark.parametrize(("mixture", "joint", "rows"), MODELS)
def test_the_e_step_attains_the_bound_and_no_other_density_does(mixture, joint, rows):
    """log p(x) = E_q log(p(x, h)/q(h)) + KL(q, p(.|x)), so q = p(.|x) is the maximum."""
    mixture.fit(rows)
    values, posterior = joint(mixture, rows), mixture.predict_proba(rows)
    likelihood = mixture.score_samples(rows)
    # Double precision of sums of a few numbers of size 10.
    np.testing.assert_allclose(bound(values, posterior), likelihood, rtol=1e-11, atol=1e-11)
    for _ in range(20):
        q = rng.dirichlet(np.ones(posterior.shape[1]), size=len(rows))
        divergence = (xlogy(q, q) - q * (values - logsumexp(values, axis=1, keepdims=True))).sum(1)
        assert (divergence > 0).all()
        np.testing.assert_allclose(bound(values, q) + divergence, likelihood, rtol=SUMMED)


def moved(mixture, name, size, direction):
    """A fitted parameter, moved a little within its form."""
    value = getattr(mixture, name)
    if name == "weights_":
        other = value * np.exp(size * direction)
        return other / other.sum()
    if name == "covariances_" and mixture.covariance_type in ("full", "tied"):
        root = np.eye(value.shape[-1]) + size * direction
        return root @ value @ np.swapaxes(root, -1, -2)
    return value * np.exp(size * direction)


@pytest.mark.parametrize(("mixture", "joint", "rows"), MODELS)
def test_the_m_step_maximises_the_expected_likelihood(mixture, joint, rows):
    """With the posterior of the step before held, neither parameters far away nor those next to
    the new ones, on both sides, are better: a step that goes nine tenths of the way is noticed."""
    before = clone(mixture).set_params(max_iter=1).fit(rows)
    posterior = before.predict_proba(rows)
    after = clone(mixture).set_params(max_iter=2).fit(rows)
    best = (posterior * joint(after, rows)).sum()
    sieve = getattr(mixture, "covariance_type", None) == "sieve"
    for name in ("weights_", "means_", "covariances_", "rates_"):
        if not hasattr(after, name) or (sieve and name == "weights_"):  # which are equal
            continue
        value = getattr(after, name)
        for _ in range(20):
            direction = rng.normal(size=value.shape)
            for size in (0.05, 1e-4, -1e-4):  # whose squares are far above rounding of 1e-13
                setattr(after, name, moved(after, name, size, direction))
                assert (posterior * joint(after, rows)).sum() < best
                setattr(after, name, value)


STARTS = ["kmeans", "k-means++", "random", "random_from_data", "hierarchical"]


@pytest.mark.parametrize("covariance_type", TYPES)
@pytest.mark.parametrize("start", STARTS)
def test_the_likelihood_of_gaussian_mixtures_never_falls(covariance_type, start):
    for seed in range(3):
        mixture = GaussianMixture(
            4, covariance_type=covariance_type, init_params=start, n_init=1, random_state=seed,
            max_iter=60, tol=0.0,
        ).fit(X)  # fmt: skip
        # Rounding of a mean of 100 numbers of size 10.
        assert len(mixture.lower_bounds_) == 60
        assert np.diff(mixture.lower_bounds_).min() > -1e-13 * 10


@pytest.mark.parametrize("start", STARTS)
def test_the_likelihood_of_poisson_mixtures_never_falls(start):
    mixture = PoissonMixture(4, init_params=start, n_init=1, random_state=0, max_iter=60, tol=0.0)
    assert np.diff(mixture.fit(COUNTS).lower_bounds_).min() > -1e-13 * 10


def test_under_a_floor_the_likelihood_never_falls_either():
    """The M-step with raised eigenvalues is the maximum under the constraint (Ingrassia 2004)."""
    mixture = GaussianMixture(
        6, reg_covar=0.2, init_params="random_from_data", n_init=1, random_state=1, max_iter=80,
        tol=0.0,
    )  # fmt: skip
    with pytest.warns(match="closed around"):
        mixture.fit(X)
    assert np.diff(mixture.lower_bounds_).min() > -1e-12


def test_one_component_is_the_maximum_likelihood_gaussian():
    mixture = GaussianMixture().fit(X)
    np.testing.assert_allclose(mixture.means_[0], X.mean(axis=0), rtol=SUMMED)
    np.testing.assert_allclose(mixture.covariances_[0], np.cov(X.T, ddof=0), rtol=SUMMED)
