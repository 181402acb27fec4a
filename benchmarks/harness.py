"""Ours and the peers on the same data, in turn: quality first, ratio second.

Ours runs with one BLAS thread, each peer with one and with two; the peer's best median counts. The
first call of each in the process is kept apart from the others; a peer that takes minutes has none.
"""

import math
import os
import statistics
import traceback
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from benchmarks.case import NO_TARGET, Benchmark, Call, Case, Quality, Target
from benchmarks.machine import busy_verdict
from benchmarks.timing import Timing, measure, used_by_others

SHORTEST = 0.3
"""Seconds a timing lasts at least; shorter calls are repeated inside it, because the load of the
machine is known in ticks of 10 ms only."""


@dataclass
class Contestant:
    """One way to do the work, with a number of BLAS threads, and what it took."""

    name: str
    threads: int
    call: Call
    repeats: int
    takes_minutes: bool = False
    first: Timing | None = None
    timings: list[Timing] = field(default_factory=list)
    difference: float = math.nan
    result: Any = None

    def warm_up(self) -> None:
        """The first call: compiling or its cache, lazy imports, fresh memory."""
        self.first, self.result = measure(self.call, self.threads)

    def run(self, at_least: float) -> None:
        """Time it once more, over enough calls to last `at_least` seconds."""
        calls = math.ceil(at_least / self.first.wall) if self.first else 1
        timing, self.result = measure(self.call, self.threads, max(calls, 1))
        self.timings.append(timing)

    @property
    def median(self) -> float:
        """The middle wall time of a call."""
        return statistics.median(timing.wall for timing in self.timings)


@dataclass(frozen=True)
class Row:
    """A contestant's line in the table, in seconds per call; ours has no difference."""

    name: str
    threads: int
    difference: float | None
    median: float
    fastest: float
    cpu: float
    others: float | None
    first: Timing | None
    timings: Sequence[Timing]


@dataclass(frozen=True)
class Outcome:
    """What came out. The verdict is met, missed, failed, invalid or not judged, with the reason."""

    name: str
    target: str
    verdict: str
    size: str = ""
    quality: str = ""
    ratio: float | None = None
    rows: Sequence[Row] = ()
    cold: Timing | None = None
    load: Sequence[Sequence[float]] = ()

    @property
    def failed(self) -> bool:
        """Whether an answer was wrong, or none came."""
        return self.verdict.startswith("failed")

    def as_dict(self) -> dict[str, Any]:
        """Everything, for the JSON file."""
        return {"kind": "contest", **asdict(self)}


def run_benchmark(
    benchmark: Benchmark,
    *,
    repeats: int,
    quick: bool = False,
    cold: Callable[[str], Timing] | None = None,
) -> Outcome:
    """Build the data, run the contest, and judge; an exception is a failure with its message."""
    load = [os.getloadavg()]
    try:
        cold_timing = cold(benchmark.name) if cold else None
        case = benchmark.build(quick)
        contestants = line_up(case, repeats, benchmark.peer_repeats)
        same = contest(contestants, case.quality, at_least=0.0 if quick else SHORTEST)
    except Exception as error:
        traceback.print_exc()
        message = f"failed: {type(error).__name__}: {error}"
        return Outcome(benchmark.name, str(benchmark.target), message)
    load.append(os.getloadavg())
    if case.peers:
        verdict, ratio = judge(contestants, same, benchmark.target, quick)
    else:
        verdict, ratio = f"not judged ({case.absent or 'no peer'})", None
    ours, *peers = contestants
    return Outcome(
        name=benchmark.name,
        target=str(benchmark.target),
        verdict=verdict,
        size=case.size,
        quality=f"{case.quality.what} <= {case.quality.tolerance:g}",
        ratio=ratio,
        rows=[row(ours, None), *(row(peer, peer.difference) for peer in peers)],
        cold=cold_timing,
        load=load,
    )


def line_up(case: Case, repeats: int, peer_repeats: int | None) -> list[Contestant]:
    """Ours, then each peer with each number of threads."""
    ours = Contestant("empirisk", 1, case.ours, repeats)
    peers = [
        Contestant(name, threads, call, min(repeats, peer_repeats or repeats), peer_repeats == 1)
        for name, call in case.peers.items()
        for threads in case.peer_threads
    ]
    return [ours, *peers]


def interleave(repeats: Sequence[int]) -> list[int]:
    """The order of the runs: A B C A B C ..., each contestant as often as it says.

    >>> interleave([3, 1, 2])
    [0, 1, 2, 0, 2, 0]
    """
    return [i for turn in range(max(repeats)) for i, r in enumerate(repeats) if turn < r]


def contest(contestants: Sequence[Contestant], quality: Quality, *, at_least: float) -> bool:
    """Run all in turn; stop after the first round unless the answers are the same."""
    ours, *peers = contestants
    for contestant in contestants:
        if not contestant.takes_minutes:  # what a first call adds is then nothing
            contestant.warm_up()
    order = interleave([contestant.repeats for contestant in contestants])
    first_round, rest = order[: len(contestants)], order[len(contestants) :]
    for i in first_round:
        contestants[i].run(at_least)
    for peer in peers:
        peer.difference = float(quality.difference(ours.result, peer.result))
    if not all(peer.difference <= quality.tolerance for peer in peers):  # nor is NaN the same
        return False
    for i in rest:
        contestants[i].run(at_least)
    return True


def judge(
    contestants: Sequence[Contestant], same: bool, target: Target, quick: bool
) -> tuple[str, float | None]:
    """The verdict, and the best peer's median time over ours where the answers are the same."""
    if not same:
        return "failed: the results differ", None
    ours, *peers = contestants
    ratio = min(peer.median for peer in peers) / ours.median
    if quick:
        return "not judged (quick)", ratio
    busy = busy_verdict([used_by_others(contestant.timings) for contestant in contestants])
    if busy:
        return busy, ratio
    if target == NO_TARGET:
        return "no target", ratio
    return "met" if target.met(ours.median, ratio) else "missed", ratio


def row(contestant: Contestant, difference: float | None) -> Row:
    """A contestant's line in the table."""
    timings = contestant.timings
    return Row(
        name=contestant.name,
        threads=contestant.threads,
        difference=difference,
        median=contestant.median,
        fastest=min(timing.wall for timing in timings),
        cpu=statistics.median(timing.cpu for timing in timings),
        others=used_by_others(timings),
        first=contestant.first,
        timings=timings,
    )
