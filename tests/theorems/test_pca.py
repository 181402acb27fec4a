"""Statements about principal components (notes B3), checked on the learner itself."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from empirisk import PCA
from tolerances import LAST_BITS, SUMMED

WAYS = ["full", "covariance_eigh", "gram"]


def rows(n=30, p=5, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, p)) @ rng.normal(size=(p, p)) + rng.normal(size=p) * 3


def unit_vectors(number, p, seed=1):
    drawn = np.random.default_rng(seed).normal(size=(number, p))
    return drawn / np.linalg.norm(drawn, axis=1, keepdims=True)


@pytest.mark.parametrize("way", WAYS)
def test_proposition_3_1_the_first_component_maximises_the_variance_of_the_projection(way):
    X = rows()
    pca = PCA(svd_solver=way).fit(X)
    S = np.cov(X.T)
    v = pca.components_[0]
    assert_allclose(v @ S @ v, pca.explained_variance_[0], rtol=1e-12)  # sums in another order
    assert_allclose(S @ v, pca.explained_variance_[0] * v, rtol=0, atol=1e-12 * np.trace(S))
    others = unit_vectors(2000, 5)
    near = v + 1e-3 * others
    near /= np.linalg.norm(near, axis=1, keepdims=True)
    variance = [np.einsum("ij,jk,ik->i", u, S, u) for u in (others, near)]
    assert (np.concatenate(variance) < pca.explained_variance_[0]).all()


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_later_components_maximise_it_among_directions_orthogonal_to_those_before(way, k):
    X = rows()
    pca = PCA(svd_solver=way).fit(X)
    S, before = np.cov(X.T), pca.components_[:k]
    assert_allclose(before @ pca.components_[k], 0, rtol=0, atol=SUMMED)
    others = unit_vectors(500, 5)
    others -= others @ before.T @ before
    others /= np.linalg.norm(others, axis=1, keepdims=True)
    variance = np.einsum("ij,jk,ik->i", others, S, others)
    # In the last space there is but one direction: rounding errors decide.
    assert (variance <= pca.explained_variance_[k] * (1 + 1e-12)).all()


@pytest.mark.parametrize("shape", [(30, 5), (5, 12)], ids=["tall", "wide"])
@pytest.mark.parametrize("k", [1, 2, 3])
def test_eckart_young_no_matrix_of_rank_k_is_nearer(shape, k):
    X = rows(*shape)
    Z = X - X.mean(axis=0)
    near = PCA(k).fit(X).reconstruct(X) - X.mean(axis=0)
    sizes = np.linalg.svd(Z, compute_uv=False)
    assert np.linalg.matrix_rank(near) == k
    assert_allclose(np.linalg.norm(Z - near), np.sqrt((sizes[k:] ** 2).sum()), rtol=SUMMED)
    assert_allclose(np.linalg.norm(Z - near, 2), sizes[k], rtol=SUMMED)
    rng = np.random.default_rng(2)
    for step in (1e-4, 1e-2, 1.0):
        for _ in range(50):
            U, s, V = np.linalg.svd(near + step * rng.normal(size=shape), full_matrices=False)
            other = (U[:, :k] * s[:k]) @ V[:k]
            assert np.linalg.norm(Z - other) >= np.linalg.norm(Z - near)
            assert np.linalg.norm(Z - other, 2) >= sizes[k] * (1 - 1e-12)  # it may be as near


@pytest.mark.parametrize("shape", [(30, 5), (6, 12)], ids=["tall", "wide"])
def test_the_empirical_risk_is_the_sum_of_the_dropped_squared_singular_values_over_n(shape):
    X = rows(*shape)
    sizes = np.linalg.svd(X - X.mean(axis=0), compute_uv=False)
    for k in range(min(shape)):
        pca = PCA(k).fit(X)
        risk = pca.losses_of_rows(X).mean()
        # Of the total, which rounding errors are relative to: the last sizes may be zero.
        assert_allclose(
            risk, (sizes[k:] ** 2).sum() / len(X), rtol=0, atol=1e-14 * (sizes**2).sum()
        )


def test_no_affine_decoder_of_k_numbers_has_less_risk():
    """Alternating least squares, from any start, comes down to PCA's risk and not below."""
    X, k = rows(40, 6), 2
    pca = PCA(k).fit(X)
    least = pca.losses_of_rows(X).mean()
    rng = np.random.default_rng(3)
    for _ in range(5):
        code = rng.normal(size=(len(X), k))
        for _ in range(500):
            design = np.column_stack([code, np.ones(len(X))])
            decoder = np.linalg.lstsq(design, X, rcond=None)[0]
            code = np.linalg.lstsq(decoder[:k].T, (X - decoder[k]).T, rcond=None)[0].T
            risk = np.square(X - code @ decoder[:k] - decoder[k]).sum(axis=1).mean()
            assert risk >= least * (1 - 1e-12)
        assert_allclose(risk, least, rtol=1e-6)  # linear convergence, not to the last digit


def test_covariance_and_gram_matrix_have_the_same_eigenvalues_other_than_zero():
    X = rows(6, 9)
    Z = X - X.mean(axis=0)
    covariance, gram = np.linalg.eigvalsh(Z.T @ Z)[::-1], np.linalg.eigvalsh(Z @ Z.T)[::-1]
    # Five are not zero: six rows about their mean. The nine and the six differ in zeros alone.
    assert_allclose(covariance[:5], gram[:5], rtol=1e-12)
    assert_allclose(covariance[5:], 0, rtol=0, atol=1e-13 * covariance[0])
    assert_allclose(gram[5:], 0, rtol=0, atol=1e-13 * gram[0])
    for way in WAYS:
        found = PCA(svd_solver=way).fit(X).singular_values_
        assert_allclose(found[:5] ** 2, gram[:5], rtol=SUMMED)


def test_the_coordinates_are_uncorrelated_with_the_eigenvalues_as_variances():
    X = rows()
    pca = PCA(3).fit(X)
    variance = pca.explained_variance_
    assert_allclose(np.cov(pca.encode(X).T), np.diag(variance), rtol=0, atol=SUMMED * variance[0])
    assert_allclose(PCA().fit(X).explained_variance_ratio_.sum(), 1, rtol=LAST_BITS)
