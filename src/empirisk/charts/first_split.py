"""How often a tree splits first on which feature, and where."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from empirisk.charts.axes import axes
from empirisk.runtime.arrays import Floats

MOST = 20  # features with a bar of their own


def draw_shares(names: Sequence[str], shares: Floats, errors: Floats, *, ax: Any = None) -> Any:
    """A bar for each name, the first on top, with a whisker of one error; in per cent."""
    ax = axes(ax)
    names, shares, errors = names[:MOST], shares[:MOST], errors[:MOST]
    height = np.arange(len(names))[::-1]
    ax.barh(height, 100 * shares, xerr=100 * errors, color="C0", capsize=3)
    ax.set_yticks(height, labels=list(names), parse_math=False)
    ax.set_xlim(0, 100)
    ax.set_xlabel("trees that split first, in per cent")
    return ax


def draw_thresholds(thresholds: Floats, on_all: float | None, *, label: str, ax: Any = None) -> Any:
    """How many trees split where; a line at the split of the tree of all rows."""
    ax = axes(ax)
    ax.hist(thresholds, 30, color="C0", alpha=0.7, label="trees of resamples")
    if on_all is not None:
        ax.axvline(on_all, color="black", linewidth=1, label=f"tree of all rows: {on_all:.4g}")
    ax.set_xlabel(label, parse_math=False)
    ax.set_ylabel("trees")
    ax.legend()
    return ax
