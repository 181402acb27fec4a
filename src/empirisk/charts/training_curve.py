"""The loss of a network as it is trained, epoch by epoch."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from empirisk.charts.axes import axes
from empirisk.runtime.arrays import Floats


def draw_training_curve(
    loss: Floats | Sequence[float],
    validation: Floats | Sequence[float] | None = None,
    *,
    ax: Any = None,
) -> Any:
    """Training loss and that of the rows set aside, against epochs, which count from 1.

    The epoch of the least loss of the rows set aside is marked. Numbers that are not finite leave
    a gap.
    """
    ax = axes(ax)
    handles = ax.plot(np.arange(1, len(loss) + 1), loss, color="C0", label="training loss")
    ax.set_xlabel("epoch")
    ax.set_ylabel("loss")
    if validation is not None and len(validation):
        values = np.asarray(validation, dtype=float)
        epochs = np.arange(1, len(values) + 1)
        handles += ax.plot(epochs, values, color="C1", label="validation loss")
        if np.isfinite(values).any():
            best = int(np.argmin(np.where(np.isfinite(values), values, np.inf)))
            ax.plot(epochs[best], values[best], "o", color="C1", markersize=5)
            label = f"best epoch: {epochs[best]}"
            handles.append(ax.axvline(epochs[best], color="0.4", linestyle=":", label=label))
    ax.legend(handles=handles)
    return ax
