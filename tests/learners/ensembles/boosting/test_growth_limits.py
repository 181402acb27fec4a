"""Trees of histogram boosting within limits: room, constraints, forms of entries, teams."""

import numpy as np
import pytest

from boosted_rows import kept_trees
from empirisk.compiled.decorator import compiled
from empirisk.compiled.team import meet
from empirisk.learners.ensembles.boosting import boosted_trees, entry_widths
from empirisk.learners.ensembles.boosting.bins import BinnedTable
from empirisk.learners.ensembles.boosting.growth import Booster
from empirisk.learners.ensembles.boosting.room import Limits
from empirisk.learners.team import Team
from tolerances import SUMMED


def table(n, p=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    X[rng.uniform(size=n) < 0.05, 1] = np.nan
    return X, BinnedTable.of(X, [None] * p), rng


def grown(bins, g, h, limits, **options):
    booster = Booster(bins, limits, **options)
    booster.grow(g, h)
    return booster


def test_a_tree_is_the_same_when_there_is_no_room_for_histograms(monkeypatch):
    X, bins, rng = table(5000)
    g, h = np.sin(3 * X[:, 0]) + rng.normal(size=5000), rng.uniform(1, 2, size=5000)
    limits = Limits(max_leaf_nodes=None, min_samples_leaf=7)
    free = grown(bins, g, h, limits)
    monkeypatch.setattr(entry_widths, "HISTOGRAM_BYTES", 1)  # two, and two that are used again
    tight = grown(bins, g, h, limits)
    assert free.n_leaves > 100
    np.testing.assert_array_equal(free.newest().nodes, tight.newest().nodes)
    np.testing.assert_array_equal(free.leaf_values, tight.leaf_values)


@pytest.mark.parametrize("sign", [1, -1])
def test_monotone_constraints_hold_everywhere(sign):
    X, bins, rng = table(3000)
    g = 3 * np.sin(2 * X[:, 0]) * X[:, 2] + rng.normal(size=3000)
    limits = Limits(min_samples_leaf=5, monotone=np.array([sign, 0, 0, 0]), learning_rate=1.0)
    booster = grown(bins, g, rng.uniform(1, 2, size=3000), limits)
    booster.keep()
    used = booster.newest().nodes.view(np.int32)
    assert (used[used[:, 3] != np.arange(len(used)), 2] >> 2 == 0).any()
    points = np.repeat(X[:50], 60, axis=0)
    points[:, 0] = np.tile(np.linspace(-3, 3, 60), 50)
    scores = np.zeros((3000, 1))
    kept_trees(booster).add_to(scores, points)
    assert (sign * np.diff(scores.reshape(50, 60), axis=1) >= 0).all()


def test_a_path_uses_features_of_one_set_only():
    X, bins, rng = table(3000)
    g = X[:, 0] * X[:, 2] + X[:, 3] + rng.normal(size=3000)
    tree = grown(bins, g, None, Limits(interactions=[{0, 1}, {2, 3}])).newest()
    links = tree.nodes.view(np.int32)
    sets = [frozenset()] * len(links)
    for i in np.flatnonzero(links[:, 3] != np.arange(len(links))):
        here = sets[i] | {links[i, 2] >> 2}
        assert here <= {0, 1} or here <= {2, 3}
        sets[i + 1] = sets[links[i, 3]] = here
    assert {0, 1} & sets[-1] or {2, 3} & sets[-1]


def test_entries_of_few_bits_grow_the_tree_of_wide_ones_where_nothing_is_rounded(monkeypatch):
    X, bins, rng = table(20_000)
    g = np.clip(np.round(2000 * X[:, 0] + 2000 * rng.normal(size=20_000)), -8190, 8190)
    h = rng.integers(1, 8191, size=20_000).astype(float)
    g[0] = h[0] = 8190.0
    trees = []
    for many in (2**14, 2**40):
        monkeypatch.setattr(entry_widths, "MANY_ROWS", many)
        trees.append(grown(bins, g, h, Limits()))
    np.testing.assert_array_equal(trees[0].newest().nodes, trees[1].newest().nodes)
    np.testing.assert_array_equal(trees[0].leaf_values, trees[1].leaf_values)


def test_an_outlier_does_not_hide_the_other_gradients(monkeypatch):
    X, bins, rng = table(20_000)
    g, h = X[:, 0] + rng.normal(size=20_000), rng.uniform(1, 2, size=20_000)
    g[7] = 1e9
    trees = []
    for many in (2**14, 2**40):
        monkeypatch.setattr(entry_widths, "MANY_ROWS", many)
        trees.append(grown(bins, g, h, Limits()).newest().nodes)
    np.testing.assert_array_equal(trees[0], trees[1])


def test_rounding_by_chance_makes_no_splits_of_its_own(monkeypatch):
    X, _, rng = table(40_000)
    y = (rng.uniform(size=40_000) < 0.001).astype(float)  # 8 units of 1 / 8190 for all other rows
    X[:, 0] = np.round(X[:, 0]) + 100 * y
    bins, start = BinnedTable.of(X, [None] * 4), np.full(40_000, np.log(0.001 / 0.999))
    trees = []
    for many in (2**14, 2**40):
        monkeypatch.setattr(entry_widths, "MANY_ROWS", many)
        booster = Booster(bins, Limits(min_samples_leaf=1))
        booster.round("log", start.copy(), y)
        trees.append(booster)
    assert trees[0].n_leaves == trees[1].n_leaves == 2  # all rows beside the class are alike
    np.testing.assert_allclose(trees[0].leaf_values, trees[1].leaf_values, rtol=SUMMED)


def test_rounding_by_chance_does_not_go_with_the_number_of_the_row(monkeypatch):
    row, rng = np.arange(100_000), np.random.default_rng(0)
    y = np.zeros(100_000)
    y[rng.permutation(100_000)[:2]] = 1.0
    for x in (row * (np.sqrt(5) - 1) / 2 % 1, row * np.sqrt(2) % 1):
        bins, trees = BinnedTable.of(x[:, None], [None]), []
        for many in (2**14, 2**40):
            monkeypatch.setattr(entry_widths, "MANY_ROWS", many)
            booster = Booster(bins, Limits())
            booster.round("log", np.full(100_000, np.log(2e-5 / (1 - 2e-5))), y)
            trees.append(booster)
        # Rounding by multiples of the golden ratio made two leaves more, and 6 % of the gain.
        assert trees[0].n_leaves == trees[1].n_leaves
        gains = [tree.newest().gains.sum() for tree in trees]
        # Each label is alone in a bin of 392 rows. Rounding a row by chance adds a variance of
        # 2e-5 / 8190: a deviation of 1e-3 from a gradient of 1 there, 1.4e-3 of the gain of both.
        np.testing.assert_allclose(*gains, rtol=0.01)


def test_rounding_by_chance_costs_nothing_that_labels_do_not_cost_a_thousand_times(monkeypatch):
    X, bins, rng = table(60_000)
    y = (X[:, 0] + 0.3 * rng.normal(size=60_000) > 3.2).astype(float)
    assert 0 < y.mean() < 0.002  # gradients of all others are below 16 units of 1 / 8190
    start = np.full(60_000, np.log(y.mean() / (1 - y.mean())))
    losses = []
    for many in (2**14, 2**40):
        monkeypatch.setattr(entry_widths, "MANY_ROWS", many)
        booster, score = Booster(bins, Limits(learning_rate=1e-3), n_jobs=2), start.copy()
        for _ in range(5):
            booster.round("log", score, y)
        losses.append(np.mean(np.logaddexp(0, score) - y * score))
    base = np.mean(np.logaddexp(0, start) - y * start)
    # What the trees win, from gradients of few bits and of all.
    assert abs(losses[0] - losses[1]) < 0.01 * (base - losses[1])


def test_gradients_of_any_size_grow_the_same_tree():
    X, bins, rng = table(2000)
    g, h = X[:, 0] + rng.normal(size=2000), rng.uniform(1, 2, size=2000)
    plain = grown(bins, g, h, Limits())
    for power in (600, -600):
        scaled = grown(bins, np.ldexp(g, power), h, Limits())
        np.testing.assert_array_equal(scaled.newest().nodes, plain.newest().nodes)
        np.testing.assert_array_equal(np.ldexp(scaled.leaf_values, -power), plain.leaf_values)


def test_a_row_of_weight_w_grows_the_tree_of_w_copies():
    X, _, rng = table(1500)
    weight = rng.integers(1, 4, size=1500)
    g, h = X[:, 0] + rng.normal(size=1500), rng.uniform(1, 2, size=1500)
    weighted = BinnedTable.of(X, [None] * 4, weight=weight.astype(float))
    copied = BinnedTable.of(np.repeat(X, weight, axis=0), [None] * 4)
    a = grown(weighted, g * weight, h * weight, Limits(), weight=weight.astype(float))
    b = grown(copied, np.repeat(g, weight), np.repeat(h, weight), Limits())
    np.testing.assert_array_equal(a.newest().nodes, b.newest().nodes)
    np.testing.assert_allclose(a.leaf_values, b.leaf_values, rtol=1e-12)  # sums in another order
    np.testing.assert_allclose(a.newest().weight, b.newest().weight, rtol=1e-12)


def test_scores_of_many_rows_are_those_of_walking(monkeypatch):
    X, bins, rng = table(6000)
    y = rng.integers(3, size=6000) + (X[:, 0] > 0.5)
    y = np.minimum(y, 2).astype(float)
    booster, scores = Booster(bins, Limits()), np.zeros((3, 6000))
    for _ in range(3):
        booster.derive_classes(scores, y)
        for k in range(3):
            booster.round_of_class(k, scores[k])
            booster.keep()
    trees = kept_trees(booster, 3)
    assert len(trees) == 3
    for few in (64, 10**9):
        monkeypatch.setattr(boosted_trees, "FEW_ROWS", few)
        again = np.zeros((6000, 3))
        trees.add_to(again, X, n_jobs=2)
        np.testing.assert_array_equal(again.T, scores)
    parts = np.zeros((6000, 3))
    trees[:1].add_to(parts, X)
    trees[1:].add_to(parts, X)
    np.testing.assert_array_equal(parts.T, scores)
    np.testing.assert_array_equal(booster.find_leaves(bins[::7]), booster.leaf_of[::7])


@compiled
def meet_twice(sync, team):
    return meet(sync, team) and meet(sync, team)


def test_a_thread_that_fails_stops_those_who_wait_for_it():
    team = Team(2, most=2)
    answers = []

    def call(rank):
        if rank == 0:
            raise KeyboardInterrupt
        answers.append(meet_twice(team.sync, 2))

    with pytest.raises(KeyboardInterrupt):
        team.run(call)
    assert answers == [False]
    team.run(lambda rank: answers.append(meet_twice(team.sync, 2)))
    assert answers[1:] == [True, True]
