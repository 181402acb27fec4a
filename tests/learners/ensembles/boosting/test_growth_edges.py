"""Trees of histogram boosting where a limit is just met, from some of the rows, in few bits."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from boosted_rows import kept_trees
from empirisk.learners.ensembles.boosting import entry_widths
from empirisk.learners.ensembles.boosting.bins import BinnedTable
from empirisk.learners.ensembles.boosting.growth import Booster
from empirisk.learners.ensembles.boosting.room import Limits

WAYS = ["one word", "two words", "few bits", "bounded", "bounded in two words"]
ways = pytest.mark.parametrize("way", WAYS)


def grown(X, g, h=None, *, category=False, rows=None, **limits):
    """A tree to one feature, or to several; by default one row is enough for a leaf."""
    X = np.asarray(X, float)
    X = X[:, None] if X.ndim == 1 else X
    limits = {"learning_rate": 1.0, "min_samples_leaf": 1, **limits}
    booster = Booster(BinnedTable.of(X, [category] * X.shape[1]), Limits(**limits))
    booster.grow(np.asarray(g, float), h if h is None else np.asarray(h, float), rows=rows)
    return booster


def grown_by(way, monkeypatch, X, g, **limits):
    """The same tree in every form that entries have; curvatures are 1, and constraints are met."""
    if way == "few bits":
        monkeypatch.setattr(entry_widths, "MANY_ROWS", 1)
    if way.startswith("bounded"):
        limits["monotone"] = np.full(np.shape(X)[1] if np.ndim(X) == 2 else 1, -1)
    return grown(X, g, None if way in ("one word", "bounded") else np.ones(len(g)), **limits)


@ways
def test_a_leaf_may_have_just_the_least_number_of_rows(way, monkeypatch):
    g = np.repeat([-1.0, 1.0], 4)
    for least, leaves in [(4, 2), (5, 1)]:
        tree = grown_by(way, monkeypatch, np.arange(8), g, min_samples_leaf=least)
        assert tree.n_leaves == leaves
    for first in (3, 5):  # the best split would leave three rows on one side
        g = np.repeat([-1.0, 1.0], [first, 8 - first])
        for least, sizes in [(3, [first, 8 - first]), (4, [4, 4])]:
            tree = grown_by(
                way, monkeypatch, np.arange(8), g, min_samples_leaf=least, max_leaf_nodes=2
            )
            assert_array_equal(np.bincount(tree.leaf_of), sizes)


@ways
def test_a_gain_that_is_just_the_least_is_not_enough(way, monkeypatch):
    g = [-1.0, -1.0, 1.0, 1.0]  # 2^2 / 2 on both sides, and 0 before
    for least, leaves in [(4.0, 1), (3.999, 2)]:
        assert grown_by(way, monkeypatch, [0, 0, 1, 1], g, min_gain=least).n_leaves == leaves
    # With l2 = 2: 2^2 / 4 on both sides.
    for least, leaves in [(2.0, 1), (1.999, 2)]:
        tree = grown_by(way, monkeypatch, [0, 0, 1, 1], g, min_gain=least, l2=2.0)
        assert tree.n_leaves == leaves


@pytest.mark.parametrize("last", [False, True], ids=["left", "right"])
@pytest.mark.parametrize("kind", ["number", "bounded", "level"])
def test_a_leaf_has_a_thousandth_of_curvature_at_least(kind, last):
    """The ten rows of one value ask for a leaf of their own."""
    x, g = np.repeat([0.0, 1.0, 2.0], 10), np.repeat([-9.0, 1.0, 2.0], 10)
    x, g = (2.0 - x, -g) if last else (x, g)
    how = {"max_leaf_nodes": 2, "category": kind == "level"}
    how["monotone"] = np.array([-1]) if kind == "bounded" else None
    for curvature, alone in [(1.01e-4, True), (0.99e-4, False)]:
        tree = grown(x, g, np.where(np.abs(g) == 9.0, curvature, 1.0), **how)
        cells = [set(x[tree.leaf_of == k]) for k in range(2)]
        lonely = {2.0} if last else {0.0}
        assert (lonely in cells) == alone
        assert tree.n_leaves == 2


@pytest.mark.parametrize("kind", ["number", "bounded", "level"])
def test_what_was_not_seen_goes_with_the_most_rows_and_else_right(kind):
    x = np.repeat([0.0, 1.0], 20)
    how = {"category": kind == "level", "monotone": np.array([-1]) if kind == "bounded" else None}
    for first, side in [(19, 1), (20, 1), (21, 0)]:
        x = np.repeat([0.0, 1.0], [first, 40 - first])
        tree = grown(x, np.where(x == 0, -1.0, 1.0), **how)
        tree.keep()
        scores = np.zeros((1, 1))
        kept_trees(tree).add_to(scores, np.array([[np.nan]]))
        assert scores[0, 0] == tree.leaf_values[side]


@ways
def test_a_single_row_without_a_value_goes_the_better_way(way, monkeypatch):
    for g, like in [(-1.0, 0), (1.0, 3), (9.0, 5)]:
        x, slopes = [0, 0, 1, 1, 1, np.nan], [-1.0, -1.0, 1.0, 1.0, 1.0, g]
        tree = grown_by(way, monkeypatch, x, slopes, max_leaf_nodes=2)
        cell = tree.leaf_of == tree.leaf_of[5]
        assert_array_equal(cell, tree.leaf_of == tree.leaf_of[like])
        assert cell.sum() == {0: 3, 3: 4, 5: 1}[like]
    levels = np.append(np.repeat([0.0, 1.0], 10), np.nan)
    tree = grown(levels, np.append(np.repeat([-1.0, 1.0], 10), 99.0), category=True)
    assert (tree.leaf_of == tree.leaf_of[20]).sum() == 1


@ways
def test_of_equal_splits_the_first_feature_and_the_lowest_threshold_are_taken(way, monkeypatch):
    x, g = np.repeat([0.0, 1.0, 2.0], 4), np.repeat([-1.0, 0.0, 1.0], 4)
    tree = grown_by(way, monkeypatch, np.column_stack([x, x]), g, max_leaf_nodes=2).newest()
    assert tree.nodes.view(np.int32)[0, 2] >> 2 == 0
    assert tree.nodes.view(np.float64)[0, 0] == 0.5


@pytest.mark.parametrize("curved", [False, True])
def test_levels_with_few_rows_are_drawn_to_the_middle_of_the_order(curved):
    """Steps are -3, -2 and -1.9, and with 10 more of curvature -1.5, -1.82 and -1.73."""
    x, g = (np.repeat(each, [10, 100, 100]) for each in ([0.0, 1.0, 2.0], [-3.0, -2.0, -1.9]))
    tree = grown(x, g, np.ones(210) if curved else None, category=True, max_leaf_nodes=2)
    assert_array_equal(tree.leaf_of, x == 0)  # the first level comes last


def mixed_rows(n, seed=0):
    """Numbers with gaps, levels, and whole gradients and curvatures that few bits can hold."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 20, size=(n, 3)).astype(float)
    X[rng.uniform(size=n) < 0.1, 1] = np.nan
    X[:, 2] %= 5
    g = rng.integers(-4000, 4000, size=n) + 300.0 * (X[:, 0] - 10) + 500.0 * (X[:, 2] == 3)
    h = rng.integers(1000, 8191, size=n).astype(float)
    g[0] = h[0] = 8190.0
    return X, g.round(), h, [False, False, True]


@pytest.mark.parametrize("left_out", [1, 57])
@pytest.mark.parametrize("form", ["one word", "two words", "few bits"])
def test_a_tree_of_some_rows_is_that_of_a_table_of_them(form, left_out, monkeypatch):
    monkeypatch.setattr(entry_widths, "MANY_ROWS", 1 if form == "few bits" else 2**40)
    X, g, h, category = mixed_rows(400)
    h = None if form == "one word" else h
    rows = np.setdiff1d(np.arange(400), 7 * np.arange(left_out) + 1)
    table = BinnedTable.of(X, category)
    limits = Limits(max_leaf_nodes=10, min_samples_leaf=4, learning_rate=1.0)
    some, alone = Booster(table, limits), Booster(table[rows], limits)
    some.grow(-g, h)  # room that was used before changes nothing
    some.grow(g, h, rows=rows)
    alone.grow(g[rows], h if h is None else h[rows])
    assert some.n_leaves == 10
    assert_array_equal(some.newest().nodes, alone.newest().nodes)
    assert_array_equal(some.newest().rows, alone.newest().rows)
    # Sums in another order.
    assert_allclose(some.leaf_values, alone.leaf_values, rtol=1e-12)
    assert_array_equal(some.leaf_of[rows], alone.leaf_of)
    assert_array_equal(some.leaf_of, alone.find_leaves(table))


@pytest.mark.parametrize("curved", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_leaves_of_many_rows_have_the_values_of_their_sums(curved, weighted):
    rng = np.random.default_rng(0)
    n = 20_000  # three parts, which are summed one by one
    x = np.arange(n) % 5.0
    g, h, w = rng.normal(size=n) + x, rng.uniform(1, 2, size=n), rng.uniform(1, 2, size=n)
    h = h if curved else np.ones(n)
    limits = Limits(max_leaf_nodes=4, l2=3.0, learning_rate=0.5)
    tree = Booster(BinnedTable.of(x[:, None], [False]), limits, weight=w if weighted else None)
    tree.grow(g, h if curved else None)
    assert tree.n_leaves == 4
    G, H, W = (np.bincount(tree.leaf_of, each) for each in (g, h, w if weighted else np.ones(n)))
    # Sums of some thousand terms in another order.
    assert_allclose(tree.leaf_values, -0.5 * G / (H + 3.0), rtol=1e-12)
    assert_allclose(tree.newest().weight, W, rtol=1e-12)


@pytest.mark.parametrize("form", ["one word", "two words", "few bits"])
def test_the_gains_of_splits_add_up_to_what_the_leaves_are_worth_more_than_the_root(
    form, monkeypatch
):
    monkeypatch.setattr(entry_widths, "MANY_ROWS", 1 if form == "few bits" else 2**40)
    X, g, h, _ = mixed_rows(300)
    curvature = np.ones(300) if form == "one word" else h
    for some in ([0, 1], [1, 0]):
        tree = grown(X[:, some], g, None if form == "one word" else h, l2=50.0, min_samples_leaf=9)
        G, H = (np.bincount(tree.leaf_of, each) for each in (g, curvature))
        worth = (G**2 / (H + 50.0)).sum() - g.sum() ** 2 / (curvature.sum() + 50.0)
        # Differences of sums of whole numbers.
        assert_allclose(tree.newest().gains.sum(), worth, rtol=1e-9)
        stump = grown(X[:, some], g, None if form == "one word" else h, max_leaf_nodes=2)
        assert_array_equal(stump.newest().gains > 0, np.array(some) == 0)


@pytest.mark.parametrize("power", [0, 1000, -1000])
def test_gradients_of_any_size_grow_the_same_tree_in_few_bits(power, monkeypatch):
    X, g, h, _ = mixed_rows(300)
    trees = []
    for many, factor in [(1, power), (2**40, 0)]:
        monkeypatch.setattr(entry_widths, "MANY_ROWS", many)
        trees.append(grown(X[:, :2], np.ldexp(g, factor), h, min_samples_leaf=5).newest().nodes)
    assert_array_equal(*trees)
    assert len(trees[0]) > 50


def test_gradients_near_the_least_number_are_finite_leaves(monkeypatch):
    monkeypatch.setattr(entry_widths, "MANY_ROWS", 1)
    X, g, h, _ = mixed_rows(300)
    tree = grown(X[:, :2], np.ldexp(g, -1045), h)
    assert tree.n_leaves == 1
    assert np.isfinite(tree.leaf_values).all()


@pytest.mark.parametrize("loss", ["log", "gamma"])  # the latter by given derivatives
def test_where_few_bits_are_too_few_weighted_rows_and_other_losses_have_all(loss, monkeypatch):
    """One row has nearly all of the gradient: the others have up to 16 units of 1 / 8190 of it."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 30, size=(900, 2)).astype(float)
    signal = X[:, 0] / 10 + 0.3 * rng.normal(size=900)
    if loss == "log":
        y, start = np.zeros(900), signal - 9.0
        y[7], weight = 1.0, rng.uniform(0.5, 1.5, size=900)
    else:
        y, weight = np.exp(signal), None  # the scores are 0
        y[7] = 1e5
    trees = []
    for many in (1, 2**40):
        monkeypatch.setattr(entry_widths, "MANY_ROWS", many)
        booster = Booster(BinnedTable.of(X, [False] * 2), Limits(max_leaf_nodes=8), weight=weight)
        if loss == "log":
            booster.round("log", start.copy(), y)
        else:
            booster.grow(1.0 - y, y)
        trees.append(booster.newest())
    assert_array_equal(trees[0].nodes, trees[1].nodes)
    assert len(trees[0].nodes) == 15
