"""The same trees as scikit-learn where the rules agree, for every criterion and stopping rule.

Where a node has several best splits the two may take another one: the walk below follows both trees
node by node, and a split that differs must be exactly as good. scikit-learn splits nodes of one
class that rounding makes look impure: those are passed over.
"""

import numpy as np
import pytest
import sklearn.tree as peer
from numpy.testing import assert_allclose
from scipy.stats import chi2_contingency

from empirisk import DecisionTreeClassifier, DecisionTreeRegressor
from tolerances import SOLVED, SUMMED
from tree_twins import IMPURITIES, class_impurity, split_cost

NAMES = ["squared_error", "absolute_error", "poisson", "gini 2", "gini 4", "entropy 2", "entropy 4"]
STOPS = [
    {},
    {"max_depth": 3},
    {"min_samples_split": 30},
    {"min_samples_split": 0.1},
    {"min_samples_leaf": 12},
    {"min_samples_leaf": 0.04},
    {"min_weight_fraction_leaf": 0.05},
    {"min_impurity_decrease": 0.01},
    {"max_depth": 4, "min_samples_split": 20, "min_samples_leaf": 5},
]
ONE_BEST = {"min_samples_leaf": 15}  # nodes that are large enough to have one best split
LIMITS = [
    {"max_leaf_nodes": 6},
    {"max_leaf_nodes": 13, "max_depth": 4},
    {"max_leaf_nodes": 20, "min_impurity_decrease": 0.01},
    {"ccp_alpha": 0.01},
    {"ccp_alpha": 0.03, "max_leaf_nodes": 10},
]


def table(seed, n=250, *, missing=False, few=False):
    """Numbers that float32 holds, as scikit-learn compares them; values, weights, fresh rows."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(2 * n, 4)).astype(np.float32).astype(float)
    if few:
        X = np.round(2 * X)
    if missing:
        X[rng.random(X.shape) < 0.1] = np.nan
    Z = np.nan_to_num(X[:n])
    y = Z[:, 0] + np.sin(3 * Z[:, 1]) + 0.5 * rng.normal(size=n)
    return X[:n], y, rng.uniform(0.5, 2, size=n), X[n:], rng


def problem(name, y):
    """Two learners that should agree, a target, and the impurity by which to judge."""
    criterion, _, kind = name.partition(" ")
    if criterion in ("gini", "entropy"):
        y = (y > 0).astype(int) if kind == "2" else np.digitize(y, [-1, 0, 1])
        pair = (DecisionTreeClassifier, peer.DecisionTreeClassifier)
        return pair, criterion, y, class_impurity(criterion, y.max() + 1)
    if criterion == "poisson":
        y = np.exp(y)
    return (DecisionTreeRegressor, peer.DecisionTreeRegressor), criterion, y, IMPURITIES[criterion]


def follow(ours, theirs, X, y, w, impurity):
    """Walk both trees; returns how many nodes were compared before splits of equal worth."""
    compared, pairs = 0, [(0, 0, np.arange(len(X)))]
    while pairs:
        a, b, rows = pairs.pop()
        one_value = (y[rows] == y[rows][0]).all()
        if ours.is_leaf[a] and (theirs.children_left[b] < 0 or one_value):
            compared += 1
            continue
        assert ours.is_leaf[a] == (theirs.children_left[b] < 0)
        left, other = goes_left(ours, a, X[rows]), goes_left(theirs, b, X[rows])
        if (left == other).all():
            compared += 1
            pairs.append((ours.children_left[a], theirs.children_left[b], rows[left]))
            pairs.append((ours.children_right[a], theirs.children_right[b], rows[~left]))
            continue
        costs = [split_cost(y[rows], w[rows], mask, impurity) for mask in (left, other)]
        # Sums of 250 terms in another order.
        assert_allclose(*costs, rtol=1e-9, atol=1e-9 * w[rows].sum() * impurity(y[rows], w[rows]))
    return compared


def goes_left(tree, node, X):
    x = X[:, tree.feature[node]]
    return np.where(np.isnan(x), bool(tree.missing_go_to_left[node]), x <= tree.threshold[node])


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("how", STOPS, ids=str)
def test_every_node_is_the_same_or_as_good(name, how):
    compared = 0
    for seed in range(3):
        X, y, w, _, _ = table(seed, missing=seed > 0, few=seed == 2)
        pair, criterion, y, impurity = problem(name, y)
        for weight in (None, w):
            a, b = (
                learner(criterion=criterion, random_state=0, **how).fit(X, y, sample_weight=weight)
                for learner in pair
            )
            known = np.ones(len(y)) if weight is None else weight
            compared += follow(a.tree_, b.tree_, X, y, known, impurity)
    assert compared > 40


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("missing", [False, True], ids=["complete", "missing"])
def test_the_same_predictions_of_fresh_rows_whatever_limits_the_tree(name, missing):
    for seed in range(2):
        X, y, w, fresh, _ = table(seed, n=400, missing=missing)
        pair, criterion, y, _ = problem(name, y)
        for how in LIMITS:
            a, b = (
                learner(criterion=criterion, random_state=0, **ONE_BEST, **how).fit(X, y, w)
                for learner in pair
            )
            assert a.tree_.node_count == b.tree_.node_count, how
            assert_allclose(
                np.sort(a.tree_.impurity), np.sort(b.tree_.impurity), rtol=0, atol=SUMMED
            )
            shares = hasattr(a, "predict_proba")
            values = [m.predict_proba(fresh) if shares else m.predict(fresh) for m in (a, b)]
            assert_allclose(*values, err_msg=str(how), rtol=SUMMED, atol=SUMMED)


@pytest.mark.parametrize("name", ["absolute_error", "poisson", "gini 2", "gini 4", "entropy 4"])
@pytest.mark.parametrize("seed", range(2))
def test_the_same_pruning_path(name, seed):
    X, y, w, _, _ = table(seed, n=400, missing=seed == 1)
    pair, criterion, y, _ = problem(name, y)
    a, b = (
        learner(criterion=criterion, random_state=0, **ONE_BEST).cost_complexity_pruning_path(
            X, y, w
        )
        for learner in pair
    )
    # scikit-learn's splits of nodes of one class are pruned at alphas of about 1e-17.
    real = (b.ccp_alphas == 0) | (b.ccp_alphas > 1e-14)
    assert_allclose(a.ccp_alphas, b.ccp_alphas[real], rtol=SOLVED, atol=SUMMED)
    assert_allclose(a.impurities, b.impurities[real], rtol=SUMMED)


def test_weights_of_classes():
    X, y, w, _, _ = table(5)
    y = np.digitize(y, [-1, 1])
    counts = np.bincount(y)
    for class_weight, factors in (
        ({0: 5.0, 2: 0.3}, np.array([5.0, 1.0, 0.3])),
        ("balanced", len(y) / (3 * counts)),
    ):
        how = {"class_weight": class_weight, "min_weight_fraction_leaf": 0.03}
        a = DecisionTreeClassifier(**how).fit(X, y)
        b = peer.DecisionTreeClassifier(random_state=0, **how).fit(X, y)
        assert follow(a.tree_, b.tree_, X, y, factors[y], class_impurity("gini", 3)) > 10
        assert_allclose(a.tree_.value[0], b.tree_.value[0], rtol=SUMMED)
        assert_allclose(a.tree_.weighted_n_node_samples[0], factors @ counts, rtol=SUMMED)
    # With weights of rows, "balanced" gives classes equal weight here, scikit-learn equal numbers.
    a = DecisionTreeClassifier(class_weight="balanced").fit(X, y, sample_weight=w)
    assert_allclose(a.tree_.value[0, 0], 1 / 3, rtol=SUMMED)


def test_features_are_drawn_as_often_as_in_scikit_learn():
    # Features by which roots and their children split, 400 trees each: if the two draw alike,
    # the test rejects with probability 0.001.
    X, y, _, _, rng = table(6, n=60)
    X[:, 3] = 1.0  # constant: others are drawn in its place
    how = {"max_features": 2, "max_depth": 2}
    counts = np.zeros((2, 3 * 3))
    for learner, row in ((DecisionTreeRegressor, 0), (peer.DecisionTreeRegressor, 1)):
        for _ in range(400):
            tree = learner(random_state=int(rng.integers(2**31)), **how).fit(X, y).tree_
            left = tree.children_left[0]
            counts[row, 3 * tree.feature[0] + max(tree.feature[left], 0)] += 1
    assert chi2_contingency(counts[:, counts.sum(axis=0) > 0]).pvalue > 0.001
