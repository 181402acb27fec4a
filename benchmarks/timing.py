"""One timing: wall and CPU time of some calls, and how busy the machine was meanwhile."""

import gc
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from threadpoolctl import threadpool_limits

from benchmarks.case import Call
from benchmarks.machine import cores, read_clock, share_of_others

SETTLED = 0.2
"""Seconds after which threads of BLAS that wait for more work, at full load, have gone to sleep."""


@dataclass(frozen=True)
class Timing:
    """Seconds per call, wall and CPU, and the share of the machine that others used."""

    wall: float
    cpu: float
    others: float | None
    calls: int = 1


def measure(call: Call, threads: int, calls: int = 1) -> tuple[Timing, Any]:
    """Time some calls with a number of BLAS and OpenMP threads; also the last result."""
    gc.collect()
    time.sleep(SETTLED)
    with threadpool_limits(threads):
        before = read_clock()
        for _ in range(calls):
            result = call()
        after = read_clock()
    wall, cpu = after.wall - before.wall, after.cpu - before.cpu
    others = share_of_others(before, after, cores())
    return Timing(wall / calls, cpu / calls, others, calls), result


def used_by_others(timings: Sequence[Timing]) -> float | None:
    """The share of the machine that others used over all these timings; None where unknown."""
    seconds = [timing.wall * timing.calls for timing in timings]
    shares = [timing.others for timing in timings if timing.others is not None]
    if not shares or len(shares) < len(timings):
        return None
    return sum(s * share for s, share in zip(seconds, shares, strict=True)) / sum(seconds)
