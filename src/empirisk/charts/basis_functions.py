"""The functions of a basis over the range of one feature."""

from typing import Any

from empirisk.charts.axes import axes
from empirisk.runtime.arrays import Floats


def draw_basis_functions(
    x: Floats, values: Floats, knots: Floats, *, label: str, ax: Any = None
) -> Any:
    """A line for each column of `values`; dotted lines at the knots."""
    ax = axes(ax)
    ax.plot(x, values)
    for knot in knots:
        ax.axvline(knot, color="0.6", linestyle=":", linewidth=0.8)
    ax.set_xlabel(label, parse_math=False)
    ax.set_ylabel("basis functions")
    return ax
