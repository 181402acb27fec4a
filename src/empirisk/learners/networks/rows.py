"""The rows that a network meets, and the memory that it meets them in."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from empirisk.compiled.networks.doors import outputs, room_for_convolutions
from empirisk.learners.networks.architecture import Architecture
from empirisk.learners.networks.standardising import Standard
from empirisk.runtime.arrays import Array, Floats, Ints
from empirisk.runtime.parallel import one_blas_thread, parallel, slices

ROWS_AT_ONCE = 256  # that are taken through a network together for predictions
CHUNK = 32  # rows of a chunk, at least
MOST_CHUNKS = 4
MOST_GRADIENTS = 2**24  # numbers in the gradients of all chunks, about

Room = tuple[Array, ...]
"""gradients, values, deltas, marks, scratch, aims, shares: a row of each for each chunk."""


@dataclass(frozen=True, eq=False)
class NetworkRows:
    """X with its standard units, targets (n, outputs) in standard units or codes, and weights.

    Without columns in y the rows are their own targets.
    """

    X: Array
    standard: Standard
    y: Floats
    weight: Floats

    def __len__(self) -> int:
        return len(self.X)

    @property
    def compiled(self) -> tuple[Array, Floats, Floats, Floats, Floats]:
        """As compiled code takes them."""
        return self.X, self.standard.centre, self.standard.unit, self.y, self.weight

    def some(self, rows: Ints) -> "NetworkRows":
        """These rows alone."""
        return replace(self, X=self.X[rows], y=self.y[rows], weight=self.weight[rows])

    def targets(self) -> Floats:
        """What outputs are compared with, in standard units."""
        return self.y if self.y.shape[1] else self.standard.apply(self.X)


def number_of_chunks(batch: int, n_parameters: int) -> int:
    """Into how many chunks a batch is cut, whatever the number of threads.

    Examples
    --------
    >>> number_of_chunks(200, 10_000), number_of_chunks(16, 10_000)
    (4, 1)
    """
    most = max(1, MOST_GRADIENTS // max(n_parameters, 1))
    return max(1, min(MOST_CHUNKS, batch // CHUNK, most))


def room_for(
    architecture: Architecture, chunks: int, rows: int, n_targets: int, dtype: Any, *, back: bool
) -> Room:
    """Memory for so many chunks of so many rows; without gradients for predictions."""
    a, wide = architecture, architecture.n_rows * rows
    gradients = a.n_parameters if back else 0
    marked = wide if back else 0
    return (
        np.zeros((chunks, gradients), dtype),
        np.zeros((chunks, wide), dtype),
        np.zeros((chunks, 2, a.widest * rows if back else 0), dtype),
        np.zeros((chunks, max(marked, wide if a.has_marks else 0)), dtype),
        np.zeros((chunks, room_for_convolutions(a.table, rows)), dtype),
        np.zeros((chunks, n_targets * rows), dtype),
        np.zeros((chunks, rows), dtype),
    )


def network_outputs(
    architecture: Architecture,
    params: Array,
    X: Array,
    standard: Standard,
    *,
    n_jobs: int | None = None,
) -> Floats:
    """What the last layer gives out for each row, (n, outputs), in standard units."""
    params = np.require(params, requirements=["C", "W"])  # not so, from another process
    network = (architecture.table, architecture.rates, params)
    nothing = np.zeros((0, 0)), np.zeros(0)
    centre, unit = (np.require(each, requirements="W") for each in (standard.centre, standard.unit))
    data = (X, centre, unit, *nothing)
    to = np.empty((len(X), architecture.n_outputs), params.dtype)
    at_once = max(1, min(ROWS_AT_ONCE, 2**22 // architecture.n_rows, len(X)))

    def block(rows: slice) -> None:
        room = room_for(architecture, 1, at_once, 0, params.dtype, back=False)
        for few in slices(rows.stop - rows.start, at_once):
            numbers = np.arange(rows.start + few.start, rows.start + few.stop)
            outputs(network, data, numbers, room, -1, 0, to[numbers[0] : numbers[-1] + 1])

    with one_blas_thread():
        parallel(block, slices(len(X), 8 * at_once), n_jobs=n_jobs)
    return to.astype(float)
