"""Early stopping: the splits that are kept, those of a class without rows, the pruning path."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose

from empirisk import DecisionTreeClassifier, DecisionTreeRegressor
from empirisk.learners.trees.early_stopping import best_size
from empirisk.learners.trees.pruning import impurity_risks
from tolerances import SUMMED


def sample(seed, n=150):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    return X, X[:, 0] + np.sin(3 * X[:, 1]) + 0.5 * rng.normal(size=n), rng


def test_early_stopping_keeps_the_splits_with_the_least_validation_loss():
    X, y, rng = sample(10, n=300)
    tree = DecisionTreeRegressor(max_leaf_nodes=40).fit(X[:200], y[:200]).tree_
    losses = []
    for size in range(40):
        cut = tree.cut_back(tree.split_order >= size)
        assert cut.n_leaves == size + 1
        losses.append(((cut.value[cut.apply(X[200:]), 0, 0] - y[200:]) ** 2).sum())
    passed = tree.decision_path(X[200:]).toarray()
    nodes = np.array(
        [(passed[:, t] * (tree.value[t, 0, 0] - y[200:]) ** 2).sum() for t in range(79)]
    )
    assert best_size(tree, nodes, patience=10**6) == np.argmin(losses)
    model = DecisionTreeRegressor(early_stopping=True, random_state=0).fit(X, y)
    full = DecisionTreeRegressor().fit(X, y)
    new = rng.normal(size=(2000, 4))
    truth = new[:, 0] + np.sin(3 * new[:, 1])
    assert model.get_n_leaves() < full.get_n_leaves() / 3
    assert ((model.predict(new) - truth) ** 2).mean() < ((full.predict(new) - truth) ** 2).mean()
    labels = DecisionTreeClassifier(early_stopping=True, random_state=0).fit(X, y > 0)
    assert labels.get_n_leaves() < DecisionTreeClassifier().fit(X, y > 0).get_n_leaves()


def test_the_tree_that_is_judged_is_the_only_one_that_is_grown(monkeypatch):
    """Another one would draw other features, where no seed is given."""
    X, y, _ = sample(12)
    grown, grow = [], DecisionTreeRegressor._grown

    def noted(self, *args, **changes):
        grown.append(grow(self, *args, **changes))
        return grown[-1]

    monkeypatch.setattr(DecisionTreeRegressor, "_grown", noted)
    tree = DecisionTreeRegressor(early_stopping=True, max_features=1).fit(X, y).tree_
    assert len(grown) == 1
    assert set(tree.threshold[~tree.is_leaf]) <= set(grown[0].threshold)


@pytest.mark.parametrize("unit", [0.1, 0.7, 1 / 3])
def test_of_equal_losses_the_first_is_kept_however_sums_of_weights_are_rounded(unit):
    for seed in range(40):
        X, y, rng = sample(seed, n=120)
        tree = DecisionTreeClassifier(max_leaf_nodes=30).fit(X[:80], y[:80] > 0).tree_
        passed, w = tree.decision_path(X[80:]).toarray(), rng.integers(1, 4, size=40)
        wrong = passed * (tree.value[:, 0].argmax(axis=1) != (y[80:, None] > 0))
        assert best_size(tree, w @ wrong, 10) == best_size(tree, (w * unit) @ wrong, 10)


@pytest.mark.parametrize("learner", [DecisionTreeRegressor, DecisionTreeClassifier])
def test_the_pruning_path_is_that_of_the_tree_that_was_stopped(learner):
    X, y, _ = sample(11, n=300)
    y = y if learner is DecisionTreeRegressor else y > 0
    model = learner(early_stopping=True, random_state=0).fit(X, y)
    path = model.cost_complexity_pruning_path(X, y)
    risks = impurity_risks(model.tree_)
    assert 2 < model.get_n_leaves() < learner().fit(X, y).get_n_leaves()
    assert len(path.ccp_alphas) <= model.get_n_leaves()
    assert_allclose(
        path.impurities[[0, -1]], [risks[model.tree_.is_leaf].sum(), risks[0]], rtol=SUMMED
    )
    for alpha in path.ccp_alphas[1:]:
        smaller = learner(early_stopping=True, random_state=0, ccp_alpha=alpha).fit(X, y)
        found = impurity_risks(smaller.tree_)[smaller.tree_.is_leaf].sum()
        assert_allclose(found, path.impurities[path.ccp_alphas == alpha], rtol=SUMMED)


@pytest.mark.parametrize("rare", [0, 1, 2])
@pytest.mark.parametrize(
    "how",
    [{"class_weight": {1: 5.0}}, {"class_weight": "balanced"}, {"cost_matrix": 1 - np.eye(3)}],
    ids=str,
)
def test_a_class_may_be_in_the_validation_part_alone(how, rare):
    X, score, _ = sample(12, n=60)
    y = ((score > 0) + 1 + rare) % 3
    y[0] = rare
    alone = 0
    for seed in range(20):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            learner = DecisionTreeClassifier(early_stopping=True, random_state=seed, **how)
            share = learner.fit(X, y).predict_proba(X)
        alone += share[:, rare].max() == 0
        assert_allclose(share.sum(axis=1), 1.0, rtol=SUMMED)
    assert alone > 0
