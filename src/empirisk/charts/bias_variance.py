"""The parts of a risk: side by side, point by point, and along the complexity axis."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from empirisk.charts.axes import axes
from empirisk.runtime.arrays import Array, Floats


def draw_parts(
    parts: Mapping[str, float],
    errors: Mapping[str, float],
    *,
    label: str = "risk",
    ax: Any = None,
) -> Any:
    """A bar for each part, the first on top; whiskers of one standard error."""
    ax = axes(ax)
    names = list(parts)
    height = np.arange(len(names))[::-1]
    colours = [f"C{i}" for i in range(len(names) - 1)] + ["0.4"]
    whiskers = [errors[name] for name in names]
    ax.barh(height, [parts[name] for name in names], xerr=whiskers, color=colours, capsize=3)
    ax.axvline(0, color="0.4", linewidth=0.8)
    ax.set_yticks(height, labels=names)
    ax.set_ylabel("part")
    ax.set_xlabel(label)
    return ax


def draw_parts_curves(
    place: Array,
    parts: Mapping[str, Floats],
    errors: Mapping[str, Floats],
    *,
    label: str,
    scale: str = "linear",
    richer_right: bool | None = None,
    best: Any = None,
    risk: str = "risk",
    ax: Any = None,
) -> Any:
    """A line for each part, the last one black: the total; bands of one standard error.

    Along a complexity axis `richer_right` says whether a larger value is richer; None where the
    horizontal axis is something else.
    """
    ax = axes(ax)
    order = np.argsort(place, kind="stable")
    place = place[order]
    for i, (name, values) in enumerate(parts.items()):
        colour = "k" if i == len(parts) - 1 else f"C{i}"
        ax.plot(place, values[order], color=colour, label=name)
        band = (values[order] - errors[name][order], values[order] + errors[name][order])
        ax.fill_between(place, *band, color=colour, alpha=0.2, linewidth=0)
    if best is not None:
        ax.axvline(best, color="0.4", linestyle=":", label=f"least {risk}: {best:.4g}")
    if scale == "log" and (place > 0).all():
        ax.set_xscale("log")
    if richer_right is False:
        ax.invert_xaxis()
    ax.set_xlabel(label if richer_right is None else f"{label} (richer to the right)")
    ax.set_ylabel(risk)
    ax.legend()
    return ax


def draw_mean_prediction(
    x: Array, mean: Floats, deviation: Floats, truth: Floats, *, label: str, ax: Any = None
) -> Any:
    """The mean prediction with a band of one standard deviation, and the truth beside it."""
    ax = axes(ax)
    order = np.argsort(x, kind="stable")
    x, mean, deviation, truth = x[order], mean[order], deviation[order], truth[order]
    ax.plot(x, truth, color="k", label="truth")
    ax.plot(x, mean, color="C0", label="mean prediction")
    band = (mean - deviation, mean + deviation)
    ax.fill_between(x, *band, color="C0", alpha=0.2, linewidth=0, label="± one deviation")
    ax.set_xlabel("x")
    ax.set_ylabel(label)
    ax.legend()
    return ax
