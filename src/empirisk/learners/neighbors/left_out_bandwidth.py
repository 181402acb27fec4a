"""The bandwidth of least squared error of rows left out, on a grid that finds its own ends."""

from collections.abc import Callable

import numpy as np

from empirisk.learners.density.bandwidth_of_rule import bandwidth_grid
from empirisk.learners.density.kernels import Kernel
from empirisk.learners.neighbors.kernel_fits import PlacedRows, fits_of
from empirisk.runtime.arrays import Floats, Ints

EQUAL = 1e-12  # a difference by rounding
SETTLED = (
    1e-6  # a risk that falls by a smaller part of itself along a whole grid is that of its end
)
MOST_GRIDS = 8  # each at least 20 times as wide as the one before, so that all is said long before


def left_out_bandwidth(
    kernel: Kernel,
    degree: int,
    rows: Floats,
    weight: Floats,
    Y: Floats,
    spreads: Floats,
    n_jobs: int | None,
) -> float:
    """In standard deviations; rows that are equal are left out together.

    From a twentieth of Scott's to twice the spread of the rows, and on at either end while the risk
    still falls there: where the truth is a line, or a constant, every bandwidth is too narrow, and
    of rows without noise it is too wide.
    """
    groups = np.unique(rows, axis=0, return_inverse=True)[1].reshape(-1).astype(np.int64)
    if not groups.any():
        return 1.0  # all rows are equal: every bandwidth gives the same
    distinct = int(groups.max()) + 1
    alone = PlacedRows.of(rows, weight, spreads[None])
    wide = np.broadcast_to(alone.factors, (distinct, rows.shape[1])).copy()
    placed = PlacedRows(alone.rows, weight, wide, alone.unit)
    Y = Y / (float(np.abs(Y).max()) or 1.0)

    def risks(values: Floats) -> Floats:
        found = fits_of(kernel, degree, placed, Y, groups, placed.rows, groups, values, n_jobs)
        squares = ((found.fits - Y[:, None]) ** 2).sum(axis=2)
        return np.asarray(weight @ squares / weight.sum())

    grid = bandwidth_grid(kernel, rows / spreads, weight, distinct)
    return least_along(risks, np.array(grid))


def least_along(risks: Callable[[Floats], Floats], values: Floats) -> float:
    """The value of least risk, the largest of equals.

    Values go on in their ratio beyond an end where the risk is least. Where it settles without a
    least one, the value nearest to the first ones is taken at which it has.

    Examples
    --------
    >>> least_along(lambda values: (np.log2(values) - 5.0) ** 2, np.array([1.0, 2.0, 4.0]))
    32.0
    >>> least_along(lambda values: 1.0 + values**-2.0, np.array([1.0, 2.0, 4.0]))
    1024.0
    """
    ratio, found = (values[-1] / values[0]) ** (1 / (len(values) - 1)), risks(values)
    steps, slack, place = ratio ** np.arange(1.0, len(values) + 1), EQUAL, -1
    for _ in range(MOST_GRIDS):
        best = _least(found, EQUAL)[-1]
        if 0 < best < len(values) - 1:
            break
        wider = best > 0
        further = values[-1] * steps if wider else values[0] / steps[::-1]
        beyond = risks(further)
        if not beyond.min() < found[best] * (1 - SETTLED):
            break
        slack, place = SETTLED, 0 if wider else -1
        values = np.concatenate([values, further] if wider else [further, values])
        found = np.concatenate([found, beyond] if wider else [beyond, found])
    return float(values[_least(found, slack)[place]])


def _least(risk: Floats, slack: float) -> Ints:
    """Places of risks that are the least one, but for a part of it."""
    return np.flatnonzero(risk <= risk.min() * (1 + slack))
