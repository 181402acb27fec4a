"""Statements of the notes on trees (A2.1, B9, D4)."""

from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from empirisk import DecisionTreeClassifier, DecisionTreeRegressor, LinearRegression
from empirisk.learners.trees.pruning import PruningSequence, impurity_risks
from tolerances import LAST_BITS, SUMMED
from tree_twins import class_impurity, split_cost


def gain(criterion, left, right):
    """Of a split into sides with these numbers of rows of two classes."""
    y = np.repeat([0, 1, 0, 1], [*left, *right])
    mask = np.arange(len(y)) < sum(left)
    impurity = class_impurity(criterion, 2)
    w = np.ones(len(y))
    twin = impurity(y, w) - split_cost(y, w, mask, impurity) / len(y)
    tree = DecisionTreeClassifier(criterion=criterion).fit((~mask)[:, None].astype(float), y).tree_
    assert tree.gain[0] * tree.impurity[0] == pytest.approx(twin, abs=LAST_BITS)
    return twin


def test_the_worked_splits_of_the_notes():
    assert gain("misclassification", (3, 1), (2, 4)) == pytest.approx(0.2, rel=SUMMED)
    # Five digits are printed.
    assert gain("gini", (3, 1), (2, 4)) == pytest.approx(0.08333, abs=5e-6)
    assert np.log(2) * gain("entropy", (3, 1), (2, 4)) == pytest.approx(0.08630, abs=5e-6)  # nats
    assert gain("gini", (5, 2), (3, 0)) == pytest.approx(0.03429, abs=5e-6)
    assert np.log(2) * gain("entropy", (5, 2), (3, 0)) == pytest.approx(0.08161, abs=5e-6)
    y = np.repeat([0, 1, 0, 1], [3, 1, 2, 4])
    side = (np.arange(10) < 4)[:, None]
    assert DecisionTreeClassifier().fit(side, y).score(side, y) == 0.7
    # The share of mistakes does not see a split after which both sides have one majority.
    assert gain("misclassification", (5, 2), (3, 0)) == pytest.approx(0.0, abs=1e-15)


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_no_split_makes_gini_or_entropy_worse(criterion):
    rng = np.random.default_rng(0)
    impurity = class_impurity(criterion, 3)
    for _ in range(300):
        y, w = rng.integers(0, 3, size=12), rng.uniform(size=12)
        left = np.arange(12) < rng.integers(1, 12)
        assert w.sum() * impurity(y, w) - split_cost(y, w, left, impurity) >= -1e-12
    X = rng.normal(size=(200, 3))
    tree = DecisionTreeClassifier(criterion=criterion).fit(X, rng.integers(0, 3, size=200)).tree_
    assert (tree.gain >= 0).all()


def test_a_tree_is_least_squares_on_the_indicators_of_its_leaves():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(120, 3))
    y = X[:, 0] + rng.normal(size=120)
    model = DecisionTreeRegressor(max_leaf_nodes=9).fit(X, y)
    indicators = (model.apply(X)[:, None] == np.unique(model.apply(X))).astype(float)
    line = LinearRegression(fit_intercept=False).fit(indicators, y)
    assert_allclose(line.predict(indicators), model.predict(X), rtol=SUMMED)
    leaf = model.tree_.is_leaf
    rss = (model.tree_.impurity * model.tree_.weighted_n_node_samples)[leaf].sum()
    assert rss == pytest.approx(((y - model.predict(X)) ** 2).sum(), rel=SUMMED)


def test_the_majority_of_a_leaf_makes_the_fewest_mistakes_there():
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(150, 2)), rng.integers(0, 3, size=150)
    model = DecisionTreeClassifier(max_depth=3).fit(X, y)
    leaves, predicted = model.apply(X), model.predict(X)
    for leaf in np.unique(leaves):
        here = leaves == leaf
        mistakes = [(y[here] != k).sum() for k in range(3)]
        assert (y[here] != predicted[here]).sum() == min(mistakes)


def test_greedy_growth_is_not_optimal():
    # XOR of two features, and a third that seems to help: greedy growth splits it first, and two
    # levels then do not suffice.
    cells = np.array([[a, b, c] for a in (0, 1) for b in (0, 1) for c in (0, 1)], float)
    X = np.vstack([cells, [[0, 0, 1], [1, 1, 1]]])
    y = X[:, 0].astype(int) ^ X[:, 1].astype(int)
    greedy = DecisionTreeClassifier(max_depth=2).fit(X, y)
    assert greedy.tree_.feature[0] == 2
    assert greedy.score(X, y) < 1.0
    assert DecisionTreeClassifier(max_depth=2).fit(X[:, :2], y).score(X[:, :2], y) == 1.0


def test_only_the_two_new_regions_need_a_search():
    # A tree with J + 1 leaves is the tree with J leaves and one more split: what was found for the
    # other regions still holds.
    rng = np.random.default_rng(3)
    X = rng.normal(size=(200, 3))
    y = X[:, 0] * X[:, 1] + rng.normal(size=200)
    before = None
    for J in range(2, 12):
        model = DecisionTreeRegressor(max_leaf_nodes=J).fit(X, y)
        leaves = [frozenset(np.flatnonzero(model.apply(X) == leaf)) for leaf in set(model.apply(X))]
        if before is not None:
            assert len(set(before) - set(leaves)) == 1
            assert len(set(leaves) - set(before)) == 2
        before = leaves


def test_regions_are_a_partition():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(300, 2))
    model = DecisionTreeRegressor(max_depth=4).fit(X, X[:, 0])
    passed = model.decision_path(X).toarray()
    leaf = model.tree_.is_leaf
    assert_array_equal(passed[:, leaf].sum(axis=1), 1)
    assert_array_equal(passed[:, leaf].sum(axis=0), model.tree_.n_node_samples[leaf])


def test_regions_are_those_of_the_algorithm_of_the_notes():
    # A2.1 as it stands: at each step all regions, features and mid-points are searched anew.
    rng = np.random.default_rng(5)
    X = rng.normal(size=(60, 2))
    y = np.abs(X[:, 0]) + X[:, 1] * (X[:, 0] > 0) + 0.3 * rng.normal(size=60)

    def rss(rows):
        return ((y[rows] - y[rows].mean()) ** 2).sum()

    regions = [np.arange(60)]
    for J in range(2, 9):
        splits = []
        for r, rows in enumerate(regions):
            for j in range(2):
                for low, high in pairwise(np.unique(X[rows, j])):
                    left = X[rows, j] <= (low + high) / 2
                    change = rss(rows[left]) + rss(rows[~left]) - rss(rows)
                    splits.append((change, r, rows[left], rows[~left]))
        _, r, left, right = min(splits, key=lambda split: split[0])
        regions = [*regions[:r], left, right, *regions[r + 1 :]]
        model = DecisionTreeRegressor(max_leaf_nodes=J).fit(X, y)
        leaves = model.apply(X)
        assert {frozenset(rows) for rows in regions} == {
            frozenset(np.flatnonzero(leaves == leaf)) for leaf in set(leaves)
        }
        for rows in regions:
            assert_allclose(model.predict(X[rows]), y[rows].mean(), rtol=SUMMED)


def test_one_pass_over_sorted_values_finds_what_every_refit_finds():
    # Q_m + P_m = sum of Y^2 - A_m^2 / m - B_m^2 / (n - m), with running sums A and B (A2.1).
    rng = np.random.default_rng(6)
    x, y = np.sort(rng.normal(size=50)), rng.normal(size=50)
    m = np.arange(1, 50)
    A = np.cumsum(y)[:-1]
    scan = (y**2).sum() - A**2 / m - (y.sum() - A) ** 2 / (50 - m)
    refits = [((y[:k] - y[:k].mean()) ** 2).sum() + ((y[k:] - y[k:].mean()) ** 2).sum() for k in m]
    assert_allclose(scan, refits, rtol=SUMMED)
    tree = DecisionTreeRegressor(max_depth=1).fit(x[:, None], y).tree_
    best = int(np.argmin(refits))
    assert tree.n_node_samples[1] == m[best]
    assert tree.threshold[0] == (x[best] + x[best + 1]) / 2
    assert 50 * (tree.impurity[0] * (1 - tree.gain[0])) == pytest.approx(min(refits), rel=SUMMED)


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_impurities_are_largest_where_all_classes_are_equally_frequent(n_classes):
    largest = {"gini": 1 - 1 / n_classes, "entropy": np.log2(n_classes)}
    rng = np.random.default_rng(7)
    y = np.arange(n_classes)
    X = np.zeros((n_classes, 1))
    for criterion, bound in largest.items():
        for w in (np.ones(n_classes), *rng.dirichlet(np.ones(n_classes), size=20)):
            tree = DecisionTreeClassifier(criterion=criterion).fit(X, y, sample_weight=w).tree_
            assert tree.impurity[0] <= bound * (1 + 1e-12)
            equal = np.ptp(w) == 0
            assert (tree.impurity[0] == pytest.approx(bound, rel=SUMMED)) == equal


def test_mistakes_gain_nothing_while_the_majority_stays():
    # Both sides keep shares of class 1 below 1/2: the triangle is a line there (B9.1.1).
    rng = np.random.default_rng(8)
    for _ in range(200):
        left, right = ((int(n + k), int(k)) for n, k in rng.integers([1, 0], [9, 9], size=(2, 2)))
        assert gain("misclassification", left, right) == pytest.approx(0.0, abs=LAST_BITS)
        differ = left[1] * sum(right) != right[1] * sum(left)
        assert (gain("gini", left, right) > 1e-12) == differ  # strictly concave
        assert (gain("entropy", left, right) > 1e-12) == differ


def test_a_deep_tree_makes_no_mistake_on_rows_that_differ():
    rng = np.random.default_rng(9)
    X, y = rng.normal(size=(200, 2)), rng.integers(0, 3, size=200)
    for criterion in ("gini", "entropy", "misclassification"):
        assert DecisionTreeClassifier(criterion=criterion).fit(X, y).score(X, y) == 1.0


def test_labels_have_the_least_expected_cost():
    # j*(t) = argmin_i sum_j C(i | j) p(j | t) (D4.3).
    rng = np.random.default_rng(10)
    X, y = rng.normal(size=(150, 2)), rng.integers(0, 3, size=150)
    costs = np.array([[0, 4, 1], [2, 0, 7], [3, 1, 0.0]])
    model = DecisionTreeClassifier(max_depth=3, cost_matrix=costs).fit(X, y)
    leaves, labels = model.apply(X), model.predict(X)
    for leaf in set(leaves):
        here = leaves == leaf
        spent = [costs[i, y[here]].sum() for i in range(3)]
        assert costs[labels[here], y[here]].sum() == min(spent)


def cuts(tree, node=0):
    """All the trees that pruning can leave: lists of their leaves."""
    if tree.is_leaf[node]:
        return [[node]]
    right = cuts(tree, tree.children_right[node])
    return [[node], *(a + b for a in cuts(tree, node + 1) for b in right)]


@pytest.mark.parametrize("seed", range(3))
def test_the_pruning_sequence_is_nested_and_best_for_every_alpha(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(80, 3))
    y = X[:, 0] + np.sin(3 * X[:, 1]) + 0.5 * rng.normal(size=80)
    tree = DecisionTreeRegressor(max_leaf_nodes=10).fit(X, y).tree_
    risks = impurity_risks(tree)
    sequence = PruningSequence.of(tree, risks)
    every = [(risks[leaves].sum(), len(leaves)) for leaves in cuts(tree)]
    ends = np.unique(sequence.steps)
    inner = None
    for alpha in np.sort([*ends, *(ends[:-1] + ends[1:]) / 2, ends[0] / 2, 2 * ends[-1]]):
        cut = tree.cut_back(sequence.leaves(alpha))
        ours = impurity_risks(cut)[cut.is_leaf].sum() + alpha * cut.n_leaves
        least = min(risk + alpha * n for risk, n in every)
        assert ours <= least + 1e-12
        # Of all that are best the smallest: at an end of an interval there are several.
        assert cut.n_leaves == min(n for risk, n in every if risk + alpha * n <= least + 1e-12)
        kept = set(np.flatnonzero(~sequence.leaves(alpha)))
        assert inner is None or kept <= inner
        inner = kept
    assert not inner  # the root alone
