"""Do predicted probabilities happen as often as they say? The calibration curve."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from empirisk.charts.calibration import draw_calibration
from empirisk.losses.weighted import TIED
from empirisk.risk.intervals.interval import Interval
from empirisk.risk.intervals.interval import interval as interval_of
from empirisk.risk.measures.judged import JudgedRows
from empirisk.risk.measures.measure import Linearised, Measure, Part, measured
from empirisk.risk.measures.probabilities import checked_shares
from empirisk.risk.measures.ranking import score_of
from empirisk.runtime.arrays import Floats, Ints
from empirisk.runtime.errors import ParameterError
from empirisk.runtime.scalars import is_whole


@dataclass(frozen=True, eq=False)
class CalibrationCurve:
    """Bins of rows with similar predicted probabilities, from small to large.

    Attributes
    ----------
    predicted : array
        The mean predicted probability of each bin.
    observed : array
        The share of positive rows in it.
    intervals : list of (float, float)
        Of that share, for each bin by itself.
    share : array
        Of the rows, by weight, that are in the bin.
    error : Measure
        The expected calibration error, sum over bins of share |observed - predicted|. It depends on
        the bins, hides what cancels inside a bin, and is above 0 for a calibrated classifier too.
    error_if_calibrated : float
        What it would be on average if the predicted probabilities were the true ones, for
        independent rows with these probabilities and bins.

    Examples
    --------
    >>> import numpy as np
    >>> from empirisk import risk
    >>> rng = np.random.default_rng(0)
    >>> p = rng.uniform(size=2000)
    >>> curve = risk.measures.calibration_curve(rng.random(2000) < p, p, n_bins=4)
    >>> bool(np.abs(curve.observed - curve.predicted).max() < 0.05), curve.share.round(2)
    (True, array([0.25, 0.25, 0.24, 0.26]))
    """

    predicted: Floats
    observed: Floats
    intervals: list[tuple[float, float] | None]
    share: Floats
    error: Measure
    error_if_calibrated: float

    def plot(self, ax: Any = None) -> Any:
        """The reliability diagram: observed against predicted, with the interval of each bin."""
        return draw_calibration(
            self.predicted, self.observed, self.intervals, level=self.error.level, ax=ax
        )


def calibration_curve(
    y: Any,
    probability: Any,
    *,
    n_bins: int = 5,
    strategy: Literal["uniform", "quantile"] = "uniform",
    positive: Any = None,
    classes: Any = None,
    sample_weight: Any = None,
    groups: Any = None,
    level: float = 0.95,
) -> CalibrationCurve:
    """Observed shares of the positive class against its predicted probability, bin by bin.

    Parameters
    ----------
    y, probability, positive, classes, sample_weight, groups, level
        As in `log_loss`; of a column for each class that of the positive class is taken.
    n_bins : int
    strategy : {"uniform", "quantile"}
        Bins of equal width, or with equally many rows. Empty bins are left out, and equal
        probabilities are in one bin.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> p = rng.uniform(size=2000)
    >>> curve = calibration_curve(rng.random(2000) < p**2, p, n_bins=4)
    >>> curve.predicted.round(2), curve.observed.round(2)
    (array([0.12, 0.38, 0.62, 0.87]), array([0.02, 0.15, 0.36, 0.78]))
    >>> print(curve.error)
    The expected calibration error (class True) of this model is 0.1684, without an interval: it is
    biased upwards, and calibrated probabilities would show 0.01427 on these rows and bins.
    """
    rows = JudgedRows.of(
        y,
        score=probability,
        labels=classes,
        positive=positive,
        sample_weight=sample_weight,
        groups=groups,
    )
    k = rows.positive(positive)
    given = checked_shares(score_of(rows, k)).astype(float)
    happened = (rows.truth == k).astype(float)
    place = _bins(given, rows.weight, n_bins, strategy)
    weight = np.bincount(place, rows.weight)
    predicted, observed = (np.bincount(place, rows.weight * x) / weight for x in (given, happened))
    share = weight / weight.sum()
    noise = np.bincount(place, np.square(rows.weight / weight[place]) * given * (1 - given))
    # A normal variable with mean 0 is sqrt(2/pi) standard deviations from 0 on average.
    if_calibrated = float(share @ np.sqrt(2 / np.pi * noise))
    bins = [rows[place == b].table(happened[place == b]) for b in range(len(share))]
    part = _error(rows, (happened - given) * np.sign(observed - predicted)[place], if_calibrated)
    name = f"expected calibration error (class {rows.name(k)})"
    return CalibrationCurve(
        predicted=predicted,
        observed=observed,
        intervals=[interval_of(table, level).ends for table in bins],
        share=share,
        error=measured(rows, part, name, level),
        error_if_calibrated=if_calibrated,
    )


def _bins(given: Floats, weight: Floats, n_bins: int, strategy: str) -> Ints:
    """The number of each row's bin, without gaps; an edge belongs to the bin below it."""
    if not is_whole(n_bins, 1):
        raise ParameterError(f"n_bins is {n_bins!r}; give a whole number from 1")
    inner = np.linspace(0, 1, n_bins + 1)[1:-1]
    if strategy == "quantile":
        inner = _quantiles(given, weight, inner)
    elif strategy != "uniform":
        raise ParameterError(f"strategy is {strategy!r}; choose 'uniform' or 'quantile'")
    return np.unique(np.searchsorted(inner, given), return_inverse=True)[1]


def _quantiles(given: Floats, weight: Floats, shares: Floats) -> Floats:
    """The least values with at least these shares of the weight at or below them."""
    order = np.argsort(given)
    below = np.cumsum(weight[order])
    at_least = shares * (below[-1] * (1 - TIED))
    return given[order][np.searchsorted(below, at_least)]


def _error(rows: JudgedRows, losses: Floats, if_calibrated: float) -> Part:
    """The calibration error is the mean of y - p with the sign of its bin."""
    value = float(np.average(losses, weights=rows.weight))
    reason = (
        f"it is biased upwards, and calibrated probabilities would show {if_calibrated:.4g} on "
        "these rows and bins"
    )
    error = rows.table(losses).standard_error()
    none = Interval(value, None, error, "none", reason)
    return Part(Linearised(value, losses - value), lambda level: none, rows.units)
