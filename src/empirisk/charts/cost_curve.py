"""What mistakes cost as the threshold of a classifier moves."""

from typing import Any

import numpy as np

from empirisk.charts.axes import axes
from empirisk.runtime.arrays import Floats


def draw_cost_curve(
    thresholds: Floats, costs: Floats, chosen: float, bayes: float | None, *, ax: Any = None
) -> Any:
    """Mean cost against the threshold; infinite thresholds, never and always, are left out."""
    ax = axes(ax)
    shown = np.isfinite(thresholds)
    ax.plot(thresholds[shown], costs[shown], color="C0")
    if np.isfinite(chosen):
        ax.axvline(chosen, color="0.4", linestyle=":", label=f"least: {chosen:.4g}")
    if bayes is not None:
        ax.axvline(bayes, color="C1", linestyle="--", label=f"Bayes rule: {bayes:.4g}")
    ax.set_xlabel("threshold on the score")
    ax.set_ylabel("mean cost of a row")
    if ax.get_legend_handles_labels()[0]:
        ax.legend()
    return ax
