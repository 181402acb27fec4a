"""StochasticKMeans: means of what came, steps that settle or follow, pieces of a stream."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from empirisk import KMeans, StochasticKMeans
from empirisk.runtime.errors import ParameterError
from tolerances import SOLVED, SUMMED

rng = np.random.default_rng(0)
CORNERS = np.array([[0.0, 0.0], [8.0, 0.0], [0.0, 8.0]])
X = np.repeat(CORNERS, 200, axis=0) + rng.normal(size=(600, 2))
X = X[rng.permutation(600)]


def test_with_steps_of_one_over_count_centroids_are_means_of_what_they_received():
    """MacQueen: far apart, each centroid receives its cluster alone."""
    model = StochasticKMeans(3, init=CORNERS).partial_fit(X)
    for k in range(3):
        own = X[model.labels_ == k].mean(axis=0)
        assert_allclose(model.cluster_centers_[k], own, rtol=SOLVED)
    assert_array_equal(model.counts_, np.bincount(model.labels_))


@pytest.mark.parametrize("step", ["count", "constant", "decaying"])
def test_a_stream_in_pieces_is_the_whole_stream(step):
    whole = StochasticKMeans(3, init=CORNERS, step=step).partial_fit(X)
    pieces = StochasticKMeans(3, init=CORNERS, step=step)
    for start in range(0, 600, 150):
        pieces.partial_fit(X[start : start + 150])
    # Both are exact but for the unit and the origin, which the first piece gives.
    assert_allclose(pieces.cluster_centers_, whole.cluster_centers_, rtol=1e-9)
    assert pieces.n_steps_ == whole.n_steps_ == 600
    assert (pieces.n_iter_, whole.n_iter_) == (4, 1)


def test_it_comes_close_to_the_minimum_that_lloyd_finds():
    best = KMeans(3, n_init=5, random_state=0).fit(X).inertia_
    for step in ("count", "decaying"):
        model = StochasticKMeans(3, step=step, max_iter=10, random_state=0).fit(X)
        # A centroid of 200 rows is within a deviation / sqrt(200) of its mean at worst.
        assert best <= model.inertia_ < 1.02 * best
        assert model.inertia_ == pytest.approx(-model.score(X), rel=SUMMED)


def test_constant_steps_follow_and_steps_by_count_remember():
    moved = X + 3.0
    follows = StochasticKMeans(3, init=CORNERS, step="constant", step_size=0.1)
    remembers = StochasticKMeans(3, init=CORNERS)
    for model in (follows, remembers):
        model.partial_fit(X).partial_fit(moved)
    # 200 steps of 0.1 forget the past; half of all rows came from each place.
    assert np.abs(follows.cluster_centers_ - (CORNERS + 3)).max() < 1.0
    # The mean of 200 rows has a standard error of 0.07. While centres are on their way, some 20 of
    # 400 rows, about 2 from their place, go to a neighbour: 0.1. So three standard errors are left;
    # the seed is fixed.
    assert_allclose(remembers.cluster_centers_, CORNERS + 1.5, rtol=0, atol=0.3)


@pytest.mark.parametrize("step", ["count", "constant"])
def test_a_weight_is_so_many_copies_one_after_the_other(step):
    weight = rng.integers(0, 4, size=600)
    copies = np.repeat(np.arange(600), weight)
    weighted = StochasticKMeans(3, init=CORNERS, step=step).partial_fit(X, sample_weight=weight)
    repeated = StochasticKMeans(3, init=CORNERS, step=step).partial_fit(X[copies])
    assert_allclose(weighted.cluster_centers_, repeated.cluster_centers_, rtol=SOLVED)
    assert weighted.n_steps_ == repeated.n_steps_ == weight.sum()
    assert len(weighted.labels_) == 600


def test_units_and_offsets_are_not_felt():
    one = StochasticKMeans(3, random_state=0).fit(X)
    for factor in (1e200, 1e-200):
        other = StochasticKMeans(3, random_state=0).fit(X * factor)
        assert_array_equal(other.labels_, one.labels_)
        assert_allclose(other.cluster_centers_ / factor, one.cluster_centers_, rtol=SOLVED)
    far = StochasticKMeans(3, random_state=0).fit(X + 1e9)
    assert_array_equal(far.labels_, one.labels_)


def test_rows_of_any_size_may_follow():
    stream = StochasticKMeans(3, random_state=0).partial_fit(X * 1e-200)
    for factor in (1e150, 1e300):
        stream.partial_fit(X * factor)
        assert np.isfinite(stream.cluster_centers_).all()
    assert np.abs(stream.cluster_centers_).max() > 1e299


@pytest.mark.parametrize(
    "settings",
    [
        {"step": "fast"},
        {"step_size": 0.0},
        {"power": -1},
        {"max_iter": 0},
        {"init": "rows"},
        {"init": len},
    ],
    ids=str,
)
def test_wrong_parameters_are_named(settings):
    with pytest.raises(ParameterError, match=next(iter(settings))):
        StochasticKMeans(3, **settings).fit(X)
    with pytest.raises(ParameterError, match="init has shape"):
        StochasticKMeans(3, init=CORNERS[:2]).fit(X)


def test_the_number_of_clusters_cannot_change_between_parts():
    stream = StochasticKMeans(2, random_state=0).partial_fit(X)
    with pytest.raises(ParameterError, match="n_clusters is 3, and there are 2 centroids"):
        stream.set_params(n_clusters=3).partial_fit(X)
    assert stream.fit(X).cluster_centers_.shape == (3, X.shape[1])
