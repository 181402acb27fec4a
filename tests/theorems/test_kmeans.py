"""B4 of the lecture notes: k-means, within and between, and empirical risk."""

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose

from empirisk import KMeans, cluster_quality, risk
from tolerances import SUMMED

rng = np.random.default_rng(0)
X = rng.normal(size=(120, 3)) * [1.0, 2.0, 0.5] + 4 * rng.integers(0, 2, size=(120, 1))


def pairs_by_definition(X, labels):
    """Equation 4.1, pair by pair."""
    total = 0.0
    for k in np.unique(labels):
        own = X[labels == k]
        total += sum(((a - b) ** 2).sum() for a in own for b in own) / (2 * len(own))
    return total


@pytest.mark.parametrize("K", [1, 2, 5, 30])
def test_within_by_pairs_is_within_by_centroids(K):
    labels = rng.integers(0, K, size=len(X))
    quality = cluster_quality(X, labels)
    centroids = sum(
        ((X[labels == k] - X[labels == k].mean(axis=0)) ** 2).sum() for k in np.unique(labels)
    )
    # Sums of a few thousand terms in double precision.
    assert quality.within_by_pairs == pytest.approx(pairs_by_definition(X, labels), rel=1e-12)
    assert quality.within == pytest.approx(centroids, rel=1e-12)
    assert quality.within_by_pairs == pytest.approx(quality.within, rel=1e-12)


@pytest.mark.parametrize("K", [1, 2, 5, 30])
def test_total_is_within_plus_between(K):
    quality = cluster_quality(X, rng.integers(0, K, size=len(X)))
    total = ((X - X.mean(axis=0)) ** 2).sum()
    assert quality.within + quality.between == pytest.approx(total, rel=SUMMED)


@pytest.mark.parametrize("init", ["random", "random_partition", "k-means++"])
def test_each_step_of_lloyd_lowers_within(init):
    for seed in range(5):
        start = {"init": init, "n_init": 1, "random_state": seed}
        way = KMeans(6, criterion="stability", **start).fit(X).trajectory_
        steps = np.column_stack([way.assigned, way.updated]).ravel()
        assert len(way.assigned) > 1
        assert (np.diff(steps) <= 1e-12 * steps[0]).all()  # rounding of sums of that size
        assert (np.diff(steps[:-3:2]) < 0).all()  # strictly, as long as a row moves


def test_within_is_least_where_between_is_largest():
    """Huygens: over all partitions of a few rows into two."""
    few = X[:9]
    found = [
        cluster_quality(few, labels) for labels in product([0, 1], repeat=9) if 0 < sum(labels) < 9
    ]
    within, between = (np.array([getattr(q, w) for q in found]) for w in ("within", "between"))
    assert within.argmin() == between.argmax()
    # And the best of ten starts is this least of all.
    assert KMeans(2, n_init=10, random_state=0).fit(few).inertia_ == pytest.approx(
        within.min(), rel=SUMMED
    )


def test_the_empirical_risk_is_within_minimised_over_partitions():
    """R_n(h) = min over partitions of W / n, for any points c_k."""
    few, points = X[:6], X[[10, 40, 80]]
    model = KMeans(3, init=points, max_iter=1).fit(few)
    model.cluster_centers_ = points
    least = min(((few - points[list(labels)]) ** 2).sum() for labels in product(range(3), repeat=6))
    found = risk.evaluate(model, few, None, loss="reconstruction").value
    assert found == pytest.approx(least / 6, rel=SUMMED)


def test_the_risk_of_the_fitted_pair_on_its_rows_is_inertia_over_n():
    model = KMeans(4, random_state=0).fit(X)
    assert_allclose(model.losses_of_rows(X).mean(), model.inertia_ / len(X), rtol=SUMMED)
    assert_allclose(((X - model.reconstruct(X)) ** 2).sum(), model.inertia_, rtol=SUMMED)


def test_centroids_are_the_means_of_their_rows_and_rows_are_with_their_nearest():
    model = KMeans(5, criterion="stability", random_state=0).fit(X)
    for k in range(5):
        own = X[model.labels_ == k].mean(axis=0)
        assert_allclose(model.cluster_centers_[k], own, rtol=SUMMED, atol=SUMMED)
    square = ((X[:, None] - model.cluster_centers_) ** 2).sum(axis=2)
    assert (square.argmin(axis=1) == model.labels_).all()
