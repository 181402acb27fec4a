"""A team of threads that call one compiled function together (`compiled.team`)."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np
from joblib import cpu_count

from empirisk.compiled.team import STOP, SYNC_SIZE
from empirisk.runtime.parallel import number_of_workers
from empirisk.runtime.workers import nested


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
        self.size = min(wanted, cpu_count() if most is None else most)
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
