"""Lloyd's iterations beside naive ones: every number of each iteration, and when they stop."""

from itertools import permutations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from empirisk.compiled.clustering import iterating, tiles
from empirisk.compiled.clustering.iterating import GAIN, MOVEMENT, STABILITY, UNCHANGED
from empirisk.compiled.clustering.tiles import LANES, STEP
from empirisk.compiled.team import SYNC_SIZE
from empirisk.learners.unsupervised.lloyd import scored_centres
from tolerances import LAST_BITS, SOLVED, SUMMED

UNIT, SHIFT = 0.5, np.array([0.25, -0.125])
GOING_ON, CONVERGED, HOPELESS = range(3)


def squares(Z, centres):
    return ((Z[:, None] - centres) ** 2).sum(axis=2)


def reseeded(Z, labels, means):
    """Empty clusters go to the rows furthest from their centres, one by one; whether any did."""
    far, seeded = squares(Z, means)[np.arange(len(Z)), labels], False
    for k in np.setdiff1d(np.arange(len(means)), labels):
        if far.max() > 1e-29:
            means[k], seeded = Z[far.argmax()], True
            far = np.minimum(far, ((Z - means[k]) ** 2).sum(axis=1))
    return seeded


def naive_iterations(Z, weight, centres, stops, bar, most):
    """(steps, centres before each, centres, labels, how it stands); `stops` knows the criterion."""
    labels, steps, kept, now = np.full(len(Z), -1), [], [], np.inf
    while len(steps) < most:
        kept.append(centres)
        new = squares(Z, centres).argmin(axis=1)
        moved, labels = weight[new != labels].sum(), new
        means = centres.copy()
        for k in np.unique(labels):
            means[k] = np.average(Z[labels == k], 0, weight[labels == k])
        seeded = reseeded(Z, labels, means)
        rows = np.arange(len(Z))
        before, now = (weight @ squares(Z, c)[rows, labels] for c in (centres, means))
        gain = steps[-1][1] - now if steps else np.inf
        steps.append((before, now, moved))
        movement, centres = ((means - centres) ** 2).sum(), means
        stopped = moved == 0 or stops(movement, moved / weight.sum(), gain / now)
        standing = CONVERGED if stopped else HOPELESS if now - 4 * gain > bar else GOING_ON
        standing = GOING_ON if seeded else standing
        if standing != GOING_ON:
            break
    return np.array(steps), np.array(kept), centres, labels, standing


def iterations(kernel, X, weight, centres, criterion, tol, bar, most, room):
    """The same by the kernel."""
    Z, (n, p), K = X * UNIT - SHIFT, X.shape, len(centres)
    padded = np.zeros((-(-n // LANES) * LANES, STEP), np.float32)
    padded[:n, :p] = Z
    rows = np.ascontiguousarray(padded.reshape(-1, LANES, STEP).transpose(0, 2, 1))
    first, centres = np.array([0, LANES, n], np.int64), centres.copy()
    labels, slack = np.full(n, -1, np.int32), np.full(n, -np.inf, np.float32)
    sums, mass, count = np.zeros((K, p)), np.zeros(K), np.zeros(K, np.int64)
    steps, kept, progress = np.empty((most, 3)), np.empty((room, K, p)), np.zeros(2, np.int64)
    kernel(
        np.zeros(SYNC_SIZE, np.int64), 0, 1, first, most, X, UNIT, SHIFT, weight, rows,
        float(weight @ (Z**2).sum(axis=1)), weight.sum(), criterion, tol, bar, centres,
        *scored_centres(centres), np.zeros(K), labels, slack, np.empty((2, K, p)), np.empty((2, K)),
        np.empty((2, K), np.int64), np.empty(2), sums, mass, count, steps, kept, progress,
    )  # fmt: skip
    assert_allclose(mass, np.bincount(labels, weight, K), rtol=SUMMED, atol=LAST_BITS)
    assert_array_equal(count, np.bincount(labels, minlength=K))
    t, standing = progress
    return steps[:t], kept[: min(t, room)], centres, labels, standing


STOPS = {
    "no row moves": (STABILITY, 0.0, lambda movement, moved, gain: False),
    "centres hardly move": (MOVEMENT, 4e-3, lambda movement, moved, gain: movement <= 4e-3),
    "few rows move": (UNCHANGED, 0.025, lambda movement, moved, gain: moved <= 0.025),
    "little is gained": (GAIN, 0.03, lambda movement, moved, gain: gain <= 0.03),
}


@pytest.mark.parametrize("way", ["compiled", "original"])
@pytest.mark.parametrize("stop", STOPS)
@pytest.mark.parametrize(("bar", "most"), [(np.inf, 40), (np.inf, 3), (1.0, 40), (14.0, 40)])
def test_each_iteration_is_that_of_naive_lines(way, stop, bar, most):
    """Of the six starts three are one point, so that two clusters are empty at first."""
    rng = np.random.default_rng(4)
    X, weight = rng.uniform(-2, 2, size=(110, 2)), rng.uniform(0.5, 2, size=110)
    Z = X * UNIT - SHIFT
    starts = Z[[0, 0, 1, 0, 2, 3]]
    criterion, tol, stops = STOPS[stop]
    kernel = iterating.lloyd_iterations
    kernel = kernel if way == "compiled" else kernel.py_func
    steps, kept, centres, labels, standing = iterations(
        kernel, X, weight, starts, criterion, tol, bar, most, room=4
    )
    known = naive_iterations(Z, weight, starts, stops, bar, most)
    assert len(steps) == len(known[0])
    assert_allclose(steps, known[0], rtol=SUMMED)
    assert_allclose(kept, known[1][:4], rtol=SUMMED, atol=LAST_BITS)
    assert_allclose(centres, known[2], rtol=SUMMED, atol=LAST_BITS)
    assert_array_equal(labels, known[3])
    assert standing == known[4]


@pytest.mark.parametrize("stop", STOPS)
def test_the_ways_to_stop_are_told_apart_by_the_data(stop):
    """Otherwise the test above would say nothing about its criteria."""
    rng = np.random.default_rng(4)
    X, weight = rng.uniform(-2, 2, size=(110, 2)), rng.uniform(0.5, 2, size=110)
    Z = X * UNIT - SHIFT
    lengths = {
        name: len(naive_iterations(Z, weight, Z[[0, 0, 1, 0, 2, 3]], rule, np.inf, 40)[0])
        for name, (_, _, rule) in STOPS.items()
    }
    others = {n for name, n in lengths.items() if name != stop}
    assert 4 < lengths[stop] < 40
    assert lengths[stop] not in others


def test_where_all_rows_lie_on_centres_a_cluster_stays_empty():
    X = np.repeat([[0.3, 0.7], [-0.1, 1.1]], 40, axis=0)
    weight = np.random.default_rng(0).uniform(0.1, 2, size=80)
    starts = (X * UNIT - SHIFT)[[0, 79, 0]]
    steps, _, centres, labels, standing = iterations(
        iterating.lloyd_iterations, X, weight, starts, STABILITY, 0.0, np.inf, 20, 0
    )
    assert (len(steps), standing) == (2, CONVERGED)
    assert_array_equal(labels, np.repeat([0, 1], 40))
    assert_allclose(centres, starts, rtol=LAST_BITS)


def test_a_row_that_rounding_has_put_off_its_centre_becomes_none():
    rows, means, count = np.zeros((2, 4)), np.full((2, 4), 1.2e-15), np.array([2, 0])
    args = rows, 1.0, np.zeros(4), np.zeros(2, np.int32), count, means
    assert not iterating.reseed(*args)  # 5.8e-30 in four features
    means[0, 0] = 1e-14
    assert iterating.reseed(*args)
    assert_array_equal(means[1], 0.0)


def test_a_cluster_without_rows_has_no_weight_at_all():
    """0.1 + 0.2 - 0.3 is not 0 in floating point; what is left would be taken for a row."""
    sums, mass, count = np.full((2, 1), 0.3), np.array([0.1 + 0.2, 1.0]), np.array([2, 1])
    gone = -np.array([[0.3, 0.0]])
    iterating.add_blocks(gone[:, :, None], gone, np.array([[-2, 0]]), sums, mass, count)
    assert_array_equal(mass, [0.0, 1.0])
    assert_array_equal(sums, [[0.0], [0.3]])


@pytest.mark.parametrize("order", list(permutations(range(4))))
def test_what_centres_use_up_is_their_own_move_and_the_largest_of_others(order):
    rng = np.random.default_rng(0)
    old, spent, move = rng.normal(size=(4, 2)), np.ones(4), np.array([0.1, 0.3, 0.6, 1.0])[[*order]]
    angle = rng.uniform(0, 6, size=4)
    new = old + move[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    total = iterating.move_centres(old, new.copy(), spent)
    assert total == pytest.approx(move @ move, rel=SUMMED)
    assert_array_equal(old, new)
    others = [np.delete(move, k).max() for k in range(4)]
    assert_allclose(spent, 1 + move + others, rtol=SOLVED)
    assert (spent >= (1 + move + others) * (1 - 1e-15)).all()


def test_single_precision_knows_the_largest_of_centres():
    centres = np.random.default_rng(1).normal(size=(6, 3)) * [[3], [1], [9], [2], [1], [1]]
    minus, half, radius = scored_centres(centres)
    length = np.sqrt((centres**2).sum(axis=1))
    assert_array_equal(minus[:6, :3], (-centres).astype(np.float32))
    assert_allclose(half[:6], length**2 / 2, rtol=1e-7)  # rounded to single precision, 6e-8
    assert (half[6:] == np.inf).all()
    assert length.max() <= radius[0] <= length.max() * (1 + 1e-5)


@pytest.mark.parametrize("way", ["compiled", "original"])
def test_of_equal_scores_the_first_is_the_least_and_the_next_the_second(way):
    score = np.random.default_rng(2).integers(0, 5, size=(12, LANES)).astype(np.float32)
    score[:, 0] = 7.0
    (least, second), label = np.empty((2, LANES), np.float32), np.empty(LANES, np.int32)
    kernel = tiles.two_least if way == "compiled" else tiles.two_least.py_func
    kernel(score, least, second, label)
    ordered = np.sort(score, axis=0)
    assert_array_equal(least, ordered[0])
    assert_array_equal(second, ordered[1])
    assert_array_equal(label, score.argmin(axis=0))
