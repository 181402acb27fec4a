"""AdaBoost in files: it comes back as it was, and what is no ensemble is refused."""

from copy import copy

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from empirisk import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    DecisionTreeClassifier,
    LinearDiscriminantAnalysis,
    Ridge,
    load,
    save,
)
from empirisk.runtime.errors import DataError
from model_file.altering import altered, narrower, put, shorter

rng = np.random.default_rng(0)
X = np.column_stack([rng.integers(0, 40, size=150), rng.normal(size=(150, 2))])
SCORE = X[:, 1] + np.cos(X[:, 0]) + 0.3 * rng.normal(size=150)
TWO, THREE = np.where(SCORE > 0, "high", "low"), np.digitize(SCORE, [-0.5, 0.5])
TREE = DecisionTreeClassifier(max_depth=2, categorical_features=[0])
STUMPS = AdaBoostClassifier(n_estimators=6).fit(X, TWO)
TREES = AdaBoostClassifier(TREE, n_estimators=4).fit(X, THREE)
ANY = AdaBoostClassifier(LinearDiscriminantAnalysis(), n_estimators=3).fit(X, THREE)
REGRESSION = AdaBoostRegressor(n_estimators=4, random_state=0).fit(X, SCORE)
ANY_REGRESSION = AdaBoostRegressor(Ridge(), n_estimators=3, random_state=0).fit(X, SCORE)


@pytest.mark.parametrize("model", [STUMPS, TREES, ANY, REGRESSION, ANY_REGRESSION], ids=str)
def test_a_model_comes_back(tmp_path, model):
    save(model, tmp_path / "model")
    again = load(tmp_path / "model")
    assert_array_equal(again.predict(X), model.predict(X))
    assert_array_equal(again.estimator_errors_, model.estimator_errors_)
    assert_array_equal(list(again.staged_predict(X)), list(model.staged_predict(X)))
    for member, before in zip(again, model, strict=True):
        assert_array_equal(member.predict(X), before.predict(X))
    if hasattr(model, "predict_proba"):
        assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    if model is not ANY and model is not ANY_REGRESSION:
        assert_array_equal(again.feature_importances_, model.feature_importances_)


def test_a_file_holds_no_rows(tmp_path):
    sizes = []
    for n in (150, 15_000):
        many = np.random.default_rng(1).normal(size=(n, 4))
        y = many.sum(axis=1) > 0
        save(AdaBoostClassifier(n_estimators=20).fit(many, y), tmp_path / "model")
        sizes.append((tmp_path / "model").stat().st_size)
    assert sizes[1] < 1.2 * sizes[0]


CHANGES = [
    (STUMPS, "estimator_weights_", shorter),
    (STUMPS, "estimator_weights_", put(0, np.nan)),
    (STUMPS, "estimator_weights_", put(0, -1.0)),
    (STUMPS, "estimator_weights_", lambda array: array.astype(np.float32)),
    (STUMPS, "estimator_errors_", shorter),
    (STUMPS, "_seeds", shorter),
    (STUMPS, "_seeds", put(0, -1)),
    (STUMPS, "_leaf_labels", shorter),
    (STUMPS, "_leaf_labels", put(0, 2)),
    (STUMPS, "_leaf_labels", put(0, -1)),
    (STUMPS, "classes_", shorter),
    (STUMPS, "trees_.gains", narrower),
    (TREES, "trees_.value", narrower),
    (TREES, "trees_.nodes", lambda array: np.where(array > 2**32, array ^ 2, array)),
    (REGRESSION, "trees_.gains", narrower),
    (ANY, "estimator_weights_", shorter),
    (ANY_REGRESSION, "estimator_weights_", shorter),
]


@pytest.mark.parametrize(("model", "way", "change"), CHANGES)
def test_what_does_not_belong_together_is_refused(tmp_path, model, way, change):
    altered(tmp_path / "model", model, way, change)
    with pytest.raises(DataError, match="cannot be made"):
        load(tmp_path / "model")


@pytest.mark.parametrize(
    ("model", "change", "message"),
    [
        (STUMPS, {"n_features_in_": 2}, "are not 6 trees of 2 features"),
        (STUMPS, {"n_features_in_": 0}, "no number of features"),
        (STUMPS, {"columns_": STUMPS.columns_[:2]}, "columns_ are 2"),
        (STUMPS, {"columns_": 3}, "not a list of columns"),
        (STUMPS, {"n_classes_": 3}, "n_classes_ is not"),
        (STUMPS, {"estimator_": Ridge()}, "estimator_ is no tree"),
        (STUMPS, {"estimator_": REGRESSION.estimator_}, "estimator_ is no tree"),
        (STUMPS, {"trees_": 1}, "trees_ are not"),
        (STUMPS, {"trees_": REGRESSION.trees_}, "trees_ are not 6 trees"),
        (ANY, {"_members": ANY._members[:2]}, "not a list of 3 estimators"),
        (ANY, {"n_features_in_": 7}, "a member has not 7 features"),
    ],
)
def test_other_parts_are_refused(model, change, message):
    other = copy(model)
    vars(other).update(change)
    with pytest.raises(DataError, match=message):
        other.check_loaded()
