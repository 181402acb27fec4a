"""A file whose tree is not one is refused: no walk leaves its arrays, nor does a leaf's model."""

import numpy as np
import pytest

from empirisk import DecisionTreeClassifier, DecisionTreeRegressor, LinearTreeClassifier
from empirisk.model_file.load import load
from empirisk.model_file.save import save
from empirisk.runtime.errors import DataError
from model_file.altering import altered, narrower, put, shorter

rng = np.random.default_rng(0)
X = np.column_stack([rng.integers(0, 70, size=300), rng.normal(size=300)])
MODEL = DecisionTreeRegressor(categorical_features=[0]).fit(X, X[:, 1] + np.cos(X[:, 0]))
SPLIT = int(np.flatnonzero(MODEL.tree_.subset >= 0)[0])


CLASSES = np.digitize(X[:, 1], [-0.5, 0.5])
CLASSIFIER = DecisionTreeClassifier(categorical_features=[0]).fit(X, CLASSES)
LINEAR = LinearTreeClassifier(categorical_features=[0]).fit(X, CLASSES)


CHANGES = [
    ("children_right", put(0, 10**6)),
    ("children_right", put(0, 0)),
    ("children_right", put(0, 2)),
    ("children_right", put(0, -7)),
    ("children_right", put(0, -1)),
    ("children_right", lambda array: array[:0]),
    ("children_right", lambda array: array.astype(np.int64)),
    ("feature", put(0, 2)),
    ("feature", put(0, -2)),
    ("threshold", shorter),
    ("missing_go_to_left", lambda array: array.astype(np.int8)),
    ("value", lambda array: array[:, 0]),
    ("value", narrower),
    ("subset", put(SPLIT, 10**6)),
    ("subset", put(SPLIT, -2)),
    ("subset", put(SPLIT, MODEL.tree_.subset.max())),  # the list of another split
    ("subsets", put(MODEL.tree_.subset[SPLIT], 0)),
    ("subsets", put(MODEL.tree_.subset[SPLIT], 2**32 - 1)),
    ("subsets", shorter),
    ("subsets", lambda array: array[:, None]),
]


def test_a_tree_comes_back(tmp_path):
    altered(tmp_path / "tree", MODEL, "tree_.threshold", lambda array: array)
    np.testing.assert_array_equal(load(tmp_path / "tree").predict(X), MODEL.predict(X))


@pytest.mark.parametrize(("name", "change"), CHANGES)
def test_an_array_that_is_not_of_a_tree_is_refused(tmp_path, name, change):
    altered(tmp_path / "tree", MODEL, f"tree_.{name}", change)
    with pytest.raises(DataError, match=r"model\.tree_, a Tree, cannot be made"):
        load(tmp_path / "tree")


APART = [
    (MODEL, "tree_.subset", put(SPLIT, -1)),
    (MODEL, "tree_.subsets", put(MODEL.tree_.subset[SPLIT] + 1, 2**27)),
    (CLASSIFIER, "tree_.value", narrower),
    (CLASSIFIER, "_labels", put(0, 3)),
    (CLASSIFIER, "_labels", put(0, -1)),
    (CLASSIFIER, "_labels", shorter),
    (CLASSIFIER, "classes_", shorter),
    (LINEAR, "_labels", put(0, 3)),
    (LINEAR, "models_.nodes", put(0, 0)),
    (LINEAR, "models_.nodes", lambda array: np.zeros(10**6, np.int64)),
    (LINEAR, "models_.columns.columns", put(0, 2)),
    (LINEAR, "models_.columns.columns", put(0, 0)),  # a category
    (LINEAR, "models_.columns.unit", shorter),
    (LINEAR, "models_.columns.mean", lambda array: array.astype(np.float32)),
    (LINEAR, "models_.columns.spread", put(0, 0.0)),
    *((LINEAR, f"models_.{name}", shorter) for name in ("centre", "coef", "offset", "low")),
    *((LINEAR, f"models_.{name}", narrower) for name in ("centre", "coef", "offset", "high")),
    (LINEAR, "models_.coef", lambda array: array[:, :-1]),
]


@pytest.mark.parametrize(("model", "way", "change"), APART)
def test_parts_that_do_not_belong_together_are_refused(tmp_path, model, way, change):
    altered(tmp_path / "tree", model, way, change)
    with pytest.raises(DataError, match="cannot be made"):
        load(tmp_path / "tree")


@pytest.mark.parametrize("model", [CLASSIFIER, LINEAR, LinearTreeClassifier().fit(X, 0 * CLASSES)])
def test_a_classifier_comes_back(tmp_path, model):
    save(model, tmp_path / "tree")
    back = load(tmp_path / "tree")
    np.testing.assert_array_equal(back.predict_proba(X), model.predict_proba(X))
