"""A team of threads that call one compiled function together (`compiled.team`)."""

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import Context, copy_context
from typing import Any, TypeVar

import numpy as np
from joblib import cpu_count

from empirisk.compiled.team import STOP, SYNC_SIZE
from empirisk.runtime.parallel import number_of_workers
from empirisk.runtime.workers import nested

T = TypeVar("T")
R = TypeVar("R")


class Team:
    """The caller and size - 1 threads beside it.

    There are no more than cores, since they wait for each other; inside a worker of `parallel` the
    caller is alone.

    Examples
    --------
    >>> ranks = []
    >>> Team(2).run(ranks.append)
    >>> sorted(ranks) == list(range(Team(2).size))
    True
    """

    def __init__(self, n_jobs: int | None, *, most: int | None = None) -> None:
        wanted = 1 if nested.get() else number_of_workers(n_jobs)
        if wanted > 1:  # counting cores reads files
            wanted = min(wanted, cpu_count() if most is None else most)
        self.size = wanted
        self.sync = np.zeros(SYNC_SIZE, np.int64)
        self._pool: ThreadPoolExecutor | None = None

    def run(self, call: Callable[[int], Any]) -> None:
        """call(rank) in every thread; ranks are 0, here, to size - 1."""
        self.sync[:] = 0
        mates: list[Future[Any]] = []
        try:
            for rank in range(1, self.size):
                mates.append(self._threads().submit(self._call, call, rank))
            call(0)
        except BaseException:
            self.sync[STOP] = 1  # those who wait for this thread leave
            raise
        finally:
            failed = [mate.exception() for mate in mates]  # when all have left
        for error in failed:
            if error is not None:
                raise error

    def map(self, function: Callable[[T], R], items: Sequence[T]) -> list[R]:
        """The results in the order of the items, of which each thread takes the next.

        Examples
        --------
        >>> Team(2).map(abs, [-1, 2, -3])
        [1, 2, 3]
        """
        found: dict[int, R] = {}
        numbered = enumerate(items)  # one step of it is one step for all threads

        def take_items(context: Context) -> None:
            for k, item in numbered:
                found[k] = context.run(function, item)
                if self.sync[STOP]:
                    return

        contexts = [copy_context() for _ in range(self.size)]  # deadlines hold in all threads
        self.run(lambda rank: take_items(contexts[rank]))
        return [found[k] for k in range(len(items))]

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_pool": None}  # threads are begun again when they are needed

    def _call(self, call: Callable[[int], Any], rank: int) -> None:
        try:
            call(rank)
        except BaseException:
            self.sync[STOP] = 1
            raise

    def _threads(self) -> ThreadPoolExecutor:
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self.size - 1, thread_name_prefix="empirisk")
        return self._pool
