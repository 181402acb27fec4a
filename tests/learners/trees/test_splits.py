"""Every split is the best of all: trees against brute force, and against scikit-learn."""

import numpy as np
import pandas as pd
import pytest
import sklearn.tree as peer
from numpy.testing import assert_allclose, assert_array_equal

from empirisk import DecisionTreeClassifier, DecisionTreeRegressor
from empirisk.data.table_door import check_places
from tolerances import SUMMED
from tree_twins import IMPURITIES, audit, best_gain, class_impurity

REGRESSION = ["squared_error", "absolute_error", "poisson"]
CLASSIFICATION = ["gini", "entropy", "misclassification"]


def table(seed, n=40, p=3, *, missing=False, few=False):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    if few:
        X = np.round(X * 2)
    if missing:
        X[rng.random(X.shape) < 0.2] = np.nan
    return X, rng


def weights(rng, n, weighted):
    return rng.uniform(0.5, 2.0, size=n) if weighted else np.ones(n)


@pytest.mark.parametrize("criterion", REGRESSION)
@pytest.mark.parametrize("few", [False, True], ids=["distinct", "few values"])
@pytest.mark.parametrize("missing", [False, True], ids=["complete", "missing"])
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_regression_splits_are_the_best_of_all(criterion, few, missing, weighted):
    X, rng = table(1, missing=missing, few=few)
    y = rng.poisson(np.exp(np.nan_to_num(X[:, 0]))).astype(float)
    w = weights(rng, len(y), weighted)
    model = DecisionTreeRegressor(criterion=criterion).fit(X, y, sample_weight=w)
    audit(model.tree_, X, y, w, IMPURITIES[criterion])


@pytest.mark.parametrize("criterion", CLASSIFICATION)
@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("missing", [False, True], ids=["complete", "missing"])
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_classification_splits_are_the_best_of_all(criterion, n_classes, missing, weighted):
    X, rng = table(2, missing=missing, few=True)
    y = rng.integers(0, n_classes, size=len(X))
    w = weights(rng, len(y), weighted)
    model = DecisionTreeClassifier(criterion=criterion).fit(X, y, sample_weight=w)
    audit(model.tree_, X, y, w, class_impurity(criterion, n_classes))


@pytest.mark.parametrize("criterion", ["squared_error", "poisson"])
def test_the_split_of_a_category_is_the_best_of_all_subsets_in_regression(criterion):
    rng = np.random.default_rng(3)
    X = np.column_stack([rng.integers(0, 7, size=60), rng.normal(size=60)])
    X[rng.random(60) < 0.1, 0] = np.nan
    y = rng.poisson(2, size=60).astype(float)
    model = DecisionTreeRegressor(criterion=criterion, categorical_features=[0], max_depth=3)
    model.fit(X, y)
    places = check_places(model, X)
    audit(model.tree_, places, y, np.ones(60), IMPURITIES[criterion], categories={0}, max_depth=3)


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_the_split_of_a_category_is_the_best_of_all_subsets_for_two_classes(criterion):
    rng = np.random.default_rng(4)
    X = rng.integers(0, 8, size=(80, 2)).astype(float)
    y = rng.integers(0, 2, size=80)
    model = DecisionTreeClassifier(criterion=criterion, categorical_features=[0, 1], max_depth=3)
    model.fit(X, y)
    places = check_places(model, X)
    impurity = class_impurity(criterion, 2)
    audit(model.tree_, places, y, np.ones(80), impurity, categories={0, 1}, max_depth=3)


def test_the_split_of_a_category_is_near_the_best_for_several_classes():
    # Levels in the order of a principal component: of 30 tables with 7 levels and 4 classes, the
    # mean gain is 97 % of the best subset's or more (Coppersmith et al. report about the same).
    parts = []
    for seed in range(30):
        rng = np.random.default_rng(seed)
        X = rng.integers(0, 7, size=(150, 1)).astype(float)
        y = np.where(rng.random(150) < 0.5, X[:, 0].astype(int) % 4, rng.integers(0, 4, 150))
        model = DecisionTreeClassifier(categorical_features=[0], max_depth=1).fit(X, y)

        gini = class_impurity("gini", 4)
        gain = model.tree_.gain[0] * model.tree_.impurity[0] * 150
        parts.append(gain / best_gain(X, y, np.ones(150), gini, {0}))
    assert max(parts) <= 1 + 1e-9
    assert np.mean(parts) > 0.97


@pytest.mark.parametrize("leaf", [3, 0.1])
def test_both_sides_have_the_rows_that_are_asked_for(leaf):
    X, rng = table(5, n=50)
    y, w = rng.normal(size=50), rng.uniform(0.5, 2, size=50)
    least = 3 if leaf == 3 else 5
    model = DecisionTreeRegressor(min_samples_leaf=leaf).fit(X, y, sample_weight=w)
    assert model.tree_.n_node_samples.min() >= least
    audit(model.tree_, X, y, w, IMPURITIES["squared_error"], min_rows=least)
    share = DecisionTreeRegressor(min_weight_fraction_leaf=0.15).fit(X, y, sample_weight=w)
    assert share.tree_.weighted_n_node_samples.min() >= 0.15 * w.sum()
    audit(share.tree_, X, y, w, IMPURITIES["squared_error"], min_weight=0.15 * w.sum())


@pytest.mark.parametrize("sign", [-1, 1])
def test_monotone_splits_are_the_best_of_those_allowed_at_the_root(sign):
    X, rng = table(6, n=60)
    y, w = X[:, 0] + rng.normal(size=60), np.ones(60)
    model = DecisionTreeRegressor(monotonic_cst=[sign, 0, 0], max_depth=1).fit(X, y)

    def allowed(j, yl, wl, yr, wr):
        return j > 0 or sign * (np.average(yl, weights=wl) - np.average(yr, weights=wr)) <= 0

    audit(model.tree_, X, y, w, IMPURITIES["squared_error"], allowed=allowed, max_depth=1)


LIKE_PEER = {"random_state": 0, "min_samples_leaf": 20, "max_depth": 5}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error", "gini", "entropy"])
@pytest.mark.parametrize("missing", [False, True], ids=["complete", "missing"])
def test_the_same_tree_as_scikit_learn(seed, criterion, missing):
    # Weights without ties, values that float32 holds, nodes large enough to have one best split.
    X, rng = table(seed, n=800, p=4, missing=missing)
    X = X.astype(np.float32).astype(float)
    y = np.nan_to_num(X[:, 0]) + np.sin(3 * np.nan_to_num(X[:, 1])) + rng.normal(size=800)
    w = rng.uniform(0.5, 2, size=800)
    ours, theirs = DecisionTreeRegressor, peer.DecisionTreeRegressor
    if criterion in ("gini", "entropy"):
        y = np.digitize(y, [-1, 0, 1])
        ours, theirs = DecisionTreeClassifier, peer.DecisionTreeClassifier
    a = ours(criterion=criterion, **LIKE_PEER).fit(X, y, sample_weight=w)
    b = theirs(criterion=criterion, **LIKE_PEER).fit(X, y, sample_weight=w)
    one, other = a.tree_, b.tree_
    assert_array_equal(one.children_left, other.children_left)
    assert_array_equal(one.children_right, other.children_right)
    assert_array_equal(one.feature, other.feature)
    inner = ~one.is_leaf
    assert_allclose(one.threshold[inner], other.threshold[inner], rtol=1e-6)  # theirs are float32
    assert_allclose(one.impurity, other.impurity, rtol=1e-10, atol=1e-12)
    assert_allclose(
        one.value.reshape(len(inner), -1), other.value.reshape(len(inner), -1), rtol=SUMMED
    )
    assert_array_equal(one.n_node_samples, other.n_node_samples)
    assert_allclose(a.feature_importances_, b.feature_importances_, rtol=0, atol=SUMMED)
    assert_array_equal(a.apply(X), b.apply(X))
    assert (a.decision_path(X) != b.decision_path(X)).nnz == 0
    assert_allclose(a.predict(X), b.predict(X), rtol=SUMMED)
    assert (a.get_depth(), a.get_n_leaves()) == (b.get_depth(), b.get_n_leaves())


@pytest.mark.parametrize("max_leaf_nodes", [2, 5, 17])
def test_best_first_growth_makes_the_regions_of_scikit_learn(max_leaf_nodes):
    X, rng = table(7, n=300)
    X = X.astype(np.float32).astype(float)
    y = X[:, 0] * X[:, 1] + rng.normal(size=300)
    a = DecisionTreeRegressor(max_leaf_nodes=max_leaf_nodes).fit(X, y)
    b = peer.DecisionTreeRegressor(max_leaf_nodes=max_leaf_nodes, random_state=0).fit(X, y)
    assert a.get_n_leaves() == max_leaf_nodes
    assert_allclose(a.predict(X), b.predict(X), rtol=SUMMED)


def test_several_outputs_are_split_as_in_scikit_learn():
    X, rng = table(8, n=400)
    X = X.astype(np.float32).astype(float)
    Y = np.column_stack([X[:, 0], np.abs(X[:, 1]), rng.normal(size=400)])
    Y += rng.normal(size=Y.shape)
    w = rng.uniform(0.5, 2, size=400)
    a = DecisionTreeRegressor(**LIKE_PEER).fit(X, Y, sample_weight=w)
    b = peer.DecisionTreeRegressor(**LIKE_PEER).fit(X, Y, sample_weight=w)
    assert_allclose(a.predict(X), b.predict(X), rtol=SUMMED, atol=SUMMED)
    assert_allclose(a.tree_.impurity, b.tree_.impurity, rtol=SUMMED)


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_several_counts_are_split_by_the_sum_of_their_deviances(weighted):
    X, rng = table(9, n=60)
    Y = rng.poisson(np.exp(X[:, :2])) + 1.0
    Y[::7, 0] = 0.0
    w = weights(rng, 60, weighted)
    model = DecisionTreeRegressor(criterion="poisson", max_depth=2).fit(X, Y, w)

    def impurity(rows, w):
        return np.mean([IMPURITIES["poisson"](Y[rows, k], w) for k in range(2)])

    assert_allclose(model.tree_.impurity[0], impurity(np.arange(60), w), rtol=SUMMED)
    audit(model.tree_, X, np.arange(60), w, impurity, max_depth=2)


@pytest.mark.parametrize("sign", [-1, 1])
def test_a_monotone_tree_is_that_of_scikit_learn_and_monotone(sign):
    X, rng = table(10, n=500)
    X = X.astype(np.float32).astype(float)
    y = sign * X[:, 0] + np.sin(4 * X[:, 0]) + X[:, 1] + rng.normal(size=500)
    how = {"monotonic_cst": [sign, 0, 0], "min_samples_leaf": 10, "random_state": 0}
    a = DecisionTreeRegressor(**how).fit(X, y)
    b = peer.DecisionTreeRegressor(**how).fit(X, y)
    assert_allclose(a.predict(X), b.predict(X), rtol=SUMMED)
    grid = np.linspace(-3, 3, 200)
    for x in X[:20]:
        line = np.column_stack([grid, np.full(200, x[1]), np.full(200, x[2])])
        assert (sign * np.diff(a.predict(line)) >= 0).all()
    labels = (y > 0).astype(int)
    a = DecisionTreeClassifier(**how).fit(X, labels)
    b = peer.DecisionTreeClassifier(**how).fit(X, labels)
    line = np.column_stack([grid, np.zeros(200), np.zeros(200)])
    assert (sign * np.diff(a.predict_proba(line)[:, 1]) >= 0).all()
    assert_allclose(
        a.score(X, labels), b.score(X, labels), rtol=0, atol=0.02
    )  # ties split otherwise


def test_categories_of_a_frame_and_what_was_never_seen():
    rng = np.random.default_rng(11)
    city = rng.choice(["Bergen", "Oslo", "Rome", "Turin"], size=200)
    frame = pd.DataFrame({"city": city, "size": rng.normal(size=200)})
    y = np.isin(city, ["Oslo", "Turin"]) * 5.0 + 0.1 * rng.normal(size=200)
    model = DecisionTreeRegressor(max_depth=1).fit(frame, y)
    assert model.tree_.feature[0] == 0
    new = pd.DataFrame({"city": ["Oslo", "Rome", "Paris", None], "size": [0.0] * 4})
    high, low, unseen, missing = model.predict(new)
    assert high > 4
    assert low < 1
    assert unseen == missing
    heavier = model.tree_.weighted_n_node_samples[1] > model.tree_.weighted_n_node_samples[2]
    assert model.tree_.missing_go_to_left[0] == heavier
    assert missing == model.tree_.value[1 if heavier else 2, 0, 0]


def test_a_level_that_a_node_did_not_see_goes_as_a_missing_value():
    # Level 2 occurs on the left side of the root only; the split below on the right never saw it.
    x = np.array([0.0, 0, 0, 0, 1, 1, 1, 1, 1, 1])
    level = np.array([2, 2, 2, 2, 0, 0, 0, 0, 1, 1])
    y = np.array([9.0, 9, 9, 9, 1, 1, 1, 1, 2, 2])
    X = np.column_stack([x, level])
    model = DecisionTreeRegressor(categorical_features=[1]).fit(X, y)
    assert model.predict([[1.0, 2.0]]) == model.predict([[1.0, np.nan]]) == 1.0  # the heavier side


def test_missing_values_alone_can_be_a_side():
    X = np.array([[1.0], [1.0], [2.0], [2.0], [np.nan], [np.nan]])
    y = np.array([1.0, 1, 1, 1, 5, 5])
    model = DecisionTreeRegressor(max_depth=1).fit(X, y)
    assert_array_equal(model.predict(X), y)
    assert np.isinf(model.tree_.threshold[0])
    assert_array_equal(model.predict([[1e300], [np.nan]]), [1.0, 5.0])


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error"])
def test_a_gain_as_large_as_the_least_that_is_asked_for_is_enough(criterion):
    X, y = np.arange(4.0)[:, None], np.array([1.0, 1.0, 3.0, 3.0])
    free = DecisionTreeRegressor(criterion=criterion).fit(X, y)
    gain = free.tree_.impurity[0]  # both leaves are pure
    for least, leaves in ((gain, 2), (1.01 * gain, 1)):
        tree = DecisionTreeRegressor(criterion=criterion, min_impurity_decrease=least).fit(X, y)
        assert tree.get_n_leaves() == leaves


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error"])
@pytest.mark.parametrize("first", [True, False], ids=["left", "right"])
@pytest.mark.parametrize("sign", [1, -1])
def test_a_side_may_have_the_value_that_a_monotone_constraint_allows_last(criterion, first, sign):
    """The sides of the root have 0 and 4, so what is below them may go as far as 2."""
    side = np.repeat([0.0, 1.0], 8)
    which = np.tile(np.repeat([0.0, 1.0], 4), 2)
    for split, rest in ((1, 0.0), (0, 4.0)):  # the side that is split, what the other one has
        low, high = (2.0, 6.0) if split else (-2.0, 2.0)
        within = np.where(which == (0 if first else 1), low, high)
        y = np.where(side == split, within, rest)
        X = np.column_stack([side * sign, which])
        X[side != split, 1] = np.tile([0.0, 1.0], 4)
        signs = [sign, 1 if first else -1]
        tree = DecisionTreeRegressor(criterion=criterion, monotonic_cst=signs).fit(X, y)
        assert_array_equal(tree.predict(X), y)
