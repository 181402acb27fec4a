"""Log-likelihood ratios of the features of one row as bars, the largest on top."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from empirisk.charts.axes import tall_axes
from empirisk.runtime.arrays import Floats

INCHES = 0.28  # for a bar
BEYOND = 1.15  # an infinite ratio is drawn so much longer than the longest finite one


def draw_log_ratios(
    names: Sequence[str], ratios: Floats, *, label: str, title: str, ax: Any = None
) -> Any:
    """A bar for each name: to the right what speaks for a class, to the left what speaks against.

    An infinite ratio is a bar to the edge, with the sign for it.
    """
    ax = tall_axes(len(names), INCHES, ax)
    height = np.arange(len(names))[::-1]
    finite = np.isfinite(ratios)
    longest = BEYOND * np.abs(ratios[finite]).max(initial=1.0)
    shown = np.where(finite, ratios, np.sign(ratios) * longest)
    ax.barh(height, shown, color=np.where(ratios >= 0, "C0", "C3").tolist(), alpha=0.7)
    for up, ratio, end in zip(height, ratios, shown, strict=True):
        text = f"{ratio:+.3g}" if np.isfinite(ratio) else ("+∞" if ratio > 0 else "-∞")
        ax.text(max(end, 0.0), up, f" {text}", ha="left", va="center", fontsize=8)
    ax.axvline(0.0, color="grey", linewidth=0.8)
    ax.set_yticks(height, labels=list(names), parse_math=False)
    ax.margins(x=0.2, y=0.02)  # for the numbers beside the bars
    ax.set_xlabel(label, parse_math=False)
    ax.set_title(title, fontsize=9, parse_math=False)
    return ax
