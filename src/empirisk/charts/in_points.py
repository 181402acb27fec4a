"""Pictures that are laid out in points, around text of a known size."""

from typing import Any

import numpy as np

from empirisk.charts.axes import axes
from empirisk.runtime.arrays import Floats

FONT = 8.0  # points
LARGEST = 1.5  # times the size of the text, in axes with much room


def text_width(text: str, weight: str = "normal") -> float:
    """Points that a line of text takes."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    font = FontProperties(size=FONT, weight=weight)
    width, _, _ = text_to_path.get_text_width_height_descent(text, font, ismath=False)
    return 1.06 * float(width)  # pixels are whole on a screen


def axes_in_points(size: Floats, ax: Any) -> tuple[Any, float]:
    """Axes for a picture of so many points, and by what its text is scaled to fit into them.

    Without given axes the figure is made as large as the picture.
    """
    if ax is None:
        from matplotlib.figure import Figure

        return Figure(figsize=tuple(size / 72)).add_axes((0, 0, 1, 1)), 1.0
    ax = axes(ax)
    ax.figure.draw_without_rendering()  # a layout engine gives the axes their place
    room = ax.get_window_extent()
    scale = min(np.array([room.width, room.height]) / ax.figure.dpi / (size / 72))
    return ax, float(min(scale, LARGEST))
