"""The biplot: rows as points, columns as arrows, in the plane of two principal components."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from empirisk.charts.axes import axes
from empirisk.runtime.arrays import Floats


def draw_biplot(
    scores: Floats,
    loadings: Floats,
    names: Sequence[str],
    labels: tuple[str, str],
    *,
    ax: Any = None,
) -> Any:
    """Points (m, 2), and an arrow for each column (p, 2), stretched to reach among the points.

    Arrows share one stretch, so their lengths and angles can be compared with one another.
    """
    ax = axes(ax)
    ax.plot(scores[:, 0], scores[:, 1], ".", color="C0", alpha=0.6)
    longest, widest = np.abs(loadings).max(initial=0.0), np.abs(scores).max(initial=0.0)
    stretch = 0.9 * widest / longest if longest > 0 else 1.0
    for name, (x, y) in zip(names, loadings * stretch, strict=True):
        ax.annotate("", (x, y), (0, 0), arrowprops={"arrowstyle": "->", "color": "C1"})
        ax.annotate(name, (1.06 * x, 1.06 * y), color="C1", ha="center", va="center")
    ax.axhline(0, color="grey", linewidth=0.5)
    ax.axvline(0, color="grey", linewidth=0.5)
    ax.set_xlabel(labels[0])
    ax.set_ylabel(labels[1])
    ax.margins(0.1)
    return ax
