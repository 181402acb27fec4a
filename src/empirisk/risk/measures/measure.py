"""`Measure`: an estimate of what is no mean loss, such as AUC or F.

To first order a statistic T of the rows is a mean, that of T + influence_i. So it has losses row by
row like any risk, its standard error is that of the delta method, and two measures on the same rows
have a paired difference.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import stats
from scipy.special import expit, logit

from empirisk.charts.intervals import draw_intervals
from empirisk.risk.cautions import cautions
from empirisk.risk.estimate import RiskEstimate
from empirisk.risk.intervals import Interval, none, widening
from empirisk.risk.loss_table import LossTable
from empirisk.risk.measures.judged import JudgedRows
from empirisk.runtime.arrays import Floats
from empirisk.runtime.errors import ParameterError

FEW_OF_A_CLASS = 20  # below, simulated 95 % intervals of AUC covered 92 to 100 %
NO_SPREAD = "the rows show no spread"


class Measure(RiskEstimate):
    """A measure of a classifier, with the fields of a `RiskEstimate`; `loss` is its name.

    `losses` are value + influence of each row: their mean is the value, and the standard error of
    that mean is the one of the delta method. Measures of two classifiers on the same rows subtract.
    """

    @property
    def sentence(self) -> str:
        """The measure in words that can be read out."""
        return super().sentence.replace(f"{self.loss} risk", self.loss, 1)

    def __repr__(self) -> str:
        return super().__repr__().replace("RiskEstimate", "Measure", 1)

    def plot(self, ax: Any = None) -> Any:
        """The value and its interval."""
        return draw_intervals([self.loss], [self.value], [self.interval], label=self.loss, ax=ax)


@dataclass(frozen=True, eq=False)
class Linearised:
    """A statistic of the rows, and how it moves when a row gets more weight.

    The influences have the weighted mean zero.
    """

    value: float
    influence: Floats

    @property
    def losses(self) -> Floats:
        return self.value + self.influence


@dataclass(frozen=True, eq=False)
class Part:
    """A statistic, its interval at a level, and how many independent units it rests on."""

    statistic: Linearised
    interval: Callable[[float], Interval]
    units: int


def ratio(numerator: Floats, denominator: Floats, weight: Floats) -> Linearised:
    """R = sum w a / sum w d, with influence_i = (a_i - R d_i) sum w / sum w d."""
    total = float(weight @ denominator)
    value = float(weight @ numerator) / total
    influence = (numerator - value * denominator) / (total / float(weight.sum()))
    return Linearised(value, influence)


def measured(rows: JudgedRows, part: Part, name: str, level: float) -> Measure:
    """The part as an estimate of the model that was judged."""
    if not 0 < level < 1:
        raise ParameterError(f"level is {level}; it must lie between 0 and 1, such as 0.95")
    return Measure.of(
        rows.table(part.statistic.losses),
        loss=name,
        estimates="this model",
        fingerprint=rows.fingerprint,
        level=level,
        found=replace(part.interval(level), centre=part.statistic.value),
    )


def mean_of(rows: JudgedRows, parts: Sequence[Part], share: Floats | None = None) -> Part:
    """The mean of measures, one for each class; with shares, those of the true classes.

    The shares vary with the rows as well. Where the rows show no spread, all being right for
    instance, the interval is the mean of the intervals of the parts, each at the level
    1 - (1 - level)/parts (Bonferroni).
    """
    values = np.array([part.statistic.value for part in parts])
    of_part = np.full(len(parts), 1 / len(parts)) if share is None else share
    influence = of_part @ np.array([part.statistic.influence for part in parts])
    if share is not None:
        influence += values[rows.truth] - share @ values
    statistic = Linearised(float(of_part @ values), influence)
    table = rows.table(statistic.losses)
    units = min(part.units for part in parts)

    def interval(level: float) -> Interval:
        found = logit_interval(table, level, units)
        varies = share is not None and values.min() < values.max()
        if found.ends is not None or varies:
            return found
        each = [part.interval(1 - (1 - level) / len(parts)).ends for part in parts]
        if None in each:
            return found
        low, high = of_part @ np.array(each)
        reason = f"{NO_SPREAD}, so the classes are bounded one by one"
        return replace(found, ends=(float(low), float(high)), method="Bonferroni", reason=reason)

    return Part(statistic, interval, units)


def logit_interval(
    table: LossTable, level: float, units: int, *, method: str = "delta method"
) -> Interval:
    """On the logit scale T ± t lam s / (T (1 - T)): inside 0 and 1, and skew near them.

    t has the degrees of freedom of the scarcest class, which has so many units.
    """
    value, error = table.mean(), table.standard_error()
    if not 0 < value < 1 or table.are_equal or not error:
        return none(table, value, NO_SPREAD)
    if units < 2:
        return none(table, value, "a class has a single row, which shows no spread")
    lam = widening(table)
    half = float(stats.t.ppf((1 + level) / 2, units - 1)) * lam * error / (value * (1 - value))
    ends = float(expit(logit(value) - half)), float(expit(logit(value) + half))
    reason = "the rows took no part in the model"
    if not table.is_model:
        reason = f"the folds share training rows, so {lam:.2f} times the error of independent rows"
    few = f"{units} rows of a class are few, and the interval is approximate"
    heard = (few,) if units < FEW_OF_A_CLASS else cautions(table)
    return Interval(value, ends, lam * error, f"{method} on the logit scale", reason, heard)
