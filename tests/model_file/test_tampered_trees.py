"""A file whose tree is not one is refused: no walk leaves its arrays."""

import json
import zipfile
from hashlib import sha256

import numpy as np
import pytest

from empirisk import DecisionTreeRegressor
from empirisk.model_file.load import load
from empirisk.model_file.npy import as_npy, from_npy
from empirisk.model_file.save import save
from empirisk.runtime.errors import DataError

rng = np.random.default_rng(0)
X = np.column_stack([rng.integers(0, 70, size=300), rng.normal(size=300)])
MODEL = DecisionTreeRegressor(categorical_features=[0]).fit(X, X[:, 1] + np.cos(X[:, 0]))
SPLIT = int(np.flatnonzero(MODEL.tree_.subset >= 0)[0])


def altered(path, name, change):
    """Save the model with another array in its tree."""
    save(MODEL, path)
    with zipfile.ZipFile(path) as file:
        members = {member: file.read(member) for member in file.namelist()}
    manifest = json.loads(members.pop("manifest.json"))
    member = manifest["model"]["state"]["tree_"]["params"][name]["array"]
    members[member] = as_npy(change(from_npy(members[member])))
    manifest["members"] = {member: sha256(data).hexdigest() for member, data in members.items()}
    with zipfile.ZipFile(path, "w") as file:
        for member, data in members.items():
            file.writestr(member, data)
        file.writestr("manifest.json", json.dumps(manifest))


def put(at, number):
    def change(array):
        array[at] = number
        return array

    return change


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
    ("threshold", lambda array: array[:-1]),
    ("missing_go_to_left", lambda array: array.astype(np.int8)),
    ("value", lambda array: array[:, 0]),
    ("subset", put(SPLIT, 10**6)),
    ("subset", put(SPLIT, -2)),
    ("subsets", put(MODEL.tree_.subset[SPLIT], 0)),
    ("subsets", put(MODEL.tree_.subset[SPLIT], 2**32 - 1)),
    ("subsets", lambda array: array[:-1]),
    ("subsets", lambda array: array[:, None]),
]


def test_a_tree_comes_back(tmp_path):
    altered(tmp_path / "tree", "threshold", lambda array: array)
    np.testing.assert_array_equal(load(tmp_path / "tree").predict(X), MODEL.predict(X))


@pytest.mark.parametrize(("name", "change"), CHANGES)
def test_an_array_that_is_not_of_a_tree_is_refused(tmp_path, name, change):
    altered(tmp_path / "tree", name, change)
    with pytest.raises(DataError, match=r"model\.tree_, a Tree, cannot be made"):
        load(tmp_path / "tree")
