"""Clusterers in files: they come back as they were, and what is no clusterer is refused."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from empirisk import KMeans, StochasticKMeans, Tuned, load, save
from empirisk.runtime.errors import DataError
from model_file.altering import altered, narrower, put, shorter

X = np.random.default_rng(0).normal(size=(80, 3))
PLAIN = KMeans(4, random_state=0).fit(X)
STEPS = KMeans(3, keep_steps=True, random_state=0).fit(X)
POOLED = KMeans(2, covariance="pooled", random_state=0).fit(X)
STREAM = StochasticKMeans(3, random_state=0).fit(X)
TUNED = Tuned(KMeans(random_state=0), values=[2, 3], cv=3).fit(X)


@pytest.mark.parametrize("model", [PLAIN, STEPS, POOLED, STREAM, TUNED], ids=str)
def test_a_model_comes_back(tmp_path, model):
    save(model, tmp_path / "model")
    again = load(tmp_path / "model")
    assert_array_equal(again.predict(X), model.predict(X))
    assert_array_equal(again.transform(X), model.transform(X))
    assert not hasattr(again, "labels_")  # no data row by row


def test_a_stream_goes_on(tmp_path):
    save(STREAM, tmp_path / "model")
    one, other = load(tmp_path / "model"), load(tmp_path / "model")
    assert_array_equal(
        one.partial_fit(X[:9]).cluster_centers_, other.partial_fit(X[:9]).cluster_centers_
    )
    assert one.n_steps_ == STREAM.n_steps_ + 9


def test_the_trajectory_comes_back(tmp_path):
    save(STEPS, tmp_path / "model")
    again = load(tmp_path / "model").trajectory_
    assert_array_equal(again.assigned, STEPS.trajectory_.assigned)
    assert_array_equal(again.centers, STEPS.trajectory_.centers)


ALTERATIONS = [
    (PLAIN, "cluster_centers_", narrower),
    (PLAIN, "cluster_centers_", put((0, 0), np.nan)),
    (PLAIN, "cluster_centers_", lambda array: array[:0]),
    (PLAIN, "cluster_centers_", lambda array: array.astype(np.float32)),
    (PLAIN, "trajectory_.assigned", shorter),
    (STEPS, "trajectory_.centers", shorter),
    (STEPS, "trajectory_.centers", lambda array: array[0]),
    (POOLED, "whitening_", narrower),
    (POOLED, "whitening_", put((0, 0), np.inf)),
    (STREAM, "counts_", shorter),
    (STREAM, "counts_", put(0, -1.0)),
]


@pytest.mark.parametrize(("model", "way", "change"), ALTERATIONS)
def test_what_was_altered_is_refused(tmp_path, model, way, change):
    altered(tmp_path / "model", model, way, change)
    with pytest.raises(DataError):
        load(tmp_path / "model")
