"""The machine a benchmark ran on, and how much of it other processes used meanwhile."""

import os
import platform
import resource
import subprocess
import time
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_info

from benchmarks.install import installed_sizes

BUSY = 0.10
"""The share of all cores that others may use before a timing says nothing."""

TOO_SHORT = 0.1
"""Seconds in which the share of others, counted in ticks of 10 ms, cannot be told."""

_PACKAGES = (
    "empirisk", "numpy", "scipy", "scikit-learn", "numba", "threadpoolctl", "lightgbm", "xgboost",
    "faiss-cpu", "KDEpy",
)  # fmt: skip
# user, nice, system, irq, softirq and steal: what the hypervisor gave to others is lost too
_BUSY_FIELDS = (0, 1, 2, 5, 6, 7)


@dataclass(frozen=True)
class Clock:
    """A reading of all clocks, in seconds; `busy` is of the whole machine, None where unknown."""

    wall: float
    cpu: float
    busy: float | None


def read_clock() -> Clock:
    """The time now: wall, CPU of this process (all threads, its children) and of the machine."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)  # those that have ended
    cpu = time.process_time() + children.ru_utime + children.ru_stime + seconds_of_children()
    return Clock(time.perf_counter(), cpu, machine_seconds())


def seconds_of_children(process: Path = Path("/proc/self")) -> float:
    """CPU seconds of the children that are alive; 0 where they are not known (Linux only)."""
    ticks = 0
    with suppress(OSError):  # of one that has just ended, too
        for task in process.glob("task/*/children"):
            for child in task.read_text().split():
                state = Path("/proc", child, "stat").read_text().rsplit(")", 1)[1].split()
                ticks += int(state[11]) + int(state[12])  # user and system
    return ticks / os.sysconf("SC_CLK_TCK")


def machine_seconds(stat: Path = Path("/proc/stat")) -> float | None:
    """Seconds for which the cores were busy since boot, summed over them (Linux only)."""
    try:
        ticks = stat.read_text().split("\n", 1)[0].split()[1:]
    except OSError:
        return None
    return sum(int(ticks[field]) for field in _BUSY_FIELDS) / os.sysconf("SC_CLK_TCK")


def share_of_others(before: Clock, after: Clock, cores: int) -> float | None:
    """The share of all cores that other processes used between two readings, in [0, 1].

    The machine counts in ticks of 10 ms: of readings that are a few ticks apart it is not known.
    """
    if before.busy is None or after.busy is None or after.wall - before.wall < TOO_SHORT:
        return None
    others = (after.busy - before.busy) - (after.cpu - before.cpu)
    available = cores * (after.wall - before.wall)
    return min(max(others / available, 0.0), 1.0) if available > 0 else 0.0


def busy_verdict(shares: list[float | None]) -> str | None:
    """Why timings with these shares used by others do not count, or None where they do."""
    known = [share for share in shares if share is not None]
    if known and max(known) > BUSY:
        return f"invalid: machine busy ({max(known):.0%} used by others)".replace("%", " %")
    return None


def cores() -> int:
    """The cores of the machine, as /proc/stat counts them."""
    return os.cpu_count() or 1


def cpu_model(cpuinfo: Path = Path("/proc/cpuinfo")) -> str:
    """The processor's name."""
    try:
        lines = cpuinfo.read_text().splitlines()
    except OSError:
        lines = []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def describe() -> dict[str, Any]:
    """Everything about the machine that a reader of the numbers must know."""
    return {
        "cpu": cpu_model(),
        "cores": cores(),
        "platform": platform.platform(),
        "python": platform.python_version(),
        "packages": {name: found for name in _PACKAGES if (found := _version(name))},
        "blas": sorted({_library(pool) for pool in threadpool_info()}),
        "load": os.getloadavg(),
        "installed": {name: installed_sizes(name) for name in ("empirisk", "scikit-learn")},
        "commit": commit(),
    }


def commit() -> str | None:
    """The commit of our code that was measured; None where it is not in a checkout of git's."""
    command, folder = ["git", "rev-parse", "--short=10", "HEAD"], Path(__file__).resolve().parent
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip()


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:  # a peer that is not here
        return None


def _library(pool: dict[str, Any]) -> str:
    return f"{pool['internal_api']} {pool['version'] or ''}".strip()
