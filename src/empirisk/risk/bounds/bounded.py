"""What all bounds share: losses brought to [0, 1], units that are independent, the result."""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from empirisk.risk.estimate import RiskEstimate
from empirisk.risk.loss_table import LossTable
from empirisk.runtime.arrays import Floats, Ints
from empirisk.runtime.errors import DataError, ParameterError

Sides = Literal["upper", "both"]
Range = tuple[float, float]


def error_probability(level: float, sides: Sides) -> float:
    """What a bound on one side may fail with."""
    if not 0 < level < 1:
        raise ParameterError(f"level is {level}; it must lie between 0 and 1, such as 0.95")
    if sides not in ("upper", "both"):
        raise ParameterError(f"sides is {sides!r}; choose 'upper' or 'both'")
    return (1 - level) / (2 if sides == "both" else 1)


@dataclass(frozen=True, eq=False)
class BoundedLosses:
    """Losses of an estimate as shares of their range, a mean for each independent unit.

    `share` are the weights of the units, which sum to one.
    """

    estimate: RiskEstimate
    low: float
    high: float
    losses: Floats
    share: Floats

    @classmethod
    def of(cls, estimate: RiskEstimate, loss_range: Range | None) -> "BoundedLosses":
        table = checked_table(estimate)
        low, high = table.bounds if loss_range is None else loss_range
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
        return cls(estimate, low, high, (losses / (high - low)) - low / (high - low), share)

    @property
    def mean(self) -> float:
        return min(max(float(self.share @ self.losses), 0.0), 1.0)

    @property
    def are_equal(self) -> bool:
        """Whether all units have one weight."""
        return bool(np.ptp(self.share) <= 1e-9 * self.share.max())

    def result(
        self, lower: float, upper: float, *, level: float, sides: Sides, method: str, reason: str
    ) -> RiskEstimate:
        """Ends given as shares of the range; the lower one counts only where both are wanted."""
        width = self.high - self.low
        lower = max(lower, 0.0) if sides == "both" else 0.0
        ends = (self.low + lower * width, self.low + min(upper, 1.0) * width)
        return bounded(self.estimate, ends, level=level, method=method, reason=reason)


def bounded(
    estimate: RiskEstimate, ends: Range, *, level: float, method: str, reason: str
) -> RiskEstimate:
    """The estimate with a bound as its interval."""
    table = checked_table(estimate)
    return replace(
        estimate,
        value=table.mean(),
        standard_error=table.standard_error(),
        interval=ends,
        level=level,
        method=method,
        reason=reason,
        cautions=(),
        uncorrected=None,
    )


def checked_table(estimate: RiskEstimate) -> LossTable:
    """The losses of an estimate that was not chosen for being the least."""
    if estimate.chosen_among > 1:
        raise ParameterError(
            f"this estimate is the least of {estimate.chosen_among} on the same losses: take "
            "bounds.union, which allows for that"
        )
    if estimate.table is None:
        raise DataError("this estimate has no losses row by row: estimate the risk on the data")
    if not np.isfinite(estimate.table.losses).all():
        raise DataError("some losses are not finite")
    return estimate.table


def refuse_not_independent(table: LossTable, name: str) -> None:
    """One fixed model, judged on rows that are independent of it."""
    if not table.is_model:
        raise ParameterError(
            f"{name} is for one model on rows that took no part in it; these losses are of kind "
            f"{table.kind!r}: use risk.evaluate on a test set, or hoeffding for cross-validation"
        )


def unit_means(table: LossTable) -> tuple[Floats, Floats]:
    """The share of each independent unit (a row, or a group), and its weighted mean loss."""
    codes: Ints = np.unique(table.unit, return_inverse=True)[1].reshape(-1)
    share: Floats = np.bincount(codes, table.share).astype(float)
    return share, np.bincount(codes, table.share * table.losses) / share
