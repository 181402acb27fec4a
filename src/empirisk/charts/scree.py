"""The scree plot: how much each principal component explains, and all up to it together."""

from typing import Any

import numpy as np

from empirisk.charts.axes import axes
from empirisk.runtime.arrays import Floats


def draw_scree(shares: Floats, *, ends: tuple[Floats, Floats] | None = None, ax: Any = None) -> Any:
    """A bar for each component, with its interval if there are `ends`, and a line of the sums."""
    ax = axes(ax)
    number = np.arange(1, len(shares) + 1)
    ax.bar(number, shares, color="C0", label="each")
    if ends is not None:
        ax.vlines(number, *ends, color="black", linewidth=1.5, label="interval")
    ax.plot(number, np.cumsum(shares), "o-", color="C1", label="up to it")
    ax.set_xlabel("component")
    ax.set_ylabel("share of the variance")
    ax.set_ylim(0, 1.05)
    ax.set_xticks(number[:: max(1, len(number) // 10)])
    ax.legend(frameon=False)
    return ax
