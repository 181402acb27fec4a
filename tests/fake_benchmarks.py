"""Benchmarks that measure nothing."""

from benchmarks.case import Benchmark, Case, Quality, Target

ABSOLUTE = Quality("absolute difference", 1e-9, lambda ours, peer: abs(ours - peer))


def fake(ours, peer, *, peer_repeats=None, quality=ABSOLUTE):
    case = Case("tiny", ours, {"peer": peer}, quality)
    return Benchmark("fake", "", Target(ratio=5), lambda quick: case, peer_repeats)
