"""Values of y whose squares are beyond all numbers: trees grow, prices of leaves are refused."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from empirisk import DecisionTreeRegressor, LinearTreeRegressor, Tuned, pruning_table
from empirisk.runtime.errors import DataError

LEARNERS = [DecisionTreeRegressor(max_leaf_nodes=20), LinearTreeRegressor()]


def sample(n=200):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 2))
    return X, X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=n)


@pytest.mark.parametrize("learner", LEARNERS, ids=str)
@pytest.mark.parametrize(
    ("unit", "complaint"),
    [
        (1e200, "above all numbers.*divide y"),
        (1e160, "above all numbers.*divide y"),
        (1e-160, "below all numbers.*multiply y"),
        (1e-200, "below all numbers.*multiply y"),
    ],
)
def test_prices_of_leaves_that_cannot_be_written_are_refused(learner, unit, complaint):
    X, y = sample()
    plain = learner.set_params(ccp_alpha=0.0).fit(X, y).tree_
    tree = learner.fit(X, y * unit).tree_  # growth knows no unit
    assert_array_equal(tree.feature, plain.feature)
    assert np.isfinite(tree.value).all()
    with pytest.raises(DataError, match=complaint):
        learner.cost_complexity_pruning_path(X, y * unit)
    with pytest.raises(DataError, match=complaint):
        Tuned(learner, cv=3).fit(X, y * unit)
    with pytest.raises(DataError, match=f"{complaint}|losses are too large"):
        pruning_table(Tuned(learner, cv=3, values=[0.0]).fit(X, y * unit))
    # A price that is given lies below all of those above all numbers, and above those below.
    pruned = learner.set_params(ccp_alpha=1e-3).fit(X, y * unit)
    assert pruned.get_n_leaves() == (plain.n_leaves if unit > 1 else 1)
    assert np.isfinite(pruned.predict(X)).all()
    learner.set_params(ccp_alpha=0.0)


@pytest.mark.parametrize("learner", LEARNERS, ids=str)
@pytest.mark.parametrize("unit", [1e-150, 1e150])
def test_those_that_can_be_written_choose_the_same_tree(learner, unit):
    X, y = sample()
    here, there = (Tuned(learner, cv=3).fit(X, y * scale) for scale in (1.0, unit))
    assert 1 < here.best_estimator_.get_n_leaves() < 20
    assert_array_equal(here.best_estimator_.tree_.feature, there.best_estimator_.tree_.feature)
    path = learner.cost_complexity_pruning_path(X, y * unit)
    assert np.isfinite(path.ccp_alphas).all()
    assert (path.ccp_alphas[1:] > 0).all()


def test_a_tree_that_gains_nothing_is_no_complaint():
    X, _ = sample()
    path = DecisionTreeRegressor().cost_complexity_pruning_path(X, np.full(200, 1e200))
    assert path.ccp_alphas.tolist() == [0.0]
    exclusive = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]])
    tree = DecisionTreeRegressor().cost_complexity_pruning_path(exclusive, [0.0, 1, 1, 0])
    assert tree.ccp_alphas[0] == 0.0
