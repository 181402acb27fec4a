"""The biplot: rows as points, columns as arrows, in the plane of two principal components."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.optimize import isotonic_regression

from empirisk.charts.axes import axes
from empirisk.runtime.arrays import Floats

LINE = 0.06  # of the height of the picture: the height of a name


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
    tips = loadings * stretch
    ax.update_datalim(tips)
    ax.margins(x=0.25, y=0.1)  # room for names beside the arrows
    heights = apart(tips, LINE * float(np.ptp(ax.get_ylim())))
    for name, (x, y), height in zip(names, tips, heights, strict=True):
        ax.annotate("", (x, y), (0, 0), arrowprops={"arrowstyle": "->", "color": "C1"})
        side = "left" if x >= 0 else "right"
        text = ax.annotate(name, (1.03 * x, height), color="C1", ha=side, va="center")
        text.set_parse_math(False)
    ax.axhline(0, color="grey", linewidth=0.5)
    ax.axvline(0, color="grey", linewidth=0.5)
    ax.set_xlabel(labels[0])
    ax.set_ylabel(labels[1])
    return ax


def apart(tips: Floats, gap: float) -> Floats:
    """Heights for the names of arrows, near their tips (p, 2), those of one side a gap apart.

    Of all such heights those with the least squared distance from the tips.

    Examples
    --------
    >>> apart(np.array([[1.0, 0.0], [1.0, 0.5], [-1.0, 0.0]]), 1.0).tolist()
    [-0.25, 0.75, 0.0]
    """
    heights = np.array(tips[:, 1], dtype=float)
    for side in (tips[:, 0] >= 0, tips[:, 0] < 0):
        own = np.flatnonzero(side)
        own = own[np.argsort(heights[own], kind="stable")]
        steps = gap * np.arange(len(own))
        if len(own):
            heights[own] = isotonic_regression(heights[own] - steps).x + steps
    return heights
