"""Cross-validated error against the size of a tree, as R's `plotcp` draws it."""

from typing import Any

import numpy as np

from empirisk.charts.axes import axes
from empirisk.runtime.arrays import Floats, Ints

MOST_LABELS = 9


def draw_pruning_curve(
    cp: Floats,
    leaves: Ints,
    xerror: Floats,
    xstd: Floats,
    rel_error: Floats,
    *,
    chosen: int | None = None,
    ax: Any = None,
) -> Any:
    """A point with one standard error for each tree, small trees first; dashed, the limit of the
    one-standard-error rule."""
    ax = axes(ax)
    place = np.arange(len(cp))
    ax.errorbar(place, xerror, yerr=np.nan_to_num(xstd), fmt="o-", color="C0", linewidth=1,
                markersize=4, capsize=2, label="cross-validated")  # fmt: skip
    ax.plot(place, rel_error, "--", color="C1", linewidth=1, label="training")
    best = int(np.argmin(xerror))
    ax.axhline(xerror[best] + np.nan_to_num(xstd[best]), color="0.4", linestyle="--",
               linewidth=0.8, label="least + one standard error")  # fmt: skip
    if chosen is not None:
        ax.axvline(chosen, color="0.4", linestyle=":", label=f"chosen: {leaves[chosen]} leaves")
    step = -(-len(cp) // MOST_LABELS)
    shown = place[::step]
    ax.set_xticks(shown, labels=[f"{leaves[i]}\n{cp[i]:.2g}" for i in shown])
    ax.set_xlabel("leaves, and the CP at which the tree begins")
    ax.set_ylabel("error relative to the root's")
    ax.legend(fontsize="small")
    return ax
