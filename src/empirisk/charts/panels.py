"""Several pictures in one figure."""

from collections.abc import Sequence
from typing import Any

SIDE = 3.3  # inches


def panels(lengths: Sequence[int]) -> tuple[Any, list[list[Any]]]:
    """A figure with rows of so many square panels, and its axes row by row."""
    from matplotlib.figure import Figure

    columns = max(lengths)
    figure = Figure(figsize=(SIDE * columns, SIDE * len(lengths)), layout="constrained")
    grid = figure.add_gridspec(len(lengths), columns)
    axes = [
        [figure.add_subplot(grid[i, j]) for j in range(length)] for i, length in enumerate(lengths)
    ]
    return figure, axes
