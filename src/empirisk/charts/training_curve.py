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
    label: str = "loss",
    score: str | None = None,
    best: int | None = None,
    ax: Any = None,
) -> Any:
    """Training loss and what the rows set aside say, against epochs, which count from 1.

    `validation` is their loss; or their score, where `score` is its name, on an axis of its own at
    the right. The epoch `best` is marked; without it, that of the least loss or highest score of
    the rows set aside. Numbers that are not finite leave a gap.
    """
    ax = axes(ax)
    ax.plot(np.arange(1, len(loss) + 1), loss, color="C0", label=f"training {label}")
    ax.set_xlabel("epoch")
    ax.set_ylabel(label)
    handles, side = list(ax.lines[-1:]), ax
    if validation is not None and len(validation):
        values = np.asarray(validation, dtype=float)
        if score is not None:
            side = ax.twinx()
            side.set_ylabel(score)
        name = f"validation {label}" if score is None else f"validation {score}"
        handles += side.plot(np.arange(1, len(values) + 1), values, color="C1", label=name)
        if best is None and np.isfinite(values).any():
            worth = np.where(np.isfinite(values), values if score else -values, -np.inf)
            best = int(np.argmax(worth)) + 1
        if best is not None:
            side.plot([best], [values[best - 1]], "o", color="C1", markersize=5)
    if best is not None:
        handles.append(ax.axvline(best, color="0.4", linestyle=":", label=f"best epoch: {best}"))
    # Of two axes, on the one that is drawn last, in the middle: one curve falls, one rises.
    side.legend(handles=handles, loc="best" if side is ax else "center right")
    return ax
