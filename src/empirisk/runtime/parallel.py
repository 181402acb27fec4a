"""Sharing out work: results in the order of the items, the same whatever the number of workers.

Draw all seeds first, in order; cut the work by `slices`, not by the number of workers; then share
it out. Only one level is shared out: inside a worker, `parallel` does its items in turn.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import nullcontext, suppress
from contextvars import copy_context
from math import inf
from operator import index
from queue import Empty, SimpleQueue
from typing import Any, Literal, TypeVar

import sklearn
from joblib import Parallel, cpu_count, delayed

from empirisk.runtime.deadlines import check_deadline, deadline, end_of_time, until
from empirisk.runtime.errors import ParameterError
from empirisk.runtime.progress import Tracked
from empirisk.runtime.workers import (
    Heard,
    hear_warnings,
    nested,
    one_blas_thread,
    quiet,
    repeat_warnings,
)

__all__ = ["number_of_workers", "one_blas_thread", "parallel", "side_by_side", "slices", "stream"]

AHEAD = 6
"""Results of `stream` that are under way or wait to be taken."""

T = TypeVar("T")
R = TypeVar("R")


def parallel(
    function: Callable[[T], R],
    items: Iterable[T],
    *,
    n_jobs: int | None = None,
    kind: Literal["threads", "processes"] = "threads",
) -> list[R]:
    """[function(item) for item in items], shared out among workers.

    BLAS runs one-threaded inside. The caller's `deadline` holds in the workers and is looked at
    before each item. The first exception stops the work that is not yet begun, and is raised.

    Parameters
    ----------
    function : callable
        Of one item. For processes, something that cloudpickle can send.
    items : iterable
        Read in full before the work begins. With `track(items, label)` a bar shows how many
        results have come.
    n_jobs : int or None
        How many workers; None is 1, -1 as many as there are cores, -2 one fewer.
    kind : {"threads", "processes"}
        Threads for compiled code, which runs without the interpreter's lock; processes for work
        in Python. Large arrays reach processes as read-only memory maps.

    Examples
    --------
    >>> parallel(abs, [-1, 2, -3], n_jobs=2)
    [1, 2, 3]
    """
    if kind not in ("threads", "processes"):
        raise ParameterError(f"kind is {kind!r}; give 'threads' or 'processes'")
    tracked = items if isinstance(items, Tracked) else None
    work = list(items if tracked is None else tracked.items)
    workers = min(number_of_workers(n_jobs), len(work))
    bar = nullcontext(_nothing) if tracked is None else tracked.shown(len(work))
    with one_blas_thread(), bar as advance:
        if workers <= 1 or nested.get():
            return _in_turn(function, work, advance)
        if kind == "threads":
            return _in_threads(function, work, workers, advance)
        return _in_processes(function, work, workers, advance)


def side_by_side(*pieces: Callable[[], Any], n_jobs: int | None = None) -> list[Any]:
    """The results of pieces of work that need nothing of each other.

    Examples
    --------
    >>> side_by_side(lambda: 1, lambda: "two", n_jobs=2)
    [1, 'two']
    """
    return parallel(lambda piece: piece(), pieces, n_jobs=n_jobs)


def stream(
    function: Callable[[T], R],
    items: Iterable[T],
    *,
    n_jobs: int | None = None,
    ahead: int = AHEAD,
) -> Iterator[R]:
    """The results one after the other while threads find the next few: memory stays small.

    As `parallel` otherwise; `ahead` is how many results may be under way or wait to be taken.

    Examples
    --------
    >>> list(stream(abs, [-1, 2, -3], n_jobs=2))
    [1, 2, 3]
    """
    workers = number_of_workers(n_jobs)
    if workers == 1 or nested.get():
        for item in items:
            check_deadline()
            with one_blas_thread():
                result = function(item)
            yield result
        return
    config, jobs = sklearn.get_config(), deque[Future[R]]()
    pool = ThreadPoolExecutor(workers, thread_name_prefix="empirisk")
    try:
        for item in items:
            jobs.append(pool.submit(copy_context().run, _thread, function, item, config))
            if len(jobs) > max(ahead, workers):
                yield _result(jobs.popleft())
        while jobs:
            yield _result(jobs.popleft())
    finally:
        pool.shutdown(cancel_futures=True)


def slices(n: int, size: int) -> list[slice]:
    """0..n in slices of `size`, the last one shorter: a partition that ignores `n_jobs`.

    Examples
    --------
    >>> slices(5, 2)
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    if size < 1:
        raise ParameterError(f"slices of size {size}; give 1 or more")
    return [slice(start, min(start + size, n)) for start in range(0, n, size)]


def number_of_workers(n_jobs: int | None) -> int:
    """How many workers `n_jobs` stands for, as `parallel` takes it."""
    if n_jobs is None:
        return 1
    try:
        wanted = index(n_jobs)
    except TypeError:
        wanted = 0
    if wanted == 0:
        raise ParameterError(
            f"n_jobs is {n_jobs!r}; give a whole number of workers, -1 for all cores, or None for 1"
        )
    return wanted if wanted > 0 else max(1, cpu_count() + 1 + wanted)


def _nothing() -> None:
    """Advance no bar."""


def _in_turn(function: Callable[[T], R], work: list[T], advance: Callable[[], None]) -> list[R]:
    results = []
    for item in work:
        check_deadline()
        results.append(function(item))
        advance()
    return results


def _in_threads(
    function: Callable[[T], R], work: list[T], workers: int, advance: Callable[[], None]
) -> list[R]:
    config, done = sklearn.get_config(), SimpleQueue[Future[R]]()
    pool = ThreadPoolExecutor(workers, thread_name_prefix="empirisk")
    jobs = []
    with deadline(None) as limit:
        try:
            for item in work:
                jobs.append(pool.submit(copy_context().run, _thread, function, item, config))
                jobs[-1].add_done_callback(done.put)
            for _ in jobs:
                _next(done).result()
                advance()
        except BaseException as error:
            limit.end = -inf  # the others stop at their next look at the clock
            # Ctrl-C does not wait for a foreign estimator that never looks.
            pool.shutdown(wait=isinstance(error, Exception), cancel_futures=True)
            raise
    pool.shutdown()
    return [job.result() for job in jobs]


def _next(done: "SimpleQueue[Future[R]]") -> "Future[R]":
    # An interrupt may reach the process in another thread; this one hears of it when it wakes.
    while True:
        with suppress(Empty):
            return done.get(timeout=0.5)


def _result(job: "Future[R]") -> R:
    while not job.done():
        wait([job], timeout=0.5)  # for the same reason
    return job.result()


def _thread(function: Callable[[T], R], item: T, config: dict[str, Any]) -> R:
    nested.set(True)
    check_deadline()
    with one_blas_thread(), sklearn.config_context(**config):
        return function(item)


def _in_processes(
    function: Callable[[T], R], work: list[T], workers: int, advance: Callable[[], None]
) -> list[R]:
    config, end = sklearn.get_config(), end_of_time()
    pool = Parallel(n_jobs=workers, backend="loky", return_as="generator_unordered")
    calls = (delayed(_process)(function, i, item, config, end) for i, item in enumerate(work))
    results: dict[int, R] = {}
    for i, result, heard in pool(calls):
        repeat_warnings(heard)
        results[i] = result
        advance()
    return [results[i] for i in range(len(work))]


def _process(*args: Any) -> tuple[int, Any, Heard]:
    # In a context of its own: the process may serve others after us.
    return copy_context().run(_process_item, *args)


def _process_item(
    function: Callable[[T], R], i: int, item: T, config: dict[str, Any], end: float
) -> tuple[int, R, Heard]:
    nested.set(True)
    quiet.set(True)
    with until(end), one_blas_thread(), hear_warnings() as heard:
        check_deadline()
        with sklearn.config_context(**config):
            result = function(item)
    return i, result, heard
