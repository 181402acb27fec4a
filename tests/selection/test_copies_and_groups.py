"""Copies of rows and groups in `select`: who says what stays together, and what is refitted."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.ensemble import RandomForestRegressor as PeerForest
from sklearn.model_selection import KFold, LeaveOneOut, ShuffleSplit

from empirisk import DecisionTreeClassifier, Ridge, Tuned, risk, select
from empirisk.selection.average import FoldAverageClassifier

rng = np.random.default_rng(0)
X = np.round(rng.normal(size=(300, 2)), 1)
X[150:] = X[:150]  # half of the rows are copies
y = X[:, 0] + rng.normal(size=300)


@pytest.mark.parametrize("cv", [KFold(5), ShuffleSplit(5, random_state=0), LeaveOneOut()], ids=str)
def test_folds_that_are_given_may_have_copies_on_both_sides(cv):
    chosen = select(Ridge(), X, y, cv=cv, random_state=0)
    train = np.setdiff1d(np.arange(300), chosen.test_rows)
    # The test part has none of the training rows all the same.
    assert not {tuple(row) for row in X[train]} & {tuple(row) for row in X[chosen.test_rows]}


def test_rows_that_groups_share_do_not_join_these():
    rows = np.array(X)
    rows[::10] = 0.0
    groups = np.arange(300) // 10
    chosen = select(Ridge(), rows, y, groups=groups, random_state=0)
    train = np.setdiff1d(np.arange(300), chosen.test_rows)
    assert not set(groups[train]) & set(groups[chosen.test_rows])


def test_models_of_the_folds_vote_for_what_costs_least():
    rows = rng.normal(size=(200, 1))
    labels = (rng.random(200) < 0.3).astype(int)
    tree = DecisionTreeClassifier(max_depth=2, cost_matrix=[[0, 9], [1, 0]]).fit(rows, labels)
    averaged = FoldAverageClassifier([tree, tree, tree], np.array([0, 1]))
    assert_array_equal(averaged.predict(rows), tree.predict(rows))
    assert (averaged.predict(rows) != averaged.predict_proba(rows).argmax(axis=1)).any()


def test_models_of_the_folds_come_from_the_seed_and_are_fitted():
    forest = PeerForest(5, max_depth=2)
    one, other = (
        select({"forest": forest}, X, y, refit="average", cv=3, random_state=0).model for _ in "ab"
    )
    assert_array_equal(one.predict(X), other.predict(X))
    assert risk.partial_dependence(one, X, [0]) is not None


def test_the_risk_of_choosing_anew_keeps_the_rule():
    chosen = select(
        Tuned(Ridge(), random_state=0), X, y, rule="one_se", honest="nested", cv=3, random_state=0
    )
    assert chosen.cross_validated_risk.rule == "one_se"
