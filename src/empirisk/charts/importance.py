"""Importances of features as bars, the first on top, each with its interval."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from empirisk.charts.axes import tall_axes
from empirisk.runtime.arrays import Floats

INCHES = 0.28  # for a bar


def draw_importance(
    names: Sequence[str], values: Floats, intervals: Floats, *, label: str, ax: Any = None
) -> Any:
    """A bar for each name; where the ends of its interval (names, 2) are NaN, the bar alone."""
    ax = tall_axes(len(names), INCHES, ax)
    height = np.arange(len(names))[::-1]
    ax.barh(height, values, color="C0", alpha=0.6)
    there = ~np.isnan(intervals).any(axis=1)
    ax.hlines(height[there], intervals[there, 0], intervals[there, 1], color="black", linewidth=1.5)
    ax.axvline(0.0, color="grey", linewidth=0.8)
    ax.set_yticks(height, labels=list(names), parse_math=False)
    ax.set_xlabel(label, parse_math=False)
    ax.margins(y=0.02)
    return ax
