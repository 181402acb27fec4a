"""Trees that share a coding: bit for bit those that are grown on the drawn rows themselves."""

from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_iris

from empirisk import (
    BaggingClassifier,
    BaggingRegressor,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    HistGradientBoostingRegressor,
    StagewiseRegressor,
    Tuned,
    risk,
)
from empirisk.data.table import Table
from empirisk.learners.ensembles import bagged_trees
from empirisk.learners.ensembles.columns import columns_of
from empirisk.runtime.errors import DataError, ParameterError

TREES = [
    {},
    {"max_features": 2},
    {"max_leaf_nodes": 7, "ccp_alpha": 0.01},
    {"min_samples_leaf": 3, "max_depth": 4},
]
SETTINGS = [
    {},
    {"max_features": 3, "max_samples": 0.5},
    {"bootstrap": False, "max_samples": 0.7, "max_features": 2},
    {"bootstrap_features": True},
]


def mixed(n=120, seed=0):
    """Numbers, with missing values and ties, and a category."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "x": rng.normal(size=n),
            "level": rng.integers(0, 5, size=n).astype(float),
            "word": np.array(["red", "green", "blue", "grey"])[rng.integers(0, 4, size=n)],
            "hole": np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n)),
        }
    )
    y = X["x"] + (X["word"] == "red") + 0.2 * X["level"] + 0.3 * rng.normal(size=n)
    return X, y.to_numpy()


def twin(member, X, y, rows, columns):
    """The member grown on the drawn rows themselves, its columns in its own order."""
    order = np.asarray(columns)[bagged_trees.tie_order(member, len(columns))]
    drawn, counts = np.unique(rows, return_counts=True)
    part = columns_of(X, order)
    tree = clone(member).fit(part.iloc[drawn], y[drawn], counts)
    return tree, part


@pytest.mark.parametrize("tree", TREES)
@pytest.mark.parametrize("settings", SETTINGS)
def test_a_shared_coding_changes_no_bit(tree, settings):
    X, y = mixed()
    codes = np.digitize(y, [0, 1.0])
    weight = np.random.default_rng(1).integers(0, 3, size=len(y))
    common = {"n_estimators": 3, "random_state": 0, **settings}
    for bag, target in [
        (BaggingRegressor(DecisionTreeRegressor(**tree), **common), y),
        (BaggingClassifier(DecisionTreeClassifier(**tree), **common), codes),
    ]:
        bag.fit(X, target, weight)
        asked = bag.members_of(X)
        for b, parts in enumerate(
            zip(bag.estimators_, bag.estimators_samples_, bag.estimators_features_, strict=True)
        ):
            slow, part = twin(parts[0], X, target, *parts[1:])
            ask = slow.predict if target is y else slow.predict_proba
            assert_array_equal(asked.scores(b), ask(part))


def test_equal_splits_are_settled_by_lot():
    # Six copies of one column: without lots every tree would take the first.
    x = np.random.default_rng(0).normal(size=200)
    X, y = np.repeat(x[:, None], 6, axis=1), np.sin(3 * x)
    bag = BaggingRegressor(n_estimators=40, random_state=0).fit(X, y)
    first = [member.tree_.feature[0] for member in bag.estimators_]
    assert set(first) == set(range(6))  # fails with probability 6 (5/6)^40 = 0.004, once for all
    whole = BaggingRegressor(n_estimators=3, bootstrap=False, random_state=0).fit(X, y)
    assert {int(member.tree_.feature[0]) for member in whole.estimators_} == {0}


def test_members_know_their_columns_by_name():
    X, y = mixed()
    bag = BaggingRegressor(n_estimators=6, max_features=2, random_state=0).fit(X, y)
    for member, columns in zip(bag.estimators_, bag.estimators_features_, strict=True):
        names = list(X.columns[columns])
        assert list(member.feature_names_in_) == names
        assert [column.name for column in member.columns_] == names
        assert np.isfinite(member.predict(X[names])).all()
    mean = np.mean(
        [
            member.predict(X.iloc[:, columns])
            for member, columns in zip(bag.estimators_, bag.estimators_features_, strict=True)
        ],
        axis=0,
    )
    assert_array_equal(bag.predict(X), mean)


@pytest.mark.parametrize("columns", [1.0, 2])
def test_frames_of_every_kind_give_the_same(columns):
    X, y = mixed()
    settings = {"n_estimators": 6, "max_features": columns, "random_state": 0}
    predictions = [
        BaggingRegressor(**settings).fit(table, y).predict(table)
        for table in (X, pl.from_pandas(X), pl.from_pandas(X).to_arrow(), Table.of(X))
    ]
    for other in predictions[1:]:
        assert_array_equal(other, predictions[0])


def test_constraints_and_categories_by_number_follow_the_columns():
    X, y = load_iris(return_X_y=True)
    tree = DecisionTreeRegressor(monotonic_cst=[1, 0, 0, -1], categorical_features=[1])
    for columns in (1.0, 2):
        bag = BaggingRegressor(tree, max_features=columns, random_state=0).fit(X, y)
        kinds = {
            column.kind == "category"
            for member, seen in zip(bag.estimators_, bag.estimators_features_, strict=True)
            for column, j in zip(member.columns_, seen, strict=True)
            if (j == 1)
        }
        assert kinds == {True}
        grid = np.repeat(X[:1], 50, axis=0)
        for j, sign in ((0, 1), (3, -1)):
            line = grid.copy()
            line[:, j] = np.linspace(X[:, j].min(), X[:, j].max(), 50)
            assert (sign * np.diff(bag.predict(line)) >= -1e-12).all()


@pytest.mark.parametrize(
    "member", [DecisionTreeRegressor, partial(HistGradientBoostingRegressor, max_iter=2)]
)
def test_categories_and_constraints_by_name_are_known_in_every_fold(member):
    X, y = mixed()
    by_name = member(categorical_features=["level", "word"], monotonic_cst={"x": 1})
    by_number = member(categorical_features=[1, 2], monotonic_cst=[1, 0, 0, 0])
    named, numbered = (
        BaggingRegressor(each, 4, max_features=3, random_state=0) for each in (by_name, by_number)
    )
    folds = {"cv": 3, "random_state": 0}
    wanted = risk.cross_validate(numbered, X, y, **folds).losses
    assert_array_equal(risk.cross_validate(named, X, y, **folds).losses, wanted)
    tuned = Tuned(named, values=[3]).fit(X, y)
    assert_array_equal(tuned.predict(X), named.fit(X, y).predict(X))


@pytest.mark.parametrize("around", [Tuned, StagewiseRegressor])
def test_categories_by_number_follow_the_columns_of_trees_in_a_member(around):
    X, y = load_iris(return_X_y=True)
    members = around(DecisionTreeRegressor(categorical_features=[1], max_depth=2))
    bag = BaggingRegressor(members, 4, max_features=2, random_state=0).fit(X, y)
    for member, seen in zip(bag.estimators_, bag.estimators_features_, strict=True):
        kinds = [column.kind for column in getattr(member, "best_estimator_", member).columns_]
        assert kinds == ["category" if j == 1 else "number" for j in seen]
    assert members.estimator.categorical_features == [1]


@pytest.mark.parametrize("signs", [{"petal": 1}, [1, 0]])
@pytest.mark.parametrize("columns", [1.0, 2])
def test_constraints_of_columns_that_are_not_there_are_refused(signs, columns):
    X, y = load_iris(return_X_y=True)
    bag = BaggingRegressor(DecisionTreeRegressor(monotonic_cst=signs), max_features=columns)
    with pytest.raises(ParameterError, match="monotonic_cst"):
        bag.fit(X, y)


@pytest.mark.parametrize("names", [None, ["a", "b", "c", "d"]])
def test_features_that_may_not_meet_do_not_meet_in_a_bag_of_some_columns(names):
    X = np.random.default_rng(0).uniform(-1, 1, size=(300, 4))
    y = X[:, 0] * X[:, 2] + X[:, 1] * X[:, 3] + X[:, 0] * X[:, 1]
    together = [[0, 1], [2, 3]] if names is None else [["a", "b"], ["c", "d"]]
    boosted = HistGradientBoostingRegressor(max_iter=5, interaction_cst=together)
    table = X if names is None else pd.DataFrame(X, columns=names)
    bag = BaggingRegressor(boosted, 5, max_features=3, random_state=0).fit(table, y)

    def interaction(j, k):
        corners = np.repeat(X[:40], 4, axis=0)
        corners[:, j], corners[:, k] = np.tile([-0.7, -0.7, 0.7, 0.7], 40), [-0.7, 0.7] * 80
        rows = corners if names is None else pd.DataFrame(corners, columns=names)
        return np.abs(bag.predict(rows).reshape(40, 4) @ [1, -1, -1, 1]).max()

    assert interaction(0, 1) > 0.01
    for j, k in ((0, 2), (1, 3), (0, 3)):
        assert interaction(j, k) < 1e-12  # sums of the same numbers, in another order


def test_predictions_by_blocks_of_rows_are_those_of_all_rows(monkeypatch):
    X, y = mixed()
    bag = BaggingRegressor(random_state=0).fit(X, y)
    whole = bag.predict(X)
    monkeypatch.setattr(bagged_trees, "ROWS_AT_ONCE", 7)
    assert_array_equal(bag.set_params(n_jobs=3).predict(X), whole)


def test_a_level_that_was_never_seen_and_rows_of_another_kind():
    X, y = mixed()
    bag = BaggingRegressor(random_state=0).fit(X, y)
    other = X.assign(word="violet")
    assert np.isfinite(bag.predict(other)).all()
    with pytest.raises(DataError, match="holds words"):
        bag.predict(X.assign(x="much"))
    with pytest.raises(DataError, match="infinite"):
        bag.predict(X.assign(x=np.inf))


def test_going_on_needs_the_same_levels():
    X, y = mixed()
    bag = BaggingRegressor(n_estimators=2, warm_start=True, random_state=0).fit(X, y)
    with pytest.raises(DataError, match="'word' has another type, or other levels"):
        bag.set_params(n_estimators=4).fit(X.assign(word="violet"), y)
