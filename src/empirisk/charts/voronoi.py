"""A plane cut into the cells in which one of several points is the nearest."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.spatial import Voronoi

from empirisk.charts.axes import axes, name_sides
from empirisk.runtime.arrays import Floats

FAR = 20.0  # ranges of the points: cells that go on for ever end there


def voronoi_cells(points: Floats) -> list[Floats]:
    """The corners of the cell of each of several different points of the plane, in order around it.

    Examples
    --------
    >>> left, right = voronoi_cells(np.array([[0.0, 0.0], [2.0, 0.0]]))
    >>> float(left[:, 0].max().round(9)), float(right[:, 0].min().round(9))
    (1.0, 1.0)
    """
    middle = (points.max(axis=0) + points.min(axis=0)) / 2
    size = float(np.ptp(points, axis=0).max()) or 1.0
    angles = np.arange(8) * np.pi / 4
    around = 4 * FAR * np.column_stack([np.cos(angles), np.sin(angles)])
    found = Voronoi(np.concatenate([(points - middle) / size, around]))
    cells = []
    for region in found.point_region[: len(points)]:
        corners = found.vertices[found.regions[region]]
        from_inside = corners - corners.mean(axis=0)
        order = np.argsort(np.arctan2(from_inside[:, 1], from_inside[:, 0]))
        cells.append(corners[order] * size + middle)
    return cells


def draw_cells(
    cells: Sequence[Floats],
    colours: Sequence[Any],
    window: Floats,
    names: tuple[str, str],
    *,
    ax: Any = None,
) -> Any:
    """Polygons in their colours, as far as the window [[low], [high]] shows them."""
    from matplotlib.collections import PolyCollection

    ax = axes(ax)
    ax.add_collection(
        PolyCollection(list(cells), facecolors=list(colours), edgecolors="0.4", linewidths=0.5)
    )
    ax.set_xlim(*window[:, 0])
    ax.set_ylim(*window[:, 1])
    name_sides(ax, names)
    return ax
