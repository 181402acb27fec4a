"""What all bounds share: losses brought to [0, 1], units that are independent, the result."""

from dataclasses import dataclass, fields, replace
from typing import Any, Literal, NoReturn

import numpy as np

from empirisk.risk.estimate import RiskEstimate
from empirisk.risk.intervals.loss_table import LossTable
from empirisk.risk.measures.measure import Measure
from empirisk.runtime.arrays import Floats, Ints
from empirisk.runtime.errors import DataError, ParameterError
from empirisk.runtime.scalars import check_level, real

Sides = Literal["upper", "lower", "both"]
Range = tuple[float, float]
MEAN_MEASURES = ("accuracy",)
"""Measures that are means over the rows; the larger, the better."""


@dataclass(frozen=True, eq=False, repr=False)
class Bound(RiskEstimate):
    """A `RiskEstimate` whose interval is a bound: it reaches from the least loss there can be to
    the bound ("upper"), from the bound to the largest ("lower"), or from bound to bound.

    `value` is the mean of the losses that were seen, `source` the estimate that was bounded.

    Examples
    --------
    >>> import numpy as np
    >>> from empirisk import risk
    >>> y = np.arange(100) % 2
    >>> guess = risk.evaluate(lambda X: X[:, 0] > 0, y[:, np.newaxis] + 0.0, y == 1)
    >>> bound = risk.bounds.clopper_pearson(guess)
    >>> bound.value, round(bound.interval[1], 4), bound.source is guess
    (0.0, 0.0295, True)
    """

    sides: Sides = "both"
    source: RiskEstimate | None = None

    @property
    def quantity(self) -> str:
        """What is bounded, as a sentence calls it."""
        return super().quantity if self.source is None else self.source.quantity

    @property
    def subject(self) -> str:
        """What it is the risk of, as a sentence calls it."""
        return super().subject if self.source is None else self.source.subject

    @property
    def ends(self) -> str:
        """The bound, for a table."""
        if self.interval is None or self.sides == "both":
            return super().ends
        low, high = self.interval
        return f"<= {high:.4g}" if self.sides == "upper" else f">= {low:.4g}"

    @property
    def sentence(self) -> str:
        """The bound in words that can be read out."""
        if self.interval is None:
            return super().sentence
        low, high = self.interval
        words = {
            "upper": f"at most {high:.4g}",
            "lower": f"at least {low:.4g}",
            "both": f"between {low:.4g} and {high:.4g}",
        }[self.sides]
        what = f"difference in {self.quantity}" if self.is_difference else self.quantity
        trained = self.table is not None and self.table.kind == "training"
        rows = "training" if trained else "held-out"
        return (
            f"The {what} of {self.subject} is {words} with probability {100 * self.level:g} % "
            f"({self.method}: {self.reason}); it is {self.value:.4g} on the {rows} rows."
        )

    def __sub__(self, other: Any) -> NoReturn:
        raise ParameterError(
            "bounds do not subtract: subtract the estimates, and bound their difference"
        )


def error_probability(level: float, sides: Sides) -> float:
    """What a bound on one side may fail with."""
    check_level(level)
    if sides not in ("upper", "lower", "both"):
        raise ParameterError(f"sides is {sides!r}; choose 'upper', 'lower' or 'both'")
    return (1 - level) / (2 if sides == "both" else 1)


@dataclass(frozen=True, eq=False)
class BoundedLosses:
    """Losses of an estimate as shares of their range, a mean for each independent unit.

    `share` are the weights of the units, which sum to one; `delta` is what a bound on one side may
    fail with.
    """

    estimate: RiskEstimate
    table: LossTable
    low: float
    high: float
    losses: Floats
    share: Floats
    level: float
    sides: Sides

    @classmethod
    def of(
        cls, estimate: RiskEstimate, loss_range: Range | None, level: float, sides: Sides | None
    ) -> "BoundedLosses":
        table = checked_table(estimate)
        low, high = table.bounds if loss_range is None else _ends(loss_range)
        if not (np.isfinite(low) and np.isfinite(high) and low < high):
            raise ParameterError(
                f"the {estimate.loss} loss has the range {low:g} to {high:g}; a bound needs a "
                "finite one: give loss_range=(least, largest) where it is known beforehand"
            )
        if table.losses.min() < low or table.losses.max() > high:
            raise DataError(
                f"there are losses from {table.losses.min():.4g} to {table.losses.max():.4g}, "
                f"outside of the range {low:g} to {high:g}"
            )
        share, losses = unit_means(table)
        losses = losses / (high - low) - low / (high - low)
        if sides is None:
            sides = "lower" if larger_is_better(estimate) else "upper"
        return cls(estimate, table, low, high, losses, share, level, sides)

    @property
    def mean(self) -> float:
        return min(max(float(self.share @ self.losses), 0.0), 1.0)

    @property
    def delta(self) -> float:
        return error_probability(self.level, self.sides)

    @property
    def are_equal(self) -> bool:
        """Whether all units have one weight."""
        return bool(np.ptp(self.share) <= 1e-9 * self.share.max())

    @property
    def assumptions(self) -> str:
        """What a bound for one model takes for granted."""
        units, sizes = "rows", "weights"
        if self.table.is_grouped:
            units, sizes = f"{len(self.share)} groups", "sizes"
        text = f"for any distribution, if the {units} are independent and took no part in the model"
        return text if self.are_equal else f"{text}, and their {sizes} are taken as given"

    def result(self, lower: float, upper: float, *, method: str, reason: str = "") -> Bound:
        """Ends given as shares of the range, of which those count that are wanted."""
        width = self.high - self.low
        ends = (self.low + max(lower, 0.0) * width, self.low + min(upper, 1.0) * width)
        return bounded(
            self.estimate, self.table, one_sided(ends, (self.low, self.high), self.sides),
            level=self.level, sides=self.sides, method=method, reason=reason or self.assumptions,
        )  # fmt: skip


def one_sided(ends: Range, loss_range: Range, sides: Sides) -> Range:
    """The ends that are wanted; on the other side, that of the range."""
    low = loss_range[0] if sides == "upper" else ends[0]
    high = loss_range[1] if sides == "lower" else ends[1]
    return low, high


def bounded(
    estimate: RiskEstimate,
    table: LossTable,
    ends: Range,
    *,
    level: float,
    sides: Sides,
    method: str,
    reason: str,
) -> Bound:
    """The estimate with a bound as its interval."""
    given = {field.name: getattr(estimate, field.name) for field in fields(RiskEstimate)}
    given |= {
        "value": table.mean(),
        "standard_error": table.standard_error(),
        "interval": ends,
        "level": level,
        "method": method,
        "reason": reason,
        "table": table,
        "cautions": (),
        "uncorrected": None,
    }
    return Bound(**given, sides=sides, source=estimate)


def larger_is_better(estimate: RiskEstimate) -> bool:
    """Whether it is a measure of which one wants much."""
    return isinstance(estimate, Measure) and estimate.loss in MEAN_MEASURES


def _ends(loss_range: Range) -> Range:
    """The least and the largest loss, as they were given."""
    if np.shape(loss_range) != (2,) or any(real(end) is None for end in loss_range):
        raise ParameterError(f"loss_range is {loss_range!r:.60}; give (least, largest)")
    return loss_range


def checked_table(estimate: RiskEstimate) -> LossTable:
    """The losses of an estimate that is their mean, and was not chosen for being the best."""
    if not hasattr(estimate, "chosen_among"):
        raise ParameterError(
            f"an estimate is wanted, such as risk.evaluate gives, and this is {estimate!r:.60}"
        )
    if estimate.chosen_among > 1:
        raise ParameterError(
            f"this estimate is the best of {estimate.chosen_among} on the same losses: take "
            "bounds.union, which allows for that"
        )
    if isinstance(estimate, Measure) and not larger_is_better(estimate):
        raise ParameterError(
            f"the {estimate.loss} is no mean of a loss over all rows, and these bounds are for "
            "such: take the interval that it has, or bound the accuracy or the risk under a loss"
        )
    if estimate.table is None:
        raise DataError("this estimate has no losses row by row: estimate the risk on the data")
    if not np.isfinite(estimate.table.losses).all():
        raise DataError("some losses are not finite")
    if larger_is_better(estimate):  # right or wrong, up to rounding
        return replace(estimate.table, losses=np.round(estimate.table.losses))
    return estimate.table


def refuse_not_independent(table: LossTable, name: str) -> None:
    """One fixed model, judged on rows that are independent of it."""
    if not judges_one_model(table):
        raise ParameterError(
            f"{name} is for one model on independent rows that took no part in it; these losses "
            f"are of kind {table.kind!r}: use risk.evaluate on a test set, or hoeffding for "
            "cross-validation"
        )


def judges_one_model(table: LossTable) -> bool:
    """Whether one model is judged on rows drawn independently: not the last ones in time."""
    return table.is_model and table.kind != "time"


def unit_means(table: LossTable) -> tuple[Floats, Floats]:
    """The share of each independent unit (a row, or a group), and its weighted mean loss."""
    codes: Ints = np.unique(table.unit, return_inverse=True)[1].reshape(-1)
    share: Floats = np.bincount(codes, table.share).astype(float)
    return share, np.bincount(codes, table.share * table.losses) / share
