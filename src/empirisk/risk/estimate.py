"""`RiskEstimate`: the one object that every way of estimating a risk returns."""

from dataclasses import dataclass, replace
from typing import Any, Literal, Self

import numpy as np

from empirisk.charts.intervals import draw_intervals
from empirisk.risk.intervals import LossTable, interval
from empirisk.runtime.arrays import Floats, Ints
from empirisk.runtime.errors import DataError, PlanError

Estimand = Literal["this model", "the procedure at this n"]


@dataclass(frozen=True, eq=False)
class RiskEstimate:
    """The risk of a predictor: what it is, how sure we are, and what exactly it is the risk of.

    Attributes
    ----------
    value : float
        The mean held-out loss.
    standard_error : float or None
    interval : (float, float) or None
        Confidence interval at `level`; None where no valid one is known, and `reason` says why.
    level : float
    estimates : {"this model", "the procedure at this n"}
        The risk of the one fitted model that was judged, or the expected risk of the procedure
        that fits a model to so many rows.
    chosen_among : int
        How many candidates this one won against on the same losses; 1 for no choice at all.
    corrected : bool
        Whether `value` is corrected for that choice. A chosen, uncorrected risk is too good, and
        comes without an interval.
    method, reason : str
        How the interval was found and why so.
    loss : str
    table : LossTable or None
        The held-out losses; also as `losses`, `weight` and `unit`. None in an estimate that was
        read from a model file.
    fingerprint : str
        Of the plan and the data: estimates with the same one can be subtracted.
    is_difference : bool
        Of two risks, from the differences row by row.
    """

    value: float
    standard_error: float | None
    interval: tuple[float, float] | None
    level: float
    estimates: Estimand
    chosen_among: int
    corrected: bool
    method: str
    reason: str
    loss: str
    table: LossTable | None
    fingerprint: str
    is_difference: bool = False

    @classmethod
    def of(
        cls,
        table: LossTable,
        *,
        loss: str,
        estimates: Estimand,
        fingerprint: str,
        level: float = 0.95,
        method: str = "auto",
        chosen_among: int = 1,
    ) -> Self:
        """The estimate that a table of held-out losses supports."""
        found = interval(table, level, method)
        estimate = cls(
            value=table.mean(),
            standard_error=found.standard_error,
            interval=found.ends,
            level=level,
            estimates=estimates,
            chosen_among=1,
            corrected=False,
            method=found.method,
            reason=found.reason,
            loss=loss,
            table=table,
            fingerprint=fingerprint,
        )
        return estimate.chosen(chosen_among)

    def chosen(self, among: int) -> Self:
        """The same estimate, known to be the best of so many: it loses its interval."""
        if among <= 1:
            return self
        reason = f"it is the best of {among} on these losses and too good: only untouched rows tell"
        return replace(
            self, interval=None, chosen_among=among, corrected=False, method="none", reason=reason
        )

    def of_the_procedure(self) -> Self:
        """The same value, for a model that is fitted again on all rows after the test."""
        reason = "the model tested was fitted without the test rows, the one returned with them"
        return replace(
            self,
            interval=None,
            estimates="the procedure at this n",
            method="none",
            reason=reason,
        )

    @property
    def losses(self) -> Floats:
        return self._rows.losses

    @property
    def weight(self) -> Floats:
        return self._rows.weight

    @property
    def unit(self) -> Ints:
        return self._rows.unit

    @property
    def _rows(self) -> LossTable:
        if self.table is None:
            raise DataError(
                "this estimate was read from a model file, which keeps no losses row by row: "
                "estimate the risk again on the data"
            )
        return self.table

    def __sub__(self, other: Self) -> Self:
        """The difference of two risks, from the differences of the losses of the same rows."""
        if self.fingerprint != other.fingerprint:
            raise PlanError(
                "the two risks come from different plans or data: estimate both on one Plan"
            )
        if self.loss != other.loss or self.estimates != other.estimates:
            raise PlanError(
                f"the {self.loss} risk of {self.estimates} and the {other.loss} risk of "
                f"{other.estimates} are different quantities"
            )
        if not (np.isfinite(self.losses).all() and np.isfinite(other.losses).all()):
            raise DataError("some losses are infinite, so they have no differences")
        table = replace(self._rows, losses=self.losses - other.losses, bounds=(-np.inf, np.inf))
        difference = type(self).of(
            table,
            loss=self.loss,
            estimates=self.estimates,
            fingerprint=self.fingerprint,
            level=self.level,
            chosen_among=max(self.chosen_among, other.chosen_among),
        )
        return replace(difference, is_difference=True)

    @property
    def sentence(self) -> str:
        """The estimate in words that can be read out."""
        what = "difference in risk" if self.is_difference else "risk"
        text = f"The {self.loss} {what} of {self.estimates} is {self.value:.4g}"
        if self.interval is not None:
            low, high = self.interval
            share = f"{100 * self.level:g} %"
            return (
                f"{text}, {share} interval {low:.4g} to {high:.4g} ({self.method}: {self.reason})."
            )
        return f"{text}, without an interval: {self.reason}."

    def __str__(self) -> str:
        return self.sentence

    def __repr__(self) -> str:
        ends = "no interval" if self.interval is None else "[{:.4g}, {:.4g}]".format(*self.interval)
        return f"RiskEstimate({self.loss}: {self.value:.4g}, {ends}, {self.estimates})"

    def plot(self, ax: Any = None) -> Any:
        """The losses of the rows, their mean and its interval."""
        return draw_intervals([self.loss], [self.value], [self.interval], ax=ax)
