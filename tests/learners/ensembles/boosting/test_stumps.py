"""Stumps from bins are the stumps that trees grow, round by round."""

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from empirisk import AdaBoostClassifier, DecisionTreeClassifier
from empirisk.compiled.boosting import class_stumps, stump_bins, two_class_stumps
from empirisk.compiled.boosting.split_terms import MISSING_LEFT, SPLIT
from empirisk.compiled.boosting.stumps import code_of
from empirisk.compiled.trees.layout import UNSEEN
from empirisk.learners.ensembles.boosting import stumps
from empirisk.learners.ensembles.boosting.samme import rounds_of, samme

TREE = DecisionTreeClassifier(max_depth=1)


def signal(X, rng, K=2):
    """Labels 0..K-1 with noise, of all features."""
    X = np.nan_to_num(X)
    score = X @ np.linspace(1, 0.2, X.shape[1]) + np.sin(3 * X[:, 0])
    score = score + 0.5 * X.std() * rng.normal(size=len(X))
    return np.digitize(score, np.quantile(score, np.arange(1, K) / K))


def tables(n):
    """Tables that take different ways: many values, few, ties, missing values."""
    rng = np.random.default_rng(0)
    many = rng.normal(size=(n, 5))
    few = rng.integers(0, 9, size=(n, 4)).astype(float)
    lumpy = np.where(rng.random((n, 3)) < 0.6, 1.5, many[:, :3])
    holes = np.where(rng.random((n, 4)) < 0.15, np.nan, np.column_stack([many[:, :2], few[:, :2]]))
    twice = np.column_stack([many[:, 0], many[:, 1], many[:, 0], -many[:, 1]])
    return {"many": many, "few": few, "lumpy": lumpy, "holes": holes, "twice": twice}


def trees_in_turn(X, y, weight, rounds, **settings):
    """AdaBoost as the textbook has it, with a new tree in each round."""
    w, K = weight / weight.sum(), y.max() + 1
    for _ in range(rounds):
        tree = DecisionTreeClassifier(max_depth=1, **settings).fit(X, y, sample_weight=w)
        wrong = tree.predict(X) != y
        error = w[wrong].sum() / w.sum()
        yield tree, error
        w = w * np.where(wrong, (K - 1) * (1 - error) / error, 1.0)
        w = w / w.sum()


@pytest.mark.parametrize(
    ("criterion", "K"),
    [("gini", 2), ("entropy", 2), ("misclassification", 2), ("gini", 3), ("gini", 6)],
)
@pytest.mark.parametrize("kind", ["many", "few", "lumpy", "holes", "twice"])
def test_each_stump_is_the_tree_of_its_weights(kind, criterion, K):
    n, rounds = 1500, 20
    X = tables(n)[kind]
    y = signal(X, np.random.default_rng(1), K)
    weight = np.random.default_rng(2).uniform(0.2, 2, size=n)
    model = AdaBoostClassifier(DecisionTreeClassifier(max_depth=1, criterion=criterion))
    model.set_params(n_estimators=rounds).fit(X, y, sample_weight=weight)
    for t, (tree, error) in enumerate(trees_in_turn(X, y, weight, rounds, criterion=criterion)):
        ours, theirs = model.estimators_[t].tree_, tree.tree_
        assert_array_equal(ours.feature, theirs.feature)
        assert_array_equal(ours.threshold, theirs.threshold)
        assert_array_equal(ours.missing_go_to_left, theirs.missing_go_to_left)
        assert_array_equal(ours.n_node_samples, theirs.n_node_samples)
        assert_array_equal(model.estimators_[t].predict(X), tree.predict(X))
        # Weights after so many rounds: sums of 1500 terms in another order.
        assert_allclose(ours.weighted_n_node_samples, theirs.weighted_n_node_samples, rtol=1e-9)
        assert_allclose(ours.value, theirs.value, rtol=1e-9, atol=1e-12)
        assert_allclose(ours.impurity, theirs.impurity, rtol=1e-9, atol=1e-12)
        # Gains are differences of nearly equal worths.
        assert_allclose(model.trees_.gains[t].sum(), theirs.gain[0], rtol=1e-6)
        assert_allclose(model.estimator_errors_[t], error, rtol=1e-9)


@pytest.mark.parametrize("start", [0, 1500, 2989], ids=["first", "middle", "last"])
@pytest.mark.parametrize("K", [2, 3])
def test_a_split_within_any_bin_is_found_where_the_splits_between_bins_are_poor(K, start):
    """Eleven rows have nearly all the weight, in about one bin: five of class 0, six of class 1."""
    n, rng = 3000, np.random.default_rng(3)
    y, weight = rng.integers(0, K, size=n), np.full(n, 0.1)
    y[start : start + 11], weight[start : start + 11] = np.repeat([0, 1], [5, 6]), 500.0
    other = y.astype(float)
    other[start] = 1.0  # one of the eleven is on the wrong side: better than all ends of bins
    X = np.column_stack([np.arange(n, dtype=float), other])
    first = -(start + 4)  # the last row on the left becomes row 0
    X, y, weight = (np.roll(part, first, axis=0) for part in (X, y, weight))
    model = AdaBoostClassifier(n_estimators=1).fit(X, y, sample_weight=weight)
    tree = DecisionTreeClassifier(max_depth=1).fit(X, y, sample_weight=weight)
    assert tree.tree_.feature[0] == 0
    assert model.estimators_[0].tree_.feature[0] == 0
    assert model.estimators_[0].tree_.threshold[0] == tree.tree_.threshold[0] == start + 4.5


def test_the_bins_are_taken():
    X = tables(400)["many"]
    y = signal(X, np.random.default_rng(1))
    weight = np.ones(400)
    labels = np.arange(2)

    def taken(tree, X=X, y=y, labels=labels):
        return isinstance(rounds_of(tree, X, y, weight, labels), stumps.WeightedStumps)

    assert taken(TREE)
    assert taken(DecisionTreeClassifier(max_depth=1, random_state=3))
    for limit in (
        {"min_samples_leaf": 2},
        {"max_features": 2},
        {"class_weight": "balanced"},
        {"max_depth": 2},
        {"ccp_alpha": 0.1},
        {"monotonic_cst": [1, 0, 0, 0, 0]},
        {"splitter": "random"},
    ):
        assert not taken(DecisionTreeClassifier(**{"max_depth": 1, **limit}))
    assert not taken(TREE, X=np.zeros_like(X))
    three = {"y": y + (X[:, 0] > 1), "labels": np.arange(3)}
    assert taken(TREE, **three)
    assert not taken(DecisionTreeClassifier(max_depth=1, criterion="entropy"), **three)
    assert not taken(DecisionTreeClassifier(max_depth=1, categorical_features=[0]))


@pytest.mark.parametrize("K", [2, 4])
@pytest.mark.parametrize("kind", ["many", "lumpy", "holes"])
def test_the_same_without_bins(kind, K, monkeypatch):
    X = tables(600)[kind]
    y = signal(X, np.random.default_rng(1), K)
    model = AdaBoostClassifier(n_estimators=30)
    binned = model.fit(X, y).decision_function(X)
    monkeypatch.setattr("empirisk.learners.ensembles.boosting.samme.are_stumps", lambda *_: False)
    # Sums in another order, over 30 rounds.
    assert_allclose(model.fit(X, y).decision_function(X), binned, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("kind", ["many", "few", "holes"])
def test_bins_find_every_split_by_themselves(kind, K):
    X = tables(600)[kind]
    y, weight = signal(X, np.random.default_rng(1), K), np.ones(600)
    found = samme(rounds_of(TREE, X, y, weight, np.arange(K)), K, 1.0, [0] * 6)  # or NoSplitError
    errors = [error for _, error in trees_in_turn(X, y, weight, 6)]
    assert_allclose(found.errors, errors, rtol=1e-9)  # sums of 600 terms after six rounds


@pytest.mark.parametrize("table", range(3))
def test_codes_are_read_from_the_table_of_their_size(table):
    small, medium, large = (np.array([[7, 8], [9, 10]]) + 100 * t for t in range(3))
    feature = SimpleNamespace(table=table, place=1)
    assert code_of(small, medium, large, feature, 1) == 10 + 100 * table


def test_where_a_side_has_no_weight_to_rounding_there_is_no_split():
    X, y = np.array([[0.0], [0.0], [0.0], [1.0]]), np.array([0, 1, 0, 1])
    weight = np.array([1.0, 1.0, 1.0, 1e-20])
    with pytest.raises(stumps.NoSplitError):
        rounds_of(TREE, X, y, weight, np.arange(2)).fit(0)
    model = AdaBoostClassifier(n_estimators=1).fit(X, y, sample_weight=weight)
    tree = DecisionTreeClassifier(max_depth=1).fit(X, y, sample_weight=weight)
    assert model.estimators_[0].get_n_leaves() == tree.get_n_leaves() == 1
    assert_array_equal(model.predict(X), tree.predict(X))


@pytest.mark.parametrize("n_jobs", [2, 3])
def test_the_same_bits_for_every_number_of_threads(n_jobs, monkeypatch):
    monkeypatch.setattr(stumps, "SMALL_WORK", 0)
    monkeypatch.setattr(stumps, "FEATURES_AT_ONCE", 2)
    X = tables(500)["many"]
    y = signal(X, np.random.default_rng(1))
    one, many = (AdaBoostClassifier(n_jobs=jobs).fit(X, y) for jobs in (1, n_jobs))
    assert_array_equal(one.trees_.nodes, many.trees_.nodes)
    assert_array_equal(one.estimator_weights_, many.estimator_weights_)
    assert_array_equal(one.decision_function(X), many.decision_function(X))


def test_a_part_of_a_coding_is_like_a_table_of_its_own():
    X = tables(900)["lumpy"]
    y = signal(X, np.random.default_rng(1))
    rows = np.random.default_rng(5).permutation(900)[:500]
    coding = TREE.design(X)[rows]
    learner = AdaBoostClassifier(n_estimators=10)
    path = learner.fit_path(coding, y[rows], np.ones(500), [10], n_classes=2)
    model = learner.fit(X[rows], y[rows])
    assert_array_equal(path.at(0).trees_.nodes, model.trees_.nodes)
    assert_array_equal(path.at(0).decision_function(X), model.decision_function(X))


def uncompiled(kernel):
    """The Python original, for which records have attributes."""

    def run(*arguments):
        named = [hasattr(a, "dtype") and a.dtype.names is not None for a in arguments]
        views = [a.view(np.recarray) if n else a for a, n in zip(arguments, named, strict=True)]
        return kernel.py_func(*views)

    return run


@pytest.mark.parametrize("K", [2, 3])
def test_kernels_run_uncompiled(K, monkeypatch):
    X = tables(300)["holes"]
    y = signal(X, np.random.default_rng(1), K)
    model = AdaBoostClassifier(n_estimators=4)
    fast = model.fit(X, y).trees_
    for name in ("bin_rows", "weigh_bins", "find_split", "divide", "reweigh"):
        monkeypatch.setattr(stumps, name, uncompiled(getattr(stumps, name)))
    slow = model.fit(X, y).trees_
    assert_array_equal(slow.nodes, fast.nodes)
    assert_array_equal(slow.value, fast.value)


def test_bins_keep_codes_together_and_are_about_as_large():
    rng = np.random.default_rng(0)
    counts = rng.integers(0, 4, size=3000).astype(np.uint32)
    counts[700] = 900
    ends = np.empty(stump_bins.MOST_BINS, np.int64)
    n_bins, fine = stump_bins.cut.py_func(counts, int(counts.sum()), ends)
    sizes = np.diff(ends[:n_bins], prepend=0)
    assert not fine
    assert n_bins <= stump_bins.MOST_BINS
    assert ends[n_bins - 1] == counts.sum()
    assert set(ends[:n_bins]) <= set(np.cumsum(counts))
    share = counts.sum() / stump_bins.MOST_BINS
    assert sorted(sizes)[-2] < share + 4  # but for the one of the lump
    for distinct in (stump_bins.MOST_BINS, stump_bins.MOST_BINS + 1):
        n_bins, fine = stump_bins.cut.py_func(np.ones(distinct, np.uint32), distinct, ends)
        assert fine == (distinct == stump_bins.MOST_BINS)
        assert n_bins <= stump_bins.MOST_BINS
        assert ends[n_bins - 1] == distinct
    few = np.array([0, 3, 0, 1, 5], np.uint32)
    n_bins, fine = stump_bins.cut.py_func(few, 9, ends)
    assert fine
    assert ends[:n_bins].tolist() == [3, 4, 9]


def test_no_split_within_a_bin_is_above_its_corners():
    # The worth of two sides is convex in the weights of the classes on the left.
    rng = np.random.default_rng(0)
    costs = 1.0 - np.eye(2)
    for _ in range(300):
        total = rng.uniform(0.5, 2, size=2)
        start = rng.uniform(size=2) * total
        box = rng.uniform(size=2) * (total - start)
        kind = rng.choice(list(stumps.KINDS.values()))

        def worth(left, kind=kind, total=total):
            return two_class_stumps.sides.py_func(
                kind, left.sum(), left[1], total.sum(), total[1], costs
            )

        corners = [worth(start + box * [a, b]) for a in (0, 1) for b in (0, 1)]
        inside = [worth(start + box * rng.uniform(size=2)) for _ in range(20)]
        assert max(inside) <= max(corners) + 1e-12  # rounding


@pytest.mark.parametrize("K", [3, 5])
def test_no_split_within_a_bin_of_several_classes_is_above_its_bound(K):
    rng = np.random.default_rng(0)
    bounds = []
    for _ in range(300):
        total = rng.uniform(0.5, 2, size=K)
        left = rng.uniform(size=K) * total
        box = rng.uniform(0, 0.5 / K, size=K) * (total - left)
        right = total - left

        def worth(left, total=total):
            right = total - left
            return (left**2).sum() / left.sum() + (right**2).sum() / right.sum()

        bounds.append(
            class_stumps.bound_of_bin.py_func(
                box[:, None], 0, total, left, (left**2).sum(), left.sum(), (right**2).sum(),
                right.sum(),
            )
        )  # fmt: skip
        inside = [worth(left + box * rng.uniform(size=K)) for _ in range(20)]
        assert max(inside) <= bounds[-1] + 1e-12  # rounding
    assert np.isfinite(bounds).all()


def test_missing_values_that_a_stump_did_not_see_go_right_where_sides_weigh_the_same():
    splits = np.zeros((2, SPLIT))
    splits[:, MISSING_LEFT] = UNSEEN
    left, right = 0.1 + 0.2, 0.3  # equal but for rounding
    assert left > right
    trees = stumps.packed_stumps(
        splits, np.repeat([[left], [right], [0.4], [0.3]], 2, axis=1), 4, 1
    )
    assert_array_equal(trees.nodes[::3, 1] & 1, [0, 1])
