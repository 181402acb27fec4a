"""The bootstrap of a mean and of a median beside SciPy's."""

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from scipy import stats

from benchmarks.case import Case, Quality, Target, benchmark
from empirisk import bootstrap

Method = Literal["percentile", "bca"]

# SciPy draws `batch` resamples at once: its fastest of 10, 30, 100, 300, 1,000 and all.
BATCH = {"mean": 300, "median": 100, "std": 100}


@benchmark("bootstrap_mean", target=Target(ratio=4))
def bootstrap_mean(quick: bool) -> Case:
    """A mean of 1,000 rows, 10,000 resamples, percentile interval, beside SciPy vectorised."""
    return bootstrap_case(quick, "mean", np.mean, "percentile")


@benchmark("bootstrap_mean_bca", target=Target(ratio=4))
def bootstrap_mean_bca(quick: bool) -> Case:
    """The same with a BCa interval."""
    return bootstrap_case(quick, "mean", np.mean, "bca")


@benchmark("bootstrap_median", target=Target(ratio=4))
def bootstrap_median(quick: bool) -> Case:
    """A median of 1,000 rows, 10,000 resamples, percentile interval, beside SciPy vectorised."""
    return bootstrap_case(quick, "median", np.median, "percentile")


@benchmark("bootstrap_median_bca", target=Target(ratio=4))
def bootstrap_median_bca(quick: bool) -> Case:
    """The same with a BCa interval."""
    return bootstrap_case(quick, "median", np.median, "bca")


@benchmark("bootstrap_std")
def bootstrap_std(quick: bool) -> Case:
    """A standard deviation, percentile interval."""
    return bootstrap_case(quick, "std", np.std, "percentile")


def bootstrap_case(quick: bool, name: str, function: Callable[..., Any], method: Method) -> Case:
    n, B = (200, 1_000) if quick else (1_000, 10_000)
    x = np.random.default_rng(0).standard_normal(n)

    def ours() -> tuple[float, float, float]:
        found = bootstrap(x, name, n_resamples=B, random_state=0)
        return found.standard_error, *found.interval(method, 0.9)

    def scipy() -> tuple[float, float, float]:
        found = stats.bootstrap(
            (x,),
            function,
            n_resamples=B,
            batch=BATCH[name],
            vectorized=True,
            method={"percentile": "percentile", "bca": "BCa"}[method],
            confidence_level=0.9,
            rng=np.random.default_rng(0),
        )
        low, high = found.confidence_interval
        return float(found.standard_error), float(low), float(high)

    def difference(one: tuple[float, ...], two: tuple[float, ...]) -> float:
        return float(np.max(np.abs(np.subtract(one, two))) / two[0])

    return Case(
        size=f"{n:,} rows, {B:,} resamples",
        ours=ours,
        peers={"scipy.stats.bootstrap": scipy},
        quality=Quality(
            "difference of error and ends, in standard errors",
            # Both are random: an end has a Monte Carlo error of 2.1 / sqrt(B) standard errors; of
            # the median, whose law has steps, and of BCa, which corrects, up to three times that.
            30 / np.sqrt(B),
            difference,
        ),
        peer_threads=(1,),
    )
