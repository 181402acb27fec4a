"""Predictions with their standard errors."""

from typing import Any

import numpy as np

from empirisk.charts.axes import axes
from empirisk.runtime.arrays import Bools, Floats


def draw_prediction_errors(
    value: Floats, error: Floats, floored: Bools, *, label: str, ax: Any = None
) -> Any:
    """A bar of one standard error either way for each prediction, in order; grey where floored."""
    ax = axes(ax)
    order = np.argsort(value, kind="stable")
    value, error, floored, place = value[order], error[order], floored[order], np.arange(len(value))
    kinds = ((~floored, "C0", "one standard error"), (floored, "0.7", "not told from 0"))
    for mine, colour, what in kinds:
        if mine.any():
            low, high = (value - error)[mine], (value + error)[mine]
            ax.vlines(place[mine], low, high, color=colour, linewidth=1, label=what)
    ax.plot(place, value, ".", color="black", markersize=2)
    ax.set_xlabel("rows, by their prediction")
    ax.set_ylabel(label, parse_math=False)
    ax.legend()
    return ax
