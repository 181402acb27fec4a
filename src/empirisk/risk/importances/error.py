"""From the rises of the losses of rows to an importance, its standard error and its interval.

Rows that take values from one another are no independent observations: a row counts as the one
that is judged, and as the donor. With h(i, k) the rise of the loss of row i when it takes its
values from row k, the importance is the mean of h over pairs, and to first order the mean of

    theta + (mean of h(i, k) over k - theta) + (mean of h(k, i) over k - theta),

the projection of a U-statistic (Hoeffding 1948). The error of that mean is the standard error. The
two inner means are those over the permutations drawn, so what is due to these is in it as well, if
anything too much: with few permutations the interval is somewhat wide. An error from the mean rise
of each row alone, without the donors, is too small: of a linear model under squared loss it covers
88 instead of 95 %.

The ends are those of the skewness-corrected t (Hall 1992), widened as in `risk.intervals`.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import stats

from empirisk.risk.intervals.interval import NO_INTERVAL, SKEW, WIDEST, shared_training
from empirisk.risk.intervals.loss_table import LossTable
from empirisk.runtime.arrays import Floats, Ints

STRAIGHT = 1e-6  # a skewness that bends nothing
REFITTED = 45.0
"""What two models, with and without a column, add to lam^2, times the number of units; simulated:
of linear rules fitted to 30 to 300 rows, 89 to 98 % were covered without it, 95 to 99 % with it."""


@dataclass(frozen=True)
class Rise:
    """The importance of one feature: its value in each repeat, their mean, its error and interval.

    The error is NaN where it is unknown, and so are the ends where no valid interval is known.
    """

    repeats: Floats
    value: float
    standard_error: float
    ends: tuple[float, float]


def of_swapped_rows(
    rises: Floats, donors: Ints, table: LossTable, bounds: tuple[float, float], level: float
) -> Rise:
    """Of rises (repeats, entries) where each entry took its values from the entry `donors`."""
    weight = table.weight
    repeats = rises @ table.share
    value = float(repeats.mean())
    received = weight * (rises - value)
    given = [
        np.bincount(d, r, minlength=len(weight)) for d, r in zip(donors, received, strict=True)
    ]
    influence = (received + np.array(given)).mean(axis=0) / weight
    table = replace(table, losses=value + influence, bounds=bounds)
    return _found(repeats, table, shared_training(table), 0.0, level)


def of_refitted_models(
    rises: Floats, table: LossTable, bounds: tuple[float, float], level: float
) -> Rise:
    """Of rises (repeats, entries) under models that were fitted to permuted columns.

    What differs between the repeats is in all rows at once, and adds its own variance.
    """
    repeats = rises @ table.share
    again = float(error_over_repeats(repeats)) if len(repeats) > 1 else 0.0
    table = replace(table, losses=rises.mean(axis=0), bounds=bounds)
    return _found(repeats, table, shared_when_refitted(table), again, level)


def shared_when_refitted(table: LossTable) -> float:
    """lam^2 for what two models have in common with the rows that judge them."""
    if table.is_model:
        return 1.0
    return min(WIDEST**2, shared_training(table) + REFITTED / table.effective_units)


def _found(repeats: Floats, table: LossTable, shared: float, extra: float, level: float) -> Rise:
    value, error = float(repeats.mean()), table.standard_error()
    nowhere = np.nan, np.nan
    if error is None or table.are_equal:
        return Rise(repeats, value, np.nan if error is None else extra, nowhere)
    skewness = table.skewness
    lam2 = min(WIDEST**2, shared + SKEW * skewness**2)
    error = float(np.hypot(np.sqrt(lam2) * error, extra))
    if table.kind in NO_INTERVAL:
        return Rise(repeats, value, error, nowhere)
    quantile = float(stats.t.ppf((1 + level) / 2, max(table.effective_units - 1, 1)))
    ends = value - error * _bent(quantile, skewness), value - error * _bent(-quantile, skewness)
    return Rise(
        repeats, value, error, (max(ends[0], table.bounds[0]), min(ends[1], table.bounds[1]))
    )


def error_over_repeats(repeats: Floats) -> Any:
    """Of the mean over repeats, the first axis, whose squares may be beyond all numbers."""
    largest = float(np.abs(repeats).max()) or 1.0
    return largest * ((repeats / largest).std(axis=0, ddof=1) / np.sqrt(len(repeats)))


def _bent(x: float, skewness: float) -> float:
    """Where the studentised mean has the quantile x of a straight one (Hall 1992):

    3 ((1 + g (x - g/6))^(1/3) - 1) / g,    g the skewness of the mean.
    """
    if abs(skewness) < STRAIGHT:
        return x
    return 3 * (float(np.cbrt(1 + skewness * (x - skewness / 6))) - 1) / skewness
