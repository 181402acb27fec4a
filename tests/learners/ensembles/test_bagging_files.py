"""Bags in files: no data row by row, and nothing that a changed file could lead astray."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from empirisk import (
    BaggingClassifier,
    BaggingRegressor,
    DecisionTreeRegressor,
    LogisticRegression,
    Ridge,
    load,
    save,
)
from empirisk.runtime.errors import DataError


def sample(n=60, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, X @ [1.0, -0.5, 0.0] + rng.normal(size=n)


def test_a_file_holds_no_rows(tmp_path):
    sizes = []
    for n in (100, 3000):
        X, y = sample(n)
        bag = BaggingRegressor(
            DecisionTreeRegressor(max_leaf_nodes=8), 30, oob_score=True, random_state=0
        )
        bag.fit(X, y, sample_weight=np.linspace(1, 2, n), groups=np.arange(n) // 2)
        save(bag, tmp_path / "bag")
        sizes.append((tmp_path / "bag").stat().st_size)
    assert sizes[1] < 1.2 * sizes[0]
    again = load(tmp_path / "bag")
    assert_array_equal(again.predict(X), bag.predict(X))
    assert again.risk_.value == bag.risk_.value
    assert not hasattr(again, "oob_prediction_")
    with pytest.raises(AttributeError, match="does not know its rows"):
        _ = again.estimators_samples_


def test_members_that_drew_one_class_come_back(tmp_path):
    X, _ = sample(30)
    y = np.where(np.arange(30) < 2, "rare", "usual")
    bag = BaggingClassifier(LogisticRegression(), 20, random_state=0).fit(X, y)
    assert {len(member.classes_) for member in bag.estimators_} == {1, 2}
    save(bag, tmp_path / "bag")
    assert_array_equal(load(tmp_path / "bag").predict_proba(X), bag.predict_proba(X))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"estimators_": []}, "no list of members"),
        ({"n_features_in_": 0}, "no number of features"),
        ({"_columns": np.zeros((2, 2))}, "_columns is not an array"),
        ({"_columns": np.full((2, 2), 3)}, "_columns has numbers beyond 3 features"),
        ({"_columns": np.zeros((2, 1), np.int64)}, "a member has not 1 features"),
        ({"_columns": None}, "a member has not 3 features"),
        ({"n_classes_": 3}, "not the number of classes_"),
        ({"n_classes_": 1, "classes_": np.array(["down"])}, "classes beyond 1"),
        ({"estimators_": [Ridge().fit([[1.0, 2], [2, 1]], [1, 2])] * 2}, "is no tree"),
    ],
)
def test_parts_that_do_not_belong_together_are_refused(change, message):
    X, y = sample()
    bag = BaggingClassifier(n_estimators=2, max_features=2, random_state=0)
    bag.fit(X, np.where(y > 0, "up", "down"))
    bag.check_loaded()
    vars(bag).update(change)
    with pytest.raises(DataError, match=message):
        bag.check_loaded()
