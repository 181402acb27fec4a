"""Loadings of columns on principal components, as a matrix of colours."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from empirisk.charts.axes import axes
from empirisk.runtime.arrays import Floats

FEW = 20
"""Rows up to which numbers stand in the cells."""


def draw_loadings(loadings: Floats, names: Sequence[str], *, ax: Any = None) -> Any:
    """A row for each column of the data, a column for each component; blue is negative."""
    ax = axes(ax)
    p, k = loadings.shape
    size = np.abs(loadings).max(initial=0.0) or 1.0
    ax.imshow(loadings / size, cmap="RdBu_r", vmin=-1, vmax=1, aspect="auto")
    if p <= FEW and k <= FEW:
        for i, j in np.ndindex(p, k):
            dark = abs(loadings[i, j]) > 0.6 * size
            color = "white" if dark else "black"
            ax.text(j, i, f"{loadings[i, j]:.2g}", ha="center", va="center", color=color)
    ax.set_xticks(range(k), labels=[str(j + 1) for j in range(k)])
    ax.set_yticks(range(p), labels=list(names), parse_math=False)
    ax.set_xlabel("component")
    return ax
