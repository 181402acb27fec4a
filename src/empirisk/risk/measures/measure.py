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
from empirisk.risk.estimate import Estimand, RiskEstimate
from empirisk.risk.intervals.cautions import cautions
from empirisk.risk.intervals.interval import (
    Interval,
    drawn_out,
    freedom_of_error,
    none,
    shared_reason,
    shared_training,
    unseen,
)
from empirisk.risk.intervals.loss_table import LossTable
from empirisk.risk.measures.judged import JudgedRows
from empirisk.runtime.arrays import Floats
from empirisk.runtime.errors import DataError, PlanError
from empirisk.runtime.scalars import check_level

FEW_OF_A_CLASS = 20  # below, simulated 95 % intervals of AUC covered 92 to 100 %
NO_SPREAD = "the rows show no spread"


class Measure(RiskEstimate):
    """A measure of a classifier, with the fields of a `RiskEstimate`; `loss` is its name.

    `losses` are value + influence of each row: their mean is the value, and the standard error of
    that mean is the one of the delta method. Measures of two classifiers on the same rows subtract.

    Examples
    --------
    >>> from empirisk import risk
    >>> found = risk.measures.auc([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> found.loss, found.value, float(found.losses.mean())
    ('AUC (class 1)', 0.75, 0.75)
    """

    @property
    def quantity(self) -> str:
        """The name of the measure, as a sentence calls it."""
        return self.loss

    def plot(self, ax: Any = None) -> Any:
        """The value and its interval."""
        return draw_intervals([self.loss], [self.value], [self.interval], label=self.loss, ax=ax)


@dataclass(frozen=True, eq=False)
class Linearised:
    """A statistic of the rows, and how it moves when a row gets more weight.

    The influences have the weighted mean zero. `under` is the statistic under other weights of the
    rows, (resamples, rows) -> (resamples,), NaN where it is undefined. `of_folds` are losses of
    which the mean over a fold is the statistic there, where that of `losses` is something else.
    """

    value: float
    influence: Floats
    under: Callable[[Floats], Floats] | None = None
    of_folds: Floats | None = None

    @property
    def losses(self) -> Floats:
        return self.value + self.influence

    def table(self, rows: JudgedRows) -> LossTable:
        """The losses of the rows, as intervals want them."""
        return replace(rows.table(self.losses), of_folds=self.of_folds)

    def at(self, weights: Floats) -> Floats:
        """The statistic of each resample."""
        assert self.under is not None
        return self.under(weights)


@dataclass(frozen=True, eq=False)
class Part:
    """A statistic, its interval at a level, and what the units that it rests on are worth."""

    statistic: Linearised
    interval: Callable[[float], Interval]
    units: float


def ratio(numerator: Floats, denominator: Floats, weight: Floats) -> Linearised:
    """R = sum w a / sum w d, with influence_i = (a_i - R d_i) sum w / sum w d."""
    total = float(weight @ denominator)
    value = float(weight @ numerator) / total
    influence = (numerator - value * denominator) / (total / float(weight.sum()))

    def under(weights: Floats) -> Floats:
        return quotient(weights @ numerator, weights @ denominator)

    return Linearised(value, influence, under)


def quotient(numerator: Floats, denominator: Floats) -> Floats:
    """NaN where it is undefined."""
    undefined = np.full(np.shape(numerator), np.nan)
    return np.divide(numerator, denominator, out=undefined, where=denominator > 0)


def within_splits(rows: JudgedRows, of: Callable[[JudgedRows], Linearised]) -> Linearised:
    """The mean over the splits by weight, since scores of different models do not compare."""
    if rows.split is None:
        return of(rows)
    losses = np.empty(rows.n)
    for s in np.unique(rows.split):
        own = rows.split == s
        try:
            part = of(rows[own])
        except DataError as error:
            raise PlanError(f"in split {s} {error}, or use fewer or stratified folds") from error
        if own.all():
            return part
        losses[own] = part.losses
    value = rows.table(losses).mean()
    return Linearised(value, losses - value)


def measured(
    rows: JudgedRows,
    part: Part,
    name: str,
    level: float,
    by: Callable[[JudgedRows, Part, float], Interval] | None = None,
    estimates: Estimand = "this model",
) -> Measure:
    """The part as an estimate; its interval is its own, or found `by` another way."""
    check_level(level)
    found = part.interval(level) if by is None else by(rows, part, level)
    return Measure.of(
        part.statistic.table(rows),
        loss=name,
        estimates=estimates,
        fingerprint=rows.fingerprint,
        level=level,
        found=replace(found, centre=part.statistic.value),
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

    def under(weights: Floats) -> Floats:
        each = np.stack([part.statistic.at(weights) for part in parts], axis=1)
        if share is None:
            return each @ of_part
        of_class = weights @ (rows.truth[:, None] == np.arange(len(parts)))
        there = of_class > 0  # a class that was not drawn has no measure, and no share
        return np.where(there, of_class * each, 0.0).sum(axis=1) / of_class.sum(axis=1)

    statistic = Linearised(float(of_part @ values), influence, under)
    if any(part.statistic.of_folds is not None for part in parts):
        known = [part.statistic.of_folds for part in parts]
        statistic = replace(statistic, of_folds=of_part @ np.array(known))
    table = statistic.table(rows)
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
    table: LossTable, level: float, units: float, *, method: str = "delta method"
) -> Interval:
    """On the logit scale T ± t lam s / (T (1 - T)): inside 0 and 1, and skew near them.

    t has the degrees of freedom of the scarcest class, which is worth so many units.
    """
    value, error = table.mean(), table.standard_error()
    if not 0 < value < 1 or table.are_equal or not error:
        return none(table, value, NO_SPREAD)
    if units <= 1:
        return none(table, value, "a class has a single row, which shows no spread")
    by_rows = float(np.sqrt(shared_training(table)))
    lam, freedom = drawn_out(table, by_rows), freedom_of_error(table, units - 1, by_rows)
    half = float(stats.t.ppf((1 + level) / 2, freedom)) * lam * error / (value * (1 - value))
    ends = float(expit(logit(value) - half)), float(expit(logit(value) + half))
    reason = f"{unseen(table)}the rows took no part in the model"
    if not table.is_model:
        reason = shared_reason(table, lam)
    heard = few_of_a_class(table, units)
    return Interval(value, ends, lam * error, f"{method} on the logit scale", reason, heard)


def few_of_a_class(table: LossTable, units: float) -> tuple[str, ...]:
    """What an interval does not guarantee whose scarcest class is worth so many units."""
    what = f"{units:.0f} rows of a class"
    if units % 1:
        what = f"rows of a class worth {units:.0f} of equal weight"
    few = f"{what} are few, and the interval is approximate"
    heard = cautions(table)
    return (few, *heard) if units < FEW_OF_A_CLASS else heard
