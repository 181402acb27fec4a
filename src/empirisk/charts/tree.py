"""A binary tree as boxes and edges, without Graphviz."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from empirisk.charts.axes import as_written
from empirisk.charts.decision_boundary import class_colours
from empirisk.charts.in_points import FONT, axes_in_points, text_width
from empirisk.charts.tidy_layout import levels_of, tidy_layout
from empirisk.runtime.arrays import Floats

Direction = Literal["down", "right"]
LINE, PAD, GAP = 11.0, 5.0, 9.0  # points
BAR = 7.0  # height of the bar of the classes
BETWEEN_LEVELS = {"down": 34.0, "right": 46.0}
THICKEST = 9.0  # the edge to a child with all rows
MOST_IN_LEGEND = 20
LONGEST = 60  # characters of a class in the legend
COLOURS = "YlGnBu"  # light enough below PALE for black text
PALE = 0.55


@dataclass(frozen=True, eq=False)
class Box:
    """What a node shows.

    Attributes
    ----------
    title : list of str
        Lines in bold.
    lines : list of str
        Lines below.
    share : float
        Of all rows: the width of the edge above.
    bar : array or None
        Shares of classes.
    tone : float or None
        From 0 to 1, the colour of the box.
    name : str
        For programs that read the picture.
    """

    title: list[str]
    lines: list[str]
    share: float
    bar: Floats | None
    tone: float | None
    name: str


def draw_boxes(
    parent: Sequence[int],
    boxes: Sequence[Box],
    *,
    classes: Sequence[str] | None = None,
    direction: Direction = "down",
    ax: Any = None,
) -> Any:
    """Draw nodes in preorder; the left child, which says yes, is on the left or above.

    Text is made smaller until the tree fits into given axes; without them the figure is made as
    large as the tree.
    """
    size = np.array([_size(box) for box in boxes])
    centre, whole = _places(parent, size, direction)
    if classes is not None and (more := _legend_entry(classes) - whole[0]) > 0:
        centre, whole = centre + [more / 2, 0.0], whole + [more, 0.0]
    strip = 0.0 if classes is None else 2 * LINE * _legend_rows(classes, whole[0])
    ax, scale = axes_in_points(whole + [2 * GAP, strip + 2 * GAP], ax)
    for node in range(1, len(boxes)):
        _draw_edge(ax, node, parent, boxes, centre, size, direction, scale)
    for node, box in enumerate(boxes):
        _draw_box(ax, box, centre[node], size[node], scale)
    if classes is not None:
        _draw_legend(ax, classes, whole[0], scale)
    ax.set_xlim(-GAP, whole[0] + GAP)
    ax.set_ylim(whole[1] + GAP, -GAP - strip)  # y grows downwards
    ax.axis("off")
    return ax


def _places(parent: Sequence[int], size: Floats, direction: Direction) -> tuple[Floats, Floats]:
    """Centres of the boxes, and the size of it all."""
    across, along = (0, 1) if direction == "down" else (1, 0)
    level = levels_of(parent)
    depth = np.zeros(level.max() + 1)
    np.maximum.at(depth, level, size[:, along])
    start = np.concatenate([[0.0], np.cumsum(depth + BETWEEN_LEVELS[direction])])
    centre = np.empty((len(parent), 2))
    centre[:, across] = tidy_layout(parent, size[:, across], GAP)
    centre[:, along] = start[level] + depth[level] / 2
    return centre, (centre + size / 2).max(axis=0)


def _size(box: Box) -> tuple[float, float]:
    """Width and height of a box around its text."""
    widths = [text_width(line, "bold") for line in box.title] + [text_width(x) for x in box.lines]
    height = LINE * (len(box.title) + len(box.lines)) + (0.0 if box.bar is None else BAR + PAD)
    return max(*widths, 30.0) + 2 * PAD, height + 2 * PAD


def _draw_edge(
    ax: Any,
    node: int,
    parent: Sequence[int],
    boxes: Sequence[Box],
    centre: Floats,
    size: Floats,
    direction: Direction,
    scale: float,
) -> None:
    """From box to box, as wide as the share of the rows; the root's say yes and no."""
    above, along = parent[node], 1 if direction == "down" else 0
    start, end = centre[above].copy(), centre[node].copy()
    start[along] += size[above, along] / 2
    end[along] -= size[node, along] / 2
    width = scale * (0.5 + THICKEST * boxes[node].share)
    ax.plot(*np.transpose([start, end]), color="0.78", linewidth=width, zorder=1,
            solid_capstyle="butt")  # fmt: skip
    if above == 0:
        word = "yes" if node == 1 else "no"
        ax.text(*(start + end) / 2, word, fontsize=FONT * scale, ha="center", va="center", zorder=2)


def _draw_box(ax: Any, box: Box, centre: Floats, size: Floats, scale: float) -> None:
    from matplotlib.patches import Rectangle

    low = centre - size / 2
    frame = Rectangle(tuple(low), *size, facecolor=_face(box.tone), edgecolor="0.45",
                      linewidth=0.8 * scale, zorder=3, gid=box.name)  # fmt: skip
    ax.add_patch(frame)
    y = low[1] + PAD + LINE / 2
    for line, weight in [(t, "bold") for t in box.title] + [(t, "normal") for t in box.lines]:
        ax.text(centre[0], y, line, fontsize=FONT * scale, weight=weight, ha="center", va="center",
                parse_math=False, zorder=5)  # fmt: skip
        y += LINE
    if box.bar is None:
        return
    colours = class_colours(len(box.bar))
    edges = low[0] + PAD + (size[0] - 2 * PAD) * np.concatenate([[0.0], np.cumsum(box.bar)])
    for k in np.flatnonzero(box.bar):
        part = Rectangle((edges[k], low[1] + size[1] - PAD - BAR), edges[k + 1] - edges[k], BAR,
                         facecolor=colours[k], linewidth=0, zorder=4)  # fmt: skip
        ax.add_patch(part)


def _face(tone: float | None) -> Any:
    from matplotlib import colormaps

    return "white" if tone is None else colormaps[COLOURS](PALE * tone)


def _legend_entry(classes: Sequence[str]) -> float:
    """The width of a column of the legend."""
    return max(text_width(name) for name in _in_legend(classes)) + 5 * FONT


def _in_legend(classes: Sequence[str]) -> list[str]:
    return [
        name if len(name) <= LONGEST else name[: LONGEST - 3].rstrip() + "..."
        for name in classes[:MOST_IN_LEGEND]
    ]


def _legend_columns(classes: Sequence[str], width: float) -> int:
    most = min(len(classes), MOST_IN_LEGEND + 1)
    return max(1, min(most, int(width / _legend_entry(classes))))


def _legend_rows(classes: Sequence[str], width: float) -> int:
    shown = min(len(classes), MOST_IN_LEGEND + 1)
    return -(-shown // _legend_columns(classes, width))


def _draw_legend(ax: Any, classes: Sequence[str], width: float, scale: float) -> None:
    from matplotlib.patches import Patch

    colours = class_colours(len(classes))
    shown = [
        Patch(color=colour, label=name)
        for name, colour in zip(_in_legend(classes), colours, strict=False)
    ]
    if len(classes) > MOST_IN_LEGEND:
        shown.append(Patch(color="white", label=f"{len(classes) - MOST_IN_LEGEND} more"))
    legend = ax.legend(handles=shown, loc="upper center", ncols=_legend_columns(classes, width),
                       fontsize=FONT * scale, frameon=False, borderaxespad=0.0)  # fmt: skip
    as_written(legend)
