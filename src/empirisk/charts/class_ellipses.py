"""Ellipses that hold a given share of each Gaussian class of two features."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from empirisk.charts.axes import axes
from empirisk.charts.decision_boundary import class_colours
from empirisk.runtime.arrays import Floats

POINTS = 200


def draw_class_ellipses(
    means: Floats, roots: Sequence[Floats], share: float, *, ax: Any = None
) -> Any:
    """Of classes N(m_k, R_k R_k'): m_k + r R_k (cos, sin), where r^2 is the quantile of the squared
    distance from the mean, -2 log(1 - share); a cross at each mean."""
    ax = axes(ax)
    angle = np.linspace(0, 2 * np.pi, POINTS)
    circle = np.sqrt(-2 * np.log1p(-share)) * np.column_stack([np.cos(angle), np.sin(angle)])
    for mean, root, colour in zip(means, roots, class_colours(len(means)), strict=True):
        ax.plot(*(mean + circle @ root.T).T, color=colour, linewidth=1.5)
        ax.plot(*mean, marker="+", markersize=10, markeredgewidth=2, color=colour)
    return ax
