"""Random forests: their trees, what they say together, and the ways to grow them."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier as PeerClassifier
from sklearn.ensemble import RandomForestRegressor as PeerRegressor

from empirisk import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from empirisk.learners.ensembles.forest_growing import ForestGrowing
from empirisk.runtime.errors import DataError, ParameterError

NODES = (
    "children_right",
    "feature",
    "threshold",
    "missing_go_to_left",
    "subset",
    "subsets",
    "n_node_samples",
)
NUMBERS = ("value", "impurity", "gain", "weighted_n_node_samples")


def regression(n=300, p=5, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    X[rng.random((n, p)) < 0.05] = np.nan
    signal = np.nan_to_num(X[:, 0]) ** 2 + np.sin(2 * np.nan_to_num(X[:, 1]))
    return X, signal + 0.3 * rng.normal(size=n)


def classes(n=300, K=3, seed=0):
    X, y = regression(n, seed=seed)
    return X, np.array(list("abcdefgh"))[np.digitize(y, np.quantile(y, np.arange(1, K) / K))]


def frame(n=300, seed=0):
    rng = np.random.default_rng(seed)
    X, y = regression(n, 3, seed)
    table = pd.DataFrame(X, columns=["x", "z", "w"])
    table["level"] = pd.Categorical(rng.choice(list("pqrstuv"), n))
    return table, y + 2.0 * table["level"].isin(["p", "s"]).to_numpy()


def counts_of(forest, b, n):
    return np.bincount(forest.estimators_samples_[b], minlength=n)


@pytest.fixture
def first_of_equals(monkeypatch):
    """Of equal splits the one of the first feature is taken, as in a single tree."""
    drawn = ForestGrowing.limits.func
    limits = property(lambda self: replace(drawn(self), shuffle=False))
    monkeypatch.setattr(ForestGrowing, "limits", limits)


def assert_same_tree(one, two):
    for name in NODES:
        assert_array_equal(getattr(one, name), getattr(two, name), err_msg=name)
    order = [np.unique(tree.split_order, return_inverse=True)[1] for tree in (one, two)]
    assert_array_equal(*order)  # among the splits that pruning left
    for name in NUMBERS:  # of inner nodes from those of leaves: sums in another order
        found, wanted = getattr(one, name), getattr(two, name)
        scale = max(np.abs(wanted).max(), 1e-300)
        assert_allclose(found / scale, wanted / scale, rtol=1e-12, atol=1e-12, err_msg=name)


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error", "poisson"])
@pytest.mark.usefixtures("first_of_equals")
def test_a_tree_of_a_forest_is_the_tree_of_the_rows_that_it_drew(criterion):
    X, y = frame()
    y = np.exp(0.3 * y) if criterion == "poisson" else y
    how = {"criterion": criterion}
    forest = RandomForestRegressor(3, random_state=0, **how).fit(X, y)
    for b, member in enumerate(forest.estimators_):
        tree = DecisionTreeRegressor(**how)
        tree.fit(X, y, sample_weight=counts_of(forest, b, len(y)))
        assert_same_tree(member.tree_, tree.tree_)
        assert_array_equal(member.predict(X), forest.members_of(X).scores(b, np.arange(len(y))))


@pytest.mark.parametrize("criterion", ["gini", "entropy", "misclassification"])
@pytest.mark.parametrize("K", [2, 4])
@pytest.mark.usefixtures("first_of_equals")
def test_a_tree_for_classes_is_the_tree_of_the_rows_that_it_drew(criterion, K):
    X, y = classes(K=K)
    how = {"criterion": criterion}
    forest = RandomForestClassifier(3, max_features=None, random_state=0, **how).fit(X, y)
    for b, member in enumerate(forest.estimators_):
        tree = DecisionTreeClassifier(**how)
        tree.fit(X, y, sample_weight=counts_of(forest, b, len(y)))
        assert_same_tree(member.tree_, tree.tree_)
        assert_array_equal(member.classes_, np.arange(K))


@pytest.mark.usefixtures("first_of_equals")
def test_a_pruned_tree_is_the_pruned_tree_of_its_rows():
    X, y = frame()
    how = {"ccp_alpha": 0.02}
    forest = RandomForestRegressor(2, random_state=0, **how).fit(X, y)
    tree = DecisionTreeRegressor(**how).fit(X, y, sample_weight=counts_of(forest, 1, len(y)))
    assert_same_tree(forest.estimators_[1].tree_, tree.tree_)


def test_a_forest_says_what_its_trees_say_in_the_mean():
    X, y = frame()
    forest = RandomForestRegressor(20, max_features=2, random_state=0).fit(X, y)
    single = np.array([tree.predict(X) for tree in forest.estimators_])
    assert_allclose(forest.predict(X), single.mean(axis=0), rtol=1e-14)
    X, y = classes(K=4)
    forest = RandomForestClassifier(20, random_state=0).fit(X, y)
    shares = np.mean([tree.predict_proba(X) for tree in forest.estimators_], axis=0)
    assert_allclose(forest.predict_proba(X), shares, rtol=1e-14, atol=1e-16)
    assert_array_equal(forest.predict(X), forest.classes_[shares.argmax(axis=1)])


def test_without_draws_each_tree_is_the_tree_of_all_rows():
    X, y = frame()
    weight = np.random.default_rng(1).integers(0, 3, size=len(y))
    forest = RandomForestRegressor(3, bootstrap=False).fit(X, y, sample_weight=weight)
    tree = DecisionTreeRegressor().fit(X, y, sample_weight=weight)
    assert_allclose(forest.predict(X), tree.predict(X), rtol=1e-14)
    assert_array_equal(list(forest.estimators_samples_), np.arange(300)[None].repeat(3, axis=0))
    with pytest.raises(ParameterError, match="oob_score needs rows that trees do not draw"):
        forest.set_params(oob_score=True).fit(X, y)


@pytest.mark.parametrize("n_jobs", [2, 4, 8])
def test_the_same_bits_for_any_number_of_jobs(n_jobs):
    X, y = frame()
    one = RandomForestRegressor(12, max_features=2, random_state=0).fit(X, y)
    many = clone(one).set_params(n_jobs=n_jobs).fit(X, y)
    assert_array_equal(one.predict(X), many.predict(X))
    for name in ("nodes", "value", "weight", "gains"):
        assert_array_equal(
            getattr(one.trees_, name).view(np.int64), getattr(many.trees_, name).view(np.int64)
        )


def test_trees_that_are_added_are_those_that_a_larger_forest_has():
    X, y = classes()
    whole = RandomForestClassifier(12, random_state=3).fit(X, y)
    grown = RandomForestClassifier(5, random_state=3, warm_start=True).fit(X, y)
    grown.set_params(n_estimators=12).fit(X, y)
    assert_array_equal(grown.predict_proba(X), whole.predict_proba(X))
    with pytest.raises(ParameterError, match=r"n_estimators is 4 and the forest has 12 trees"):
        grown.set_params(n_estimators=4).fit(X, y)
    with pytest.raises(DataError, match="y has other classes"):
        grown.set_params(n_estimators=13).fit(X, np.where(y == "a", "b", y))


def test_growth_goes_on_for_the_same_levels_alone():
    X, y = frame()
    forest = RandomForestRegressor(2, random_state=0, warm_start=True).fit(X, y)
    fewer = X.assign(level=pd.Categorical(np.where(X["level"] == "p", "q", X["level"])))
    with pytest.raises(DataError, match="column 'level' has another type, or other levels"):
        forest.set_params(n_estimators=3).fit(fewer, y)


def test_leaves_and_paths_are_those_of_the_single_trees():
    X, y = frame()
    forest = RandomForestRegressor(4, max_depth=5, random_state=0).fit(X, y)
    leaves, (paths, first) = forest.apply(X), forest.decision_path(X)
    for b, tree in enumerate(forest.estimators_):
        assert_array_equal(leaves[:, b], tree.apply(X))
        found = paths[:, first[b] : first[b + 1]].toarray()
        assert_array_equal(found, tree.decision_path(X).toarray())


def test_equal_splits_are_settled_by_lot_in_each_tree():
    """Of 200 trees about half take the first of two equal columns: 60 or fewer has a chance of
    1e-8."""
    X = np.repeat(np.arange(40.0)[:, None], 2, axis=1)
    forest = RandomForestRegressor(200, max_depth=1, random_state=0).fit(X, X[:, 0] > 15)
    first = np.mean([tree.tree_.feature[0] == 0 for tree in forest.estimators_])
    assert 0.3 < first < 0.7


def test_proximity_is_the_share_of_trees_with_a_common_leaf():
    X, y = frame(60)
    forest = RandomForestRegressor(15, min_samples_leaf=5, random_state=0).fit(X, y)
    near, leaves = forest.proximity(X), forest.apply(X)
    twin = [[np.mean(leaves[i] == leaves[j]) for j in range(60)] for i in range(60)]
    assert_allclose(near, twin, rtol=1e-14)
    assert_allclose(np.diag(near), 1.0)
    assert_array_equal(forest.proximity(X, X[:7]), near[:, :7])


def quantile_twin(forest, X, y, new, level):
    """By weights over all training rows, one new row after the other."""
    here, there = forest.apply(X), forest.apply(new)
    weight = np.zeros((len(new), len(y)))
    for b in range(here.shape[1]):
        counts = counts_of(forest, b, len(y))
        for i in range(len(new)):
            inside = counts * (here[:, b] == there[i, b])
            weight[i] += inside / inside.sum() / here.shape[1]
    order = np.argsort(y)
    reached = np.cumsum(weight[:, order], axis=1) >= level - 1e-12
    return weight, y[order][reached.argmax(axis=1)]


@pytest.mark.parametrize("leaf", [1, 8])
def test_quantiles_are_those_of_the_training_values_in_the_leaves(leaf):
    X, y = frame(150)
    forest = RandomForestRegressor(
        25, min_samples_leaf=leaf, keep_members=True, random_state=0
    ).fit(X, y)
    new = X[:20]
    levels = [0.5, 0.05, 0.95]
    found = forest.predict_quantiles(new, levels)
    for q, level in enumerate(levels):
        weight, wanted = quantile_twin(forest, X, y, new, level)
        assert_array_equal(found[:, q], wanted)
    assert_allclose(weight @ y, forest.predict(new), rtol=1e-12)
    assert_array_equal(found[:, 0], forest.predict_quantiles(new, 0.5))
    assert_array_equal(forest.predict_quantiles(new, [0.0]) >= y.min(), True)


def test_a_row_of_a_weight_too_small_to_count_is_in_no_quantile():
    """Its part of a leaf is 0; noted once for each tree, it would take more room than there is."""
    X, y = frame(40)
    weight = np.where(np.arange(40) % 4, 1.0, 5e-324)
    forest = RandomForestRegressor(9, bootstrap=False, max_depth=1, keep_members=True)
    forest.fit(X, y, sample_weight=2.0 * weight)
    found = forest.predict_quantiles(X, [0.0, 0.5, 1.0])
    assert np.isin(found, y[weight == 1.0]).all()
    tree = DecisionTreeRegressor(max_depth=1).fit(X, y, sample_weight=2.0 * weight)
    for leaf in np.unique(tree.apply(X)):
        inside = (tree.apply(X) == leaf) & (weight == 1.0)
        assert_array_equal(found[tree.apply(X) == leaf, 0], y[inside].min())
        assert_array_equal(found[tree.apply(X) == leaf, 2], y[inside].max())


def test_quantiles_cover_new_values():
    """90 % of 2,000 new values lie between; the chance of less than 0.85 is below 1e-6, and the
    forest has 1,000 rows to learn the spread from."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(3000, 2))
    y = X[:, 0] + (1 + X[:, 1]) * rng.normal(size=3000)
    forest = RandomForestRegressor(100, min_samples_leaf=10, keep_members=True, random_state=0)
    low, high = forest.fit(X[:1000], y[:1000]).predict_quantiles(X[1000:], [0.05, 0.95]).T
    inside = (low <= y[1000:]) & (y[1000:] <= high)
    assert 0.85 < inside.mean() < 0.95
    assert np.corrcoef(high - low, X[1000:, 1])[0, 1] > 0.8  # where y spreads more


def test_rows_of_a_class_that_weighs_twice_are_two():
    X, y = classes(K=2)
    heavy = RandomForestClassifier(4, bootstrap=False, class_weight={"b": 2.0}, random_state=0)
    twice = RandomForestClassifier(4, bootstrap=False, random_state=0)
    twice.fit(X, y, sample_weight=np.where(y == "b", 2.0, 1.0))
    assert_allclose(heavy.fit(X, y).predict_proba(X), twice.predict_proba(X), rtol=1e-12)


@pytest.mark.parametrize("class_weight", ["balanced", "balanced_subsample"])
def test_balanced_classes_weigh_the_same(class_weight):
    X, y = classes(K=3)
    y = np.where((y == "a") & (np.arange(len(y)) % 4 > 0), "b", y)
    forest = RandomForestClassifier(6, class_weight=class_weight, random_state=0).fit(X, y)
    shares = np.array([tree.tree_.value[0, 0] for tree in forest.estimators_])
    if class_weight == "balanced":  # before rows are drawn
        drawn = [counts_of(forest, b, len(y)) for b in range(6)]
        factor = {k: len(y) / 3 / (y == k).sum() for k in "abc"}
        twin = [[factor[k] * c[y == k].sum() for k in "abc"] for c in drawn]
        assert_allclose(shares, twin / np.sum(twin, axis=1, keepdims=True), rtol=1e-12)
    else:
        assert_allclose(shares, 1 / 3, rtol=1e-12)


def test_a_class_of_nearly_no_weight_is_balanced_to_finite_numbers():
    X, y = classes(K=3)
    weight = np.where(y == "a", 1e-200, 1e200)
    forest = RandomForestClassifier(2, class_weight="balanced", bootstrap=False, random_state=0)
    shares = forest.fit(X, y, sample_weight=weight).predict_proba(X)
    assert_allclose(shares.sum(axis=1), 1.0, rtol=1e-12)


def test_a_tree_draws_as_many_rows_as_asked_for():
    X, y = frame()
    for asked, size in [(None, 300), (40, 40), (0.5, 150)]:
        forest = RandomForestRegressor(3, max_samples=asked, random_state=0).fit(X, y)
        assert [len(rows) for rows in forest.estimators_samples_] == [size] * 3
        root = [tree.tree_.weighted_n_node_samples[0] for tree in forest.estimators_]
        assert_array_equal(root, size)


def test_groups_are_drawn_as_a_whole():
    X, y = frame()
    group = np.repeat(np.arange(60), 5)
    forest = RandomForestRegressor(5, random_state=0).fit(X, y, groups=group)
    for rows in forest.estimators_samples_:
        counts = np.bincount(rows, minlength=300).reshape(60, 5)
        assert_array_equal(counts, counts[:, :1].repeat(5, axis=1))


def test_weights_are_copies_in_distribution():
    """Means over 200 forests of 5 trees; of six differences one beyond 5 standard errors has a
    chance of 4e-6."""
    X, y = regression(30)
    weight = np.random.default_rng(2).integers(0, 4, size=30)
    copies = np.repeat(np.arange(30), weight)
    found = [
        [
            RandomForestRegressor(5, random_state=s).fit(X, y, sample_weight=weight).predict(X[:6]),
            RandomForestRegressor(5, random_state=s + 999).fit(X[copies], y[copies]).predict(X[:6]),
        ]
        for s in range(200)
    ]
    difference = np.subtract(*np.moveaxis(found, 1, 0))
    error = difference.std(axis=0, ddof=1) / np.sqrt(200)
    assert (np.abs(difference.mean(axis=0)) < 5 * error).all()


def test_limits_are_those_of_scikit_learn():
    """Distinct rows in leaves, and weights of leaves as parts of what a tree drew."""
    X, y = classes()
    forest = RandomForestClassifier(5, min_samples_leaf=7, random_state=0).fit(X, y)
    assert forest.trees_.rows.min() >= 7
    forest = RandomForestClassifier(5, min_weight_fraction_leaf=0.05, random_state=0).fit(X, y)
    assert forest.trees_.weight.min() >= 0.05 * 300 - 1e-9
    forest = RandomForestClassifier(5, max_leaf_nodes=6, max_features=2, random_state=0).fit(X, y)
    assert_array_equal(np.diff(forest.trees_.first_leaf), 6)
    forest = RandomForestClassifier(5, min_impurity_decrease=0.02, random_state=0).fit(X, y)
    for tree in forest.estimators_:
        lost = tree.tree_.gain * tree.tree_.impurity[0]
        assert lost[~tree.tree_.is_leaf].min(initial=np.inf) >= 0.02 * (1 - 1e-9)


def test_several_outputs_are_predicted_together():
    X, y = regression()
    both = np.column_stack([y, -2.0 * y])
    forest = RandomForestRegressor(5, random_state=0).fit(X, both)
    assert_allclose(forest.predict(X)[:, 1], -2.0 * forest.predict(X)[:, 0], rtol=1e-12)


def test_constraints_hold_in_the_forest():
    X, y = regression()
    X = np.nan_to_num(X)
    forest = RandomForestRegressor(10, monotonic_cst=[1, 0, 0, 0, -1], random_state=0).fit(X, y)
    line = np.zeros((50, 5))
    line[:, 0] = np.linspace(-2, 2, 50)
    assert (np.diff(forest.predict(line)) >= -1e-12).all()
    line[:, 4] = line[:, 0]
    line[:, 0] = 0.0
    assert (np.diff(forest.predict(line)) <= 1e-12).all()


@pytest.mark.parametrize("power", [-600, 600])
def test_units_of_y_do_not_matter(power):
    X, y = regression()
    plain = RandomForestRegressor(4, random_state=0).fit(X, y)
    scaled = RandomForestRegressor(4, random_state=0).fit(X, y * 2.0**power)
    assert_array_equal(scaled.predict(X), plain.predict(X) * 2.0**power)


def test_the_largest_values_are_predicted():
    X, y = regression()
    y = y / np.abs(y).max()
    plain = RandomForestRegressor(8, random_state=0).fit(X, y)
    large = RandomForestRegressor(8, random_state=0).fit(X, y * 2.0**1023)
    assert_allclose(large.predict(X) / 2.0**1023, plain.predict(X), rtol=1e-14)  # sums of eight
    for one, other in zip(plain.estimators_, large.estimators_, strict=True):
        assert_allclose(other.tree_.value / 2.0**1023, one.tree_.value, rtol=1e-14)


def test_growers_that_serve_one_tree_are_not_kept(monkeypatch):
    """A limit that is a share of all weight is that of one tree: its room is given back."""
    kept, grow = [], ForestGrowing._grow

    def noted(self, seed):
        kept.append(len(self._idle))
        return grow(self, seed)

    monkeypatch.setattr(ForestGrowing, "_grow", noted)
    X, y = regression(60)
    RandomForestRegressor(6, min_weight_fraction_leaf=0.1, random_state=0).fit(X, y)
    assert max(kept) <= 1


def test_a_class_of_nearly_no_weight_has_nearly_no_entropy():
    """Its share of the weight is 0 in floating point, and 0 log 0 is 0."""
    X, y = classes(K=3)
    y = np.where((y == "a") & (np.arange(len(y)) % 5 > 0), "b", y)
    weight = np.where(y == "a", 5e-324, 1.0)
    forest = RandomForestClassifier(1, criterion="entropy", bootstrap=False, max_features=None)
    forest.fit(X, y, sample_weight=weight)
    assert np.isfinite(forest.feature_importances_).all()
    assert np.isfinite(forest.predict_proba(X)).all()
    assert_array_equal(forest.predict(X)[y != "a"], y[y != "a"])


def test_random_splits_are_drawn_anew_in_each_tree():
    X, y = regression()
    forest = RandomForestRegressor(8, splitter="random", bootstrap=False, random_state=0).fit(X, y)
    roots = [tree.tree_.threshold[0] for tree in forest.estimators_]
    assert len(set(roots)) == 8
    assert forest.score(X, y) > 0.9


def test_levels_that_were_never_seen_and_missing_cells_are_predicted():
    X, y = frame()
    forest = RandomForestRegressor(10, random_state=0).fit(X, y)
    new = X[:5].assign(level=pd.Categorical(["new"] * 5), x=np.nan)
    assert np.isfinite(forest.predict(new)).all()


def test_memory_is_less_than_half_of_that_of_scikit_learn():
    X, y = regression(2000)
    X = np.nan_to_num(X)
    labels = np.digitize(y, np.quantile(y, [0.2, 0.4, 0.6, 0.8]))
    pairs = [
        (RandomForestRegressor, PeerRegressor, y),
        (RandomForestClassifier, PeerClassifier, (y > y.mean()).astype(int)),
        (RandomForestClassifier, PeerClassifier, labels),
    ]
    for ours, theirs, target in pairs:
        mine = ours(10, random_state=0).fit(X, target).trees_
        peer = theirs(10, random_state=0).fit(X, target).estimators_
        nodes = sum(tree.tree_.node_count for tree in peer)
        # Trees of the same size: of ten, the ratio has a standard deviation of 0.035.
        assert abs(len(mine.nodes) / nodes - 1) < 0.15
        assert mine.nbytes < 0.5 * (64 * nodes + sum(tree.tree_.value.nbytes for tree in peer))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_estimators": 0}, "n_estimators is 0; it must be a whole number from 1"),
        ({"bootstrap": False, "max_samples": 5}, "max_samples is 5 and bootstrap is False"),
        ({"bootstrap": "yes"}, "bootstrap is 'yes'; give True or False"),
        ({"max_features": 0}, "max_features is 0; it must be"),
        ({"class_weight": "even"}, "class_weight is 'even'; it must be None, 'balanced'"),
        ({"criterion": "mse"}, "criterion is 'mse'; it must be one of"),
        ({"ccp_alpha": -1.0}, "ccp_alpha is -1.0; it must be a number >= 0"),
        ({"splitter": "worst"}, "splitter is 'worst'; it must be 'best' or 'random'"),
    ],
)
def test_wrong_parameters_are_named(change, message):
    X, y = classes()
    with pytest.raises(ParameterError, match=message):
        RandomForestClassifier(**{"n_estimators": 3, **change}).fit(X, y)


def test_quantiles_need_members():
    X, y = regression()
    forest = RandomForestRegressor(3, random_state=0).fit(X, y)
    with pytest.raises(ParameterError, match="fit with keep_members=True"):
        forest.predict_quantiles(X)
    forest.set_params(keep_members=True).fit(X, y)
    with pytest.raises(ParameterError, match="give numbers from 0 to 1"):
        forest.predict_quantiles(X, [0.5, 50])
