"""Estimates side by side, each a point with its interval."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from empirisk.charts.axes import axes


def draw_intervals(
    names: Sequence[str],
    values: Sequence[float],
    intervals: Sequence[tuple[float, float] | None],
    *,
    label: str = "risk",
    ax: Any = None,
) -> Any:
    """A row for each name, the first on top; an open point has no interval."""
    ax = axes(ax)
    height = np.arange(len(names))[::-1]
    for y, value, ends in zip(height, values, intervals, strict=True):
        if ends is not None:
            ax.plot(ends, (y, y), color="C0", linewidth=2)
        ax.plot(value, y, "o", color="C0", fillstyle="none" if ends is None else "full")
    ax.set_yticks(height, labels=list(names), parse_math=False)
    ax.set_xlabel(label, parse_math=False)
    ax.margins(y=0.2)
    return ax
