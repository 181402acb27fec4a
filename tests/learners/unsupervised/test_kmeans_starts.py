"""Starts of k-means: by name, array and function, and what comes of several."""

import numpy as np
import pytest
import sklearn.cluster as peers
from numpy.testing import assert_array_equal
from sklearn.datasets import load_digits

from clumped_rows import IRIS, clumps
from empirisk import KMeans
from empirisk.learners.team import Team
from empirisk.learners.unsupervised import seeding
from empirisk.learners.unsupervised.best_of_starts import Descent, Minimum, different
from empirisk.learners.unsupervised.placed_rows import PlacedRows
from empirisk.runtime.streams import generator, spawn
from tolerances import SUMMED


def test_exchanges_mend_starts_in_which_two_centres_share_a_cluster():
    """Thirty well separated clusters: k-means++ alone misses one in most runs."""
    grid = np.array([[x, y] for x in range(6) for y in range(5)]) * 10.0
    X = np.repeat(grid, 20, axis=0) + np.random.default_rng(0).normal(size=(600, 2)) * 0.3
    for seed in range(10):
        model = KMeans(30, random_state=seed).fit(X)
        assert_array_equal(np.bincount(model.labels_), 20)


@pytest.mark.parametrize("init", ["k-means++", "random"])
@pytest.mark.parametrize("k", [3, 10])
def test_the_best_of_ten_starts_is_not_above_scikit_learns(k, init):
    for X in (IRIS, load_digits().data[:600], clumps(600, 2, 15, apart=4.0)):
        ours = KMeans(k, init=init, n_init=10, random_state=0).fit(X).inertia_
        peer = peers.KMeans(k, init=init, n_init=10, random_state=0).fit(X).inertia_
        assert ours <= peer * (1 + 1e-12)


@pytest.mark.parametrize("init", ["k-means++", "random", "random_partition"])
def test_recombined_starts_are_never_above_the_best_of_them(init):
    X = clumps(300, 3, 12, apart=2.0)
    placed = PlacedRows.of(X, np.ones(300), Team(1))
    for seed in range(10):
        starts = [
            seeding.start(init, placed, 12, generator(s), Team(1), exchanges=False)
            for s in spawn(seed, 4)
        ]
        ends = [
            KMeans(12, init=placed.put_back(centres), criterion="stability").fit(X).inertia_
            for centres in starts
        ]
        best = KMeans(12, init=init, n_init=4, random_state=seed).fit(X)
        assert best.inertia_ <= min(ends) * (1 + 1e-12)
        square = ((X[:, None] - best.cluster_centers_) ** 2).sum(axis=2)
        assert_array_equal(best.labels_, square.argmin(axis=1))
        assert best.inertia_ == pytest.approx(square.min(axis=1).sum(), rel=SUMMED)
        assert best.trajectory_.updated[-1] == pytest.approx(best.inertia_, rel=SUMMED)
        assert len(best.trajectory_.updated) == best.n_iter_


@pytest.mark.parametrize(("n", "p", "k"), [(300, 2, 12), (2500, 5, 6), (40, 3, 20)])
def test_ways_down_at_a_stroke_are_those_step_by_step(n, p, k):
    X = clumps(n, p, k, apart=1.0)
    weight = np.random.default_rng(0).uniform(0.5, 2.0, size=n)
    placed = PlacedRows.of(X, weight, Team(1))
    down = Descent(placed, 300, Team(2))
    starts = np.stack([seeding.random_rows(placed, k, generator(seed)) for seed in range(6)])
    for bar, near in ((np.inf, np.inf), (np.inf, 0.0), (0.2 * placed.total, np.inf)):
        minima, iterations = down.minima(starts, bar, near)
        for minimum, n_iter in zip(minima, iterations, strict=True):
            way = down.step_by_step(minimum.start, bar, near)
            assert (way.within, len(way.steps)) == (minimum.within, n_iter)
            assert_array_equal(way.centres, minimum.centres)


def test_of_minima_that_are_alike_the_first_is_kept_but_for_real_gains():
    ends = [
        Minimum(k, within, np.zeros((1, 1)), np.zeros((1, 1)), np.inf)
        for k, within in enumerate([3.0, 2.0, 2.0 * (1 - 1e-12), 5.0, 3.0 * (1 - 1e-7), 4.0])
    ]
    assert [end.number for end in different(ends, 3, apart=1e-6)] == [1, 4, 5]
    assert [end.number for end in different(ends, 3, apart=0.4)] == [1, 4, 3]


@pytest.mark.parametrize("init", ["k-means++", "random"])
def test_of_several_starts_no_single_row_can_lower_the_sum_of_squares(init):
    X = clumps(120, 2, 4, apart=1.0)
    model = KMeans(4, init=init, n_init=3, random_state=0).fit(X)
    assert_array_equal(model.labels_, model.predict(X))
    for i in range(120):
        for k in range(4):
            other = model.labels_.copy()
            other[i] = k
            within = sum(
                ((X[other == m] - X[other == m].mean(axis=0)) ** 2).sum() for m in range(4)
            )
            assert within >= model.inertia_ * (1 - 1e-9)  # a move must be worth that much


def test_starts_by_name_array_and_function():
    def first_rows(X, n_clusters, random_state):
        return X[:n_clusters] + 0 * random_state.uniform()

    given = KMeans(3, init=IRIS[:3]).fit(IRIS)
    called = KMeans(3, init=first_rows, n_init=1).fit(IRIS)
    assert_array_equal(given.labels_, called.labels_)
    partition = KMeans(3, init="random_partition", n_init=1, keep_steps=True, random_state=0)
    first = partition.fit(IRIS).trajectory_.centers[0]
    assert (np.abs(first - IRIS.mean(axis=0)) < 1.0).all()  # means of 50 rows at random
    drawn = KMeans(3, init="random", n_init=1, keep_steps=True, random_state=0).fit(IRIS)
    for centre in drawn.trajectory_.centers[0]:
        assert np.abs(IRIS - centre).max(axis=1).min() < SUMMED
