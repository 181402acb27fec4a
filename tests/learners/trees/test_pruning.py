"""Pruning: the weakest links, all trees of the sequence from one growth."""

from itertools import pairwise

import numpy as np
import pytest
import sklearn.tree as peer
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, KFold

from empirisk import DecisionTreeClassifier, DecisionTreeRegressor, Tuned, risk
from empirisk.learners.trees.pruning import PruningSequence, impurity_risks
from tolerances import LAST_BITS, SOLVED, SUMMED


def sample(seed, n=150):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)).astype(np.float32).astype(float)
    return X, X[:, 0] + np.sin(3 * X[:, 1]) + 0.5 * rng.normal(size=n), rng


@pytest.mark.parametrize("seed", range(4))
def test_the_path_is_that_of_scikit_learn(seed):
    X, y, rng = sample(seed)
    w = rng.uniform(0.5, 2, size=150)
    how = {"min_samples_leaf": 5}
    a = DecisionTreeRegressor(**how).cost_complexity_pruning_path(X, y, w)
    b = peer.DecisionTreeRegressor(random_state=0, **how).cost_complexity_pruning_path(X, y, w)
    assert_allclose(a.ccp_alphas, b.ccp_alphas, rtol=SOLVED, atol=LAST_BITS)
    assert_allclose(a.impurities, b.impurities, rtol=SUMMED)
    for low, high in pairwise(a.ccp_alphas[::5]):
        alpha = np.sqrt(low * high)
        ours = DecisionTreeRegressor(ccp_alpha=alpha, **how).fit(X, y, w)
        theirs = peer.DecisionTreeRegressor(ccp_alpha=alpha, random_state=0, **how).fit(X, y, w)
        assert ours.get_n_leaves() == theirs.get_n_leaves()
        assert_allclose(ours.predict(X), theirs.predict(X), rtol=SUMMED)


def prunings(tree, node=0):
    """All the subtrees with the same root: sets of their leaves."""
    if tree.is_leaf[node]:
        return [{node}]
    right = tree.children_right[node]
    both = [a | b for a in prunings(tree, node + 1) for b in prunings(tree, right)]
    return [{node}, *both]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("ccp_risk", ["impurity", "cost"])
def test_each_tree_of_the_sequence_is_the_best_of_all_prunings(seed, ccp_risk):
    X, y, _ = sample(seed, n=60)
    labels = np.digitize(y, [-0.7, 0.7])
    learner = DecisionTreeClassifier(max_leaf_nodes=9, ccp_risk=ccp_risk)
    tree = learner.fit(X, labels).tree_
    risks = learner._node_risks(tree, 3)
    sequence = PruningSequence.of(tree, risks)
    every = prunings(tree)
    for alpha in sequence.grid():
        least = min(risks[list(leaves)].sum() + alpha * len(leaves) for leaves in every)
        model = clone(learner).set_params(ccp_alpha=alpha).fit(X, labels)
        pruned = tree.cut_back(sequence.leaves(alpha))
        assert_array_equal(model.tree_.feature, pruned.feature)
        ours = learner._node_risks(pruned, 3)[pruned.is_leaf].sum() + alpha * pruned.n_leaves
        assert ours <= least + 1e-12  # sums of at most 9 numbers below 1
    kept = [set(np.flatnonzero(~sequence.leaves(a)).tolist()) for a in sequence.grid()]
    assert all(later <= earlier for earlier, later in pairwise(kept))  # nested


def test_the_grid_has_an_alpha_for_each_tree():
    X, y, _ = sample(6)
    tree = DecisionTreeRegressor(min_samples_leaf=3).fit(X, y).tree_
    sequence = PruningSequence.of(tree, impurity_risks(tree))
    sizes = [tree.cut_back(sequence.leaves(alpha)).n_leaves for alpha in sequence.grid()]
    assert sizes[0] == tree.n_leaves
    assert sizes[-1] == 1
    assert len(set(sizes)) == len(sizes) == len(np.unique(sequence.steps)) + 1
    short = [tree.cut_back(sequence.leaves(alpha)).n_leaves for alpha in sequence.grid(8)]
    assert 5 <= len(short) <= 9
    assert short[0] == tree.n_leaves
    assert short[-1] == 1


@pytest.mark.parametrize("loss", ["squared", "absolute"])
def test_cross_validated_pruning_is_that_of_a_grid_search(loss):
    X, y, _ = sample(7, n=300)
    learner = DecisionTreeRegressor(min_samples_leaf=15)  # small nodes have splits that are equal
    alphas = np.geomspace(1e-4, 0.3, 12)
    cv = KFold(5, shuffle=True, random_state=0)
    tuned = Tuned(learner, values=alphas.tolist(), cv=cv, loss=loss).fit(X, y)
    scoring = {"squared": "neg_mean_squared_error", "absolute": "neg_mean_absolute_error"}[loss]
    theirs = peer.DecisionTreeRegressor(min_samples_leaf=15, random_state=0)
    grid = GridSearchCV(theirs, {"ccp_alpha": alphas}, cv=cv, scoring=scoring).fit(X, y)
    # Five folds of equal size: the mean over folds is the mean over rows.
    assert_allclose(tuned.path_.risk, -grid.cv_results_["mean_test_score"], rtol=1e-10)


def test_a_path_is_the_single_fits():
    X, y, _ = sample(8)
    labels = np.digitize(y, [-0.7, 0.7])
    for learner, target in (
        (DecisionTreeRegressor(), y),
        (DecisionTreeRegressor(), np.column_stack([y, X[:, 2]])),
        (DecisionTreeClassifier(), labels),
        (DecisionTreeClassifier(cost_matrix=[[0, 1, 2], [1, 0, 1], [5, 1, 0]]), labels),
    ):
        n_classes = 3 if target is labels else 0
        values = [0.01, 0.0, 0.3, 0.002]
        coding, weight = learner.design(X), np.ones(len(X))
        path = learner.fit_path(coding, target, weight, values, n_classes=n_classes)
        values_of = path.predict_path(coding, "value")
        for j, alpha in enumerate(values):
            single = clone(learner).set_params(ccp_alpha=alpha).fit(X, target)
            assert_array_equal(values_of[:, j], single.predict(X))
            assert_array_equal(path.at(j).predict(X), single.predict(X))
            if n_classes:
                shares = path.predict_path(coding, "probability")[:, j]
                assert_array_equal(shares, single.predict_proba(X))


def test_one_standard_error_gives_a_smaller_tree():
    X, y, _ = sample(9, n=400)
    best = Tuned(DecisionTreeRegressor(), cv=5).fit(X, y)
    one_se = Tuned(DecisionTreeRegressor(), cv=5, rule="one_se").fit(X, y)
    sizes = [model.best_estimator_.get_n_leaves() for model in (one_se, best)]
    assert sizes[0] < sizes[1] < 400
    assert risk.cross_validate(DecisionTreeRegressor(), X, y, cv=5).value > best.risk_.value


@pytest.mark.parametrize("seed", range(20))
def test_alphas_that_differ_by_rounding_are_one(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(12, 60))
    X = rng.normal(size=(n, 2)).round(1)
    y = (X[:, 0] + rng.normal(size=n) > 0).astype(int)
    tree = DecisionTreeClassifier(min_samples_leaf=2).fit(X, y).tree_
    mistakes = np.rint(tree.value[:, 0].min(axis=1) * tree.n_node_samples)
    sequence = PruningSequence.of(tree, mistakes / n)
    # Alphas are whole numbers of mistakes by whole numbers of leaves: these differ by 1 / 60^2.
    gaps = np.diff(np.unique(np.append(0.0, sequence.steps))) * n
    assert (gaps > 1 / 60**2).all()
    assert set(sequence.split_alphas()) == set(sequence.steps)
    # Each step takes away its alpha for each of its splits.
    saved = sequence.risks[-1] - sequence.risk
    assert_allclose(sequence.split_alphas().sum(), saved, rtol=SUMMED, atol=LAST_BITS)


def test_small_branches_beside_an_outlier_keep_their_alphas():
    X = np.arange(40.0)[:, None]
    y = np.where(X[:, 0] < 20, X[:, 0] % 2, 2.0 * (X[:, 0] % 2))
    y[-1] = 1e8  # a leaf by itself: what is left of the risk is a part of 1e-15
    tree = DecisionTreeRegressor().fit(X, y).tree_
    sequence = PruningSequence.of(tree, impurity_risks(tree))
    below = sequence.steps[:-1]
    assert (below > 0).all()
