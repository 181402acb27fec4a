"""The kernels of k-means beside naive lines, compiled and not; bounds that must never be wrong."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from empirisk.compiled.clustering import (
    assigning,
    descending,
    pairs,
    seeding,
    single_rows,
    stochastic,
    summing,
    tiles,
)
from empirisk.compiled.clustering.tiles import LANES, STEP
from empirisk.compiled.team import SYNC_SIZE
from empirisk.learners.unsupervised.lloyd import scored_centres
from tolerances import LAST_BITS, SUMMED

rng = np.random.default_rng(0)


def ways(kernel):
    """Compiled, and the Python original."""
    return [kernel, kernel.py_func]


def sync():
    return np.zeros(SYNC_SIZE, np.int64)


def tiled(rows):
    """Rows in single precision, 64 of them side by side."""
    n, p = rows.shape
    padded = np.zeros((-(-n // LANES) * LANES, -(-p // STEP) * STEP), np.float32)
    padded[:n, :p] = rows
    return np.ascontiguousarray(padded.reshape(-1, LANES, padded.shape[1]).transpose(0, 2, 1))


def assigned(kernel, X, centres, *, labels, slack, spent, weight):
    n, (K, p) = len(X), centres.shape
    first = np.array([0, min(n, LANES), n], np.int64)
    sums, mass = np.empty((2, K, p)), np.empty((2, K))
    count, moved = np.empty((2, K), np.int64), np.empty(2)
    minus, half, radius = scored_centres(centres)
    kernel(
        sync(), first, X, 1.0, np.zeros(p), weight, tiled(X), centres, minus, half,
        radius, spent, labels, slack, sums, mass, count, moved,
    )  # fmt: skip
    return sums.sum(axis=0), mass.sum(axis=0), count.sum(axis=0), moved.sum()


@pytest.mark.parametrize("way", [0, 1])
@pytest.mark.parametrize(("n", "p", "K"), [(150, 2, 5), (70, 5, 3), (9, 1, 9), (64, 4, 1)])
def test_rows_go_to_their_nearest_centres_and_sums_follow(way, n, p, K):
    X, weight = rng.uniform(-1, 1, size=(n, p)), rng.uniform(0.5, 2, size=n)
    centres = rng.uniform(-1, 1, size=(K, p))
    labels, slack = np.full(n, -1, np.int32), np.full(n, -np.inf, np.float32)
    kernel, spent = ways(assigning.assign_blocks)[way], rng.uniform(0.5, 1, size=K)
    sums, mass, count, moved = assigned(
        kernel, X, centres, labels=labels, slack=slack, spent=spent, weight=weight
    )
    slack[slack >= 0] -= spent[labels[slack >= 0]].astype(np.float32)  # what is left of it
    distance = np.sqrt(((X[:, None] - centres) ** 2).sum(axis=2))
    assert_array_equal(labels, distance.argmin(axis=1))
    for k in range(K):
        assert_allclose(sums[k], weight[labels == k] @ X[labels == k], rtol=SUMMED, atol=LAST_BITS)
    assert_allclose(mass, np.bincount(labels, weight, K), rtol=SUMMED)
    assert_array_equal(count, np.bincount(labels, minlength=K))
    assert moved == pytest.approx(weight.sum(), rel=SUMMED)
    if K > 1:  # a bound: the second centre is beyond the first by more than the slack
        nearest = np.sort(distance, axis=1)
        gap = nearest[:, 1] - nearest[:, 0]
        assert (slack <= gap).all()
        assert (slack > gap - 1e-3).mean() > 0.8  # and no useless one


def test_of_centres_equally_near_the_first_is_taken():
    X = np.array([[0.0, 0.5], [0.0, -0.25], [0.5, 0.0], [-0.5, 0.0]])
    centres = np.array([[9.0, 9.0], [1.0, 0.0], [-1.0, 0.0], [-1.0, 0.0], [1.0, 0.0]])
    labels, slack = np.full(4, -1, np.int32), np.full(4, -np.inf, np.float32)
    args = {"labels": labels, "slack": slack, "spent": np.zeros(5), "weight": np.ones(4)}
    assigned(assigning.assign_blocks, X, centres, **args)
    assert_array_equal(labels, [1, 1, 1, 2])
    assert (slack < 0).all()  # none is nearest by anything


def test_single_precision_is_never_believed_where_it_may_be_wrong():
    """Rows next to the plane between two centres: it cannot tell the sides apart."""
    centres = np.array([[0.3, 0.1], [0.5, 0.7]])
    middle, across = centres.mean(axis=0), centres[1] - centres[0]
    along = np.array([-across[1], across[0]])
    shift = rng.choice([-1, 1], size=400) * 10.0 ** rng.uniform(-14, -3, size=400)
    X = middle + rng.uniform(-1, 1, size=(400, 1)) * along + shift[:, None] * across
    labels, slack = np.full(400, -1, np.int32), np.full(400, -np.inf, np.float32)
    assigned(
        assigning.assign_blocks, X, centres,
        labels=labels, slack=slack, spent=np.zeros(2), weight=np.ones(400),
    )  # fmt: skip
    assert_array_equal(labels, (shift > 0).astype(int))
    assert (slack <= 2 * np.abs(shift) * np.linalg.norm(across)).all()


def test_a_row_with_slack_is_not_looked_at():
    X, centres = rng.uniform(-1, 1, size=(100, 2)), np.array([[0.0, 0.0], [1.0, 1.0]])
    labels, slack = np.ones(100, np.int32), np.full(100, 0.5, np.float32)
    args = {"labels": labels, "slack": slack, "weight": np.ones(100)}
    *_, moved = assigned(assigning.assign_blocks, X, centres, spent=np.full(2, 0.4), **args)
    assert moved == 0
    wrong = ((X - 0.5) @ [1.0, 1.0]) < 0
    few = np.flatnonzero(wrong)[:7]  # of two tiles: not as many as half of one
    used = 0.25
    slack[few] = used  # to the last bit
    *_, moved = assigned(assigning.assign_blocks, X, centres, spent=np.full(2, used), **args)
    assert moved == 7
    *_, moved = assigned(assigning.assign_blocks, X, centres, spent=np.full(2, 0.5), **args)
    assert moved == wrong.sum() - 7 > 0


@pytest.mark.parametrize("way", [0, 1])
def test_passes_over_rows(way):
    X, weight = rng.normal(size=(90, 3)), rng.uniform(size=90)
    X[0, 0], X[89, 2] = 9.0, -8.0  # the largest of a block may be its first entry, and its last
    first, unit, shift = np.array([0, 40, 90], np.int64), 0.5, np.array([0.1, 0.2, 0.3])
    z, labels = X * unit - shift, rng.integers(0, 4, size=90).astype(np.int32)
    centres = rng.normal(size=(4, 3))
    placed, scatter = np.zeros((2, 4, LANES), np.float32), np.empty((2, 3))
    ways(summing.place_rows)[way](sync(), first, X, unit, shift, weight, placed, scatter)
    assert_array_equal(placed, tiled(z))
    assert_allclose(scatter.sum(axis=0), weight @ z**2, rtol=SUMMED)
    largest = np.empty(2)
    ways(summing.largest_entries)[way](sync(), first, X, unit, shift, largest)
    assert_array_equal(largest, [np.abs(z[:40]).max(), np.abs(z[40:]).max()])
    sums, mass = np.empty((2, 3)), np.empty(2)
    ways(summing.sum_columns)[way](sync(), first, X, unit, weight, sums, mass)
    for b, block in enumerate((slice(40), slice(40, 90))):
        assert_allclose(sums[b], weight[block] @ X[block] * unit, rtol=SUMMED, atol=SUMMED)
        assert mass[b] == pytest.approx(weight[block].sum(), rel=SUMMED)
    sums, mass = np.empty((2, 4, 3)), np.empty((2, 4))
    ways(summing.sum_clusters)[way](sync(), first, X, unit, shift, weight, labels, sums, mass)
    by_hand = [weight[labels == k] @ z[labels == k] for k in range(4)]
    assert_allclose(sums.sum(axis=0), by_hand, rtol=SUMMED, atol=SUMMED)
    distance, every = np.empty(90), np.empty((90, 4))
    ways(summing.square_distances)[way](sync(), first, X, unit, shift, labels, centres, distance)
    columns = np.ascontiguousarray(centres.T)
    ways(summing.all_distances)[way](sync(), first, X, unit, shift, columns, every)
    square = ((z[:, None] - centres) ** 2).sum(axis=2)
    assert_allclose(every, square, rtol=SUMMED)
    assert_allclose(distance, square[np.arange(90), labels], rtol=SUMMED)


@pytest.mark.parametrize("way", [0, 1])
def test_two_nearest_centres_as_centres_come_and_go(way):
    """After entering and exchanging centres, the two nearest of each row are what a look at all
    centres finds; and the sum after each exchange was foretold."""
    rows = rng.uniform(-1, 1, size=(80, 2)).astype(np.float32)
    weight, first = rng.uniform(0.5, 2, size=80), np.array([0, LANES, 80], np.int64)
    near, apart = np.full((2, 80), -1, np.int32), np.full((2, 80), np.inf, np.float32)
    potential, chosen = np.zeros(2), [3, 14, 15, 60]

    def distances(places):
        out, left = np.empty((len(places), 80), np.float32), np.empty((2, len(places)))
        ways(seeding.try_candidates)[way](
            sync(), first, tiled(rows), weight, rows[places], apart, out, left
        )
        return out, left.sum(axis=0)

    def check():
        square = ((rows[:, None].astype(float) - rows[chosen].astype(float)) ** 2).sum(axis=2)
        order = np.sort(square, axis=1)
        assert_allclose(
            apart.T, order[:, :2], rtol=0, atol=1e-06
        )  # single precision, sizes up to 8
        assert_array_equal(near[0], square.argmin(axis=1))
        assert potential.sum() == pytest.approx(weight @ order[:, 0], rel=1e-6)  # single precision

    for k, row in enumerate(chosen):
        distance, left = distances([row])
        ways(seeding.enter_centre)[way](sync(), first, distance[0], np.int32(k), near, apart)
        assert weight @ apart[0].astype(float) == pytest.approx(left[0], rel=SUMMED)
        potential[:] = left[0] / 2
    check()
    distance, _ = distances([40])
    kept, extra = np.empty(2), np.empty((2, 4))
    ways(seeding.weigh_exchanges)[way](sync(), first, weight, distance[0], near, apart, kept, extra)
    foretold = kept.sum() + extra.sum(axis=0)
    chosen[2] = 40
    ways(seeding.exchange_centre)[way](
        sync(), first, tiled(rows), weight, rows[chosen], distance[0], np.int32(2), near, apart,
        potential,
    )  # fmt: skip
    check()
    assert potential.sum() == pytest.approx(foretold[2], rel=SUMMED)
    found, ahead = near.copy(), apart.copy()
    ways(seeding.find_two_nearest)[way](
        sync(), first, tiled(rows), weight, rows[chosen], near, apart, potential
    )
    check()
    assert_array_equal(near, found)
    assert_array_equal(apart, ahead)


@pytest.mark.parametrize("n", [100, LANES + 1])
@pytest.mark.parametrize("way", [0, 1])
def test_the_centre_missed_least_is_the_one_whose_exchange_leaves_least(way, n):
    rows, weight = rng.uniform(-1, 1, size=(n, 3)).astype(np.float32), rng.uniform(1, 2, n)
    centres, points = rng.uniform(-1, 1, size=(5, 3)), rng.uniform(-1, 1, size=(4, 3))
    square = ((rows[:, None] - centres) ** 2).sum(axis=2)
    near = np.ascontiguousarray(square.argsort(axis=1)[:, :2].T.astype(np.int32))
    apart = np.ascontiguousarray(np.sort(square, axis=1)[:, :2].T.astype(np.float32))
    first, extra = np.array([0, LANES, n], np.int64), np.empty((4, 5))
    ways(seeding.miss_centres)[way](
        sync(), first, tiled(rows), weight, points.astype(np.float32), near, apart, extra
    )
    for c in range(4):
        joined = ((rows - points[c]) ** 2).sum(axis=1)
        left = [weight @ np.c_[np.delete(square, k, axis=1), joined].min(axis=1) for k in range(5)]
        with_all = weight @ np.c_[square, joined].min(axis=1)
        assert_allclose(extra[c], np.array(left) - with_all, rtol=0, atol=1e-05)  # single precision


@pytest.mark.parametrize("way", [0, 1])
def test_greedy_spreading_takes_the_candidate_that_leaves_least(way):
    rows, weight = rng.uniform(-1, 1, size=(100, 3)).astype(np.float32), rng.uniform(1, 2, 100)
    first, K, trials = np.array([0, LANES, 100], np.int64), 6, 3
    uniform, chosen = rng.random((K, trials)), np.full(K, -1, np.int64)
    anywhere = rng.integers(100, size=(K, trials))
    working = (
        np.empty(trials, np.int64), np.empty((trials, 3), np.float32),
        np.empty((trials, 100), np.float32), np.empty((2, trials)),
        np.full((2, 100), -1, np.int32), np.full((2, 100), np.inf, np.float32), np.zeros(2),
    )  # fmt: skip
    for start, end in ((0, 4), (4, K)):  # in two slices
        ways(seeding.spread_centres)[way](
            sync(), 0, 1, first, start, end, tiled(rows), weight, uniform, anywhere, chosen,
            *working,
        )  # fmt: skip
    expected, square = [anywhere[0, 0]], ((rows[:, None].astype(float) - rows) ** 2).sum(axis=2)
    for k in range(1, K):
        share = weight * square[expected].min(axis=0)
        drawn = np.searchsorted(np.cumsum(share), uniform[k] * share.sum(), side="right")
        left = [weight @ square[[*expected, i]].min(axis=0) for i in drawn]
        expected.append(drawn[np.argmin(left)])
    assert_array_equal(chosen, expected)


@pytest.mark.parametrize("way", [0, 1])
def test_squared_distances_of_a_tile_and_their_rounding(way):
    rows, centre = rng.normal(size=(LANES, 3)).astype(np.float32), np.float32([0.5, -1.0, 2.0])
    tile, (lane, square, room) = tiled(rows)[0], np.full((3, LANES), np.nan, np.float32)
    ways(seeding.square_to_tile)[way](tile, centre, lane)
    exact = ((rows.astype(float) - centre) ** 2).sum(axis=1)
    assert_allclose(lane, exact, rtol=1e-6)  # single precision
    minus, half, radius = scored_centres(centre[None].astype(float))
    score = np.empty((STEP, LANES), np.float32)
    ways(tiles.score_tile)[way](tile, minus, half, score)
    tiles.square_tile(tile, 3, square)
    single_rows.room_of_tile(square, radius[0], STEP, room)
    assert (np.abs(square + 2 * score[0] - exact) <= room).all()
    assert (room < 1e-4).all()


@pytest.mark.parametrize("way", [0, 1])
def test_rows_are_found_by_the_running_sum(way):
    weight, apart = np.array([1.0, 2.0, 1.0, 1.0, 3.0]), np.zeros((2, 5), np.float32)
    apart[0] = [1.0, 0.0, 2.0, 0.0, 1.0]  # the sum runs through 1, 1, 3, 3, 6
    first, potential = np.array([0, 2, 5], np.int64), np.array([1.0, 5.0])
    targets, found = np.array([0.0, 0.99, 1.0, 2.99, 3.0, 5.99]), np.empty(6, np.int64)
    ways(seeding.find_rows)[way](first, weight, apart, potential, targets, found)
    assert_array_equal(found, [0, 0, 2, 2, 4, 4])


@pytest.mark.parametrize("way", [0, 1])
def test_sums_over_pairs(way):
    rows, weight = rng.normal(size=(75, 3)), rng.uniform(0.5, 2, size=75)
    labels = np.sort(rng.integers(0, 4, size=75)).astype(np.int32)
    begin = np.searchsorted(labels, np.arange(5)).astype(np.int64)
    first = np.array([0, 70, 75], np.int64)
    square = ((rows[:, None] - rows) ** 2).sum(axis=2)
    (own, other), within, mass = np.empty((2, 75)), np.empty(75), np.bincount(labels, weight)
    ways(pairs.mean_distances)[way](sync(), first, rows, weight, labels, begin, mass, own, other)
    same = labels[:, None] == np.arange(4)
    mean = np.sqrt(square) * weight @ same / mass
    assert_allclose(own, mean[same], rtol=SUMMED)
    assert_allclose(other, np.where(same, np.inf, mean).min(axis=1), rtol=SUMMED)
    ways(pairs.sum_squares_within)[way](sync(), first, rows, weight, labels, begin, within)
    own = labels[:, None] == labels
    assert_allclose(within, (square * own) @ weight, rtol=SUMMED)


@pytest.mark.parametrize("way", [0, 1])
@pytest.mark.parametrize(
    ("kind", "alpha"),
    [
        (stochastic.CONSTANT, lambda t, count: 0.2),
        (stochastic.COUNT, lambda t, count: 1 / count),
        (stochastic.DECAYING, lambda t, count: 0.2 / (1 + t) ** 0.7),
    ],
)
def test_each_row_pulls_its_nearest_centre_once_for_each_copy(way, kind, alpha):
    X, centres = rng.normal(size=(40, 2)), rng.normal(size=(4, 2))
    centres[2] = centres[1]  # of equally near ones the first is pulled
    copies = rng.integers(1, 4, size=40)
    order, columns = rng.permutation(40), np.ascontiguousarray(centres.T)
    count, steps = np.zeros(4), np.zeros(1)
    ways(stochastic.pull_centres)[way](
        X, 1.0, np.zeros(2), copies.astype(float), order, kind, 0.2, 0.7, columns, count, steps
    )
    by_hand, t = np.zeros(4), 0
    for i in order:
        k = ((X[i] - centres) ** 2).sum(axis=1).argmin()
        for _ in range(copies[i]):
            by_hand[k] += 1
            centres[k] += alpha(t, by_hand[k]) * (X[i] - centres[k])
        t += copies[i]
    assert_allclose(columns.T, centres, rtol=SUMMED, atol=LAST_BITS)
    assert_array_equal(count, by_hand)
    assert steps[0] == copies.sum()


@pytest.mark.parametrize("way", [0, 1])
@pytest.mark.parametrize("size", [1.0, 1e-5])  # where single precision tells, and where it does not
def test_single_rows_go_where_they_lower_the_sum_of_squares(way, size):
    X, weight = rng.normal(size=(90, 2)) * size, rng.uniform(0.5, 2, size=90)
    X[-3:] = 1.0  # the third cluster
    labels = rng.integers(0, 2, size=90).astype(np.int32)
    labels[-3:] = 2

    def within(labels):
        return sum(
            weight[labels == k]
            @ ((X[labels == k] - np.average(X[labels == k], 0, weight[labels == k])) ** 2).sum(1)
            for k in range(3)
        )

    same = labels[:, None] == np.arange(3)
    mass, sums, count = weight @ same, same.T @ (weight[:, None] * X), same.sum(axis=0)
    centres, spent = sums / mass[:, None], np.zeros(3)
    slack, scored = np.full(90, np.inf, np.float32), scored_centres(centres)
    before, moves, start, original = within(labels), 1, centres.copy(), labels.copy()
    while moves:
        moves = ways(single_rows.move_single_rows)[way](
            X, 1.0, np.zeros(2), weight, tiled(X), centres, *scored, spent, labels, slack, sums,
            mass, count,
        )  # fmt: skip
        now = within(labels)
        assert now < before or moves == 0
        before = now
    for i in range(90):  # no row can go anywhere
        for k in range(3):
            other = labels.copy()
            other[i] = k
            if (np.bincount(other, minlength=3) > 0).all():
                assert within(other) >= before * (1 - 1e-9)  # a move is worth that much
    assert (labels != original).any()
    assert_array_equal(count, np.bincount(labels, minlength=3))
    assert_allclose(
        centres,
        (labels[:, None] == np.arange(3)).T @ (weight[:, None] * X) / mass[:, None],
        rtol=SUMMED,
    )
    assert_array_equal(scored[0], scored_centres(centres)[0])
    assert_array_equal(scored[1], scored_centres(centres)[1])
    assert scored[2] >= scored_centres(centres)[2]
    # Rows that moved are looked at next, and centres have not gone further than was used up.
    assert (slack[labels != original] < 0).all()
    gone = np.sqrt(((centres - start) ** 2).sum(axis=1))
    assert (spent >= gone + [np.delete(gone, k).max() for k in range(3)]).all()


@pytest.mark.parametrize("way", [0, 1])
def test_ways_down_end_where_no_single_row_can_lower_the_sum_of_squares(way):
    """The first end is followed to there; the second is not near enough, and Lloyd's."""
    X, weight = rng.uniform(-1, 1, size=(70, 2)), rng.uniform(0.5, 2, size=70)
    X -= weight @ X / weight.sum()
    first, starts = np.array([0, LANES, 70], np.int64), X[[[0, 1, 2, 3], [0, 1, 2, 4]]]
    total = float(weight @ (X**2).sum(axis=1))
    for near, t, rough in ((np.inf, 0, 1e-12), (0.0, 1, 1e-12), (np.inf, 1, 0.5)):
        centres, within, iterations = starts.copy(), np.empty(2), np.empty(2, np.int64)
        ways(descending.descend)[way](
            sync(), first, X, 1.0, np.zeros(2), weight, tiled(X), total, weight.sum(), rough,
            np.inf, near, 50, centres, within, iterations,
        )  # fmt: skip
        square = ((X[:, None] - centres[t]) ** 2).sum(axis=2)
        labels = square.argmin(axis=1)
        assert within[t] == pytest.approx(weight @ square.min(axis=1), rel=SUMMED)
        mass = np.bincount(labels, weight)
        for k in range(4):
            own = labels == k
            assert_allclose(centres[t, k], np.average(X[own], 0, weight[own]), rtol=0, atol=SUMMED)
        out = (square * mass / (mass - weight[:, None]))[np.arange(70), labels]
        into = square * mass / (mass + weight[:, None])
        into[np.arange(70), labels] = np.inf
        if near > 0:
            assert (into.min(axis=1) >= out * (1 - 1e-8)).all()
        assert (iterations > 1).all()
