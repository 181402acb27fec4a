"""Monotone constraints: on several features, with missing values, for numbers and two classes."""

import numpy as np
import pytest
import sklearn.tree as peer
from numpy.testing import assert_allclose

from empirisk import DecisionTreeClassifier, DecisionTreeRegressor, Table, Tuned
from empirisk.runtime.errors import ParameterError
from tolerances import SUMMED

GRID = np.linspace(-3, 3, 60)


def sample(seed, n=300):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)).astype(np.float32).astype(float)
    y = X[:, 0] - X[:, 1] + np.sin(4 * X[:, 0]) + 0.5 * rng.normal(size=n)
    return X, y, rng.uniform(0.5, 2, size=n), rng


def second(model, X):
    return model.predict_proba(X)[:, 1] if hasattr(model, "predict_proba") else model.predict(X)


def check_monotone(model, X, signs):
    for j, sign in enumerate(signs):
        for row in X[:15]:
            line = np.repeat(row[None], len(GRID), axis=0)
            line[:, j] = GRID
            assert (sign * np.diff(second(model, line)) >= -1e-15).all()


@pytest.mark.parametrize("signs", [[1, -1, 0], [-1, 0, 1], [1, 1, 1]], ids=str)
@pytest.mark.parametrize(
    "how",
    [
        {"min_samples_leaf": 8},
        {"min_samples_leaf": 5, "max_leaf_nodes": 12},
        {"min_samples_leaf": 5, "max_depth": 4},
        {"min_samples_leaf": 8, "min_impurity_decrease": 0.01},
        {"min_samples_leaf": 8, "ccp_alpha": 0.01},
    ],
    ids=str,
)
@pytest.mark.parametrize("criterion", ["squared_error", "poisson", "gini", "entropy"])
def test_the_trees_of_scikit_learn_that_are_monotone(signs, how, criterion):
    X, y, w, _ = sample(0)
    pair = (DecisionTreeRegressor, peer.DecisionTreeRegressor)
    if criterion in ("gini", "entropy"):
        pair, y = (DecisionTreeClassifier, peer.DecisionTreeClassifier), (y > 0).astype(int)
    elif criterion == "poisson":
        y = np.exp(y)
    a, b = (
        learner(criterion=criterion, monotonic_cst=signs, random_state=0, **how).fit(X, y, w)
        for learner in pair
    )
    assert a.get_n_leaves() > 2
    assert_allclose(second(a, X), second(b, X), rtol=SUMMED)
    check_monotone(a, X, signs)


def test_a_free_tree_is_not_monotone():
    X, y, _, _ = sample(1)
    with pytest.raises(AssertionError):
        check_monotone(DecisionTreeRegressor(min_samples_leaf=8).fit(X, y), X, [1, 0, 0])


def test_values_that_are_there_keep_the_order_where_some_are_missing():
    X, y, w, rng = sample(2)
    X[rng.random(X.shape) < 0.15] = np.nan
    for learner, target in ((DecisionTreeRegressor, y), (DecisionTreeClassifier, y > 0)):
        model = learner(monotonic_cst=[1, -1, 0], min_samples_leaf=5).fit(X, target, w)
        check_monotone(model, X, [1, -1, 0])


def test_names_and_pruning_keep_the_constraints():
    X, y, _, _ = sample(3)
    table = Table.of(X, names=["a", "b", "c"])
    named = DecisionTreeRegressor(monotonic_cst={"b": -1}, min_samples_leaf=4).fit(table, y)
    listed = DecisionTreeRegressor(monotonic_cst=[0, -1, 0], min_samples_leaf=4).fit(X, y)
    assert_allclose(named.predict(table), listed.predict(X), rtol=SUMMED)
    tuned = Tuned(DecisionTreeRegressor(monotonic_cst=[1, -1, 0]), cv=4).fit(X, y)
    check_monotone(tuned, X, [1, -1, 0])


def test_what_cannot_be_constrained_is_named():
    X, y, _, _ = sample(4)
    with pytest.raises(ParameterError, match="two classes"):
        DecisionTreeClassifier(monotonic_cst=[1, 0, 0]).fit(X, np.digitize(y, [-1, 1]))
    with pytest.raises(ParameterError, match=r"cost_growth='gini': use cost_growth='priors'"):
        DecisionTreeClassifier(
            monotonic_cst=[1, 0, 0], cost_matrix=[[0, 4], [1, 0]], cost_growth="gini"
        ).fit(X, y > 0)
    with pytest.raises(ParameterError, match="one output"):
        DecisionTreeRegressor(monotonic_cst=[1, 0, 0]).fit(X, np.column_stack([y, y]))
    with pytest.raises(ParameterError, match="'z'; the columns are"):
        DecisionTreeRegressor(monotonic_cst={"z": 1}).fit(X, y)
