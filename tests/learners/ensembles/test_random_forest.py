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
from forest_rows import classes, counts_of, frame, regression
from tolerances import LAST_BITS, SUMMED

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
        assert_allclose(found / scale, wanted / scale, err_msg=name, rtol=0, atol=SUMMED)


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
    assert_allclose(forest.predict(X), single.mean(axis=0), rtol=LAST_BITS)
    X, y = classes(K=4)
    forest = RandomForestClassifier(20, random_state=0).fit(X, y)
    shares = np.mean([tree.predict_proba(X) for tree in forest.estimators_], axis=0)
    assert_allclose(forest.predict_proba(X), shares, rtol=LAST_BITS)
    assert_array_equal(forest.predict(X), forest.classes_[shares.argmax(axis=1)])


def test_without_draws_each_tree_is_the_tree_of_all_rows():
    X, y = frame()
    weight = np.random.default_rng(1).integers(0, 3, size=len(y))
    forest = RandomForestRegressor(3, bootstrap=False).fit(X, y, sample_weight=weight)
    tree = DecisionTreeRegressor().fit(X, y, sample_weight=weight)
    assert_allclose(forest.predict(X), tree.predict(X), rtol=LAST_BITS)
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


@pytest.mark.parametrize(
    ("error", "change", "rows", "weight"),
    [
        (DataError, {}, 200, None),
        (ParameterError, {"max_samples": 0.5}, 300, None),
        (ParameterError, {"bootstrap": False}, 300, None),
        (ParameterError, {}, 300, np.arange(300.0)),
    ],
)
def test_growth_goes_on_from_the_same_draws_alone(error, change, rows, weight):
    """Else the rows out of bag, which are found by drawing again, would be rows that trees saw."""
    X, y = frame()
    forest = RandomForestRegressor(2, random_state=0, warm_start=True).fit(X, y)
    with pytest.raises(error, match="warm_start=True"):
        forest.set_params(n_estimators=3, **change).fit(X[:rows], y[:rows], sample_weight=weight)


def test_growth_goes_on_for_the_same_targets_alone():
    X, y = frame()
    forest = RandomForestRegressor(2, random_state=0, warm_start=True).fit(X, y)
    with pytest.raises(DataError, match=r"y is not that of the members.* warm_start=True"):
        forest.set_params(n_estimators=3).fit(X[::-1], y[::-1])


def test_growth_goes_on_by_the_same_criterion_alone():
    X, y = frame()
    forest = RandomForestRegressor(2, random_state=0, warm_start=True).fit(X, y)
    wanted = forest.estimators_[1].tree_.impurity
    forest.set_params(n_estimators=3, criterion="absolute_error")
    with pytest.raises(ParameterError, match=r"grown by 'squared_error'.* warm_start=False"):
        forest.fit(X, y)
    assert_array_equal(forest.estimators_[1].tree_.impurity, wanted)  # as they were grown
    assert forest.decision_path(X)[0].sum(axis=0).shape[-1] == len(forest.trees_.nodes)


def test_a_forest_is_the_sequence_of_its_trees():
    X, y = frame()
    forest = RandomForestRegressor(3, max_depth=2, random_state=0).fit(X, y)
    assert len(forest) == 3
    for b, tree in enumerate(forest):
        assert_array_equal(tree.predict(X), forest[b].predict(X))
    assert_array_equal(forest[-1].predict(X), forest.estimators_[2].predict(X))
    assert forest.estimator_.get_params() == forest[0].get_params()


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
    assert_allclose(near, twin, rtol=LAST_BITS)
    assert_allclose(np.diag(near), 1.0, rtol=SUMMED)
    assert_array_equal(forest.proximity(X, X[:7]), near[:, :7])


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
    assert_allclose(forest.predict(X)[:, 1], -2.0 * forest.predict(X)[:, 0], rtol=SUMMED)


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
        assert_allclose(other.tree_.value / 2.0**1023, one.tree_.value, rtol=LAST_BITS)


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
        size = sum(array.nbytes for array in vars(mine).values())
        assert size < 0.5 * (64 * nodes + sum(tree.tree_.value.nbytes for tree in peer))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_estimators": 0}, "n_estimators is 0; it must be a whole number from 1"),
        ({"bootstrap": False, "max_samples": 5}, "max_samples is 5 and bootstrap is False"),
        ({"bootstrap": "yes"}, "bootstrap is 'yes'; give True or False"),
        ({"max_features": 0}, "max_features is 0; it must be"),
        ({"class_weight": "even"}, "class_weight is 'even'; it must be None, 'balanced'"),
        ({"class_weight": np.ones(2)}, r"class_weight is array\(.*; it must be None, 'balanced'"),
        ({"monotonic_cst": [[0, 1], [2]]}, r"monotonic_cst is \[\[0, 1\], \[2\]\]; give . values"),
        ({"categorical_features": [[0, 1], [2]]}, r"categorical_features is \[\[0.*; it must be"),
        ({"criterion": "mse"}, "criterion is 'mse'; it must be one of"),
        ({"ccp_alpha": -1.0}, "ccp_alpha is -1.0; it must be a number >= 0"),
        ({"splitter": "worst"}, "splitter is 'worst'; it must be 'best' or 'random'"),
    ],
)
def test_wrong_parameters_are_named(change, message):
    X, y = classes()
    with pytest.raises(ParameterError, match=message):
        RandomForestClassifier(**{"n_estimators": 3, **change}).fit(X, y)
