"""The reliability diagram: how often what was predicted happens."""

from collections.abc import Sequence
from typing import Any

from empirisk.charts.axes import axes
from empirisk.runtime.arrays import Floats


def draw_calibration(
    predicted: Floats,
    observed: Floats,
    intervals: Sequence[tuple[float, float] | None],
    *,
    level: float,
    ax: Any = None,
) -> Any:
    """A point for each bin with its interval; calibrated probabilities lie on the dotted line."""
    ax = axes(ax)
    ax.plot((0, 1), (0, 1), color="0.6", linestyle=":", zorder=0, label="calibrated")
    label = f"observed, {100 * level:g} % intervals"
    (line,) = ax.plot(predicted, observed, "o-", label=label)
    for x, ends in zip(predicted, intervals, strict=True):
        if ends is not None:
            ax.plot((x, x), ends, color=line.get_color(), linewidth=1)
    ax.set_xlabel("predicted probability")
    ax.set_ylabel("observed share")
    ax.set_xlim(-0.02, 1.02)
    ax.set_ylim(-0.02, 1.02)
    ax.legend()
    return ax
