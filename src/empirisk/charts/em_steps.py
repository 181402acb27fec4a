"""EM at work: the likelihood as it rises, and components step by step."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from empirisk.charts.axes import axes, name_sides
from empirisk.charts.class_ellipses import draw_class_ellipses
from empirisk.charts.panels import panels
from empirisk.runtime.arrays import Floats, Ints

IN_A_ROW = 3


def draw_likelihood(log_likelihoods: Floats, reason: str = "", *, ax: Any = None) -> Any:
    """The mean log-likelihood of a row at each E-step."""
    ax = axes(ax)
    steps = np.arange(1, len(log_likelihoods) + 1)
    ax.plot(steps, log_likelihoods, "o-", markersize=3)
    ax.set_xlabel("step of EM")
    ax.set_ylabel("mean log-likelihood of a row")
    ax.set_title(reason, fontsize="small")
    return ax


def draw_em_steps(
    X: Floats,
    names: Sequence[str],
    means: Floats,
    roots: Floats,
    steps: Ints,
    values: Floats,
    share: float,
) -> Any:
    """Two features of rows and the components' ellipses, a panel for each step."""
    lengths = [min(IN_A_ROW, len(steps) - i) for i in range(0, len(steps), IN_A_ROW)]
    figure, grid = panels(lengths)
    flat = [ax for row in grid for ax in row]
    for ax, centres, root, step, value in zip(flat, means, roots, steps, values, strict=True):
        ax.scatter(X[:, 0], X[:, 1], s=4, color="0.7")
        draw_class_ellipses(centres, list(root), share, ax=ax)
        name_sides(ax, names)
        ax.set_title(f"step {step + 1}: mean log-likelihood {value:.5g}", fontsize="small")
    return figure
