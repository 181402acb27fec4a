"""A plane cut into rectangles, each with a colour: the partition of a tree."""

from collections.abc import Sequence
from textwrap import wrap
from typing import Any, NamedTuple

import numpy as np

from empirisk.charts.axes import axes
from empirisk.runtime.arrays import Array, Floats

MOST_NUMBERS = 40  # splits with a number beside them: the first ones
SMALL = 8.0  # points: text in rectangles and beside splits
LETTER, MOST_LINES = 6.5, 2  # points and lines of the names of axes
COLOURS = "viridis"
CIRCLE = {"boxstyle": "circle,pad=0.15", "facecolor": "white", "linewidth": 0.5}


class SplitLine(NamedTuple):
    """A split of the plane: the `order`-th, at a value of one axis, between two of the other."""

    order: int
    axis: int
    at: float
    low: float
    high: float


def draw_rectangles(
    low: Floats,
    high: Floats,
    colours: Sequence[Any],
    texts: Sequence[str],
    window: Floats,
    names: tuple[str, str],
    *,
    ax: Any = None,
) -> Any:
    """Rectangles from corners low to high, (m, 2), as far as the window [[low], [high]] shows them.

    Text is written where its rectangle has room for it.
    """
    from matplotlib.patches import Rectangle

    ax = axes(ax)
    ax.set_xlim(*window[:, 0])
    ax.set_ylim(*window[:, 1])
    room = _inches(ax)
    low, high = np.clip(low, *window), np.clip(high, *window)
    for a, b, colour, text in zip(low, high, colours, texts, strict=True):
        if not (b > a).all():
            continue
        ax.add_patch(Rectangle(tuple(a), *(b - a), facecolor=colour, linewidth=0, zorder=0))
        width, height = (b - a) / (window[1] - window[0]) * room
        if width > 0.7 * SMALL * len(text) / 72 + 0.1 and height > 1.6 * SMALL / 72:
            ax.text(*_corner(a, b, window, room), text, fontsize=SMALL, parse_math=False,
                    zorder=4, ha="left", va="bottom", clip_on=True)  # fmt: skip
    for k, set_label in enumerate((ax.set_xlabel, ax.set_ylabel)):
        set_label(_label(names[k], room[k])).set_parse_math(False)
    return ax


def draw_dates(axis: Any) -> None:
    """Days since 1970-01-01 along an axis, as dates."""
    from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

    locator = AutoDateLocator(maxticks=6)
    axis.set_major_locator(locator)
    axis.set_major_formatter(ConciseDateFormatter(locator))


def draw_split_lines(lines: Sequence[SplitLine], window: Floats, *, ax: Any) -> Any:
    """Earlier splits are thicker; the first ones have their number beside them."""
    last = max([line.order for line in lines], default=1)
    for line in lines:
        other = 1 - line.axis
        ends = np.clip([line.low, line.high], *window[:, other])
        inside = window[0, line.axis] < line.at < window[1, line.axis]
        if not inside or ends[0] == ends[1]:
            continue
        points = np.empty((2, 2))
        points[:, line.axis], points[:, other] = line.at, ends
        width = 0.7 + 1.3 * (1 - (line.order - 1) / max(last - 1, 1))
        ax.plot(*points.T, color="black", linewidth=width, zorder=2, solid_capstyle="butt")
        if line.order <= MOST_NUMBERS:
            ax.text(*points.mean(axis=0), str(line.order), fontsize=SMALL - 1, zorder=5,
                    ha="center", va="center", bbox=CIRCLE)  # fmt: skip
    return ax


def draw_valued_points(points: Floats, values: Floats, norm: Any, *, ax: Any) -> Any:
    """Rows of a regression in the colour of their value."""
    ax.scatter(*points.T, c=values, cmap=COLOURS, norm=norm, s=16, edgecolors="white",
               linewidths=0.5, zorder=3)  # fmt: skip
    return ax


def value_colours(values: Floats, among: Floats) -> tuple[Any, list[Any]]:
    """The scale of colours of all numbers, and those of some of them, pale."""
    from matplotlib import colormaps
    from matplotlib.colors import Normalize

    low, high = float(np.min(among)), float(np.max(among))
    norm = Normalize(low, high if high > low else low + (abs(low) or 1.0))
    return norm, [(*colormaps[COLOURS](norm(value))[:3], 0.45) for value in values]


def draw_colour_bar(norm: Any, label: str, *, ax: Any) -> None:
    """The scale of colours beside the axes."""
    from matplotlib.cm import ScalarMappable

    ax.figure.colorbar(ScalarMappable(norm, COLOURS), ax=ax, label=label)


def draw_true_contours(x: Floats, y: Floats, truth: Array, *, classes: bool, ax: Any) -> Any:
    """Dashed: lines of equal truth[i, j] at (x[j], y[i]), or the borders of class codes."""
    if classes:
        for k in np.unique(truth)[1:]:
            ax.contour(x, y, (truth >= k).astype(float), [0.5], colors="black",
                       linestyles="dashed", linewidths=1.2, zorder=2.5)  # fmt: skip
        return ax
    if truth.max() > truth.min():
        lines = ax.contour(x, y, truth, 7, colors="0.25", linestyles="dashed", linewidths=1,
                           zorder=2.5)  # fmt: skip
        ax.clabel(lines, fontsize=SMALL - 1)
    return ax


def _label(name: str, room: float) -> str:
    """A name on as many lines as a label may have; what is left out of it is marked."""
    lines = wrap(name, max(int(room * 72 / LETTER), 10)) or [name]
    if len(lines) > MOST_LINES:
        lines = [*lines[: MOST_LINES - 1], lines[MOST_LINES - 1][:-3] + "..."]
    return "\n".join(lines)


def _inches(ax: Any) -> Floats:
    """Width and height of the axes."""
    ax.figure.draw_without_rendering()  # a layout engine gives the axes their place
    room = ax.get_window_extent()
    return np.array([room.width, room.height]) / ax.figure.dpi


def _corner(low: Floats, high: Floats, window: Floats, room: Floats) -> Floats:
    """A little inside the lower left corner."""
    return low + np.minimum(0.07 / room * (window[1] - window[0]), (high - low) / 4)
