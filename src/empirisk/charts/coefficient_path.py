"""Coefficients along the penalty."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from empirisk.charts.axes import axes
from empirisk.runtime.arrays import Floats

NAMED = 10  # lines that the legend names: those that end farthest from zero


def draw_coefficient_path(
    alphas: Floats, coef: Floats, *, names: Sequence[str] | None = None, ax: Any = None
) -> Any:
    """A line for each coefficient (alphas, p) that is ever not zero, richer to the right."""
    ax = axes(ax)
    order = np.argsort(alphas, kind="stable")
    alphas, coef = alphas[order], coef[order]
    ever = np.flatnonzero(coef.any(axis=0))
    largest = ever[np.argsort(-np.abs(coef[0, ever]), kind="stable")]
    named = set(largest[:NAMED].tolist())
    for j in largest:
        label = str(j if names is None else names[j]) if int(j) in named else None
        ax.plot(alphas, coef[:, j], linewidth=1, label=label)
    ax.axhline(0, color="0.4", linewidth=0.8)
    if (alphas > 0).all():
        ax.set_xscale("log")
    ax.invert_xaxis()
    ax.set_xlabel("alpha (richer to the right)")
    ax.set_ylabel("coefficient")
    if named:
        ax.legend(title="column", fontsize="small")
    return ax
