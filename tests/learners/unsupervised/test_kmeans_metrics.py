"""k-means by Mahalanobis distances: given, pooled, and of no unit."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import inv

from clumped_rows import IRIS, clumps
from empirisk import KMeans
from empirisk.learners.unsupervised.mahalanobis import whitening
from empirisk.runtime.errors import DataError, ParameterError
from tolerances import LAST_BITS, SUMMED


def test_mahalanobis_distances_feel_no_unit_of_a_column():
    units = np.array([1e200, 1.0, 1e-200, 1e5])
    one, other = (
        KMeans(3, n_init=3, covariance="pooled", random_state=0).fit(X)
        for X in (IRIS, IRIS * units)
    )
    assert_array_equal(one.labels_, other.labels_)
    assert_allclose(other.cluster_centers_ / units, one.cluster_centers_, rtol=SUMMED)
    assert_array_equal(other.predict(IRIS * units), other.labels_)
    assert other.inertia_ == pytest.approx(one.inertia_, rel=SUMMED)
    far = one.predict([[1e300] * 4, [-1e308] * 4])  # as good as equally far from all
    assert ((far >= 0) & (far < 3)).all()


def test_the_risk_by_a_pooled_covariance_can_be_compared():
    """Its unit differs from fit to fit: held-out rows are judged by Euclidean distances."""
    X = clumps(300, 2, 4, apart=8.0, seed=3)
    path = KMeans(covariance="pooled", n_init=5, random_state=0).reconstruction_path(
        X, [1, 4], cv=3
    )
    assert path.risk[1] < 0.3 * path.risk[0]


def test_a_given_matrix_is_the_mahalanobis_distance():
    A = np.array([[2.0, 0.3, 0.0, 0.0], [0.3, 1.0, 0.2, 0.0], [0, 0.2, 3.0, 0.5], [0, 0, 0.5, 0.4]])
    model = KMeans(3, init=IRIS[[0, 50, 100]], covariance=A, criterion="stability").fit(IRIS)
    apart = IRIS[:, None] - model.cluster_centers_
    square = np.einsum("ikj,jl,ikl->ik", apart, inv(A), apart)
    assert_array_equal(square.argmin(axis=1), model.labels_)
    assert model.inertia_ == pytest.approx(square.min(axis=1).sum(), rel=SUMMED)
    assert_allclose(model.transform(IRIS), np.sqrt(square), rtol=SUMMED)
    for k in range(3):
        own = IRIS[model.labels_ == k].mean(axis=0)
        assert_allclose(model.cluster_centers_[k], own, rtol=SUMMED)
    # The identity is the Euclidean distance.
    plain = KMeans(3, init=IRIS[[0, 50, 100]], criterion="stability").fit(IRIS)
    same = KMeans(3, init=IRIS[[0, 50, 100]], criterion="stability", covariance=np.eye(4)).fit(IRIS)
    assert_array_equal(same.labels_, plain.labels_)


def test_a_covariance_that_is_no_numbers_is_refused():
    with pytest.raises(ParameterError, match="matrix of numbers"):
        KMeans(covariance=[["a"]]).fit(IRIS)


def test_the_pooled_covariance_is_that_of_the_clusters_and_of_no_unit():
    model = KMeans(3, n_init=5, covariance="pooled", random_state=0).fit(IRIS)
    apart = IRIS - model.cluster_centers_[model.labels_]
    pooled = apart.T @ apart / len(IRIS)
    assert_allclose(model.whitening_ @ model.whitening_.T, inv(pooled), rtol=SUMMED)
    assert model.inertia_ == pytest.approx(4 * 150, rel=1e-9)  # tr(S^-1 S) for each row
    # Correlated clusters that Euclidean distances cut across are found.
    B = np.array([[1.0, 0.0, 0, 0], [5.0, 0.1, 0, 0], [0, 0, 1e4, 0], [0, 0, 3.0, 1e-3]])
    other = KMeans(3, n_init=5, covariance="pooled", random_state=0).fit(IRIS @ B.T)
    assert_array_equal(other.labels_, model.labels_)


def test_long_clusters_side_by_side_need_the_pooled_covariance():
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1], 150)
    X = np.column_stack([8 * rng.normal(size=300), 4 * truth + 0.3 * rng.normal(size=300)])
    euclidean = KMeans(2, n_init=5, random_state=0).fit(X).labels_
    pooled = KMeans(2, n_init=20, covariance="pooled", random_state=0).fit(X).labels_
    assert np.mean(pooled == truth) in (0.0, 1.0)
    assert 0.2 < np.mean(euclidean == truth) < 0.8


def test_whitening_inverts_its_matrix_and_refuses_a_singular_one():
    M = np.array([[4.0, 1.0], [1.0, 9.0]])
    A = whitening(M)
    assert_allclose(A @ A.T, inv(M), rtol=LAST_BITS)
    with pytest.raises(DataError, match="positive definite"):
        KMeans(2, covariance="pooled").fit(np.column_stack([IRIS, IRIS[:, 0]]))
