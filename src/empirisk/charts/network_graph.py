"""The computational graph of a network: nodes, edges, and what each layer has of parameters."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from empirisk.charts.in_points import FONT, axes_in_points, text_width
from empirisk.charts.network_layout import RADIUS, Column, GraphPart, columns

LINE, GAP = 11.0, 10.0  # points
LONGEST = 24  # characters of a name of an input or output
LEAST_WINDOW = 3.0
EDGE, BIAS_EDGE = "0.62", "#d79b00"
COLOURS = {"input": "#eeeeee", "hidden": "#cfe2f3", "output": "#d9ead3", "one": "#fff2cc"}
CHANCES = ("softmax", "sigmoid", "logistic")  # activations that give probabilities


def draw_network_graph(
    parts: Sequence[GraphPart], *, inputs: Sequence[str] | None = None, ax: Any = None
) -> Any:
    """Layers from left to right, the inputs first.

    Features are nodes, of many the first five and the last; pictures and signals are stacks of
    sheets. A node 1 stands for the biases of a dense layer. Below are the shape of what a layer
    gives out, its activation, and how many parameters it has. `inputs` are names written beside
    the first nodes. Text is made smaller until the graph fits into given axes; without them the
    figure is made as large as the graph.
    """
    placed = columns(parts)
    left = min(_left(each) for each in placed) - GAP - _widest(placed[0], inputs)
    right = max(2 * each.x - _left(each) for each in placed) + GAP
    words = max(each.bottom for each in placed) + GAP
    top = min(each.top for each in placed) - GAP - 1.6 * LINE
    bottom = words + LINE * (max(len(part.lines()) for part in parts) + 1.6)
    ax, scale = axes_in_points(np.array([right - left, bottom - top]), ax)
    for before, after in pairwise(placed):
        _draw_edges(ax, before, after, scale)
    for j, each in enumerate(placed):
        _draw_column(ax, j, each, j + 1 == len(placed), scale)
        _write(ax, each.x, words, [each.part.name, *each.part.lines()], scale)
    _write_before(ax, placed[0], inputs, scale)
    total = sum(part.n_parameters for part in parts)
    ax.text((left + right) / 2, top + LINE, f"{total:,} parameters in all", fontsize=FONT * scale,
            ha="center", va="center", color="0.3")  # fmt: skip
    ax.set_xlim(left, right)
    ax.set_ylim(bottom, top)  # y grows downwards
    ax.set_aspect("equal")
    ax.axis("off")
    return ax


def _left(column: Column) -> float:
    """The least x of a layer and its words."""
    words = max(text_width(column.part.name, "bold"), *map(text_width, column.part.lines())) / 2
    stack = column.x - column.corner(column.n_sheets - 1)[0] if column.part.is_picture else RADIUS
    return column.x - max(words, stack)


def _draw_edges(ax: Any, before: Column, after: Column, scale: float) -> None:
    if before.part.is_picture and after.part.is_picture and after.part.window is not None:
        _draw_window(ax, before, after, after.part.window, scale)
    elif before.part.is_picture or after.part.is_picture:
        _draw_beam(ax, before, after, scale)
    else:
        same = after.part.kind in ("each", "flatten")
        pairs = [
            ((before.x, y), (after.x, z))
            for i, y in before.nodes.items()
            for k, z in after.nodes.items()
            if i == k or not same
        ]
        _draw_lines(ax, pairs, EDGE, scale)
        if before.one is not None:
            from_one = [((before.x, before.one), (after.x, z)) for z in after.nodes.values()]
            _draw_lines(ax, from_one, BIAS_EDGE, scale)


def _draw_lines(ax: Any, pairs: list[Any], colour: str, scale: float) -> None:
    from matplotlib.collections import LineCollection

    ax.add_collection(LineCollection(pairs, colors=colour, linewidths=0.6 * scale, zorder=1))


def _draw_window(
    ax: Any, before: Column, after: Column, window: tuple[int, int], scale: float
) -> None:
    """The window on the sheet in front, and lines to the one number that it becomes."""
    from matplotlib.patches import Rectangle

    (x, y), (width, height) = before.front, before.sheet
    sides = before.part.shape[-1], before.part.shape[-2] if len(before.part.shape) == 3 else 1
    pixel = width / sides[0], height / sides[1]
    across = min(max(window[1] * pixel[0], LEAST_WINDOW), width)
    down = min(max(window[0] * pixel[1], LEAST_WINDOW), height)
    corner = x + 0.6 * (width - across), y + 0.6 * (height - down)
    ax.add_patch(Rectangle(corner, across, down, facecolor="white", alpha=0.8, edgecolor="0.25",
                           linewidth=0.7 * scale, zorder=4))  # fmt: skip
    to = after.front[0] + 0.3 * after.sheet[0], after.front[1] + 0.5 * after.sheet[1]
    ends = [(corner[0] + across, corner[1]), (corner[0] + across, corner[1] + down)]
    ax.plot(*to, "o", color="0.25", markersize=2 * scale, zorder=5)
    for end in ends:
        ax.plot(*np.transpose([end, to]), color="0.25", linewidth=0.6 * scale, zorder=5)


def _draw_beam(ax: Any, before: Column, after: Column, scale: float) -> None:
    """All numbers of a picture to all nodes, or back."""
    from matplotlib.patches import Polygon

    (x0, low0, high0), (x1, low1, high1) = _side(before, 1), _side(after, -1)
    edges = [((x0, low0), (x1, low1)), ((x0, high0), (x1, high1))]
    corners = [*edges[0], *edges[1][::-1]]
    ax.add_patch(Polygon(corners, facecolor="0.94", linewidth=0, zorder=0))
    _draw_lines(ax, edges, EDGE, scale)


def _side(column: Column, to: int) -> tuple[float, float, float]:
    """x, and least and largest y, of the side of a layer that looks to the right, 1, or left."""
    if not column.part.is_picture:
        ys = column.nodes.values()
        return column.x + to * RADIUS / 2, min(ys) - RADIUS, max(ys) + RADIUS
    x, y = column.front
    return x + (column.sheet[0] if to == 1 else 0.0), y, y + column.sheet[1]


def _draw_column(ax: Any, j: int, column: Column, last: bool, scale: float) -> None:
    from matplotlib.patches import Rectangle

    role = "input" if column.part.kind == "input" else "output" if last else "hidden"
    for i in range(column.n_sheets):
        sheet = Rectangle(column.corner(i), *column.sheet, facecolor=COLOURS[role], edgecolor="0.4",
                          linewidth=0.7 * scale, zorder=3, gid=f"sheet {j} {i}")  # fmt: skip
        ax.add_patch(sheet)
    letter = _letter(column.part, role)
    for k, y in column.nodes.items():
        alone = len(column.nodes) == 1 and role == "output"
        word = f"${letter}$" if alone else f"${letter}_{{{k + 1}}}$"
        _draw_node(ax, column.x, y, COLOURS[role], word, f"node {j} {k}", scale)
    if column.dots is not None:
        ax.text(column.x, column.dots, "⋮", fontsize=1.6 * FONT * scale, ha="center", va="center")
    if column.one is not None:
        _draw_node(ax, column.x, column.one, COLOURS["one"], "1", f"one {j}", scale)


def _letter(part: GraphPart, role: str) -> str:
    """x goes in, z is between, y or the probabilities p come out."""
    if role == "output":
        return "p" if part.activation in CHANCES else "y"
    return "x" if role == "input" else "z"


def _draw_node(
    ax: Any, x: float, y: float, colour: str, word: str, name: str, scale: float
) -> None:
    from matplotlib.patches import Circle

    ax.add_patch(Circle((x, y), RADIUS, facecolor=colour, edgecolor="0.4", linewidth=0.8 * scale,
                        zorder=3, gid=name))  # fmt: skip
    size = FONT if len(word) <= 8 else 0.75 * FONT  # four digits and more
    ax.text(x, y, word, fontsize=size * scale, ha="center", va="center", zorder=4)


def _write(ax: Any, x: float, y: float, lines: list[str], scale: float) -> None:
    for i, line in enumerate(lines):
        ax.text(x, y + LINE * (i + 0.5), line, fontsize=FONT * scale, ha="center", va="center",
                weight="bold" if i == 0 else "normal", parse_math=False)  # fmt: skip


def _short(name: str) -> str:
    return name if len(name) <= LONGEST else name[: LONGEST - 3].rstrip() + "..."


def _widest(column: Column, names: Sequence[str] | None) -> float:
    """Points that the names before the nodes take."""
    if names is None or not column.nodes:
        return 0.0
    return max(text_width(_short(names[k])) for k in column.nodes) + RADIUS


def _write_before(ax: Any, column: Column, names: Sequence[str] | None, scale: float) -> None:
    if names is None:
        return
    for k, y in column.nodes.items():
        ax.text(column.x - RADIUS - 4, y, _short(names[k]), fontsize=FONT * scale,
                ha="right", va="center", parse_math=False)  # fmt: skip
