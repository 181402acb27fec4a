"""Sums of kernels over rows that are put in leaves: what is far is passed over leaf by leaf."""

from collections.abc import Callable
from typing import NamedTuple, TypeVar

import numpy as np

from empirisk.compiled.densities.leaf_sums import group_sums
from empirisk.compiled.densities.leaves import cut_into_leaves, leaf_boxes
from empirisk.runtime.arrays import Floats, Ints
from empirisk.runtime.parallel import number_of_workers, parallel, slices

T = TypeVar("T")

LARGEST_LEAF = 64
BLOCKS = 16


class Leaves(NamedTuple):
    """Rows, leaf by leaf."""

    rows: Floats
    order: Ints
    ends: Ints

    @classmethod
    def of(cls, rows: Floats) -> "Leaves":
        order = np.empty(len(rows), np.int64)
        ends = np.empty(2 * (len(rows) // LARGEST_LEAF + 1), np.int64)
        if rows.shape[1] == 1:
            order = np.argsort(rows[:, 0], kind="stable")
            starts = np.arange(LARGEST_LEAF, len(rows) + LARGEST_LEAF, LARGEST_LEAF)
            ends = np.minimum(starts, len(rows))
        else:
            ends = ends[: cut_into_leaves(rows, LARGEST_LEAF, order, ends)]
        return cls(rows[order], order, ends)


class LeafSums:
    """Sums over rows in leaves: any kernel, any number of columns, any distance.

    Parameters
    ----------
    rows : array of shape (n, d)
    weight : array of shape (n,)
    kind, shape : the kernel's number and constant
    rate : float
        What squared distances are multiplied by: 1 / h^2.
    tolerance : float
        Relative.
    """

    def __init__(
        self, rows: Floats, weight: Floats, kind: int, shape: float, rate: float, tolerance: float
    ) -> None:
        leaves = Leaves.of(rows)
        self.columns, self.ends = np.ascontiguousarray(leaves.rows.T), leaves.ends
        self.weight = weight[leaves.order]
        self.lows = np.empty((rows.shape[1], len(self.ends)))
        self.highs = np.empty_like(self.lows)
        leaf_boxes(self.columns, self.ends, self.lows, self.highs)
        self.kind, self.shape, self.rate, self.tolerance = kind, shape, rate, tolerance

    def logs(self, targets: Floats, n_jobs: int | None = None) -> Floats:
        """log of the sum at each target; minus infinity where it is not positive."""
        groups = Leaves.of(targets)
        found = np.empty(len(targets))

        def find(part: slice) -> None:
            group_sums(
                groups.rows, groups.ends, self.columns, self.ends, self.lows, self.highs,
                self.weight, self.kind, self.shape, self.rate, self.tolerance, part.start,
                part.stop, found,
            )  # fmt: skip

        shared(find, slices(len(groups.ends), -(-len(groups.ends) // BLOCKS)), n_jobs)
        logs = np.empty(len(targets))
        logs[groups.order] = found
        return logs


def shared(function: Callable[[slice], T], parts: list[slice], n_jobs: int | None) -> list[T]:
    """The parts in threads; by itself where there is one."""
    if len(parts) == 1 or number_of_workers(n_jobs) == 1:
        return [function(part) for part in parts]
    return parallel(function, parts, n_jobs=n_jobs)
