"""The out-of-bag risk as members are added."""

from typing import Any

from empirisk.charts.axes import axes
from empirisk.runtime.arrays import Floats, Ints


def draw_out_of_bag_curve(
    members: Ints,
    risk: Floats,
    rows_judged: Ints,
    interval: tuple[float, float] | None,
    *,
    n: int,
    label: str,
    ax: Any = None,
) -> Any:
    """The risk after each member; dashed where some rows are not judged yet; the interval of all
    members at the right."""
    ax = axes(ax)
    early = rows_judged < rows_judged[-1]
    first = int(early.sum())
    if first:
        ax.plot(members[: first + 1], risk[: first + 1], color="C0", linestyle=":",
                label=f"fewer than {rows_judged[-1]:,} of {n:,} rows judged")  # fmt: skip
    ax.plot(members[first:], risk[first:], color="C0", label="out of bag")
    if interval is not None:
        low, high = risk[-1] - interval[0], interval[1] - risk[-1]
        ax.errorbar([members[-1]], [risk[-1]], yerr=[[max(low, 0.0)], [max(high, 0.0)]], fmt="o",
                    color="C0", markersize=4, capsize=3)  # fmt: skip
    ax.set_xlabel("members")
    ax.set_ylabel(label)
    ax.legend()
    return ax
