"""Where a picture is drawn, and what its sides are called."""

from collections.abc import Sequence
from typing import Any


def axes(ax: Any = None) -> Any:
    """The given axes, or those of a new figure that no window manager holds on to."""
    if ax is not None:
        return ax
    from matplotlib.figure import Figure  # half a second, and only pictures need it

    return Figure(figsize=(6, 4), layout="constrained").add_subplot()


def name_sides(ax: Any, names: Sequence[str]) -> None:
    """The names of columns below and beside a picture, as they are: $ begins no formula."""
    for label, name in zip((ax.set_xlabel, ax.set_ylabel), names, strict=False):
        label(name).set_parse_math(False)
