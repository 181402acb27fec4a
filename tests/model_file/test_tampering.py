"""A file that is damaged, altered, hostile or foreign is a clear error, soon, and runs nothing."""

import json
import pickle
import zipfile
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline

from empirisk import Ridge, Tuned
from empirisk.losses import Costs
from empirisk.model_file import archive
from empirisk.model_file.load import load
from empirisk.model_file.save import save
from empirisk.runtime.errors import DataError
from model_file.exactness import assert_same

X = np.random.default_rng(0).normal(size=(20, 2))
MODEL = Ridge().fit(X, X[:, 0])


@pytest.fixture
def path(tmp_path):
    save(MODEL, tmp_path / "ridge.model")
    return tmp_path / "ridge.model"


def parts(path):
    """The manifest, and the bytes of the other members."""
    with zipfile.ZipFile(path) as file:
        members = {name: file.read(name) for name in file.namelist()}
    return json.loads(members.pop("manifest.json")), members


def forge(path, manifest, members, compression=zipfile.ZIP_STORED, digests=True):
    """An archive of these parts, with digests that are right: the forger knows what he does."""
    if digests and isinstance(manifest, dict):
        manifest["members"] = {name: sha256(data).hexdigest() for name, data in members.items()}
    text = manifest if isinstance(manifest, str | bytes) else json.dumps(manifest)
    with zipfile.ZipFile(path, "w", compression) as file:
        for name, data in members.items():
            file.writestr(name, data)
        file.writestr("manifest.json", text)


def refused(path, match):
    with pytest.raises(DataError, match=match) as caught:
        load(path)
    text = str(caught.value)
    assert text.startswith(f"{path} cannot be loaded: ")
    assert "Traceback" not in text
    assert caught.value.__suppress_context__  # no traceback of zipfile or json comes along
    return text


def test_a_forged_file_can_be_right(path):
    forge(path, *parts(path))
    assert_same(load(path), MODEL)


def test_no_flipped_byte_changes_the_model(path):
    whole = path.read_bytes()
    refusals = 0
    for i in range(len(whole)):
        damaged = bytearray(whole)
        damaged[i] ^= 0x41 if i % 2 else 0xFF
        path.write_bytes(damaged)
        try:
            found = load(path)
        except DataError:
            refusals += 1
        else:  # bytes that say nothing of the content, such as dates
            assert_same(found, MODEL)
    assert refusals > 0.8 * len(whole)


def test_every_truncated_file_is_refused(path):
    whole = path.read_bytes()
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        with pytest.raises(DataError, match=r"cut short|empty"):
            load(path)


def test_random_damage_is_an_error_or_harmless(path):
    whole = path.read_bytes()
    rng = np.random.default_rng(1)
    for _ in range(300):
        damaged = bytearray(whole)
        start, length = rng.integers(len(whole)), rng.integers(1, 40)
        damaged[start : start + length] = rng.bytes(rng.integers(40))
        path.write_bytes(damaged)
        try:
            assert_same(load(path), MODEL)
        except DataError:
            continue


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"PK",
        b"alpha,beta\n1,2\n",
        pickle.dumps(MODEL),
        b"PK\x05\x06" + bytes(18),
        bytes(1000),
    ],
    ids=lambda content: repr(content[:20]),
)
def test_a_foreign_file_is_refused(content, path):
    path.write_bytes(content)
    refused(path, "no model file|empty|0 members 'manifest.json'")


def test_a_number_is_no_file_to_read_and_close(path):
    with open(path, "wb") as file, pytest.raises(TypeError, match="expected str, bytes or os"):
        load(file.fileno())


def test_a_zip_of_something_else_is_refused(path):
    np.savez(path.with_suffix(".npz"), a=np.arange(3))
    refused(path.with_suffix(".npz"), "0 members 'manifest.json'")
    forge(path, {"name": "a web page"}, {})
    refused(path, "not that of a model")


def test_a_newer_format_says_upgrade(path):
    manifest, members = parts(path)
    forge(path, {"format": manifest["format"], "version": 2, "written_by": "empirisk 9.1"}, members)
    refused(path, r"newer Empirisk \('empirisk 9.1', format 2\).*upgrade")


@pytest.mark.parametrize("version", [0, -1, "1", None, True, 1.0, [1]], ids=repr)
def test_a_format_version_must_be_a_number(version, path):
    manifest, members = parts(path)
    forge(path, {**manifest, "version": version}, members)
    refused(path, "no format version")


MANIFESTS = {
    "no JSON": ("{", "cannot be read"),
    "no text": (b"\xff\xfe\x00", "cannot be read"),
    "a list": ("[]", "not that of a model"),
    "NaN": ('{"format": NaN}', "NaN is no JSON"),
    "twice": ('{"format": 1, "format": 1}', "a key stands twice"),
    "deep": ("[" * 100_000, "nested too deeply"),
    "deep objects": ('{"a":' * 100_000, "nested too deeply"),
    "long number": ("9" * 10_000, "cannot be read"),
}


@pytest.mark.parametrize(("text", "message"), MANIFESTS.values(), ids=MANIFESTS)
def test_a_broken_manifest_is_refused(text, message, path):
    forge(path, text, {})
    assert "manifest" in refused(path, message)


def without(key):
    return lambda manifest: manifest.pop(key)


def with_(*way, value):
    """Put a value where the way leads."""

    def change(manifest):
        node = manifest
        for key in way[:-1]:
            node = node[key]
        node[way[-1]] = value

    return change


def of_class(name, params=None, state=None):
    return with_("model", value={"class": name, "params": params or {}, "state": state or {}})


CHANGES = {
    "no model": (without("model"), "has the parts"),
    "no meta": (without("meta"), "has the parts"),
    "another part": (with_("extra", value=1), "has the parts"),
    "model is null": (with_("model", value=None), "has no model"),
    "model is a tuple": (with_("model", value={"tuple": []}), "has no model"),
    "summary": (with_("summary", value=1), "no text"),
    "meta": (with_("meta", value=1), "no dict"),
    "unknown class": (of_class("Popen"), "class 'Popen', which is not one"),
    "dotted class": (of_class("os.system"), "class 'os.system'"),
    "private class": (of_class("_FoldAverage"), "class '_FoldAverage'"),
    "a function": (of_class("select"), "class 'select'"),
    "unknown parameter": (with_("model", "params", "beta", value=1), "parameter 'beta'"),
    "dunder parameter": (with_("model", "params", "__class__", value=1), "'__class__'"),
    "dunder attribute": (with_("model", "state", "__class__", value=1), "'__class__'"),
    "dunder dict": (with_("model", "state", "__dict__", value=1), "'__dict__'"),
    "method": (with_("model", "state", "predict", value=1), "'predict'"),
    "inherited method": (with_("model", "state", "get_params", value=1), "'get_params'"),
    "class attribute": (with_("model", "state", "axis", value=1), "'axis'"),
    "parameter as state": (with_("model", "state", "alpha", value=1), "'alpha'"),
    "no identifier": (with_("model", "state", "a b", value=1), "'a b'"),
    "empty name": (with_("model", "state", "", value=1), "attribute ''"),
    "missing array": (with_("model", "state", "coef_", value={"array": "7.npy"}), "7.npy"),
    "array twice": (with_("model", "state", "b_", value={"array": "0.npy"}), "used twice"),
    "no coefficients": (with_("model", "state", "coef_", value=None), "coef_ of this Ridge"),
    "required": (of_class("Tuned"), "Tuned without its parameter 'estimator'"),
    "property": (of_class("Tuned", {"estimator": 1}, {"classes_": 1}), "'classes_'"),
    "state of a splitter": (of_class("KFold", state={"cvargs": 1}), "'cvargs'"),
    "bad value": (of_class("Quantile", {"q": 7.0}), "a Quantile, cannot be made: .*between"),
    "bad type": (of_class("Costs", {"matrix": "x"}), "a Costs, cannot be made"),
    "pickled cache": (of_class("Pipeline", {"steps": [], "memory": "/x"}), "parameter 'memory'"),
}


@pytest.mark.parametrize(("change", "message"), CHANGES.values(), ids=CHANGES)
def test_a_changed_structure_is_refused(change, message, path):
    manifest, members = parts(path)
    change(manifest)
    forge(path, manifest, members)
    refused(path, message)


def test_a_missing_parameter_with_a_default_is_that_of_an_older_version(path):
    manifest, members = parts(path)
    del manifest["model"]["params"]["fit_intercept"]
    forge(path, manifest, members)
    assert load(path).fit_intercept is True


def test_deep_nesting_is_refused(path):
    manifest, members = parts(path)
    node = manifest["model"]
    for _ in range(100):
        node = {"class": "Tuned", "params": {"estimator": node}, "state": {}}
    manifest["model"] = node
    forge(path, manifest, members)
    refused(path, "nested deeper than")


@pytest.mark.parametrize(
    "name", ["/0.npy", "../0.npy", "..\\0.npy", "C:\\0.npy", "0.NPY", "00.npy", "x/0.npy", "1.npy"]
)
def test_a_member_of_another_name_is_refused_and_never_written(name, path):
    manifest, members = parts(path)
    before = {file.name for file in path.parent.parent.iterdir()}
    forge(path, manifest, {name: members["0.npy"]})
    refused(path, "must be called 0.npy")
    assert {file.name for file in path.parent.parent.iterdir()} == before
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_a_surplus_member_is_refused(path):
    manifest, members = parts(path)
    forge(path, manifest, {**members, "1.npy": members["0.npy"]})
    refused(path, "nothing refers to .*1.npy")
    forge(path, {**parts(path)[0]}, {**members, "evil.py": b"import os"})
    refused(path, "must be called .*'evil.py'")


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("name", ["0.npy", "manifest.json"])
def test_a_member_that_stands_twice_is_refused(name, path):
    with zipfile.ZipFile(path, "a") as file:
        file.writestr(name, file.read(name))
    refused(path, "one name twice|2 members")


def test_a_member_without_its_digest_is_refused(path):
    manifest, members = parts(path)
    members["0.npy"] = members["0.npy"][:-1] + b"\x01"
    forge(path, manifest, members, digests=False)
    text = refused(path, "'0.npy' does not have the SHA-256")
    assert "save the model anew" in text
    for digests in ([], {}, {"0.npy": "x", "1.npy": "y"}, {"a": "b"}):
        forge(path, {**manifest, "members": digests}, members, digests=False)
        refused(path, "lists other arrays")


def test_compressed_members_are_refused_so_that_nothing_can_expand(path):
    manifest, members = parts(path)
    forge(path, manifest, members, compression=zipfile.ZIP_DEFLATED)
    refused(path, "'manifest.json' is compressed")
    forge(path, manifest, {})
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as file:
        file.writestr("0.npy", bytes(50_000_000))
    assert path.stat().st_size < 100_000
    refused(path, "lists other arrays")
    manifest, _ = parts(path)
    manifest["members"] = {"0.npy": sha256(bytes(50_000_000)).hexdigest()}
    forge(path, manifest, {}, digests=False)
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as file:
        file.writestr("0.npy", bytes(50_000_000))
    refused(path, "'0.npy' is compressed")


def entries_of(whole):
    """Where the entries of the directory begin."""
    at, found = whole.find(archive.ENTRY), []
    while at >= 0:
        found.append(at)
        at = whole.find(archive.ENTRY, at + 1)
    return found


def test_members_that_overlap_are_refused(path):
    """One block of bytes that many entries point to: the bomb that needs no compression."""
    manifest, _ = parts(path)
    forge(path, manifest, {f"{i}.npy": b"" if i else bytes(100_000) for i in range(50)})
    whole = bytearray(path.read_bytes())
    first, *others, _ = entries_of(whole)
    for at in others:
        whole[at + 16 : at + 28] = whole[first + 16 : first + 28]  # CRC and both sizes
        whole[at + 42 : at + 46] = whole[first + 42 : first + 46]  # the place in the file
    path.write_bytes(whole)
    refused(path, "51 of its members claim 50")


def test_a_directory_of_too_many_entries_is_refused_before_it_is_read(path, monkeypatch):
    monkeypatch.setattr(archive, "MOST_MEMBERS", 20)
    monkeypatch.setattr(archive, "ZipFile", None)  # would fail otherwise
    with zipfile.ZipFile(path, "a") as file:
        for i in range(20):
            file.writestr(f"{i + 1}.npy", b"")
    refused(path, "lists 22 members")


def test_entries_are_counted_across_the_blocks_in_which_a_file_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr(archive, "MOST_MEMBERS", 1)
    for shift in range(6):
        file = tmp_path / "file"
        file.write_bytes(bytes(2**20 - shift) + archive.ENTRY + bytes(3) + archive.ENTRY)
        with file.open("rb") as stream, pytest.raises(DataError, match="lists 2 members"):
            archive._check_size(stream)


def test_a_long_manifest_is_refused_unread(path, monkeypatch):
    monkeypatch.setattr(archive, "LONGEST_MANIFEST", 100)
    refused(path, "1 of its members claim .* more than 100")


def test_an_encrypted_member_is_refused(path):
    whole = bytearray(path.read_bytes())
    at = whole.find(archive.ENTRY)
    whole[at + 8] |= 1
    path.write_bytes(whole)
    refused(path, "'0.npy' cannot be read")


class Bomb:
    def __init__(self, target):
        self.target = target

    def __reduce__(self):
        return Path.touch, (self.target,)


def test_a_pickle_inside_an_array_never_runs(path):
    manifest, _ = parts(path)
    target = path.parent / "executed"
    with (path.parent / "evil.npy").open("wb") as file:
        np.lib.format.write_array(file, np.array([Bomb(target)]), allow_pickle=True)
    forge(path, manifest, {"0.npy": (path.parent / "evil.npy").read_bytes()})
    refused(path, "'0.npy' is refused: its header")
    assert not target.exists()
    np.load(path.parent / "evil.npy", allow_pickle=True)
    assert target.exists()  # the bomb was live


def test_an_array_that_claims_more_than_it_has_is_refused(path):
    manifest, members = parts(path)
    huge = members["0.npy"].replace(b"(2,), }                ", b"(2000000000000000,), }")
    assert huge != members["0.npy"]
    forge(path, manifest, {"0.npy": huge})
    refused(path, "'0.npy' is refused: its header")


def test_a_missing_file_stays_a_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "nowhere")
    with pytest.raises(IsADirectoryError):
        load(tmp_path)


def test_messages_show_no_raw_text_of_the_file(path):
    manifest, members = parts(path)
    manifest["model"]["state"]["\x1b[2J"] = [{"odd": 1}]
    forge(path, manifest, members)
    assert "\x1b" not in refused(path, "attribute")


def test_nested_parts_are_named_where_they_stand(tmp_path):
    model = Tuned(make_pipeline(Ridge()), loss=Costs([[0, 1], [1, 0]]))
    save(model, tmp_path / "model")
    manifest, members = parts(tmp_path / "model")
    step = manifest["model"]["params"]["estimator"]["params"]["steps"][0]["tuple"][1]
    step["class"] = "Evil"
    forge(tmp_path / "model", manifest, members)
    refused(tmp_path / "model", r"model\.estimator\.steps\[0\]\[1\] is of the class 'Evil'")
