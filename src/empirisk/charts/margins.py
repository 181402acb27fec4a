"""Margins of rows: by which share of the votes the true class leads."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from empirisk.charts.axes import axes
from empirisk.runtime.arrays import Floats


def draw_margins(margins: Floats, mean: float, *, ax: Any = None) -> Any:
    """How many rows have which margin: red where the vote is wrong; a line at the mean."""
    ax = axes(ax)
    edges = np.linspace(-1, 1, 41)
    for mine, colour, what in (
        (margins < 0, "C3", "vote is wrong"),
        (margins >= 0, "C0", "vote is right"),
    ):
        if mine.any():
            ax.hist(margins[mine], edges, color=colour, alpha=0.7, label=what)
    ax.axvline(mean, color="black", linewidth=1, label=f"strength: {mean:.3g}")
    ax.set_xlabel("margin of the true class in the votes")
    ax.set_ylabel("rows")
    ax.legend()
    return ax


def draw_margin_distributions(
    margins: Mapping[int, Floats], weight: Floats, *, ax: Any = None
) -> Any:
    """For each number of rounds, the share of rows whose margin is at most a value."""
    ax = axes(ax)
    styles = ("-", "--", "-.", ":")
    for i, (rounds, mine) in enumerate(margins.items()):
        order = np.argsort(mine, kind="stable")
        share = np.concatenate([[0.0], np.cumsum(weight[order]) / weight.sum(), [1.0]])
        values = np.concatenate([[-1.0], mine[order], [1.0]])
        what = f"{rounds} round{'s' * (rounds != 1)}"
        ax.step(values, share, where="post", linestyle=styles[i % len(styles)], label=what)
    ax.axvline(0.0, color="black", linewidth=0.8)
    ax.set_xlim(-1.02, 1.02)
    ax.set_xlabel("margin of the true class in the votes")
    ax.set_ylabel("share of rows up to it")
    ax.legend()
    return ax
