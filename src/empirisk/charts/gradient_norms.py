"""How long the gradient of each layer is while a network is trained: does it vanish?"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from empirisk.charts.axes import as_written, axes
from empirisk.runtime.arrays import Floats


def draw_gradient_norms(
    norms: Floats, *, names: Sequence[str] | None = None, ax: Any = None
) -> Any:
    """A line for each layer of norms (epochs, layers), dark for the first; epochs count from 1.

    The scale is logarithmic, so that a factor lost from layer to layer is a distance. A norm of 0
    has no place on it and is a triangle at the bottom; what is not finite leaves a gap.
    """
    from matplotlib import colormaps

    ax = axes(ax)
    norms = np.asarray(norms, dtype=float)
    epochs, layers = np.arange(1, len(norms) + 1), norms.shape[1]
    seen = norms[np.isfinite(norms) & (norms > 0)]
    floor = seen.min() / 3 if len(seen) else 1.0
    ax.set_yscale("log")
    for j in range(layers):
        colour = colormaps["viridis"](0.9 * j / max(layers - 1, 1))
        name = f"layer {j + 1}" if names is None else names[j]
        shown = np.where(np.isfinite(norms[:, j]) & (norms[:, j] > 0), norms[:, j], np.nan)
        ax.plot(epochs, shown, color=colour, label=name)
        zero = norms[:, j] == 0
        if zero.any():
            ax.plot(epochs[zero], np.full(zero.sum(), floor), "v", color=colour, markersize=5,
                    label=f"{name}: 0")  # fmt: skip
    ax.set_xlabel("epoch")
    ax.set_ylabel("norm of the gradient")
    as_written(ax.legend(fontsize="small", loc="center left", bbox_to_anchor=(1.0, 0.5)))
    return ax
