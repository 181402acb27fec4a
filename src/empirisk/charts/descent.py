"""The objective on the way down."""

from typing import Any

import numpy as np

from empirisk.charts.axes import axes
from empirisk.runtime.arrays import Floats, Ints


def draw_descent(steps: Ints, objectives: Floats, reason: str, *, ax: Any = None) -> Any:
    """The objective above the lowest seen against the number of steps, on a logarithmic scale."""
    ax = axes(ax)
    seen = np.isfinite(objectives)
    if seen.any():
        above = objectives[seen] - objectives[seen].min()
        ax.plot(steps[seen], above, color="C0", marker=".")
        if (above > 0).any():
            ax.set_yscale("log", nonpositive="mask")
    ax.set_xlabel("step")
    ax.set_ylabel("objective above the lowest seen")
    ax.set_title(reason, fontsize="small")
    return ax
