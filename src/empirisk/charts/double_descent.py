"""Risk on both sides of the point where a model begins to interpolate."""

from typing import Any

import numpy as np

from empirisk.charts.axes import axes
from empirisk.runtime.arrays import Array, Floats

MARKS = [share * 10.0**power for power in range(-3, 4) for share in (1, 2, 5)]


def draw_double_descent(
    values: Array,
    risk: Floats,
    training_risk: Floats,
    *,
    threshold: int,
    label: str,
    ratio: str,
    theory: Floats | None = None,
    ax: Any = None,
) -> Any:
    """Both scales are logarithmic; `ratio` is "p/n" where p runs along the axis, else "n/p"."""
    ax = axes(ax)
    ax.plot(values, risk, "o-", color="C0", label="honest risk")
    if theory is not None:
        ax.plot(values, theory, color="C2", linewidth=1, label="theory")
    shown = training_risk > 1e-6 * np.max(risk)
    ax.plot(
        values[shown], training_risk[shown], "s--", color="C1", label="training risk, where not 0"
    )
    ax.axvline(threshold, color="0.4", linestyle=":", label=f"{ratio} = 1: it interpolates")
    ax.set_xscale("log")
    ax.set_yscale("log")
    top = ax.secondary_xaxis(
        "top", functions=(lambda x: x / threshold, lambda share: share * threshold)
    )
    ends = (values.min() / threshold, values.max() / threshold)
    marks = [mark for mark in MARKS if ends[0] <= mark <= ends[1]]
    top.set_ticks(marks, labels=[f"{mark:g}" for mark in marks], minor=False)
    top.set_ticks([], minor=True)
    top.set_xlabel(ratio.replace("/", " / "))
    ax.set_xlabel(label)
    ax.set_ylabel("squared risk")
    ax.legend()
    return ax
