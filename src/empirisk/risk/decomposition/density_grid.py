"""A grid of points with the volume around each, on which densities are integrated."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from empirisk.runtime.arrays import Floats
from empirisk.runtime.errors import ParameterError

POINTS = 4096  # in all, shared out among the features
ONE_FEATURE = 401
MOST_FEATURES = 3
TAIL = 5e-4
MARGIN = 0.25


class Grid(NamedTuple):
    """Points (T, d), and the volume that belongs to each."""

    points: Floats
    volume: Floats


def grid_of(given: Any) -> Grid:
    """The product of the coordinates given, a vector for each feature; volumes by trapezoids."""
    vectors = given if isinstance(given, list | tuple) and np.ndim(given[0]) == 1 else [given]
    axes = [np.array(axis, dtype=float) for axis in vectors]
    for axis in axes:
        if axis.ndim != 1 or len(axis) < 2 or not (np.diff(axis) > 0).all():
            raise ParameterError(
                "grid must be a vector of increasing coordinates, two or more, or a list with one "
                "such vector for each feature"
            )
    # Half of the gaps on both sides belong to a coordinate.
    widths = [np.diff(axis, prepend=axis[0], append=axis[-1]) / 2 for axis in axes]
    widths = [width[:-1] + width[1:] for width in widths]
    return Grid(_product(axes), _product(widths).prod(axis=1))


def grid_around(draws: Floats) -> Grid:
    """A grid over the bulk of some draws and a margin about it, for up to three features."""
    d = draws.shape[1]
    if d > MOST_FEATURES:
        raise ParameterError(
            f"{d} features are too many for a grid: give grid=[...], a vector for each feature"
        )
    low, high = np.quantile(draws, [TAIL, 1 - TAIL], axis=0)
    margin = MARGIN * (high - low)
    side = ONE_FEATURE if d == 1 else int(POINTS ** (1 / d) + 1e-9)
    return grid_of(list(np.linspace(low - margin, high + margin, side, axis=1)))


def _product(vectors: Sequence[Floats]) -> Floats:
    return np.stack([axis.ravel() for axis in np.meshgrid(*vectors, indexing="ij")], axis=1)
