"""Shapley values: a cloud of points for each feature, and the steps to a single prediction."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from empirisk.charts.axes import tall_axes
from empirisk.runtime.arrays import Floats

BINS = 100  # across a picture; points of one bin stand on top of each other
HALF = 0.4  # of the height of a cloud
INCHES = 0.3  # for a feature


def draw_swarm(
    names: Sequence[str],
    values: Floats,
    ranks: Sequence[Floats],
    *,
    label: str,
    ax: Any = None,
) -> Any:
    """A point for each of values (rows, names), the first name on top; NaN ranks are grey."""
    ax = tall_axes(len(names), INCHES, ax)
    ax.axvline(0.0, color="grey", linewidth=0.8)
    heights = np.arange(len(names))[::-1]
    points = None
    for height, column, rank in zip(heights, values.T, ranks, strict=True):
        up = height + swarm_offsets(column, np.ptp(values))
        known = ~np.isnan(rank)
        ax.scatter(column[~known], up[~known], s=8, color="0.6", linewidths=0)
        if known.any():
            points = ax.scatter(
                column[known], up[known], c=rank[known], s=8, cmap="viridis", vmin=0.0, vmax=1.0,
                linewidths=0,
            )  # fmt: skip
    ax.set_yticks(heights, labels=list(names), parse_math=False)
    ax.set_xlabel(label, parse_math=False)
    ax.margins(y=0.02)
    if points is not None:
        bar = ax.figure.colorbar(points, ax=ax, ticks=[0.0, 1.0], aspect=40)
        bar.ax.set_yticklabels(["least", "largest"])
        bar.set_label("value of the feature")
    return ax


def swarm_offsets(values: Floats, width: float) -> Floats:
    """Heights about 0 so that points of about the same value do not cover each other.

    Examples
    --------
    >>> swarm_offsets(np.array([0.0, 0.0, 0.0, 1.0]), 1.0)
    array([ 0. ,  0.4, -0.4,  0. ])
    """
    bins = np.floor(BINS * (values - values.min()) / (width if width > 0 else 1.0)).astype(int)
    order = np.argsort(bins, kind="stable")
    first = np.searchsorted(bins[order], bins[order])
    place = np.empty(len(values))
    place[order] = np.arange(len(values)) - first  # 0, 1, 2, ... in each bin
    steps = np.where(place % 2 == 1, 1, -1) * np.ceil(place / 2)  # 0, 1, -1, 2, -2, ...
    most = np.abs(steps).max()
    return HALF * steps / most + 0.0 if most > 0 else np.zeros(len(values))


def draw_waterfall(
    names: Sequence[str], steps: Floats, base: float, *, label: str, ax: Any = None
) -> Any:
    """Bars from the base to the prediction, the first on top, each from where the last ends."""
    ax = tall_axes(len(names), INCHES, ax)
    ends = base + np.cumsum(steps)
    starts = np.concatenate([[base], ends[:-1]])
    heights = np.arange(len(names))[::-1]
    colours = ["C0" if step >= 0 else "C3" for step in steps]
    ax.barh(heights, steps, left=starts, color=colours, alpha=0.7)
    for height, start, end, step in zip(heights, starts, ends, steps, strict=True):
        ax.plot((end, end), (height - 1.4, height + 0.4), color="grey", linewidth=0.6)
        ax.text(max(start, end), height, f" {step:+.3g}", ha="left", va="center", fontsize=8)
    ax.axvline(base, color="grey", linewidth=0.8, linestyle=":")
    ax.set_yticks(heights, labels=list(names), parse_math=False)
    ax.set_ylim(-0.9, len(names) - 0.3)
    width = np.ptp([base, *ends]) or 1.0
    ax.set_xlim(min(base, *ends) - 0.05 * width, max(base, *ends) + 0.15 * width)  # and a number
    prediction = base + float(np.sum(steps))
    ax.set_title(f"{base:.4g} with no feature known, {prediction:.4g} with all", fontsize=9)
    ax.set_xlabel(label, parse_math=False)
    return ax
