"""The loops of the trees beside plain NumPy, compiled and as Python runs them."""

from types import SimpleNamespace

import numpy as np
import pytest
from numba import njit
from numpy.testing import assert_allclose, assert_array_equal

from empirisk.compiled.trees import (
    absolute,
    binning,
    categories,
    criteria,
    finishing,
    ordering,
    pruning,
)
from empirisk.compiled.trees.frontier import pop, push
from empirisk.compiled.trees.layout import NODE, OPEN
from empirisk.compiled.trees.leaf_quantiles import find_quantiles
from tolerances import SUMMED

HALF, LOW = np.uint64(32), np.uint64(0xFFFFFFFF)


def door(inner):
    """A compiled function that calls an inner one, of which Python would run the original."""
    return njit(error_model="numpy")(lambda *arguments: inner(*arguments))


sort_codes, bin_sum = door(ordering.sort_codes), door(binning.bin_sum)
bin_classes = door(binning.bin_classes)
enter_compiled, least_loss_compiled = door(absolute.enter), door(absolute.least_loss)


def room(m):
    """Full of what must not be read."""
    return [
        np.full(shape, 77, kind)
        for shape, kind in [(2 * m + 70, np.uint64), (2048, np.uint32), ((2, 32), np.int32)]
    ]


@pytest.mark.parametrize("m", [1, 2, 7, 8, 31, 32, 33, 64, 257, 3000])
@pytest.mark.parametrize("span", [1, 3, 200, 70_000, 2**26, 2**31, 2**32 - 5])
@pytest.mark.parametrize("compiled", [True, False], ids=["compiled", "python"])
def test_rows_are_sorted_by_code_then_position(m, span, compiled):
    if not compiled and m > 40:
        return
    rng = np.random.default_rng(m)
    low = rng.integers(0, 4)
    codes = (low + rng.integers(0, span, size=m)).astype(np.uint32)
    entries, counts, keys = room(m)
    if compiled:
        sort = sort_codes
    else:
        small = m <= ordering.ALL_PAIRS and span < 2**25
        sort = ordering.sort_by_pairs.py_func if small else None
    least, most = codes.min(), codes.max()
    if sort is sort_codes:
        sort(codes, least, most, m, entries, 3, m + 5, counts, keys)
    elif sort is not None:
        sort(codes, least, m, entries, 3, keys)
    else:
        bits = max(1, int(most - least).bit_length())
        ordering.sort_by_digits.py_func(codes, least, bits, m, entries, 3, m + 5, counts)
    expected = np.argsort(codes, kind="stable")
    assert_array_equal(entries[3 : 3 + m] & LOW, expected)
    assert_array_equal(entries[3 : 3 + m] >> HALF, codes[expected])


@pytest.mark.parametrize("compiled", [True, False], ids=["compiled", "python"])
def test_bins_hold_the_sums_of_their_codes(compiled):
    rng = np.random.default_rng(0)
    m, n_bins = 200, 40
    codes = (5 + rng.choice(n_bins, size=m, p=rng.dirichlet(np.full(n_bins, 0.3)))).astype(
        np.uint32
    )
    sums = np.zeros((m + n_bins, 2))
    sums[:m] = rng.normal(size=(m, 2))
    sums[:m, 0] = np.abs(sums[:m, 0]) + 0.1
    entries = np.zeros(m + n_bins, np.uint64)
    fill = bin_sum if compiled else binning.bin_sum.py_func
    n = fill(codes, np.uint32(5), n_bins, m, sums, m, entries, 0)
    found, places = entries[:n] >> HALF, (entries[:n] & LOW).astype(int)
    assert_array_equal(found, np.unique(codes))
    for code, place in zip(found, places, strict=True):
        assert_allclose(sums[place], sums[:m][codes == code].sum(axis=0), rtol=SUMMED)


@pytest.mark.parametrize("m", [1, 6, 301])
@pytest.mark.parametrize("n_bins", [2, 40, 700])
@pytest.mark.parametrize("weighted", [True, False], ids=["weighted", "counted"])
def test_cells_hold_the_weights_of_their_code_and_class(weighted, n_bins, m):
    rng = np.random.default_rng(m)
    K, low = 3, 5
    codes = rng.integers(low, low + n_bins, size=m).astype(np.uint32)
    sums, label = np.zeros((m + n_bins * K, 1)), np.zeros(m + n_bins * K, np.int32)
    sums[:m, 0] = rng.uniform(size=m) if weighted else 1.0
    label[:m] = rng.integers(0, K, size=m)
    expected = np.zeros((n_bins, K))
    np.add.at(expected, (codes.astype(int) - low, label[:m]), sums[:m, 0])
    entries = np.zeros(n_bins * K + 1, np.uint64)
    counts = np.zeros(2048, np.uint32)  # 700 bins of 3 classes have no room in it
    n = bin_classes(
        codes, np.uint32(low), n_bins, K, m, sums, label, m, entries, 0, np.int64(weighted), counts
    )
    bins, classes = np.nonzero(expected)
    place = (entries[:n] & LOW).astype(int)
    assert_array_equal(entries[:n] >> HALF, bins + low)
    assert_array_equal(label[place], classes)
    assert_allclose(sums[place, 0], expected[bins, classes], rtol=1e-14)  # sums of the same terms


@pytest.mark.parametrize("compiled", [True, False], ids=["compiled", "python"])
def test_a_fenwick_tree_finds_the_least_sum_of_absolute_errors(compiled):
    rng = np.random.default_rng(1)
    y = rng.normal(size=23)
    order = np.argsort(y)
    rank = np.argsort(order)
    w = rng.integers(1, 5, size=23).astype(float)
    tree = np.zeros((24, 5))
    tree[rank, 2] = y
    enter = enter_compiled if compiled else absolute.enter.py_func
    least_loss = least_loss_compiled if compiled else absolute.least_loss.py_func
    inside = rng.permutation(23)
    for k, i in enumerate(inside, start=1):
        enter(tree, 23, rank[i], w[i], w[i] * y[i])
        now = inside[:k]
        loss = least_loss(tree, 23, 16, w[now].sum(), w[now] @ y[now])
        brute = min((w[now] * abs(y[now] - c)).sum() for c in y[now])
        assert loss == pytest.approx(brute, rel=SUMMED, abs=SUMMED)


@pytest.mark.parametrize("compiled", [True, False], ids=["compiled", "python"])
def test_levels_are_sorted_by_score_equal_ones_by_code(compiled):
    rng = np.random.default_rng(2)
    for n in (1, 2, 3, 17, 64):
        means = np.zeros((n, 3))
        means[:, 1] = rng.integers(0, 5, size=n)
        levels = np.zeros((4, n), np.uint32)
        sort = categories.sort_levels if compiled else categories.sort_levels.py_func
        sort(means, levels, n)
        assert_array_equal(levels[2], np.argsort(means[:, 1], kind="stable"))


def test_the_score_of_levels_is_their_first_principal_component():
    rng = np.random.default_rng(3)
    L, K = 9, 4
    weight, shares = rng.uniform(1, 5, size=L), rng.dirichlet(np.ones(K), size=L)
    means = np.zeros((L + K + 1, K + 2))
    means[:L, 0], means[:L, 2:] = weight, shares
    totals = np.zeros((4, K))
    totals[0] = weight @ shares
    categories.score_levels.py_func(means, L, K, weight.sum(), totals)
    centred = shares - totals[0] / weight.sum()
    direction = np.linalg.eigh((centred * weight[:, None]).T @ centred)[1][:, -1]
    expected = shares @ direction
    correlation = np.corrcoef(means[:L, 1], expected)[0, 1]
    assert abs(correlation) > 1 - 1e-6  # 60 steps of the power method


def test_a_heap_gives_the_largest_gain_then_the_oldest_node():
    rng = np.random.default_rng(4)
    nodes, opened = np.zeros(40, NODE).view(np.recarray), np.zeros(40, OPEN).view(np.recarray)
    nodes["gain"] = rng.integers(0, 8, size=40)
    opened["node"] = rng.permutation(40)
    heap = np.zeros(40, np.int32)
    for n in range(40):
        push(heap, n, opened, nodes, np.int32(n))
    order = [pop(heap, n, opened, nodes) for n in range(40, 0, -1)]
    number = opened["node"][order]
    expected = np.lexsort([np.arange(40), -nodes["gain"]])
    assert_array_equal(number, expected)


def test_worths_are_minus_weight_times_impurity_up_to_what_all_splits_share():
    rng = np.random.default_rng(5)
    sums = rng.uniform(1, 5, size=3)
    W = sums.sum()
    totals, costs = np.zeros((4, 3)), rng.uniform(size=(3, 3))
    totals[2] = sums
    p = sums / W

    def worth(kind):
        return criteria.worth_of_sums(kind, W, totals, criteria.LEFT, costs)

    assert worth(criteria.GINI) == pytest.approx(W * (p**2).sum(), rel=SUMMED)
    assert worth(criteria.ENTROPY) == pytest.approx(W * (p * np.log(p)).sum(), rel=SUMMED)
    assert worth(criteria.COST) == pytest.approx(-W * (costs @ p).min(), rel=SUMMED)
    assert worth(criteria.GINI_COST) == pytest.approx(-W * p @ costs @ p, rel=SUMMED)
    two = criteria.worth_of_sum.py_func
    assert two(criteria.ENTROPY_TWO, 5.0, 2.0, 2.0, costs) == pytest.approx(
        2 * np.log(2 / 5) + 3 * np.log(3 / 5), rel=SUMMED
    )
    assert two(criteria.COST_TWO, 5.0, 2.0, 2.0, costs) == pytest.approx(
        -min(2 * costs[0, 1], 3 * costs[1, 0]), rel=SUMMED
    )
    assert two(criteria.POISSON, 5.0, 1e-14, 2.0, costs) == -np.inf


def test_weakest_links_run_uncompiled():
    # Leaves of risk 1, 1, 2; inner nodes of risk 2.5 and 6 (root): links 0.5, and 1 at first, then
    # (6 - 4.5) / 1.
    right = np.array([4, 3, -1, -1, -1], np.int32)
    parent, end = np.array([-1, 0, 1, 1, 0], np.int32), np.array([5, 4, 3, 4, 5], np.int32)
    risk = np.array([6.0, 2.5, 1.0, 1.0, 2.0])
    alpha, steps, after = np.empty(5), np.empty(5), np.empty(5)
    for run in (pruning.weakest_links, pruning.weakest_links.py_func):
        n = run(right, parent, end, risk, alpha, steps, after)
        assert_array_equal(steps[:n], [0.5, 1.5])
        assert_array_equal(after[:n], [4.5, 6.0])
        assert_array_equal(alpha, [1.5, 0.5, -np.inf, -np.inf, -np.inf])


@pytest.mark.parametrize("missing_left", [True, False])
@pytest.mark.parametrize("n_levels", [1, 31, 32, 33, 200, 5000])
@pytest.mark.parametrize("compiled", [True, False], ids=["compiled", "python"])
def test_lists_of_levels_hold_those_that_do_not_go_as_missing_values(
    compiled, n_levels, missing_left
):
    def run(kernel):
        return kernel if compiled else kernel.py_func

    rng = np.random.default_rng(n_levels)
    seen = rng.permutation(n_levels)[: max(1, n_levels // 9)].astype(np.uint32)
    n_left = len(seen) - len(seen) // 2
    levels = np.zeros((4, len(seen)), np.uint32)
    levels[3] = seen
    words = np.zeros((2, -(-n_levels // 32)), np.uint32)
    run(categories.note_subset)(levels, len(seen), np.uint32(n_left - 1), words)
    packed, subsets = np.zeros((2, 8 + 3 * words.shape[1]), np.uint32)
    assert run(categories.pack_subset)(words, packed, 5) <= packed.size
    left, words[0] = words[0].copy(), 1
    run(categories.unpack_subset)(packed, 5, words)
    assert_array_equal(words[0], left)
    end = run(categories.turn_subset)(packed, 5, missing_left, subsets, 2)
    apart = seen[n_left:] if missing_left else seen[:n_left]
    assert end == 3 + 2 * len(np.unique(apart // 32))
    if len(apart):
        listed = [
            run(categories.is_listed)(subsets, np.int64(2), np.uint32(level))
            for level in range(n_levels)
        ]
        assert_array_equal(np.flatnonzero(listed), np.sort(apart))


def test_a_threshold_is_half_way_or_the_lower_value_where_rounding_leaves_nothing_between():
    feature, one = SimpleNamespace(n_codes=4, points=1), 1.0 + 2.0**-52
    for low, high, middle in [
        (1.0, 3.0, 2.0),
        (1.0, one, 1.0),
        (one, 1.0 + 2.0**-51, one),  # whose mean is rounded to the upper one
        (-1e308, 1.5e308, 0.25e308),
    ]:
        points = np.array([-9.0, low, high, 9.0])
        assert finishing.half_way(feature, np.uint32(0), np.uint32(1), points) == middle
    assert finishing.half_way(feature, np.uint32(1), np.uint32(4), points) == np.inf


def test_a_side_is_heavier_by_more_than_rounding():
    assert finishing.is_heavier(2.0, 1.0)
    assert not finishing.is_heavier(1.0, 2.0)
    assert not finishing.is_heavier(3.0, 3.0)
    assert not finishing.is_heavier(0.1 + 0.2, 0.3)  # larger in the last bit alone


@pytest.mark.parametrize("n_splits", [0, 1, 2, 30])
@pytest.mark.parametrize("compiled", [True, False], ids=["compiled", "python"])
def test_nodes_are_put_in_preorder(compiled, n_splits):
    rng = np.random.default_rng(n_splits)
    right = np.full(2 * n_splits + 1, -1, np.int32)
    for split in range(n_splits):  # of any leaf so far
        right[rng.choice(np.flatnonzero(right[: 2 * split + 1] < 0))] = 2 * split + 2
    order, stack = [], [0]
    while stack:
        node = stack.pop()
        order.append(node)
        if right[node] >= 0:
            stack += [right[node], right[node] - 1]
    below, place = np.empty((2, len(right)), np.int32)
    table = np.arange(2 * len(right)).reshape(-1, 2)
    find, move = finishing.find_places, finishing.rearrange
    (find if compiled else find.py_func)(right, below, place)
    assert_array_equal(place[order], np.arange(len(right)))
    (move if compiled else move.py_func)(table, place)
    assert_array_equal(table[:, 0], 2 * np.array(order))
    assert_array_equal(place, np.arange(len(right)))


def test_quantiles_of_members_are_those_of_their_cumulated_weights():
    """As Python runs it, which stops at a place that an array does not have."""
    rng = np.random.default_rng(0)
    sizes = np.array([2, 3, 1, 4, 2])  # members of two leaves of one tree, and of three of another
    first, first_leaf = np.append(0, np.cumsum(sizes)), np.array([0, 2])
    ranks = rng.integers(0, 6, size=12)
    weight = np.concatenate([rng.dirichlet(np.ones(size)) for size in sizes])
    weight[first[3] : first[4]] = [0.5, 0.0, 0.25, 0.25]
    leaves = np.array([[a, b] for a in range(2) for b in range(3)])
    levels = np.array([0.0, 0.125, 0.3, 0.5, 0.5, 0.9, 1.0])
    found = np.full((6, 7), -1)
    room = np.zeros(6), np.empty(6, np.int64)
    find_quantiles.py_func(leaves, first_leaf, first, ranks, weight, *room, levels, found)
    for pair, quantiles in zip(leaves, found, strict=True):
        share = np.zeros(6)
        for leaf in first_leaf + pair:
            own = slice(first[leaf], first[leaf + 1])
            np.add.at(share, ranks[own], weight[own] / 2)
        upto = np.cumsum(share)
        there = np.flatnonzero(share)
        twin = [there[np.argmax(upto[there] >= level - 1e-12)] for level in levels]
        assert_array_equal(quantiles, twin)
    assert not room[0].any()
    short, less = np.full((6, 7), -1), weight * (1 - 1e-9)  # rounding of many small shares
    find_quantiles.py_func(leaves, first_leaf, first, ranks, less, *room, levels, short)
    assert_array_equal(short[:, -1], found[:, -1])


@pytest.mark.parametrize("compiled", [True, False], ids=["compiled", "python"])
def test_links_leave_their_heap_least_first_and_of_equal_ones_the_node_above(compiled):
    sift_down = pruning.sift_down if compiled else pruning.sift_down.py_func
    rng = np.random.default_rng(0)
    for n in (1, 2, 3, 10, 40):
        link, heap = rng.integers(0, 4, size=n).astype(float), rng.permutation(n).astype(np.int32)
        for at in range(n // 2 - 1, -1, -1):
            sift_down(heap, n, link, at)
        left = []
        for size in range(n - 1, -1, -1):
            left.append(heap[0])
            heap[0] = heap[size]
            sift_down(heap, size, link, 0)
        assert_array_equal(left, np.lexsort((np.arange(n), link)))
