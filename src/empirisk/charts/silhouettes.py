"""Silhouettes of rows, cluster by cluster (Rousseeuw 1987)."""

from typing import Any

import numpy as np

from empirisk.charts.axes import axes
from empirisk.runtime.arrays import Array, Floats

BETWEEN = 0.02  # of all rows: the space between two clusters


def draw_silhouettes(
    silhouettes: Floats, codes: Array, names: Array, mean: float, *, ax: Any = None
) -> Any:
    """A horizontal bar for each row, sorted within its cluster; the line is the mean."""
    ax = axes(ax)
    lower, space = 0.0, max(1.0, BETWEEN * len(codes))
    for k, name in enumerate(names):
        own = np.sort(silhouettes[codes == k])
        places = lower + np.arange(len(own))
        ax.fill_betweenx(places, 0, own, color=f"C{k % 10}", step="mid")
        ax.text(-0.02, lower + len(own) / 2, str(name), ha="right", va="center", fontsize="small",
                parse_math=False)  # fmt: skip
        lower += len(own) + space
    ax.axvline(mean, color="0.4", linestyle=":", label=f"mean: {mean:.3f}")
    ax.set_xlabel("silhouette")
    ax.set_ylabel("rows by cluster")
    ax.set_yticks([])
    ax.legend(loc="lower right", bbox_to_anchor=(1, 1), frameon=False)  # off the bars
    return ax
