"""Curves of a classifier as its threshold moves."""

from typing import Any

import numpy as np

from empirisk.charts.axes import as_written, axes
from empirisk.runtime.arrays import Floats


def draw_roc(
    false_positive_rate: Floats,
    true_positive_rate: Floats,
    *,
    label: str = "",
    ax: Any = None,
) -> Any:
    """The share of positives found against that of negatives taken for positive; chance dotted."""
    ax = axes(ax)
    ax.plot(false_positive_rate, true_positive_rate, label=label)
    ax.plot((0, 1), (0, 1), color="0.6", linestyle=":", zorder=0)
    _unit_square(ax, "false positive rate", "true positive rate", label)
    return ax


def draw_precision_recall(
    recall: Floats,
    precision: Floats,
    prevalence: float,
    *,
    label: str = "",
    ax: Any = None,
) -> Any:
    """Precision against recall, in steps; dotted the precision of a guess."""
    ax = axes(ax)
    ax.plot(np.r_[0, recall], np.r_[precision[0], precision], drawstyle="steps-pre", label=label)
    ax.axhline(prevalence, color="0.6", linestyle=":", zorder=0)
    _unit_square(ax, "recall", "precision", label)
    return ax


def _unit_square(ax: Any, x: str, y: str, label: str) -> None:
    ax.set_xlabel(x)
    ax.set_ylabel(y)
    ax.set_xlim(-0.02, 1.02)
    ax.set_ylim(-0.02, 1.02)
    ax.set_aspect("equal")
    if label:
        as_written(ax.legend(loc="lower right"))
