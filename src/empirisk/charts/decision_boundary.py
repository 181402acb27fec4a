"""The regions of a plane in which a classifier predicts each class."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from empirisk.charts.axes import as_written, axes, name_sides
from empirisk.runtime.arrays import Bools, Floats, Ints


def draw_regions(
    x: Floats,
    y: Floats,
    codes: Ints,
    classes: Sequence[str],
    labels: tuple[str, str],
    *,
    ax: Any = None,
) -> Any:
    """Colour the points of a grid by class code, codes[i, j] at (x[j], y[i]); boundaries black."""
    ax = axes(ax)
    colours = class_colours(len(classes))
    picture = np.array(colours)[codes]
    edges = _cell_edges(x), _cell_edges(y)
    ax.pcolormesh(*edges, picture, alpha=0.3, rasterized=True, linewidth=0)
    for k in np.unique(codes)[1:]:
        ax.contour(x, y, (codes >= k).astype(float), [0.5], colors="black", linewidths=0.8)
    ax.set_xlim(x[0], x[-1])
    ax.set_ylim(y[0], y[-1])
    name_sides(ax, labels)
    return ax


def draw_points(
    points: Floats, codes: Ints, right: Bools, classes: Sequence[str], *, ax: Any
) -> Any:
    """Rows in the colour of their class; crosses where the classifier is wrong."""
    shown = []
    for k, colour in enumerate(class_colours(len(classes))):
        white = {"edgecolors": "white", "linewidths": 0.5}
        circles, crosses = points[(codes == k) & right], points[(codes == k) & ~right]
        shown.append(ax.scatter(*circles.T, s=20, marker="o", color=[colour], **white))
        ax.scatter(*crosses.T, s=20, marker="x", color=[colour])
    # With names of their own: Matplotlib by itself leaves out such as "_a" and "".
    as_written(ax.legend(shown, classes))
    return ax


def class_colours(n: int) -> list[tuple[float, float, float]]:
    """Colours that can be told apart: those of Matplotlib's cycle, or around the circle of hues."""
    from matplotlib import colormaps

    if n <= 10:
        return [tuple(colour[:3]) for colour in colormaps["tab10"](range(n))]
    return [tuple(colour[:3]) for colour in colormaps["hsv"](np.arange(n) / n)]


def _cell_edges(centres: Floats) -> Floats:
    middle = centres[:-1] / 2 + centres[1:] / 2
    return np.r_[centres[0], middle, centres[-1]]
