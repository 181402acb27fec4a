"""Rows of several classes in one or two coordinates."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from empirisk.charts.axes import axes
from empirisk.charts.decision_boundary import class_colours
from empirisk.runtime.arrays import Floats, Ints


def draw_coordinates(
    coordinates: Floats,
    codes: Ints,
    classes: Sequence[str],
    labels: Sequence[str],
    title: str,
    *,
    ax: Any = None,
) -> Any:
    """Points in the colours of their classes; in one coordinate, each class on its own line."""
    ax = axes(ax)
    for k, (name, colour) in enumerate(zip(classes, class_colours(len(classes)), strict=True)):
        own = coordinates[codes == k]
        height = own[:, 1] if own.shape[1] > 1 else np.full(len(own), float(k))
        ax.scatter(own[:, 0], height, s=12, color=[colour], label=name, alpha=0.7)
    ax.set_xlabel(labels[0])
    if coordinates.shape[1] > 1:
        ax.set_ylabel(labels[1])
    else:
        ax.set_yticks(range(len(classes)), classes, parse_math=False)
    ax.set_title(title)
    return ax
