"""The bootstrap interval of a measure: rows, or groups, are drawn again and measured again."""

from collections.abc import Callable
from typing import Any, Literal, TypedDict

import numpy as np
from scipy import stats
from scipy.special import ndtr

from empirisk.risk.intervals.interval import Interval, none
from empirisk.risk.measures.judged import JudgedRows
from empirisk.risk.measures.measure import Linearised, Part, few_of_a_class
from empirisk.risk.resampling.intervals import bca, mean_and_spread
from empirisk.risk.resampling.sample import Resamples, Sample, whole_number
from empirisk.risk.resampling.statistic import Statistic
from empirisk.runtime.arrays import Floats
from empirisk.runtime.errors import DataError, ParameterError
from empirisk.runtime.streams import spawn

Method = Literal["auto", "bootstrap"]
Way = Callable[[JudgedRows, Part, float], Interval]
ENOUGH = 0.5  # of the resamples must have the classes that the measure is about


class Drawing(TypedDict, total=False):
    """How the interval of a measure is found; see `auc`."""

    method: Method
    n_resamples: int
    random_state: Any


def interval_by(
    method: str = "auto", n_resamples: int = 1999, random_state: Any = None, **unknown: Any
) -> Way:
    """The way to the interval of a part: its own, or by drawing so many resamples."""
    if unknown:
        raise ParameterError(
            f"{next(iter(unknown))!r} is no option of this measure; of its interval there are "
            "method, n_resamples and random_state"
        )
    if method == "auto":
        return lambda rows, part, level: part.interval(level)
    if method != "bootstrap":
        raise ParameterError(f"method is {method!r}; a measure takes 'auto' or 'bootstrap'")
    n_resamples = whole_number(n_resamples, "n_resamples", 2)
    return lambda rows, part, level: bootstrapped(rows, part, level, n_resamples, random_state)


def bootstrapped(
    rows: JudgedRows, part: Part, level: float, n_resamples: int, random_state: Any
) -> Interval:
    """The BCa interval (Efron 1987) at the `expanded` level, its acceleration from the influences.

    Where all resamples agree, every row being right for instance, they show nothing, and the
    interval is the part's own.
    """
    table, value = rows.table(part.statistic.losses), part.statistic.value
    if not table.is_model:
        raise ParameterError(
            "the bootstrap is for the rows of one model; cross-validated predictions come from "
            "models that share training rows: take method='auto'"
        )
    if part.units <= 1:
        return none(table, value, "a class has a single row, which shows no spread")
    statistic = OfCopies(rows, part.statistic)
    resamples = Resamples(statistic.sample.n, statistic.sample.n, n_resamples, _seed(random_state))
    drawn = statistic.replicates(resamples)
    replicates = drawn[np.isfinite(drawn[:, 0])]
    if len(replicates) < ENOUGH * n_resamples:
        return none(table, value, f"{n_resamples - len(replicates):,} resamples lack a class")
    if np.ptp(replicates) == 0:
        return part.interval(level)
    wider = expanded(level, part.units, len(replicates))
    try:
        low, high = bca(np.array([value]), replicates, statistic.left_out(), wider)
    except DataError:
        return none(table, value, "all resamples lie on one side of it")
    doubts = few_of_a_class(table, part.units)
    if len(replicates) < n_resamples:
        doubts += (f"{n_resamples - len(replicates):,} resamples that lack a class are left out",)
    reason = f"{n_resamples:,} resamples of the {statistic.sample.unit_name}"
    error = float(mean_and_spread(replicates)[1][0])
    return Interval(value, (float(low[0]), float(high[0])), error, "BCa bootstrap", reason, doubts)


def expanded(level: float, units: float, resamples: int) -> float:
    """The level whose normal quantiles are the t quantiles of `level`.

    Resamples allow for no error in their own spread; t does, with the degrees of freedom of the
    scarcest class, which is worth so many units. These are the expanded percentiles of Hesterberg
    (2015, What Teachers Should Know About the Bootstrap, American Statistician 69) without his
    factor sqrt(m / (m - 1)), which made intervals under uneven weights too long. The level is no
    higher than so many resamples can tell.
    """
    t = stats.t.ppf((1 + level) / 2, units - 1)
    return max(level, min(float(1 - 2 * ndtr(-t)), 1 - 2 / (resamples + 1)))


class OfCopies(Statistic):
    """A measure as a function of how many copies of each unit there are."""

    def __init__(self, rows: JudgedRows, statistic: Linearised) -> None:
        plain = rows.units == rows.n
        self.sample = Sample.of(np.arange(rows.n), None, None if plain else rows.unit)
        self.name, self.shape, self.statistic = "measure", (), statistic
        # Scaled, so that products of their sums stay in range.
        self.weight: Floats = rows.weight / rows.weight.max()

    def of(self, copies: Floats) -> Floats:
        weights: Floats = copies[:, self.sample.units] * self.weight
        return self.statistic.at(weights)[:, None]

    def left_out(self) -> Floats:
        """Without each unit in turn, to first order: value - sum_{i in u} w_i influence_i / W."""
        share = self.weight / self.weight.sum()
        moves = np.bincount(self.sample.units, share * self.statistic.influence).astype(float)
        return (self.statistic.value - moves)[:, None]


def _seed(random_state: Any) -> int:
    return spawn(random_state, 1)[0]
