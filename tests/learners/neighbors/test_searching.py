"""Every way to search finds what looking at all pairs finds: the same rows, the same distances."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from empirisk.learners.neighbors.searching import Folds, MixedSearch, PointSearch
from tolerances import LAST_BITS

NORMS = ["euclidean", "manhattan", "chebyshev", "minkowski"]
ALGORITHMS = ["kd_tree", "brute", "auto"]
POWER = 3.0
KINDS = ["normal", "integers", "offset", "one place", "outlier", "two places"]


def table(kind, n, p, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return {
        "normal": X,
        "integers": np.round(X),  # full of ties
        "offset": 1e-3 * X + 1e6,  # where |x|^2 - 2xz + |z|^2 has no digit left
        "one place": np.zeros((n, p)),
        "outlier": np.where(np.arange(n)[:, None] == 3, 1e6, X),
        "two places": np.where(np.arange(n)[:, None] % 2 == 0, 1e5, -1e5) + np.round(X, 2),
    }[kind]


def all_pairs(X, points, k, norm, folds=None):
    """The twin: all gaps, terms added in order, a stable sort."""
    apart = np.abs(points[:, None] - X)
    powers = {"euclidean": apart * apart, "manhattan": apart, "minkowski": apart**POWER}
    gaps = apart.max(axis=2) if norm == "chebyshev" else powers[norm].cumsum(axis=2)[:, :, -1]
    if folds is not None:
        gaps = np.where(folds.points[:, None] == folds.rows, np.inf, gaps)
    order = np.argsort(gaps, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(gaps, order, axis=1), order


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize(
    "kind", ["normal", "integers", "offset", "one place", "outlier", "two places"]
)
@pytest.mark.parametrize("p", [1, 3, 10])
def test_all_ways_find_what_all_pairs_say(kind, norm, algorithm, p):
    X, points = table(kind, 1200, p), table(kind, 90, p, seed=1)
    gaps, rows = all_pairs(X, points, 7, norm)
    distances = {"euclidean": np.sqrt(gaps), "minkowski": np.cbrt(gaps)}.get(norm, gaps)
    found = PointSearch(X, norm, POWER, algorithm, 30).nearest(points, 7)
    assert_array_equal(found.rows, rows)
    if norm == "minkowski":
        assert_allclose(
            found.distances, distances, rtol=1e-14
        )  # a power may differ in its last bit
    else:
        assert_array_equal(found.distances, distances)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("n_points", [5, 300])
def test_a_point_looks_past_the_rows_of_its_fold(algorithm, n_points):
    X, points = table("integers", 1100, 4), table("integers", n_points, 4, seed=1)
    rng = np.random.default_rng(2)
    folds = Folds(*(rng.integers(0, 3, size).astype(np.int32) for size in (1100, n_points)))
    _, rows = all_pairs(X, points, 20, "euclidean", folds)
    search = PointSearch(X, "euclidean", 2.0, algorithm, 10)
    assert_array_equal(search.nearest(points, 20, folds=folds).rows, rows)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_where_rows_run_out_there_is_nobody(algorithm):
    X = table("normal", 30, 2)
    fold = np.repeat(np.arange(3, dtype=np.int32), 10)
    found = PointSearch(X, "euclidean", 2.0, algorithm, 4).nearest(X, 25, folds=Folds(fold, fold))
    assert (found.rows[:, :20] >= 0).all()
    assert (found.rows[:, 20:] == -1).all()
    assert np.isinf(found.distances[:, 20:]).all()


@pytest.mark.parametrize("kind", ["normal", "integers", "offset", "outlier", "two places"])
@pytest.mark.parametrize("k", [1, 10, 100])
def test_products_of_many_columns_leave_out_no_near_row(kind, k):
    X, points = table(kind, 3000, 40), table(kind, 60, 40, seed=1)
    gaps, rows = all_pairs(X, points, k, "euclidean")
    found = PointSearch(X, "euclidean", 2.0, "brute", 60).nearest(points, k)
    assert_array_equal(found.rows, rows)
    assert_array_equal(found.distances, np.sqrt(gaps))


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("norm", ["euclidean", "minkowski"])
@pytest.mark.parametrize("n_points", [5, 70])
def test_distances_whose_powers_are_not_within_float64(norm, algorithm, n_points):
    """Seen from far away, and where rows differ by less than the root of the least number."""
    X, points = table("normal", 1200, 3), table("normal", n_points, 3, seed=1)
    search = PointSearch(X, norm, POWER, algorithm, 30)
    found = search.nearest(points * 1e160, 4)
    root = np.linalg.norm(points, 2 if norm == "euclidean" else POWER, axis=1)
    assert_allclose(found.distances / 1e160, np.repeat(root[:, None], 4, axis=1), rtol=LAST_BITS)
    assert_array_equal(found.rows, np.tile(np.arange(4), (n_points, 1)))
    X[:, 0] *= 1e-170
    X[:, 1:], points[:] = 1.0, [0.0, 1.0, 1.0]
    fold = np.arange(1200, dtype=np.int32) % 2
    folds = Folds(fold, np.zeros(n_points, np.int32))
    found = PointSearch(X, norm, POWER, algorithm, 30).nearest(points, 4, folds=folds)
    rows = np.argsort(np.where(fold == 0, np.inf, np.abs(X[:, 0])))[:4]
    assert_array_equal(found.rows, np.tile(rows, (n_points, 1)))
    assert_allclose(found.distances[0], np.abs(X[rows, 0]), rtol=LAST_BITS)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("k", [1, 49, 200])
def test_short_and_long_lists_are_in_order(algorithm, k):
    X, points = table("normal", 1500, 3), table("normal", 64, 3, seed=1)
    _, rows = all_pairs(X, points, k, "euclidean")
    assert_array_equal(
        PointSearch(X, "euclidean", 2.0, algorithm, 60).nearest(points, k).rows, rows
    )


def test_all_rows_in_all_threads():
    X = table("normal", 1300, 2)
    for algorithm in ALGORITHMS:
        search = PointSearch(X, "euclidean", 2.0, algorithm, 60)
        one, two = (search.nearest(X, 5, n_jobs=jobs) for jobs in (1, 2))
        assert_array_equal(one.rows, two.rows)
        assert_array_equal(one.distances, two.distances)
        assert_array_equal(one.rows[:, 0], np.arange(len(X)))
        assert_array_equal(one.distances[:, 0], 0.0)


def gower(x, z, category, span):
    total, common = 0.0, 0
    for j in range(len(x)):
        if np.isnan(x[j]) or np.isnan(z[j]):
            continue
        common += 1
        if category[j] or span[j] == 0:
            total += x[j] != z[j]
        else:
            total += min(abs(x[j] - z[j]) / span[j], 1.0)
    return total / common if common else 1.0


def test_gowers_distance_is_that_of_its_definition():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=300), rng.integers(0, 3, 300), np.full(300, 2.0)])
    X[rng.random(X.shape) < 0.2] = np.nan
    X[5] = np.nan
    category, span = np.array([False, True, False]), np.array([1.5, 0.0, 0.0])
    gaps = np.array([[gower(x, z, category, span) for z in X] for x in X[:40]])
    order = np.argsort(gaps, axis=1, kind="stable")[:, :9]
    found = MixedSearch(X, category, span).nearest(X[:40], 9)
    assert_array_equal(found.rows, order)
    assert_allclose(found.distances, np.take_along_axis(gaps, order, axis=1), rtol=LAST_BITS)
