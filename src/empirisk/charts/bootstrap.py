"""The distribution of bootstrap replicates about the value."""

from typing import Any

from empirisk.charts.axes import axes
from empirisk.runtime.arrays import Floats


def draw_replicates(
    replicates: Floats,
    value: float,
    interval: tuple[float, float],
    *,
    label: str,
    level: float,
    ax: Any = None,
) -> Any:
    """A histogram of the replicates, a line at the value and a band over the interval."""
    ax = axes(ax)
    ax.hist(replicates, bins="sqrt", color="C0", alpha=0.6, label="replicates")
    ax.axvspan(*interval, color="C1", alpha=0.2, label=f"{100 * level:g} % interval")
    ax.axvline(value, color="C1", linewidth=2, label=f"value: {value:.4g}")
    ax.set_xlabel(f"{label} of a resample")
    ax.set_ylabel("resamples")
    ax.legend()
    return ax
