"""A measure of the quality of clusters along their number."""

from typing import Any

from empirisk.charts.axes import axes
from empirisk.runtime.arrays import Floats, Ints


def draw_number_of_clusters(
    values: Ints,
    score: Floats,
    standard_error: Floats | None,
    label: str,
    chosen: int,
    *,
    ax: Any = None,
) -> Any:
    """The measure at each number of clusters, bars of one standard error, a line at the choice."""
    ax = axes(ax)
    ax.errorbar(values, score, yerr=standard_error, color="C0", marker="o", capsize=3)
    ax.axvline(chosen, color="0.4", linestyle=":", label=f"chosen: {chosen}")
    ax.set_xlabel("number of clusters")
    ax.set_ylabel(label.replace("_", " "))
    ax.legend()
    return ax
