"""k-means and silhouettes of R on iris.

The numbers are in clusters.json, made by clusters.R.
"""

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from empirisk import KMeans, cluster_quality, number_of_clusters
from tolerances import SUMMED

R = json.loads((Path(__file__).parent / "clusters.json").read_text())
X = np.array(R["X"]).reshape(150, 4)
DIGITS = 1e-13  # R prints 15


def test_lloyd_from_the_same_rows_as_in_r():
    model = KMeans(3, init=X[R["start_rows"]], criterion="stability").fit(X)
    assert_array_equal(model.labels_, R["labels"])
    assert_allclose(model.cluster_centers_.ravel(), R["centers"], rtol=DIGITS)
    assert model.inertia_ == pytest.approx(sum(R["withinss"]), rel=DIGITS)


def test_sums_of_squares_of_r():
    quality = cluster_quality(X, R["labels"])
    assert quality.within == pytest.approx(sum(R["withinss"]), rel=DIGITS)
    assert quality.between == pytest.approx(R["betweenss"][0], rel=DIGITS)
    assert quality.total == pytest.approx(R["totss"][0], rel=DIGITS)


@pytest.mark.parametrize("k", [3, 5])
def test_the_best_of_many_starts_of_hartigan_and_wong_is_reached(k):
    best = KMeans(k, n_init=10, random_state=0).fit(X).inertia_
    assert best == pytest.approx(R[f"hartigan_wong_{k}"][0], rel=DIGITS)


def test_silhouettes_of_r():
    silhouettes = cluster_quality(X, R["labels"]).silhouettes
    assert_allclose(silhouettes, R["silhouettes"], rtol=0, atol=SUMMED)


def test_log_within_of_the_gap_statistic_of_r():
    found = number_of_clusters(KMeans(n_init=10, random_state=0), X, [1, 2, 3], by="elbow")
    assert_allclose(np.log(found.within / 2), R["log_within"], rtol=DIGITS)
