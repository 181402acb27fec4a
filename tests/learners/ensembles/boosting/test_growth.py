"""Trees of histogram boosting: a slow twin, the same bits for every team, constraints."""

from itertools import pairwise
from math import inf, nan

import numpy as np
import pytest

from boosted_rows import kept_trees
from empirisk.learners import team
from empirisk.learners.ensembles.boosting import bins
from empirisk.learners.ensembles.boosting.bins import BinnedTable
from empirisk.learners.ensembles.boosting.growth import Booster
from empirisk.learners.ensembles.boosting.room import Limits
from empirisk.learners.ensembles.boosting.sharing import Place

EXACT = 1e-9  # gradients are rounded to 2^-40 of the largest, curvatures to 2^-30


def worth(g, h, l2):
    return g * g / (h + l2) if h + l2 > 0 else 0.0


def allowed(rows, left, limits, h):
    other = rows & ~left
    enough = min(left.sum(), other.sum()) >= limits.min_samples_leaf
    return enough and min(h[left].sum(), h[other].sum()) >= 1e-3


def obvious_splits(X, rows, category):
    """All splits of a node by numbers, or by levels in order: feature, threshold, who goes left."""
    for j in range(X.shape[1]):
        if category[j]:
            continue
        x = X[:, j]
        missing = rows & np.isnan(x)
        values = np.unique(x[rows & ~np.isnan(x)])
        for way in (False, True) if missing.any() else (False,):
            ends = [(a + b) / 2 for a, b in pairwise(values)]
            for t in ends + ([inf] if missing.any() and not way else []):
                yield j, t, (rows & (x <= t)) | (missing if way else False)


def ordered_levels(X, rows, g, h, j):
    """The splits of a node along the order of its levels, and how many are more than eight."""
    groups, rare = [], rows & np.isnan(X[:, j])
    for level in np.unique(X[rows & ~np.isnan(X[:, j]), j]):
        here = rows & (X[:, j] == level)
        if here.sum() >= 10:
            groups.append(here)
        else:
            rare = rare | here
    if rare.any():
        groups.append(rare)
    groups.sort(key=lambda group: g[group].sum() / (h[group].sum() + 10))
    left = np.zeros(len(X), bool)
    for group in groups[:-1]:
        left = left | group
        yield left.copy(), max(len(groups) - 8, 0)


def obvious_tree(X, g, h, limits, category, per_level=2):
    """Leaves of the tree that is grown best first: a list of (rows, value)."""

    def best_split(rows):
        best, most = None, limits.min_gain + 1e-9 * worth(g[rows].sum(), h[rows].sum(), limits.l2)
        splits = [(j, 0, left) for j, _, left in obvious_splits(X, rows, category)]
        for j in np.flatnonzero(category):
            ordered = ordered_levels(X, rows, g, h, j)
            splits += [(j, per_level * many, left) for left, many in ordered]
        for _, more, left in sorted(splits, key=lambda split: split[0]):
            if allowed(rows, left, limits, h):
                right = rows & ~left
                l2 = limits.l2 + more
                gain = worth(g[left].sum(), h[left].sum(), l2)
                gain += worth(g[right].sum(), h[right].sum(), l2)
                gain -= worth(g[rows].sum(), h[rows].sum(), l2)
                if gain > most * (1 + 1e-12):
                    best, most = left, gain
        return most, best

    leaves = [(np.ones(len(X), bool), 0)]
    options = [(*best_split(leaves[0][0]), leaves[0])]
    while len(leaves) < limits.max_leaf_nodes:
        options = [o for o in options if o[1] is not None]
        if not options:
            break
        k = max(range(len(options)), key=lambda k: options[k][0])
        _, left, (rows, depth) = options.pop(k)
        leaves = [leaf for leaf in leaves if leaf[0] is not rows]
        for child in (left, rows & ~left):
            leaves.append((child, depth + 1))
            if limits.max_depth is None or depth + 1 < limits.max_depth:
                options.append((*best_split(child), leaves[-1]))
    return [
        (rows, -limits.learning_rate * g[rows].sum() / (h[rows].sum() + limits.l2))
        for rows, _ in leaves
    ]


def predictions(leaves, n):
    values = np.full(n, nan)
    for rows, value in leaves:
        values[rows] = value
    return values


def data(seed, n=300, p=4, *, missing=0.0, levels=0, distinct=40):
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n, p)) * distinct / 6)
    if levels:
        X[:, -1] = rng.integers(levels, size=n)
    signal = np.sin(X[:, 0] / 4) + (X[:, -1] % 3 == 1) + 0.05 * X[:, 1]
    g = signal + rng.normal(size=n)
    X[rng.uniform(size=X.shape) < missing] = np.nan
    return X, g, rng.uniform(0.1, 1.0, size=n)


@pytest.mark.parametrize("curved", [True, False])
@pytest.mark.parametrize(
    ("missing", "levels", "limits"),
    [
        (0.0, 0, Limits(max_leaf_nodes=8, min_samples_leaf=5, learning_rate=1.0)),
        (0.2, 0, Limits(max_leaf_nodes=8, min_samples_leaf=5, l2=2.0)),
        (0.0, 6, Limits(max_leaf_nodes=8, min_samples_leaf=1, l2=0.5)),
        (0.1, 18, Limits(max_leaf_nodes=10, min_samples_leaf=2, l2=0.5)),
        (0.1, 30, Limits(max_leaf_nodes=10, min_samples_leaf=3, max_depth=3)),
        (0.0, 0, Limits(max_leaf_nodes=50, min_samples_leaf=1, min_gain=4.0)),
    ],
)
def test_a_tree_is_that_of_a_slow_obvious_grower(missing, levels, limits, curved):
    for seed in range(3):
        X, g, h = data(seed, missing=missing, levels=levels)
        h = h if curved else np.ones(len(g))
        category = [False] * 3 + [levels > 0]
        booster = Booster(BinnedTable.of(X, category), limits)
        booster.grow(g, h if curved else None)
        slow = obvious_tree(X, g, h, limits, np.array(category))
        assert booster.n_leaves == len(slow)
        fast = booster.leaf_values[booster.leaf_of]
        np.testing.assert_allclose(fast, predictions(slow, len(g)), rtol=EXACT, atol=EXACT)
        booster.keep()
        scores = np.zeros((len(g), 1))
        kept_trees(booster).add_to(scores, BinnedTable.of(X, category).places())
        np.testing.assert_array_equal(scores[:, 0], fast)
        kept_trees(booster).trees.check_loaded()


def test_splits_by_more_than_eight_levels_have_more_l2_for_each():
    limits = Limits(max_leaf_nodes=12, min_samples_leaf=3, learning_rate=1.0)
    category, matters = [False] * 3 + [True], 0
    for seed in range(4):
        X, g, h = data(seed, n=700, levels=40)
        booster = Booster(BinnedTable.of(X, category), limits)
        booster.grow(g, h)
        fast = booster.leaf_values[booster.leaf_of]
        slow = predictions(obvious_tree(X, g, h, limits, np.array(category)), len(g))
        np.testing.assert_allclose(fast, slow, rtol=EXACT, atol=EXACT)
        plain = predictions(obvious_tree(X, g, h, limits, np.array(category), 0), len(g))
        matters += not np.allclose(fast, plain, rtol=EXACT, atol=EXACT)
    assert matters > 0


@pytest.mark.parametrize("loss", ["squared", "log"])
@pytest.mark.parametrize("n", [9_000, 18_000])
def test_every_team_grows_the_same_bits(monkeypatch, loss, n):
    monkeypatch.setattr(team, "cpu_count", lambda: 3)  # however many cores there are
    X, g, _ = data(0, n=n, p=5, missing=0.05, levels=12)
    y = (g > 0).astype(float) + (loss != "log")
    table = BinnedTable.of(X, [False] * 4 + [True])
    results = []
    for size in (1, 2, 3):
        booster = Booster(table, Limits(max_features=0.7), n_jobs=size)
        assert booster.team.size == size
        score = np.zeros(len(y))
        for seed in range(4):
            rows = None if seed == 0 else np.flatnonzero(g > -1 + 0.1 * seed)
            booster.round(loss, score, y, seed=seed, rows=rows)
            booster.keep()
        trees = kept_trees(booster).trees
        results.append((score, trees.nodes, trees.value, trees.subsets, trees.gains))
    for other in results[1:]:
        for a, b in zip(results[0], other, strict=True):
            np.testing.assert_array_equal(a, b)


def test_features_that_share_a_column_grow_the_tree_of_columns_of_their_own(monkeypatch):
    rng = np.random.default_rng(0)
    level, other = rng.integers(9, size=(2, 600))
    X = np.column_stack([level[:, None] == np.arange(9), other[:, None] == np.arange(9)])
    X = X * np.resize([2.0, -2.0], 18)  # the default is the first or the last bin
    X = np.column_stack([rng.normal(size=600).round(1), X, np.full(600, 7.0)])
    X[rng.uniform(size=600) < 0.03, 3] = np.nan  # beside other features: a column of its own
    hidden = (level == 5) & (rng.uniform(size=600) < 0.6)
    X[hidden, 6] = np.nan  # where other features have their default: one more code of the column
    g = rng.normal(size=600) + (level == 4) - (other == 2) + 2 * hidden
    together = BinnedTable.of(X, [False] * 20)
    monkeypatch.setattr(bins, "share_columns", each_alone)
    apart = BinnedTable.of(X, [False] * 20)
    assert len(together.codes) < len(apart.codes) == 20
    np.testing.assert_array_equal(together.places(), apart.places())
    grown = []
    for table in (together, apart):
        booster = Booster(table, Limits(max_leaf_nodes=12, min_samples_leaf=5))
        booster.grow(g, np.abs(g))
        booster.keep()
        np.testing.assert_array_equal(booster.find_leaves(table), booster.leaf_of)
        grown.append((kept_trees(booster).trees, booster.leaf_of))
    np.testing.assert_array_equal(grown[0][0].nodes, grown[1][0].nodes)
    np.testing.assert_array_equal(grown[0][1], grown[1][1])


def test_the_last_code_of_a_full_column_goes_where_the_default_of_other_features_goes(monkeypatch):
    X = np.zeros((800, 2))
    X[:256, 0], X[256:266, 0] = np.repeat(np.arange(1, 129), 2), np.nan
    X[266:518, 1] = np.repeat(np.arange(1, 127), 2)
    g = np.where(X[:, 0] == 0, -1.0, 1.0)  # defaults go left, missing values right
    together = BinnedTable.of(X, [False] * 2)
    assert together.codes.shape[0] == 1
    assert together.codes.max() == 255
    monkeypatch.setattr(bins, "share_columns", each_alone)
    leaves = []
    for table in (together, BinnedTable.of(X, [False] * 2)):
        booster = Booster(table, Limits(max_leaf_nodes=2, min_samples_leaf=1))
        booster.grow(g, None)
        leaves.append(booster.leaf_of)
    np.testing.assert_array_equal(*leaves)
    np.testing.assert_array_equal(leaves[0], g > 0)


@pytest.mark.parametrize("category", [False, True])
@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_missing_values_that_are_the_default_of_a_shared_column_go_as_the_tree_says(category, sign):
    X = np.full((600, 2), nan)
    X[:200, 0], X[200:400, 1] = np.resize([0.0, 1.0, 2.0], (2, 200))
    g = sign * np.where(X[:, 0] == 1.0, 1.0, -0.5) + 0.1 * np.sin(np.arange(600))
    table = BinnedTable.of(X, [category] * 2)
    assert table.codes.shape[0] == 1
    booster = Booster(table, Limits(max_leaf_nodes=6, min_samples_leaf=5))
    booster.grow(g, None)
    booster.keep()
    trees = kept_trees(booster).trees
    np.testing.assert_array_equal(trees.leaves(0, table.places()), booster.leaf_of)
    np.testing.assert_array_equal(trees.rows, np.bincount(booster.leaf_of))
    steps = [-0.1 * g[booster.leaf_of == leaf].mean() for leaf in range(len(trees.rows))]
    np.testing.assert_allclose(trees.value[:, 0], steps, rtol=EXACT)


def each_alone(codes, n_codes):
    return np.stack(codes), [Place(j, 0, -1) for j in range(len(codes))]
