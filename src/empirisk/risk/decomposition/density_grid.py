"""A grid of points with the volume around each, on which densities are integrated."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from empirisk.runtime.arrays import Floats
from empirisk.runtime.errors import ParameterError
from empirisk.runtime.scalars import real_numbers

POINTS = 4096  # in all, shared out among several features
ONE_FEATURE = 401  # evenly spaced; as many follow the draws, and as many lie about them
REACH = 3.0  # how far about the draws, in their range, and from which part of that on
NEAREST = 1e-7
MOST_FEATURES = 3
TAIL = 5e-4
MARGIN = 0.25
MOST_MASS, LEAST_MASS = 1.05, 0.98
HALF = 0.5  # of the mass: on a default grid of several features, heavy tails have less
COARSE = 0.05


class Grid(NamedTuple):
    """Points (T, d), the volume that belongs to each, and the coordinates along each feature."""

    points: Floats
    volume: Floats
    axes: list[Floats]


def grid_of(given: Any) -> Grid:
    """The product of the coordinates given, a vector for each feature; volumes by trapezoids."""
    several = isinstance(given, list | tuple) and len(given) and np.ndim(given[0]) == 1
    axes = [real_numbers(axis, "grid") for axis in (given if several else [given])]
    for axis in axes:
        increasing = axis.ndim == 1 and len(axis) >= 2 and (np.diff(axis) > 0).all()
        if not (increasing and np.isfinite(axis).all()):
            raise ParameterError(
                "grid must be a vector of increasing finite coordinates, two or more, or a list "
                "with one such vector for each feature"
            )
    return _of_axes(axes)


def _of_axes(axes: list[Floats]) -> Grid:
    # Half of the gaps on both sides belong to a coordinate.
    widths = [np.diff(axis, prepend=axis[0], append=axis[-1]) / 2 for axis in axes]
    widths = [width[:-1] + width[1:] for width in widths]
    return Grid(_product(axes), _product(widths).prod(axis=1), axes)


def mass_in_words(grid: Grid, density: Floats, *, chosen: bool) -> str:
    """The mass of a density on a grid, and what is wrong where it cannot be seen there.

    Of a grid that the user has `chosen`, a part of the density may be enough.
    """
    mass = float(grid.volume @ density)
    if not (0 if chosen else HALF) < mass <= MOST_MASS:
        raise ParameterError(
            f"the density has {100 * mass:.3g} % of its mass on the grid: give a grid=[...] where "
            "it is, with coordinates that are closer where it is high"
        )
    words = f"{100 * mass:.3g} % of the mass"
    if mass < LEAST_MASS:
        words += ", the integrals without the rest"
    every_other = tuple(slice(None, None, 2) for _ in grid.axes)
    some = density.reshape([len(axis) for axis in grid.axes])[every_other].ravel()
    coarse = _of_axes([axis[::2] for axis in grid.axes]).volume @ np.square(some)
    change = abs(float(coarse / (grid.volume @ np.square(density))) - 1)
    if change > COARSE:
        words += (
            f"; too coarse, or the squared density has no finite integral: with every other "
            f"coordinate that changes by {100 * change:.2g} %"
        )
    return words


def bulk(x: Floats, density: Floats) -> tuple[float, float]:
    """Where nearly all of the mass on increasing x lies, with a margin."""
    cumulated = np.cumsum(_of_axes([x]).volume * density)
    inside = np.searchsorted(cumulated, [TAIL * cumulated[-1], (1 - TAIL) * cumulated[-1]])
    low, high = (float(end) for end in x[inside])
    margin = MARGIN * (high - low)
    return max(low - margin, float(x[0])), min(high + margin, float(x[-1]))


def grid_around(draws: Floats) -> Grid:
    """A grid over the bulk of some draws and a margin about it, for up to three features.

    That of one feature also has the quantiles of the draws, for peaks and tails, and coordinates
    about the draws in all distances, for estimates that are wider than the density.
    """
    d = draws.shape[1]
    if d > MOST_FEATURES:
        raise ParameterError(
            f"{d} features are too many for a grid: give grid=[...], a vector for each feature"
        )
    low, high = np.quantile(draws, [TAIL, 1 - TAIL], axis=0)
    margin = MARGIN * (high - low)
    side = ONE_FEATURE if d == 1 else int(POINTS ** (1 / d) + 1e-9)
    even = np.linspace(low - margin, high + margin, side, axis=1)
    if d > 1:
        return _of_axes(list(even))
    levels = np.linspace(0, 1, ONE_FEATURE)
    x = draws[:, 0]
    near = [np.quantile(some, levels) for some in (x, _scattered(x))]
    return _of_axes([np.unique(np.concatenate([even[0], *near, *_beyond(x)]))])


def _beyond(draws: Floats) -> tuple[Floats, Floats]:
    """From close to the outermost draws to far away: the density may jump there."""
    steps = REACH * np.ptp(draws) * np.geomspace(NEAREST, 1, ONE_FEATURE // 4)
    return draws.min() - steps, draws.max() + steps


def _scattered(draws: Floats) -> Floats:
    """Each draw moved up or down by a distance, of every order of magnitude equally many."""
    i = np.arange(len(draws))
    order = np.modf(i * (np.sqrt(5) - 1) / 2)[0]  # golden section: even, and without chance
    distance = REACH * np.ptp(draws) * NEAREST**order
    return draws + np.where(i % 2 == 0, distance, -distance)


def _product(vectors: Sequence[Floats]) -> Floats:
    return np.stack([axis.ravel() for axis in np.meshgrid(*vectors, indexing="ij")], axis=1)
