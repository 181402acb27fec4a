"""Where a picture is drawn, and what its sides are called."""

from collections.abc import Sequence
from typing import Any

from empirisk.runtime.errors import ParameterError

MOST_BARS = 12
"""In a figure of ordinary height."""


def axes(ax: Any = None) -> Any:
    """The given axes, or those of a new figure that no window manager holds on to."""
    if ax is not None:
        if not hasattr(ax, "plot"):
            raise ParameterError(
                f"ax is {ax!r:.60}; give axes of Matplotlib, such as plt.gca(), or None"
            )
        return ax
    from matplotlib.figure import Figure  # half a second, and only pictures need it

    return Figure(figsize=(6, 4), layout="constrained").add_subplot()


def tall_axes(bars: int, inches: float, ax: Any = None) -> Any:
    """The given axes, or new ones, taller where so many bars of so many inches need it."""
    given, ax = ax, axes(ax)
    if given is not None:
        return ax
    if bars > MOST_BARS:
        ax.figure.set_figheight(1 + inches * bars)
    return ax


def name_sides(ax: Any, names: Sequence[str]) -> None:
    """The names of columns below and beside a picture, as they are: $ begins no formula."""
    for label, name in zip((ax.set_xlabel, ax.set_ylabel), names, strict=False):
        label(name, parse_math=False)


def as_written(legend: Any) -> None:
    """The names in a legend as they are: $ begins no formula."""
    for text in legend.get_texts():
        text.set_parse_math(False)
