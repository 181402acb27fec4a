"""The ROC curve: what a classifier finds, and what it takes wrongly, as its threshold moves."""

from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np

from empirisk.charts.roc import draw_roc
from empirisk.risk.measures.bootstrapped import Drawing, interval_by
from empirisk.risk.measures.judged import JudgedRows
from empirisk.risk.measures.measure import Measure, measured
from empirisk.risk.measures.ranking import area, score_of
from empirisk.runtime.arrays import Array, Bools, Floats


@dataclass(frozen=True, eq=False)
class RocCurve:
    """The rates at every threshold, from the strictest, which lets no row pass, to the laxest.

    Attributes
    ----------
    false_positive_rate, true_positive_rate : arrays
        The shares of the negative and of the positive rows with score >= threshold.
    thresholds : array
        Infinite, then every score that occurs, from the largest on.
    auc : Measure
        The area under the curve.

    Examples
    --------
    >>> from empirisk import risk
    >>> curve = risk.measures.roc_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> curve.auc.value, curve.true_positive_rate
    (0.75, array([0. , 0.5, 0.5, 1. , 1. ]))
    """

    false_positive_rate: Floats
    true_positive_rate: Floats
    thresholds: Array
    auc: Measure

    def plot(self, ax: Any = None) -> Any:
        """The curve, and the area with its interval."""
        label = f"{self.auc.loss}: {self.auc.value:.3f}"
        if self.auc.interval is not None:
            low, high = self.auc.interval
            label += f" ({low:.3f} to {high:.3f} at {100 * self.auc.level:g} %)"
        return draw_roc(self.false_positive_rate, self.true_positive_rate, label=label, ax=ax)


def roc_curve(
    y: Any,
    score: Any,
    *,
    positive: Any = None,
    classes: Any = None,
    sample_weight: Any = None,
    groups: Any = None,
    level: float = 0.95,
    **drawing: Unpack[Drawing],
) -> RocCurve:
    """The ROC curve of the positive class against all others; parameters as in `auc`.

    Examples
    --------
    >>> curve = roc_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> curve.thresholds
    array([ inf, 0.8 , 0.4 , 0.35, 0.1 ])
    >>> curve.true_positive_rate
    array([0. , 0.5, 0.5, 1. , 1. ])
    >>> curve.false_positive_rate
    array([0. , 0. , 0.5, 0.5, 1. ])
    """
    rows = JudgedRows.of(
        y,
        score=score,
        labels=classes,
        positive=positive,
        sample_weight=sample_weight,
        groups=groups,
    )
    k = rows.positive(positive)
    part, name = area(rows, rows.classes[k], "ovr")
    thresholds, found, wrong = passed(score_of(rows, k), rows.truth == k, rows.weight)
    return RocCurve(
        false_positive_rate=wrong / wrong[-1],
        true_positive_rate=found / found[-1],
        thresholds=thresholds,
        auc=measured(rows, part, name, level, interval_by(**drawing)),
    )


def passed(score: Array, positive: Bools, weight: Floats) -> tuple[Array, Floats, Floats]:
    """Thresholds from infinity down, and the weight of positives and of negatives at or above."""
    distinct, run = np.unique(score, return_inverse=True)
    of_positive = np.bincount(run, np.where(positive, weight, 0.0))[::-1]
    of_negative = np.bincount(run, np.where(positive, 0.0, weight))[::-1]
    thresholds = np.r_[np.inf, distinct[::-1].astype(float)]
    return thresholds, np.r_[0.0, np.cumsum(of_positive)], np.r_[0.0, np.cumsum(of_negative)]
