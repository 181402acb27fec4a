"""Log-likelihood ratios of the features of one row as bars, the largest on top."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from empirisk.charts.axes import axes
from empirisk.runtime.arrays import Floats

MOST_IN_A_FIGURE = 12  # more bars make the figure taller
INCHES = 0.28
BEYOND = 1.15  # an infinite ratio is drawn so much longer than the longest finite one


def draw_log_ratios(
    names: Sequence[str], ratios: Floats, *, label: str, title: str, ax: Any = None
) -> Any:
    """A bar for each name: to the right what speaks for a class, to the left what speaks against.

    An infinite ratio is a bar to the edge, with the sign for it.
    """
    if ax is None:
        ax = axes()
        if len(names) > MOST_IN_A_FIGURE:
            ax.figure.set_figheight(1 + INCHES * len(names))
    height = np.arange(len(names))[::-1]
    finite = np.isfinite(ratios)
    longest = BEYOND * np.abs(ratios[finite]).max(initial=1.0)
    shown = np.where(finite, ratios, np.sign(ratios) * longest)
    ax.barh(height, shown, color=np.where(ratios >= 0, "C0", "C3").tolist(), alpha=0.7)
    for up, ratio, end in zip(height, ratios, shown, strict=True):
        text = f"{ratio:+.3g}" if np.isfinite(ratio) else ("+∞" if ratio > 0 else "-∞")
        ax.text(max(end, 0.0), up, f" {text}", ha="left", va="center", fontsize=8)
    ax.axvline(0.0, color="grey", linewidth=0.8)
    ax.set_yticks(height, labels=list(names))
    ax.margins(x=0.2, y=0.02)  # for the numbers beside the bars
    ax.set_xlabel(label)
    ax.set_title(title, fontsize=9)
    return ax
