"""The variance of a mean of correlated members, as their number grows."""

from typing import Any

import numpy as np

from empirisk.charts.axes import axes
from empirisk.runtime.arrays import Floats, Ints


def draw_aggregate_variance(
    numbers: Ints,
    formula: Floats,
    observed: Floats,
    error: Floats,
    *,
    floor: float,
    label: str,
    ax: Any = None,
) -> Any:
    """Points with whiskers of one error beside the curve of the formula and its limit."""
    ax = axes(ax)
    between = np.geomspace(numbers[0], numbers[-1], 200)
    # The formula is floor + (a constant)/B; the constant is known from any B.
    curve = floor + (formula[0] - floor) * numbers[0] / between
    ax.plot(between, curve, color="C0", label="formula")
    ax.axhline(floor, color="C0", linestyle=":", label="limit of very many members")
    ax.errorbar(numbers, observed, error, fmt="o", color="k", markersize=4, capsize=3,
                label="observed")  # fmt: skip
    ax.set_xscale("log")
    ax.set_ylim(bottom=min(0.0, floor))
    ax.set_xlabel("members")
    ax.set_ylabel(label)
    ax.legend()
    return ax
