"""Laws of trees: what does not matter does not change them."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import empirisk.learners.trees.growth as growth
import empirisk.runtime.scratch as scratch
from empirisk import DecisionTreeClassifier, DecisionTreeRegressor, Table, load, save
from empirisk.runtime.deadlines import deadline
from empirisk.runtime.errors import DataError, DeadlineError, ParameterError
from tolerances import LAST_BITS, SUMMED
from tree_twins import walk

ARRAYS = ("children_right", "feature", "threshold", "impurity", "gain", "n_node_samples", "value")


def sample(seed, n=200, p=4):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, X[:, 0] + np.sin(3 * X[:, 1]) + 0.5 * rng.normal(size=n), rng


def same(one, other, names=ARRAYS):
    for name in names:
        assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)


@pytest.mark.parametrize("few", [False, True], ids=["distinct", "few values"])
def test_best_first_without_end_is_depth_first(few):
    X, y, _ = sample(0)
    X = np.round(2 * X) if few else X
    deep = DecisionTreeRegressor().fit(X, y).tree_
    best = DecisionTreeRegressor(max_leaf_nodes=10**6).fit(X, y).tree_
    same(deep, best)  # both are one block
    inner = ~best.is_leaf
    # Best first: of the leaves that there are, the one with the largest gain is split next.
    order = np.argsort(best.split_order[inner])
    gains, parent = best.gain[inner][order], best.parent[np.flatnonzero(inner)[order]]
    for s in range(1, len(gains)):
        if parent[s] != np.flatnonzero(inner)[order][s - 1]:
            assert gains[s] <= gains[s - 1] * (1 + 1e-12)


@pytest.mark.parametrize("block", [0, 7, 40, 10**6])
def test_blocks_that_are_sorted_once_change_nothing(monkeypatch, block):
    X, y, rng = sample(1)
    X[:, 1], X[:, 2] = np.round(2 * X[:, 1]), rng.integers(0, 9, size=200)
    X[rng.random(X.shape) < 0.1] = np.nan
    labels = np.digitize(y, [-1, 0, 1])
    how = {"categorical_features": [2]}
    for criterion in ("squared_error", "absolute_error"):
        monkeypatch.setattr(growth, "_block_size", lambda n, p, limits: n)
        whole = DecisionTreeRegressor(criterion=criterion, **how).fit(X, y).tree_
        monkeypatch.setattr(growth, "_block_size", lambda n, p, limits: min(n, block))
        tree = DecisionTreeRegressor(criterion=criterion, **how).fit(X, y).tree_
        same(whole, tree, [name for name in ARRAYS if name != "gain"])
        # Without blocks, rows of one code are added first: sums of the same terms.
        assert_allclose(whole.gain, tree.gain, rtol=1e-12)
    cut = DecisionTreeClassifier(**how).fit(X, labels).tree_
    monkeypatch.setattr(growth, "_block_size", lambda n, p, limits: n)
    same(cut, DecisionTreeClassifier(**how).fit(X, labels).tree_)


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error", "gini"])
@pytest.mark.parametrize("leaves", [None, 50])
def test_growing_in_slices_changes_nothing(criterion, leaves, monkeypatch):
    """Between two slices the room that a tree works in is forgotten, but for a block of rows."""
    X, y, _ = sample(2)
    X[::7, 0] = np.nan
    X[:, 3] = np.round(X[:, 3])
    how = {"criterion": criterion, "max_leaf_nodes": leaves, "categorical_features": [3]}
    learner, target = DecisionTreeRegressor(**how), y
    if criterion == "gini":
        learner, target = DecisionTreeClassifier(**how), np.digitize(y, [-1.0, 0.0, 1.0])
    whole = learner.fit(X, target).tree_
    monkeypatch.setattr(growth, "WORK_AT_ONCE", 10)
    monkeypatch.setattr(scratch, "MANY", 1)  # so that all of it is in pages of its own
    same(whole, learner.fit(X, target).tree_)


def test_monotone_transforms_of_features_change_no_split():
    X, y, _ = sample(3)
    other = np.column_stack([np.exp(X[:, 0]), X[:, 1] ** 3, np.arctan(X[:, 2]), 1e9 + X[:, 3]])
    a, b = DecisionTreeRegressor().fit(X, y), DecisionTreeRegressor().fit(other, y)
    same(a.tree_, b.tree_, [name for name in ARRAYS if name != "threshold"])
    assert_array_equal(a.predict(X), b.predict(other))


def test_the_order_of_rows_and_of_features_changes_no_prediction():
    X, y, rng = sample(4)
    rows, columns = rng.permutation(200), np.array([2, 0, 3, 1])
    plain = DecisionTreeRegressor(min_samples_leaf=5).fit(X, y)
    shuffled = DecisionTreeRegressor(min_samples_leaf=5).fit(X[rows], y[rows])
    same(plain.tree_, shuffled.tree_, ("feature", "threshold", "n_node_samples"))
    turned = DecisionTreeRegressor(min_samples_leaf=5).fit(X[:, columns], y)
    assert_allclose(turned.predict(X[:, columns]), plain.predict(X), rtol=SUMMED)


@pytest.mark.parametrize("min_samples_leaf", [1, 4])
@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error", "gini", "entropy"])
def test_whole_weights_are_copies_in_every_limit(criterion, min_samples_leaf):
    X, y, rng = sample(5)
    learner = DecisionTreeRegressor
    if criterion in ("gini", "entropy"):
        y, learner = np.digitize(y, [-1, 0.5]), DecisionTreeClassifier
    weight = rng.integers(0, 4, size=200)
    copies = np.repeat(np.arange(200), weight)
    how = {"criterion": criterion, "min_samples_leaf": min_samples_leaf, "min_samples_split": 9}
    a = learner(**how).fit(X, y, sample_weight=weight).tree_
    b = learner(**how).fit(X[copies], y[copies]).tree_
    same(a, b, ("children_right", "feature", "threshold"))
    assert_allclose(a.value, b.value, rtol=SUMMED, atol=LAST_BITS)


def test_draws_of_features_depend_on_the_seed_alone():
    X, y, _ = sample(6)
    how = {"max_features": 2, "min_samples_leaf": 3}
    a = DecisionTreeRegressor(random_state=1, **how).fit(X, y).tree_
    same(a, DecisionTreeRegressor(random_state=1, **how).fit(X, y).tree_)
    best = DecisionTreeRegressor(random_state=1, max_leaf_nodes=10**5, **how).fit(X, y).tree_
    same(a, best)  # the stream of a node belongs to the way to it, not to the time it is opened
    b = DecisionTreeRegressor(random_state=2, **how).fit(X, y).tree_
    assert a.node_count != b.node_count or (a.feature != b.feature).any()


def test_one_drawn_feature_is_each_feature_equally_often():
    # 600 roots, each feature with probability 1/4: the chi-squared statistic with 3 degrees of
    # freedom is above 16.3 with probability 0.001.
    X, y, _ = sample(7, n=30)
    roots = [
        DecisionTreeRegressor(max_features=1, max_depth=1, random_state=s)
        .fit(X, y)
        .tree_.feature[0]
        for s in range(600)
    ]
    counts = np.bincount(roots, minlength=4)
    assert ((counts - 150) ** 2 / 150).sum() < 16.3


def test_prediction_is_a_walk_of_each_row():
    X, y, rng = sample(8)
    X[rng.random(X.shape) < 0.1] = np.nan
    model = DecisionTreeRegressor().fit(X, y)
    new = rng.normal(size=(533, 4))  # not a multiple of the rows in lockstep
    new[rng.random(new.shape) < 0.2] = np.nan
    paths = walk(model.tree_, new)
    assert_array_equal(model.apply(new), [path[-1] for path in paths])
    passed = model.decision_path(new).toarray()
    assert all(
        set(np.flatnonzero(row)) == set(path) for row, path in zip(passed, paths, strict=True)
    )


def test_identifiers_of_64_bits_and_large_offsets_split_where_they_differ():
    ids = 2**60 + np.arange(8)
    y = (np.arange(8) >= 3).astype(float)
    model = DecisionTreeRegressor().fit(ids[:, None], y)
    assert_array_equal(model.predict(ids[:, None]), y)
    assert model.get_n_leaves() == 2
    offset = 1e9 + np.arange(8)[:, None] * 1e-6
    assert_array_equal(DecisionTreeRegressor().fit(offset, y).predict(offset), y)
    frame = pd.DataFrame({"id": ids})
    assert_array_equal(DecisionTreeRegressor().fit(frame, y).predict(frame), y)


def test_neighbouring_floats_are_told_apart():
    x = np.array([1.0, np.nextafter(1.0, 2)])
    for base in (x, -x, np.array([0.0, 5e-324]), np.array([-1.7e308, 1.7e308])):
        model = DecisionTreeRegressor().fit(base[:, None], [0.0, 1.0])
        assert_array_equal(model.predict(base[:, None]), [0.0, 1.0])
        assert base.min() <= model.tree_.threshold[0] < base.max()


@pytest.mark.parametrize("power", [-200, 200])
@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error", "poisson"])
def test_units_of_the_target_change_nothing(power, criterion):
    X, y, _ = sample(9)
    y, unit = np.abs(y), 2.0 ** (3 * power)
    a = DecisionTreeRegressor(criterion=criterion).fit(X, y)
    b = DecisionTreeRegressor(criterion=criterion).fit(X, y * unit)
    same(a.tree_, b.tree_, ("feature", "threshold"))
    assert_array_equal(a.predict(X) * unit, b.predict(X))
    assert_allclose(a.feature_importances_, b.feature_importances_, rtol=SUMMED)


def test_frames_tables_and_arrays_give_one_tree(tmp_path):
    X, y, rng = sample(10)
    frame = pd.DataFrame(X, columns=list("abcd"))
    frame["e"] = rng.choice(["x", "y", "z"], size=200)
    numbers = np.column_stack([X, np.searchsorted(["x", "y", "z"], frame["e"])])
    y = y + 3 * (frame["e"] == "y")
    one = DecisionTreeRegressor(max_depth=6).fit(frame, y)
    two = DecisionTreeRegressor(max_depth=6).fit(Table.of(frame), y)
    three = DecisionTreeRegressor(max_depth=6, categorical_features=[4]).fit(numbers, y)
    objects = DecisionTreeRegressor(max_depth=6).fit(frame.to_numpy(dtype=object), y)
    for other in (two, three, objects):
        same(one.tree_, other.tree_)
    assert_array_equal(one.predict(frame.iloc[:1]), one.predict(frame)[:1])  # one word: "text"
    save(one, tmp_path / "tree.empirisk")
    assert_array_equal(load(tmp_path / "tree.empirisk").predict(frame), one.predict(frame))


def test_time_is_kept():
    X, y, _ = sample(11)
    with deadline(0), pytest.raises(DeadlineError):
        DecisionTreeRegressor().fit(X, y)


@pytest.mark.parametrize(
    ("how", "complaint"),
    [
        ({"max_depth": 0}, "max_depth"),
        ({"min_samples_split": 1}, "min_samples_split"),
        ({"min_samples_leaf": 1.5}, "min_samples_leaf"),
        ({"min_weight_fraction_leaf": 0.6}, "min_weight_fraction_leaf"),
        ({"max_features": "all"}, "max_features"),
        ({"max_leaf_nodes": 1}, "max_leaf_nodes"),
        ({"min_impurity_decrease": -1}, "min_impurity_decrease"),
        ({"ccp_alpha": -0.1}, "ccp_alpha"),
        ({"criterion": "mse"}, "squared_error"),
        ({"splitter": "worst"}, "splitter"),
        ({"monotonic_cst": [1, 2, 0, 0]}, "monotonic_cst"),
        ({"monotonic_cst": [1, 0]}, "monotonic_cst"),
        ({"categorical_features": [7]}, "categorical_features"),
        ({"categorical_features": [0], "monotonic_cst": [1, 0, 0, 0]}, "category"),
        ({"criterion": "poisson"}, "negative"),
        ({"early_stopping": 3}, "early_stopping"),
        ({"early_stopping": True, "validation_fraction": 2}, "validation_fraction"),
        ({"early_stopping": True, "n_iter_no_change": 0}, "n_iter_no_change"),
    ],
    ids=str,
)
def test_wrong_parameters_are_named(how, complaint):
    X, y, _ = sample(12)
    with pytest.raises((ParameterError, DataError), match=complaint):
        DecisionTreeRegressor(**how).fit(X, y)


def test_wrong_columns_of_y_are_named():
    X, y, _ = sample(13)
    two = np.column_stack([y**2, np.zeros(len(y))])
    with pytest.raises(ParameterError, match="'absolute_error' and y has 2 columns; fit a tree"):
        DecisionTreeRegressor(criterion="absolute_error").fit(X, two)
    with pytest.raises(DataError, match=r"column 1 of y has .* none above 0: it goes from 0 to 0"):
        DecisionTreeRegressor(criterion="poisson").fit(X, two)
    with pytest.raises(DataError, match=r"column 0 of y has a negative value.* from -1 to "):
        DecisionTreeRegressor(criterion="poisson").fit(X, np.where(y < y[0], -1.0, [y**2, y**2]).T)


def test_wrong_columns_are_named():
    X, y, _ = sample(13)
    with pytest.raises(DataError, match=r"^column 2 has 200 infinite"):
        DecisionTreeRegressor().fit(np.where(np.arange(4) == 2, np.inf, X), y)
    words = pd.DataFrame({"a": [f"word {i}" for i in range(200)]})
    with pytest.raises(DataError, match="'a' holds text"):
        DecisionTreeRegressor().fit(words, y)
    levels = pd.DataFrame({"a": ["x", "y"] * 100})
    with pytest.raises(DataError, match="categorical_features"):
        DecisionTreeRegressor(categorical_features=None).fit(levels, y)
    numbers = DecisionTreeRegressor().fit(pd.DataFrame({"a": X[:, 0]}), y)
    with pytest.raises(DataError, match="'a' holds words"):
        numbers.predict(levels)
