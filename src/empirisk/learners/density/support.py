"""A density on a part of the line, or on a box: kernels are reflected at its sides.

The mass that a kernel has beyond a side of the support is put back by adding the kernel of the
mirror image of the row (Schuster 1985). The estimate is zero outside the support, integrates to one
on it, and is flat at its sides: where the density rises or falls there, the bias is of order h.
"""

from typing import Any, NamedTuple

import numpy as np

from empirisk.runtime.arrays import Bools, Floats, Ints
from empirisk.runtime.errors import DataError, ParameterError

MOST_IMAGES = 20  # of a row, on either side


class Images(NamedTuple):
    """Rows and their mirror images, and which row each is the image of; all for no images."""

    rows: Floats
    origin: Ints | slice


def checked_support(support: Any, d: int) -> Floats | None:
    """(d, 2) array of the ends of each column; infinite where there is none.

    Examples
    --------
    >>> checked_support((0, None), 1)
    array([[ 0., inf]])
    """
    if support is None:
        return None
    try:
        sides = [support] if d == 1 and len(support) == 2 else support
        ends = np.array([_no_ends(side) for side in sides], dtype=np.float64)
    except (TypeError, ValueError):
        ends = np.empty(0)
    if ends.shape != (d, 2) or np.isnan(ends).any() or not (ends[:, 0] < ends[:, 1]).all():
        raise ParameterError(
            f"support is {support!r:.60}; give (low, high) for each of {d} columns, low < high, "
            "None where there is no end"
        )
    return ends


def _no_ends(side: Any) -> list[Any]:
    """None becomes an infinity, or two."""
    low, high = (None, None) if side is None else side
    return [-np.inf if low is None else low, np.inf if high is None else high]


def inside(rows: Floats, ends: Floats) -> Bools:
    """Whether each row lies in the support."""
    return np.asarray(((rows >= ends[:, 0]) & (rows <= ends[:, 1])).all(axis=1))


def refuse_outside(rows: Floats, ends: Floats) -> None:
    """Raise a DataError where rows lie outside of the support."""
    outside = np.flatnonzero(~inside(rows, ends))
    if len(outside):
        raise DataError(
            f"{len(outside)} rows lie outside of the support, first {rows[outside[0]].tolist()}: "
            "give a support that holds all rows"
        )


def reflected(rows: Floats, ends: Floats, reach: Floats) -> Images:
    """Rows with their images within `reach` (one for each column) of the support."""
    found, origin = rows, np.arange(len(rows))
    for j, (low, high) in enumerate(ends):
        found, origin = _reflected_column(found, origin, j, low, high, float(reach[j]))
    return Images(found, origin)


def _reflected_column(
    rows: Floats, origin: Ints, j: int, low: float, high: float, reach: float
) -> tuple[Floats, Ints]:
    x, pieces, origins = rows[:, j], [rows], [origin]
    width = high - low
    if np.isfinite(width) and reach > MOST_IMAGES * width:
        raise ParameterError(
            f"the bandwidth is too large for a support of width {width:.4g} in column {j}: give a "
            "smaller one"
        )
    for image in _images(x, low, high, reach):
        close = (image >= low - reach) & (image <= high + reach)
        if close.any():
            piece = rows[close].copy()
            piece[:, j] = image[close]
            pieces.append(piece)
            origins.append(origin[close])
    return np.concatenate(pieces), np.concatenate(origins)


def widest_bandwidth(support: Any, d: int, reach: float) -> float:
    """The largest bandwidth that is taken with a support, where kernels reach so many of them."""
    ends = checked_support(support, d)
    if ends is None:
        return np.inf
    return float(np.min(ends[:, 1] - ends[:, 0])) * MOST_IMAGES / reach


def _images(x: Floats, low: float, high: float, reach: float) -> list[Floats]:
    """Mirror images of a column: one at a single side, many between two of them."""
    if np.isfinite(low) and np.isfinite(high):
        period = 2 * (high - low)
        times = range(-int(reach // period) - 1, int(reach // period) + 2)
        shifted = [x + k * period for k in times if k != 0]
        return shifted + [2 * low - x + k * period for k in times]
    if np.isfinite(low):
        return [2 * low - x]
    return [2 * high - x] if np.isfinite(high) else []
