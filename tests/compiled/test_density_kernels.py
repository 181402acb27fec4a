"""Sums of every kernel and local fits beside their definitions, compiled and not: with weights, of
rows of other groups, at many bandwidths, by pairs, by leaves and by boxes on a line."""

from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from empirisk.compiled.densities import kernels as kinds
from empirisk.compiled.densities import leaf_sums, leaves, line_boxes, local_fits, pair_sums
from tolerances import LAST_BITS, SOLVED, SUMMED

REACH = 45.0  # an exponent whose exp is nothing beside 1
SHAPE = 1.7


def within(u):
    return np.maximum(1 - u, 0.0)


PROFILES = {  # of the distance in bandwidths
    kinds.GAUSSIAN: lambda u: np.exp(-(u**2) / 2),
    kinds.TOPHAT: lambda u: 1.0 * (u < 1),
    kinds.EPANECHNIKOV: lambda u: within(u**2),
    kinds.EXPONENTIAL: lambda u: np.exp(-u),
    kinds.LINEAR: within,
    kinds.COSINE: lambda u: np.cos(np.pi * u / 2) * (u < 1),
    kinds.BIWEIGHT: lambda u: within(u**2) ** 2,
    kinds.TRIWEIGHT: lambda u: within(u**2) ** 3,
    kinds.GAUSSIAN4: lambda u: (SHAPE - u**2 / 2) * np.exp(-(u**2) / 2),
    kinds.EPANECHNIKOV4: lambda u: within(u**2) * (1 - SHAPE * u**2),
    kinds.EPANECHNIKOV_POWER4: lambda u: within(u**2) ** 4,
    kinds.EPANECHNIKOV_POWER6: lambda u: within(u**2) ** 6,
    kinds.LINEAR2: lambda u: within(u) ** 2,
    kinds.COSINE2: lambda u: (np.cos(np.pi * u / 2) * (u < 1)) ** 2,
    kinds.GAUSSIAN4_2: lambda u: ((SHAPE - u**2 / 2) * np.exp(-(u**2) / 2)) ** 2,
    kinds.EPANECHNIKOV4_2: lambda u: (within(u**2) * (1 - SHAPE * u**2)) ** 2,
}
FITTED = [kind for kind in PROFILES if kind <= kinds.TRIWEIGHT]
ways = pytest.mark.parametrize("way", ["compiled", "original"])


def taken(kernel, way):
    return kernel if way == "compiled" else kernel.py_func


def rows_and_targets(d=2, n=61, m=9, seed=0):
    rng = np.random.default_rng(seed)
    X, T = rng.normal(size=(n, d)), rng.normal(size=(m, d))
    X[-1] = T[0] + 0.5 * np.eye(d)[0]  # at the very end of the support of bandwidth 1/2
    return X, T, rng.uniform(0.3, 3, size=n), np.arange(n) % 4, np.arange(m) % 5 - 1


@ways
@pytest.mark.parametrize("kind", PROFILES)
def test_sums_over_pairs_at_many_bandwidths(kind, way):
    """Relative to the nearest row's kernel for kernels with an exponent; no row of one's group."""
    X, T, weight, groups, group = rows_and_targets()
    rates = np.array([0.04, 0.3, 1.0, 4.0, 40.0])
    sums, nearest = np.empty((len(T), 5)), np.empty(len(T))
    taken(pair_sums.pair_sums, way)(
        T, group, X, groups, weight, rates, kind, SHAPE, REACH, sums, nearest
    )
    distance = np.linalg.norm(T[:, None] - X, axis=2)
    other = groups != group[:, None]
    near = np.where(other, distance, np.inf).min(axis=1)
    assert_allclose(nearest, near**2, rtol=LAST_BITS)
    profile = PROFILES[kind]
    for v, rate in enumerate(rates):
        known = (other * profile(distance * np.sqrt(rate))) @ weight
        if kind in (kinds.GAUSSIAN, kinds.EXPONENTIAL):
            known /= profile(near * np.sqrt(rate))
        assert_allclose(sums[:, v], known, rtol=SUMMED, atol=SUMMED)


@ways
def test_a_kernel_far_away_is_nothing(way):
    """The polynomial before the Gaussian, of numbers whose squares overflow, is not multiplied."""
    sums, nearest = np.empty((1, 2)), np.empty(1)
    taken(pair_sums.pair_sums, way)(
        np.zeros((1, 1)), np.array([-1]), np.array([[1e-3], [1e150]]), np.zeros(2, np.int64),
        np.ones(2), np.array([1e-300, 1.0]), kinds.GAUSSIAN4, SHAPE, REACH, sums, nearest,
    )  # fmt: skip
    # The near row is u = 1e-3 bandwidths away: u^2 (1 + 1 / SHAPE) / 2 = 8e-7 of its kernel.
    assert_allclose(sums, [[SHAPE * (1 + np.exp(-0.5)) - 0.5 * np.exp(-0.5), SHAPE]], rtol=1e-6)


@ways
@pytest.mark.parametrize("kind", [kinds.GAUSSIAN, kinds.EXPONENTIAL])
def test_far_from_all_rows_sums_are_those_beside_the_nearest(kind, way):
    X, T, weight, *_ = rows_and_targets()
    T, rates = T + 100.0, np.array([1.0, 4.0, 400.0])
    sums, nearest = np.empty((len(T), 3)), np.empty(len(T))
    nobody = np.full(len(T), -1)
    taken(pair_sums.pair_sums, way)(
        T, nobody, X, np.zeros(len(X), np.int64), weight, rates, kind, 0.0, REACH, sums, nearest
    )
    distance = np.linalg.norm(T[:, None] - X, axis=2)
    power = 2 if kind == kinds.GAUSSIAN else 1
    beyond = (distance**power - distance.min(axis=1, keepdims=True) ** power) / power
    for v, rate in enumerate(rates):
        # exponents of 1e6 are rounded to 1e-10
        known = np.exp(-beyond * rate ** (power / 2)) @ weight
        assert_allclose(sums[:, v], known, rtol=SUMMED)


def test_no_pair_of_points_is_nearer_or_farther_than_their_boxes():
    rng = np.random.default_rng(0)
    lows, least = rng.normal(size=(3, 5)), rng.normal(size=3)
    highs, most = lows + rng.uniform(0, 2, size=(3, 5)), least + rng.uniform(0, 2, size=3)
    chosen, near, far = np.array([0, 2, 4]), np.empty(3), np.empty(3)
    leaf_sums.leaf_distances(least, most, lows, highs, chosen, near, far)
    for c, leaf in enumerate(chosen):
        gap = np.maximum(np.maximum(lows[:, leaf] - most, least - highs[:, leaf]), 0)
        span = np.maximum(highs[:, leaf] - least, most - lows[:, leaf])
        assert near[c] == pytest.approx(gap @ gap, rel=LAST_BITS)
        assert far[c] == pytest.approx(span @ span, rel=LAST_BITS)


@pytest.mark.parametrize("kind", [kinds.GAUSSIAN, kinds.EXPONENTIAL])
def test_what_is_beyond_the_cut_is_its_share_of_the_sum_at_most_and_not_much_less(kind):
    near, far, masses, rate = np.array([9.0, 4.0]), np.array([16.0, 9.0]), np.array([2.0, 1.0]), 0.7
    offset, cut = leaf_sums.cut_off(kind, near, far, masses, 3.0, rate, 1e-6)
    assert offset == 4.0
    profile = PROFILES[kind]
    known = masses @ profile(np.sqrt(rate * far))  # of the sum, at least
    assert 3.0 * profile(np.sqrt(rate * cut)) == pytest.approx(1e-6 * known, rel=SUMMED)


def cut(X, largest):
    """Rows leaf by leaf: (order, ends)."""
    order, ends = np.empty(len(X), np.int64), np.empty(len(X), np.int64)
    count = leaves.cut_into_leaves(X, largest, order, ends)
    return order, ends[:count]


@ways
@pytest.mark.parametrize("kind", PROFILES)
@pytest.mark.parametrize("far", [0.0, 60.0])
def test_sums_over_leaves(kind, way, far):
    """Up to the share that may be left out, of the sum of the absolute values of all kernels."""
    X, T, weight, *_ = rows_and_targets(n=64, m=12)
    weight[:8] = 1e-3  # leaves of very different weights
    X[:3] += far
    T[:2] += far / 2
    rate, share = 3.0, 1e-6
    order, ends = cut(X, 4)
    columns = np.ascontiguousarray(X[order].T)
    lows, highs = np.empty((2, len(ends))), np.empty((2, len(ends)))
    leaves.leaf_boxes(columns, ends, lows, highs)
    target_order, target_ends = cut(T, 3)
    logs = np.empty(len(T))
    taken(leaf_sums.group_sums, way)(
        T[target_order], target_ends, columns, ends, lows, highs, weight[order], kind, SHAPE, rate,
        share, 0, len(target_ends), logs,
    )  # fmt: skip
    u = np.linalg.norm(T[target_order][:, None] - X, axis=2) * np.sqrt(rate)
    values = PROFILES[kind](u)
    if kind in (kinds.GAUSSIAN, kinds.EXPONENTIAL):
        exponent = u**2 / 2 if kind == kinds.GAUSSIAN else u
        least = exponent.min(axis=1)
        known = np.log(np.exp(least[:, None] - exponent) @ weight) - least
        # All kernels are positive, and the log of 1 - share is -share (1 + share / 2 + ...).
        assert_allclose(logs, known, rtol=SUMMED, atol=2 * share)
    else:
        room = share * (np.abs(values) @ weight) + 1e-13
        assert (np.abs(np.exp(logs) - np.maximum(values @ weight, 0.0)) <= room).all()


@ways
@pytest.mark.parametrize(
    ("targets", "rows", "weight"),
    [
        ([0.0, 0.1], [0.0, 6.0], [1e-9, 1.0]),  # light rows nearby do not hide heavy ones
        ([0.0, 10.0], [0.0, 17.0], [1.0, 1.0]),  # nor what is near one target another's rows
        ([0.0, 10.0], [10.0, -7.0], [1.0, 1.0]),
    ],
)
def test_no_leaf_is_left_out_that_counts_for_any_target(way, targets, rows, weight):
    """Each row is a leaf; the targets are one group."""
    T, columns = np.array(targets)[:, None], np.array([rows])
    order = np.argsort(rows)
    columns, weight = columns[:, order], np.array(weight)[order]
    logs, ends = np.empty(2), np.array([1, 2])
    taken(leaf_sums.group_sums, way)(
        T, np.array([2]), columns, ends, columns, columns, weight, kinds.GAUSSIAN, 0.0, 1.0, 1e-6,
        0, 1, logs,
    )  # fmt: skip
    known = np.log(np.exp(-((T - columns) ** 2) / 2) @ weight)
    assert_allclose(logs, known, rtol=0, atol=2e-6)  # the share that may be left out is 1e-6


def naive_line(kind, X, y, weight, rate, t, degree):
    """(w l of all rows, l of a row at t itself) of weighted least squares around t."""
    root = np.sqrt(weight * PROFILES[kind](np.linalg.norm(X - t, axis=1) * np.sqrt(rate)))
    design = np.column_stack([np.ones(len(X)), X - t][: degree + 1])
    inverse = np.linalg.pinv(root[:, None] * design)
    return inverse[0] * root, (inverse @ inverse.T)[0, 0]


@ways
@pytest.mark.parametrize("kind", FITTED)
@pytest.mark.parametrize("degree", [0, 1])
def test_local_fits_are_weighted_least_squares(kind, degree, way):
    X, T, weight, groups, group = rows_and_targets()
    rng = np.random.default_rng(1)
    Y, factors = rng.normal(size=(len(X), 2)), rng.uniform(0.5, 2, size=(5, 2))
    rates = np.array([0.02, 0.05, 0.09])
    fits, (norms, leverages) = np.empty((len(T), 3, 2)), np.empty((2, len(T), 3))
    group = group % 5
    taken(local_fits.local_fits, way)(
        T, group, X, groups, factors, weight, Y, rates, kind, REACH, degree, fits, norms, leverages
    )
    for q, t in enumerate(T):
        other, scale = groups != group[q], factors[group[q]]
        for v, rate in enumerate(rates):
            hat, leverage = naive_line(
                kind, (X * scale)[other], Y, weight[other], rate, t * scale, degree
            )
            assert_allclose(fits[q, v], hat @ Y[other], rtol=SOLVED, atol=SOLVED)
            assert_allclose(norms[q, v], (hat**2 / weight[other]).sum(), rtol=SUMMED)
            # Norming to the kernel of the nearest row, not to k(0), is the kernel's own business.
            if kind not in (kinds.GAUSSIAN, kinds.EXPONENTIAL):
                assert_allclose(leverages[q, v], leverage, rtol=SUMMED)


@ways
def test_out_of_reach_the_nearest_rows_are_averaged(way):
    """Ties to within rounding included, and no row of one's own group."""
    X = np.array([[0.0], [2.0], [2.0 * (1 + 1e-14)], [5.0], [1.2]])
    weight, Y = np.array([3.0, 1.0, 2.0, 1.0, 1.0]), np.array([[1.0], [4.0], [7.0], [9.0], [50.0]])
    groups, T = np.array([0, 0, 0, 0, 1]), np.array([[1.0]])
    fits, (norms, leverages) = np.empty((1, 2, 1)), np.empty((2, 1, 2))
    taken(local_fits.local_fits, way)(
        T, np.array([1]), X, groups, np.ones((2, 1)), weight, Y, np.array([0.1, 25.0]),
        kinds.EPANECHNIKOV, REACH, 1, fits, norms, leverages,
    )  # fmt: skip
    assert_allclose(fits[0, 1], (3 * 1 + 4 + 2 * 7) / 6, rtol=LAST_BITS)
    assert_allclose(norms[0, 1], 1 / 6, rtol=LAST_BITS)
    out = np.empty((1, 4))
    taken(local_fits.local_weights, way)(
        T - 0.4, X[:4], np.ones(1), weight[:4], 25.0, kinds.TOPHAT, REACH, out
    )
    assert_array_equal(out[0], [1.0, 0, 0, 0])
    taken(local_fits.local_weights, way)(
        T, X[:4], np.ones(1), weight[:4], 25.0, kinds.TOPHAT, REACH, out
    )
    assert_allclose(out[0], np.array([3, 1, 2, 0]) / 6, rtol=LAST_BITS)


def test_no_direction_without_spread_has_a_slope():
    """Neither one in which rows do not spread, nor one in which t is a hundred spreads away."""
    slope = np.empty(2)
    for C, b, known in (
        ([[2.0, 1.0], [1.0, 1.0]], [1.0, 1.0], [0.0, 1.0]),
        ([[1.0, 2.0], [2.0, 5.0]], [1.0, 1.0], [3.0, -1.0]),
        ([[2.0, 0.0], [0.0, 0.0]], [1.0, 1.0], [0.5, 0.0]),
        ([[2.0, 2.0], [2.0, 2.0]], [1.0, 1.0], [0.5, 0.0]),
        ([[1e-9, 0.0], [0.0, 2.0]], [1.0, 1.0], [0.0, 0.5]),
        ([[1e-9, 0.0], [0.0, 2.0]], [1e-5, 1.0], [1e4, 0.5]),
    ):
        local_fits.solve(np.array(C), np.array(b), slope)
        assert_allclose(slope, known, rtol=SUMMED)


def test_the_widest_column_is_not_the_one_of_the_largest_numbers():
    X = np.array([[100.0, 0.0, -50.0], [101.0, 3.0, -52.0], [100.5, 1.0, 9.0]])
    assert leaves.widest_column(X, np.arange(3), 0, 2) == 1
    assert leaves.widest_column(X, np.arange(3), 0, 3) == 2
    assert leaves.widest_column(X[:, ::-1], np.arange(3), 0, 2) == 1


@ways
def test_leaves_are_halves_of_halves_across_the_widest_column(way):
    rng = np.random.default_rng(5)
    X = rng.integers(0, 6, size=(103, 3)) * [1.0, 5.0, 2.0]
    order, ends = np.empty(103, np.int64), np.empty(103, np.int64)
    count = taken(leaves.cut_into_leaves, way)(X, 13, order, ends)
    assert_array_equal(np.sort(order), np.arange(103))
    sizes = np.diff(ends[:count], prepend=0)
    assert set(sizes) == {12, 13}
    first = X[order]

    def check(rows):
        if len(rows) > 13:
            column, half = np.ptp(rows, axis=0).argmax(), len(rows) // 2
            assert rows[:half, column].max() <= rows[half:, column].min()
            check(rows[:half])
            check(rows[half:])

    check(first)
    lows, highs = np.empty((3, count)), np.empty((3, count))
    columns = np.ascontiguousarray(first.T)
    taken(leaves.leaf_boxes, way)(columns, ends[:count], lows, highs)
    for b, part in enumerate(np.split(first, ends[: count - 1])):
        assert_array_equal(lows[:, b], part.min(axis=0))
        assert_array_equal(highs[:, b], part.max(axis=0))


@ways
def test_moments_of_boxes_and_bins(way):
    """Of more rows than are worked on at once; a row at the upper end is in the last box."""
    rng = np.random.default_rng(6)
    x, weight = np.append(rng.uniform(2, 5, size=600), 5.0), rng.uniform(0.5, 2, size=601)
    width, h, last = 0.3, 0.7, 9
    box = np.minimum(((x - 2) / width).astype(int), last)
    e = (x - (2 + (box + 0.5) * width)) / h
    moments, bins = np.zeros((10, line_boxes.TERMS)), np.zeros((10, 4))
    taken(line_boxes.add_moments, way)(x, weight, 2.0, width, h, moments)
    taken(line_boxes.add_bin_moments, way)(x, weight, 2.0, width, h, bins)
    for k in range(line_boxes.TERMS):
        # exp(-e^2 / 2) is a polynomial with a remainder below 1e-13 here
        known = np.bincount(box, weight * np.exp(-(e**2) / 2) * e**k, 10)
        assert_allclose(moments[:, k], known, rtol=SOLVED, atol=SUMMED)
        if k < 4:
            assert_allclose(
                bins[:, k], np.bincount(box, weight * e**k, 10), rtol=SUMMED, atol=SUMMED
            )
    whole, mass = moments.copy(), np.empty(10)
    taken(line_boxes.finish_moments, way)(moments, mass)
    assert_array_equal(mass, whole[:, 0])
    factorials = np.cumprod([1.0, *range(1, line_boxes.TERMS)])
    assert_allclose(moments, whole / factorials, rtol=LAST_BITS)


@ways
def test_targets_are_sorted_into_boxes(way):
    t, reach, boxes = np.array([0.1, -0.3, 1.0, 0.0, -0.2, 0.55, -0.21, 0.6, 7.0]), 2, 5
    first, order = np.empty(boxes + 2 * reach + 3, np.int64), np.empty(9, np.int64)
    taken(line_boxes.targets_of_boxes, way)(t, 0.0, 0.1, reach, first, order)
    groups = [list(order[a:b]) for a, b in pairwise(first)]
    # boxes of width 0.1 from -0.2 on, then what is below and what is above them
    where = np.floor(t * (1 / 0.1)) + reach
    inside = [list(np.flatnonzero(where == b)) for b in range(boxes + 2 * reach)]
    below, above = np.flatnonzero(where < 0), np.flatnonzero(where >= boxes + 2 * reach)
    assert groups == [*inside, list(below), list(above)]
    assert len(below) == 2
    assert 4 in inside[0]


@ways
def test_boxes_left_out_have_at_most_their_share(way):
    """By the worst place of every row and target in their boxes; -1 where nothing is enough."""
    mass = np.array([1.0, 0.0, 3.0, 1e-4, 0.0, 0.0, 0.0, 2.0])
    step, reach, share = 0.5, 12, 1e-6
    out = np.empty(8 + 2 * reach, np.int64)
    taken(line_boxes.box_reaches, way)(mass, mass.sum(), share, step, reach, out)
    assert (out == -1).any()
    assert (out >= 0).sum() > 8
    for target, found in enumerate(out):
        apart = np.abs(np.arange(8) - (target - reach))
        nearby = apart <= reach
        if not nearby.any():
            assert found == -1
            continue
        least = (mass * np.exp(-(((apart + 1) * step) ** 2) / 2))[nearby].max()
        needed = np.sqrt(2 * np.log(mass.sum() / (share * least))) / step
        assert found == (-1 if needed > reach else np.ceil(needed))


@ways
def test_sums_of_boxes_are_those_of_their_rows_one_target_box_at_a_time(way):
    rng = np.random.default_rng(7)
    x, weight = rng.uniform(2, 5, size=200), rng.uniform(0.5, 2, size=200)
    t = rng.uniform(1.4, 5.6, size=40)
    width, h, reach, moments, mass = 0.3, 0.7, 12, np.zeros((10, line_boxes.TERMS)), np.empty(10)
    line_boxes.add_moments(x, weight, 2.0, width, h, moments)
    line_boxes.finish_moments(moments, mass)
    first, order = np.empty(10 + 2 * reach + 3, np.int64), np.empty(40, np.int64)
    line_boxes.targets_of_boxes(t, 2.0, width, reach, first, order)
    reaches, out = np.full(10 + 2 * reach, 10 + reach), np.full(40, np.nan)
    for box in range(len(reaches)):
        taken(line_boxes.box_sums, way)(
            t, order, first, 2.0, width, h, moments, mass, reaches, box, box + 1, out
        )
    known = np.exp(-(((t[:, None] - x) / h) ** 2) / 2) @ weight
    assert_allclose(out, known, rtol=1e-9)  # what twelve terms leave of exp(d e), |e| < 0.22
