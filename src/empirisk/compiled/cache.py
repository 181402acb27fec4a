"""Compiled code kept on disk, in a folder named after a digest of every source file of this room.

Numba stamps what it keeps with the file of the function alone: edit a callee in another file and
the caller still runs the old one. Here any edit in the room names another folder. One file holds
one signature of one function, under a name that is a hash of both, and is put in place at one
stroke, so processes that compile at the same time cannot mix up each other's code (Numba's own
numbered files can).
"""

import hashlib
import os
import pickle
import shutil
from functools import lru_cache
from pathlib import Path
from uuid import uuid4

import numba
from numba.core.caching import FunctionCache
from numba.core.serialize import dumps

from empirisk.compiled.inner import InnerContext

ROOM = Path(__file__).parent
KEPT = 4  # folders of the latest digests; a developer goes back and forth between a few


def digest():
    """A hash of all source files of this room as they are now, and of Numba's version."""
    files = sorted(ROOM.rglob("*.py"))
    return _digest_of(tuple((path, path.stat().st_mtime_ns, path.stat().st_size) for path in files))


@lru_cache(maxsize=4)
def _digest_of(files):
    whole = hashlib.sha256(numba.__version__.encode())
    for path, *_ in files:
        source = path.read_bytes()
        whole.update(f"\n{path.relative_to(ROOM).as_posix()} {len(source)}\n".encode())
        whole.update(source)
    return whole.hexdigest()[:20]


LOADED = digest()


class RoomCache(FunctionCache):
    """Numba's cache of a function, in the folder of the room's digest.

    A file that cannot be read or written is no cache: the function is compiled in memory. So is
    a function of a room that was edited while it was being loaded: its callees may be older.
    """

    def __init__(self, function, inner=False):
        super().__init__(function)
        self._inner = inner
        if digest() != LOADED:
            raise OSError(f"{ROOM} was edited after it was loaded")
        self._cache_path = os.path.join(self._cache_path, f"empirisk-{LOADED}")
        self._own_file = self._impl.locator.get_source_stamp()  # for functions of other rooms

    def load_overload(self, sig, target_context):
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # a damaged file may fail in any way when it is unpickled
            return None

    def _load_overload(self, sig, target_context):
        file = self._file(sig, target_context.codegen())
        if not self._enabled or not file.exists():
            return None
        kept = pickle.loads(file.read_bytes())  # noqa: S301  (we wrote it)
        if not self._inner:
            return self._impl.rebuild(target_context, kept)
        result = self._impl.rebuild(InnerContext(target_context), kept)
        return result._replace(target_context=target_context)

    def _save_overload(self, sig, data):
        if not self._enabled or not self._impl.check_cachable(data):
            return
        content = dumps(self._impl.reduce(data))
        try:
            folder = Path(self._cache_path)
            if not folder.exists():
                folder.mkdir(parents=True, exist_ok=True)
                remove_old_folders(folder)
            _write_at_one_stroke(self._file(sig, data.codegen), content)
        except OSError:
            return

    def _file(self, sig, codegen):
        code = repr((self._index_key(sig, codegen), self._own_file))
        key = hashlib.sha256(code.encode()).hexdigest()[:20]
        return Path(self._cache_path, f"{self._impl.filename_base}.{key}.nbc")

    def flush(self):
        for file in Path(self._cache_path).glob(f"{self._impl.filename_base}.*.nbc"):
            file.unlink(missing_ok=True)


def _write_at_one_stroke(file, content):
    draft = file.with_name(f"{uuid4().hex}.tmp")
    try:
        draft.write_bytes(content)
        draft.replace(file)
    finally:
        draft.unlink(missing_ok=True)


def remove_old_folders(newest):
    """Keep the folders of the latest digests. A process that still uses a removed one compiles."""
    others = [path for path in newest.parent.glob("empirisk-*") if path != newest]
    for folder in sorted(others, key=_changed, reverse=True)[KEPT - 1 :]:
        shutil.rmtree(folder, ignore_errors=True)


def _changed(folder):
    try:
        return folder.stat().st_mtime_ns
    except OSError:  # another process has just removed it
        return 0
