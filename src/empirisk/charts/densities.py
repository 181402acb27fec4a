"""Densities: a curve over one column, contours over two."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from empirisk.charts.axes import axes, name_sides
from empirisk.runtime.arrays import Floats

POINTS = 400
GRID = 120
MARGIN = 0.15  # of the range of the rows, on either side
LEVELS = 8
MOST_MARKS = 500  # rows that are shown


def draw_density(
    log_density: Callable[[Floats], Floats],
    x: Floats,
    *,
    names: Sequence[str],
    ax: Any = None,
) -> Any:
    """The density over the range of x and a little beyond; a mark for each of up to 500 rows."""
    ax = axes(ax)
    grid = _around(x, POINTS)
    ax.plot(grid, np.exp(log_density(grid[:, None])), color="C0")
    marks = x[:: max(1, len(x) // MOST_MARKS)]
    ax.plot(marks, np.zeros(len(marks)), "|", color="black", alpha=0.4)
    ax.set_ylim(bottom=0)
    name_sides(ax, [names[0]])
    ax.set_ylabel("density")
    return ax


def draw_density_contours(
    log_density: Callable[[Floats], Floats],
    X: Floats,
    *,
    names: Sequence[str],
    ax: Any = None,
) -> Any:
    """Contours of a density of two columns over up to 500 of the rows."""
    ax = axes(ax)
    first, second = (_around(X[:, j], GRID) for j in range(2))
    places = np.stack(np.meshgrid(first, second), axis=-1).reshape(-1, 2)
    height = np.exp(log_density(places)).reshape(GRID, GRID)
    marks = X[:: max(1, len(X) // MOST_MARKS)]
    ax.scatter(marks[:, 0], marks[:, 1], s=6, color="black", alpha=0.3)
    ax.contour(first, second, height, LEVELS)
    name_sides(ax, names)
    return ax


def _around(x: Floats, points: int) -> Floats:
    low, high = float(x.min()), float(x.max())
    margin = MARGIN * (high - low) or 1.0
    return np.linspace(low - margin, high + margin, points)
