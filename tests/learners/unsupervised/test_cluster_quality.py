"""Quality of clusters beside scikit-learn's scores; the number of clusters by every measure."""

import pickle
import tracemalloc
from copy import deepcopy
from typing import get_args

import numpy as np
import pytest
import sklearn.metrics as peers
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.cluster import AgglomerativeClustering

from empirisk import (
    GaussianMixture,
    KMeans,
    StochasticKMeans,
    cluster_quality,
    number_of_clusters,
)
from empirisk.learners.unsupervised.agreement import adjusted_rand
from empirisk.learners.unsupervised.cluster_curves import curvature
from empirisk.learners.unsupervised.number_of_clusters import Measure
from empirisk.runtime.errors import DataError, ParameterError
from tolerances import SUMMED

rng = np.random.default_rng(0)
X = rng.normal(size=(400, 3)) * [1.0, 2.0, 0.5]
LABELS = np.array(["a", "b", "c", "d", "e"])[rng.integers(0, 5, size=400)]
CORNERS = np.repeat([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0], [9.0, 9.0]], 40, axis=0)
FOUR = CORNERS + np.random.default_rng(1).normal(size=(160, 2))


def test_scores_are_scikit_learns():
    quality = cluster_quality(X, LABELS)
    assert_allclose(quality.silhouettes, peers.silhouette_samples(X, LABELS), rtol=0, atol=SUMMED)
    assert quality.silhouette == pytest.approx(peers.silhouette_score(X, LABELS), rel=SUMMED)
    peer = peers.calinski_harabasz_score(X, LABELS)
    assert quality.calinski_harabasz == pytest.approx(peer, rel=SUMMED)
    assert quality.davies_bouldin == pytest.approx(
        peers.davies_bouldin_score(X, LABELS), rel=SUMMED
    )


def test_a_cluster_of_one_row_has_silhouette_zero():
    labels = np.array([0, 0, 0, 1, 1, 2])
    rows = np.array([[0.0], [1.0], [2.0], [7.0], [8.0], [20.0]])
    quality = cluster_quality(rows, labels)
    assert quality.silhouettes[5] == 0
    assert_allclose(
        quality.silhouettes, peers.silhouette_samples(rows, labels), rtol=0, atol=SUMMED
    )
    assert quality.silhouettes[0] == pytest.approx((7.5 - 1.5) / 7.5, rel=SUMMED)  # by hand


def test_a_row_of_weight_w_is_w_copies():
    weight = rng.integers(0, 4, size=400)
    copies = np.repeat(np.arange(400), weight)
    weighted = cluster_quality(X, LABELS, sample_weight=weight)
    repeated = cluster_quality(X[copies], LABELS[copies])
    for name in (
        "within", "within_by_pairs", "between", "calinski_harabasz", "davies_bouldin", "silhouette"
    ):  # fmt: skip
        assert getattr(weighted, name) == pytest.approx(getattr(repeated, name), rel=SUMMED), name
    assert_allclose(weighted.silhouettes[copies], repeated.silhouettes, rtol=0, atol=SUMMED)
    assert np.isnan(weighted.silhouettes[weight == 0]).all()


def test_units_threads_and_offsets_are_not_felt():
    big = np.random.default_rng(0).normal(size=(9000, 2))
    labels = (big[:, 0] > 0).astype(int)
    one, two = (cluster_quality(big, labels, n_jobs=n) for n in (1, 2))
    assert_array_equal(one.silhouettes, two.silhouettes)
    assert one.within == two.within
    for factor in (1e200, 1e-200):
        other = cluster_quality(X * factor, LABELS)
        assert_allclose(
            other.silhouettes, cluster_quality(X, LABELS).silhouettes, rtol=0, atol=SUMMED
        )
        for name in ("calinski_harabasz", "davies_bouldin"):
            here = getattr(cluster_quality(X, LABELS), name)
            assert getattr(other, name) == pytest.approx(here, rel=SUMMED)
    far = cluster_quality(X + 1e9, LABELS)
    # X + 1e9 is rounded to 6e-8; the mean of 400 silhouettes feels less of it than each.
    assert far.silhouette == pytest.approx(cluster_quality(X, LABELS).silhouette, abs=1e-7)


def test_of_many_clusters_no_table_is_kept():
    rows, labels = np.random.default_rng(0).normal(size=(4000, 2)), np.arange(4000) // 2
    tracemalloc.start()
    quality = cluster_quality(rows, labels)
    assert quality.silhouette < 0 < quality.davies_bouldin
    used = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert used < 4000 * 2000  # bytes: an eighth of n x K numbers


def test_it_is_told_in_a_line():
    quality = cluster_quality([[0.0], [2.0], [10.0], [12.0]], ["a", "a", "b", "b"])
    told = "2 cluster(s) of 4 rows: sums of squares within 4, between 100, total 104"
    assert str(quality) == repr(quality) == told


def test_what_cannot_be_judged_is_said():
    one = cluster_quality(X, np.zeros(400))
    for name in ("silhouette", "calinski_harabasz", "davies_bouldin"):
        with pytest.raises(DataError, match="one cluster"):
            getattr(one, name)
    with pytest.raises(DataError, match="fewer"):
        _ = cluster_quality(X[:5], np.arange(5)).calinski_harabasz
    with pytest.raises(DataError, match="labels have shape"):
        cluster_quality(X, LABELS[:-1])
    for missing in (np.nan, None):
        with pytest.raises(DataError, match=r"1 missing value.*row 3"):
            cluster_quality(X[:4], [0, 0, 1, missing])
    with pytest.raises(DataError, match="labels mix several types"):
        cluster_quality(X[:4], np.array([0, "a", 0, "a"], dtype=object))


def test_weights_that_make_less_than_a_row_of_a_cluster_are_refused():
    shares = np.full(400, 1 / 400)
    light = cluster_quality(X, LABELS, sample_weight=shares)
    for name in ("silhouette", "silhouettes", "calinski_harabasz"):
        with pytest.raises(DataError, match="5 clusters"):
            getattr(light, name)
    plain = cluster_quality(X, LABELS)
    assert light.davies_bouldin == pytest.approx(plain.davies_bouldin, rel=SUMMED)
    unrelated = np.random.default_rng(0).integers(0, 2, size=(2, 100))
    with pytest.raises(DataError, match="weights sum to 1 for 2 clusters"):
        adjusted_rand(*unrelated, sample_weight=np.full(100, 0.01))
    assert adjusted_rand([0, 1, 2], [2, 0, 1], sample_weight=[1, 0, 1]) == 1  # each row by itself


def test_picture_of_silhouettes():
    quality = cluster_quality(X, LABELS)
    ax = quality.plot()
    assert [text.get_text() for text in ax.texts] == list("abcde")
    assert ax.lines[0].get_xdata()[0] == pytest.approx(quality.silhouette, rel=SUMMED)
    ax.figure.draw_without_rendering()
    legend = ax.get_legend().get_frame().get_window_extent()
    assert legend.y0 >= ax.get_window_extent().y1  # above the bars, not on them


@pytest.mark.parametrize("seed", range(5))
def test_the_adjusted_rand_index_is_scikit_learns(seed):
    rng = np.random.default_rng(seed)
    one = rng.integers(0, 4, size=60)
    other = np.where(rng.random(60) < 0.7, one, rng.integers(0, 3, size=60))
    assert adjusted_rand(one, other) == pytest.approx(
        peers.adjusted_rand_score(one, other), rel=SUMMED
    )
    weight = rng.integers(0, 3, size=60)
    copies = np.repeat(np.arange(60), weight)
    found = adjusted_rand(one, other, sample_weight=weight)
    assert found == pytest.approx(adjusted_rand(one[copies], other[copies]), rel=SUMMED)


@pytest.mark.parametrize("by", get_args(Measure))
def test_every_measure_finds_four_clusters(by):
    """Nine deviations apart: nothing but four is stable, bends, or stands out."""
    found = number_of_clusters(
        KMeans(n_init=5), FOUR, range(1, 8), by=by, n_samples=10, random_state=0
    )
    if by == "held_out":  # more centroids still reconstruct better, by little
        assert found.score[3] < 0.2 * found.score[2]
        assert found.score[3] - found.score[-1] < found.score[2] - found.score[3]
    else:
        assert found.n_clusters == 4
        assert len(found.best_estimator_.cluster_centers_) == 4
        assert str(found).startswith(f"4 clusters, by {by}")
    ax = found.plot()
    assert ax.get_xlabel() == "number of clusters"


def test_the_gap_of_uniform_rows_is_greatest_at_one_cluster():
    uniform = np.random.default_rng(2).random((150, 2)) * [6.0, 1.0]  # along its principal axes
    found = number_of_clusters(KMeans(n_init=3), uniform, range(1, 5), by="gap", random_state=0)
    assert found.n_clusters == 1
    # Reference samples have the distribution of the rows: a gap is a few deviations at most.
    assert (np.abs(found.score) < 5 * found.standard_error).all()


def test_the_gap_is_found_of_fewer_rows_than_columns():
    X = np.random.default_rng(0).normal(size=(10, 20))
    X[5:] += 9.0
    found = number_of_clusters(KMeans(n_init=3), X, range(1, 4), by="gap", random_state=0)
    assert found.n_clusters == 2


@pytest.mark.parametrize("by", ["gap", "stability"])
def test_samples_are_the_same_for_every_n_jobs(by):
    one, two = (
        number_of_clusters(
            KMeans(n_init=2), FOUR, [2, 3], by=by, n_samples=4, random_state=0, n_jobs=n
        )
        for n in (1, 2)
    )
    assert_array_equal(one.score, two.score)


@pytest.mark.parametrize("by", get_args(Measure))
def test_neither_rows_of_weight_zero_nor_units_choose_the_number(by):
    def chosen(X, **settings):
        return number_of_clusters(
            KMeans(), X, [1, 2, 4, 5], by=by, n_samples=3, random_state=0, **settings
        )

    one = chosen(FOUR)
    more = np.vstack([FOUR, 50 * FOUR[:9]])
    other = chosen(more, sample_weight=np.r_[np.ones(160), np.zeros(9)])
    assert_allclose(other.score, one.score, rtol=SUMMED)
    assert len(other.best_estimator_.labels_) == 169
    for factor in (1e200, 1e-200):
        far = chosen(FOUR * factor)
        assert far.n_clusters == one.n_clusters
        size = np.abs(far.best_estimator_.cluster_centers_).max()
        assert 5 * factor < size < 15 * factor
        if by != "held_out":  # which is in squared units
            assert_allclose(far.score, one.score, rtol=SUMMED, atol=SUMMED)


@pytest.mark.parametrize("by", sorted({*get_args(Measure)} - {"elbow"}))
def test_as_many_clusters_as_rows_are_passed_over(by):
    found = number_of_clusters(KMeans(), X[:10], range(2, 11), by=by, random_state=0)
    assert np.isnan(found.score[-1])
    assert np.isfinite(found.score[0])
    assert found.n_clusters < 10


def test_a_scale_free_bend():
    W = np.array([100.0, 40.0, 10.0, 8.0, 7.0, 6.5])
    K = np.arange(1.0, 7.0)
    assert_allclose(curvature(K, W)[1:-1], curvature(10 * K, 1e5 * W)[1:-1], rtol=SUMMED)
    assert np.nanargmax(curvature(K, W)) == 2


def test_other_clusterers_and_weights_are_taken():
    found = number_of_clusters(StochasticKMeans(), FOUR, [2, 3, 4, 5], random_state=0)
    assert found.n_clusters == 4
    weight = np.r_[np.ones(80), np.zeros(80)]  # two clusters are left
    found = number_of_clusters(KMeans(n_init=3), FOUR, [2, 3, 4], sample_weight=weight)
    assert found.n_clusters == 2
    for wrong in (
        {"by": "bic"}, {"values": [3, 2]}, {"values": [2]}, {"values": 5}, {"n_samples": 0}
    ):  # fmt: skip
        with pytest.raises(ParameterError, match=next(iter(wrong))):
            number_of_clusters(KMeans(), FOUR, **wrong)
    with pytest.raises(ParameterError, match="AgglomerativeClustering takes no sample_weight"):
        number_of_clusters(AgglomerativeClustering(), FOUR)
    with pytest.raises(ParameterError, match=r"the class KMeans; give an object of it, KMeans\(\)"):
        number_of_clusters(KMeans, FOUR)
    for by in ("gap", "elbow"):
        with pytest.raises(ParameterError, match="pooled"):
            number_of_clusters(KMeans(covariance="pooled"), FOUR, by=by)
    with pytest.raises(
        ParameterError, match=r"no n_clusters.*number_of_components is for mixtures"
    ):
        number_of_clusters(GaussianMixture(), FOUR)


def test_measures_that_threads_found_can_be_copied_and_pickled():
    rng = np.random.default_rng(0)
    quality = cluster_quality(rng.normal(size=(600, 2)), rng.integers(0, 3, 600), n_jobs=2)
    found = quality.silhouette
    for again in (deepcopy(quality), pickle.loads(pickle.dumps(quality))):
        assert again.silhouette == found
        assert again.davies_bouldin == quality.davies_bouldin  # which threads find anew
