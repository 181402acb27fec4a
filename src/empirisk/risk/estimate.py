"""`RiskEstimate`: the one object that every way of estimating a risk returns."""

import math
from dataclasses import dataclass, replace
from typing import Any, Literal, Self

import numpy as np

from empirisk.charts.intervals import draw_intervals
from empirisk.risk.choosing import Rule
from empirisk.risk.intervals.interval import Interval, interval
from empirisk.risk.intervals.loss_table import ROUNDING, LossTable
from empirisk.runtime.arrays import Floats, Ints
from empirisk.runtime.errors import DataError, PlanError

Estimand = Literal["this model", "the procedure at this n"]

WHICH: dict[Rule, str] = {
    "best": "the best of {}",
    "one_se": "the simplest within one standard error of the best of {}",
}
_ANEW = (
    "to see it, choose anew in every training part (in Python, select with honest='nested', or "
    "risk.cross_validate of a Tuned)"
)
COST_OF_FEW = f"a few rows make most of what choosing seems to cost, which may be less: {_ANEW}"
COST_WITHOUT_FEW = (
    f"a few rows would make choosing cost more, for which the interval alone allows: {_ANEW}"
)
MOVED = "around the difference of the values as nested cross-validation corrects them"


@dataclass(frozen=True, eq=False)
class RiskEstimate:
    """The risk of a predictor: what it is, how sure we are, and what exactly it is the risk of.

    Attributes
    ----------
    value : float
        The mean held-out loss, or what is to be expected after a choice.
    standard_error : float or None
    interval : (float, float) or None
        Confidence interval at `level`; None where no valid one is known, and `reason` says why.
    level : float
    estimates : {"this model", "the procedure at this n"}
        The risk of the one fitted model that was judged, or the expected risk of the procedure
        that fits a model to so many rows.
    chosen_among : int
        How many candidates this one won against on the same losses; 1 for no choice at all.
    rule : {"best", "one_se"}
        How it was chosen: for the least risk, or as the simplest within one standard error of it.
    corrected : bool
        Whether `value` is corrected for that choice. A chosen, uncorrected risk is too good, and
        comes without an interval.
    uncorrected : float or None
        What it looked like before that correction, the mean held-out loss.
    method, reason : str
        How the interval was found and why so.
    cautions : tuple of str
        What the interval does not guarantee, such as its level where a few rows dominate.
    loss : str
    table : LossTable or None
        The held-out losses; also as `losses`, `weight` and `unit`. None in an estimate that was
        read from a model file.
    fingerprint : str
        Of the plan and the data: estimates with the same one can be subtracted.
    is_difference : bool
        Of two risks, from the differences row by row.

    Examples
    --------
    >>> from empirisk import Baseline, LinearRegression, risk
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 2))
    >>> y = X[:, 0] + rng.normal(size=200)
    >>> line = risk.cross_validate(LinearRegression(), X, y, random_state=0)
    >>> round(line.value, 3), round(line.standard_error, 3), line.estimates
    (1.02, 0.14, 'the procedure at this n')
    >>> print(line)
    The squared risk of the procedure at this n is 1.02, 95 % interval 0.7783 to 1.337 (widened
    log-scale t: the folds share training rows, so 1.25 times the error of independent rows).
    >>> constant = risk.cross_validate(Baseline(), X, y, random_state=0)
    >>> bool((line - constant).interval[1] < 0)  # the same rows were held out: the line is better
    True
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
    cautions: tuple[str, ...] = ()
    uncorrected: float | None = None
    rule: Rule = "best"

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
        found: Interval | None = None,
    ) -> Self:
        """The estimate that a table of held-out losses supports, or the one that was `found`."""
        found = interval(table, level, method) if found is None else found
        return cls(
            value=found.centre,
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
            cautions=found.cautions,
        )

    def chosen(self, among: int, rule: Rule = "best") -> Self:
        """The same estimate, known to be chosen among so many: it loses its interval."""
        if among <= 1:
            return self
        which = WHICH[rule].format(among)
        reason = f"it is {which} on these losses and too good: only untouched rows tell"
        return replace(
            self,
            interval=None,
            chosen_among=among,
            rule=rule,
            corrected=False,
            method="none",
            reason=reason,
            cautions=(),
        )

    def expected(
        self,
        value: float,
        among: int,
        rule: Rule = "best",
        *,
        least: float = math.inf,
        most: float = -math.inf,
        cautions: tuple[str, ...] = (),
    ) -> Self:
        """What is to be expected of the best of so many: `value`, and the interval around it.

        Where it may as well be as small as `least`, the interval begins where that around `least`
        does, and ends where that around `most` does if it may be as great. `cautions` are added to
        those of the interval.
        """
        table = replace(self._rows, is_best=True)
        found = interval(table, self.level, centre=value)
        for centre in (min(least, value), max(most, value)):
            if found.ends is not None and centre != value:
                other = interval(table, self.level, centre=centre).ends or found.ends
                ends = min(other[0], found.ends[0]), max(other[1], found.ends[1])
                found = replace(found, ends=ends)
        return replace(
            self,
            value=value,
            standard_error=found.standard_error,
            interval=found.ends,
            chosen_among=among,
            rule=rule,
            corrected=True,
            method=found.method,
            reason=found.reason,
            cautions=found.cautions if found.ends is None else (*found.cautions, *cautions),
            uncorrected=self.value,
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
            cautions=(),
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
    def bounds(self) -> tuple[float, float]:
        """The range of the loss, or of the difference."""
        return self._rows.bounds

    @property
    def _rows(self) -> LossTable:
        if self.table is None:
            raise DataError(
                "this estimate keeps no losses row by row: it is exact, or was read from a model "
                "file; estimate the risk on the data to have them"
            )
        return self.table

    def __sub__(self, other: Self) -> Self:
        """The difference of two risks, from the differences of the losses of the same rows.

        Where a value is not the mean of its losses but corrected, as by nested cross-validation,
        the difference is that of the values, and the interval is moved there.
        """
        if not hasattr(other, "fingerprint"):
            raise PlanError(f"a risk is wanted to subtract, and this is {other!r:.60}")
        if self.fingerprint != other.fingerprint:
            raise PlanError(
                "the two risks come from different plans or data: estimate both on one Plan"
            )
        kinds = [(risk.loss, risk.estimates, risk.is_difference) for risk in (self, other)]
        if kinds[0] != kinds[1]:
            raise PlanError(f"the {self._what} and the {other._what} are different quantities")
        if not (np.isfinite(self.losses).all() and np.isfinite(other.losses).all()):
            raise DataError("some losses are infinite, so they have no differences")
        table = self._rows.minus(other._rows)
        difference = type(self).of(
            table,
            loss=self.loss,
            estimates=self.estimates,
            fingerprint=self.fingerprint,
            level=self.level,
            found=self._moved(other, table),
        )
        difference = replace(difference, is_difference=True)
        return difference.chosen(max(self.chosen_among, other.chosen_among))

    def _moved(self, other: Self, table: LossTable) -> Interval | None:
        """The interval of the differences around that of the values; None where it is theirs."""
        was_chosen = max(self.chosen_among, other.chosen_among) > 1
        if was_chosen or all(risk._is_mean for risk in (self, other)):
            return None
        found = interval(table, self.level, centre=self.value - other.value)
        return found if found.ends is None else replace(found, reason=f"{found.reason}; {MOVED}")

    @property
    def _is_mean(self) -> bool:
        """Whether the value is that of the losses, up to rounding, and not corrected."""
        off = abs(self.value - self._rows.mean())
        return bool(off <= ROUNDING * np.abs(self.losses).max())

    @property
    def quantity(self) -> str:
        """What is estimated, as a sentence calls it."""
        return f"{self.loss} risk"

    @property
    def _what(self) -> str:
        what = f"difference in {self.quantity}" if self.is_difference else self.quantity
        return f"{what} of {self.subject}"

    @property
    def subject(self) -> str:
        """What it is the risk of, as a sentence calls it."""
        return self.estimates

    @property
    def ends(self) -> str:
        """The ends of the interval, for a table."""
        return "no interval" if self.interval is None else "[{:.4g}, {:.4g}]".format(*self.interval)

    @property
    def sentence(self) -> str:
        """The estimate in words that can be read out."""
        text = f"The {self._what}"
        if self.uncorrected is None:
            text += f" is {self.value:.4g}"
        else:
            text += (
                f": {WHICH[self.rule].format(self.chosen_among)} looked like "
                f"{self.uncorrected:.4g}; "
                f"expect {self.value:.4g}"
            )
        if self.interval is None:
            return f"{text}, without an interval: {self.reason}."
        low, high = self.interval
        text += f", {100 * self.level:g} % interval {low:.4g} to {high:.4g}"
        text += f" ({self.method}: {self.reason})"
        return f"{text}; but {', and '.join(self.cautions)}." if self.cautions else f"{text}."

    def __str__(self) -> str:
        return self.sentence

    def __float__(self) -> float:
        return float(self.value)

    def __repr__(self) -> str:
        what = f"{self.loss}: {self.value:.4g}, {self.ends}, {self.subject}"
        return f"{type(self).__name__}({what})"

    def plot(self, ax: Any = None) -> Any:
        """The risk and its interval."""
        return draw_intervals([self.loss], [self.value], [self.interval], ax=ax)
