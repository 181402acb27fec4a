"""Lloyd's algorithm at work: W as it falls, and clusters step by step."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from empirisk.charts.axes import axes, name_sides
from empirisk.charts.panels import panels
from empirisk.runtime.arrays import Floats, Int32s, Ints

IN_A_ROW = 3


def draw_within(assigned: Floats, updated: Floats, *, ax: Any = None) -> Any:
    """W after rows have gone to their centres and after centres have moved, in turn."""
    ax = axes(ax)
    steps = np.arange(1, len(assigned) + 1)
    whole = np.column_stack([assigned, updated]).ravel()
    ax.plot(np.repeat(steps, 2) + np.tile([0.0, 0.5], len(steps)), whole, color="0.7")
    ax.plot(steps, assigned, "o", color="C0", markersize=4, label="rows assigned")
    ax.plot(steps + 0.5, updated, "s", color="C1", markersize=4, label="centres moved")
    ax.set_xlabel("iteration")
    ax.set_ylabel("W, the sum of squared distances within clusters")
    ax.legend()
    return ax


def draw_lloyd_steps(
    X: Floats,
    names: Sequence[str],
    labels: Sequence[Int32s],
    centers: Floats,
    steps: Ints,
    within: Floats,
) -> Any:
    """The first two features of rows, coloured by their labels, and centres; a panel a step."""
    lengths = [min(IN_A_ROW, len(steps) - i) for i in range(0, len(steps), IN_A_ROW)]
    figure, grid = panels(lengths)
    flat = [ax for row in grid for ax in row]
    for ax, z, centres, step, W in zip(flat, labels, centers, steps, within, strict=True):
        ax.scatter(X[:, 0], X[:, 1], c=z, s=5, cmap="tab20", vmin=0, vmax=19)
        ax.plot(centres[:, 0], centres[:, 1], "kX", markersize=9, markeredgecolor="w")
        name_sides(ax, names)
        ax.set_title(f"iteration {step + 1}: W = {W:.4g}", fontsize="small")
    return figure
