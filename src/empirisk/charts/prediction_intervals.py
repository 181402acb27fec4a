"""Observed against predicted, with the band that prediction intervals are."""

from typing import Any

import numpy as np

from empirisk.charts.axes import axes
from empirisk.runtime.arrays import Bools, Floats


def draw_prediction_intervals(
    prediction: Floats,
    y: Floats,
    covered: Bools,
    offsets: tuple[float, float],
    *,
    level: float,
    ax: Any = None,
) -> Any:
    """Rows out of bag; those outside the band are marked."""
    ax = axes(ax)
    ends = np.array([prediction.min(), prediction.max()])
    ax.fill_between(ends, ends + offsets[0], ends + offsets[1], color="C0", alpha=0.15,
                    linewidth=0, label=f"{100 * level:g} % interval")  # fmt: skip
    ax.plot(ends, ends, color="C0", linewidth=1)
    ax.plot(prediction[covered], y[covered], ".", color="0.4", markersize=3)
    outside = f"outside ({np.mean(~covered):.1%} of the rows)"
    ax.plot(prediction[~covered], y[~covered], ".", color="C3", markersize=4, label=outside)
    ax.set_xlabel("prediction, out of bag")
    ax.set_ylabel("observed")
    ax.legend()
    return ax
