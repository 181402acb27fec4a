"""Mean predictions over the values of a feature, or of two."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from empirisk.charts.axes import axes, name_sides
from empirisk.runtime.arrays import Array, Floats

MOST_CURVES = 100
Side = tuple[str, Any, bool]
"""The name of a feature, its values or their words, and whether they have an order."""


def draw_curve(
    values: Array,
    mean: Floats,
    interval: Floats,
    individual: Floats | None,
    deciles: Floats | None,
    *,
    labels: tuple[str, str],
    ax: Any = None,
) -> Any:
    """The mean with its band over numbers or dates; thin lines for rows (rows, values)."""
    ax = axes(ax)
    if individual is not None:
        rows = np.linspace(0, len(individual) - 1, min(len(individual), MOST_CURVES)).astype(int)
        ax.plot(values, individual[np.unique(rows)].T, color="0.6", linewidth=0.4, alpha=0.6)
    low, high = interval.T
    ax.fill_between(values, low, high, color="C0", alpha=0.25, linewidth=0)
    ax.plot(values, mean, color="C0", linewidth=2, marker="." if len(values) < 15 else None)
    if deciles is not None:
        inside = deciles[(deciles >= values.min()) & (deciles <= values.max())]
        foot = ax.get_xaxis_transform()
        ax.vlines(inside, 0.0, 0.03, color="0.3", linewidth=0.8, transform=foot)
    name_sides(ax, labels)
    return ax


def draw_levels(
    names: Sequence[str],
    mean: Floats,
    interval: Floats,
    *,
    labels: tuple[str, str],
    ax: Any = None,
) -> Any:
    """A point with its interval for each level of a category."""
    ax = axes(ax)
    places = np.arange(len(names))
    ax.vlines(places, interval[:, 0], interval[:, 1], color="C0", linewidth=1.5)
    ax.plot(places, mean, "o", color="C0")
    ax.set_xticks(places, labels=list(names), parse_math=False)
    ax.margins(x=0.1)
    name_sides(ax, labels)
    return ax


def draw_plane(first: Side, second: Side, mean: Floats, *, label: str, ax: Any = None) -> Any:
    """Colours for mean[i, j] at the i-th value of the first feature and the j-th of the second."""
    ax = axes(ax)
    across, up = (
        values if ordered else np.arange(len(values)) for _, values, ordered in (first, second)
    )
    picture = ax.pcolormesh(across, up, mean.T, shading="nearest", cmap="viridis", rasterized=True)
    for (_, values, ordered), axis in ((first, ax.xaxis), (second, ax.yaxis)):
        if not ordered:
            axis.set_ticks(np.arange(len(values)), labels=list(values), parse_math=False)
    name_sides(ax, [first[0], second[0]])
    ax.figure.colorbar(picture, ax=ax).set_label(label, parse_math=False)
    return ax
