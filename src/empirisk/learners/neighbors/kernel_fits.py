"""Local fits at many bandwidths: rows as they are placed, and how the work is shared out."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from empirisk.compiled.densities.local_fits import local_fits, local_weights
from empirisk.data.scaling import power_of_two
from empirisk.learners.density.bandwidth_matrix import Bandwidth
from empirisk.learners.density.kernels import Kernel
from empirisk.learners.density.pair_sums import negligible, rates_of
from empirisk.runtime.arrays import Floats, Ints
from empirisk.runtime.parallel import parallel, slices

TARGETS_AT_ONCE = 32


class LocalFits(NamedTuple):
    """Fits (targets, bandwidths, columns of y), sums of squared weights, and leverages."""

    fits: Floats
    norms: Floats
    leverages: Floats


@dataclass(frozen=True, eq=False)
class PlacedRows:
    """Training rows in units in which squares stay finite, and the factors of their columns.

    `unit` is one for each column, or one for all where columns are compared as they are.
    `factors` has a row for each group of targets: held-out rows are measured in the standard
    deviations of the rows that train.
    """

    rows: Floats
    weight: Floats
    factors: Floats
    unit: Floats | float

    @classmethod
    def of(cls, rows: Floats, weight: Floats, spreads: Floats) -> "PlacedRows":
        """Of rows whose columns are divided by `spreads`, (groups, columns)."""
        unit = power_of_two(np.abs(rows).max(axis=0, initial=0.0))
        factors = 1.0 / np.maximum(spreads / unit, 1e-140)
        return cls(rows / unit, weight, factors, unit)

    @classmethod
    def as_they_are(cls, rows: Floats, weight: Floats, groups: int) -> "PlacedRows":
        """Of rows whose columns are not divided: bandwidths are to be, by the unit."""
        unit = float(power_of_two(np.abs(rows).max(initial=0.0)))
        return cls(rows / unit, weight, np.ones((groups, rows.shape[1])), unit)

    def place(self, targets: Floats) -> Floats:
        """Targets in the unit of the rows; infinity where they are too far from tiny ones."""
        with np.errstate(over="ignore"):
            return targets / self.unit

    @classmethod
    def by_matrix(cls, rows: Floats, weight: Floats, placing: Bandwidth) -> "PlacedRows":
        """Of rows that are measured by a matrix."""
        return cls(placing.place(rows), weight, np.ones((1, rows.shape[1])), 1.0)


def fits_of(
    kernel: Kernel,
    degree: int,
    placed: PlacedRows,
    Y: Floats,
    groups: Ints | None,
    targets: Floats,
    group: Ints | None,
    values: Floats,
    n_jobs: int | None = None,
    *,
    with_norms: bool = False,
) -> LocalFits:
    """Local fits at targets, in the unit of the rows, from rows of other groups than their own.

    Norms and leverages, for standard errors, are found where they are asked for.
    """
    order = np.argsort(-values, kind="stable")
    rates = rates_of(values[order])
    m, V, K = len(targets), len(values), Y.shape[1]
    shape = (m, V) if with_norms else (0, V)
    found = LocalFits(np.empty((m, V, K)), np.empty(shape), np.empty(shape))
    groups = np.full(len(placed.rows), -1) if groups is None else groups
    group = np.zeros(m, np.int64) if group is None else group
    reach = negligible(placed.weight)

    def find(part: slice) -> None:
        local_fits(
            targets[part], group[part], placed.rows, groups, placed.factors, placed.weight, Y,
            rates, kernel.kind, reach, degree, found.fits[part], found.norms[part],
            found.leverages[part],
        )  # fmt: skip

    parallel(find, slices(m, TARGETS_AT_ONCE), n_jobs=n_jobs)
    back = np.empty(V, np.int64)
    back[order] = np.arange(V)
    return LocalFits(*(each[:, back] for each in found))


def weights_of(kernel: Kernel, placed: PlacedRows, targets: Floats) -> Floats:
    """The weights of the local mean at each target, (targets, rows), at bandwidth 1."""
    found = np.empty((len(targets), len(placed.rows)))
    local_weights(
        targets, placed.rows, placed.factors[0], placed.weight, 1.0, kernel.kind,
        negligible(placed.weight), found,
    )  # fmt: skip
    return found
