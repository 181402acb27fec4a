"""Compiled code: kept on disk, never stale, never in the way, for no more types than declared."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from empirisk.compiled import cache, decorator
from empirisk.compiled.decorator import KERNELS, compiled, surplus

ROOM = Path(decorator.__file__).parent
CALLEE = """
from empirisk.compiled.decorator import compiled

@compiled
def factor(x):
    return {factor} * x
"""
INNER_CALLEE = CALLEE.format(factor=2.0).replace("@compiled", "@compiled(inner=True)")
CALLER = """
from empirisk.compiled.callee import factor
from empirisk.compiled.decorator import compiled

@compiled
def scaled(x):
    return factor(x) + 0.5
"""
PROGRAM = """
import json
from empirisk.compiled.caller import scaled
answer = scaled(10.0)
stats = scaled.stats
print(json.dumps([answer, sum(stats.cache_hits.values()), sum(stats.cache_misses.values())]))
"""
# Also whether the callee was read, and the address of its machine code, 0 if there is none.
PROGRAM_OF_CALLEE = """
import json
from empirisk.compiled.callee import factor
from empirisk.compiled.caller import scaled
answer = scaled(10.0)
hits = sum(factor.stats.cache_hits.values())
engine = scaled.targetctx.codegen()._engine
(found,) = factor.overloads.values()
print(json.dumps([answer, hits, engine.get_function_address(found.fndesc.llvm_func_name)]))
"""


@pytest.fixture
def room(tmp_path):
    """A copy of the room with two kernels, one of which calls the other in another file."""
    folder = tmp_path / "empirisk" / "compiled"
    folder.mkdir(parents=True)
    (folder.parent / "__init__.py").touch()
    for name in ("__init__.py", "cache.py", "decorator.py", "inner.py"):
        shutil.copy(ROOM / name, folder)
    (folder / "caller.py").write_text(CALLER)
    (folder / "callee.py").write_text(CALLEE.format(factor=2.0))
    return folder


def run(room, program=PROGRAM, **environment):
    """What a program prints in a process of its own: by default (answer, cache hits, misses)."""
    environment = {**os.environ, "PYTHONPATH": str(room.parent.parent), **environment}
    environment.pop("NUMBA_CACHE_DIR", None)
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        env=environment,
        cwd=room.parent.parent,
    )
    assert done.returncode == 0, done.stderr
    return tuple(json.loads(done.stdout))


def test_the_code_is_kept_and_an_edited_callee_in_another_file_is_noticed(room):
    assert run(room) == (20.5, 0, 1)
    assert run(room) == (20.5, 1, 0)
    # Of another length: Python itself takes one that is as long, of the same second, for the old.
    (room / "callee.py").write_text(CALLEE.format(factor=3.25))
    assert run(room) == (33.0, 0, 1)


def test_a_damaged_file_is_no_cache(room):
    run(room)
    files = list(room.rglob("*.nbc"))
    assert files
    for file in files:
        file.write_bytes(file.read_bytes()[:100])
    assert run(room) == (20.5, 0, 1)


def test_an_inner_callee_is_kept_for_other_callers(room):
    (room / "callee.py").write_text(INNER_CALLEE)
    assert run(room) == (20.5, 0, 1)
    (caller,) = room.rglob("caller*.nbc")
    (callee,) = room.rglob("callee*.nbc")
    caller.unlink()
    kept = callee.stat().st_mtime_ns
    assert run(room) == (20.5, 0, 1)
    assert callee.stat().st_mtime_ns == kept  # it was read, not compiled again


def test_an_inner_callee_from_the_disk_has_no_machine_code(room):
    """It would not be optimised, and callers compiled afterwards would run it."""
    (room / "callee.py").write_text(INNER_CALLEE)
    run(room)
    next(room.rglob("caller*.nbc")).unlink()
    assert run(room, PROGRAM_OF_CALLEE) == (20.5, 1, 0)


def test_without_a_place_for_the_cache_the_code_is_compiled_in_memory(room):
    # A file where the folder should be: refused to everybody, also to root.
    (room / "__pycache__").touch()
    nowhere = str(room / "__init__.py" / "nowhere")
    assert run(room, XDG_CACHE_HOME=nowhere, HOME=nowhere, LOCALAPPDATA=nowhere) == (20.5, 0, 1)


def test_the_digest_sees_every_file_of_the_room(room, monkeypatch):
    monkeypatch.setattr(cache, "ROOM", room)
    seen = {cache.digest()}
    (room / "callee.py").write_text(CALLEE.format(factor=4.0))
    seen.add(cache.digest())
    (room / "deeper").mkdir()
    (room / "deeper" / "more.py").write_text("")
    seen.add(cache.digest())
    (room / "deeper" / "more.py").rename(room / "deeper" / "other.py")
    seen.add(cache.digest())
    assert len(seen) == 4


def test_a_room_that_was_edited_after_it_was_loaded_is_not_kept(monkeypatch):
    monkeypatch.setattr(cache, "LOADED", "another digest")

    @compiled
    def negative(x):
        return -x

    assert negative(1.0) == -1.0
    assert negative.stats.cache_path is None


def test_folders_of_old_digests_do_not_pile_up(tmp_path):
    folders = [tmp_path / f"empirisk-{t:02}" for t in range(10)]
    for t, folder in enumerate(folders):
        folder.mkdir()
        (folder / "kernel.nbc").touch()
        os.utime(folder, (t, t))
    (tmp_path / "another_thing").mkdir()
    newest = folders[0]  # chosen by what is in use now, not by its age
    cache.remove_old_folders(newest)
    kept = {path.name for path in tmp_path.iterdir()}
    assert kept == {"another_thing", "empirisk-00", "empirisk-07", "empirisk-08", "empirisk-09"}


def test_signatures_of_one_function_are_kept_in_files_of_their_own(room):
    program = """
from empirisk.compiled.callee import factor
assert factor(1.0) == 2.0
assert factor(1) == 2.0
"""
    subprocess.run(
        [sys.executable, "-c", program],
        check=True,
        env={**os.environ, "PYTHONPATH": str(room.parent.parent)},
    )
    assert len(list(room.rglob("callee.factor-*.nbc"))) == 2


def test_compiled_and_python_original_agree():
    @compiled
    def dot(a, b):
        total = 0.0
        for i in range(a.size):
            total += a[i] * b[i]
        return total

    a, b = np.arange(4.0), np.ones(4)
    assert dot(a, b) == dot.py_func(a, b) == 6.0
    assert dot.targetoptions["nogil"]


@pytest.fixture
def kernels(monkeypatch):
    """A register of its own, so that the end of the suite does not see the surplus made here."""
    monkeypatch.setattr(decorator, "KERNELS", {})
    return decorator.KERNELS


def test_a_surplus_signature_is_named(kernels):
    @compiled
    def one(x):
        return x

    @compiled(signatures=2)
    def two(x):
        return x

    one(1.0), two(1.0), two(1)
    assert len(kernels) == 2
    assert surplus() == []
    one(1)
    (line,) = surplus()
    assert "one declares 1 signature(s) and was compiled for 2: (float64,), (int64,)" in line


def test_the_suite_fails_when_a_kernel_has_a_surplus_signature(tmp_path):
    for name in ("conftest.py", "shared_compiling.py"):
        shutil.copy(Path(__file__).parents[1] / name, tmp_path)
    (tmp_path / "test_it.py").write_text(
        "from empirisk.compiled.decorator import compiled\n"
        "@compiled\n"
        "def same(x): return x\n"
        "def test_first(): assert same(1.0) == 1\n"
        "def test_second(): assert same(1) == 1\n"
    )
    command = [sys.executable, "-m", "pytest", "-q", "-c", os.devnull, "-n", "1"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "test_it.same declares 1 signature(s) and was compiled for 2" in done.stdout
    assert "2 passed" in done.stdout


def test_every_kernel_of_the_room_is_registered():
    from empirisk.compiled import streams

    assert KERNELS["empirisk.compiled.streams.below"].dispatcher is streams.below


def test_an_inner_function_is_compiled_for_compiled_callers_and_runs_as_python_elsewhere():
    @compiled(inner=True)
    def doubled(x):
        return 2.0 * x

    @compiled
    def caller(x):
        return doubled(x) + 1.0

    assert caller(3.0) == 7.0
    assert len(doubled.signatures) == 1
    assert doubled(1) == 2.0  # of the type int64: without a door from Python nothing is compiled
    assert len(doubled.signatures) == 1


def test_an_inner_function_that_returns_an_array_says_so():
    @compiled(inner=True)
    def same(values):
        return values

    @compiled
    def total(values):
        return same(values).sum()

    with pytest.raises(TypeError, match="same returns an array: say makes_arrays=True"):
        total(np.ones(3))


def test_a_leaf_is_an_inner_function_whose_loops_are_vectorised_before_callers_come(monkeypatch):
    monkeypatch.setattr(cache, "LOADED", "another digest")  # compiled, not read from disk

    @compiled(leaf=True)
    def double_all(values):
        for i in range(values.size):
            values[i] *= 2.0

    @compiled
    def caller(values):
        double_all(values)
        return values[0]

    assert caller(np.ones(50)) == 2.0
    (leaf,), (door,) = double_all.overloads.values(), caller.overloads.values()
    assert "x double>" in leaf.library.get_llvm_str()
    defined = door.library.codegen._engine.is_symbol_defined
    assert defined(door.fndesc.llvm_func_name)
    assert not defined(leaf.fndesc.llvm_func_name)  # no machine code of its own
    ints = np.ones(3, int)
    double_all(ints)  # from Python its original is run
    assert ints.tolist() == [2, 2, 2]
    assert len(double_all.signatures) == 1
