"""The kernels of nearest neighbours, compiled and not, beside naive lines."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from empirisk.compiled.neighbors import (
    averaging,
    gower,
    kd_tree,
    nearest_list,
    scanning,
    screening,
    tree_search,
)
from empirisk.compiled.neighbors.distances import scan_distances, to_distances
from empirisk.compiled.neighbors.gaps import fill_buckets
from empirisk.compiled.neighbors.mapping import map_rows
from empirisk.learners.neighbors.searching import NO_FOLDS, Blocks, Buckets, Tree
from tolerances import LAST_BITS, SUMMED

rng = np.random.default_rng(0)
X, POINTS = np.round(rng.normal(size=(90, 5)), 1), np.round(rng.normal(size=(7, 5)), 1)
FOLD = rng.integers(0, 3, 90).astype(np.int32)
OWN = rng.integers(0, 3, 7).astype(np.int32)


def ways(kernel):
    """Compiled, and the Python original."""
    return pytest.mark.parametrize("kernel", [kernel, kernel.py_func], ids=["compiled", "python"])


def room(k=6):
    return np.empty((7, k)), np.empty((7, k), np.int64)


def nearest(k=6, folds=True):
    gaps = ((POINTS[:, None] - X) ** 2).cumsum(axis=2)[:, :, -1]
    if folds:
        gaps = np.where(OWN[:, None] == FOLD, np.inf, gaps)
    order = np.argsort(gaps, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(gaps, order, axis=1), order


@ways(tree_search.search_tree)
@pytest.mark.parametrize("folds", [False, True])
def test_the_tree(kernel, folds):
    tree, (gaps, rows) = Tree.of(X, 5), room()
    fold, own = (FOLD[tree.buckets.order], OWN) if folds else (NO_FOLDS, NO_FOLDS)
    seen = kernel(
        *tree.buckets, tree.depths, tree.low, tree.high, fold, POINTS, own, 0, 2.0, gaps, rows
    )
    assert_array_equal(rows, nearest(folds=folds)[1])
    assert_array_equal(gaps, nearest(folds=folds)[0])
    assert seen <= 7 * 90


@ways(tree_search.search_tree)
@pytest.mark.parametrize("norm", range(4))
def test_of_rows_equally_far_the_first_are_found(kernel, norm):
    table = np.random.default_rng(1).integers(0, 3, size=(200, 2)).astype(float)
    points = np.array([[0.0, 1.0], [1.0, 1.0], [5.0, 2.0], [0.5, 0.5]])
    tree, gaps, rows = Tree.of(table, 6), np.empty((4, 40)), np.empty((4, 40), np.int64)
    kernel(
        *tree.buckets, tree.depths, tree.low, tree.high, NO_FOLDS, points, NO_FOLDS, norm, 3.0,
        gaps, rows,
    )  # fmt: skip
    apart = np.abs(points[:, None] - table)
    known = (apart**2, apart, apart.max(axis=2, keepdims=True), apart**3)[norm].sum(axis=2)
    assert_array_equal(rows, np.argsort(known, axis=1, kind="stable")[:, :40])
    assert_array_equal(gaps, np.take_along_axis(known, rows, axis=1))


@ways(screening.screen_rows)
def test_products(kernel):
    blocks, (gaps, rows) = Blocks.of(X), room()
    sides, sizes = blocks.point_side(POINTS)
    kernel(
        POINTS, sides, sizes, X, blocks.cells, blocks.unit**2, blocks.slack, FOLD, OWN, gaps, rows
    )
    assert_array_equal(rows, nearest()[1])
    assert_array_equal(gaps, nearest()[0])


@ways(screening.fill_blocks)
def test_blocks_of_products(kernel):
    mean, cells = X.mean(axis=0), np.zeros((1, 6, screening.ROWS), np.float32)
    kernel(X, mean, 0.5, 0.9, cells)
    Z = (X - mean) / 2
    assert_array_equal(cells[0, :5, :90].T, Z.astype(np.float32))
    assert_allclose(cells[0, 5, :90], 0.9 * (Z * Z).sum(axis=1), rtol=1e-7)  # single precision


@ways(screening.farthest_from)
def test_the_largest_coordinate(kernel):
    assert kernel(X, np.ones(5)) == np.abs(X - 1).max()
    assert kernel(X / 64, np.zeros(5)) == np.abs(X).max() / 64


@ways(scanning.scan_rows)
@pytest.mark.parametrize("k", [6, 60])
@pytest.mark.parametrize("folds", [False, True])
def test_scanning(kernel, k, folds):
    gaps, rows = room(k)
    fold, own = (FOLD, OWN) if folds else (NO_FOLDS, NO_FOLDS)
    kernel(*Buckets.in_order(X), fold, POINTS, own, 0, 2.0, gaps, rows)
    known, order = nearest(k, folds)
    assert_array_equal(gaps, known)
    assert_array_equal(rows, np.where(known < np.inf, order, -1))


@ways(gower.scan_mixed_rows)
def test_mixed_rows(kernel):
    cells = np.where(rng.random(X.shape) < 0.2, np.nan, np.round(X))
    category, span = np.array([True, False, True, False, False]), np.array([0.0, 2, 0, 3, 0])
    gaps, rows = room()
    buckets = Buckets.in_order(cells)
    kernel(*buckets, NO_FOLDS, np.round(POINTS), NO_FOLDS, category, span, gaps, rows)
    x, z = np.round(POINTS)[:, None], cells[None]
    apart = np.where(
        category | (span == 0), x != z, np.minimum(np.abs(x - z) / np.where(span > 0, span, 1), 1)
    )
    expected = np.nanmean(np.where(np.isnan(z), np.nan, apart), axis=2)
    order = np.argsort(expected.round(12), axis=1, kind="stable")[:, :6]
    assert_allclose(gaps, np.take_along_axis(expected, order, axis=1), rtol=LAST_BITS)


@ways(kd_tree.halve_rows)
@pytest.mark.parametrize("n", [83, 86, 90])
def test_halves(kernel, n):
    """Each part is halved across its widest column; part i of 2^d is from i n >> d on."""
    order = np.arange(n)
    kernel(X[:n], 3, order)
    assert_array_equal(np.sort(order), np.arange(n))
    for d in range(3):
        for i in range(2**d):
            begin, middle, end = (a * n >> (d + 1) for a in (2 * i, 2 * i + 1, 2 * i + 2))
            left, right = X[order[begin:middle]], X[order[middle:end]]
            widest = np.ptp(X[order[begin:end]], axis=0).argmax()
            assert left[:, widest].max() <= right[:, widest].min()


@ways(kd_tree.find_boxes)
def test_boxes(kernel):
    low, high = np.full((2, 1, 5, 8), np.inf)
    kernel(X, np.arange(90), np.array([0, 1]), low, high)
    assert_array_equal(low[0, :, 0], X[:45].min(axis=0))
    assert_array_equal(high[0, :, 1], X[45:].max(axis=0))
    assert np.isinf(low[0, :, 2:]).all()


@ways(tree_search.leaves_of)
def test_a_row_is_found_in_its_leaf(kernel):
    rows = np.random.default_rng(1).normal(size=(90, 5))  # no ties: boxes do not touch
    tree, leaf = Tree.of(rows, 5), np.empty(90, np.int64)
    kernel(rows, tree.depths, tree.low, tree.high, leaf)
    for i in range(90):
        assert (
            i in tree.buckets.order[tree.buckets.begin[leaf[i]] : tree.buckets.begin[leaf[i] + 1]]
        )


@pytest.mark.parametrize("norm", range(4))
def test_gaps_to_boxes_are_those_to_their_nearest_points(norm):
    generator = np.random.default_rng(2)
    low, near = generator.normal(size=(3, kd_tree.FAN)), np.empty(kd_tree.FAN)
    high = low + generator.uniform(0, 2, size=low.shape)
    for x in generator.normal(size=(20, 3)) * 2:
        tree_search.gaps_to_boxes(low, high, x, norm, 3.0, near)
        apart = np.abs(np.clip(x[:, None], low, high) - x[:, None])
        known = (apart**2, apart, apart.max(axis=0, keepdims=True), apart**3)[norm].sum(axis=0)
        assert_allclose(near, known, rtol=2e-12)  # Minkowski's has a slack of half of that
        assert (near <= known * (1 + 1e-15)).all()


@pytest.mark.parametrize("seed", range(20))
def test_the_k_nearest_come_first_and_what_is_behind_the_list_stays(seed):
    generator = np.random.default_rng(seed)
    count = 5 + 3 * seed
    distance = np.r_[generator.integers(0, 9, size=count) * 1.0, np.full(count, -1.0)]
    row = np.r_[generator.permutation(count), np.full(count, -1)]
    known = sorted(zip(distance[:count], row[:count], strict=True))
    for k in range(1, count, 4):
        d, i = distance.copy(), row.copy()
        nearest_list.keep_nearest(d, i, count, k)
        assert sorted(zip(d[:k], i[:k], strict=True)) == known[:k]
        assert (d[k - 1], i[k - 1]) == known[k - 1]
        assert sorted(zip(d[k:count], i[k:count], strict=True)) == known[k:]
        assert_array_equal([d[count:], i[count:]], -1)


def test_a_limit_in_single_precision_is_not_below_itself():
    for number in [*np.random.default_rng(0).normal(size=100), 0.25, -3.0]:
        found = screening.rounded_up(number)
        assert isinstance(found, np.float32)
        assert found >= number > np.nextafter(found, np.float32(-np.inf))


def test_the_farthest_of_k_may_be_anywhere_among_them():
    for place in range(3):
        distance = np.array([1.0, 2.0, 3.0, 99.0])
        distance[place] = 9.0
        assert nearest_list.distance_if_full(distance, 3, 3) == 9.0
    assert nearest_list.distance_if_full(distance, 2, 3) == np.inf


def test_the_nearest_of_rows_that_single_precision_cannot_tell_apart():
    product, row, unit, size = np.full(90, np.nan), np.arange(90), 4.0, 1.5
    count, reach = screening.drop_measured(product, row, 90, 6, POINTS[0], size, X, unit)
    assert count == 6
    assert_array_equal(np.sort(row[:6]), np.sort(nearest(folds=False)[1][0]))
    known = nearest(folds=False)[0][0] * unit - size
    assert_allclose(np.sort(product[:6]), known, rtol=LAST_BITS)
    assert reach == pytest.approx(known[-1], rel=SUMMED)


@ways(fill_buckets)
def test_buckets(kernel):
    order, cells = rng.permutation(90), np.zeros((2, 5, 48))
    kernel(X, order, np.array([0, 45, 90]), cells)
    assert_array_equal(cells[1, :, :45].T, X[order[45:]])


@ways(to_distances)
def test_distances(kernel):
    for norm, power, root in ((0, 2.0, 1 / 2), (1, 1.0, 1), (2, 1.0, 1), (3, 3.0, 1 / 3)):
        gaps, lost = np.array([[0.0, 2.0], [3.0, np.inf]]), np.empty(2, bool)
        expected = gaps**root
        kernel(gaps, np.array([[4, 2], [1, -1]]), X[[4, 9]], X, norm, power, lost)
        assert_allclose(gaps, expected, rtol=LAST_BITS)
        assert not lost.any()


@ways(to_distances)
@pytest.mark.parametrize("gap", [np.inf, 0.0, 1e-300])
@pytest.mark.parametrize("place", [0, 1])
def test_powers_that_overflowed_or_vanished_are_noticed(kernel, gap, place):
    """At whatever place of the list, of whatever row; not those of equal rows, which are 0."""
    table = X[:3].copy()
    table[1, 1:] = table[0, 1:]  # they differ in one column alone
    for norm, expected in ((0, True), (1, False), (2, False), (3, True)):
        gaps, nearest = np.array([[1.0, 1.0], [0.0, 1.0]]), np.array([[2, 2], [1, 2]])
        gaps[0, place], nearest[0, place] = gap, 0
        lost = np.empty(2, bool)
        kernel(gaps, nearest, table[[1, 1]], table, norm, 3.0, lost)
        assert lost.tolist() == [expected, False]


@ways(scan_distances)
@pytest.mark.parametrize("unit", [2.0**-600, 1.0, 2.0**600])
def test_distances_of_any_size(kernel, unit):
    distances, rows = room()
    kernel(X * unit, FOLD, POINTS * unit, OWN, 0, 2.0, distances, rows)
    gaps, expected = nearest()
    assert_array_equal(rows, expected)
    assert_allclose(distances, np.sqrt(gaps) * unit, rtol=LAST_BITS)
    far = POINTS.copy()
    far[0, 0] = np.inf
    kernel(X * unit, NO_FOLDS, far, NO_FOLDS, 0, 2.0, distances, rows)
    assert_array_equal(distances[0], np.inf)
    kernel(X * unit, NO_FOLDS, POINTS * unit, NO_FOLDS, 3, 3.0, distances, rows)
    cubes = np.sort((np.abs(POINTS[:, None] - X) ** 3).sum(axis=2), axis=1)
    assert_allclose(distances, np.cbrt(cubes[:, :6]) * unit, rtol=LAST_BITS)


@ways(map_rows)
def test_rows_through_a_matrix(kernel):
    matrix, out = rng.normal(size=(5, 2)), np.empty((90, 2))
    kernel(X, matrix, out)
    assert_allclose(out, X @ matrix, rtol=LAST_BITS, atol=LAST_BITS)


ROWS = np.array([[2, 0, 1, 3], [1, 3, -1, -1]])
SHARE = np.array([[1.0, 0.5, 0.5, 0.25], [1.0, 1.0, 9.0, 9.0]])  # the nines are of nobody
WEIGHT, KS = np.array([1.0, 0.5, 2.0, 1.0]), np.array([1.0, 2.5, 9.0])
# Copies up to k: of the first point 1 | 2 + .5 | 2 + 1 + .5 + 1, of the second .5 + .5 | all | all.
COUNTED = np.array(
    [
        [[1, 0, 0, 0], [2, 0.5, 0, 0], [2, 1, 0.5, 1]],
        [[0.5, 0.5, 0, 0], [0.5, 1, 0, 0], [0.5, 1, 0, 0]],
    ]
)


@ways(averaging.average_targets)
def test_averages_count_copies(kernel):
    y, out = np.array([3.0, -1.0, 2.0, 10.0]), np.empty((2, 3))
    kernel(ROWS, SHARE, WEIGHT, y, KS, out)
    mass = COUNTED * SHARE[:, None]
    assert_allclose(out, (mass * y[ROWS][:, None]).sum(axis=2) / mass.sum(axis=2), rtol=LAST_BITS)


@ways(averaging.class_shares)
def test_shares_of_classes_count_copies(kernel):
    y, out = np.array([1, 0, 1, 2]), np.empty((2, 3, 3))
    kernel(ROWS, SHARE, WEIGHT, y, KS, out)
    mass = COUNTED * SHARE[:, None]
    expected = [(mass * (y[ROWS] == c)[:, None]).sum(axis=2) / mass.sum(axis=2) for c in range(3)]
    assert_allclose(out, np.stack(expected, axis=2), rtol=LAST_BITS)


@ways(averaging.class_votes)
def test_votes_are_the_first_of_the_largest_shares(kernel):
    y, out = np.array([1, 0, 1, 2]), np.empty((2, 3), np.int64)
    kernel(ROWS, SHARE, WEIGHT, y, KS, out)
    assert_array_equal(out, [[1, 1, 1], [0, 2, 2]])


@ways(averaging.neighbor_shares)
def test_shares_of_neighbours_sum_to_one(kernel):
    out = np.empty((2, 4))
    kernel(ROWS, SHARE, WEIGHT, 2.5, out)
    mass = COUNTED[:, 1] * SHARE
    assert_allclose(out, mass / mass.sum(axis=1, keepdims=True), rtol=LAST_BITS)
