"""A fitted curve over one feature, with the data."""

from typing import Any

from empirisk.charts.axes import axes
from empirisk.runtime.arrays import Floats


def draw_fitted_curve(
    x: Floats, curve: Floats, points: tuple[Floats, Floats] | None, *, label: str, ax: Any = None
) -> Any:
    """The curve (points, outputs) over x, a line for each output; the data in the same colour."""
    ax = axes(ax)
    for k, output in enumerate(curve.T):
        if points is not None:
            ax.scatter(points[0], points[1][:, k], s=12, alpha=0.4, color=f"C{k}", linewidths=0)
        ax.plot(x, output, color=f"C{k}", linewidth=2)
    ax.set_xlabel(label, parse_math=False)
    ax.set_ylabel("prediction")
    return ax
