"""Sums of kernels over pairs of rows, at many bandwidths from one pass over the distances."""

import numpy as np

from empirisk.compiled.densities.kernels import EXPONENTIAL, GAUSSIAN
from empirisk.compiled.densities.pair_sums import pair_sums
from empirisk.learners.density.kernels import Kernel
from empirisk.runtime.arrays import Floats, Ints
from empirisk.runtime.parallel import parallel, slices

TARGETS_AT_ONCE = 64
LARGEST_RATE = 1e290
REACH = 40.0  # exp(-40) of the nearest row's kernel is below rounding


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
    with np.errstate(over="ignore"):
        rates = np.clip(values[order] ** -2.0, 1 / LARGEST_RATE, LARGEST_RATE)
    sums, nearest = np.empty((len(targets), len(values))), np.empty(len(targets))
    reach = REACH + float(np.log(weight.sum() / weight.min()))

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
