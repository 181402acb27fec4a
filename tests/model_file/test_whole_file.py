"""A file is there whole or not at all; equal models give equal files."""

import os
import stat
import sys
import zipfile

import numpy as np
import pytest

from empirisk import LinearDiscriminantAnalysis, Ridge, Tuned
from empirisk.model_file import archive
from empirisk.model_file.load import load
from empirisk.model_file.save import save
from empirisk.runtime import whole_file
from empirisk.runtime.errors import ParameterError

X = np.random.default_rng(0).normal(size=(30, 3))

posix = pytest.mark.skipif(sys.platform == "win32", reason="permissions and links of POSIX")


def fitted():
    return Tuned(Ridge(), cv=3, values=[0.1, 1.0], random_state=0).fit(X, X[:, 0])


def test_equal_models_give_equal_bytes(tmp_path):
    save(fitted(), tmp_path / "a", meta={"x": 1})
    save(fitted(), tmp_path / "b", meta={"x": 1})
    save(load(tmp_path / "a"), tmp_path / "c", meta={"x": 1})
    content = (tmp_path / "a").read_bytes()
    assert (tmp_path / "b").read_bytes() == content
    assert (tmp_path / "c").read_bytes() == content
    save(fitted().set_params(rule="one_se"), tmp_path / "d", meta={"x": 1})
    assert (tmp_path / "d").read_bytes() != content


def test_the_order_in_which_attributes_were_set_does_not_matter(tmp_path):
    one, other = Ridge(), Ridge()
    one.a_, one.b_ = 1, 2
    other.b_, other.a_ = 2, 1
    save(one, tmp_path / "a")
    save(other, tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_the_archive_is_an_ordinary_zip_file(tmp_path):
    model = LinearDiscriminantAnalysis().fit(X, (X[:, 0] > 0).astype(int))
    save(model, tmp_path / "model")
    with zipfile.ZipFile(tmp_path / "model") as file:
        assert file.testzip() is None
        names = file.namelist()
        assert {info.date_time for info in file.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        with file.open("0.npy") as member:
            assert np.load(member, allow_pickle=False).dtype.kind in "fiu"
    assert names == [*(f"{i}.npy" for i in range(len(names) - 1)), "manifest.json"]


def failing_at(n, error):
    """A stand-in for `as_npy` that fails at the n-th array."""
    calls = []

    def write(array):
        calls.append(array)
        if len(calls) > n:
            raise error
        return archive_as_npy(array)

    return write


archive_as_npy = archive.as_npy


@pytest.mark.parametrize(
    "error", [OSError("disk full"), KeyboardInterrupt(), MemoryError()], ids=repr
)
@pytest.mark.parametrize("n", [0, 2])
def test_a_failure_in_the_middle_leaves_the_old_file_and_no_draft(n, error, tmp_path, monkeypatch):
    path = tmp_path / "model"
    save(Ridge(alpha=7.0), path)
    before = path.read_bytes()
    monkeypatch.setattr(archive, "as_npy", failing_at(n, error))
    with pytest.raises(type(error)):
        save(fitted(), path)
    assert path.read_bytes() == before
    assert [*tmp_path.iterdir()] == [path]
    with pytest.raises(type(error)):
        save(fitted(), tmp_path / "new")
    assert [*tmp_path.iterdir()] == [path]


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_failure_at_the_end_leaves_the_old_file_and_no_draft(step, tmp_path, monkeypatch):
    path = tmp_path / "model"
    save(Ridge(alpha=7.0), path)
    before = path.read_bytes()

    def fail(*args):
        raise OSError("no space left")

    monkeypatch.setattr(whole_file.os, step, fail)
    with pytest.raises(OSError, match="no space left"):
        save(fitted(), path)
    assert path.read_bytes() == before
    assert [*tmp_path.iterdir()] == [path]


def test_the_content_is_on_disk_before_it_takes_the_name(tmp_path, monkeypatch):
    steps = []
    for name in ("fsync", "replace"):
        call = getattr(os, name)
        monkeypatch.setattr(
            whole_file.os, name, lambda *a, call=call, name=name: [steps.append(name), call(*a)]
        )
    save(Ridge(), tmp_path / "model")
    assert steps[:2] == ["fsync", "replace"]


@posix
def test_a_new_file_has_the_permissions_that_new_files_have(tmp_path):
    before = os.umask(0o027)
    try:
        save(Ridge(), tmp_path / "model")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "model").stat().st_mode) == 0o640


@posix
def test_a_replaced_file_keeps_its_permissions(tmp_path):
    path = tmp_path / "model"
    save(Ridge(), path)
    path.chmod(0o604)
    save(Ridge(alpha=2.0), path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o604
    assert load(path).alpha == 2.0


@posix
def test_a_file_that_may_not_be_written_is_not_replaced(tmp_path, monkeypatch):
    path = tmp_path / "model"
    save(Ridge(alpha=7.0), path)
    monkeypatch.setattr(whole_file.os, "access", lambda *args: False)  # root may write anything
    with pytest.raises(PermissionError, match="may not be overwritten"):
        save(Ridge(), path)
    assert load(path).alpha == 7.0


@posix
def test_a_link_is_followed(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "folder" / "model")
    save(Ridge(alpha=3.0), tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert load(tmp_path / "folder" / "model").alpha == 3.0


def test_only_files_are_replaced(tmp_path):
    with pytest.raises(ParameterError, match="is not a file"):
        save(Ridge(), tmp_path)
    with pytest.raises(FileNotFoundError, match="no such folder"):
        save(Ridge(), tmp_path / "nowhere" / "model")
    assert not [*tmp_path.iterdir()]


@posix
def test_a_pipe_is_not_replaced_by_a_file(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ParameterError, match="is not a file"):
        save(Ridge(), tmp_path / "pipe")
    assert (tmp_path / "pipe").is_fifo()
    reads, writes = os.pipe()
    with pytest.raises(ParameterError, match=r"/dev/fd/.* is not a file"):
        save(Ridge(), f"/dev/fd/{writes}")
    os.close(reads)
    os.close(writes)


def test_paths_may_be_strings_and_relative(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    save(Ridge(alpha=3.0), "model")
    assert load("model").alpha == 3.0
