"""What a benchmark is: the data, what we do, what each peer does, and when both are equal.

@benchmark("least_squares", target=Target(ratio=5))
def least_squares(quick: bool) -> Case: ...
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

Call = Callable[[], Any]


@dataclass(frozen=True)
class Quality:
    """How both results are seen to be equal: `difference(ours, peer)` at most `tolerance`."""

    what: str
    tolerance: float
    difference: Callable[[Any, Any], float]


@dataclass(frozen=True)
class Case:
    """One benchmark with its data: calls without arguments that return their result.

    Where `peers` are none, `absent` says why.
    """

    size: str
    ours: Call
    peers: Mapping[str, Call]
    quality: Quality
    peer_threads: tuple[int, ...] = (1, 2)
    absent: str = ""


@dataclass(frozen=True)
class Target:
    """What we want to reach: a ratio to the best peer, a time in seconds, or nothing."""

    ratio: float | None = None
    seconds: float | None = None

    def __str__(self) -> str:
        ratio = [] if self.ratio is None else [f">= {self.ratio:g}x"]
        seconds = [] if self.seconds is None else [f"< {self.seconds:g} s"]
        return " and ".join(ratio + seconds) or "none"

    def met(self, seconds: float, ratio: float) -> bool:
        """Whether this time of ours, this many times shorter than the peer's, is enough."""
        enough = self.ratio is None or ratio >= self.ratio
        return enough and (self.seconds is None or seconds < self.seconds)


NO_TARGET = Target()

Build = Callable[[bool], Case]
"""Makes the data, small ones if asked to be quick, and says what to do with them."""


@dataclass(frozen=True)
class Benchmark:
    """A case with its name and target; a peer that takes minutes is timed `peer_repeats` times."""

    name: str
    about: str
    target: Target
    build: Build
    peer_repeats: int | None = None


BENCHMARKS: dict[str, Benchmark] = {}


def benchmark(
    name: str, *, target: Target = NO_TARGET, peer_repeats: int | None = None
) -> Callable[[Build], Build]:
    """Enter a function that builds a case under a name."""

    def enter(build: Build) -> Build:
        about = (build.__doc__ or "").strip().split("\n")[0]
        BENCHMARKS[name] = Benchmark(name, about, target, build, peer_repeats)
        return build

    return enter
