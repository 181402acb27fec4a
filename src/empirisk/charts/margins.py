"""Margins of rows: by which share of the votes the true class leads."""

from typing import Any

import numpy as np

from empirisk.charts.axes import axes
from empirisk.runtime.arrays import Floats


def draw_margins(margins: Floats, mean: float, *, ax: Any = None) -> Any:
    """How many rows have which margin: red where the vote is wrong; a line at the mean."""
    ax = axes(ax)
    edges = np.linspace(-1, 1, 41)
    for mine, colour, what in (
        (margins < 0, "C3", "vote is wrong"),
        (margins >= 0, "C0", "vote is right"),
    ):
        if mine.any():
            ax.hist(margins[mine], edges, color=colour, alpha=0.7, label=what)
    ax.axvline(mean, color="black", linewidth=1, label=f"strength: {mean:.3g}")
    ax.set_xlabel("margin of the true class in the votes")
    ax.set_ylabel("rows")
    ax.legend()
    return ax
