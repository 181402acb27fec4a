"""The intervals of many training sets, and how far each is from the truth."""

from typing import Any

import numpy as np

from empirisk.charts.axes import axes
from empirisk.runtime.arrays import Floats


def draw_coverage(
    low: Floats, high: Floats, value: Floats, truth: float, *, label: str, ax: Any = None
) -> Any:
    """A bar for each training set, sorted by estimate: blue where it contains the truth."""
    ax = axes(ax)
    order = np.argsort(value)
    low, high, place = low[order], high[order], np.arange(len(value))
    hit = (low <= truth) & (truth <= high)
    for mine, colour, what in ((hit, "C0", "contains it"), (~hit, "C3", "does not")):
        ax.vlines(place[mine], low[mine], high[mine], color=colour, linewidth=1, label=what)
    ax.plot(place, value[order], ".", color="black", markersize=2)
    ax.axhline(truth, color="black", linewidth=1, label=f"truth: {truth:.4g}")
    ax.set_xlabel("training sets, by their estimate")
    ax.set_ylabel(label)
    ax.legend()
    return ax
