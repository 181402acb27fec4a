"""The confusion matrix as a shaded grid."""

from collections.abc import Sequence
from typing import Any

from empirisk.charts.axes import axes
from empirisk.runtime.arrays import Array, Floats


def draw_confusion(
    numbers: Array, shares: Floats, classes: Sequence[str], *, ax: Any = None
) -> Any:
    """Write the numbers into a grid of true by predicted class, shaded by shares of 0 to 1."""
    ax = axes(ax)
    ax.imshow(shares, cmap="Blues", vmin=0, vmax=1)
    for j, row in enumerate(numbers):
        for i, number in enumerate(row):
            colour = "white" if shares[j, i] > 0.5 else "black"
            ax.text(i, j, f"{number:.4g}", ha="center", va="center", color=colour)
    places = range(len(classes))
    turned = max(map(len, classes)) * len(classes) > 40  # longer names would touch
    ax.set_xticks(
        places,
        labels=classes,
        rotation=45 if turned else 0,
        ha="right" if turned else "center",
        parse_math=False,
    )
    ax.set_yticks(places, labels=classes, parse_math=False)
    ax.set_xlabel("predicted class")
    ax.set_ylabel("true class")
    return ax
