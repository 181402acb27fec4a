"""Sums of kernels over pairs of rows, at many bandwidths from one pass over the distances."""

from typing import NamedTuple

import numpy as np

from empirisk.compiled.densities.kernels import EXPONENTIAL, GAUSSIAN
from empirisk.compiled.densities.pair_sums import pair_sums
from empirisk.learners.density.kernels import Kernel
from empirisk.runtime.arrays import Floats, Ints
from empirisk.runtime.parallel import parallel, slices

TARGETS_AT_ONCE = 64
LARGEST_RATE = 1e290


class PairSums(NamedTuple):
    """Sums (targets, bandwidths), numerators (targets, bandwidths, columns) beside them, and the
    squared distance of the nearest row, relative to whose kernel they are."""

    sums: Floats
    numerators: Floats
    nearest: Floats


def sums_of_pairs(
    kernel: Kernel,
    targets: Floats,
    group: Ints,
    rows: Floats,
    groups: Ints,
    weight: Floats,
    values: Floats,
    n_jobs: int | None = None,
    *,
    Y: Floats | None = None,
    fill: bool = False,
) -> PairSums:
    """Sums over the rows of other groups than the target's own; bandwidths in any order.

    With `fill` a target without neighbours has the nearest rows for such.
    """
    order = np.argsort(-values, kind="stable")
    with np.errstate(over="ignore"):
        rates = np.clip(values[order] ** -2.0, 1 / LARGEST_RATE, LARGEST_RATE)
    Y = np.empty((len(rows), 0)) if Y is None else Y
    m, V = len(targets), len(values)
    found = PairSums(np.empty((m, V)), np.empty((m, V, Y.shape[1])), np.empty(m))
    reach = 40.0 + float(np.log(weight.sum() / weight.min()))

    def find(part: slice) -> None:
        pair_sums(
            targets[part], group[part], rows, groups, weight, Y, rates, kernel.kind,
            kernel.shape(rows.shape[1]), reach, fill, found.sums[part], found.numerators[part],
            found.nearest[part],
        )  # fmt: skip

    parallel(find, slices(m, TARGETS_AT_ONCE), n_jobs=n_jobs)
    back = np.empty(V, np.int64)
    back[order] = np.arange(V)
    return PairSums(found.sums[:, back], found.numerators[:, back], found.nearest)


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
    """log of the sums; minus infinity where there is no row of another group within reach."""
    found = sums_of_pairs(kernel, targets, group, rows, groups, weight, values, n_jobs)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        logs = np.where(found.sums > 0, np.log(found.sums), -np.inf)
        ratio = np.sqrt(found.nearest)[:, None] / values
        if kernel.kind == GAUSSIAN:
            logs -= 0.5 * np.minimum(ratio, 1e150) ** 2
        elif kernel.kind == EXPONENTIAL:
            logs -= ratio
    return logs
