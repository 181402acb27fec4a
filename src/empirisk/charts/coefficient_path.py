"""Coefficients along the penalty, or along the rounds of boosting."""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from empirisk.charts.axes import as_written, axes
from empirisk.runtime.arrays import Floats

NAMED = 10  # lines that the legend names: those that end farthest from zero


def draw_coefficient_path(
    values: Floats,
    coef: Floats,
    *,
    names: Sequence[str] | None = None,
    ax: Any = None,
    axis: Literal["alpha", "rounds"] = "alpha",
) -> Any:
    """A line for each coefficient (values, p) that is ever not zero, richer to the right."""
    ax = axes(ax)
    order = np.argsort(values if axis == "alpha" else -values, kind="stable")
    values, coef = values[order], coef[order]
    ever = np.flatnonzero(coef.any(axis=0))
    largest = ever[np.argsort(-np.abs(coef[0, ever]), kind="stable")]
    named = [str(j if names is None else names[j]) for j in largest[:NAMED].tolist()]
    lines = [ax.plot(values, coef[:, j], linewidth=1)[0] for j in largest]
    ax.axhline(0, color="0.4", linewidth=0.8)
    if axis == "alpha":
        if (values > 0).all():
            ax.set_xscale("log")
        ax.invert_xaxis()
    ax.set_xlabel(f"{axis} (richer to the right)")
    ax.set_ylabel("coefficient")
    if named:  # beside the picture: the paths end at its right edge, far from zero
        place = {"loc": "upper left", "bbox_to_anchor": (1.0, 1.0)}
        as_written(ax.legend(lines[:NAMED], named, title="column", fontsize="small", **place))
    return ax
