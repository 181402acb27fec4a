"""The components of a mixture: ellipses of two features, or the parts of a density of one."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from empirisk.charts.axes import axes, name_sides
from empirisk.charts.class_ellipses import draw_class_ellipses
from empirisk.charts.decision_boundary import class_colours
from empirisk.runtime.arrays import Floats, Ints


def draw_ellipses(
    means: Floats,
    roots: Floats,
    share: float,
    X: Floats | None,
    labels: Ints | None,
    names: Sequence[str],
    *,
    ax: Any = None,
) -> Any:
    """Ellipses that hold a share of each component, over rows in the colours of components."""
    ax = axes(ax)
    if X is not None and labels is not None:
        for k, colour in enumerate(class_colours(len(means))):
            here = labels == k
            ax.scatter(X[here, 0], X[here, 1], s=6, color=colour, alpha=0.5)
    name_sides(ax, names)
    return draw_class_ellipses(means, list(roots), share, ax=ax)


def draw_density_parts(
    at: Floats, parts: Floats, X: Floats | None, name: str, *, ax: Any = None
) -> Any:
    """A density and its weighted components along one feature, over a histogram of rows."""
    ax = axes(ax)
    if X is not None:
        ax.hist(X[~np.isnan(X)], bins="auto", density=True, color="0.85")
    for part, colour in zip(parts.T, class_colours(parts.shape[1]), strict=True):
        ax.plot(at, part, color=colour, linewidth=1, linestyle="--")
    ax.plot(at, parts.sum(axis=1), color="k", linewidth=1.5)
    name_sides(ax, [name])
    ax.set_ylabel("density")
    return ax


def draw_number_of_components(
    values: Ints,
    score: Floats,
    standard_error: Floats | None,
    by: str,
    chosen: int,
    *,
    ax: Any = None,
) -> Any:
    """A criterion along the number of components, one standard error about it, and the choice."""
    ax = axes(ax)
    ax.errorbar(values, score, yerr=standard_error, marker="o", markersize=4, capsize=3)
    ax.axvline(chosen, color="C3", linestyle="--", label=f"{chosen} component(s)")
    ax.set_xlabel("number of components")
    ax.set_ylabel("mean -log density of rows held out" if by == "held_out" else by.upper())
    ax.legend()
    return ax
