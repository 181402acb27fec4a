"""A file whose naive Bayes is not one is refused: no code of a level leaves its arrays."""

import json
import zipfile
from hashlib import sha256

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from empirisk import NaiveBayes
from empirisk.model_file.load import load
from empirisk.model_file.npy import as_npy, from_npy
from empirisk.model_file.save import save
from empirisk.runtime.errors import DataError
from model_file.altering import altered, narrower, put, shorter
from naive_bayes_twin import ASKED, mixed_table

TABLE, Y = mixed_table(60)
MODEL = NaiveBayes(distributions=ASKED).fit(TABLE, Y)
NUMBERS = NaiveBayes().fit(TABLE[["size", "visits"]], Y)


def rewritten(path, model, edit):
    """Save a model with a change to the state in its manifest, or to its members."""
    save(model, path)
    with zipfile.ZipFile(path) as file:
        members = {member: file.read(member) for member in file.namelist()}
    manifest = json.loads(members.pop("manifest.json"))
    edit(manifest["model"]["state"], members)
    manifest["members"] = {member: sha256(data).hexdigest() for member, data in members.items()}
    with zipfile.ZipFile(path, "w") as file:
        for member, data in members.items():
            file.writestr(member, data)
        file.writestr("manifest.json", json.dumps(manifest))


def test_it_comes_back_and_learns_on(tmp_path):
    save(MODEL, tmp_path / "model")
    again = load(tmp_path / "model")
    assert_array_equal(again.predict_proba(TABLE), MODEL.predict_proba(TABLE))
    more = again.partial_fit(TABLE, Y)
    assert_array_equal(more.class_count_, 2 * MODEL.class_count_)


ALTERED = [
    ("classes_", shorter),
    ("class_prior_", shorter),
    ("class_prior_", put(0, -0.5)),
    ("class_prior_", put(0, np.nan)),
    ("class_prior_", lambda array: 2 * array),
    ("statistics_.weight", put(0, np.inf)),
    ("statistics_.weight", put(0, 0.0)),
    ("statistics_.rows", shorter),
    ("statistics_.rows", put(0, -1)),
    ("statistics_.rows", lambda array: array.astype(float)),
]


@pytest.mark.parametrize(("way", "change"), ALTERED)
def test_arrays_that_do_not_belong_together_are_refused(tmp_path, way, change):
    altered(tmp_path / "model", MODEL, way, change)
    with pytest.raises(DataError, match="cannot be made"):
        load(tmp_path / "model")


def with_statistics(kind, field, change):
    """A change to an array of the first statistics of a kind."""

    def edit(state, members):
        own = state["statistics_"]["params"]["columns"]["tuple"]
        member = next(each for each in own if each["class"] == kind)["params"][field]["array"]
        members[member] = as_npy(change(from_npy(members[member])))

    return edit


def test_columns_of_a_block_in_another_order_are_refused(tmp_path):
    def edit(state, members):
        member = state["blocks_"][0]["params"]["columns"]["array"]
        members[member] = as_npy(from_npy(members[member])[::-1].copy())

    rewritten(tmp_path / "model", NUMBERS, edit)
    with pytest.raises(DataError, match="cannot be made"):
        load(tmp_path / "model")


STATISTICS = [
    ("ColumnMoments", "mean", narrower),
    ("ColumnMoments", "mean", put((0, 0), np.nan)),
    ("ColumnMoments", "variance", put((0, 0), -1.0)),
    ("ColumnMoments", "weight", put((0, 0), -1.0)),
    ("ColumnMoments", "unit", put(0, 10**6)),
    ("LevelCounts", "counts", narrower),
    ("LevelCounts", "counts", put((0, 0), -2.0)),
    ("LevelCounts", "first", put(1, 10**6)),
]


@pytest.mark.parametrize(("kind", "field", "change"), STATISTICS)
def test_statistics_out_of_their_range_are_refused(tmp_path, kind, field, change):
    rewritten(tmp_path / "model", MODEL, with_statistics(kind, field, change))
    with pytest.raises(DataError, match="cannot be made"):
        load(tmp_path / "model")


def setting(*way, to):
    """A change to what stands at the end of a way through the manifest."""

    def edit(state, members):
        for step in way[:-1]:
            state = state[step]
        state[way[-1]] = to

    return edit


SETTINGS = [
    setting("blocks_", 0, "params", "distribution", to="cauchy"),
    setting("blocks_", 0, "params", "distribution", to="categorical"),
    setting("blocks_", 0, "params", "columns", to=[0, 1]),
    setting("n_features_in_", to=7),
    setting("smoothing_", "params", "variance_floor", to=0.0),
    setting("smoothing_", "params", "alpha", to=-1.0),
    setting("smoothing_", to=3),
    setting("statistics_", to=None),
    setting("blocks_", to=[]),
]


@pytest.mark.parametrize("edit", SETTINGS)
def test_a_manifest_that_makes_no_sense_is_refused(tmp_path, edit):
    rewritten(tmp_path / "model", NUMBERS, edit)
    with pytest.raises(DataError):  # cannot be made, or arrays are left over
        load(tmp_path / "model")
