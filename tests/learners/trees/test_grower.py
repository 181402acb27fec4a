"""Many trees from one grower: each like the one that is grown alone on the rows drawn."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import chisquare

from empirisk import DecisionTreeClassifier, DecisionTreeRegressor
from empirisk.compiled.trees.walking import find_leaves_by_subsets
from empirisk.data.rank_coding import RankCoding
from empirisk.learners.trees.growth import Grower, grow_tree
from empirisk.learners.trees.terms import Limits

LEARNERS = {
    "two classes": DecisionTreeClassifier(),
    "five classes": DecisionTreeClassifier(),
    "entropy": DecisionTreeClassifier(criterion="entropy"),
    "squared error": DecisionTreeRegressor(),
    "absolute error": DecisionTreeRegressor(criterion="absolute_error"),
    "two outputs": DecisionTreeRegressor(),
}
LIMITS = {
    "all features": Limits(),
    "drawn features": Limits(max_features=2),
    "best first": Limits(max_features=2, max_leaves=9),
    "leaves of three rows": Limits(max_features=3, min_rows_leaf=3),
}


def table(rng, n=300):
    """Numbers with many and with few values, some missing, large integers, and a category."""
    X = np.empty((n, 5), dtype=object)
    X[:, 0], X[:, 1] = rng.normal(size=n), rng.integers(0, 6, size=n)
    X[:, 2] = np.where(rng.uniform(size=n) < 0.2, np.nan, rng.normal(size=n))
    X[:, 3], X[:, 4] = rng.choice(list("abcdefg"), size=n), rng.normal(size=n).round(1)
    coding = RankCoding.of(X, [False, False, False, True, False])
    signal = X[:, 0].astype(float) + (X[:, 3] > "c") + rng.normal(size=n)
    return coding, signal


def target_of(name, signal, rng):
    if name == "two classes" or name == "entropy":
        return (signal > 0.5).astype(np.int64), 2
    if name == "five classes":
        return np.digitize(signal, [-0.5, 0.3, 0.8, 1.5]), 5
    if name == "two outputs":
        return np.column_stack([signal, rng.normal(size=len(signal))]), 0
    return signal, 0


def grower_of(name, coding, y, n_classes, limits, random=False):
    problem = LEARNERS[name]._problem(coding, y, np.ones(len(y)), n_classes)
    return Grower(coding, problem.target, limits, None, problem.gain_scale, random)


@pytest.mark.parametrize("random", [False, True], ids=["best", "random"])
@pytest.mark.parametrize("limits", LIMITS)
@pytest.mark.parametrize("name", LEARNERS)
def test_a_packed_tree_is_the_tree_grown_alone_with_the_counts_for_weights(name, limits, random):
    rng = np.random.default_rng(1)
    coding, signal = table(rng)
    y, n_classes = target_of(name, signal, rng)
    grower = grower_of(name, coding, y, n_classes, LIMITS[limits], random)
    for seed in range(3):
        counts = np.bincount(rng.integers(0, len(y), size=len(y)), minlength=len(y))
        grower.grow(seed, counts)
        packed, kept = grower.packed(), np.flatnonzero(counts)
        problem = LEARNERS[name]._problem(
            coding[kept], y[kept], counts[kept].astype(float), n_classes
        )
        tree = grow_tree(
            coding[kept], problem.target, LIMITS[limits], seed=seed,
            gain_scale=problem.gain_scale, random=random,
        )  # fmt: skip
        leaf = tree.is_leaf
        assert_array_equal(packed.nodes["right"], tree.packed()[1][:, 3])
        assert_array_equal(packed.nodes["kind"], tree.packed()[1][:, 2])
        assert_array_equal(packed.nodes["threshold"][~leaf], tree.packed()[0][~leaf, 0])
        assert_array_equal(packed.subsets, tree.subsets)
        number = packed.nodes.view(np.int32).reshape(-1, 4)[:, 0]
        assert_array_equal(number[leaf], np.arange(leaf.sum()))
        assert_array_equal(packed.value, tree.value[leaf])
        assert_array_equal(packed.weight, tree.weighted_n_node_samples[leaf])
        assert_array_equal(packed.impurity, tree.impurity[leaf])
        assert_array_equal(packed.rows, tree.n_node_samples[leaf])
        shares = packed.gains / (packed.gains.sum() or 1.0)
        assert_allclose(shares, tree.compute_feature_importances(), rtol=1e-12)  # order of a sum
        assert len(tree.feature) > 5  # or there is nothing to compare


def test_rows_find_their_leaves_in_a_packed_tree():
    rng = np.random.default_rng(2)
    coding, signal = table(rng)
    grower = grower_of("squared error", coding, signal, 0, Limits(min_rows_leaf=4))
    counts = rng.integers(0, 3, size=len(signal))
    grower.grow(0, counts)
    packed = grower.packed()
    thresholds = packed.nodes.view(np.float64).reshape(-1, 2)
    links = packed.nodes.view(np.int32).reshape(-1, 4)
    nodes = np.empty(len(signal), np.int32)
    find_leaves_by_subsets(thresholds, links, packed.subsets, coding.places(), nodes)
    leaves = links[nodes, 0]
    size = len(packed.weight)
    weight = np.bincount(leaves, counts, minlength=size)
    assert_array_equal(weight, packed.weight)
    assert_array_equal(np.bincount(leaves[counts > 0], minlength=size), packed.rows)
    mean = np.bincount(leaves, counts * signal, minlength=size) / weight
    assert_allclose(packed.value[:, 0], mean, rtol=0, atol=1e-12)  # sums of a few numbers near 1


def test_integers_beyond_float64_are_told_apart_in_a_packed_tree():
    x = 2**60 + np.arange(64)
    coding = RankCoding.of(x[:, None], [False])
    y = np.sin(np.arange(64.0))
    grower = grower_of("squared error", coding, y, 0, Limits())
    grower.grow(0, np.ones(64, np.int64))
    packed = grower.packed()
    tree = grow_tree(coding, grower.target, Limits())
    inner = ~tree.is_leaf
    assert_array_equal(packed.nodes["threshold"][inner], tree.cut[inner])
    assert len(np.unique(tree.cut[inner])) == 63


def test_counts_are_of_the_rows_of_the_coding():
    rng = np.random.default_rng(3)
    coding, signal = table(rng)
    rows = rng.permutation(len(signal))[:200]
    counts = rng.integers(0, 4, size=200)
    whole = np.zeros(len(signal), np.int64)
    whole[rows] = counts
    grown = []
    for part, count in ((coding, whole), (coding[np.sort(rows)], counts[np.argsort(rows)])):
        problem_rows = np.arange(len(signal)) if part.rows is None else part.rows
        grower = grower_of("squared error", part, signal[problem_rows], 0, Limits(max_features=2))
        grower.grow(5, count)
        grown.append(grower.packed())
    assert grown[0].nodes.tobytes() == grown[1].nodes.tobytes()
    assert_array_equal(grown[0].value, grown[1].value)


@pytest.mark.parametrize("name", ["two classes", "five classes"])
def test_factors_of_classes_are_weights(name):
    rng = np.random.default_rng(4)
    coding, signal = table(rng)
    y, n_classes = target_of(name, signal, rng)
    counts, factors = rng.integers(0, 4, size=len(y)), rng.uniform(0.5, 3.0, size=n_classes)
    grower = grower_of(name, coding, y, n_classes, Limits(max_features=2))
    grower.grow(6, counts, factors)
    packed, kept = grower.packed(), np.flatnonzero(counts)
    weight = (factors[y] * counts)[kept]
    problem = LEARNERS[name]._problem(coding[kept], y[kept], weight, n_classes)
    tree = grow_tree(coding[kept], problem.target, Limits(max_features=2), seed=6)
    assert_array_equal(packed.nodes["right"], tree.packed()[1][:, 3])
    assert_allclose(packed.value, tree.value[tree.is_leaf], rtol=1e-12)  # sums of few numbers
    assert_allclose(packed.weight, tree.weighted_n_node_samples[tree.is_leaf], rtol=1e-12)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_of_equal_splits_that_of_the_feature_drawn_first_is_taken(n_classes):
    # Four equal columns of which two are drawn: each is taken by a quarter of 800 roots. The test
    # rejects with probability 0.001 where this is so; the first column would be taken by a half.
    y = np.arange(60) % n_classes
    coding = RankCoding.of(np.repeat(y[:, None], 4, axis=1).astype(float), [False] * 4)
    grower = grower_of(
        "two classes", coding, y.astype(np.int64), n_classes, Limits(max_features=2, max_depth=1)
    )
    taken = np.zeros(4)
    for seed in range(800):
        grower.grow(seed * 7919)
        taken += grower.packed().gains > 0
    assert taken.sum() == 800
    assert chisquare(taken).pvalue > 0.001
