"""Trees whose thresholds are drawn: what is drawn is uniform, what is made of it is a tree."""

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import chisquare, kstest
from sklearn.tree import ExtraTreeRegressor

from empirisk import DecisionTreeClassifier, DecisionTreeRegressor
from empirisk.compiled.streams import bits, uniform
from empirisk.compiled.trees import random_splits
from empirisk.learners.trees.conditions import levels_to_left
from tolerances import LAST_BITS, SUMMED
from tree_twins import IMPURITIES, class_impurity, rows_of_nodes, split_cost

ARRAYS = ("children_right", "feature", "threshold", "cut", "subsets", "missing_go_to_left", "value")


def sample(seed, n=150, p=4):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    y = X[:, 0] + np.sin(3 * X[:, 1]) + 0.5 * rng.normal(size=n)
    X[:, 2] = rng.integers(0, 6, size=n)
    X[rng.random(X.shape) < 0.1] = np.nan
    return X, y, rng


def same(one, other, names=ARRAYS):
    for name in names:
        assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)


def stump(X, y, seed, **how):
    how = {"splitter": "random", "max_depth": 1, "random_state": seed, **how}
    return DecisionTreeRegressor(**how).fit(X, y).tree_


def test_thresholds_are_uniform_between_the_least_and_the_largest_value():
    rng = np.random.default_rng(0)
    x = np.exp(2 * rng.normal(size=(60, 1)))  # values are not uniform
    drawn = [stump(x, np.arange(60.0), s).threshold[0] for s in range(400)]
    # One test at the level 0.001.
    assert kstest(drawn, "uniform", (x.min(), x.max() - x.min())).pvalue > 0.001


@pytest.mark.parametrize("values", [[0.0, 5e-324], [-1.7e308, 1.7e308], [1.0, 1 + 2**-52]])
def test_two_values_are_always_told_apart(values):
    x, y = np.array(values)[:, None], [0.0, 1.0]
    for s in range(20):
        model = DecisionTreeRegressor(splitter="random", random_state=s).fit(x, y)
        assert_array_equal(model.predict(x), y)
        assert values[0] <= model.tree_.threshold[0] < values[1]


def test_integers_beyond_float64_are_told_apart():
    ids = 2**60 + np.arange(9)
    model = DecisionTreeRegressor(splitter="random", random_state=0).fit(ids[:, None], np.arange(9))
    assert_array_equal(model.predict(ids[:, None]), np.arange(9.0))


def test_all_subsets_of_levels_are_equally_likely_but_the_empty_and_the_whole_one():
    x, y = np.arange(4.0)[:, None], np.arange(4.0)
    stumps = [stump(x, y, s, categorical_features=[0]) for s in range(700)]
    left = [levels_to_left(tree, 0, 4) for tree in stumps]
    counts = np.bincount(left @ 2 ** np.arange(4), minlength=16)
    assert counts[0] == counts[15] == 0
    assert chisquare(counts[1:15]).pvalue > 0.001  # one test at this level


def test_each_draw_of_a_node_has_its_own_place_in_a_stream():
    p, seed, points = 5, 987_654_321, np.array([0.0, 1.0, 2.0])
    feature = SimpleNamespace(n_codes=3, points=0, category=0)
    for f in range(p):
        codes = np.array([0, 1, 2, 3], np.uint32)  # the last one is missing
        _, threshold, missing_left, _ = random_splits.draw_sides(
            feature, f, p, np.uint64(2 * seed), codes[0], codes[3], points, 4, codes, None
        )
        assert threshold == 2 * uniform(seed, p + f)
        assert missing_left == int(bits(seed, 2 * p + f)) % 2
        left = [*(points <= threshold), missing_left]
        assert_array_equal(codes == random_splits.LEFT, left)


def test_a_fair_coin_sends_missing_values_to_a_side():
    x, y = np.array([0.0, 1.0, np.nan])[:, None], [0.0, 1.0, 2.0]
    left = sum(stump(x, y, s).missing_go_to_left[0] for s in range(300))
    assert 121 <= left <= 179  # binomial: outside with probability 0.0006
    for s in range(20):
        alone = stump(np.array([1.0, 1.0, np.nan])[:, None], [0.0, 0.0, 1.0], s)
        assert not alone.missing_go_to_left[0]
        assert alone.threshold[0] == np.inf  # missing values against all others


@pytest.mark.parametrize("max_features", [None, 2])
def test_what_is_drawn_depends_on_the_seed_and_the_way_to_the_node_alone(max_features):
    X, y, rng = sample(1)
    how = {"splitter": "random", "max_features": max_features, "categorical_features": [2]}
    deep = DecisionTreeRegressor(random_state=1, **how).fit(X, y).tree_
    same(deep, DecisionTreeRegressor(random_state=1, **how).fit(X, y).tree_)
    same(deep, DecisionTreeRegressor(random_state=1, max_leaf_nodes=10**5, **how).fit(X, y).tree_)
    other = DecisionTreeRegressor(random_state=2, **how).fit(X, y).tree_
    assert other.threshold[0] != deep.threshold[0] or other.feature[0] != deep.feature[0]
    rows = rng.permutation(len(X))
    shuffled = DecisionTreeRegressor(random_state=1, **how).fit(X[rows], y[rows]).tree_
    same(deep, shuffled, ("children_right", "feature", "threshold", "subsets"))


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error", "poisson", "gini"])
@pytest.mark.parametrize("min_samples_leaf", [1, 5])
def test_every_node_is_what_its_split_says(criterion, min_samples_leaf):
    X, y, _ = sample(2)
    how = {"splitter": "random", "criterion": criterion, "min_samples_leaf": min_samples_leaf}
    how |= {"random_state": 0, "categorical_features": [2]}
    if criterion == "gini":
        y, learner = np.digitize(y, [-1, 0, 1]), DecisionTreeClassifier
        impurity = class_impurity("gini", 4)
    else:
        y, learner, impurity = np.abs(y), DecisionTreeRegressor, IMPURITIES[criterion]
    tree = learner(**how).fit(X, y).tree_
    w = np.ones(len(y))
    rows = rows_of_nodes(tree, X)
    whole = len(y) * impurity(y, w)
    for node, here in enumerate(rows):
        assert tree.n_node_samples[node] == len(here) >= min_samples_leaf
        assert_allclose(tree.impurity[node], impurity(y[here], w[here]), rtol=0, atol=SUMMED)
        if tree.is_leaf[node]:
            continue
        left = np.isin(here, rows[node + 1])
        gain = len(here) * impurity(y[here], w[here]) - split_cost(y[here], w[here], left, impurity)
        assert_allclose(tree.gain[node] * whole, gain, rtol=0, atol=SUMMED * whole)


def test_the_best_of_the_drawn_splits_is_taken():
    # With each feature alone, the same split is drawn for it if it stands at the same place.
    X, y, _ = sample(3)
    for seed in range(5):
        tree = stump(X, y, seed, categorical_features=[2])
        alone = [
            stump(np.where(np.arange(4) == j, X, 0.0), y, seed, categorical_features=[2])
            for j in range(4)
        ]
        gains = [one.gain[0] for one in alone]
        assert tree.feature[0] == np.argmax(gains)
        assert_allclose(tree.gain[0], max(gains), rtol=SUMMED)


def test_whole_weights_are_copies():
    X, y, rng = sample(4)
    weight = rng.integers(0, 4, size=len(X))
    copies = np.repeat(np.arange(len(X)), weight)
    model = DecisionTreeRegressor(splitter="random", random_state=0, min_samples_leaf=4)
    a = model.fit(X, y, sample_weight=weight).tree_
    b = model.fit(X[copies], y[copies]).tree_
    same(a, b, ("children_right", "feature", "threshold"))
    assert_allclose(a.value, b.value, rtol=SUMMED, atol=LAST_BITS)


def test_trees_are_as_large_and_as_good_as_those_of_scikit_learn():
    rng = np.random.default_rng(5)
    X, new = rng.normal(size=(300, 5)), rng.normal(size=(500, 5))
    y, target = X[:, 0] + X[:, 1] ** 2, new[:, 0] + new[:, 1] ** 2
    how = {"max_features": 3, "min_samples_leaf": 4}
    numbers = []
    for learner in (
        lambda s: DecisionTreeRegressor(splitter="random", random_state=s, **how),
        lambda s: ExtraTreeRegressor(random_state=s, **how),
    ):
        trees = [learner(s).fit(X, y) for s in range(80)]
        errors = [((tree.predict(new) - target) ** 2).mean() for tree in trees]
        numbers.append(np.array([errors, [tree.get_n_leaves() for tree in trees]]))
    ours, theirs = numbers
    spread = np.sqrt(ours.var(axis=1, ddof=1) / 80 + theirs.var(axis=1, ddof=1) / 80)
    # Two comparisons of means of 80 trees, 3.9 standard errors: wrong with probability 2e-4.
    assert (np.abs(ours.mean(axis=1) - theirs.mean(axis=1)) < 3.9 * spread).all()


def test_a_drawn_threshold_lies_above_the_code_that_goes_left():
    rng = np.random.default_rng(6)
    points = np.sort(rng.normal(size=50))
    for draw in (random_splits.draw_threshold, random_splits.draw_threshold.py_func):
        for u in rng.random(50):
            cut, threshold = draw(u, np.uint32(3), np.uint32(40), points, np.int64(0))
            assert threshold == pytest.approx((1 - u) * points[3] + u * points[40], rel=SUMMED)
            assert points[cut] <= threshold < points[cut + 1]
        whole = np.arange(9.0)  # thresholds that are values
        for k in range(8):
            cut, threshold = draw(k / 8, np.uint32(0), np.uint32(8), whole, np.int64(0))
            assert cut == threshold == k


def test_in_the_place_of_a_constant_feature_another_one_is_drawn():
    x = np.arange(20.0)
    X = np.column_stack([np.ones(20), x, x])
    drawn = [stump(X, x, s, splitter="best", max_features=1).feature[0] for s in range(300)]
    assert set(drawn) == {1, 2}
    assert 121 <= drawn.count(1) <= 179  # binomial: outside with probability 0.0006
