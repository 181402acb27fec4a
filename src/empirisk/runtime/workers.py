"""What holds while our own work runs: one level of workers, one BLAS thread in each, and
warnings that reach the user from wherever they were given."""

import os
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from threadpoolctl import ThreadpoolController

nested: ContextVar[bool] = ContextVar("nested", default=False)
"""True inside a worker of `parallel`: a further `parallel` there runs in turn, in one thread."""

quiet: ContextVar[bool] = ContextVar("quiet", default=False)
"""True in a child process, which must not draw on the caller's terminal."""


class Gate:
    """Counts who is inside; one thread for the libraries when the first comes, their own number
    when the last leaves."""

    def __init__(self) -> None:
        self.inside = 0
        self.libraries: list[Any] = []
        self.saved: list[tuple[Any, int]] = []

    def enter(self, libraries: list[Any]) -> None:
        if self.inside == 0 or libraries is not self.libraries:
            for library in libraries:
                self.saved.append((library, library.get_num_threads()))
                _set_threads(library, 1)
            self.libraries = libraries
        self.inside += 1

    def leave(self) -> None:
        self.inside -= 1
        while self.inside == 0 and self.saved:
            _set_threads(*self.saved.pop())


def _set_threads(library: Any, n: int) -> None:
    # threadpoolctl lets only one thread set the size of OpenBLAS's pool and silently ignores the
    # others; here several threads come and go, in any order, and are counted.
    release = getattr(library, "clear_controlling_thread", None)
    if release is not None:
        release(force=True)
    library.set_num_threads(n)
    if release is not None:
        release(force=True)


class BlasThreads:
    """The gates of the process, and of each thread for libraries whose limit is a thread's own."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.process, self.thread = Gate(), threading.local()
        self.shared: list[Any] = []
        self.own: list[Any] = []
        self.modules = 0

    def enter(self) -> None:
        with self.lock:
            # Scanning the process for libraries costs a millisecond, counting modules nothing;
            # a library comes with the import of a module.
            if self.modules != len(sys.modules):
                self.modules = len(sys.modules)
                self._scan()
            self.process.enter(self.shared)
            self._gate_of_this_thread().enter(self.own)

    def _scan(self) -> None:
        self.shared, self.own = [], []
        for library in ThreadpoolController().select(user_api="blas").lib_controllers:
            layer = (library.internal_api, getattr(library, "threading_layer", None))
            (self.own if layer == ("openblas", "openmp") else self.shared).append(library)

    def leave(self) -> None:
        with self.lock:
            self.process.leave()
            self._gate_of_this_thread().leave()

    def _gate_of_this_thread(self) -> Gate:
        if not hasattr(self.thread, "gate"):
            self.thread.gate = Gate()
        return self.thread.gate

    def renew_lock(self) -> None:
        self.lock = threading.Lock()


_blas = BlasThreads()
if hasattr(os, "register_at_fork"):  # another thread may hold the lock in that moment
    os.register_at_fork(after_in_child=_blas.renew_lock)


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """BLAS runs one-threaded inside; nested and concurrent uses are counted.

    Examples
    --------
    >>> with one_blas_thread():
    ...     pass
    """
    _blas.enter()
    try:
        yield
    finally:
        _blas.leave()


Heard = list[tuple[str, type[Warning], str, int]]
"""Warnings as they can be sent: text, category, file and line."""


@contextmanager
def hear_warnings() -> Iterator[Heard]:
    """Collect the warnings given inside, in a child process, for `repeat_warnings`."""
    heard: Heard = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        try:
            yield heard
        finally:
            heard.extend((str(w.message), w.category, w.filename, w.lineno) for w in caught)


_repeated: dict[Any, Any] = {}


def repeat_warnings(heard: Heard) -> None:
    """Give them here, where the user's filters apply; the same line is repeated once."""
    for text, category, filename, line in heard:
        warnings.warn_explicit(text, category, filename, line, registry=_repeated)
