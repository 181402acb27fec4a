"""Risk against the number of training rows, with what more rows would bring."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from empirisk.charts.axes import axes
from empirisk.runtime.arrays import Floats


def draw_learning_curve(
    sizes: Floats,
    risk: Floats,
    intervals: Sequence[tuple[float, float] | None],
    training_risk: Floats,
    *,
    label: str,
    further: tuple[Floats, Floats, Floats, Floats] | None = None,
    bayes_risk: float | None = None,
    ax: Any = None,
) -> Any:
    """Honest and training risk; `further` is (sizes, risk, low, high) of the curve carried on."""
    ax = axes(ax)
    ax.plot(sizes, risk, "o-", color="C0", label="honest risk")
    for n, ends in zip(sizes, intervals, strict=True):
        if ends is not None:
            ax.plot((n, n), ends, color="C0", linewidth=1)
    ax.plot(sizes, training_risk, "s--", color="C1", label="training risk")
    if further is not None:
        n, value, low, high = further
        ax.plot(n, value, ":", color="C0", label="a + b n^-c")
        ax.fill_between(n, low, high, color="C0", alpha=0.15, linewidth=0)
    if bayes_risk is not None:
        ax.axhline(bayes_risk, color="0.4", linestyle="-.", label="Bayes risk")
    if np.max(sizes) > 4 * np.min(sizes) or further is not None:
        ax.set_xscale("log")
    ax.set_xlabel("training rows n")
    ax.set_ylabel(label)
    ax.legend()
    return ax
