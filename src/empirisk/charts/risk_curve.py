"""Training risk against honest risk along the complexity axis: the picture of the lecture notes."""

from typing import Any

import numpy as np

from empirisk.charts.axes import axes
from empirisk.runtime.arrays import Array, Floats


def draw_risk_curve(
    values: Array,
    risk: Floats,
    standard_error: Floats | None,
    training_risk: Floats | None,
    *,
    label: str,
    scale: str,
    chosen: Any = None,
    said: str | None = None,
    richer_right: bool = True,
    ax: Any = None,
) -> Any:
    """Complexity grows to the right; the band is one standard error; the line is the choice.

    `said` is what the choice is called; None is its place.
    """
    ax = axes(ax)
    (line,) = ax.plot(values, risk, color="C0", label="honest risk")
    if standard_error is not None:
        band = (risk - standard_error, risk + standard_error)
        ax.fill_between(values, *band, color=line.get_color(), alpha=0.2, linewidth=0)
    if training_risk is not None:
        ax.plot(values, training_risk, color="C1", linestyle="--", label="training risk")
    if chosen is not None:
        name = f"{chosen:.4g}" if said is None else said
        ax.axvline(chosen, color="0.4", linestyle=":", label=f"chosen: {name}")
    positive = values[values > 0]
    if scale == "log" and len(positive) == len(values):
        ax.set_xscale("log")
    elif scale == "log" and len(positive) and values.min() == 0:  # no penalty is a value too
        least = positive.min()
        decade = 10.0 ** np.floor(np.log10(least)) or least  # 10 ** -324 is 0
        # The axis goes on straight to 0 from a whole power: one nearer to 0 has its label on that
        # of 0. And from a little more, since the log of a power may be rounded down.
        ax.set_xscale("symlog", linthresh=decade * (1 + 1e-9))
        ax.set_xlim(0.0, 1.5 * positive.max())
    top = _top(risk, risk[values.argmin() if richer_right else values.argmax()])
    if top is not None:
        ax.set_ylim(-0.05 * top, top)
    if not richer_right:
        ax.invert_xaxis()
    ax.set_xlabel(f"{label} (richer to the right)")
    ax.set_ylabel("risk")
    ax.legend()
    return ax


def _top(risk: Floats, simplest: float) -> float | None:
    """Where to cut a curve that explodes among the rich, or nothing else would be seen; or None."""
    if not np.isfinite(risk).all() or risk.min() < 0.0:
        return None
    usual = max(simplest, 2 * risk.min())
    return 2 * usual if risk.max() > 10 * usual else None
