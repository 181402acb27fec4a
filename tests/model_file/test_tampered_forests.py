"""A file whose forest is not one is refused: no walk leaves its arrays."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from empirisk import RandomForestClassifier, RandomForestRegressor
from empirisk.model_file.load import load
from empirisk.runtime.errors import DataError
from model_file.altering import altered, narrower, put, shorter

rng = np.random.default_rng(0)
X = np.column_stack([rng.integers(0, 70, size=200), rng.normal(size=200)])
HOW = {"categorical_features": [0], "random_state": 0}
MODEL = RandomForestRegressor(3, keep_members=True, **HOW).fit(X, X[:, 1] + np.cos(X[:, 0]))
CLASSES = np.digitize(X[:, 1] + np.cos(X[:, 0]), [-0.5, 0.5])
CLASSIFIER = RandomForestClassifier(3, **HOW).fit(X, CLASSES)
TREES = MODEL.trees_
LEAF = int(np.flatnonzero(TREES.is_leaf())[0])
SPLIT = int(np.flatnonzero(~TREES.is_leaf() & (TREES.nodes[:, 1] & 2 == 2))[0])
NUMBER = int(np.flatnonzero(~TREES.is_leaf() & (TREES.nodes[:, 1] & 2 == 0))[0])


def kind(node):
    return TREES.nodes[node, 1] & 0xFFFFFFFF


def flipped(at, bits):
    def change(array):
        array[at] ^= bits
        return array

    return change


CHANGES = [
    ("nodes", put((0, 1), 10**6 << 32)),
    ("nodes", put((0, 1), 0)),
    ("nodes", flipped((LEAF, 1), 1 << 32)),
    ("nodes", flipped((LEAF, 0), 1)),
    ("nodes", put((LEAF, 0), 0)),
    ("nodes", flipped((NUMBER, 1), 1 << 20)),
    ("nodes", put((SPLIT, 0), np.float64(10**9).view(np.int64))),
    ("nodes", put((SPLIT, 0), np.float64(0.5).view(np.int64))),
    ("nodes", narrower),
    ("nodes", lambda array: array.astype(np.int32)),
    ("first_node", put(1, 10**6)),
    ("first_node", shorter),
    ("first_leaf", put(-1, 7)),
    ("first_subset", put(1, -1)),
    ("value", shorter),
    ("weight", shorter),
    ("rows", lambda array: array.astype(np.int64)),
    ("impurity", shorter),
    ("subsets", put(0, 2**32 - 1)),
    ("gains", lambda array: array[0]),
]


def test_a_forest_comes_back(tmp_path):
    altered(tmp_path / "forest", MODEL, "trees_.value", lambda array: array)
    model = load(tmp_path / "forest")
    assert_array_equal(model.predict(X), MODEL.predict(X))
    assert_array_equal(model.predict_quantiles(X), MODEL.predict_quantiles(X))
    assert_array_equal(model.apply(X), MODEL.apply(X))
    with pytest.raises(AttributeError, match="this forest is from a file"):
        model.estimators_samples_  # noqa: B018


@pytest.mark.parametrize(("name", "change"), CHANGES)
def test_an_array_that_is_not_of_trees_is_refused(tmp_path, name, change):
    altered(tmp_path / "forest", MODEL, f"trees_.{name}", change)
    with pytest.raises(DataError, match=r"model\.trees_, a ForestTrees, cannot be made"):
        load(tmp_path / "forest")


APART = [
    (MODEL, "trees_.nodes", flipped((NUMBER, 1), 2)),
    (MODEL, "trees_.gains", narrower),
    (MODEL, "_members.first", shorter),
    (MODEL, "_members.first", put(1, 10**6)),
    (MODEL, "_members.ranks", put(0, 10**6)),
    (MODEL, "_members.weight", shorter),
    (MODEL, "_members.weight", put(0, -1.0)),
    (MODEL, "_members.weight", put(0, np.nan)),
    (MODEL, "_members.weight", np.zeros_like),
    (MODEL, "_members.first", lambda array: array[:0]),
    (CLASSIFIER, "trees_.value", narrower),
    (CLASSIFIER, "classes_", shorter),
]


@pytest.mark.parametrize(("model", "way", "change"), APART)
def test_parts_that_do_not_belong_together_are_refused(tmp_path, model, way, change):
    altered(tmp_path / "forest", model, way, change)
    with pytest.raises(DataError, match="cannot be made"):
        load(tmp_path / "forest")
