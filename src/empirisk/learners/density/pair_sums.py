"""Sums of kernels over pairs of rows, at many bandwidths from one pass over the distances."""

from typing import Any

import numpy as np

from empirisk.compiled.densities.kernels import EXPONENTIAL, GAUSSIAN
from empirisk.compiled.densities.pair_sums import pair_sums
from empirisk.learners.density.kernels import Kernel
from empirisk.runtime.arrays import Floats, Ints
from empirisk.runtime.parallel import parallel, slices

TARGETS_AT_ONCE = 64
LARGEST_RATE = 1e290
ROUNDED_AWAY = 40.0  # exp(-40) of the nearest row's kernel is below rounding


def rates_of(bandwidths: Any) -> Floats:
    """1 / h^2, what squared distances are multiplied by; products of it do not overflow."""
    with np.errstate(over="ignore"):
        return np.clip(
            np.asarray(bandwidths, dtype=np.float64) ** -2.0, 1 / LARGEST_RATE, LARGEST_RATE
        )


def negligible(weight: Floats) -> float:
    """By how much the exponent of a kernel is below that of the nearest row's where it no longer
    counts, however heavy its row is."""
    return ROUNDED_AWAY + float(np.log(weight.sum() / weight.min()))


def pair_logs(
    kernel: Kernel,
    targets: Floats,
    group: Ints,
    rows: Floats,
    groups: Ints,
    weight: Floats,
    values: Floats,
    n_jobs: int | None = None,
) -> Floats:
    """log of the sum at each target over the rows of other groups, a column for each bandwidth.

    Minus infinity where there is no such row within reach. A target whose group no row has, such
    as -1, counts all rows.
    """
    order = np.argsort(-values, kind="stable")
    rates = rates_of(values[order])
    sums, nearest = np.empty((len(targets), len(values))), np.empty(len(targets))
    reach = negligible(weight)

    def find(part: slice) -> None:
        pair_sums(
            targets[part], group[part], rows, groups, weight, rates, kernel.kind,
            kernel.shape(rows.shape[1]), reach, sums[part], nearest[part],
        )  # fmt: skip

    parallel(find, slices(len(targets), TARGETS_AT_ONCE), n_jobs=n_jobs)
    logs = np.empty_like(sums)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        logs[:, order] = np.where(sums > 0, np.log(sums), -np.inf)
        ratio = np.sqrt(nearest)[:, None] / values
        if kernel.kind == GAUSSIAN:
            logs -= 0.5 * np.minimum(ratio, 1e150) ** 2
        elif kernel.kind == EXPONENTIAL:
            logs -= ratio
    return logs
