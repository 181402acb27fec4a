"""Where the layers of a network are in its picture: columns of nodes and stacks of sheets.

Lengths are in points; x grows to the right, y downwards, and the middle of all columns is y = 0.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from empirisk.charts.in_points import text_width

Kind = Literal["input", "dense", "convolution", "pool", "flatten", "each"]

MOST_NODES = 10  # of a layer; of more the first five and the last are drawn
FIRST_NODES = 5
MOST_SHEETS = 8
RADIUS, STEP = 10.5, 26.0  # of a node, and from node to node
LARGEST_SHEET, LEAST_SHEET = 76.0, 7.0  # the longer side of the largest picture, the least side
SHIFT = 4.0  # from sheet to sheet
BETWEEN = 46.0  # columns
PAD = 6.0  # beside text


@dataclass(frozen=True)
class GraphPart:
    """A layer as the picture shows it.

    Attributes
    ----------
    name : str
        Such as "Dense".
    shape : tuple of int
        Of what it gives out: (features,), (channels, length) or (channels, height, width).
    n_parameters : int
    activation : str
        "" without one.
    kind : {"input", "dense", "convolution", "pool", "flatten", "each"}
        What it does with what comes in; "each" takes number by number, as dropout.
    bias : bool
        Whether a number is added to each of its sums: a node 1 is drawn before a dense layer.
    window : (height, width) or None
        Of a convolution or pooling.
    """

    name: str
    shape: tuple[int, ...]
    n_parameters: int = 0
    activation: str = ""
    kind: Kind = "dense"
    bias: bool = False
    window: tuple[int, int] | None = None

    @property
    def is_picture(self) -> bool:
        """Drawn as sheets, one for each channel."""
        return len(self.shape) > 1

    def lines(self) -> list[str]:
        """What is said below: shape, activation, parameters."""
        count = f"{self.n_parameters:,} parameter{'s' if self.n_parameters != 1 else ''}"
        sides = " x ".join(f"{side:,}" for side in self.shape)
        lines = [sides, self.activation, count if self.n_parameters else ""]
        return [line for line in lines if line]


@dataclass(frozen=True)
class Column:
    """A layer at its place.

    Attributes
    ----------
    part : GraphPart
    x : float
        Its middle.
    nodes : dict of int to float
        Number of a node, from 0, and its y; empty for a picture.
    dots : float or None
        y of the ellipsis.
    one : float or None
        y of the node 1, which gives the next layer its biases.
    sheet : (float, float)
        Width and height of a picture.
    n_sheets : int
    """

    part: GraphPart
    x: float
    nodes: dict[int, float]
    dots: float | None
    one: float | None
    sheet: tuple[float, float]
    n_sheets: int

    @property
    def top(self) -> float:
        """Least y."""
        if not self.part.is_picture:
            return (min(self.nodes.values()) if self.one is None else self.one) - RADIUS
        return -(self.sheet[1] + SHIFT * (self.n_sheets - 1)) / 2

    @property
    def bottom(self) -> float:
        """Largest y."""
        return -self.top if self.part.is_picture else max(self.nodes.values()) + RADIUS

    def corner(self, i: int) -> tuple[float, float]:
        """Least x and least y of sheet i; the last one is in front, below on the left."""
        depth = SHIFT * (self.n_sheets - 1)
        left = self.x - (self.sheet[0] + depth) / 2
        return left + depth - SHIFT * i, self.top + SHIFT * i

    @property
    def front(self) -> tuple[float, float]:
        """The corner of the sheet in front."""
        return self.corner(self.n_sheets - 1)


def columns(parts: Sequence[GraphPart]) -> list[Column]:
    """All layers at their places, from left to right."""
    sides = [max(part.shape[1:]) for part in parts if part.is_picture]
    scale = LARGEST_SHEET / max(sides, default=1)
    placed, x = [], 0.0
    for j, part in enumerate(parts):
        after = parts[j + 1] if j + 1 < len(parts) else None
        fed = after is not None and after.kind == "dense" and after.bias
        width = width_of(part, scale)
        placed.append(column(part, x + width / 2, scale, fed and not part.is_picture))
        x += width + BETWEEN
    return placed


def column(part: GraphPart, x: float, scale: float, with_one: bool) -> Column:
    """A layer with its middle at x."""
    if part.is_picture:
        n = min(part.shape[0], MOST_SHEETS)
        return Column(part, x, {}, None, None, sheet_size(part, scale), n)
    n = part.shape[0]
    numbers: list[int | None] = list(range(n))
    if n > MOST_NODES:
        numbers = [*range(FIRST_NODES), None, n - 1]
    ys = [STEP * (i - (len(numbers) - 1) / 2) for i in range(len(numbers))]
    nodes = {k: y for k, y in zip(numbers, ys, strict=True) if k is not None}
    dots = ys[FIRST_NODES] if n > MOST_NODES else None
    return Column(part, x, nodes, dots, ys[0] - STEP if with_one else None, (0.0, 0.0), 0)


def sheet_size(part: GraphPart, scale: float) -> tuple[float, float]:
    """Width and height of a picture; a signal is one pixel high."""
    width, height = part.shape[-1], part.shape[-2] if len(part.shape) == 3 else 1
    return max(scale * width, LEAST_SHEET), max(scale * height, LEAST_SHEET)


def width_of(part: GraphPart, scale: float) -> float:
    """Of a layer with the words below it."""
    words = [text_width(line) for line in part.lines()]
    widest = max(text_width(part.name, "bold"), *words) + 2 * PAD - BETWEEN / 2
    if not part.is_picture:
        return max(2 * RADIUS, widest)
    n = min(part.shape[0], MOST_SHEETS)
    return max(sheet_size(part, scale)[0] + SHIFT * (n - 1), widest)
